"""Help texts that keep their lines: tables of designs, and commands to copy."""

from argparse import RawDescriptionHelpFormatter

from django.core.management.base import DjangoHelpFormatter


class AsWritten(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    pass
