"""Randomise answers of one's own: a column of a file, or a line each, to a report each.

Every report is drawn by the operating system's generator. No error repeats an answer, and not the
first line of the file either, which may be one.
"""

import csv
import io
from collections.abc import Sequence
from fractions import Fraction

from dpengine.checks import require
from dpengine.cli.files import Reading, Sheet, read_csv
from dpengine.local.channel import Channel
from dpengine.local.number import NumberChannel

LINE = "answer"  # what a line is called where the file has no names


def privatised(path: str, column: str, channel: Channel, first: int, reading: Reading) -> str:
    """Return a line for each report, under the column's name if it has one.

    `first` is the code of the first choice, or the least number. ValueError names the column and
    the line of what cannot be read.
    """
    name = column or LINE

    def place(head: Sheet) -> list[int]:
        require(
            head.columns.count(name) == 1, "column {!r} must stand in the first line, once", name
        )
        return [head.place(name)]

    sheet = read_csv(path, place, reading, () if column else (LINE,))
    require(
        not sheet.complete([name])[1],
        "column {!r}: some answers are blank, and a report of each would have to say so: "
        "leave those rows out, or make no answer a choice",
        name,
    )
    is_yes_or_no = channel.answers == 2 and not first
    answers = sheet.answers(name) if is_yes_or_no else sheet.codes(name, channel.answers, first)
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerows([[column]] if column else [])
    for answer in answers.tolist():
        lines.writerow([_said(channel, first, channel.randomise(answer))])
    return out.getvalue().removesuffix("\n")


def _said(channel: Channel, first: int, report: int | Sequence[int]) -> str:
    """Return a report as `analyse` reads it; of a number what it stands for, whose mean is that of
    the answers.
    """
    if isinstance(report, Sequence):
        return " ".join(str(first + code) for code in report)
    if isinstance(channel, NumberChannel):
        return repr(float(Fraction(channel.decoder[report], channel.scale) + first))
    return str(first + report)
