"""Respondents are led to the host of forms, where there is one."""

import pytest
from django.test import RequestFactory
from django.urls import reverse

from surveys.addresses import form_address
from surveys.people.models import Role
from surveys.people.services import share
from tests.conftest import known_as


@pytest.mark.parametrize(
    ("forms", "origin"), [("", "http://testserver"), ("https://forms.example.org",) * 2]
)
def test_links_of_a_launched_study_lead_to_the_host_of_forms(plan, client, settings, forms, origin):
    settings.FORMS_URL = forms
    share(study=plan.study, user=(mira := known_as("mira")), role=Role.OWNER)
    client.force_login(mira)
    link = f"{origin}/s/exam-honesty/#{plan.digest}"
    for page in ("drafting:launch", "dashboard:collect"):
        assert link in client.get(reverse(page, args=[plan.study.slug])).content.decode(), page
    assert form_address(RequestFactory().get("/studies/")) == origin
