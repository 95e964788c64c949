from django.core.management.commands import makemigrations

from surveys.tables import Changes


class Command(makemigrations.Command):
    autodetector = Changes
