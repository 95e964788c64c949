"""`manage.py analyse` is `dpengine analyse`, and estimates a study's own JSON file again."""

import json
from dataclasses import replace

from dpengine.cli.commands import ANALYSE, Options, number_of, spelt
from surveys.planning.alias import Alias
from surveys.planning.published import MEANINGLESS, SPEC, analysed

PLAN = """  analyse export.json --outcome q1 --design plan

estimates a study's own published numbers again, of questions sent as one answer too.

"""


class Command(Alias):
    command = replace(ANALYSE, help=ANALYSE.help + PLAN)

    def answer(self, options: Options) -> str:
        if options["design"] != SPEC:
            return super().answer(options)
        for name in MEANINGLESS:
            if options[name]:
                raise ValueError(f"{spelt(name)} has no meaning with --design {SPEC}")
        confidence = number_of(options, "confidence")
        again = analysed(options["file"], options["outcome"], confidence)
        return json.dumps(again.document()) if options["json"] else again.text()
