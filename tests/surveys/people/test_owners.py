# ruff: noqa: F811 (fixtures of another room)
"""No admin becomes an owner, or gets into an owner's account, and what is done with either is written
down, told, and stays.
"""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client

from surveys.invited import services as invited
from surveys.invited.models import Person
from surveys.ledger.models import Entry
from surveys.ledger.selectors import read
from surveys.people import audit, services as people
from surveys.people.invitations import NotOpen, holder_of, path_for
from surveys.people.models import AuditRow, Membership, Role, Untold, User
from tests.conftest import known_as
from tests.surveys.invited.conftest import entries, owner, plan, study  # noqa: F401 (fixtures)

LIST = "/studies/exam-honesty/list/"
PAGE = "/studies/exam-honesty/people/"
PASSWORD = "quite another one"
ADMINS = ("admin", "site", "root")


@pytest.fixture
def listed(study):
    """A list of 110 people."""
    people_on_it = [*entries(55, strata=("Arts", "Law"))]
    assert invited.add_people(study_id=study.pk, entries=people_on_it) == []
    return study


@pytest.fixture(params=ADMINS)
def admin(request, db):
    """Somebody of each kind of admin, with a browser."""
    user = (
        User.objects.create_superuser("ada", password="a long password")
        if request.param == "root"
        else known_as("ada", **{f"is_{'site_' * (request.param == 'site')}admin": True})
    )
    client = Client()
    client.force_login(user)
    client.own = user
    return client


@pytest.fixture
def olga(owner):
    user = User.objects.get(username="olga")
    User.objects.filter(pk=user.pk).update(email="olga@example.org")
    user.refresh_from_db()
    return user


def whats(**of):
    return list(AuditRow.objects.filter(**of).order_by("pk").values_list("what", flat=True))


def test_no_admin_makes_themselves_an_owner_and_reads_a_list(admin, olga, listed):
    """The attack that worked: names, addresses and a working code each, and no row anywhere."""
    me = admin.own.pk
    row = {"user": me, "study": listed.pk, "role": "owner"}
    tried = [
        admin.post("/admin/people/membership/add/", row),
        admin.post(f"{PAGE}", {"name": "ada", "role": "owner"}),
        admin.post(f"{PAGE}{olga.pk}/remove/", {"sure": "1"}),
        admin.post(f"{PAGE}back/"),
    ]
    assert [each.status_code for each in tried] == [403] * 4
    member = people.share(study=listed, user=admin.own, role=Role.READER)
    tried = [
        admin.post(f"/admin/people/membership/{member.pk}/change/", row),
        admin.post(f"{PAGE}{me}/", {"role": "owner"}),
        admin.get(LIST),
        admin.post(f"{LIST}paper/", {"whom": "all", "as": "file"}),
        admin.get(f"{LIST}letters/"),
    ]
    assert [each.status_code for each in tried] == [403] * 5
    assert Person.objects.count() == 110
    assert all(b"@example.org" not in each.content for each in tried)
    assert not Membership.objects.filter(user=me, role="owner").exists()


def test_nor_does_an_admin_who_turns_the_list_off_and_on(admin, olga, listed):
    texts = admin.get("/studies/exam-honesty/build/texts/")
    assert texts.status_code == 200
    type(listed).objects.filter(pk=listed.pk).update(is_invited=False)
    assert admin.post(PAGE, {"name": "ada", "role": "owner"}).status_code == 403
    type(listed).objects.filter(pk=listed.pk).update(is_invited=True)
    assert admin.get(LIST).status_code == 403


def test_no_admin_guesses_at_a_field_that_is_not_shown(admin, olga):
    """Asked a sign at a time, a list that answers tells a password's hash, and an address."""
    hashed, people = olga.password, "/admin/people/user/"
    for of_people in (f"password__startswith={hashed[:9]}", "email__startswith=o", "pseudonym=x"):
        assert admin.get(f"{people}?{of_people}").status_code == 400
    assert b"olga" in admin.get(f"{people}?is_active__exact=1").content
    assert b"olga" not in admin.get(f"{people}?is_active__exact=0").content
    assert admin.get(f"{people}?groups__id__exact=1").status_code == 200


