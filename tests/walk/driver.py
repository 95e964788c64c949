"""What a researcher does with a study, in verbs: draft, launch, answer, close, next_wave, ask,
retire. Nothing else of the walk knows that the site is forms today.
"""

import csv
import datetime
import io
import json
import operator
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any

from surveys.celery import app
from surveys.design import selectors as design
from surveys.design.models import Plan, Study
from surveys.intake import posts
from surveys.issuer import fetching
from surveys.plan import tickets as plan_tickets
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.releases import selectors as releases
from surveys.releases.models import Step
from tests import tickets
from tests.walk import clock
from tests.walk.browser import Browser, Watch, upload
from tests.walk.pages import Form, Node, Page, field_of
from tests.walk.studies import Wanted
from tests.walk.truth import AGREE, Asked, in_words, is_same

TASKS = (  # what a worker does, in the order of a good minute
    "surveys.invited.tasks.send",
    "surveys.aggregation.tasks.sweep_all",
    "surveys.releases.tasks.publish_due",
    "surveys.releases.tasks.publish_asked",
    "surveys.design.tasks.close_due",
    "surveys.design.tasks.retire_due",
    "surveys.releases.tasks.retire_spent",
    "surveys.intake.tasks.erase_retired",
    "surveys.aggregation.tasks.erase_retired",
    "surveys.releases.tasks.erase_over",
    "surveys.invited.tasks.end",
)
OF_THE_DAY = ("surveys.aggregation.tasks.settle", "surveys.invited.tasks.count_day")
TEXTS = {
    "title": "A study of the walk",
    "organisation": "Brightwater College",
    "purpose": "To see that every step of a study can be taken.",
    "contact": "asks@example.org",
}
DELTA = "0.000001"
MORE = {"given_cap": "2", "given_batch": "40"}  # that a site's admin may allow
TYPED = {"least": "0", "most": "1", "percent": "50"}  # in a query that does not fill it in
USUAL = {  # what is taken back to where a launch waits for it
    "asked": "",
    "cap_delta": "0",
    "hours": "24",
    "neighbours": "change-one",
    "rule": "when-closed",
    "unit": "respondent-in-study",
    "waves": "1",
}
MAY: dict[str, dict[str, bool]] = {  # which pages of a draft a role opens
    "": {"build/texts/": False, "build/add/": False, "limits/retire/": False},
    "reader": {},
    "analyst": {},
    "editor": {"build/texts/": True, "build/add/": True},
}
OF_FILE = (  # of a question
    *("name", "kind", "text", "label", "help", "least", "most", "unit"),
    *("may_decline", "protection", "wanted", "asked_if", "asked_if_answers", "group_text"),
)
A_BATCH = 50  # answers that are sealed and counted together
OPEN_FOR = 30  # days of a wave at most, where it has a last one
ZONE, IN_ZONE = "Europe/Berlin", "Berlin time"
WEEKLY, WEEK = {"weekly": "0.3"}, "limit for seven days"
OF_ONE = ("csrfmiddlewaretoken", "revision", "question", "name", "id", "study_id", "position")
TOLD_ANEW = ("organisation", "purpose", "contact")  # what a file of questions does not hold
LEFT_OUT = ("protection", "of_scale")  # of a question that is refused, and asked all the same
WHY = "The walk of a study."
BEYOND = 4  # widths of an interval from its estimate to the truth: chance does that once in 10¹⁰
LISTED = 110  # who answer of a list
STRATA = {"": 120}, {"Arts": 70, "Law": 60}  # people of a list, without and with strata


def yes_no(at: int) -> Asked:
    return {"kind": "yes_no", "text": f"Have you done the thing of number {at}?"}


QUESTIONS: dict[str, list[Asked]] = {
    "yes_no": [yes_no(1), yes_no(2), yes_no(3)],
    "choices": [
        yes_no(1),
        {
            "kind": "single",
            "text": "How often was it?",
            "choices": "Never\nOnce\nOften",
            "help": "Think of the last year.",
        },
        {
            "kind": "single",
            "text": "Where was it?",
            "choices": "At home\nAt work\nAt school\nElsewhere\nNowhere",
            "help": "Where it was the last time.",
            "may_decline": "on",
        },
    ],
    "ticks": [
        yes_no(1),
        {"kind": "multiple", "text": "Which of these?", "choices": "Tea\nCoffee\nWine\nWater"},
        yes_no(2),
    ],
    "scales": [
        yes_no(1),
        {
            "kind": "likert",
            "text": "It was fair.",
            "group": "views",
            "group_text": "How true is it?",
        },
        {
            "kind": "likert",
            "text": "It was kind.",
            "group": "views",
            "group_text": "How true is it?",
        },
        {"kind": "likert", "text": "It was easy.", "of_scale": "mean"},
    ],
    "numbers": [
        yes_no(1),
        {
            "kind": "number",
            "text": "How old are you?",
            "least": "18",
            "most": "80",
            "unit": "years",
        },
        {
            "kind": "number",
            "text": "How many hours was it?",
            "least": "0",
            "most": "40",
            "unit": "hours",
            "wanted": "distribution",
        },
    ],
    "calendar": [
        yes_no(1),
        {
            "kind": "month",
            "text": "When did it begin?",
            "first_month": "2020-01",
            "last_month": "2025-12",
        },
        {
            "kind": "date",
            "text": "When did it end?",
            "first_date": "2025-01-06",
            "last_date": "2025-12-22",
        },
    ],
}
QUESTIONS["every"] = [
    {**QUESTIONS["yes_no"][0], "may_decline": "on"},
    QUESTIONS["choices"][2],
    QUESTIONS["ticks"][1],
    QUESTIONS["scales"][1],
    QUESTIONS["numbers"][1],
    QUESTIONS["calendar"][0],
]
TEMPLATES = {  # of the library, by kinds
    "yes_no": ["exam_answers", "gambled"],
    "every": [],
}
FOLLOW_UP: Asked = {
    "kind": "single",
    "text": "Who knew of it?",
    "choices": "Nobody\nA friend\nEverybody",
}


@dataclass
class Refusal:
    """What the site did not take, at which field, and what it said."""

    step: str
    fields: list[str]
    text: str

    def __str__(self) -> str:
        return f"{self.step}, {', '.join(self.fields) or 'no field'}: {self.text}"


