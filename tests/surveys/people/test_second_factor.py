"""A password alone opens nothing of an admin's, by any door."""

import datetime
import os
import subprocess
import sys

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings as site
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from surveys.brakes import Places
from surveys.people import attempts, factors, services, views
from surveys.people.models import Role
from surveys.people.tasks import clear_sessions
from tests.surveys.people.conftest import PASSWORD, SECRET, shown_by_app, sign_in

SET_UP = "/account/second-factor/"
DOORS = [
    "/studies/",
    "/admin/",
    "/admin/people/user/",
    "/studies/exam-honesty/",
    "/account/",
    "/registry/",
    "/nowhere/",
    "/accounts/2fa/recovery-codes/",
    "/accounts/password/change/",
    "/admin/password_change/",
]


@pytest.mark.parametrize("door", DOORS)
def test_an_admin_without_a_second_factor_is_sent_to_set_one_up_from_every_door(
    client, plan, admin_user, strict, door
):
    assert sign_in(client, "ada").status_code == 302
    answer = client.get(door)
    assert answer.status_code == 302
    assert answer.url.startswith(SET_UP)
    assert client.post(door, {}).url == SET_UP


@pytest.mark.parametrize("door", DOORS)
def test_a_session_that_has_shown_only_a_password_opens_no_door_of_who_has_a_factor(
    client, plan, guarded, door
):
    client.force_login(guarded)  # as one that began before the factor was set up
    assert client.get(door).url.startswith("/accounts/2fa/reauthenticate/")


def test_the_api_answers_a_password_with_403(client, plan, guarded):
    client.force_login(guarded)
    answer = client.get("/api/v1/studies/exam-honesty/releases")
    assert answer.status_code == 403
    assert "second factor" in answer.json()["detail"]


def test_a_password_alone_does_not_sign_an_admin_in(client, plan, guarded):
    assert sign_in(client, "ada").url == "/accounts/2fa/authenticate/"
    for door in DOORS[:5]:
        assert client.get(door).status_code in (302, 404)
        assert client.session.get("_auth_user_id") is None


def test_a_password_and_a_code_open_everything(client, plan, guarded):
    sign_in(client, "ada")
    assert client.post("/accounts/2fa/authenticate/", {"code": shown_by_app()}).url == "/studies/"
    assert client.get("/studies/").status_code == 200
    assert client.get("/admin/").status_code == 200
    assert client.get("/api/v1/studies/exam-honesty/releases").status_code == 200


def test_a_wrong_code_opens_nothing_and_says_what_to_do(client, guarded):
    sign_in(client, "ada")
    page = client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert "take the newest" in page.content.decode()
    assert client.get("/studies/").status_code == 302


def test_guessing_codes_ends_after_five(client, guarded):
    sign_in(client, "ada")
    for _ in range(6):
        page = client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    page = client.post("/accounts/2fa/authenticate/", {"code": shown_by_app()})
    assert page.status_code in (200, 429)
    assert client.session.get("_auth_user_id") is None


def test_guessing_a_password_ends_after_five(client, guarded, researcher):
    for _ in range(6):
        client.post("/accounts/login/", {"login": "mira", "password": "wrong"})
    assert sign_in(client, "mira").status_code in (200, 429)
    assert client.session.get("_auth_user_id") is None


HERE, THERE = {"REMOTE_ADDR": "192.0.2.7"}, {"REMOTE_ADDR": "198.51.100.4"}


def guess_passwords(client, name, times, **headers):
    for _ in range(times):
        page = client.post("/accounts/login/", {"login": name, "password": "wrong"}, **headers)
    return page.content.decode()


@pytest.mark.parametrize("name", ["mira", "MIRA"])
def test_who_guesses_from_one_place_locks_nobody_out_at_another(client, researcher, name):
    assert "Too many wrong tries from here" in guess_passwords(client, name, 6, **HERE)
    assert sign_in(client, "mira", **HERE).status_code in (200, 429)
    assert sign_in(client, "mira", **THERE).url == "/studies/"


