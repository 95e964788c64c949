"""Who may see which study."""

import pytest
from django.contrib.auth.models import AnonymousUser, Permission
from django.http import Http404

from surveys.people import services as people
from surveys.people.models import Right, Role
from surveys.people.selectors import may, readable_study, studies_of


def test_a_researcher_sees_what_is_shared_with_them_and_no_more(draft, researcher, outsider):
    assert list(studies_of(researcher)) == [draft]
    assert list(studies_of(outsider)) == []


def test_an_admin_sees_every_study_and_a_stranger_none(draft, admin_user):
    assert list(studies_of(admin_user)) == [draft]
    assert list(studies_of(AnonymousUser())) == []


def test_an_admin_s_role_holds_no_right_to_reports_or_tallies_and_none_to_rows_but_reading(
    admin_user,
):
    rooms = {permission.split(".")[0] for permission in admin_user.get_all_permissions()}
    assert rooms == {"design", "people", "ledger"}
    assert {name for name in admin_user.get_all_permissions() if name.startswith("ledger.")} == {
        "ledger.view_budget",
        "ledger.view_entry",
        "ledger.change_budget",
    }


def test_results_for_everyone_can_be_read_by_everyone_once_the_study_has_opened(draft):
    with pytest.raises(Http404):
        readable_study("exam-honesty", AnonymousUser())


def test_public_results_need_no_account(plan):
    assert readable_study("exam-honesty", AnonymousUser()) == plan.study


def test_a_member_may_ask_only_if_given_the_right_and_an_admin_always(
    draft, researcher, outsider, admin_user
):
    assert not may(researcher, Right.ASK, draft)  # may see it
    people.share(study=draft, user=outsider, role=Role.ANALYST)
    assert may(outsider, Right.ASK, draft)
    assert may(admin_user, Right.ASK, draft)
    assert not may(AnonymousUser(), Right.ASK, draft)


def test_an_admin_cannot_reach_the_account_of_who_sets_the_limits(client, admin_user, outsider):
    """Who could set their password would have their power."""
    outsider.user_permissions.add(Permission.objects.get(codename="set_limits"))
    client.force_login(admin_user)
    for act in ("link", "close"):
        assert client.post(f"/people/{outsider.pk}/{act}/").status_code == 403
    outsider.refresh_from_db()
    assert outsider.check_password("a long password")
    assert outsider.is_active


def test_a_name_stays_because_budgets_are_found_by_it(client, admin_user, outsider):
    client.force_login(admin_user)
    page = client.post(f"/admin/people/user/{outsider.pk}/change/", {"username": "nobody"})
    assert page.status_code == 403
    outsider.refresh_from_db()
    assert outsider.username == "otto"
