"""Who may see which study."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from surveys.people.queries import readable_study, studies_of


def test_a_researcher_sees_what_is_shared_with_them_and_no_more(draft, researcher, outsider):
    assert list(studies_of(researcher)) == [draft]
    assert list(studies_of(outsider)) == []


def test_an_admin_sees_every_study_and_a_stranger_none(draft, admin_user):
    assert list(studies_of(admin_user)) == [draft]
    assert list(studies_of(AnonymousUser())) == []


def test_an_admin_s_role_holds_no_right_to_reports_tallies_or_the_ledger(admin_user):
    rooms = {permission.split(".")[0] for permission in admin_user.get_all_permissions()}
    assert rooms == {"design", "people"}


def test_results_for_everyone_can_be_read_by_everyone_once_the_study_has_opened(draft):
    with pytest.raises(Http404):
        readable_study("exam-honesty", AnonymousUser())


def test_public_results_need_no_account(plan):
    assert readable_study("exam-honesty", AnonymousUser()) == plan.study
