"""Answers that are sent as given: encrypted wherever they are kept, counted only in memory, one
width for all.
"""

import base64
import hashlib
import json
import time
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dpengine.local.channel import Moved
from surveys.aggregation import selectors, services
from surveys.aggregation.models import Batch, Tally
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.encryption import CannotOpen, key_id, open_sealed
from surveys.intake import services as intake
from surveys.intake.models import OpenReport
from tests.conftest import NOW, STUDY

DISTINCT = 918_273_645
OLD, NEW = (hashlib.sha256(name).digest() for name in (b"old", b"new"))
QUESTIONS = [
    {"name": "copied", "kind": "yes_no", "text": "Have you copied?", "label": "Copied"},
    {
        "name": "earned",
        "kind": "number",
        "protection": "publication",
        "text": "How much did you earn?",
        "label": "Earned",
        "least": -5,
        "most": 2_000_000_000,
    },
    {"name": "fair", "kind": "likert", "text": "Exams are fair.", "label": "Fair"},
    {
        "name": "region",
        "kind": "single",
        "protection": "publication",
        "text": "Where do you live?",
        "label": "Region",
        "choices": "North\nSouth\nIslands",
    },
]
PEOPLE = [
    {"copied": i % 2, "earned": (i % 4) * DISTINCT // 3, "fair": i % 5, "region": i % 3}
    for i in range(30)
]


@pytest.fixture
def given(db):
    """An open study of four questions, two of them sent as given, and thirty people who
    answered.
    """
    study = design.draft_study(study=STUDY, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    answer_as_browsers(plan, PEOPLE, NOW.date())
    return plan


@pytest.fixture
def sealed(given, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 15)
    assert services.sweep_all(today=NOW.date()) == 30
    return given


@pytest.fixture
def keys(settings):
    """Put keys in place: the first seals, all open."""

    def put(*found):
        settings.PUBLICATION_KEYS = found

    put(OLD)
    return put


def stored():
    """Everything that any row keeps of a report."""
    rows = [
        *OpenReport.objects.values_list("values", "given"),
        *Batch.objects.values_list("columns", "given"),
    ]
    return [
        *(
            bytes(part) if not isinstance(part, str) else part.encode()
            for row in rows
            for part in row
        )
    ]


def spelled(number):
    """Every way in which a number may stand in a row."""
    return [
        str(number).encode(),
        number.to_bytes(8, "little"),
        number.to_bytes(4, "big"),
        number.to_bytes(4, "little"),
    ]


def test_an_open_report_holds_only_what_chance_has_changed_in_the_open(given):
    for values in OpenReport.objects.values_list("values", flat=True):
        assert len(json.loads(values)) == len(given.content.channels) == 2


def test_no_row_holds_an_answer_in_the_clear_before_the_sweep_or_after(given):
    wanted = [spelling for n in (1, 2, 3) for spelling in spelled(n * DISTINCT // 3)]
    before = stored()
    services.sweep_all(today=NOW.date())
    for row in [*before, *stored()]:
        assert not [spelling for spelling in wanted if spelling in row]
    assert sorted(Tally.objects.get().counts) == ["copied", "fair"]


def test_no_length_tells_an_answer(given):
    assert (
        len({len(bytes(given)) for given in OpenReport.objects.values_list("given", flat=True)})
        == 1
    )


def test_the_joint_tally_is_that_of_the_people_who_answered(sealed):
    truth = Counter((person["earned"], person["region"]) for person in PEOPLE)
    assert selectors.joint(sealed, ["earned", "region"]) == truth
    assert selectors.joint(sealed, ["region", "earned"]) == Counter(
        (b, a) for a, b in truth.elements()
    )
    assert selectors.joint(sealed, []) == Counter({(): 30})


def test_joint_tallies_of_what_chance_changed_agree_with_the_running_one(sealed):
    counts = selectors.totals(sealed)
    held = selectors.joint(sealed, ["copied", "fair"])
    assert sum(held.values()) == 30
    assert [
        sum(n for (copied, _), n in held.items() if copied == report) for report in (0, 1)
    ] == counts["copied"]
    assert [
        sum(n for (_, fair), n in held.items() if choice in fair) for choice in range(5)
    ] == counts["fair"]


def test_a_report_stays_one_report_when_its_parts_are_counted_together(sealed):
    """Swept in any order, the answers of one person stay on one row: at these odds a mix-up
    shows once in 10⁸ runs.
    """
    together = selectors.joint(sealed, ["earned", "region"])
    assert set(together) == {(person["earned"], person["region"]) for person in PEOPLE}


def test_the_first_batches_alone_can_be_counted(sealed):
    first, second = (selectors.joint(sealed, ["region"], batches=batches) for batches in (1, 2))
    assert (sum(first.values()), sum(second.values())) == (15, 30)
    assert selectors.totals(sealed, 1)["region"] == [first[(choice,)] for choice in range(3)]


def test_totals_hold_choices_sent_as_given_and_no_numbers(sealed):
    counts = selectors.totals(sealed)
    assert counts["region"] == [10, 10, 10]
    assert "earned" not in counts


def test_what_is_published_of_choices_is_a_count_of_people(sealed):
    tallies = {tally.name: tally for tally in selectors.public_tallies(sealed)}
    assert list(tallies) == ["copied", "fair", "region"]
    region = tallies["region"]
    assert region.moved == Moved(3, 2, 2)
    assert {(margin.truth, margin.lie) for margin in region.channel.margins()} == {(1, 0)}


@pytest.mark.parametrize(("names", "batches"), [(["nothing"], None), (["region"], 3)])
def test_what_is_not_there_cannot_be_counted(sealed, names, batches):
    with pytest.raises(ValueError, match="must be"):
        selectors.joint(sealed, names, batches)


def test_a_hundred_thousand_reports_are_counted_in_two_seconds(given, keys):
    """0.1 s alone on the machine it was written on; the limit leaves room for others."""
    from surveys.aggregation import columns
    from surveys.encryption import seal

    readers, channels = given.content.cleartext, given.content.channels
    size = 50_000
    answers = b"".join(
        readers[name].pack([i % k for i in range(size)])
        for name, k in (("earned", 101), ("region", 3))
    )
    changed = b"".join(
        channel.pack([_report(channel, i) for i in range(size)]) for channel in channels.values()
    )
    for number in (1, 2):
        packed = {
            "columns": changed,
            "given": seal(answers, about=columns.batch_aad(given.digest, number)),
        }
        Batch.objects.create(plan=given, number=number, size=size, sealed_on=NOW.date(), **packed)
    Tally.objects.update_or_create(plan=given, defaults={"batches": 2, "reports": 2 * size})
    started = time.process_time()
    found = selectors.joint(given, ["fair", "earned", "region"])
    assert time.process_time() - started < 2
    assert sum(found.values()) == 2 * size


def _report(channel, i):
    if hasattr(channel, "size"):
        return sorted((i + step) % channel.choices for step in range(channel.size))
    return i % channel.reports


def test_without_the_key_an_error_names_the_variable_and_nothing_is_lost(keys, given, settings):
    keys(NEW)
    with pytest.raises(CannotOpen, match=f"PUBLICATION_KEYS: expected the key {key_id(OLD).hex()}"):
        services.sweep(plan=given, today=NOW.date())
    assert OpenReport.objects.count() == 30
    keys(NEW, OLD)
    assert services.sweep(plan=given, today=NOW.date()) == 30
    keys()
    with pytest.raises(CannotOpen, match="PUBLICATION_KEYS: expected one or more keys, got none"):
        selectors.joint(given, ["region"])


def test_what_chance_changed_is_counted_without_any_key(keys, given):
    services.sweep_all(today=NOW.date())
    keys()
    assert sum(selectors.joint(given, ["copied"]).values()) == 30


def test_a_batch_cannot_be_passed_off_as_another(sealed):
    first, second = Batch.objects.all()
    Batch.objects.filter(pk=first.pk).update(given=bytes(second.given))
    with pytest.raises(CannotOpen, match="batch 1 of plan"):
        selectors.joint(sealed, ["region"])


def rotate():
    out = StringIO()
    call_command("rotate_keys", stdout=out)
    return out.getvalue()


def test_rotation_encrypts_anew_and_then_the_old_key_can_go(keys, given):
    services.sweep(plan=given, today=NOW.date())
    answer_as_browsers(given, PEOPLE[:5], NOW.date())
    truth = selectors.joint(given, ["earned", "region"])
    keys(NEW, OLD)
    assert (
        f"With key {key_id(NEW).hex()}, open reports: 5, batches: 1, series: 0, keys of receipts: "
        f"1, of tickets: 0, of lists: 0." in rotate()
    )
    assert "open reports: 0, batches: 0, series: 0, keys of receipts: 0, " in rotate()
    keys(NEW)
    assert selectors.joint(given, ["earned", "region"]) == truth
    design.close_plan(plan_id=given.pk, today=NOW.date())
    given.refresh_from_db()
    assert services.sweep(plan=given, today=NOW.date()) == 5


def test_a_rotation_that_dies_goes_on_where_it_was(keys, given, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 15)
    services.sweep_all(today=NOW.date())
    keys(NEW, OLD)
    monkeypatch.setattr(services, "open_sealed", dies_after(1, services.open_sealed))
    with pytest.raises(KeyboardInterrupt):
        services.encrypt_anew()
    monkeypatch.undo()
    keys(NEW, OLD)
    assert services.encrypt_anew() == 1
    assert sum(selectors.joint(given, ["region"]).values()) == 30


def dies_after(times, sound):
    left = iter(range(times))

    def act(*args, **kwargs):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return sound(*args, **kwargs)

    return act


def test_a_rotation_without_the_old_key_says_which_is_missing_and_changes_nothing(keys, given):
    before = stored()
    keys(NEW)
    with pytest.raises(
        CommandError, match=f"PUBLICATION_KEYS: expected the key {key_id(OLD).hex()}"
    ):
        rotate()
    assert stored() == before


def test_a_key_is_never_in_what_it_sealed(keys, given):
    assert not [row for row in stored() if OLD in row or base64.b64encode(OLD) in row]


def test_open_reports_are_encrypted_anew_and_in_an_order_that_tells_nothing(keys, given):
    """Thirty reports keep their order by chance once in 30! times."""
    before = list(OpenReport.objects.order_by("pk").values_list("values", "given"))
    told = {
        row: open_sealed(bytes(row[1]), about=f"report on plan {given.digest}") for row in before
    }
    keys(NEW, OLD)
    assert intake.encrypt_anew() == 30
    assert intake.encrypt_anew() == 0
    after = list(OpenReport.objects.order_by("pk").values_list("values", "given"))
    opened = [open_sealed(bytes(row[1]), about=f"report on plan {given.digest}") for row in after]
    assert sorted(opened) == sorted(told.values())
    assert opened != list(told.values())


def test_a_report_copied_onto_others_is_not_counted_for_them(given):
    """Twenty copies of one person's answer would stand out of the noise that hides one."""
    one = OpenReport.objects.first()
    OpenReport.objects.exclude(pk=one.pk).update(given=bytes(one.given))
    with pytest.raises(CannotOpen, match=r"report on plan .* expected each sealed once"):
        services.sweep(plan=given, today=NOW.date())
    assert not Batch.objects.exists()
