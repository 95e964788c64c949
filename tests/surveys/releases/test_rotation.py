"""A new key in place of an old one: whatever is kept encrypted, in any room, opens without the
old one afterwards.
"""

from io import StringIO

import pytest
from django.core.management import call_command

from surveys.aggregation import selectors as aggregation
from surveys.encryption import CannotOpen
from surveys.releases import services, tasks
from surveys.releases.models import Series
from tests.surveys.releases.conftest import NOW, answer

OLD, NEW = b"0123456789abcdefOld_key_of_32_by", b"0123456789abcdefNew_key_of_32_by"
# Passed by chance once in a hundred million looks.
WATCH = {"answer": "year/1", "percent": "99.9", "epsilon": "1"}


def rotate():
    out = StringIO()
    call_command("rotate_keys", stdout=out)
    return out.getvalue()


def test_when_the_command_says_that_old_keys_can_go_nothing_needs_them(opened, settings):
    settings.PUBLICATION_KEYS = (OLD,)
    plan = opened()
    request = services.ask_for(plan=plan, kind="watch", parameters=WATCH, who="mira", now=NOW)
    services.publish(request_id=request.pk, now=NOW)
    answer(plan, 3)  # fewer than a batch
    settings.PUBLICATION_KEYS = (NEW, OLD)
    assert "open reports: 3, batches: 1, series: 1, keys of receipts: 1, " in rotate()
    said = rotate()
    assert "open reports: 0, batches: 0, series: 0, keys of receipts: 0, " in said
    assert "Keys after the first are needed no longer" in said
    settings.PUBLICATION_KEYS = (NEW,)
    assert Series.objects.get().memory
    assert sum(aggregation.joint(plan, ["year"]).values()) == 60
    answer(plan, 20)
    assert len(services.step_due(now=NOW)) == 1


def test_a_study_whose_key_is_gone_keeps_no_other_waiting(opened, settings):
    settings.PUBLICATION_KEYS = (OLD,)
    lost = services.ask_for(plan=opened(), kind="watch", parameters=WATCH, who="mira", now=NOW)
    services.publish(request_id=lost.pk, now=NOW)
    answer(lost.plan, 20)
    settings.PUBLICATION_KEYS = (NEW,)
    sound = services.ask_for(
        plan=opened(slug="sound"), kind="watch", parameters=WATCH, who="mira", now=NOW
    )
    other = services.ask_for(
        plan=lost.plan,
        kind="mean",
        parameters={"question": "hours", "epsilon": "0.1"},
        who="mira",
        now=NOW,
    )
    with pytest.raises(CannotOpen):
        tasks.publish_asked()
    answer(sound.plan, 20)
    with pytest.raises(CannotOpen):
        tasks.publish_asked()
    assert sound.series.published.count() == 2
    assert not hasattr(other, "release")
