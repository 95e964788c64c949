"""Who is on a list: kept sealed, shown to owners, added all or none, removed, erased, launched."""

import datetime
import re
from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.db.models.signals import post_save
from django.test import Client

from surveys.design import services as design
from surveys.design.models import Plan, Study
from surveys.design.refusals import CannotOpen, Refused
from surveys.invited import keys, paper, selectors, services
from surveys.invited.lists import Entry
from surveys.invited.models import Count, Key, Person, Unopened
from surveys.issuer import services as issuer
from surveys.issuer.models import Invitation, Key as KeyAtIssuer
from surveys.issuer.refusals import Away
from surveys.people import selectors as people_selectors, services as people
from surveys.people.models import Right, Role
from surveys.plan.content import digest
from surveys.sealed_keys import open_all, seal_anew
from tests.conftest import NOW, TODAY, known_as
from tests.surveys.invited.conftest import entries
from tests.surveys.issuer.test_process import apart  # noqa: F401 (a fixture)
from tests.surveys.people.test_doors import outcome


def addresses(study):
    return [entry.address for _, entry in selectors.people_of(study)]


def said(study):
    """Return all that the tables of the room hold, as their bytes."""
    found = b""
    with connection.cursor() as cursor:
        for table in ("invited_person", "invited_key"):
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 (of this list)
            found += b"".join(
                bytes(cell) if isinstance(cell, bytes | memoryview) else str(cell).encode()
                for row in cursor.fetchall()
                for cell in row
            )
    return found


def test_people_are_sealed_and_open_for_the_list(listed):
    assert len(addresses(listed)) == 90
    assert addresses(listed)[0] == "p0.arts@example.org"
    assert b"example.org" not in said(listed)
    assert b'"P 0"' not in said(listed)  # three bytes are in so much by chance, once in a thousand


def test_all_are_added_or_none(listed):
    more = [Entry("new@example.org", row=2), Entry("P0.ARTS@example.org", row=3)]
    (remark,) = services.add_people(study_id=listed.pk, entries=more)
    assert (remark.row, remark.column) == (3, "address")
    assert Person.objects.count() == 90


def test_the_page_names_every_problem_and_adds_nobody(owner, study):
    file = SimpleUploadedFile("list.csv", b"address,name\n,Bo\nno@,Cy\n")
    page = owner.post("/studies/exam-honesty/list/add/", {"file": file})
    assert page.status_code == 400
    text = page.content.decode()
    assert "Row 2, column “address”" in text
    assert "Row 3, column “address”" in text
    assert not Person.objects.exists()


def test_a_file_that_is_right_is_added_and_shown(owner, study):
    file = SimpleUploadedFile("list.csv", b"address,stratum\nbo@example.org,Law\n")
    page = owner.post("/studies/exam-honesty/list/add/", {"file": file}, follow=True)
    assert "1 person was added." in page.content.decode()
    assert "bo@example.org" in page.content.decode()
    found = owner.get("/studies/exam-honesty/list/?find=BO@example.org").content.decode()
    assert "bo@example.org</th>" in found.replace("\n", "").replace(" ", "")
    assert "bo@example.org" not in owner.get(
        "/studies/exam-honesty/list/?find=no@example.org"
    ).content.decode().replace('value="no@', "")


PATH = "/studies/exam-honesty/list/add/"
CARRIED = re.compile(r'name="carried" value="([^"]+)"')


def test_the_column_of_the_address_is_asked_for_and_the_file_not_again(owner, study):
    raw = b"Who,E-mail 1 - Value\nBo,bo@example.org\n"
    page = owner.post(PATH, {"file": SimpleUploadedFile("list.csv", raw)})
    assert page.status_code == 400
    text = page.content.decode()
    assert "No one has been added yet" in text
    assert "Which column is the address?" in text
    assert text.index("bo@example.org") < text.index(">Bo<"), "what looks like one is first"
    page = owner.post(PATH, {"carried": CARRIED.search(text)[1], "address": "2"}, follow=True)
    assert "1 person was added." in page.content.decode()
    assert addresses(study) == ["bo@example.org"]


def test_what_is_wrong_names_the_column_as_the_file_does(owner, study):
    raw = b"Who,Mobile\nBo,+447700900001\nCy,\n"
    text = owner.post(PATH, {"file": SimpleUploadedFile("list.csv", raw)}).content.decode()
    page = owner.post(PATH, {"carried": CARRIED.search(text)[1], "address": "2"})
    assert "Row 3, column “Mobile”" in page.content.decode()


