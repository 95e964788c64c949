"""A command of dpengine by way of `manage.py`: no database, no key, no service."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)

from dpengine.cli.commands import Command, Options


class AsWritten(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    pass


class Alias(BaseCommand):
    requires_system_checks = []
    command: Command

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        self.help = self.command.help
        parser = super().create_parser(prog_name, subcommand, formatter_class=AsWritten, **kwargs)
        self.command.add_arguments(parser)
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(self.answer(options))
        except (ValueError, ArithmeticError) as error:
            raise CommandError(str(error)) from None

    def answer(self, options: Options) -> str:
        return self.command.answer(options)
