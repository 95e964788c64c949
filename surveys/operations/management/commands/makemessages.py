"""Gather the texts to translate, those of messages (surveys.messages) too."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=message",
        "--keyword=plural_message:1,2",
    ]