def test_no_two_fields_of_the_list_share_a_label(owner, study):
    ids = re.findall(r' id="([^"]+)"', owner.get("/studies/exam-honesty/list/").content.decode())
    assert sorted(set(ids)) == sorted(ids)


def test_the_encoding_is_asked_for_then_the_column_and_both_are_kept(owner, study):
    raw = "Wer,Post\nJürgen,j@example.org\n".encode("cp1252")
    page = owner.post(PATH, {"file": SimpleUploadedFile("list.csv", raw)})
    text = page.content.decode()
    assert "Western European (Windows-1252)" in text
    assert "Jürgen,j@example.org" in text
    carried = CARRIED.search(text)[1]
    text = owner.post(PATH, {"carried": carried, "encoding": "cp1252"}).content.decode()
    assert 'name="encoding" value="cp1252"' in text
    told = {"carried": carried, "encoding": "cp1252", "address": "2"}
    owner.post(PATH, told)
    assert addresses(study) == ["j@example.org"]


def test_those_who_can_be_added_are_without_the_others(owner, study):
    raw = "address,name\nbo@example.org,Bo\nmüller@example.org,M\n".encode()
    text = owner.post(PATH, {"file": SimpleUploadedFile("list.csv", raw)}).content.decode()
    assert "Row 3, column “address”" in text
    assert "Add only the rows without problems: 1" in text
    assert not Person.objects.exists()
    page = owner.post(PATH, {"carried": CARRIED.search(text)[1], "rest": "on"}, follow=True)
    assert "1 person was added. 1 row was left out." in page.content.decode()
    assert addresses(study) == ["bo@example.org"]


def test_a_second_upload_adds_who_is_new_and_says_who_was_there(owner, study):
    for raw, said in (
        (b"address,name\nbo@example.org,Bo\n", "1 person was added."),
        (
            b"address,name\nBO@example.org,Other\ncy@example.org,Cy\n",
            "1 person was added. 1 was on the list already, and stays as they are.",
        ),
        (b"address\ncy@example.org\n", "0 people were added. 1 was on the list already"),
    ):
        page = owner.post(PATH, {"file": SimpleUploadedFile("list.csv", raw)}, follow=True)
        assert said in page.content.decode()
    assert sorted(addresses(study)) == ["bo@example.org", "cy@example.org"]


def test_a_number_leaves_for_short_messages_as_it_came(plan, listed):
    entry = Entry("+49 170 1234567", "=1+1")
    made = [services.Coded(Person(), entry, "https://example.org/#1")]
    assert "\n+49 170 1234567,'=1+1," in paper.as_csv(made).replace("\r", "")


def test_only_owners_see_the_list_not_even_admins(listed):
    path = "/studies/exam-honesty/list/"
    for role in Role:
        user = known_as(role.value)
        people.share(study=listed, user=user, role=role)
        assert outcome(user, path, "get") == ("opens" if role == Role.OWNER else "refused")
    admin = people.ensure_user(username="root", password=None, is_site_admin=True)
    assert outcome(admin, path, "get") == "refused"
    assert outcome(known_as("nobody"), path, "get") == "nothing"


def test_unnamed_people_have_codes_only(study):
    services.add_unnamed(study_id=study.pk, count=40, stratum="Hall")
    assert addresses(study) == [""] * 40
    assert [(size.name, size.people) for size in selectors.strata_of(study)] == [("Hall", 40)]


def test_a_launch_opens_the_plan_and_invites_everybody(plan):
    invited = plan.content.invited
    assert [(each.name, each.people) for each in invited.strata] == [
        ("Arts", 30),
        ("Law", 30),
        ("Medicine", 30),
    ]
    assert len({each.key for each in invited.strata}) == 3
    assert invited.moments == 30, "three strata"
    assert [tuple(each) for each in issuer.counts(plan.digest)] == [(30, 0, 0)] * 3
    own = {reference for (reference,) in Person.objects.values_list("reference")}
    known = {bytes(pk).hex() for pk in Invitation.objects.values_list("pk", flat=True)}
    assert own.isdisjoint(known), "the issuer knows nobody by what the list calls them"