def test_who_has_the_password_and_guesses_codes_locks_nobody_out_at_another_place(client, guarded):
    sign_in(client, "ada", **HERE)
    for _ in range(6):
        page = client.post("/accounts/2fa/authenticate/", {"code": "000000"}, **HERE)
    assert "Too many wrong tries from here" in page.content.decode()
    assert (
        client.post("/accounts/2fa/authenticate/", {"code": shown_by_app()}, **HERE).status_code
        == 200
    )
    other = Client()
    sign_in(other, "ada", **THERE)
    assert (
        other.post("/accounts/2fa/authenticate/", {"code": shown_by_app()}, **THERE).url
        == "/studies/"
    )


def test_guessing_codes_when_asked_again_ends_after_five_too(client, guarded):
    client.force_login(guarded)
    for _ in range(6):
        page = client.post("/accounts/2fa/reauthenticate/", {"code": "000000"})
    assert "Too many wrong tries from here" in page.content.decode()


def test_a_name_that_nobody_has_is_stopped_in_the_same_words(client, researcher):
    said = [
        guess_passwords(client, name, times, **place).split('class="errors"')[1].split("</div>")[0]
        for name, place in (("mira", HERE), ("nobody", THERE))
        for times in (1, 5)
    ]
    assert said[:2] == said[2:]


def test_many_places_together_are_slowed_and_the_owner_gets_in(client, researcher, monkeypatch):
    monkeypatch.setattr(attempts, "EVERYWHERE", "8/h/key")
    luck = iter([False] * 3 + [True])
    monkeypatch.setattr(attempts, "one_in", lambda many: next(luck))
    for place in range(8):
        guess_passwords(client, "mira", 1, REMOTE_ADDR=f"203.0.113.{place}")
    for _ in range(3):
        assert "tried from many places" in sign_in(client, "mira", **THERE).content.decode()
    assert sign_in(client, "mira", **THERE).url == "/studies/"


def test_what_is_not_looked_at_does_not_count_as_a_wrong_try(client, researcher, monkeypatch):
    monkeypatch.setattr(attempts, "EVERYWHERE", "1/h/key")
    guess_passwords(client, "mira", 1, **HERE)
    monkeypatch.setattr(attempts, "one_in", lambda many: False)
    assert "tried from many places" in guess_passwords(client, "mira", 9, **THERE)
    monkeypatch.setattr(attempts, "one_in", lambda many: True)
    assert sign_in(client, "mira", **THERE).url == "/studies/"


def test_who_is_right_uses_up_nothing(client, researcher):
    for _ in range(7):
        assert sign_in(client, "mira", **HERE).url == "/studies/"
        client.post("/accounts/logout/")


