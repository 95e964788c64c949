"""`manage.py plan-size`: the smallest n. A command's name is its file's, so this one has a
hyphen.
"""

from django.core.management.base import CommandParser

from surveys.planning.help import Calculation, Options

HELP = """Say how many people a study needs: the smallest n for a power, an interval or an error.

  plan-size --design forced:p=2/3,yes=1/6,no=1/6 --from 0.10 --to 0.15 --power 0.80
  plan-size --design coin --half-width 0.03 --at 0.10
  plan-size --half-width 0.03 --at 0.10 --n 2000 --choices 5      (the least epsilon)

Numbers may be fractions. The designs are those of `analyse`: see `manage.py analyse --help`."""


class Command(Calculation):
    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add(
            "--design",
            action="append",
            metavar="SPEC",
            help="how people are asked; several times for several arms",
        )
        add("--shares", metavar="A,B", help="of the people in each arm; equal if left out")
        add(
            "--from",
            dest="null",
            metavar="SHARE",
            help="under the null; of the first sample with --two-sample",
        )
        add(
            "--to",
            dest="alternative",
            metavar="SHARE",
            help="under the alternative; of the second sample",
        )
        add("--power", help="chance to find the difference (0.80)")
        add("--alpha", help="chance to find one that is not there (0.05)")
        add("--sides", help="of the test: 1 or 2 (2)")
        add(
            "--two-sample",
            action="store_true",
            help="compare two groups instead of one group with a known share",
        )
        add("--ratio", help="people in the second group for each in the first (1)")
        add(
            "--exact",
            action="store_true",
            help="power by the binomial itself, without approximation; half-widths always are",
        )
        add("--half-width", metavar="WIDTH", help="of the interval, as a share: 0.03")
        add("--standard-error", metavar="ERROR", help="of the estimated share, or of one choice's")
        add(
            "--at",
            metavar="SHARE",
            help="the true share that is planned for; the worst one if left out",
        )
        add("--confidence", help="of the interval (0.95)")
        add(
            "--n",
            metavar="N",
            help="with --half-width and no design: the people there are; gives the least epsilon",
        )
        add("--choices", help="of the question, with --n (2)")
        add("--json", action="store_true", help="print JSON")

    def answer(self, options: Options) -> str:
        from surveys.planning import (  # here, because scipy takes half a second
            commandline,
            terminal,
        )

        plan = commandline.planned(options)
        return terminal.plan_json(plan) if options["json"] else terminal.plan_text(plan)