def test_the_fingerprint_that_was_seen_is_of_what_opens(owner, listed):
    page = owner.get("/studies/exam-honesty/launch/")
    answer = owner.post(
        "/studies/exam-honesty/launch/", {"seen": page.context["seen"], "why": "A test."}
    )
    assert answer.status_code == 302
    assert listed.plan.content.invited.strata[1].people == 30
    assert owner.get("/studies/exam-honesty/launch/").status_code == 200


def test_what_changed_since_it_was_seen_does_not_open(owner, listed):
    seen = owner.get("/studies/exam-honesty/launch/").context["seen"]
    services.add_people(study_id=listed.pk, entries=[Entry("late@example.org", stratum="Law")])
    assert owner.post("/studies/exam-honesty/launch/", {"seen": seen}).status_code == 409
    assert not Plan.objects.exists()


@pytest.mark.parametrize(
    ("each", "text"),
    [(0, "The list is empty."), (29, "has 29 people; 30 are needed")],
)
def test_no_list_or_a_small_stratum_does_not_open(owner, study, each, text):
    services.add_people(study_id=study.pk, entries=entries(each))
    assert text in owner.get("/studies/exam-honesty/launch/").content.decode()
    with pytest.raises(CannotOpen, match=text):
        services.launch(study=study, why="A test.", who="olga", now=NOW)


def test_people_without_a_stratum_beside_others_do_not_open(study):
    services.add_people(study_id=study.pk, entries=entries(30, ("Law", "")))
    with pytest.raises(CannotOpen, match="30 people have no stratum"):
        services.launch(study=study, why="A test.", who="olga", now=NOW)


def test_a_small_list_opens_with_a_warning(owner, listed):
    page = owner.get("/studies/exam-honesty/launch/").content.decode()
    assert "“Law” has only 30 people" in page


def test_nothing_opens_where_the_issuer_is_away(listed, monkeypatch):
    def away(*args):
        raise Away("gone")

    monkeypatch.setattr(issuer, "open_plan", away)
    with pytest.raises(CannotOpen, match="issuer"):
        services.launch(study=listed, why="A test.", who="olga", now=NOW)
    assert not Plan.objects.exists()


def test_keys_of_a_launch_that_was_refused_are_dropped(plan, listed):
    design.close_plan(plan_id=plan.pk, today=TODAY)
    design.begin_wave(study_id=listed.pk)
    with pytest.raises(CannotOpen):
        services.launch(study=listed, why="A test.", who="olga", now=NOW, seen="another")
    assert KeyAtIssuer.objects.filter(plan="").count() == 3
    assert services.drop_unopened() == [3]
    assert services.drop_unopened() == []
    assert KeyAtIssuer.objects.exclude(plan=plan.digest).count() == 0


def test_what_is_open_keeps_its_keys(plan):
    assert services.drop_unopened() == []
    issuer.drop_keys([])
    assert KeyAtIssuer.objects.filter(plan=plan.digest).exclude(sealed=b"").count() == 3


def test_a_launch_whose_keys_were_dropped_meanwhile_opens_nothing(listed):
    def drop(**_signal):
        services.drop_unopened()

    post_save.connect(drop, sender=Unopened)
    try:
        with pytest.raises(CannotOpen, match="try again"):
            services.launch(study=listed, why="A test.", who="olga", now=NOW)
    finally:
        post_save.disconnect(drop, sender=Unopened)
    assert not Plan.objects.exists()
    assert not KeyAtIssuer.objects.exists()
    assert services.launch(study=listed, why="A test.", who="olga", now=NOW).is_open


@pytest.mark.parametrize(
    ("left", "said"), [(29, "has 29 people; 30 are needed"), (0, "has changed meanwhile")]
)
def test_who_leaves_while_keys_are_made_leaves_no_list_that_is_too_short(listed, left, said):
    def leave(**_signal):
        lawyers = Person.objects.filter(study=listed, stratum="Law").order_by("pk")
        Person.objects.filter(pk__in=[each.pk for each in lawyers[left:]]).delete()

    post_save.connect(leave, sender=Unopened)
    try:
        with pytest.raises(CannotOpen, match=said):
            services.launch(study=listed, why="A test.", who="olga", now=NOW)
    finally:
        post_save.disconnect(leave, sender=Unopened)
    assert not Plan.objects.exists()
    assert not Invitation.objects.exists()


