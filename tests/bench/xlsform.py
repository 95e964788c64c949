"""What of the sample forms that pyxform carries survives the way in, and the way out and in again.

python -m tests.bench.xlsform FOLDER     a folder of .xlsx files, such as a release of
                                         pyxform carries

Of each form: how many of its questions can be asked here, and why not the others. What is offered
of a form that is refused is written out and read again: what comes back must be what went out.
Needs a database of its own in memory; makes and destroys it.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.test.utils import get_runner  # noqa: E402

from surveys.design.drafts import new_draft  # noqa: E402
from surveys.design.models import Question, Study  # noqa: E402
from surveys.drafting.xlsform import reader, refusals, workbooks, writer  # noqa: E402

TEXTS = {
    "title": "Sample",
    "organisation": "pyxform",
    "purpose": "A sample.",
    "contact": "a@example.org",
}
KEPT = (
    "kind",
    "text",
    "help",
    "choices",
    "may_decline",
    "least",
    "most",
    "group",
    "asked_if",
    "asked_if_answers",
)
STRUCTURE = ("begin", "end", "note")


def asked(rows: list[dict[str, str]]) -> int:
    """Return how many rows ask something: not groups, notes or what a device says of itself."""
    kinds = [row["type"].lower().replace("_", " ") for row in rows if row.get("type")]
    silent = {kind.replace("_", " ") for kind in refusals.METADATA}
    return sum(not kind.startswith(STRUCTURE) and kind not in silent for kind in kinds)


def drafted(found: reader.ImportedForm) -> Study:
    questions = [question.fields() for question in found.questions]
    return new_draft(texts=TEXTS, questions=questions)


def comes_back(found: reader.ImportedForm) -> bool:
    """Tell whether what is written out reads as what was written."""
    first = drafted(found)
    again = reader.read(BytesIO(writer.workbook_of(first)))
    one, two = (
        list(Question.objects.filter(study=study).values(*KEPT))
        for study in (first, drafted(again))
    )
    return not again.problems and one == two


def lines(folder: Path) -> Iterator[tuple[str, str, int, int, str, str]]:
    for path in sorted(folder.rglob("*.xlsx")):
        with path.open("rb") as upload:
            whole = reader.read(upload)
        try:
            with path.open("rb") as upload:
                sheets = workbooks.rows_of(upload)
        except workbooks.Unreadable as refusal:
            yield path.name, "unreadable", 0, 0, "", refusal.remarks[0].text
            continue
        rest = whole.rest or whole
        back = ("yes" if comes_back(rest) else "NO") if rest.questions else ""
        reasons = Counter(remark.text for remark in whole.problems)
        said = "; ".join(f"{count} × {text[:60]}" for text, count in reasons.most_common(2))
        state = "refused" if whole.problems else "whole"
        yield path.name, state, asked(sheets["survey"]), len(rest.questions), back, said


def main(folder: Path) -> None:
    runner = get_runner(settings)(verbosity=0, interactive=False)
    runner.setup_test_environment()
    databases = runner.setup_databases()
    try:
        table = list(lines(folder))
    finally:
        runner.teardown_databases(databases)
    print(f"{'form':<46} {'taken':<10} {'asks':>4} {'fit':>4}  {'back':<4} why not")
    for name, state, asks, fit, back, said in table:
        print(f"{name:<46} {state:<10} {asks:>4} {fit:>4}  {back:<4} {said}")
    states, backs = Counter(row[1] for row in table), Counter(row[4] for row in table if row[4])
    total, fit = sum(row[2] for row in table), sum(row[3] for row in table)
    print(
        f"\n{len(table)} forms: {dict(states)}. {fit} of {total} questions can be asked. Round "
        f"trip: {dict(backs)}."
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        print(
            "xlsform: name a folder of sample forms, such as pyxform/tests/example_xls of pyxform "
            "1.3.0's source"
        )
