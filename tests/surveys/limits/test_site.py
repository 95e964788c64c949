"""The site's limits: who changes them, what they hold, and that no opening slips past."""

from decimal import Decimal

import pytest

from surveys.design import limit_changes, selectors, services as design, terms
from surveys.design.models import SiteLimits
from surveys.design.refusals import CannotOpen, NotDecided
from surveys.design.site import set_site_limits
from surveys.ledger.models import Entry
from tests.conftest import NOW
from tests.surveys.limits.test_views import WHY, site_admin

__all__ = ["site_admin"]

TYPED = {
    "epsilon_floor": "0.2",
    "epsilon_ceiling": "1.1",
    "person_floor": "0.01",
    "person_ceiling": "3",
    "cap_ceiling": "3",
    "why": WHY,
}
USUAL = {
    "epsilon_floor": "0.01",
    "epsilon_ceiling": "4",
    "person_floor": "0.01",
    "person_ceiling": "8",
    "cap_ceiling": "8",
}


def set_limits(**what):
    known = {
        "epsilon_floor": Decimal("0.01"),
        "epsilon_ceiling": Decimal(4),
        "cap_ceiling": Decimal(8),
    }
    return set_site_limits(**{**known, **what}, who="ada", why="why", now=NOW)


def test_a_new_site_has_the_usual_limits_and_reading_them_writes_nothing(db):
    limits = selectors.site_limits()
    assert (limits.epsilon_floor, limits.epsilon_ceiling, limits.cap_ceiling) == (
        Decimal("0.01"),
        4,
        8,
    )
    assert not SiteLimits.objects.exists()


def test_the_sites_admin_changes_them_a_row_each(client, site_admin):
    client.force_login(site_admin)
    assert client.post("/limits/", TYPED)["Location"] == "/limits/"
    rows = [
        (entry.what, entry.old, entry.new, entry.why, entry.who, entry.budget)
        for entry in Entry.objects.all()
    ]
    assert rows == [
        ("site: least ε of one answer", "0.01", "0.2", WHY, "ada", None),
        ("site: greatest ε of one answer", "4", "1.1", WHY, "ada", None),
        ("site: greatest ε of one person", "8", "3", WHY, "ada", None),
        ("site: greatest cap for all publications of a study, ε", "8", "3", WHY, "ada", None),
    ]
    page = client.get("/limits/").content.decode()
    assert WHY in page
    assert 'value="1.1"' in page


def test_a_study_admin_without_that_permission_only_reads_them(client, admin_user):
    client.force_login(admin_user)
    page = client.get("/limits/").content.decode()
    assert "Present limits" in page
    assert 'name="cap_ceiling"' not in page
    assert client.post("/limits/", TYPED).status_code == 403
    assert not Entry.objects.exists()


def test_a_researcher_reads_them_and_not_who_would_be_refused(client, researcher):
    client.force_login(researcher)
    set_limits(epsilon_ceiling=Decimal("0.5"))
    page = client.get("/limits/").content.decode()
    assert "0.5" in page
    assert "Exam honesty" not in page
    assert client.post("/limits/", TYPED).status_code == 403


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"epsilon_floor": "0"}, "The minimum ε must be 0.01 to 8; it is 0."),
        ({"epsilon_floor": "2"}, "The maximum ε must be 2, the minimum, to 8; it is 1.1."),
        ({"epsilon_ceiling": "8.1"}, "The maximum ε must be 0.2, the minimum, to 8; it is 8.1."),
        ({"cap_ceiling": "21"}, "The greatest cap must be 0.01 to 20; it is 21."),
        ({"cap_ceiling": "Infinity"}, "This must be a number."),
        ({"why": ""}, "This is needed."),
        ({"person_floor": "0"}, "The minimum ε must be 0.01 to 8; it is 0."),
        ({"person_ceiling": "9"}, "The maximum ε must be 0.01, the minimum, to 8; it is 9."),
        (USUAL, "The limits are these already."),
    ],
    ids=str,
)
def test_limits_that_cannot_be_are_refused(client, site_admin, typed, said):
    client.force_login(site_admin)
    answer = client.post("/limits/", {**TYPED, **typed})
    assert answer.status_code == 422
    assert said in answer.content.decode().replace("&#x27;", "'")
    assert not Entry.objects.exists()


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"epsilon_ceiling": Decimal("0.9")}, "Copied: ε must be between 0.01 and 0.9; it is 1."),
        ({"epsilon_floor": Decimal("1.5")}, "Copied: ε must be between 1.5 and 4; it is 1."),
        (
            {"cap_ceiling": Decimal("1.5")},
            "The cap must be at most the site’s limit of 1.5; it is 2.",
        ),
    ],
    ids=str,
)
def test_no_study_opens_outside_them(draft, limits, said):
    set_limits(**limits)
    with pytest.raises(CannotOpen, match=said):
        design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    assert selectors.drafts_beyond(selectors.site_limits())[0][0] == draft


@pytest.mark.usefixtures("two_waves")
def test_what_is_open_stays_open_and_its_next_wave_is_held_to_them(plan, today):
    set_limits(cap_ceiling=Decimal(1))
    plan.refresh_from_db()
    assert plan.is_open
    design.close_plan(plan_id=plan.pk, today=today)
    design.begin_wave(study_id=plan.study_id)
    with pytest.raises(CannotOpen, match="at most the site’s limit of 1"):
        design.open_study(why="A test.", study_id=plan.study_id, who="ada", now=NOW)


def test_the_narrower_of_study_and_site_holds(draft):
    set_limits(epsilon_floor=Decimal("0.3"), epsilon_ceiling=Decimal(4))
    draft.epsilon_floor, draft.epsilon_ceiling = Decimal("0.1"), Decimal(2)
    assert terms.allowed_epsilon(draft, selectors.site_limits()) == (Decimal("0.3"), Decimal(2))


def test_what_an_editor_saves_is_held_to_them(draft):
    set_limits(epsilon_ceiling=Decimal("1.2"), cap_ceiling=Decimal(3))
    known = {"may_set_limits": True, "who": "ada", "why": "why", "now": NOW, "study_id": draft.pk}
    with pytest.raises(NotDecided) as refusal:
        limit_changes.decide(epsilons={"copied": Decimal(2)}, new={"cap": Decimal(4)}, **known)
    assert set(refusal.value.problems) == {"copied", "cap"}