@pytest.mark.usefixtures("apart")
def test_an_issuer_elsewhere_keeps_no_plan_that_did_not_open_here(listed, monkeypatch):
    told = []

    def lost(plan, people):  # the answer to the last that it was asked
        told.append(plan.digest)
        give(plan, people)
        raise Away("gone")

    give = services.register
    monkeypatch.setattr(services, "register", lost)
    with pytest.raises(CannotOpen, match="issuer"):
        services.launch(study=listed, why="A test.", who="olga", now=NOW)
    assert not Plan.objects.exists()
    assert [each.invited for each in issuer.counts(*told)] == [30, 30, 30]
    assert services.drop_unopened() == [3]
    assert issuer.counts(*told) == []
    monkeypatch.undo()
    plan = services.launch(study=listed, why="A test.", who="olga", now=NOW)
    assert services.drop_unopened() == []
    assert [each.invited for each in issuer.counts(plan.digest)] == [30, 30, 30]


def came_back(study, address="p1.law@example.org"):
    services.note_returned(study=study, addresses=[address])
    (person,) = Person.objects.filter(came_back=True)
    return person


def test_an_address_that_came_back_is_corrected_or_tried_again(plan, listed, owner):
    path = "/studies/exam-honesty/list/"
    gone = came_back(listed)
    page = owner.get(path).content.decode()
    assert page.count(f'action="{path}again/"') == 1
    for address in ("no@", "p2.law@example.org"):
        owner.post(f"{path}again/", {"person": gone.reference, "address": address})
        assert Person.objects.filter(came_back=True).exists()
    for address in ("P1.new@example.org", " p1.new@example.org"):
        owner.post(f"{path}again/", {"person": gone.reference, "address": address})
        person = Person.objects.get(pk=gone.pk)
        assert (person.came_back, person.reference) == (False, gone.reference)
        (entry,) = (entry for _, entry in selectors.people_of(listed, [person]))
        assert entry == Entry(address.strip(), "P 1", "", "Law", {"room": "7"})
        assert came_back(listed, "p1.NEW@example.org") == gone
    assert Invitation.objects.count() == 90


def test_who_was_corrected_is_not_invited_a_second_time_by_the_old_address(plan, listed):
    gone = came_back(listed)
    again = {"study_id": listed.pk, "reference": gone.reference}
    services.write_again(**again, address="new@example.org")
    (remark,) = services.add_people(
        study_id=listed.pk, entries=[Entry("p1.law@example.org", stratum="Law", row=2)]
    )
    assert (remark.row, remark.column) == (2, "address")
    services.write_again(**again, address="other@example.org")  # whose letters come back no more
    assert "new@example.org" in addresses(listed)
    other = came_back(listed, "p2.law@example.org")
    with pytest.raises(Refused, match="on the list already"):
        services.write_again(
            study_id=listed.pk, reference=other.reference, address="p1.law@example.org"
        )


def test_design_opens_no_list_by_another_door(listed):
    with pytest.raises(CannotOpen):
        design.open_study(study_id=listed.pk, who="olga", now=NOW)
    other = design.draft_study(
        study={"slug": "other", "title": "O", "organisation": "O", "purpose": "O"}, questions=[]
    )
    with pytest.raises(Refused):
        services.add_people(study_id=other.pk, entries=[Entry("a@example.org")])


def test_a_key_signs_for_one_plan_only(plan, listed, monkeypatch):
    design.close_plan(plan_id=plan.pk, today=TODAY)
    design.begin_wave(study_id=listed.pk)
    listed.refresh_from_db()
    used = [each.key for each in plan.content.invited.strata]
    monkeypatch.setattr(issuer, "make_keys", lambda count: used)
    with pytest.raises(CannotOpen, match="used before"):
        services.launch(study=listed, why="A test.", who="olga", now=NOW)


def test_whom_it_asks_stays_over_its_waves(plan, listed):
    design.close_plan(plan_id=plan.pk, today=TODAY)
    listed = design.begin_wave(study_id=listed.pk)
    listed.is_invited = False
    listed.save()
    with pytest.raises(CannotOpen, match="fixed since wave 1"):
        design.open_study(study_id=listed.pk, who="olga", now=NOW)


def test_who_is_added_while_it_is_open_is_invited_and_sizes_stay(plan, listed):
    late = [Entry("late@example.org", stratum="Law")]
    assert services.add_people(study_id=listed.pk, entries=late) == []
    assert [each.invited for each in issuer.counts(plan.digest)] == [30, 31, 30]
    assert plan.content.invited.strata[1].people == 30
    (remark,) = services.add_people(study_id=listed.pk, entries=[Entry("x@example.org", row=7)])
    assert (remark.row, remark.column) == (7, "stratum")


