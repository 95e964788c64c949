"""One's own account, links that set a password, and pages that say no."""

import datetime
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from surveys.people import services
from surveys.people.invitations import path_for
from surveys.people.models import User
from tests.surveys.people.conftest import PASSWORD, sign_in

NEW = {"password1": "quite another one", "password2": "quite another one"}


@pytest.fixture
def newcomer(db):
    return services.ensure_user(username="noor", password=None)


def test_a_link_sets_a_password_once(client, newcomer):
    link = path_for(newcomer)
    assert client.get(link).url == "/account/invitation/"
    assert "noor" in client.get("/account/invitation/").content.decode()
    assert client.post("/account/invitation/", NEW).url == "/studies/"
    newcomer.refresh_from_db()
    assert newcomer.check_password(NEW["password1"])
    page = client.get(link)
    assert page.status_code == 410
    assert "used already" in page.content.decode()


def test_who_has_set_a_password_is_signed_in_with_it(client, newcomer, researcher):
    client.force_login(researcher)  # the link was opened in the browser of somebody else
    client.get(path_for(newcomer))
    assert client.post("/account/invitation/", NEW, follow=True).context["user"] == newcomer


def test_an_admin_s_first_password_leads_straight_to_the_second_factor(client, admin_user, strict):
    client.get(path_for(admin_user))
    page = client.post("/account/invitation/", NEW, follow=True)
    assert page.redirect_chain[-1][0].startswith("/account/second-factor/")
    # and is not asked for the password once more
    assert client.get("/accounts/2fa/totp/activate/").status_code == 200


def test_a_link_stays_good_while_what_is_typed_is_not(client, newcomer):
    client.get(path_for(newcomer))
    page = client.post(
        "/account/invitation/", {"password1": "quite another one", "password2": "something else"}
    )
    assert "differ" in page.content.decode()
    page = client.post("/account/invitation/", {"password1": "12345", "password2": "12345"})
    assert 'aria-invalid="true"' in page.content.decode()
    assert client.post("/account/invitation/", NEW).status_code == 302


def test_an_expired_link_says_so(client, newcomer, monkeypatch):
    link = path_for(newcomer)
    late = (
        datetime.datetime.now(datetime.UTC).timestamp()
        + datetime.timedelta(days=7, seconds=5).total_seconds()
    )
    monkeypatch.setattr("django.core.signing.time.time", lambda: late)
    page = client.get(link)
    assert page.status_code == 410
    assert "has expired" in page.content.decode()


def test_an_incomplete_link_says_so(client, newcomer):
    link = path_for(newcomer)
    for broken in (
        link[:-5] + "/",
        link.replace("invitation/", "invitation/x"),
        "/account/invitation/",
    ):
        page = client.get(broken)
        assert page.status_code == 410
        assert "not complete" in page.content.decode()


def test_a_link_of_a_closed_account_opens_nothing(client, newcomer):
    link = path_for(newcomer)
    User.objects.filter(pk=newcomer.pk).update(is_active=False)
    assert client.get(link).status_code == 410


def test_the_command_makes_an_account_and_its_link(client, db):
    said = StringIO()
    call_command(
        "invite",
        "noor",
        "--admin",
        "--site",
        "https://candor.example.org/",
        stdout=said,
        stderr=StringIO(),
    )
    found = re.fullmatch(
        r"https://candor\.example\.org(/account/invitation/\S+/)\n", said.getvalue()
    )
    user = User.objects.get(username="noor")
    assert user.is_staff
    assert not user.has_usable_password()
    assert client.get(found[1]).status_code == 302


def test_a_site_s_admin_may_set_its_limits_and_a_study_admin_may_not(client, db):
    """A link for either gives the powers of a group; only one of the two holds the right to set
    the site's limits.
    """
    for name, option in (("noor", "--admin"), ("sita", "--site-admin")):
        call_command("invite", name, option, stdout=StringIO(), stderr=StringIO())
    studies, site = User.objects.get(username="noor"), User.objects.get(username="sita")
    assert studies.is_staff
    assert site.is_staff
    assert site.get_all_permissions() - studies.get_all_permissions() == {"design.set_limits"}
    assert studies.get_all_permissions() < site.get_all_permissions()


def test_the_command_refuses_a_name_that_no_account_can_have(db):
    with pytest.raises(CommandError, match="username"):
        call_command("invite", "no or", stdout=StringIO())


