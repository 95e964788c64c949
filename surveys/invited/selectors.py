"""What may be known of a list: its sizes, for the study's owners its people, a day's counts."""

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Count as Number, Max, Q, QuerySet
from django.utils.translation import gettext as _

from surveys.design.models import Plan, Study
from surveys.design.readiness import Problem, problems_of_list
from surveys.invited.keys import Chest, name_of
from surveys.invited.lists import Entry
from surveys.invited.models import Count, Delivery, Key, Letter, Person
from surveys.plan.content import Invited, Stratum
from surveys.plan.invited import FEWEST, minutes_between, stand_in

FEW = 100  # below it a stratum is warned of
MONTH = datetime.timedelta(days=30)
WITHOUT_EMAIL = ~Q(has_email=True, came_back=False)  # people whom no letter from here reaches


@dataclass(frozen=True, slots=True)
class Size:
    """How many people of a stratum are on a list."""

    name: str
    people: int

    @property
    def is_refused(self) -> bool:
        return self.people < FEWEST

    @property
    def is_small(self) -> bool:
        return FEWEST <= self.people < FEW

    @property
    def remark(self) -> str:
        if self.is_refused:
            return _("too few to open")
        return _("few to hide among") if self.is_small else ""


def strata_of(study: Study) -> list[Size]:
    """Return the strata of a study's list as it is now, by name."""
    sizes = Person.objects.filter(study=study).values("stratum").annotate(many=Number("pk"))
    return sorted(
        (Size(name, many) for name, many in sizes.values_list("stratum", "many").order_by()),
        key=lambda size: size.name,
    )


def listed(study: Study) -> int:
    """Return how many people a study asks by its list; none where it asks whoever has the link."""
    return sum(size.people for size in strata_of(study)) if study.is_invited else 0


def part_of(study: Study, keys: Iterable[str] | None = None) -> Invited | None:
    """Return what the Plan says of a study's list; with stand-ins where no keys are made yet."""
    if not study.is_invited:
        return None
    sizes = strata_of(study)
    made = list(keys) if keys is not None else [stand_in(at) for at in range(len(sizes))]
    return Invited(
        strata=[
            Stratum(key=key, name=size.name, people=size.people)
            for key, size in zip(made, sizes, strict=True)
        ],
        moments=minutes_between(len(sizes)),
        answers_from=study.answers_from.isoformat() if study.answers_from else None,
    )


def problems(study: Study) -> list[Problem]:
    """Return why a study cannot open with its list."""
    part = part_of(study)
    return [] if part is None else list(problems_of_list(study, part.strata))


def people_of(
    study: Study, chosen: Iterable[Person] | None = None
) -> Iterator[tuple[Person, Entry]]:
    """Yield people of a list with what is known of them: for its owners, and letters."""
    if not Key.objects.filter(pk=name_of(study.pk)).exists():
        return
    chest = Chest(study.pk)
    for person in Person.objects.filter(study=study).order_by("pk") if chosen is None else chosen:
        yield person, entry_of(chest, person)


def entry_of(chest: Chest, person: Person) -> Entry:
    return Entry(**chest.open(person.sealed, person.reference), stratum=person.stratum)


def languages_of(study: Study) -> list[str]:
    """Return the languages in which a study is asked, its own first."""
    others = study.translations.order_by("language").values_list("language", flat=True)
    return [str(study.language), *(str(each) for each in others if each != study.language)]


def without_email(study: Study) -> int:
    """Return how many of a list no letter can be sent to from here."""
    return Person.objects.filter(WITHOUT_EMAIL, study=study).count()


@dataclass(frozen=True, slots=True)
class Progress:
    """How a letter goes, in numbers; of an invitation, whose it is that are doubtful or refused."""

    letter: Letter
    doubts: int
    addresses: list[str]

    @property
    def may_stop(self) -> bool:
        return self.letter.state in Letter.RUNNING

    @property
    def may_go_on(self) -> bool:
        return self.letter.state == Letter.State.STOPPED and not self.letter.is_forgotten


def progress_of(study: Study, plan: Plan) -> Iterator[Progress]:
    """Yield how each letter of a Plan goes. Of a reminder nobody is named: whoever gets it has not
    fetched a ticket.
    """
    for letter in Letter.objects.filter(plan=plan):
        people = doubtful(letter)
        named = [] if letter.reminds else [each.address for _p, each in people_of(study, people)]
        yield Progress(letter, people.count(), named)


def doubtful(letter: Letter) -> QuerySet[Person]:
    """Return who may have had a letter or not: a worker ended, or a server, in the middle."""
    states = Delivery.objects.filter(letter=letter, state=Delivery.State.DOUBTFUL)
    return Person.objects.filter(pk__in=states.values("person_id")).order_by("pk")


def counts(plan: Plan, today: datetime.date | None = None) -> list[Count]:
    """Return the counts of each stratum of the last daily count; none on a Plan's first day."""
    invited = plan.content.invited
    if invited is None:
        return []
    today = today or datetime.datetime.now(datetime.UTC).date()
    known = Count.objects.filter(plan=plan, day__lte=today)
    rows = list(known.filter(day=known.aggregate(last=Max("day"))["last"]))
    for row in rows:
        row.name = invited.strata[row.stratum].name
    return rows


def overfull(today: datetime.date) -> list[str]:
    """Return the studies of which more answers were accepted than tickets fetched, until a month
    after they were counted last: a study that has closed is counted no more.
    """
    days = (today - MONTH, today)
    newest = Count.objects.filter(day__range=days, accepted__gt=0).select_related("plan__study")
    return sorted({row.plan.study.slug for row in newest if row.is_alarming})


def erased_on(study: Study) -> datetime.date | None:
    """Return the day on which a list is erased, if one was chosen."""
    return Key.objects.filter(pk=name_of(study.pk)).values_list("erase_on", flat=True).first()


def chosen(study: Study, address: str) -> QuerySet[Person]:
    """Return the people of a list, or whom an address is of. Nothing else can be searched: all is
    sealed.
    """
    people = Person.objects.filter(study=study).order_by("pk")
    if not address.strip() or not people.exists():
        return people
    return people.filter(digest=Chest(study.pk).digest(address))


def columns_of(study: Study) -> set[str]:
    """Return the columns that a list has for letters, by its first and last people."""
    own = Person.objects.filter(study=study)
    some = [*own.order_by("pk")[:20], *own.order_by("-pk")[:20]]
    if not some:
        return set()
    chest = Chest(study.pk)
    return {name for person in some for name in entry_of(chest, person).columns}