def test_who_is_removed_is_erased_and_stays_counted(plan, listed, owner):
    person = Person.objects.filter(stratum="Law").first()
    owner.post("/studies/exam-honesty/list/remove/", {"person": person.reference})
    assert not Person.objects.filter(pk=person.pk).exists()
    assert [each.invited for each in issuer.counts(plan.digest)] == [30, 30, 30]


def test_who_is_taken_off_and_added_again_is_the_same_invitation(plan, listed):
    again = next(each for each in entries() if each.stratum == "Law")
    person = Person.objects.get(digest=keys.Chest(listed.pk).digest(again.address))
    services.remove_person(study_id=listed.pk, reference=person.reference)
    with pytest.raises(Refused, match="in another group"):
        services.add_people(study_id=listed.pk, entries=[replace(again, stratum="Arts")])
    assert services.add_people(study_id=listed.pk, entries=[again]) == []
    assert [each.invited for each in issuer.counts(plan.digest)] == [30, 30, 30]


def test_a_list_of_too_many_strata_or_published_by_the_hour_does_not_open(listed):
    listed.rule, listed.hours = "every", 1
    (problem,) = selectors.problems(listed)
    assert "once a day" in str(problem)
    listed.hours = 24
    assert selectors.problems(listed) == []
    more = entries(30, [f"S{at:03}" for at in range(98)])
    assert services.add_people(study_id=listed.pk, entries=more) == []
    (problem,) = selectors.problems(listed)
    assert "100" in str(problem)


def test_the_launch_says_who_is_asked(listed, owner):
    page = owner.get("/studies/exam-honesty/launch/").content.decode()
    assert "90 people on a list, each once · Arts: 30 people · Law: 30 people" in page


@pytest.mark.parametrize(("least", "fits"), [(90, True), (91, False)])
def test_a_list_of_fewer_people_than_are_published_is_refused_wherever_it_stands(
    listed, owner, least, fits
):
    """On its own page, on Build, at the launch, at the field, and by the service."""
    Study.objects.update(smallest_batch=least)
    said = "The list has 90 people, and nothing is published before 91 answers. Add people, or"
    for page in ("list", "build", "launch"):
        shown = owner.get(f"/studies/exam-honesty/{page}/").content.decode()
        assert (said in shown) != fits, page
        assert ('build/texts/#id_smallest_batch">' in shown) != fits, page
    if not fits:
        with pytest.raises(CannotOpen, match="The list has 90 people"):
            services.launch(study=listed, why="A test.", who="olga", now=NOW)
        return
    texts = owner.get("/studies/exam-honesty/build/texts/").context["form"]
    typed = {name: value for name, value in texts.initial.items() if value is not None}
    refused = owner.post("/studies/exam-honesty/build/texts/", {**typed, "smallest_batch": "91"})
    assert refused.status_code == 400
    assert said in refused.context["form"].errors["smallest_batch"][0]
    assert services.launch(study=listed, why="A test.", who="olga", now=NOW).is_open


def test_a_short_list_without_strata_has_no_empty_name(study, owner):
    services.add_people(
        study_id=study.pk, entries=[Entry(f"p{at}@example.org") for at in range(40)]
    )
    page = " ".join(owner.get("/studies/exam-honesty/launch/").content.decode().split())
    assert "“The list” has only 40 people: an answer hides among few." in page
    assert "With 40 responses" in page
    assert "“”" not in page
    assert "has only 10 people" not in page


def test_a_list_of_too_few_says_so_on_its_own_page(study, owner):
    services.add_people(
        study_id=study.pk, entries=[Entry(f"p{at}@example.org") for at in range(20)]
    )
    page = owner.get("/studies/exam-honesty/list/").content.decode()
    assert "The list has 20 people; 30 are needed to hide one among them." in page


def shown(owner):
    """Return the draft's page, and what its preview is a preview of."""
    page = owner.get("/studies/exam-honesty/build/")
    plan = owner.get("/studies/exam-honesty/preview/plan")
    seen = owner.get("/studies/exam-honesty/preview/").content.decode()
    assert "You were invited" in seen
    assert f"#{digest(plan.content.decode())}.0." in page.context["preview"]
    return page.content.decode(), plan.json()["invited"]["strata"]


