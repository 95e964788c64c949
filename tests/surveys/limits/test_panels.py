"""The screens of panels: made, edited until they meet a study, then only lowered; by admins."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission

from surveys.design import limit_changes, services as design
from surveys.design.models import DraftChange, Panel, Study
from surveys.design.panels import delete_panel, edit_panel
from surveys.design.refusals import Refused
from surveys.ledger.models import Entry
from surveys.people.models import Role
from tests.conftest import NOW, known_as
from tests.surveys.limits.test_views import DRAFT, PAGE, WHY, member

PANEL = {
    "name": "Class of 26",
    "slug": "class-of-26",
    "cap": "4",
    "cap_delta": "0",
    "local_cap": "7",
}
HERE = "/panels/class-of-26/"


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


@pytest.fixture
def panel(db):
    return Panel.objects.create(slug="class-of-26", name="Class of 26", local_cap=Decimal("7"))


@pytest.fixture
def met(panel, draft):
    """A panel one of whose studies is open."""
    Study.objects.filter(pk=draft.pk).update(panel=panel)
    design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    panel.refresh_from_db()
    return panel


def last_act():
    entry = Entry.objects.order_by("-position").first()
    return entry.budget.name, entry.what, entry.old, entry.new, entry.why, entry.who


def test_a_panel_is_made_and_listed(admin):
    assert "No panel yet" in admin.get("/panels/").content.decode()
    assert admin.post("/panels/new/", PANEL)["Location"] == HERE
    panel = Panel.objects.get()
    assert (panel.cap, panel.local_cap, panel.cap_delta) == (4, 7, "0")
    assert "nothing of ε 7" in admin.get("/panels/").content.decode()
    page = admin.get(HERE).content.decode()
    assert "can become at most 99 in 100 sure" in page
    assert "/panels/" in admin.get("/admin/").content.decode()


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"cap": "0"}, "greater than or equal to 0.01"),
        ({"local_cap": "30"}, "less than or equal to 20"),
        ({"cap": "NaN"}, "This must be a number."),
        ({"slug": "Class of 26"}, "valid “slug”"),
        ({"slug": "new"}, "“new” is a page of this site; choose another."),
        ({"name": " "}, "This is needed."),
        ({"cap_delta": "0.5"}, "Select a valid choice"),
    ],
    ids=str,
)
def test_a_panel_that_cannot_be_is_refused_beside_its_field(admin, typed, problem):
    answer = admin.post("/panels/new/", {**PANEL, **typed})
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert not Panel.objects.exists()


def test_a_name_in_the_ledger_is_taken_once(admin, panel):
    answer = admin.post("/panels/new/", PANEL)
    assert answer.status_code == 422
    assert 'id="id_slug_error"' in answer.content.decode()


def test_a_cap_is_edited_with_a_reason_and_a_name_without(admin, panel):
    refused = admin.post(HERE, {**PANEL, "local_cap": "2.5"})
    assert refused.status_code == 422
    assert "Say why" in refused.content.decode()
    assert admin.post(HERE, {**PANEL, "local_cap": "2.5", "why": "calmer"}).status_code == 302
    line = DraftChange.objects.get()
    assert (line.what, line.old, line.new, line.why, line.who) == (
        "cap for all answers of one person, ε",
        "7",
        "2.5",
        "calmer",
        "ada",
    )
    assert "calmer" in admin.get(HERE).content.decode()
    assert admin.post(HERE, {**PANEL, "local_cap": "2.5", "name": "Of 26"}).status_code == 302
    assert DraftChange.objects.count() == 1
    assert not Entry.objects.exists()


def test_a_name_in_the_ledger_can_change_until_a_study_is_met(admin, panel):
    assert admin.post(HERE, {**PANEL, "slug": "of-26"})["Location"] == "/panels/of-26/"


def test_once_it_has_met_a_study_only_its_name_is_edited(admin, met):
    page = admin.get(HERE).content.decode()
    assert 'name="name"' in page
    assert 'name="cap"' not in page
    admin.post(HERE, {**PANEL, "local_cap": "9", "slug": "x", "name": "Of 26", "why": "more"})
    met.refresh_from_db()
    assert (met.name, met.slug, met.local_cap) == ("Of 26", "class-of-26", 7)
    with pytest.raises(Refused, match="its settings are locked"):
        edit_panel(panel_id=met.pk, new={"cap": 9}, who="ada", why="more", now=NOW)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("lower", ("panel:class-of-26", "lowered the cap", "ε 4", "ε 3.5")),
        ("lower-answers", ("panel:class-of-26:answers", "lowered the cap", "ε 7", "ε 3.5")),
    ],
)
def test_its_caps_fall_with_a_row_of_the_ledger(admin, met, name, row):
    assert "never rise" in admin.get(f"{HERE}{name}/").content.decode()
    assert admin.post(f"{HERE}{name}/", {"new": "3.5", "why": WHY})["Location"] == HERE
    assert last_act() == (*row, WHY, "ada")
    refused = admin.post(f"{HERE}{name}/", {"new": "4", "why": WHY})
    assert refused.status_code == 422
    assert "must be above 0 and below 3.5; it is 4." in refused.content.decode()


@pytest.mark.parametrize(("name", "budget"), [("week", ""), ("week-answers", ":answers")])
def test_what_a_week_may_cost_is_limited(admin, met, name, budget):
    assert admin.post(f"{HERE}{name}/", {"weekly": "0.5", "why": WHY}).status_code == 302
    assert last_act()[:4] == (
        f"panel:class-of-26{budget}",
        "set the weekly limit",
        "no limit",
        "ε 0.5 in any seven days",
    )
    assert "ε 0.5" in admin.get(HERE).content.decode()


@pytest.mark.parametrize("name", ["lower", "lower-answers", "week", "week-answers"])
def test_a_panel_that_has_met_no_study_has_no_budget_to_amend(admin, panel, name):
    answer = admin.post(f"{HERE}{name}/", {"new": "1", "weekly": "1", "why": WHY}, follow=True)
    assert "his cannot be done now" in answer.content.decode()
    assert not Entry.objects.exists()


def test_a_panel_without_studies_is_deleted(admin, panel):
    assert admin.post(f"{HERE}delete/", {}).status_code == 422
    assert admin.post(f"{HERE}delete/", {"sure": "on"})["Location"] == "/panels/"
    assert not Panel.objects.exists()


def test_a_panel_with_a_draft_in_it_is_not_deleted(admin, panel, draft):
    Study.objects.filter(pk=draft.pk).update(panel=panel)
    answer = admin.post(f"{HERE}delete/", {"sure": "on"})
    assert "take them out first" in answer.content.decode()
    assert Panel.objects.exists()


def test_a_panel_that_has_met_a_study_is_not_deleted(admin, met):
    admin.post(f"{HERE}delete/", {"sure": "on"})
    with pytest.raises(Refused, match="is used by a study"):
        delete_panel(panel_id=met.pk)
    assert Panel.objects.exists()


def test_an_admin_puts_a_draft_into_a_panel_with_a_reason(admin, panel, draft):
    typed = {**DRAFT, "unit": "respondent-in-study", "panel": panel.pk}
    assert admin.post(PAGE, {**typed, "why": ""}).status_code == 422
    assert admin.post(PAGE, typed).status_code == 302
    draft.refresh_from_db()
    assert draft.panel == panel
    line = DraftChange.objects.get()
    assert (line.what, line.old, line.new, line.who) == ("panel", "none", "class-of-26", "ada")
    assert "Exam honesty" in admin.get(HERE).content.decode()
    assert admin.post(PAGE, {**typed, "panel": ""}).status_code == 302
    draft.refresh_from_db()
    assert draft.panel is None


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"unit": "respondent-in-wave"}, "must count one person in all waves"),
        ({"cap_delta": "0.000001"}, "δ must be none in a panel whose cap has none"),
        ({"panel": "999"}, "Select a valid choice"),
    ],
    ids=str,
)
def test_a_study_that_counts_otherwise_than_its_panel_is_refused(
    admin, panel, draft, typed, problem
):
    answer = admin.post(PAGE, {**DRAFT, "unit": "respondent-in-study", "panel": panel.pk, **typed})
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    draft.refresh_from_db()
    assert draft.panel is None


def test_an_editor_cannot_spend_what_others_studies_share(client, panel, draft):
    client.force_login(member(draft, Role.OWNER))
    assert 'name="panel"' not in client.get(PAGE).content.decode()
    client.post(PAGE, {**DRAFT, "panel": panel.pk, "epsilon-copied": "0.5"})
    draft.refresh_from_db()
    assert draft.panel is None
    with pytest.raises(Refused, match="Only an admin puts a study into a panel"):
        limit_changes.decide(
            study_id=draft.pk,
            epsilons={},
            new={"panel": panel},
            may_set_limits=False,
            who="mira",
            why=WHY,
            now=NOW,
        )
    Study.objects.filter(pk=draft.pk).update(panel=panel)
    assert "This study is in the panel class-of-26" in client.get(PAGE).content.decode()


@pytest.mark.usefixtures("two_waves")
def test_a_study_that_has_opened_stays_in_its_panel(admin, met, draft):
    (plan,) = draft.plans.all()
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    design.begin_wave(study_id=draft.pk)
    assert 'name="panel"' not in admin.get(PAGE).content.decode()
    with pytest.raises(Refused, match="its panel and what counts as one person stay"):
        limit_changes.decide(
            study_id=draft.pk,
            epsilons={},
            new={"panel": None},
            may_set_limits=True,
            may_choose_panel=True,
            who="ada",
            why=WHY,
            now=NOW,
        )


def test_a_wave_that_its_panel_cannot_pay_says_so_where_it_is_launched(admin, panel, draft):
    Panel.objects.filter(pk=panel.pk).update(local_cap=Decimal("1.5"))
    Study.objects.filter(pk=draft.pk).update(panel=panel)
    launch = "/studies/exam-honesty/launch/"
    seen = admin.get(launch).context["seen"]
    answer = admin.post(launch, {"seen": seen, "why": "A test."})
    assert answer.status_code == 409
    assert "ε 1.5 is left" in answer.content.decode()
    assert "Nothing was opened." in answer.content.decode()


@pytest.mark.parametrize("who", ["owner", "outsider", "staff"])
def test_panels_are_for_admins(client, met, draft, who):
    user = member(draft, Role.OWNER) if who == "owner" else known_as(who)
    user.is_staff = who == "staff"
    user.save()
    client.force_login(user)
    for address in ("/panels/", "/panels/new/", HERE, f"{HERE}lower/", f"{HERE}delete/"):
        assert client.get(address).status_code == 403
        assert client.post(address, {**PANEL, "new": "1", "why": WHY}).status_code in (403, 405)
    assert not Entry.objects.filter(what="lowered the cap").exists()


def test_who_may_only_see_panels_changes_none(client, met):
    user = known_as("rita")
    user.user_permissions.set(Permission.objects.filter(codename="view_panel"))
    client.force_login(user)
    page = client.get(HERE).content.decode()
    assert "What may still change" not in page
    assert "Change this panel" not in page
    assert client.post(HERE, PANEL).status_code == 403
    for name in ("lower", "lower-answers", "week", "week-answers", "delete"):
        assert client.post(f"{HERE}{name}/", {"new": "1", "why": WHY}).status_code == 403


def test_a_panel_or_an_amendment_that_is_none_is_not_found(admin, met):
    assert admin.get("/panels/nobody/").status_code == 404
    assert admin.get(f"{HERE}raise/").status_code == 404