def test_an_admin_makes_links_only_for_accounts_within_their_reach(client, admin_user, newcomer):
    client.force_login(admin_user)
    root = User.objects.create_superuser("root", password=PASSWORD)
    page = client.post(f"/people/{newcomer.pk}/link/")
    assert "/account/invitation/" in page.context["link"]
    assert client.post(f"/people/{root.pk}/link/").status_code == 403
    assert client.post(f"/people/{admin_user.pk}/link/").status_code == 403


def test_nobody_signs_up(client, db):
    for page in (
        client.get("/accounts/signup/"),
        client.post("/accounts/signup/", {"username": "eve"} | NEW),
    ):
        assert "made by an admin" in page.content.decode()
    assert not User.objects.filter(username="eve").exists()


def test_without_letters_a_lost_password_is_an_admin_s_matter(client, db):
    page = client.get("/accounts/password/reset/").content.decode()
    assert "Ask an admin" in page
    assert "<input" not in page.split("<main")[1].split("</main>")[0]


def test_with_letters_a_link_is_sent_to_who_has_an_account_and_the_page_does_not_tell(
    client, newcomer, settings, mailoutbox
):
    settings.EMAIL_CONFIGURED = True
    User.objects.filter(pk=newcomer.pk).update(email="noor@example.org", password="!")
    newcomer.refresh_from_db()
    newcomer.set_password(PASSWORD)
    newcomer.save()
    same = [
        client.post("/accounts/password/reset/", {"email": email}, follow=True).content
        for email in ("noor@example.org", "nobody@example.org")
    ]
    assert len(mailoutbox) == 1
    assert all(b"the same either way" in page for page in same)
    link = re.search(r"http://testserver(/\S+)", mailoutbox[0].body)[1]
    form = client.get(link, follow=True)
    assert client.post(form.context["action_url"], NEW, follow=True).context["user"] == newcomer
    newcomer.refresh_from_db()
    assert newcomer.check_password(NEW["password1"])
    again = Client().get(link)
    assert "This link has been used" in again.content.decode()


def test_a_session_gets_a_new_key_at_sign_in(client, researcher):
    client.get("/accounts/login/")
    session = client.session
    session["kept"] = 1
    session.save()
    client.cookies["sessionid"] = session.session_key
    sign_in(client, "mira")
    assert client.session.session_key != session.session_key


def test_changing_the_password_ends_every_other_session(client, researcher):
    other = Client()
    sign_in(other, "mira")
    sign_in(client, "mira")
    before = client.session.session_key
    answer = client.post("/accounts/password/change/", {"oldpassword": PASSWORD} | NEW)
    assert answer.url == "/account/"
    assert client.session.session_key != before
    assert client.get("/studies/").status_code == 200
    assert other.get("/studies/").status_code == 302


def test_somebody_signs_out_everywhere_else(client, researcher, outsider):
    others, third = Client(), Client()
    sign_in(others, "mira")
    sign_in(third, "otto")
    sign_in(client, "mira")
    assert (
        "Other browsers in which you are signed in: 1." in client.get("/account/").content.decode()
    )
    client.post("/account/sessions/end/")
    assert others.get("/account/").status_code == 302
    assert client.get("/account/").status_code == 200
    assert third.get("/account/").status_code == 200


def test_names_are_saved_and_the_name_to_sign_in_with_is_not_among_them(client, researcher):
    client.force_login(researcher)
    client.post(
        "/account/",
        {"first_name": "Mira", "last_name": "Lund", "email": "m@example.org", "username": "root"},
    )
    researcher.refresh_from_db()
    assert (researcher.get_full_name(), researcher.username) == ("Mira Lund", "mira")


def test_a_bad_address_is_kept_and_told(client, researcher):
    client.force_login(researcher)
    page = client.post("/account/", {"first_name": "Mira", "email": "not one"}).content.decode()
    assert 'value="not one"' in page
    assert 'aria-invalid="true"' in page
    assert 'href="#id_email"' in page


@pytest.mark.parametrize(
    "address",
    [
        "/accounts/email/",
        "/accounts/2fa/",
        "/accounts/2fa/webauthn/",
        "/accounts/confirm-email/",
        "/accounts/confirm-email/x/",
    ],
)
def test_pages_that_this_site_has_one_of_lead_to_the_account(client, researcher, address):
    client.force_login(researcher)
    assert client.get(address).url == "/account/"
