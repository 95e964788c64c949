"""What whoever runs a list asks of the issuer, here and over HTTP."""

import datetime

import pytest
from django.db import connection

from surveys.encryption import CannotOpen, new_key
from surveys.issuer import services, tables
from surveys.issuer.models import Code, Invitation, Key, Mark
from surveys.issuer.refusals import Refused
from surveys.issuer.services import Counts
from surveys.issuer.signing import BITS, new_key as found
from surveys.plan.tickets import EXPONENT
from surveys.sealed_keys import open_all, seal_anew
from tests import tickets
from tests.plans import whole
from tests.surveys.issuer.conftest import blinded, fetch, opened, person


def named(listed):
    return [each.reference for each in listed.people]


def test_numbers_are_of_strata_and_whoever_fetched_needs_no_reminder(client, listed):
    first, *_, last = listed.people
    assert services.counts(listed.plan) == [Counts(3, 0, 0), Counts(3, 0, 0)]
    fetch(client, listed, last, blinded(listed, last))
    assert services.counts(listed.plan) == [Counts(3, 0, 0), Counts(3, 1, 0)]
    assert services.fetched(listed.plan, named(listed)) == {last.reference}
    assert services.fetched(listed.plan, [first.reference]) == set()
    assert services.fetched("ab" * 32, named(listed)) == set()
    services.invite(listed.plan, [first._replace(code=tickets.new_code()).row])  # a reminder
    assert services.counts(listed.plan)[0] == Counts(3, 0, 0)


def test_who_is_taken_off_the_list_stays_counted_whether_they_have_fetched_or_not(client, listed):
    first, second, *_ = listed.people
    own = blinded(listed, first)
    fetch(client, listed, first, own)
    gone = [first.reference, second.reference, "00" * 16]
    services.withdraw(listed.plan, gone)
    assert services.counts(listed.plan)[0] == Counts(3, 1, 0)
    assert fetch(client, listed, second, blinded(listed, second)).status_code == 403
    assert fetch(client, listed, first, own).status_code == 200  # whose answer was lost
    services.withdraw(opened().plan, [listed.people[2].reference])  # of another Plan
    third = listed.people[2]
    assert fetch(client, listed, third, blinded(listed, third)).status_code == 200
    services.invite(listed.plan, [second.row])
    assert fetch(client, listed, second, blinded(listed, second)).status_code == 200


def test_a_lost_ticket_is_issued_anew_and_counted(client, listed):
    who = listed.people[0]
    with pytest.raises(Refused, match="somebody of this Plan"):
        services.reissue(listed.plan, "00" * 16)
    fetch(client, listed, who, blinded(listed, who))
    services.reissue(listed.plan, who.reference)
    assert services.counts(listed.plan)[0] == Counts(3, 1, 1)
    assert services.fetched(listed.plan, named(listed)) == set()
    services.withdraw(listed.plan, [who.reference])
    assert fetch(client, listed, who, blinded(listed, who)).status_code == 200
    assert services.counts(listed.plan)[0] == Counts(3, 1, 1)


def test_what_is_counted_of_a_lost_ticket_does_not_tell_whether_there_was_one(client, listed):
    first, second, *_ = listed.people
    fetch(client, listed, first, blinded(listed, first))
    services.reissue(listed.plan, second.reference)  # who has none
    assert services.counts(listed.plan)[0] == Counts(3, 1, 1)
    services.reissue(listed.plan, first.reference)
    assert services.counts(listed.plan)[0] == Counts(3, 1, 2)
    assert fetch(client, listed, second, blinded(listed, second)).status_code == 200


def test_every_key_is_another_and_undoes_its_own_public_half():
    (one, exponent), (other, _) = found(), found()
    assert one != other
    modulus = int(one, 16)
    assert modulus.bit_length() == BITS
    assert pow(pow(7, EXPONENT, modulus), int.from_bytes(exponent), modulus) == 7


def test_a_key_is_of_one_plan_and_never_of_another(listed):
    services.open_plan(listed.document)  # a second time: nothing changes
    free = services.make_keys(1)
    other = whole(invited=tickets.invited([*free, listed.moduli[0]]))
    with pytest.raises(Refused, match="stratum 1"):
        services.open_plan(other.encode())
    assert Key.objects.get(modulus=free[0]).plan == ""  # nothing was bound
    swapped = whole(invited=tickets.invited(listed.moduli[::-1]))
    for document in (swapped, whole(), whole(invited=tickets.invited([tickets.keys()[0].modulus]))):
        with pytest.raises(Refused):
            services.open_plan(document.encode())


