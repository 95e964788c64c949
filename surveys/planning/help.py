"""A command that computes: no database, no key, no service; its help text keeps its lines."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping
from typing import Any

from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)

Options = Mapping[str, Any]  # of a command, by name


class AsWritten(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    pass


class Calculation(BaseCommand):
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=AsWritten, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(self.answer(options))
        except (ValueError, ArithmeticError) as error:
            raise CommandError(str(error)) from None

    def answer(self, options: Options) -> str:
        """Return what is printed. ValueError says what cannot be computed."""
        raise NotImplementedError
