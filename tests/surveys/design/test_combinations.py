"""The table of what goes with what is whole: what it names is refused at its field, and for every
other pair of options there is a study that can open.
"""

from decimal import Decimal
from itertools import combinations, product
from pathlib import Path

import pytest

from surveys.design.combinations import WHY, chosen
from surveys.design.models import Panel, Study
from surveys.design.readiness import Readiness
from surveys.design.services import draft_study
from surveys.plan.combinations import APART, OPTIONS, apart
from surveys.plan.content import Invited, Stratum
from surveys.plan.invited import stand_in
from tests.conftest import NOW, STUDY

PAGE = Path(__file__).parents[3] / "docs" / "combinations.md"
USUAL = {choice: values[0] for choice, values in OPTIONS.items()}
UNITS = {
    "person": "respondent-in-study",
    "person in a wave": "respondent-in-wave",
    "answer": "answer-in-study",
    "household": "household-of-2",
}
# What each of two rows allows, and both together do not.
BY_WAY_OF_ANOTHER = {
    frozenset({("rule", "continual"), ("unit", "answer")}): "delta",
    frozenset({("rule", "continual"), ("unit", "household")}): "delta",
}
# A study of numbers that are sent as given has nothing to draw, or to send as one.
NO_STUDY = {
    frozenset({("given", "numbers only"), ("asked", "drawn")}),
    frozenset({("given", "numbers only"), ("sent", "as one")}),
}
LIST = Invited(strata=[Stratum(key=stand_in(0), name="", people=200)], moments=15)


def pairs():
    for one, other in combinations(OPTIONS, 2):
        for pair in product(OPTIONS[one], OPTIONS[other]):
            yield dict(zip((one, other), pair, strict=True))


def completed(pair):
    """Return options of all choices with these, as usual as can be; None where there are none."""
    free = [choice for choice in OPTIONS if choice not in pair]
    for many in range(3):
        for changed in combinations(free, many):
            for values in product(*(OPTIONS[choice][1:] for choice in changed)):
                options = USUAL | pair | dict(zip(changed, values, strict=True))
                if not any(apart(options)) and not (options.items() >= NO_DRAWN.items()):
                    return options
    return None


NO_DRAWN = {"given": "numbers only", "asked": "drawn"}


def draft(options):
    """Return a draft with these options, and its list."""
    numbers = options["given"] == "numbers only"
    given = {"protection": "publication", "kind": "number", "least": 0, "most": 20}
    asked = [{"kind": "yes_no"}] * 3 if not numbers else [given]
    asked += [{"kind": "yes_no", "protection": "publication"}] * (options["given"] == "some")
    questions = [
        {"name": f"q{at}", "text": f"Number {at}?", "label": f"Q{at}", "epsilon": Decimal("0.5")}
        | each
        for at, each in enumerate(asked, 1)
    ]
    if options["sent"] == "as one" and not numbers:
        questions[0] = questions[0] | {"together": "both"}
        questions[1] = questions[1] | {"together": "both"}
    delta = "0.000001" if options["delta"] == "some" else "0"
    panel = None
    if options["panel"] == "some":
        panel = Panel.objects.create(
            slug="people", name="People", neighbours=options["protects"], cap_delta=delta
        )
    study = draft_study(
        study={
            **STUDY,
            "panel": panel,
            "rule": options["rule"],
            "neighbours": options["protects"],
            "unit": UNITS[options["unit"]],
            "cap_delta": delta,
            "waves": 2 if options["waves"] == "several" else 1,
            "draws": options["draws"],
            "is_invited": options["people"] == "list",
            "asked": 1 if options["asked"] == "drawn" else None,
            "closes_at": 1000 if options["closes"] == "at a number" else None,
            "stratum_closes_at": 1000 if options["closes"].startswith("each") else None,
            "person": None,
            "cap": Decimal("0.2"),
            "release_epsilon": Decimal("0.05"),
            "smallest_batch": 100,
            "hours": 24,
            "horizon": 2,
        },
        questions=questions,
    )
    return study, LIST if study.is_invited else None


def problems(options):
    study, invited = draft(options)
    assert dict(chosen(study, study.questions.all())) == options
    found = [(each.term, each.text) for each in Readiness(study, invited).problems(NOW)]
    Study.objects.all().delete()
    Panel.objects.all().delete()
    return found


@pytest.mark.parametrize("row", APART, ids=lambda row: f"{row.code} {row.field}")
def test_what_the_table_names_is_refused_at_its_field(db, row):
    for one, other in product(sorted(row.ones), sorted(row.others)):
        options = USUAL | {row.one: one, row.other: other}
        if options["given"] != "numbers only" or row.one == "given":
            assert (row.field, str(WHY[row.code])) in problems(options), (one, other)


@pytest.mark.parametrize("first", OPTIONS)
def test_every_pair_that_the_table_does_not_name_can_open(db, first):
    for pair in pairs():
        if next(iter(pair)) != first or any(apart(pair)) or frozenset(pair.items()) in NO_STUDY:
            continue
        options = completed(pair)
        if options is None:
            assert frozenset(pair.items()) in BY_WAY_OF_ANOTHER, pair
        else:
            assert problems(options) == [], options


def test_no_row_is_named_in_vain():
    """Each option of a row is one of its choice's; each sentence is some row's."""
    for row in APART:
        assert row.ones <= set(OPTIONS[row.one]), row
        assert row.others <= set(OPTIONS[row.other]), row
    assert set(WHY) == {row.code for row in APART}


def test_the_documents_print_the_table():
    said = [
        f"| {row.one}: {', '.join(v for v in OPTIONS[row.one] if v in row.ones)} "
        f"| {row.other}: {', '.join(v for v in OPTIONS[row.other] if v in row.others)} "
        f"| {WHY[row.code]} |"
        for row in APART
    ]
    page = PAGE.read_text()
    assert [line for line in said if line not in page] == []
    assert page.count("\n| ") == len(said) + 2