def test_no_admin_gets_into_an_owner_s_account(admin, olga, listed):
    before = User.objects.values_list("email", "password").get(pk=olga.pk)
    own = f"/admin/people/user/{olga.pk}"
    act = {"action": "make_links", "_selected_action": [olga.pk]}
    new = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    pages = [
        admin.post("/admin/people/user/", act, follow=True),
        admin.post(f"/people/{olga.pk}/link/"),
        admin.post(f"{own}/change/", {"username": "olga", "email": "ada@example.org"}),
        admin.post(f"{own}/password/", new),
        admin.post(f"{own}/delete/", {"post": "yes"}),
        admin.post("/admin/account/emailaddress/add/", {"user": olga.pk, "email": "a@b.org"}),
    ]
    assert all("/account/invitation/" not in page.content.decode() for page in pages)
    assert [page.status_code for page in pages] == [200, 403, 403, 302, 403, 404]
    assert User.objects.values_list("email", "password").get(pk=olga.pk) == before
    assert "link" not in whats()


def test_a_link_made_before_somebody_owned_a_study_opens_nothing_after(admin, olga, listed):
    otto = known_as("otto")
    page = admin.post(f"/people/{otto.pk}/link/")
    token = page.context["link"].rstrip("/").rpartition("/")[2]
    assert holder_of(token) == otto
    people.share(study=listed, user=otto, role=Role.OWNER, by="olga")
    with pytest.raises(NotOpen):
        holder_of(token)
    assert holder_of(path_for(otto).rstrip("/").rpartition("/")[2]) == otto  # by the console


def test_nobody_becomes_an_owner_before_their_own_password_is_set(client, owner, listed):
    """Until then whoever holds the link is that account: an admin, say."""
    noor = people.ensure_user(username="noor", password=None)
    page = owner.post(PAGE, {"name": "noor", "role": "owner"}).content.decode()
    assert "has not set a password yet" in page
    owner.post(PAGE, {"name": "noor", "role": "reader"})
    page = owner.post(f"{PAGE}{noor.pk}/", {"role": "owner"}, follow=True).content.decode()
    assert "has not set a password yet" in page
    assert not Membership.objects.filter(user=noor, role="owner").exists()


def test_whoever_opens_a_link_sees_where_a_lost_password_would_go(client, admin_user, db):
    """An admin writes the address of an invitation: a reset would go there ever after."""
    noor = people.invite(username="noor", email="ada@example.org", by=admin_user)
    client.get(people.make_link(user=noor, by="ada"))
    page = client.get("/account/invitation/").content.decode()
    assert 'value="ada@example.org"' in page
    new = {"password1": PASSWORD, "password2": PASSWORD, "email": "noor@example.org"}
    client.post("/account/invitation/", new)
    noor.refresh_from_db()
    assert noor.email == "noor@example.org"
    assert whats(whom=noor.pseudonym) == ["account", "link", "email", "password", "sign-in"]


def test_what_owners_do_is_written_down_for_owners(owner, olga, listed):
    otto = known_as("otto")
    owner.post(PAGE, {"name": "otto", "role": "reader"})
    owner.post(f"{PAGE}{otto.pk}/", {"role": "owner"})
    owner.get(LIST)
    owner.get(f"{LIST}?page=2")
    owner.post(f"{PAGE}{otto.pk}/remove/")
    own = AuditRow.objects.filter(study=listed)
    assert whats(study=listed) == ["role", "owner", "read", "left"]
    assert set(own.values_list("who", flat=True)) == {"olga"}
    page = owner.get(PAGE).content.decode()
    assert "olga made otto an owner." in page
    assert "olga read the list of people." in page


def test_codes_that_are_printed_or_saved_are_written_down(owner, plan):
    owner.post(f"{LIST}paper/", {"whom": "all", "as": "file"})
    owner.post(f"{LIST}paper/", {"whom": "all", "as": "pages"})
    rows = AuditRow.objects.filter(study=plan.study).order_by("pk")
    assert list(rows.values_list("what", "many")) == [("export", 110), ("codes", 100)]


def test_other_owners_are_told_by_e_mail_and_who_did_it_is_not(
    owner,
    olga,
    listed,
    settings,
    mailoutbox,
):
    settings.EMAIL_CONFIGURED = True
    otto = known_as("otto")
    User.objects.filter(pk=otto.pk).update(email="otto@example.org")
    people.share(study=listed, user=otto, role=Role.OWNER, by="olga")
    owner.get(LIST)
    assert audit.tell() == 2
    assert [letter.to for letter in mailoutbox] == [["otto@example.org"]] * 2
    assert "olga made otto an owner." in mailoutbox[0].body
    assert not Untold.objects.exists()
    assert audit.tell() == 0


def test_an_address_that_was_changed_is_told_at_the_one_before(client, olga, settings, mailoutbox):
    settings.EMAIL_CONFIGURED = True
    client.force_login(olga)
    client.post("/account/", {"first_name": "", "last_name": "", "email": "new@example.org"})
    audit.tell()
    assert ["olga@example.org"] in [letter.to for letter in mailoutbox]
    assert "olga changed the e-mail address of olga." in mailoutbox[-1].body