@dataclass
class Driver:
    """A researcher who owns one study, and those who answer it."""

    wanted: Wanted
    watch: Watch
    researcher: Browser
    admin: Browser
    chance: random.Random = field(default_factory=random.Random)
    slug: str = ""
    refusals: list[Refusal] = field(default_factory=list)
    is_translated: bool = False
    answered: int = 0  # in the present wave
    truths: Counter[tuple[str, int]] = field(default_factory=Counter)  # by question and choice
    asked_of: Counter[str] = field(default_factory=Counter)  # how many answered a question
    receipts: dict[str, datetime.date] = field(default_factory=dict)  # and the day of each
    links: list[str] = field(default_factory=list)  # of a list in this wave, not used yet

    def __post_init__(self) -> None:
        self.chance.seed(self.wanted.name)
        self.known = self.watch.known
        self.known.language = self._language
        self.known.texts = {**TEXTS, "title": self._texts()["title"]}

    # What the study is now

    @property
    def study(self) -> Study:
        return Study.objects.get(slug=self.slug)

    @property
    def plan(self) -> Plan:
        plan = design.latest_plan(self.slug)
        assert plan is not None
        return plan

    def at(self, page: str) -> str:
        return f"/studies/{self.slug}/{page}"

    # Verbs

    def draft(self) -> None:
        """Begin the study, and choose all that is wanted of it. What is refused stays as it was."""
        begin: Callable[[], Page] = getattr(self, f"_begin_{self.wanted.begins}")
        page = begin()
        if page.status != 200 or not (made := Study.objects.order_by("-pk").first()):
            self._refused("begin", page)
            return
        self.slug = self.known.slug = made.slug
        self.known.state = {"Draft of wave 1"}
        if self.wanted.begins in ("blank", "templates"):
            for asked in self._questions():
                self._add(asked)
        if self.wanted.begins in ("templates", "plan"):
            self._protect()
        if not self.wanted.is_default:
            self._choose()
        if self.wanted.languages == "both":
            self._translate()
        if self.wanted.waves != "one":
            page = self.researcher.get(self.at("build/texts/"))
            self._submit("waves", page, "waves", waves="2", draws=self.wanted.waves)
        if self.wanted.people != "link":
            self._invite()
        self._hold()

    def _hold(self) -> None:
        """Keep what the draft holds: all pages have to tell that."""
        for tab, field_in in (("build/texts/", "rule"), ("limits/", "cap")):
            form = self.form_with(self.researcher.get(self.at(tab)), field_in)
            data = form.data() if form else {}
            self.known.held |= {name: "".join(values) for name, values in data.items()}
        rule = self.known.held.get("rule", "")
        for name in ("hours", "horizon") if rule in ("when-closed", "on-request") else ():
            self.known.held.pop(name, None)
        if rule != "when-closed":
            self.known.held.pop("release_epsilon", None)
        if Decimal(self.known.held.get("cap_delta") or 0):
            self.known.held.pop("cap", None)  # told in another measure, too
        if last := self.known.held.get("closes_on"):
            day = datetime.date.fromisoformat(last)
            self.known.held["closes_on"] = f"{in_words(day)} ({IN_ZONE})"
        if self.known.held.get("waves") == "1":
            self.known.held.pop("waves")

    def launch(self) -> bool:
        """Open the wave; or see, and keep, why it is not opened, and take the way out that is
        offered, once.
        """
        waits = self._open()
        if waits is not None:
            self._give_way(waits)
            waits = self._open()
        return waits is None

    def _open(self) -> Page | None:
        """Open the wave; return the page that says why that has to wait, if it has."""
        self._hold()
        page = self.researcher.get(self.at("launch/"))
        form = self.form_with(page, "seen")
        if form is None or not form.buttons:
            self._refused("launch", page)
            return page
        self.known.digest = ""  # until there is another
        typed = {"why": f"{WHY} It is launched."} if "why" in form.fields else {}
        last = self.known.held.get("closes_on", "")
        before, opened = self.known.state, f"Open until {last}" if last else "Open"
        self.known.state = {*before, opened}
        self.known.opened.add(in_words(clock.Clock.now()))
        page = self.researcher.send(form, form.buttons[-1], **typed)
        if page.status != 200:
            self.known.state = before
            self._refused("launch", page)
            return page
        self.answered = 0
        self.truths.clear()
        self.asked_of.clear()
        self.links.clear()
        self.known.reasons += typed.values()
        self.known.waves.append(0)
        self.known.digest = self.plan.digest
        self.known.content = self.plan.content
        self.known.refreshed = 0
        self.known.state = {opened}
        return None

    def _give_way(self, waits: Page) -> None:
        """Go where the problems of a launch lead, and take back there what was chosen."""
        for link in [each for error in waits.errors for each in error.all("a")]:
            place, _hash, field = link.attrs.get("href", "").partition("#id_")
            page = self.researcher.get(waits.to(place))
            if field in USUAL:
                why = {"why": WHY} if place.endswith("/limits/") else {}
                self._submit("take back", page, field, **{field: USUAL[field]}, **why)
            elif "/build/questions/" in place:
                page = self.researcher.get(self.at("build/"))
                delete = waits.to(place).rstrip("/") + "/delete/"
                for form in page.forms:
                    for button in form.buttons:
                        if form.action(button) == delete:
                            self.researcher.send(form, button)
                left = [each.text for each in self.study.questions.all()]
                names = [each.name for each in self.study.questions.all()]
                self.known.typed[:] = [each for each in self.known.typed if each["text"] in left]
                for texts in self.known.spoken.values():
                    for name in [each for each in texts if "." in each]:
                        if name.partition(".")[0] not in names:
                            del texts[name]

    def rearrange(self) -> None:
        """See that a question goes where it is moved, that a copy follows it, and that one which
        was deleted comes back to its place. Undo it.
        """
        names = self._in_order()
        if len(names) < 3:
            return
        first, second, *others = names
        with self.researcher.undone(is_trying=True):
            if self._press(first, "down"):
                self._see_order([second, first, *others], f"{first} was moved down")
        with self.researcher.undone(is_trying=True):
            if self._press(second, "duplicate"):
                copy = [each for each in self._in_order() if each not in names]
                self._see_copy(second, *copy)
                self._see_order([first, second, *copy, *others], f"{second} was copied")
        with self.researcher.undone(is_trying=True):
            page = self._press(first, "delete")
            undo = page and self._to(page, self.at("build/undo/"))
            if undo:
                self.researcher.send(undo, undo.buttons[0])
                self._see_order(names, f"{first} was deleted, and brought back")

    def _see_copy(self, name: str, copy: str) -> None:
        """See that the copy of a question has all that the question has, but its name."""
        own, other = (
            self.form_with(self.researcher.get(self.at(f"build/questions/{each}/")), "text")
            for each in (name, copy)
        )
        assert own is not None, f"no form changes {name}"
        assert other is not None, f"no form changes {copy}"
        for what, values in own.data().items():
            if what not in OF_ONE and values != other.data().get(what):
                told = f"has {other.data().get(what)} as {what}; {name} has {values}"
                self.watch.wrong(other.page.address, told)

    def copy_by_file(self) -> None:
        """See that the file of a draft makes the same questions again in another study. Undo it."""
        with self.researcher.undone():
            held = self._texts_held()
            file = self.researcher.get(self.at("build/form.xlsx"))
            page = self.researcher.get("/studies/new/?way=file")
            form = self.form_with(page, "organisation")
            if file.status != 200 or form is None:
                return
            data = {**form.data(form.buttons[-1]), **{each: TEXTS[each] for each in TOLD_ANEW}}
            slug, self.known.slug = self.known.slug, ""
            page = self.researcher.post(
                form.action(), {**data, "file": upload("form.xlsx", file.content)}
            )
            self.slug = Study.objects.latest("pk").slug
            if page.status != 200 or self.slug == slug:
                self.watch.wrong(file.address, "cannot be imported again")
            elif (again := self._texts_held()) != held:
                for was, now in zip(held, again, strict=False):
                    for what in was if was != now else ():
                        if was[what] != now.get(what):
                            told = f"makes {now.get(what)} of {what} {was[what]}"
                            self.watch.wrong(file.address, f"{told}, once imported")
        self.slug = self.known.slug = slug

    def _texts_held(self) -> list[dict[str, Any]]:
        """Return what the draft holds of each question."""
        return [
            {name: getattr(each, name) for name in OF_FILE}
            | {"choices": each.options[: -1 if each.asked_if else None]}
            for each in self.study.questions.order_by("position")
        ]

    def _in_order(self) -> list[str]:
        """Return the names of the questions, in the order of Build."""
        page = self.researcher.get(self.at("build/"))
        actions = [form.action(each) for form in page.forms for each in form.buttons]
        found = [re.fullmatch(r".*/questions/([\w-]+)/delete/", action) for action in actions]
        return list(dict.fromkeys(each[1] for each in found if each))

    def _press(self, question: str, change: str) -> Page | None:
        action = self.at(f"build/questions/{question}/{change}/")
        for form in self.researcher.get(self.at("build/")).forms:
            for button in form.buttons:
                if form.action(button) == action:
                    page = self.researcher.send(form, button)
                    return page if page.status == 200 else None
        return None

    def _see_order(self, names: list[str], after: str) -> None:
        if (stand := self._in_order()) != names:
            self.watch.wrong(self.at("build/"), f"has {stand} after {after}, not {names}")

    def plan_again(self) -> None:
        """Plan the draft for twice the people, and save that: see that every page knows them then,
        that the planner holds what was saved, and that saving it again changes nothing. Undo it.
        """
        before, held = self.known.expected, self.known.held
        self.known.held = {}
        with self.researcher.undone():
            if before:
                self._plan_for(2 * before)
        self.known.expected, self.known.held = before, held

    def _plan_for(self, people: int) -> None:
        here, save = self.at("plan/"), self.at("plan/save/")
        form = self.form_with(self.researcher.get(here), "n")
        form = form and self._to(self.researcher.send(form, n=str(people)), save)
        if form is None:
            return
        planned = self.form_with(form.page, "n")
        page = self.researcher.send(form, form.buttons[-1])
        form = self.form_with(page, "confirmed")
        if form is None or not form.buttons:
            self._refused("save a plan", page)
            return
        changes = self.changes(page)
        page = self.researcher.send(form, form.buttons[-1])
        if page.status != 200:
            self._refused("save a plan", page)
            return
        self.known.expected = people
        again = self.form_with(self.researcher.get(here), "n")
        for name, values in planned.data().items() if planned and again else ():
            sent, stands = "".join(values), "".join(again.data().get(name, []))
            if name in ("n", "epsilon", "asked") and sent and not is_same(sent, stands):
                self.watch.wrong(here, f"plans with {name} {stands!r}; {sent!r} was saved")
        if again and (form := self._to(again.page, save)):
            page = self.researcher.send(form, form.buttons[-1])
            for what, (now, then) in self.changes(page).items():
                if now != changes.get(what, (now, now))[1] or now != then:
                    saved = changes.get(what, ("", ""))[1]
                    told = f"tells {what}: {now}, then {then}, after a plan with {saved} was saved"
                    self.watch.wrong(save, told)
        for tab in ("build/", "launch/", "limits/"):
            self.researcher.get(self.at(tab))

    def changes(self, page: Page) -> dict[str, tuple[str, str]]:
        """Return what a page says of what would change: now, and then."""
        lines = [[each.text for each in line.all("th", "td")] for line in page.main.all("tr")]
        return {line[0]: (line[1], line[2]) for line in lines[1:] if len(line) == 3}

    def share_with(self, other: Browser) -> None:
        """Have somebody else in the study in each role, out of it, and back: see that they are told
        as what they are, and may do what that role may. Undo it.
        """
        with self.researcher.undone():
            here = self.at("people/")
            form = self.form_with(self.researcher.get(here), "name")
            assert form is not None, "no form adds somebody to a study"
            before = other.get(self.at("")).status
            options = [each.attrs["value"] for each in form.node.all("option")]
            first, *roles = [each for each in options if each]
            page = self.researcher.send(form, form.buttons[-1], name=other.who, role=first)
            self._see_role(page, other, first)
            for role in roles[:-1]:  # nobody becomes an owner who cannot sign in
                if form := self._of(page, other):
                    page = self.researcher.send(form, form.buttons[-1], role=role)
                    self._see_role(page, other, role)
            if not (form := self._of(page, other)):
                return
            last = "".join(form.data()["role"])
            remove = self._to(page, f"{form.action()}remove/")
            assert remove is not None, f"{here}: no form takes {other.who} out"
            page = self.researcher.send(remove, remove.buttons[-1])
            statuses = before, other.get(self.at("")).status
            if min(statuses) < 400:
                self.watch.wrong(self.at(""), f"answers {other.who} {statuses}, who is no member")
            if back := self._to(page, self.at("people/back/")):
                self._see_role(self.researcher.send(back, back.buttons[-1]), other, last)

    def _of(self, page: Page, other: Browser) -> Form | None:
        """Return the form with which somebody gets another role."""
        lines = [each for each in page.main.all("tr") if other.who in each.text.split()]
        own = (form for form in page.forms if any(up in lines for up in form.node.above()))
        return next((each for each in own if "role" in each.fields), None)

    def _see_role(self, page: Page, other: Browser, role: str) -> None:
        """See that a member has a role, on the page of people and by what is open to them."""
        form = self._of(page, other)
        stands = "".join(form.data()["role"]) if form else "nothing"
        if stands != role:
            self.watch.wrong(page.address, f"has {other.who} as {stands}, who was made {role}")
        study = other.get(self.at(""))
        opens = {each: other.get(self.at(each)).status == 200 for each in MAY[""]}
        if study.status != 200 or opens != (may := dict.fromkeys(MAY[""], False) | MAY[role]):
            told = f"opens {opens} to {other.who} ({study.status}), as {role} {may}"
            self.watch.wrong(study.address, told)

    def answer(self, people: int) -> int:
        """Have so many people answer as browsers do; return how many were taken."""
        plan, taken = self.plan, 0
        letters: list[dict[str, Any]] = [{}] * people
        if plan.content.invited:
            self.links = self.links or self._print()
            letters = [self._letter(plan, link) for link in self.links[:people]]
            del self.links[:people]
        for start in range(0, len(letters), 50):
            bodies = [self._body(plan, each) for each in letters[start : start + 50]]
            verdicts = posts.answer_all([posts.enter(self.slug, body) for body in bodies])
            for verdict in verdicts:
                if verdict.status == 201:
                    taken += 1
                else:
                    self.watch.wrong(
                        "the door", f"answers {verdict.status}: {verdict.body.decode()}"
                    )
            if start == 0 and verdicts[-1].status == 201:
                told, day = json.loads(verdicts[-1].body), clock.Clock.now().date()
                self.receipts[told["receipt"]] = day
                if told["accepted_on"] != day.isoformat():
                    self.watch.wrong("the door", f"takes it on {told['accepted_on']}, not {day}")
        self.answered += taken
        self.known.waves[-1] += taken
        self.known.asked.update(self.asked_of.values())
        self.watch.something_happens()
        return taken

    def refresh(self) -> None:
        """Have more answers come, as often as numbers are refreshed and once more."""
        terms = self.plan.content.publication
        if terms.rule != "continual" or self.plan.content.invited:
            return
        for _time in range(terms.horizon or 0):
            for tab in ("", "collect/"):
                self.researcher.get(self.at(tab))
            self.answer(A_BATCH)
            clock.forward(hours=terms.hours)
            self.tick()

    def close(self) -> None:
        """Close the wave early, as the page says, and again where it asks."""
        self.known.closed.add(in_words(clock.Clock.now()))
        self.known.state.add(f"Closed {in_words(clock.Clock.now())}")
        page = self.researcher.get(self.at("launch/"))
        for _asked_twice in range(2):
            form = self._to(page, self.at("launch/close/"))
            if form is None:
                break
            page = self.researcher.send(form, form.buttons[0])
        if self.plan.is_open:
            self.watch.wrong(self.at("launch/"), "a wave that was closed is open")
        self._stands_at(f"Closed {in_words(clock.Clock.now())}")

    def _stands_at(self, *states: str) -> None:
        """Keep where the study stands now; a worker may have retired it."""
        retired = self.study.retired_on
        self.known.state = {f"Ended {in_words(retired)}"} if retired else set(states)

    def lower_cap(self) -> bool:
        """Lower the cap of an open study a little, as its owner: see that all pages tell that. Undo
        it where publications need it whole.
        """
        cap = self.researcher.get(self.at("limits/")).fact("cap")
        paid = self.plan.content.publication.epsilon
        needed = (self.study.planned + 1) * Decimal(paid or cap or 1)
        if cap and Decimal(cap) > needed:
            return self._lower(Decimal(cap) - Decimal("0.01"))
        held = dict(self.known.held)
        with self.researcher.undone():
            if cap and self._lower(Decimal(cap) - Decimal("0.01")):
                for tab in ("", "limits/", "limits/lower/", "limits/retire/"):
                    self.researcher.get(self.at(tab))
                self.known.reasons.pop()
        self.known.held = held
        return False

    def _lower(self, cap: Decimal) -> bool:
        page = self.researcher.get(self.at("limits/lower/"))
        form = self.form_with(page, "new")
        if form is None:
            return False
        why = f"{WHY} It is lowered."
        before = self.known.held.get("cap", "")
        self.known.held["cap"] = before and str(cap)
        page = self.researcher.send(form, form.buttons[-1], new=str(cap), why=why)
        if page.status != 200:
            self.known.held["cap"] = before
            self._refused("lower the cap", page)
            return False
        self.known.reasons.append(why)
        return True

    def limit_week(self) -> None:
        """Limit what a week may cost: see that all pages tell that. Undo it."""
        held = dict(self.known.held)
        with self.researcher.undone():
            page = self.researcher.get(self.at("limits/week/"))
            if form := self.form_with(page, "weekly"):
                page = self.researcher.send(form, form.buttons[-1], weekly="0.3", why=WHY)
                if page.status == 200:
                    self._see_kept(self.researcher.get(self.at("limits/week/")), "weekly", WEEKLY)
                    for tab in ("", "limits/", "limits/retire/"):
                        page = self.researcher.get(self.at(tab))
                        if WEEK in page.text and "0.3" not in page.text.partition(WEEK)[2][:12]:
                            self.watch.wrong(page.address, "does not tell the limit of a week, 0.3")
                else:
                    self._refused("limit a week", page)
        self.known.held = held

    def meet_in_panel(self) -> None:
        """Have an admin put the draft into a panel, launch it, and change each limit of the panel:
        see that each stands where it was named. Undo it.
        """
        with self.researcher.undone(is_trying=True), self.admin.undone(is_trying=True):
            page = self.admin.get("/panels/new/")
            form = self.form_with(page, "local_cap")
            assert form is not None, f"{page.address}: no form makes a panel"
            slug = f"of-{self.slug}"[-60:].lstrip("-")
            made = self.admin.send(form, form.buttons[-1], name="Those of a walk", slug=slug)
            page = self.admin.get(self.at("limits/"))
            form = self.form_with(page, "panel")
            assert form is not None, f"{page.address}: no form puts a draft into a panel"
            own = next(each for each in form.node.all("option") if "walk" in each.text)
            page = self.admin.send(form, _saving(form), panel=own.attrs["value"], why=WHY)
            form = self.form_with(self.researcher.get(self.at("launch/")), "seen")
            if page.status != 200 or form is None or not form.buttons:
                return
            typed = {"why": WHY} if "why" in form.fields else {}
            if self.researcher.send(form, form.buttons[-1], **typed).status == 200:
                self._change_panel(made.address)

    def _change_panel(self, address: str) -> None:
        changes = [each for each in self.admin.get(address).main.all("a") if each.has("button")]
        for change in changes:
            page = self.admin.get(f"{address}{change.attrs['href']}")
            for name in ("weekly", "cap"):
                if (form := self.form_with(page, name)) is None:
                    continue
                held = Decimal("".join(form.data()[name]) or 2)
                typed = f"{held * Decimal('0.9'):.2f}"
                page = self.admin.send(form, form.buttons[-1], why=WHY, **{name: typed})
                what = "publications" if "publications" in change.text else "answers"
                told = [
                    card.text
                    for card in self.admin.get(address).main.all("section")
                    if card.all("h2") and what in card.all("h2")[0].text.casefold()
                ]
                number = rf"(?<![\d.]){typed.rstrip('0').rstrip('.')}0?(?![\d.])"
                if page.status != 200 or not any(re.search(number, each) for each in told):
                    self.watch.wrong(address, f"does not tell {typed}, by “{change.text}”: {told}")

    def publish_anyway(self) -> bool:
        """Publish all the same, where that is offered; see that it is done."""
        here = self.at("publish-anyway/")
        form = self._to(self.researcher.get(self.at("")), here)
        if form is None:
            return False
        self.researcher.send(form, form.buttons[-1])
        self.tick()
        if self._to(self.researcher.get(self.at("")), here) is not None:
            self.watch.wrong(here, "was pressed, and the page offers it still")
        return True

    def answer_late(self) -> None:
        """See that nothing is taken any more."""
        if self.plan.content.invited:
            return  # nobody gets a ticket any more
        body = self._body(self.plan, {})
        (verdict,) = posts.answer_all([posts.enter(self.slug, body)])
        if verdict.status < 400:
            self.watch.wrong("the door", f"answers {verdict.status} once the wave is closed")

    def next_wave(self) -> bool:
        """Begin the next wave, where the site offers that."""
        page = self.researcher.get(self.at("launch/"))
        form = self._to(page, self.at("launch/next/"))
        if form is None:
            return False
        self.known.state.add(f"Draft of wave {len(self.known.waves) + 1}")
        page = self.researcher.send(form, form.buttons[0])
        if page.status != 200:
            self._refused("next wave", page)
            return False
        return True

    def kinds_to_ask(self) -> list[str]:
        """Return the kinds of queries that the site offers now."""
        page = self.researcher.get(self.at("ask/"))
        found = [re.fullmatch(rf"{self.at('ask/')}(\w+)/", link) for link in page.links]
        return [each[1] for each in found if each]

    def ask(self, kind: str) -> Page | None:
        """Ask one query as it is offered: see what it costs, confirm it, and have it drawn. Return
        its page; None where that is refused.
        """
        before = self.researcher.get(self.at("")).fact("spent")
        page = self.researcher.get(self.at(f"ask/{kind}/"))
        form = self.form_with(page, "csrfmiddlewaretoken", within_main=True)
        if form is None:
            return None
        of_last = self._of_last(form) if kind == "mean" else {}
        page = self.researcher.send(form, form.buttons[0], **{**self._asked(form), **of_last})
        form = self.form_with(page, "confirmed")
        if page.status != 200 or form is None:
            self._refused(f"ask {kind}", page)
            return None
        confirm = [each for each in form.buttons if each.attrs.get("name") != "change"]
        if not confirm:
            self._refused(f"ask {kind}", page)
            return None
        expected, said = page.fact("cost") or "0", page.fact("epsilon")
        asked = self.researcher.send(form, confirm[-1])
        clock.forward(seconds=20)
        self.tick()
        drawn = self.researcher.get(asked.address)
        cost = drawn.fact("cost")
        is_again = "?again" in asked.address  # it was drawn before, and costs nothing now
        if cost and not is_again and Decimal(cost) != Decimal(expected):
            self.watch.wrong(drawn.address, f"cost {cost}, and {page.address} said {expected}")
        spent = self.researcher.get(self.at("")).fact("spent")
        is_counted = cost and spent and before and self.wanted.cap != "with δ" and not is_again
        if is_counted and abs(Decimal(spent) - Decimal(before) - Decimal(cost)) > AGREE:
            told = f"cost {cost}, and {spent} is spent after {before}"
            self.watch.wrong(drawn.address, told)
        if kind == "mean":
            self._see_mean(drawn, "".join(form.data().get("question", [])))
        typed = "".join(form.data().get("epsilon", []))
        if typed and said and Decimal(said) > Decimal(typed):
            self.watch.wrong(page.address, f"ε {typed} was typed, and it says that it is {said}")
        return drawn

    def _of_last(self, form: Form) -> dict[str, str]:
        """Return the last question that a form offers."""
        named = [each for each in form.controls if each.attrs.get("name") == "question"]
        nodes = [one for each in named for one in (each.all("option") or [each])]
        values = [each.attrs["value"] for each in nodes if each.attrs.get("value")]
        return {"question": values[-1]} if values else {}

    def _see_mean(self, page: Page, name: str) -> None:
        """See that a mean is that of the scores that are promised, near to what was answered."""
        asked = {each.name: each for each in self.plan.content.questions}.get(name)
        if asked is None or asked.kind == "number":
            return
        first = 0 if asked.kind == "yes_no" else 1
        scored = len(asked.choices) - asked.beside
        scores = range(first, first + scored)
        promised = f"Scores: {', '.join(map(str, scores))}."
        if "Scores: " in page.text and promised not in page.text:
            self.watch.wrong(page.address, f"does not tell “{promised}”")
        counts = [self.truths[name, at] for at in range(scored)]
        told = [each for each in page.facts if each.has("estimate")]
        if len(told) != 1 or not sum(counts):
            return
        mean = sum(map(operator.mul, scores, counts)) / sum(counts)
        value, low, high = (
            float(told[0].attrs[each]) for each in ("value", "data-low", "data-high")
        )
        if abs(value - mean) > BEYOND * (high - low):
            self.watch.wrong(page.address, f"tells a mean of {value}, and it was {mean:.2f}")

    def retire(self) -> None:
        """Retire the study, as its owner."""
        page = self.researcher.get(self.at("limits/retire/"))
        form = self.form_with(page, "sure")
        assert form is not None, "no form retires the study"
        self.known.state.add(f"Ended {in_words(clock.Clock.now())}")
        self.researcher.send(form, form.buttons[-1], why=f"{WHY} It ends.", sure="on")
        self.known.reasons.append(f"{WHY} It ends.")
        self.tick()

    def look_up(self, somebody: Browser) -> None:
        """See that each receipt is known, by the page and by machines, with its day; and that of one
        that was never given it is said that it is not.
        """
        unknown = "0000-0000-0000"
        page = somebody.post("/receipts/en/", {"receipt": unknown})
        told = json.loads(somebody.get(f"/api/v1/receipts/{unknown}").content)
        if unknown not in page.main.text or told != {"accepted": False}:
            self.watch.wrong(
                page.address, f"says nothing of {unknown}, which was never given: {told}"
            )
        for receipt, day in self.receipts.items():
            page = somebody.post("/receipts/en/", {"receipt": receipt})
            told = json.loads(somebody.get(f"/api/v1/receipts/{receipt}").content)
            if in_words(day) not in page.text or told != {"accepted": True, "day": f"{day}"}:
                self.watch.wrong(page.address, f"tells of a receipt of {day}: {told}")

    def tick(self) -> None:
        """Let a worker do all that is due."""
        for name in TASKS:
            self._do(name)
        self._is_done()

    def _is_done(self) -> None:
        self.known.is_settled = True
        last = releases.last_by_rule(self.plan) if self.known.waves else None
        self.known.refreshed = last.number if isinstance(last, Step) else 0
        if self.slug and self.study.is_retired:
            self._stands_at()

    def tomorrow(self) -> None:
        """Let a day pass, and its work be done."""
        clock.forward(days=1)
        for name in (*OF_THE_DAY, *TASKS):
            self._do(name)
        self._is_done()

    def _do(self, name: str) -> None:
        self.watch.something_happens()
        try:
            app.tasks[name]()
        except Exception as error:
            self.watch.wrong(name, f"breaks: {type(error).__name__}: {error}")

    # Ways to begin

    @property
    def _language(self) -> str:
        return "zh-hans" if self.wanted.languages == "zh-hans" else "en"

    def _texts(self) -> dict[str, str]:
        return {
            **TEXTS,
            "title": f"{TEXTS['title']}, {self.wanted.name}",
            "language": self._language,
        }

    def _new(self, way: str, **typed: Any) -> Page:
        page = self.researcher.get(f"/studies/new/?way={way}")
        form = self.form_with(page, "way")
        assert form is not None, f"no form begins a study by way={way}"
        is_invited = str(self.wanted.people != "link")
        if self.wanted.people == "link":  # a list has as many people as it has
            self.known.expected = int("".join(form.data().get("expected", [])) or 0) or None
        return self.researcher.send(
            form, form.buttons[-1], is_invited=is_invited, **self._texts(), **typed
        )

    def _begin_blank(self) -> Page:
        return self._new("blank")

    def _begin_templates(self) -> Page:
        page = self.researcher.get("/studies/new/?way=template")
        offered = [
            each.attrs["value"]
            for each in page.root.all("input")
            if each.attrs.get("name") == "template"
        ]
        chosen = self.chance.sample(offered, 3)
        return self._new("template", template=chosen)

    def _begin_library(self) -> Page:
        """Take every template there is."""
        page = self.researcher.get("/studies/new/?way=template")
        offered = [
            each.attrs["value"]
            for each in page.root.all("input")
            if each.attrs.get("name") == "template"
        ]
        return self._new("template", template=offered[:20])

    def _begin_file(self) -> Page:
        """Import the form that the site gives as an example."""
        example = self.researcher.get("/studies/new/example.xlsx").content
        page = self.researcher.get("/studies/new/?way=file")
        form = self.form_with(page, "organisation")
        assert form is not None, "no form takes a file"
        typed = {name: TEXTS[name] for name in ("organisation", "purpose", "contact")}
        del self.known.texts["title"], self.known.texts["purpose"]  # the file has its own
        data = {**form.data(form.buttons[-1]), **typed, "file": upload("example.xlsx", example)}
        return self.researcher.post(form.action(), data)

    def _begin_plan(self) -> Page:
        """Go from the planner's proposal to the draft, by its own button."""
        page = self.researcher.get(f"/plan/?{self._planned()}" if self._planned() else "/plan/")
        make = [link for link in page.links if link.startswith("/studies/new/")]
        if not make:
            return page
        planner = self.form_with(page, "n")
        assert planner is not None, "no form of the planner takes a number of people"
        planned = "".join(planner.data()["n"])
        page = self.researcher.get(make[0])
        form = self.form_with(page, "way")
        assert form is not None, f"{make[0]}: no form takes the words of the questions"
        filled = "".join(form.data()["expected"])
        if self.wanted.people == "link":
            self.known.expected = int(planned)
        if filled != planned:
            self.watch.wrong(make[0], f"expects {filled} people, and {planned} were planned")
        typed: dict[str, str] = {}
        for name in form.fields:
            at, _dash, what = name.partition("-")
            if what == "text":
                typed[name] = f"What of the thing of number {at[1:]}?"
            elif what == "choices":
                wanted = re.search(
                    r"kind=(?:single|multiple|likert)&choices=(\d+)", self._planned()
                )
                typed[name] = "\n".join(
                    f"Choice {each}" for each in range(1, int(wanted[1] if wanted else 4) + 1)
                )
        self.known.typed += [
            {"text": text, **({"choices": typed[choices]} if choices in typed else {})}
            for name, text in typed.items()
            if name.endswith("-text") and (choices := name.replace("-text", "-choices"))
        ]
        is_invited = str(self.wanted.people != "link")
        return self.researcher.send(
            form, form.buttons[-1], is_invited=is_invited, **self._texts(), **typed
        )

    def _planned(self) -> str:
        rows = {
            "yes_no": "many=3&kind=yes_no",
            "choices": "many=1&kind=yes_no&many=2&kind=single&choices=4&choices=4",
            "ticks": "many=1&kind=multiple&choices=4&many=1&kind=yes_no",
            "scales": "many=3&kind=likert&choices=5",
            "numbers": "many=1&kind=yes_no&many=2&kind=number",
        }
        if self.wanted.is_default:
            return self.wanted.planned
        return "n=300&epsilon=2&" + rows.get(self.wanted.kinds, rows["choices"])

    # What is chosen in a draft

    def _questions(self) -> list[Asked]:
        if self.wanted.begins == "templates":
            return [] if self.wanted.is_default else QUESTIONS[self.wanted.kinds][-1:]
        asked = [dict(each) for each in QUESTIONS[self.wanted.kinds]]
        if self.wanted.protection == "publication":
            asked = [{**each, "protection": "publication"} for each in asked]
        elif self.wanted.protection == "mixed":
            asked[-1]["protection"] = "publication"
        return asked

    def _protect(self) -> None:
        """Have the last question, or all, sent as given."""
        page = self.researcher.get(self.at("build/"))
        edits = [link for link in page.links if "/build/questions/" in link]
        last = {"device": [], "mixed": edits[-1:], "publication": edits}
        for link in last[self.wanted.protection]:
            page = self.researcher.get(link)
            self._submit("protect in publications only", page, "text", protection="publication")

    def _add(self, asked: Asked) -> None:
        page = self.researcher.get(self.at("build/add/"))
        kind = asked["kind"]
        if taken := self._submit(f"add a question of the kind {kind}", page, "text", **asked):
            self.known.typed.append({name: asked[name] for name in asked if name in taken})

    def _choose(self) -> None:
        wanted = self.wanted
        if wanted.follow_ups != "none":
            page = self.researcher.get(self.at("build/add/"))
            form = self.form_with(page, "condition")
            assert form is not None
            conditions = [
                each.attrs["value"]
                for each in form.node.all("option")
                if each.parent
                and each.parent.attrs.get("name") == "condition"
                and each.attrs["value"]
            ]
            if conditions:
                chosen = self.chance.choice(conditions)
                name, _colon, at = chosen.partition(":")
                other = self.study.questions.get(name=name)
                follows = f"“{other.options[int(at)]}” “{other.text}”"
                is_passed = wanted.follow_ups == "skip"
                self._add({**FOLLOW_UP, "condition": chosen})
                if self.known.typed and "condition" in self.known.typed[-1]:
                    told = {"condition_text": follows}
                    told["condition_in"] = "Asked only after" if is_passed else "Help"
                    self.known.typed[-1] |= told
        if "as one" in wanted.sent:
            self._join()
        limits: dict[str, str] = {}
        if wanted.unit != "respondent-in-study":
            limits["unit"] = wanted.unit
        if wanted.neighbours != "change-one":
            limits["neighbours"] = wanted.neighbours
        if wanted.cap == "with δ":
            limits["cap_delta"] = DELTA
        elif wanted.cap == "lower":
            limits |= {"cap": "0.8", "release_epsilon": "0.4"}
        if limits:
            page = self.researcher.get(self.at("limits/"))
            self._submit("limits", page, "cap", why=WHY, **limits)
        if wanted.protection != "device":
            self._see_what_an_admin_can_allow()
        texts: dict[str, str] = {"rule": wanted.rule, "results": wanted.results, "expected": "300"}
        if wanted.rule in ("every", "continual"):
            texts |= {"hours": "6", "horizon": "4"}
        if wanted.rule == "every":
            texts |= {"release_epsilon": "0.4"}
        if "drawn" in wanted.sent:
            texts["asked"] = "1"
        if wanted.follow_ups == "skip":
            texts["follow_ups"] = "skip"
        if wanted.people != "link":
            texts |= {"expected": "100"}
        if self.chance.random() < 0.5:
            last = clock.Clock.now().date() + datetime.timedelta(days=OPEN_FOR)
            texts |= {"closes_on": last.isoformat(), "zone": ZONE}
        page = self.researcher.get(self.at("build/texts/"))
        taken = self._submit("texts", page, "rule", **texts)
        if "expected" in taken and wanted.people == "link":
            self.known.expected = int(texts["expected"])

    def _see_what_an_admin_can_allow(self) -> None:
        """Take the way out that a refusal names: what a site's admin can allow, one does; then it
        is not refused for that any more. Undo it.
        """
        with self.researcher.undone(), self.admin.undone():
            page = self._limits(self.researcher, cap=MORE["given_cap"])
            if "site’s admin can" not in page.text:
                return
            allowing = self.admin.get(self.at("limits/"))
            form = self.form_with(allowing, "cap")
            missing = [name for name in MORE if form is None or name not in form.fields]
            if missing:
                self.watch.wrong(
                    page.address,
                    f"says that the site’s admin can allow it, who has no field {missing} there",
                )
                return
            self._limits(self.admin, **MORE)
            page = self._limits(self.researcher, cap=MORE["given_cap"])
            if "site’s admin can" in page.text:
                self.watch.wrong(page.address, "refuses what the site’s admin allowed")

    def _limits(self, who: Browser, **typed: str) -> Page:
        page = who.get(self.at("limits/"))
        form = self.form_with(page, "cap")
        assert form is not None, f"{page.address}: no form takes a cap"
        return who.send(form, _saving(form), why=WHY, **typed)

    def _join(self) -> None:
        page = self.researcher.get(self.at("build/"))
        form = self.form_with(page, "names")
        if form is None:
            return  # nothing of this draft can be
        offered = [
            each.attrs["value"] for each in form.controls if each.attrs.get("name") == "names"
        ]
        page = self.researcher.send(form, form.buttons[0], names=offered[:2])
        if page.status != 200:
            self._refused("send as one answer", page)

    def _translate(self) -> None:
        page = self.researcher.get(self.at("build/"))
        form = self._to(page, self.at("build/languages/"))
        if form is None:
            return
        page = self.researcher.send(form, form.buttons[0], language="zh-hans")
        form = self.form_with(page, "title")
        assert form is not None, f"{page.address}: no form takes the texts of a language"
        typed = {
            each.attrs["name"]: f"{each.attrs['name']} 中文"
            for each in form.controls
            if each.attrs.get("name") not in (None, "csrfmiddlewaretoken")
            and not "".join(form.data().get(each.attrs["name"], [])).strip()
        }
        page = self.researcher.send(form, form.buttons[0], **typed)
        if page.status != 200:
            self._refused("translate", page)
        self.is_translated = page.status == 200
        if self.is_translated:
            self.known.spoken["zh-hans"] = typed

    def _invite(self) -> None:
        for stratum, people in STRATA[self.wanted.people == "strata"].items():
            self.known.invited += people
            page = self.researcher.get(self.at("list/"))
            self._submit("invite", page, "count", count=str(people), stratum=stratum)

    # Forms

    def form_with(self, page: Page, field: str, *, within_main: bool = False) -> Form | None:
        """Return the form of a page that has this field."""
        for form in page.forms:
            is_there = not within_main or any(up.tag == "main" for up in form.node.above())
            names = (*form.fields, *(each.attrs.get("name") for each in form.controls))
            if field in names and is_there:
                return form
        return None

    def _to(self, page: Page, action: str) -> Form | None:
        return next((form for form in page.forms if form.action() == action), None)

    def _submit(self, step: str, page: Page, by: str, **typed: str) -> dict[str, str]:
        """Send a form; what is refused at its field is left as it was, and the rest sent again.
        Return what was taken; see that it stands there then.
        """
        for _again in range(len(typed)):
            form = self.form_with(page, by)
            if form is None:
                self.watch.wrong(page.address, f"has no form with {by}")
                return {}
            typed = {name: value for name, value in typed.items() if name in form.fields}
            fresh = self.researcher.get(page.address)  # as before what was refused
            form = self.form_with(fresh, by)
            assert form is not None
            sent = self.researcher.send(form, _saving(form), **typed)
            if sent.status == 200:
                if step not in ("invite", "take back"):
                    self._see_kept(page, by, typed)
                return typed
            refused = self._refused(step, sent).fields
            own = [name for name in refused if name in typed]
            if not own or (step.startswith("add") and not set(own) & set(LEFT_OUT)):
                own = [name for name in typed if name in LEFT_OUT] or list(typed)
            typed = {name: value for name, value in typed.items() if name not in own}
            if not typed.keys() - {"why"}:
                break
        return {}

    def _see_kept(self, page: Page, by: str, typed: dict[str, str]) -> None:
        """See that a form, opened again, holds what was typed; of a new question, its own form."""
        if page.address.endswith("/build/add/"):
            added = self.study.questions.latest("pk")
            page = self.researcher.get(self.at(f"build/questions/{added.name}/"))
        else:
            page = self.researcher.get(page.address)
        form = self.form_with(page, by)
        data = form.data() if form else {}
        for name, value in typed.items():
            stands = "\n".join(data.get(name, []))
            if name in data and name != "why" and not is_same(value, stands):
                self.watch.wrong(page.address, f"has {stands!r} as {name}; {value!r} was typed")

    def _refused(self, step: str, page: Page) -> Refusal:
        """Keep what was refused. It must say at which field, or lead there, and what to do."""
        errors = page.errors
        fields = list(dict.fromkeys(filter(None, (field_of(each) for each in page.nodes))))
        text = " ".join(dict.fromkeys(" ".join(each.text.split()) for each in errors))
        refusal = Refusal(step, fields, text)
        self.refusals.append(refusal)
        leads = [link for each in errors for link in each.all("a")]
        leads += [each for each in page.controls if each.attrs.get("name") == "change"]
        if not text:
            self.watch.wrong(
                f"{page.address}", f"refuses “{step}” ({page.status}) without a word why"
            )
        elif not fields and not leads:
            self.watch.wrong(
                page.address, f"refuses “{step}” and names neither field nor way out: {text}"
            )
        return refusal

    def _asked(self, form: Form) -> dict[str, Any]:
        """Return what somebody has to fill in of a query that is not filled in already."""
        data, typed = form.data(), {}
        for name in form.fields:
            own = [each for each in form.controls if each.attrs.get("name") == name]
            kind = own[0].attrs.get("type", "text")
            if name == "epsilon" and self.wanted.cap == "with δ":
                typed[name] = "0.1"  # little enough to be paid in ρ
            if "".join(data.get(name, [])):
                continue
            if kind == "checkbox" and (len(own) > 1 or "value" in own[0].attrs):
                typed[name] = [each.attrs["value"] for each in own[:2]]
            elif kind == "radio":
                typed[name] = own[0].attrs["value"]
            elif name == "epsilon":
                typed[name] = "0.2"
            elif own[0].tag == "select":
                options = [each.attrs.get("value", "") for each in own[0].all("option")]
                many = 2 if "multiple" in own[0].attrs else 1
                typed[name] = [each for each in options if each][:many]
            elif name == "ranges":
                typed[name] = self._ranges(form)
            elif name == "expression":
                columns = re.search(r"Columns: (\w+) \(", form.page.text)
                typed[name] = f"mean({columns[1]})" if columns else ""
            elif name in TYPED:
                typed[name] = TYPED[name]
        return typed

    def _ranges(self, form: Form) -> str:
        """Return two ranges of the question that a query starts with: of a number's values, or of
        its first two choices.
        """
        chosen = "".join(form.data().get("question", []))
        asked = next((each for each in self.plan.content.questions if each.name == chosen), None)
        least = asked.least if asked and asked.kind == "number" else 1
        return f"{least}\n{least + 1}"

    # Those who answer

    def _print(self) -> list[str]:
        """Print codes for everybody; return the links, in no order."""
        page = self.researcher.get(self.at("list/letters/"))
        form = self.form_with(page, "whom")
        assert form is not None, f"{page.address}: no form prints codes"
        data = {**form.data(), "whom": ["all"], "as": ["file"]}
        printed = self.researcher.post(form.action(), data).content.decode("utf-8-sig")
        links = [row["link"] for row in csv.DictReader(io.StringIO(printed))]
        if len(links) != self.known.invited:
            self.watch.wrong(page.address, f"prints {len(links)} codes for {self.known.invited}")
        self.chance.shuffle(links)
        return links

    def _letter(self, plan: Plan, link: str) -> dict[str, Any]:
        """Fetch a ticket with a link, as a device does."""
        invited = plan.content.invited
        assert invited is not None
        _digest, stratum, code = link.partition("#")[2].split(".")
        key = invited.strata[int(stratum)].key
        own = tickets.blind(key, plan.digest)
        signature = fetching.issue(plan.digest, int(stratum), code, own.blinded)
        part = tickets.as_part(own.prefix, tickets.finish(key, own, signature), int(stratum))
        return {"report_id": plan_tickets.report_id(own.message), "ticket": part}

    def _body(self, plan: Plan, letter: dict[str, Any]) -> bytes:
        content = plan.content
        stream = partial(self.chance.getrandbits, 32)
        asked = content.sets[content.draw_set(stream)] | content.cleartext.keys()
        truths = self._truths(content)
        truths = {name: truth for name, truth in truths.items() if name in asked}
        for name, truth in truths.items():
            self.asked_of[name] += 1
            self.truths.update(
                (name, each) for each in (truth if isinstance(truth, list) else [truth])
            )
        answers = content.randomised(truths, stream)
        named = {"report_id": secrets.token_hex(16), **letter}
        return json.dumps({"plan": plan.digest, "answers": answers, **named}).encode()

    def _truths(self, content: PlanContent) -> dict[str, Any]:
        return {each.name: self._truth(each) for each in content.questions}

    def _truth(self, question: PlanQuestion) -> Any:
        if question.kind == "multiple":
            return [at for at in range(len(question.choices)) if self.chance.random() < 0.3]
        if not question.choices or question.kind == "number":
            steps = self.chance.randint(0, question.most - question.least)
            return question.least + steps if question.is_cleartext else steps
        return 0 if self.chance.random() < 0.6 else self.chance.randrange(len(question.choices))

    def share(self, question: str, choice: int) -> float:
        """Return how many percent of those who answered a question in this wave chose that."""
        return 100 * self.truths[question, choice] / self.asked_of[question]


def _saving(form: Form) -> Node | None:
    """Return the button that saves: the last that has no name of its own."""
    plain = [each for each in form.buttons if not each.attrs.get("name")]
    return plain[-1] if plain else None