def test_attempts_are_counted_without_a_name_or_an_address_in_the_clear(client, researcher):
    from django.db import connection

    client.post(
        "/accounts/login/", {"login": "mira", "password": "wrong"}, REMOTE_ADDR="192.0.2.77"
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT cache_key FROM people_attempts")
        keys = [key for (key,) in cursor.fetchall()]
    assert keys
    assert all(len(key) == 64 for key in keys)


def test_a_recovery_code_stands_in_once(client, guarded):
    code = (
        Authenticator.objects.get(user=guarded, type="recovery_codes").wrap().get_unused_codes()[0]
    )
    sign_in(client, "ada")
    assert client.post("/accounts/2fa/authenticate/", {"code": code}).url == "/studies/"
    client.post("/accounts/logout/")
    sign_in(client, "ada")
    assert client.post("/accounts/2fa/authenticate/", {"code": code}).status_code == 200


def test_who_was_made_an_admin_in_the_middle_of_a_session_is_stopped_too(
    client, strict, researcher
):
    sign_in(client, "mira")
    assert client.get("/studies/").status_code == 200
    researcher.user_permissions.add(Permission.objects.get(codename="change_study"))
    assert client.get("/studies/").url.startswith(SET_UP)


@pytest.mark.parametrize("power", ["set_limits", "change_study"])
def test_the_powers_of_an_admin_count_and_not_the_flag(strict, outsider, power):
    assert not factors.must_show(outsider)
    outsider.user_permissions.add(Permission.objects.get(codename=power))
    assert factors.must_show(type(outsider).objects.get(pk=outsider.pk))


def test_a_researcher_may_have_one_and_need_not(client, strict, researcher):
    sign_in(client, "mira")
    assert client.get("/studies/").status_code == 200
    assert "Set up a second factor" in client.get("/account/").content.decode()


def test_setting_one_up_shows_a_code_opens_everything_and_gives_recovery_codes(
    client, admin_user, strict, monkeypatch
):
    # a test never commits
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act, **kwargs: act())
    sign_in(client, "ada")
    assert client.get("/accounts/2fa/totp/activate/").url.startswith("/accounts/reauthenticate/")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = client.get("/accounts/2fa/totp/activate/")
    text = page.content.decode()
    assert "data:image" not in text
    assert "style=" not in text
    assert '<svg class="qr"' in text
    code = shown_by_app(page.context["form"].secret)
    answer = client.post("/accounts/2fa/totp/activate/", {"code": code}, follow=True)
    assert answer.redirect_chain[-1][0] == "/accounts/2fa/recovery-codes/"
    assert len(answer.context["unused_codes"]) == 10
    assert client.get("/studies/").status_code == 200


def test_setting_one_up_wrongly_keeps_the_key_and_sets_nothing_up(client, admin_user, strict):
    sign_in(client, "ada")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = client.get("/accounts/2fa/totp/activate/").context["form"].secret
    wrong = "000000" if shown_by_app(secret) != "000000" else "000001"
    page = client.post("/accounts/2fa/totp/activate/", {"code": wrong})
    assert page.context["form"].secret == secret
    assert not Authenticator.objects.exists()


def test_turning_off_the_last_one_closes_the_doors_again(client, guarded):
    sign_in(client, "ada")
    client.post("/accounts/2fa/authenticate/", {"code": shown_by_app()})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    client.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.filter(user=guarded).exists()
    assert client.get("/studies/").url.startswith(SET_UP)


def test_another_account_in_the_same_browser_does_not_inherit_the_factor(client, guarded, db):
    sign_in(client, "ada")
    client.post("/accounts/2fa/authenticate/", {"code": shown_by_app()})
    client.post("/accounts/logout/")
    services.ensure_user(username="bo", password=PASSWORD, is_admin=True)
    sign_in(client, "bo")
    assert client.get("/studies/").url.startswith(SET_UP)


def test_django_s_admin_has_no_sign_in_of_its_own(client, guarded):
    assert client.get("/admin/login/").url.startswith("/accounts/login/")
    answer = client.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert answer.url.startswith("/accounts/login/")
    assert client.session.get("_auth_user_id") is None


def test_a_researcher_who_tries_the_admin_s_door_is_told_and_not_looped(client, researcher):
    client.force_login(researcher)
    assert client.get("/admin/login/").status_code == 403


def test_a_link_that_sets_an_admin_s_password_is_no_way_round_the_factor(client, guarded):
    from surveys.people.invitations import path_for

    client.get(path_for(guarded))
    new = {"password1": "quite another one", "password2": "quite another one"}
    assert client.post("/account/invitation/", new).url == "/accounts/2fa/authenticate/"
    assert client.get("/studies/").status_code == 302
    assert client.session.get("_auth_user_id") is None
    answer = client.post("/accounts/login/", {"login": "ada", "password": "quite another one"})
    assert answer.url == "/accounts/2fa/authenticate/"


def test_a_stranger_s_pages_depend_on_no_cookie(client, plan, strict):
    answer = client.get("/registry/exam-honesty.json")
    assert not answer.cookies
    assert "Cookie" not in answer.headers.get("Vary", "")