def test_a_server_that_cannot_be_reached_is_tried_again(olga, listed, settings, monkeypatch):
    settings.EMAIL_CONFIGURED = True
    people.share(study=listed, user=known_as("otto"), role=Role.OWNER, by="otto")

    def fails(*_letter):
        raise OSError

    monkeypatch.setattr(audit, "send_mail", fails)
    assert audit.tell() == 0
    assert Untold.objects.count() == 1


def test_the_public_ledger_says_that_an_owner_was_added_and_not_who(owner, plan):
    otto = known_as("otto")
    owner.post(PAGE, {"name": "otto", "role": "owner"})
    (row,) = Entry.objects.filter(what="an owner was added")
    assert (row.budget_id, row.who) == (plan.study.budget_id, "the study's owners")
    assert all(name not in str(read([row.pk])[0].document) for name in ("olga", "otto"))
    owner.post(f"{PAGE}{otto.pk}/", {"role": "editor"})
    assert Entry.objects.filter(what="an owner was added").count() == 1


def test_accounts_and_passwords_of_the_console_are_written_down(olga, plan, monkeypatch):
    call_command("createsuperuser", interactive=False, username="noor", email="noor@example.org")
    monkeypatch.setattr("getpass.getpass", lambda prompt: "a new and longer password")
    call_command("changepassword", "olga")
    rows = AuditRow.objects.exclude(what="sign-in").order_by("pk")
    assert [audit.sentence(row) for row in rows] == [
        "the console made the account noor.",
        "the console set a new password for olga.",
    ]
    assert Untold.objects.count() == 2
    known_as("otto")  # nobody writes on the console any more
    assert rows.count() == 2


def test_the_console_can_do_it_and_every_owner_is_told(olga, plan, settings, mailoutbox):
    settings.EMAIL_CONFIGURED = True
    call_command("invite", "noor", "--own", "exam-honesty")
    assert Membership.objects.get(user__username="noor").role == "owner"
    audit.tell()
    told = [letter.body for letter in mailoutbox if letter.to == ["olga@example.org"]]
    assert "the console made noor an owner." in told[0]
    assert Entry.objects.filter(what="an owner was added").exists()
    with pytest.raises(CommandError, match="No study"):
        call_command("invite", "noor", "--own", "no-such-study")


@pytest.mark.parametrize(
    ("statement", "engines"),
    [
        ("UPDATE people_audit SET who = 'nobody'", "sqlite postgresql"),
        ("DELETE FROM people_audit", "sqlite postgresql"),
        ("INSERT OR REPLACE INTO people_audit SELECT * FROM people_audit", "sqlite"),
        ("TRUNCATE people_audit CASCADE", "postgresql"),
    ],
)
def test_the_database_refuses_to_change_or_delete_a_row(olga, statement, engines):
    if connection.vendor not in engines:
        pytest.skip(f"a statement of {engines}")
    people.make_link(user=olga, by="ada")
    Untold.objects.all().delete()
    connection.check_constraints()  # none is left for the end, for which PostgreSQL would refuse
    before = list(AuditRow.objects.values())
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert list(AuditRow.objects.values()) == before


def test_a_draft_that_is_deleted_leaves_its_rows(owner, olga, listed):
    owner.get(LIST)
    key = listed.pk
    listed.delete()
    assert whats(study_id=key) == ["read"]


def test_a_closed_account_is_signed_out_and_the_owner_is_told(admin, olga, listed):
    client = Client()
    client.force_login(olga)
    admin.post(f"/people/{olga.pk}/close/")
    assert client.get(LIST).status_code == 302
    assert whats(whom="olga")[-1] == "closed"
    admin.post(f"/people/{olga.pk}/close/")
    olga.refresh_from_db()
    assert olga.is_active
    assert olga.check_password("a long password")


def test_invited_people_get_a_link_and_only_site_admins_make_admins(client, admin_user):
    client.force_login(admin_user)
    page = client.post("/people/", {"name": "noor", "email": "", "power": ""})
    assert "/account/invitation/" in page.context["link"]
    page = client.post("/people/", {"name": "nils", "email": "", "power": "site"})
    assert page.status_code == 422
    assert client.post("/people/", {"name": "NOOR", "power": ""}).status_code == 422
    client.force_login(known_as("sita", is_site_admin=True))
    client.post("/people/", {"name": "nils", "email": "", "power": "site"})
    assert User.objects.get(username="nils").has_perm("design.set_limits")
    assert not User.objects.get(username="noor").is_staff
