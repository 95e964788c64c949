"""The life of a study, from its draft to its retirement, seen from every page at every step."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.test import Client

from surveys.ledger.models import Entry
from surveys.people.models import User
from tests.walk.browser import Browser, Fault, Watch
from tests.walk.driver import Driver
from tests.walk.pages import Page
from tests.walk.studies import Wanted

FEW, LISTED, MOST = (
    12,
    110,
    800,
)  # answers: fewer than are published, and as many as a walk has time for
WIDE = (
    0.33  # ± of what is possible that must be warned of, however chance fell: pages do from .25 on
)
ANYWHERE: set[tuple[str, str]] = set()  # pages of the site where somebody has been
ADMINS = ("/limits/", "/health/", "/panels/", "/ledger/", "/studies/", "/admin/")
OF_EVERYBODY = ("/", "/registry/", "/ledger/", "/promises/", "/my/", "/receipts/", "/plan/")


@dataclass
class Walk:
    """What came of a study."""

    wanted: Wanted
    faults: list[Fault]
    refusals: list[str]
    pages: int
    seconds: float
    slowest: tuple[float, str]
    ended: str  # the last step that it got to
    waves: int = 0


@dataclass
class Life:
    """One study on its way, and everybody who looks at it."""

    wanted: Wanted
    watch: Watch = field(init=False)
    driver: Driver = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.wanted.name)
        self.researcher = self._browser("researcher")
        self.admin = self._browser("admin")
        self.stranger = Browser("stranger", self.watch)
        self.driver = Driver(self.wanted, self.watch, self.researcher)

    def _browser(self, name: str) -> Browser:
        client = Client()
        client.force_login(User.objects.get(username=name))
        return Browser(name, self.watch, client)

    def walk(self) -> Walk:
        """Take every step, as far as the site lets it."""
        ended, waves = "draft", 0
        with self.step("draft"):
            self.driver.draft()
            if self.driver.slug:
                self.look(self.researcher, "build/", "plan/", "rehearse/", "limits/", "launch/")
        while self.driver.slug and waves < 2 and self.opens(waves + 1):
            waves += 1
            ended = self.wave(waves)
            if self.driver.study.is_retired:
                break
            with self.step(f"beginning wave {waves + 1}"):
                if not self.driver.next_wave():
                    break
                self.look(self.researcher, "build/", "launch/", "limits/")
        if waves and not self.driver.study.is_retired:
            with self.step("retired"):
                self.driver.retire()
                self.look(self.researcher, "", "launch/", "limits/")
                self.look(self.stranger, registry=True)
            ended = "retired"
        watch = self.watch
        refusals = [str(each) for each in self.driver.refusals]
        return Walk(
            self.wanted,
            watch.faults,
            refusals,
            watch.pages,
            watch.seconds,
            watch.slowest,
            ended,
            waves,
        )

    def opens(self, wave: int) -> bool:
        with self.step(f"launch of wave {wave}"):
            if not self.driver.launch():
                return False
            self.driver.tick()
            self.look(self.researcher, "launch/", "collect/", "limits/")
            self.look(self.stranger, registry=True, form=True)
        return True

    def wave(self, wave: int) -> str:
        """Answer a wave, close it, ask what it can be asked; return the step it got to."""
        driver = self.driver
        with self.step(f"answers to wave {wave}"):
            driver.answer(self.people)
            driver.tick()
            if driver.study.is_invited:
                driver.tomorrow()
            self.look(self.researcher, "", "collect/", further=False)
        with self.step(f"close of wave {wave}"):
            driver.close()
            driver.tick()
            driver.tomorrow()
            self.look(self.researcher, "", "launch/", "limits/", further=wave == 1)
            self.look(self.stranger, registry=True, further=wave == 1)
            self.see_what_came()
            if wave == 1:
                for address in ADMINS:
                    self.admin.visit(address)
        if not driver.study.is_retired:
            with self.step(f"questions to wave {wave}"):
                self.ask(everything=wave == 1)
        return f"wave {wave}"

    def see_what_came(self) -> None:
        """See that what is published says something, or that a page had warned of it in time."""
        if self.wanted.rule == "on-request" or self.watch.was_warned:
            return
        page = self.researcher.get(self.driver.at(""))
        shares = [each for each in page.facts if each.has("estimate") and "%" in each.text]
        halves = [
            (float(each.attrs["data-high"]) - float(each.attrs["data-low"])) / 2 for each in shares
        ]
        of = 1 if halves and max(halves) <= 1 else 100  # of 1, or of a hundred
        if not any(each.has("estimate") for each in page.facts):
            self.watch.wrong(page.address, "ends with nothing published, and no page had warned")
        elif halves and max(halves) > WIDE * of:
            told = f"± {100 * max(halves) / of:.0f} points"
            self.watch.wrong(page.address, f"ends with {told}, and no page had warned")

    @property
    def people(self) -> int:
        """Return how many answer: more than are needed to publish, or too few."""
        if self.wanted.answers == "few":
            return FEW
        expected = self.driver.study.expected
        return min(expected or 300, MOST) if not self.driver.plan.content.invited else LISTED

    def ask(self, *, everything: bool) -> None:
        """Ask one of each kind, each as if it were the first; the first of all stays."""
        for kind in self.driver.kinds_to_ask():
            with self.undone():
                if (page := self.driver.ask(kind)) is not None:
                    self.look_at(self.researcher, page)
            if not everything:
                break

    @contextmanager
    def undone(self) -> Iterator[None]:
        with self.researcher.undone():
            yield

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take a step. None of those that pages offer may retire a study, unless its cap was spent
        in this step, on something that was published.
        """
        self.watch.step = name
        charges, was_retired = self._charges(), self._is_retired()
        yield
        if name == "retired" or was_retired or not self._is_retired():
            return
        if self._charges() == charges:
            why = self.driver.study.retired_because
            self.watch.wrong(
                "a worker", f"retired it, and nothing was published in this step: {why}"
            )

    def _charges(self) -> int:
        slug = self.driver.slug
        return Entry.charges.filter(budget__name=f"study:{slug}").count() if slug else 0

    def _is_retired(self) -> bool:
        return bool(self.driver.slug) and self.driver.study.is_retired

    # Pages

    def look(
        self,
        who: Browser,
        *tabs: str,
        registry: bool = False,
        form: bool = False,
        further: bool = True,
    ) -> None:
        """Look at these pages of the study; `further`, at all that they lead to, too."""
        slug, addresses = self.driver.slug, [self.driver.at(each) for each in tabs]
        if registry:
            addresses += [f"/registry/{slug}/"]
        if form:
            addresses += [f"/s/{slug}/"]
        for address in addresses:
            page = who.visit(address)
            if page and further:
                self.look_at(who, page)
            elif page:
                who.try_forms(page)

    def look_at(self, who: Browser, page: Page) -> None:
        """Look at where a page leads, and at what its forms would do."""
        who.try_forms(page)
        for link in page.links:
            if self._concerns(link) or self._is_new(who, link):
                came_by = f", by a link on {page.address}"
                if (further := who.visit(link, came_by=came_by)) and further.html:
                    who.try_forms(further)

    def _is_new(self, who: Browser, address: str) -> bool:
        """Tell whether nobody of this kind has been there in this process, of the whole site."""
        key = who.who, urlsplit(address).path
        is_new = key not in ANYWHERE and not key[1].startswith("/accounts/logout")
        ANYWHERE.add(key)
        return is_new

    def _concerns(self, address: str) -> bool:
        """Tell whether an address is about this study, and not the whole site."""
        return self.driver.slug in urlsplit(address).path.split("/")