def test_a_draft_names_what_its_list_lacks_and_previews_what_invited_people_see(owner, study):
    for many in (0, 29):
        services.add_people(study_id=study.pk, entries=entries(many, ["Law"]))
        page, (alone,) = shown(owner)
        assert "Ready to launch" not in page
        assert '/studies/exam-honesty/list/">The list</a>:' in page
        assert (alone["name"], alone["people"]) == ("", 30)
    services.add_people(study_id=study.pk, entries=[Entry("last@example.org", stratum="Law")])
    page, (law,) = shown(owner)
    assert "Ready to launch" in page
    assert (law["name"], law["people"]) == ("Law", 30)


def test_the_next_wave_of_a_list_is_ready_as_a_draft(plan, listed, owner):
    design.close_plan(plan_id=plan.pk, today=TODAY)
    owner.post("/studies/exam-honesty/launch/next/")
    assert "Ready to launch" in owner.get("/studies/exam-honesty/build/").content.decode()


def test_a_list_that_is_fit_leads_to_the_launch(owner, study):
    page = "/studies/exam-honesty/list/"
    assert "Look at the launch" not in owner.get(page).content.decode()
    services.add_people(study_id=study.pk, entries=entries())
    assert "Look at the launch" in owner.get(page).content.decode()
    services.launch(study=study, why="A test.", who="olga", now=NOW)
    assert "Look at the launch" not in owner.get(page).content.decode()


def test_an_admin_makes_nobody_an_owner_of_a_list(plan, listed):
    admin = known_as("ada", is_admin=True)
    assert not people_selectors.may(admin, Right.SHARE, listed)
    assert people_selectors.may(admin, Right.LAUNCH, listed)
    listed.is_invited = False  # nor where it is turned off for a while
    assert not people_selectors.may(admin, Right.SHARE, listed)


def test_a_list_is_erased_with_its_key_on_its_day_or_with_its_study(plan, listed):
    services.set_erasure(study=listed, day=TODAY)
    assert services.erase_due(today=TODAY - datetime.timedelta(days=1)) == []
    assert services.erase_due(today=TODAY) == [listed.pk]
    assert not Person.objects.exists()
    assert not Key.objects.filter(study=listed).exists()
    with pytest.raises(Refused, match="was deleted"):  # else all would be invited a second time
        services.add_people(study_id=listed.pk, entries=entries())
    assert not Key.objects.filter(study=listed).exists()


def test_more_answers_than_tickets_are_an_alarm_until_a_month_after_the_last_count(plan, listed):
    row = {"plan": plan, "invited": 30, "fetched": 3, "accepted": 4}
    Count.objects.create(**row, day=TODAY, stratum=0, reissued=1)
    assert selectors.overfull(TODAY) == []
    Count.objects.create(**row, day=TODAY, stratum=1, reissued=0)
    month = datetime.timedelta(days=30)
    assert selectors.overfull(TODAY) == selectors.overfull(TODAY + month) == [listed.slug]
    assert selectors.overfull(TODAY + 2 * month) == []


def test_a_day_to_erase_on_needs_a_list(study, owner):
    page = owner.post(f"/studies/{study.slug}/list/erase/", {"day": "2099-01-01"}, follow=True)
    assert "The list is empty." in page.text
    assert "Saved." not in page.text


@pytest.mark.parametrize("door", ["returned", "lost"])
def test_a_list_that_was_erased_gets_no_other_key(plan, listed, owner, door):
    """Under another key the same people would be others, and have a second ticket each."""
    services.set_erasure(study=listed, day=TODAY)
    services.erase_due(today=TODAY)
    owner.post(
        f"/studies/exam-honesty/list/{door}/", {"pasted": "x@example.org", "person": 32 * "a"}
    )
    assert not Key.objects.exists()
    with pytest.raises(Refused, match="was deleted"):
        services.add_people(study_id=listed.pk, entries=entries())
    assert Invitation.objects.count() == 90


@pytest.mark.parametrize("door", ["remove", "again", "lost"])
def test_what_can_be_nobodys_reference_changes_nothing(plan, owner, door):
    sent = {"person": "a\0b", "address": "a@example.org"}
    assert owner.post(f"/studies/exam-honesty/list/{door}/", sent).status_code == 302
    assert Person.objects.count() == 90