@pytest.mark.parametrize(("demo", "needed"), [("", "True"), ("1", "False")])
def test_only_the_demo_lets_admins_in_by_a_password(tmp_path, demo, needed):
    code = "from surveys import settings; print(settings.ADMINS_NEED_SECOND_FACTOR)"
    environment = {"PATH": os.environ["PATH"], "CANDOR_DATA": str(tmp_path), "CANDOR_DEMO": demo}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=site.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == needed


def test_the_demo_says_that_its_passwords_are_public(client, db, settings):
    assert "public" not in client.get("/accounts/login/").content.decode()
    settings.CANDOR_DEMO = True
    assert "its passwords are public" in client.get("/accounts/login/").content.decode()


def test_after_a_lost_phone_the_factors_can_be_forgotten(guarded):
    assert services.forget_factors(guarded) == 2
    assert not factors.has_factor(guarded)


def test_roles_of_a_study_make_nobody_an_admin(strict, draft, outsider):
    services.share(study=draft, user=outsider, role=Role.OWNER)
    assert not factors.must_show(outsider)


def test_the_secret_used_here_is_one_that_apps_take():
    assert len(shown_by_app(SECRET)) == 6


def test_attempts_at_many_names_do_not_have_others_forgotten(db):
    keys = [f"name {number}" for number in range(330)]
    for key in keys:
        cache.set(key, 1, 300)
    assert len(cache.get_many(keys)) == len(keys)


def test_no_program_fills_the_table_of_sessions_by_beginning_to_sign_in(client, db, monkeypatch):
    monkeypatch.setattr(views, "networks", Places())
    monkeypatch.setattr(views, "PASSKEYS_AT_ONCE", 5)

    def begin(address):
        headers = {"X-Requested-With": "XMLHttpRequest"}
        return Client().get("/accounts/2fa/webauthn/login/", headers=headers, REMOTE_ADDR=address)

    found = [begin("192.0.2.7") for _ in range(7)]
    assert [each.status_code for each in found] == [200] * 5 + [429] * 2
    assert "challenge" in found[0].json()["request_options"]["publicKey"]
    assert int(found[-1]["Retry-After"]) > 1
    assert begin("192.0.2.8").status_code == 200
    assert Session.objects.count() == 6
    soon = timezone.now() + datetime.timedelta(seconds=views.PASSKEY_SECONDS)
    assert not Session.objects.filter(expire_date__gt=soon).exists()
    assert client.post("/accounts/2fa/webauthn/login/", {"credential": "{}"}).status_code == 302


def test_who_signs_in_after_beginning_with_a_passkey_stays_signed_in(client, admin_user):
    headers = {"X-Requested-With": "XMLHttpRequest"}
    client.get("/accounts/2fa/webauthn/login/", headers=headers)
    assert client.session.get_expiry_age() == views.PASSKEY_SECONDS
    sign_in(client, "ada")
    assert client.session.get_expire_at_browser_close()
    assert client.session.get_expiry_age() == site.SESSION_COOKIE_AGE


def test_sessions_that_have_expired_are_deleted(client, admin_user):
    sign_in(client, "ada")
    sign_in(other := Client(), "ada")
    mine = client.session.session_key
    Session.objects.filter(pk=mine).update(expire_date=timezone.now())
    clear_sessions()
    assert [each.pk for each in Session.objects.all()] == [other.session.session_key]


def test_counts_that_no_longer_count_are_deleted_and_the_others_stay(db):
    def rows():
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM people_attempts")
            return cursor.fetchone()[0]

    before = rows()
    cache.set("a try of an hour ago", 5, timeout=-1)
    cache.set("a try of a minute ago", 5, timeout=300)
    assert rows() == before + 2
    clear_sessions()
    assert rows() == before + 1
    assert cache.get("a try of a minute ago") == 5
