"""`dpengine analyse | plan-size | privatise`: words in, an answer out.

It ends with 0; with 1 and one sentence where there is no answer, with 2 and the usage where options
are wrong.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from io import TextIOWrapper

import dpengine
from dpengine.cli.commands import COMMANDS


def main(words: Sequence[str] | None = None) -> None:
    for stream in (sys.stdout, sys.stderr):  # ε and − are signs that not every terminal has
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    parser = ArgumentParser("dpengine", description=dpengine.__doc__)
    parser.add_argument("--version", action="version", version=dpengine.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        first = command.help.partition("\n")[0]
        command.add_arguments(
            commands.add_parser(
                name,
                help=first,
                description=command.help,
                formatter_class=RawDescriptionHelpFormatter,
            )
        )
    options = vars(parser.parse_args(words))
    try:
        print(COMMANDS[options["command"]].answer(options))
    except (ValueError, ArithmeticError) as error:
        sys.exit(f"dpengine: {error}")
