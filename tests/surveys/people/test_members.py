"""Who is in a study: owners decide, the last one stays, and what is undone is as it was."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.test import Client

from surveys.ledger import services as ledger
from surveys.people import services as people
from surveys.people.models import Membership, Role, User
from tests.costs import pure

PAGE = "/studies/exam-honesty/people/"


@pytest.fixture
def owner(draft):
    user = people.ensure_user(username="olga", password="a long password")
    people.share(study=draft, user=user, role=Role.OWNER)
    return user


@pytest.fixture
def owned(client, owner):
    client.force_login(owner)
    return client


def roles(study):
    return {
        each.user.username: each.role
        for each in Membership.objects.filter(study=study).select_related("user")
    }


def test_an_owner_adds_somebody_by_name(owned, draft, outsider):
    assert owned.post(PAGE, {"name": "otto", "role": "analyst"}).url == PAGE
    assert roles(draft) == {"olga": "owner", "otto": "analyst"}
    assert "otto is in the study now." in owned.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nobody", "No account has this name"),
        ("olga", "in the study already"),
        ("", "required"),
    ],
)
def test_a_name_that_does_not_fit_is_kept_and_told(owned, draft, name, says):
    page = owned.post(PAGE, {"name": name, "role": "analyst"}).content.decode()
    assert says in page
    assert 'aria-invalid="true"' in page
    assert 'href="#id_name"' in page
    assert 'value="analyst" selected' in page
    assert roles(draft) == {"olga": "owner"}


def test_a_role_is_changed(owned, draft, researcher):
    owned.post(f"{PAGE}{researcher.pk}/", {"role": "editor"})
    assert roles(draft)["mira"] == "editor"
    owned.post(f"{PAGE}{researcher.pk}/", {"role": "emperor"})
    assert roles(draft)["mira"] == "editor"


def test_who_is_removed_can_be_put_back_as_they_were(owned, draft, outsider):
    people.share(study=draft, user=outsider, role=Role.ANALYST)
    owned.post(f"{PAGE}{outsider.pk}/remove/")
    assert "otto" not in roles(draft)
    assert "Put otto back" in owned.get(PAGE).content.decode()
    owned.post(f"{PAGE}back/")
    assert roles(draft)["otto"] == "analyst"
    assert "Put otto back" not in owned.get(PAGE).content.decode()


@pytest.mark.parametrize(("where", "said"), [("", {"role": "reader"}), ("remove/", {"sure": "1"})])
def test_the_last_owner_stays(owned, draft, owner, where, said):
    page = owned.post(f"{PAGE}{owner.pk}/{where}", said, follow=True).content.decode()
    assert roles(draft) == {"olga": "owner"}
    assert "the only owner" in page


def test_an_admin_cannot_take_the_last_owner_away_either(client, draft, owner, admin_user):
    client.force_login(admin_user)
    client.post(f"{PAGE}{owner.pk}/remove/")
    assert roles(draft) == {"olga": "owner"}


def test_who_leaves_is_asked_first(owned, draft, owner, outsider):
    people.share(study=draft, user=outsider, role=Role.OWNER)
    page = owned.post(f"{PAGE}{owner.pk}/remove/")
    assert "Leave this study?" in page.content.decode()
    assert "olga" in roles(draft)
    assert owned.post(f"{PAGE}{owner.pk}/remove/", {"sure": "1"}).url == "/studies/"
    assert roles(draft) == {"otto": "owner"}
    assert owned.get(PAGE).status_code == 404


def test_somebody_of_another_study_is_not_found_here(owned, draft, outsider):
    assert owned.post(f"{PAGE}{outsider.pk}/", {"role": "owner"}).status_code == 404
    assert owned.post(f"{PAGE}{outsider.pk}/remove/").status_code == 404


def test_others_see_who_is_in_it_and_no_buttons(client, draft, owner, researcher):
    client.force_login(researcher)
    page = client.get(PAGE).content.decode().split("<main")[1].split("</main>")[0]
    assert "olga" in page
    assert "<form" not in page
    assert "Only an owner of this study" in page


@pytest.mark.parametrize("role", [Role.READER, Role.ANALYST, Role.EDITOR])
def test_only_an_owner_adds_changes_or_removes(client, draft, owner, outsider, role):
    people.share(study=draft, user=outsider, role=role)
    client.force_login(outsider)
    for path, said in (
        (PAGE, {"name": "ada", "role": "owner"}),
        (f"{PAGE}{outsider.pk}/", {"role": "owner"}),
        (f"{PAGE}{owner.pk}/remove/", {}),
        (f"{PAGE}back/", {}),
    ):
        assert client.post(path, said).status_code == 403
    assert roles(draft) == {"olga": "owner", "otto": role}


def test_what_each_has_used_is_what_the_ledger_says(client, plan, now, researcher, admin_user):
    for number in range(2):
        ledger.charge(
            budget_ids=[plan.study.budget_id],
            cost=pure(Fraction(1, 8)),
            statistic=f"{number:064x}",
            reason="x",
            mechanism="discrete Laplace",
            sensitivity="1",
            part="",
            who="mira",
            now=now,
        )
    client.force_login(admin_user)
    members = client.get(PAGE).context["members"]
    assert [(member.user.username, used) for member, _, used in members] == [
        ("mira", Decimal("0.25"))
    ]


def test_a_study_that_nobody_is_in_says_so(client, draft, admin_user):
    client.force_login(admin_user)
    assert "No members yet" in client.get(PAGE).content.decode()


def test_many_people_are_listed_in_pages(owned, draft, monkeypatch):
    monkeypatch.setattr("surveys.people.views.ON_A_PAGE", 2)
    for name in ("aa", "bb", "cc"):
        people.share(study=draft, user=User.objects.create(username=name), role=Role.READER)
    assert len(owned.get(PAGE).context["members"]) == 2
    assert len(owned.get(f"{PAGE}?page=2").context["members"]) == 2


def test_a_stranger_is_sent_to_sign_in(db, draft):
    assert Client().get(PAGE).url.startswith("/accounts/login/")


def test_a_member_whom_somebody_else_removed_meanwhile_is_simply_gone(
    owned, draft, outsider, monkeypatch
):
    people.share(study=draft, user=outsider)
    held = people._held
    monkeypatch.setattr(people, "_held", lambda study, user: remove_first(study, user, held))
    assert owned.post(f"{PAGE}{outsider.pk}/remove/").url == PAGE
    people.share(study=draft, user=outsider)
    assert owned.post(f"{PAGE}{outsider.pk}/", {"role": "editor"}).status_code == 404


def remove_first(study, user, then):
    Membership.objects.filter(study=study, user=user).delete()
    return then(study, user)
