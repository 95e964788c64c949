"""The life of a study, from its draft to its retirement, seen from every page at every step."""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from urllib.parse import urlencode, urlsplit

from django.test import Client

from surveys.ledger.models import Entry
from surveys.people.models import User
from surveys.plan.content import PlanContent
from tests.walk.browser import FILE, Browser, Fault, Watch
from tests.walk.driver import LISTED, Driver
from tests.walk.pages import Page
from tests.walk.record import STUDIES, Record, without_chance
from tests.walk.studies import Wanted

FEW, MOST = 12, 800  # answers: fewer than are published, and as many as a walk has time for
LAST = 7  # of them, who answer when the others are sealed
WIDE = (
    0.33  # ± of what is possible that must be warned of, however chance fell: pages do from .25 on
)
ENOUGH = 100  # answers from which on how many were asked a drawn question is no surprise
AS_PROMISED = 1.3  # times the ± that was promised, at most, however chance fell
HOPS = 2  # along links, from a page that is looked at
BESIDE = 8  # elements around a number in which its name stands
COUNTED = ("number", "month", "date")
PER_YEAR = {"month": 12.0, "date": 365.2425 / 7}  # steps, which files tell as years
ANYWHERE: set[tuple[str, str]] = set()  # pages of the site where somebody has been
ADMINS = ("/limits/", "/health/", "/panels/", "/ledger/", "/studies/", "/admin/")
SAID_AS = {"collecting": "open", "retired": "ended"}  # states in addresses, by the word of pages
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
    published: set[float] = field(default_factory=set)  # estimates, so far
    driver: Driver = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.wanted.name)
        self.researcher = self._browser("researcher")
        self.admin = self._browser("admin")
        self.stranger = Browser("stranger", self.watch)
        self.in_chinese = self._browser("researcher"), Browser("stranger", self.watch)
        for reader in self.in_chinese:
            reader.who += " in Chinese"
            reader.client.cookies["django_language"] = "zh-hans"
        of_shares = self.wanted.kinds in ("yes_no", "choices", "ticks")
        is_known = self.wanted.begins in ("blank", "plan") and self.wanted.rule != "on-request"
        self.watch.is_of_shares = of_shares and is_known
        self.driver = Driver(self.wanted, self.watch, self.researcher, self.admin)

    def _browser(self, name: str) -> Browser:
        client = Client()
        client.force_login(User.objects.get(username=name))
        return Browser(name, self.watch, client)

    def walk(self) -> Walk:
        """Take every step, as far as the site lets it; leave nothing to chance, where what pages
        tell is recorded.
        """
        if self.wanted.name not in STUDIES:
            return self._walk()
        self.watch.record = Record(self.wanted.name)
        with without_chance(self.wanted.name):
            walk = self._walk()
        for where, what in self.watch.record.wrong():
            self.watch.step, _colon, page = where.partition(": ")
            self.watch.wrong(page, what)
        return walk

    def _walk(self) -> Walk:
        ended, waves = "draft", 0
        with self.step("draft"):
            self.driver.draft()
            if self.driver.slug:
                self.watch.is_one_wave = self.driver.study.planned == 1
                self.look(self.researcher, "build/", "plan/", "rehearse/", "limits/", "launch/")
                self.driver.rearrange()
                self.driver.copy_by_file()
                self.see_filters()
                self.driver.plan_again()
                self.driver.share_with(self._browser("colleague"))
                if self.wanted.is_default:
                    self.driver.meet_in_panel()
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
                self.see_lists()
                self.see_filters()
                self.look(self.researcher, "", "launch/", "limits/")
                self.look(self.stranger, registry=True)
                self.see_what_was_published()
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
            self.know(self.driver.plan.content)
            self.driver.tick()
            self.driver.lower_cap()
            self.driver.limit_week()
            self.see_what_was_published()
            self.see_filters()
            self.look(self.researcher, "collect/", "launch/", "limits/")
            self.look(self.stranger, registry=True, form=True)
        return True

    def wave(self, wave: int) -> str:
        """Answer a wave, close it, ask what it can be asked; return the step it got to."""
        driver = self.driver
        with self.step(f"answers to wave {wave}"):
            last = LAST if self.people > FEW else 0
            driver.answer(self.people - last)
            driver.tick()
            driver.answer(last)
            driver.tick()
            driver.refresh()
            driver.look_up(self.stranger)
            if driver.study.is_invited:
                driver.tomorrow()
            self.look(self.researcher, "", "collect/", further=False)
        with self.step(f"close of wave {wave}"):
            driver.close()
            driver.tick()
            driver.tomorrow()
            self.look(self.researcher, "", "launch/", "limits/")
            self.look(self.stranger, registry=True)
            driver.look_up(self.stranger)
            self.see_what_came()
            self.see_what_was_promised()
            self.see_what_is_true()
            self.see_lists()
            self.see_filters()
            if self.driver.publish_anyway():
                self.see_what_is_true()
            self.see_what_was_published()
            self.driver.answer_late()
            if wave == self.driver.study.planned:
                self.read_in_chinese()
            if wave == 1:
                for address in ADMINS:
                    self.admin.visit(address)
        if not driver.study.is_retired:
            with self.step(f"questions to wave {wave}"):
                self.ask(everything=wave == 1)
        return f"wave {wave}"

    def know(self, content: PlanContent) -> None:
        """Keep what a plan says of what its pages have to tell."""
        watch = self.watch
        watch.protected = content.people if content.unit != "answer-in-study" else 0
        watch.is_noisy = not content.n_is_public
        known = (FEW, LISTED, MOST, self.people, self.driver.study.expected or 0)
        watch.not_noisy = frozenset(f"{each:,}" for each in known)
        watch.about.clear()
        watch.is_one_wave = self.driver.study.planned == 1
        watch.known.planned = self.driver.study.planned
        watch.known.is_counted = content.n_is_public and self.wanted.rule == "when-closed"

    def read_in_chinese(self) -> None:
        """Read each page of the study in the site's other language, which needs no form for it."""
        member, stranger = self.in_chinese
        tabs = ("", "build/", "collect/", "launch/", "limits/", "ask/", "people/")
        for who, addresses in (
            (member, [self.driver.at(tab) for tab in tabs]),
            (stranger, [f"/registry/{self.driver.slug}/", f"/s/{self.driver.slug}/"]),
        ):
            for address in addresses:
                page = who.visit(address)
                english = self.researcher if who is member else self.stranger
                if page and _facts(page) != (told := _facts(english.get(address))):
                    here = Counter(_facts(page))
                    other = [*(here - Counter(told)), *(Counter(told) - here)] or told
                    self.watch.wrong(address, f"tells other numbers in Chinese: {sorted(other)}")
                for link in page.links if page else ():
                    if self._concerns(link) and not FILE.search(link):
                        who.visit(link, came_by=f", by a link on {address}")
        if self.driver.is_translated:
            for who, address in (
                (member, self.driver.at("")),
                (stranger, f"/results/{self.driver.slug}/"),
            ):
                if who is member or self.wanted.results == "public":
                    text = who.get(address).main.text
                    for each in self.driver.plan.content.questions:
                        if each.text in text or each.label in text:
                            self.watch.wrong(address, f"says {each.label!r} to who reads Chinese")

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

    def see_lists(self) -> None:
        """See that the site's lists tell of this study what its own pages do."""
        title, slug = self.driver.known.texts.get("title", ""), self.driver.slug
        for who, address, link in (
            (self.stranger, f"/registry/?{urlencode({'q': title})}", f"/registry/{slug}/"),
            (self.researcher, f"/studies/?{urlencode({'q': slug})}", self.driver.at("")),
        ):
            own, listed = who.get(link), who.get(address)
            for what in self.watch.known.listed_otherwise(listed, own):
                self.watch.wrong(address, what)

    def see_filters(self) -> None:
        """See that the list of studies, narrowed to a state, has this study if it stands so."""
        page, known = self.researcher.get("/studies/"), self.driver.known
        form = self.driver.form_with(page, "state")
        for state in [each.attrs["value"] for each in form.node.all("option")] if form else ():
            page = self.researcher.send(form, q=known.slug, state=state)
            said = SAID_AS.get(state, state)
            stands = any(each.casefold().startswith(said) for each in known.state)
            if stands != (self.driver.at("") in {*page.links, *map(_above, page.links)}):
                told = f"is wrong of this study, which is {sorted(known.state)}"
                self.watch.wrong(page.address, told)

    def see_what_was_promised(self) -> None:
        """See that shares of questions that all were asked alike are as precise as was promised."""
        half, n = self.watch.promised
        answered = self.driver.answered
        if not half or answered < ENOUGH or self.wanted.follow_ups != "none":
            return
        if self.wanted.people == "strata":
            return  # groups are told beside all
        page = self.researcher.get(self.driver.at(""))
        shares = [each for each in page.facts if each.has("estimate") and "%" in each.text]
        widths = [float(each.attrs["data-high"]) - float(each.attrs["data-low"]) for each in shares]
        if not widths:
            return
        of = 1 if max(widths) <= 1 else 100
        came = 50 * max(widths) / of
        expected = half * (n / answered) ** 0.5
        if came > AS_PROMISED * expected:
            self.watch.wrong(
                page.address, f"ends with ± {came:.1f} points, and ± {expected:.1f} was promised"
            )

    def see_what_is_true(self) -> None:
        """See that shares lie where those who answered made them, that no more answers are told
        than came, and that pages tell the numbers of the file, each beside its name.
        """
        address = self.driver.at("export.csv")
        if not any(
            urlsplit(link).path == address for link in self.researcher.get(self.driver.at("")).links
        ):
            return
        file = self.researcher.get(address).content.decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(file)))
        self._see_same_file(rows)
        own = [row for row in rows if row["wave"] == str(self.driver.plan.wave)]
        content = self.driver.plan.content
        for row in own:
            n, came = int(row["n"]), self.driver.answered
            is_whole = self._is_of_all(row) and self.wanted.rule == "when-closed"
            is_drawn = len(content.sets) > 1
            if content.n_is_public and (n > came or (is_whole and not is_drawn and n < came)):
                self.watch.wrong(address, f"tells {n} answers, and {came} came")
            if self._is_of_all(row):
                self._see_share(row, address)
                asked = self.driver.asked_of[row["question"]]
                if self.watch.known.is_counted and n != asked:
                    self.watch.wrong(address, f"tells n {n} of {row['question']}: {asked} answered")
        for who, page in (
            (self.researcher, self.driver.at("")),
            (self.stranger, f"/results/{self.driver.slug}/"),
        ):
            is_grouped = self.wanted.people == "strata"  # differences of groups are in no file
            if not is_grouped and (who is self.researcher or self.wanted.results == "public"):
                self._see_page(who.get(page), rows)

    def _see_same_file(self, rows: list[dict[str, str]]) -> None:
        """See that the file for programs tells what the one for tables does."""
        address = self.driver.at("export.json")
        told = json.loads(self.researcher.get(address).content)["rows"]
        for name in (
            "wave",
            "question",
            "label",
            "estimate",
            "low",
            "high",
            "n",
            "stratum",
            "unit",
        ):
            here = [str("" if each[name] is None else each[name]) for each in told]
            if here != [row[name] for row in rows]:
                self.watch.wrong(address, f"tells another {name} than the file of tables")

    def see_what_was_published(self) -> None:
        """See that what was published before is there still, and told to everybody as to members."""
        own = self.driver.at("")
        told = self._published(self.researcher, own)
        if missing := self.published - told:
            one = min(missing)
            self.watch.wrong(own, f"tells {one} no more, and {len(missing) - 1} other estimates")
        self.published |= told
        if self.wanted.results == "public":
            public = self._published(self.stranger, f"/results/{self.driver.slug}/")
            if told != public:
                one = min(told ^ public)
                who = "members" if one in told else "everybody"
                self.watch.wrong(own, f"tells {one} to {who} only")

    def _published(self, who: Browser, address: str) -> set[float]:
        """Return the estimates of a page of results, and of those of its other publications."""
        first = who.get(address)
        others = [link for link in first.links if "?release=" in link]
        return {
            float(each.attrs["value"])
            for page in (first, *map(who.get, others))
            for each in page.facts
            if each.has("estimate")
        }

    def _is_of_all(self, row: dict[str, str]) -> bool:
        """Tell whether a row is the share of all who answered that question in this wave."""
        content = self.driver.plan.content
        asked = {each.name: each for each in content.questions}.get(row["question"])
        return bool(
            asked
            and asked.asked_if is None
            and asked.kind not in COUNTED
            and row["choice"]
            and not row["stratum"]
            and not (content.invited and len(content.invited.strata) > 1)
            and row["kind"] == "shares"
        )

    def _see_share(self, row: dict[str, str], address: str) -> None:
        parts = ("variance_sampling", "variance_device", "variance_publication")
        sampling, device, publication = (float(row[part] or 0) for part in parts)
        # what chance does once in some ten million rows: normal tails, and those of Laplace's law
        most = 6 * (sampling + device) ** 0.5 + 12 * publication**0.5
        truth = self.driver.share(row["question"], int(row["choice"]))
        if abs(float(row["estimate"]) - truth) > most:
            told = (
                f"{float(row['estimate']):.1f} %, and it was {truth:.1f} % (± {most:.1f} at most)"
            )
            self.watch.wrong(address, f"tells of {row['question']} {row['label']!r} {told}")

    def _see_page(self, page: Page, rows: list[dict[str, str]]) -> None:
        """See that a page tells numbers of the file, each beside its name: as they came out, or as
        near to that as an answer can be.
        """
        names: dict[float, set[str]] = defaultdict(set)
        asked = {each.name: each for each in self.driver.plan.content.questions}
        for row in rows:
            own = asked.get(row["question"])
            if not row["estimate"]:
                continue
            if row["unit"] == "percent":
                times, least, most = 0.01, 0.0, 1.0
            else:
                times = PER_YEAR[own.kind] if own and row["unit"] == "year" else 1.0
                is_mean = own is not None and own.kind in COUNTED and not row["choice"]
                least, most = (own.least, own.most) if own and is_mean else (-inf, inf)
            for told in filter(None, (row["estimate"], row["projected"])):
                for shown in (times * float(told), min(max(times * float(told), least), most)):
                    names[round(shown, 6)] |= {row["label"], row["table"], row["stratum"]} - {""}
        for node in page.facts if names else ():
            if not node.has("estimate"):
                continue
            own = names.get(round(float(node.attrs["value"]), 6))
            if own is None:
                told = f"{node.text} ({node.attrs['value']})"
                self.watch.wrong(page.address, f"tells {told}, which no row of the file is")
                continue
            beside = [up.text for up in islice(node.above(), BESIDE)]
            if not any(name in text for text in beside for name in own):
                self.watch.wrong(page.address, f"tells {node.text} beside none of {sorted(own)}")

    @property
    def people(self) -> int:
        """Return how many answer: more than are needed to publish, or too few."""
        if self.wanted.answers == "few":
            return FEW
        expected = self.driver.study.expected
        return min(expected or 300, MOST) if not self.driver.plan.content.invited else LISTED

    def ask(self, *, everything: bool) -> None:
        """Ask one of each kind, each as if it were the first; and one more after the first that is
        drawn, when something is spent.
        """
        kinds, is_drawn = self.driver.kinds_to_ask(), False
        for kind in kinds if everything else kinds[:1]:
            with self.undone():
                if (page := self.driver.ask(kind)) is not None:
                    self.look_at(self.researcher, page)
                    if not is_drawn:
                        is_drawn, _page = True, self.driver.ask(kinds[kinds.index(kind) - 1])

    @contextmanager
    def undone(self) -> Iterator[None]:
        with self.researcher.undone():
            yield

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take a step. None of those that pages offer may retire a study, unless its cap was spent
        in this step, on something that was published, or all refreshes were paid for at once.
        """
        self.watch.step = name
        charges, was_retired = self._charges(), self._is_retired()
        yield
        if name == "retired" or was_retired or not self._is_retired():
            return
        if self._charges() == charges and not self.driver.known.refreshed:
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

    def look_at(self, who: Browser, first: Page) -> None:
        """Look at where a page leads, and where those pages lead, and at what all their forms would
        do.
        """
        waiting = [(first, HOPS)]
        for page, hops in waiting:
            who.try_forms(page)
            for link in page.links if hops else ():
                if self._concerns(link) or self._is_new(who, link):
                    came_by = f", by a link on {page.address}"
                    if (further := who.visit(link, came_by=came_by)) and further.html:
                        waiting.append((further, hops - 1))

    def _is_new(self, who: Browser, address: str) -> bool:
        """Tell whether nobody of this kind has been there in this process, of the whole site."""
        key = who.who, urlsplit(address).path
        is_new = key not in ANYWHERE and not key[1].startswith("/accounts/logout")
        ANYWHERE.add(key)
        return is_new

    def _concerns(self, address: str) -> bool:
        """Tell whether an address is about this study, and not the whole site."""
        return self.driver.slug in urlsplit(address).path.split("/")


def _above(address: str) -> str:
    """Return the page of a study that a page in it belongs to."""
    return "/".join(address.split("/")[:3]) + "/"


def _facts(page: Page) -> list[tuple[str, ...]]:
    """Return the numbers that a page tells machines, with all that it tells of each."""
    return [tuple(f"{name} {each}" for name, each in node.attrs.items()) for node in page.facts]