def test_numbers_stay_where_the_issuer_knows_none(plan):
    services.count_day(today=TODAY + datetime.timedelta(days=1))
    issuer.drop_keys([key.modulus for key in KeyAtIssuer.objects.all()])
    with pytest.raises(ValueError, match="3 strata"):
        services.count_day(today=TODAY + datetime.timedelta(days=2))
    assert Count.objects.count() == 3


def test_a_list_goes_when_its_study_retires(plan, listed):
    design.retire(study_id=listed.pk, because="done", who="olga", now=NOW)
    assert services.erase_due(today=TODAY) == [listed.pk]
    assert not Person.objects.exists()


def test_marks_and_keys_go_at_close_and_numbers_stay(plan):
    assert services.close_ended() == []
    design.close_plan(plan_id=plan.pk, today=TODAY)
    assert services.close_ended() == [plan.pk]
    assert services.close_ended() == []
    assert not Invitation.objects.exists()
    assert [each.invited for each in issuer.counts(plan.digest)] == [30, 30, 30]


def test_numbers_change_once_a_day(plan, owner, listed):
    tomorrow = TODAY + datetime.timedelta(days=1)
    assert services.count_day(today=TODAY) == []
    assert selectors.counts(plan, TODAY) == []
    assert services.count_day(today=tomorrow) == [plan.pk]
    services.add_people(study_id=listed.pk, entries=[Entry("late@example.org", stratum="Law")])
    assert services.count_day(today=tomorrow) == []
    law = selectors.counts(plan, tomorrow)[1]
    assert (law.name, law.invited, law.fetched, law.accepted) == ("Law", 30, 0, 0)
    assert not law.is_alarming
    services.count_day(today=tomorrow + datetime.timedelta(days=1))
    assert selectors.counts(plan, tomorrow + datetime.timedelta(days=1))[1].invited == 31


def test_keys_of_lists_are_sealed_anew(listed, settings):
    old = settings.PUBLICATION_KEYS
    settings.PUBLICATION_KEYS = (b"n" * 32, *old)
    assert seal_anew(Key) == 1
    settings.PUBLICATION_KEYS = (b"n" * 32,)
    assert open_all(Key) == 1
    assert addresses(listed)[0] == "p0.arts@example.org"


def test_a_draft_is_deleted_with_its_list(listed):
    from surveys.design.drafts import delete_draft

    delete_draft(study_id=listed.pk)
    assert not Person.objects.exists()
    assert not Key.objects.exists()


def test_the_page_without_a_list_says_so(db, owner, study):
    study.is_invited = False
    study.save()
    assert "Anyone with the link" in owner.get("/studies/exam-honesty/list/").content.decode()
    assert Client().get("/studies/exam-honesty/list/").status_code == 302


@pytest.mark.parametrize("page", ["collect/", "launch/"])
def test_only_owners_are_shown_the_way_to_the_letters(owner, plan, page):
    admin = Client()
    admin.force_login(people.ensure_user(username="root", password=None, is_site_admin=True))
    shown = [by.get(f"/studies/exam-honesty/{page}").content.decode() for by in (owner, admin)]
    assert ["/list/letters/" in each for each in shown] == [True, False]


def test_no_page_leads_to_a_form_that_asks_a_list(client, owner, plan):
    record = client.get("/registry/exam-honesty/").content.decode()
    assert "Open the form" not in record
    home, studies = (
        by.get(at).content.decode() for by, at in ((client, "/"), (owner, "/studies/"))
    )
    assert "by invitation only" in home
    assert "/s/exam-honesty/" not in home
    assert "personal: by invitation" in studies
    assert "/s/exam-honesty/" not in studies


def test_a_sheet_says_where_its_link_stands(owner, plan):
    sheets = {"whom": "all", "as": "pages", "part": "0"}
    page = owner.post("/studies/exam-honesty/list/paper/", sheets).content.decode()
    text, code = page.index("answer in your place:"), page.index("<code>")
    assert text < page.index("Scan the code below, or type the address beside it.") < code


def test_a_wave_is_open_though_the_place_for_its_reports_could_not_be_made(
    listed, monkeypatch, caplog
):
    def away(plan):
        raise OperationalError("the server has gone")

    monkeypatch.setattr(services.receiving, "prepare", away)
    plan = services.launch(study=listed, why="A test.", who="olga", now=NOW)
    assert Plan.objects.get(pk=plan.pk).is_open
    assert "OperationalError" in caplog.text