def test_a_closed_plan_has_no_key_and_nobody_left_but_numbers(client, listed):
    who, other = listed.people[0], opened()
    fetch(client, listed, who, blinded(listed, who))
    services.close_plan(listed.plan)
    services.close_plan(listed.plan)
    assert services.counts(listed.plan) == [Counts(3, 1, 0), Counts(3, 0, 0)]
    assert services.fetched(listed.plan, named(listed)) == set()
    assert not any(key.sealed for key in Key.objects.filter(plan=listed.plan))
    left = {each.reference for each in other.people}
    assert {bytes(each.pk).hex() for each in Invitation.objects.all()} == left
    assert (Code.objects.count(), Mark.objects.count()) == (6, 0)
    for act in (
        lambda: services.invite(listed.plan, [person().row]),
        lambda: services.reissue(listed.plan, who.reference),
        lambda: services.open_plan(listed.document),
    ):
        with pytest.raises(Refused):
            act()
    assert services.counts("") == []


@pytest.mark.parametrize(
    "row",
    [("00" * 16, 2, bytes(32)), ("00" * 16, -1, bytes(32)), ("00" * 16, 0, b""),
     ("00" * 15, 0, bytes(32)), ("xx" * 16, 0, bytes(32))],
)  # fmt: skip
def test_an_invitation_that_is_none_is_refused_with_all_beside_it(listed, row):
    with pytest.raises(Refused):
        services.invite(listed.plan, [person().row, row])
    assert Invitation.objects.count() == 6


def test_a_reference_stays_in_its_stratum_and_plan(listed):
    first, *_, last = listed.people
    for plan, row in (
        (listed.plan, first._replace(stratum=1).row),
        (listed.plan, last._replace(stratum=0).row),
        (opened().plan, first.row),
    ):
        with pytest.raises(Refused, match="one stratum of one Plan"):
            services.invite(plan, [row])


def test_private_keys_are_sealed_with_the_sites_keys(client, listed, settings):
    who = listed.people[0]
    old = settings.PUBLICATION_KEYS
    sealed = {bytes(key.sealed) for key in Key.objects.all()}
    settings.PUBLICATION_KEYS = (new_key(), *old)
    assert seal_anew(Key) == 2
    assert seal_anew(Key) == 0
    assert open_all(Key) == 2
    assert sealed.isdisjoint({bytes(key.sealed) for key in Key.objects.all()})
    settings.PUBLICATION_KEYS = settings.PUBLICATION_KEYS[:1]
    assert fetch(client, listed, who, blinded(listed, who)).status_code == 200
    settings.PUBLICATION_KEYS = old
    assert fetch(client, listed, listed.people[1], blinded(listed, who)).status_code == 503
    for act in (seal_anew, open_all):
        with pytest.raises(CannotOpen):
            act(Key)


def on_disk(table, column):
    """Return what stands in a table in the order of its rows in the file."""
    place = "ctid" if connection.vendor == "postgresql" else "rowid"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {table} ORDER BY {place}")  # noqa: S608
        return [bytes(value).hex() for (value,) in cursor.fetchall()]


def test_tables_forget_in_what_order_people_came_once_a_day(client, db):
    today = datetime.date(2026, 11, 24)
    tables.settle(datetime.date(2026, 11, 23))  # no gaps that other tests have left in files
    listed = opened(people=20, strata=1)
    for who in sorted(listed.people, key=lambda each: each.reference, reverse=True):
        fetch(client, listed, who, blinded(listed, who))
    came = sorted((each.reference for each in listed.people), reverse=True)
    assert on_disk("issuer_mark", "invitation_id") == came
    assert tables.settle(today)
    assert on_disk("issuer_mark", "invitation_id") == came[::-1]
    for table, column in tables.TABLES.items():
        stored = on_disk(table, column)
        assert len(stored) == 20
        assert stored == sorted(stored)
    assert not tables.settle(today)
    assert tables.settle(today + datetime.timedelta(days=1))
    assert tables.settle(today)  # a clock that was set right
    assert services.counts(listed.plan) == [Counts(20, 20, 0)]
