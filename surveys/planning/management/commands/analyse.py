"""`manage.py analyse`: answers collected elsewhere, through the design that they were asked
with.
"""

import json

from django.core.management.base import CommandParser

from surveys.planning.help import Calculation, Options

HELP = """Analyse a table of randomised answers collected elsewhere.

  analyse FILE.csv --outcome smoked --design forced:p=2/3,yes=1/6,no=1/6
  analyse FILE.csv --outcome smoked --design crosswise:p=1/4 --by wave \\
      --covariates "age/10,(age/10)^2,education"
  analyse FILE.csv --outcome smoked --design coin --cross "drank:crosswise:p=1/4" \\
      --poststratify sex=sex.csv --poststratify age=age.csv
  analyse export.json --outcome q1 --design plan

The last takes a study's own published numbers, of questions sent as one answer too.
The outcome is 0 or 1, no or yes, false or true; a question of k choices has codes 0 to k - 1, or
1 to k with first=1. Files of --poststratify have two columns: values, and their shares of the
population. Rows with a blank or NA in any column that is used are left out, and counted.

"""


class Command(Calculation):
    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        from surveys.planning import specs

        parser.epilog = specs.__doc__
        parser.add_argument(
            "file",
            metavar="FILE",
            help="CSV with a line of names, .xlsx, .sav, .dta, or one in .gz; - is standard input",
        )
        parser.add_argument(
            "--outcome", required=True, metavar="COL", help="the column of the reports"
        )
        parser.add_argument(
            "--design", required=True, metavar="SPEC", help="how it was asked: see below"
        )
        parser.add_argument(
            "--covariates",
            default="",
            metavar="A,B",
            help="columns, or arithmetic such as (age/10)^2",
        )
        parser.add_argument(
            "--by", default="", metavar="COL", help="also analyse each value of this column"
        )
        parser.add_argument("--weights", default="", metavar="COL", help="survey weights")
        parser.add_argument(
            "--cross",
            default="",
            metavar="COL[:SPEC]",
            help="the table with a second column, asked as SPEC says; openly without",
        )
        parser.add_argument(
            "--predictor",
            default="",
            metavar="COL:SPEC",
            help="an open outcome (--design direct) on this randomised column, linear or logistic",
        )
        parser.add_argument(
            "--poststratify",
            action="append",
            default=[],
            metavar="COL=shares.csv",
            help="weight to the population's shares of this column's values; several are raked",
        )
        parser.add_argument(
            "--missing",
            action="append",
            default=[],
            metavar="9,99",
            help="codes that stand for no answer, in all columns or in one (age=999)",
        )
        parser.add_argument(
            "--yes", default="", metavar="WORD", help="the word for yes, such as Ja"
        )
        parser.add_argument("--confidence", default="0.95", help="of the intervals (0.95)")
        parser.add_argument(
            "--simultaneous",
            action="store_true",
            help="widen the intervals so that all of them hold at once (Bonferroni)",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def answer(self, options: Options) -> str:
        from surveys.planning import (  # here, because scipy takes half a second
            commandline,
            published,
            terminal,
        )

        if options["design"] == published.SPEC:
            again = commandline.published_again(options)
            return json.dumps(again.document()) if options["json"] else again.text()
        results = commandline.analysed(options)
        if options["json"]:
            return terminal.results_json(results)
        return terminal.results_text(results, options["outcome"], options["design"])
