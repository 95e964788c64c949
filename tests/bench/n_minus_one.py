"""n − 1 against an answer sent as given: whoever knows all answers but one, and reads the total
that is published.

An account of nobody in particular opens a study of one yes or no that is sent as given, on the
editor's own pages, as a new draft comes; only the smallest batch is set as low as it may be. All
reports but one are the attacker's own, through the door for reports; one is the victim's, yes or no
by a coin. The study closes, is swept and published by its rule, and the attacker takes the answer
that makes the published total likelier. Right at most as often as the form says, but for chance:
what is printed last is how often chance alone gives as many or more at the rate that the form says.

`WHOLE` tries are made so from the first page to the total that is published, each report through
HTTP (in process: all of the site's middleware, no socket). A study publishes once, so the others
draw again from these studies' sealed batches, by the same call that publishes: the victim is one of
theirs by chance, and nothing is stored.

Reworded: the same question so many times in other words, with one answer protected instead of a
person (on the Limits page, which any account may). The attacker adds up the evidence of all totals.
With a cap of 1 for each answer the launch refuses it; `before` is what it gave until then: the same
draws without the site. `within`: the cap that the launch allows, 1 in all.

    python -m tests.bench.n_minus_one [tries]
"""

import datetime
import json
import secrets
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

from scipy.stats import binom

from tests.bench.report import save, table
from tests.bench.site import fresh_site

TRIES, WHOLE, REWORDED = 2000, 20, 300
NOW = datetime.datetime.now(datetime.UTC)
TEXTS = {
    "title": "One of fifty",
    "organisation": "Nobody",
    "purpose": "To learn one answer.",
    "contact": "a@example.org",
    "language": "en",
}
QUESTION = {
    "name": "q1",
    "kind": "yes_no",
    "text": "Have you?",
    "label": "Have you",
    "protection": "publication",
}


def drafted(client: Any, **terms: str) -> Any:
    """Make a draft with one question that is sent as given on the pages of the editor; return
    the study.
    """
    from surveys.design.models import Study

    built = client.post("/studies/new/", {**TEXTS, "way": "blank"})
    slug = built["Location"].split("/")[2]
    asked = {
        **QUESTION,
        "help": "",
        "choices": "",
        "epsilon": "1",
        "wanted": "mean",
        "condition": "",
    }
    added = client.post(f"/studies/{slug}/build/add/", asked)
    assert added.status_code == 302, added.content.decode()
    study = Study.objects.get(slug=slug)
    if terms:
        kept = {
            name: getattr(study, name)
            for name in ("layout", "follow_ups", "rule", "hours", "horizon", "results", "zone")
        }
        amounts = {
            name: f"{getattr(study, name)}" for name in ("cap", "release_epsilon", "smallest_batch")
        }
        saved = client.post(f"/studies/{slug}/build/texts/", {**TEXTS, **kept, **amounts, **terms})
        assert saved.status_code == 302, saved.content.decode()
        study.refresh_from_db()
    return study


def opened(study: Any, client: Any) -> Any:
    """Open the draft on the page of its launch."""
    from surveys.design import selectors

    page = f"/studies/{study.slug}/launch/"
    seen = client.get(page).content.decode().split('name="seen" value="')[1].split('"')[0]
    done = client.post(page, {"seen": seen, "why": "A test."})
    assert done.status_code == 302, done.content.decode()
    plan = selectors.latest_plan(study.slug)
    assert plan is not None
    return plan


def answer(client: Any, plan: Any, answers: list[int]) -> None:
    """Post reports as a browser would: what is sent as given is the answer."""
    for value in answers:
        body = {"plan": plan.digest, "report_id": secrets.token_hex(16), "answers": {"q1": value}}
        address = f"/api/v1/studies/{plan.content.slug}/reports"
        taken = client.post(address, json.dumps(body), content_type="application/json")
        assert taken.status_code == 201, taken.content.decode()


def published(plan: Any) -> Any:
    """Close, sweep and publish as a worker does."""
    from surveys.aggregation import services as sweeps
    from surveys.design import services as design
    from surveys.releases import services as releases

    today = NOW.date()
    design.close_plan(plan_id=plan.pk, today=today)
    plan.refresh_from_db()
    sweeps.sweep_plan(plan, today)
    found = releases.publish_if_due(plan=plan, now=NOW)
    assert found is not None
    return found


def drawn_again(release: Any) -> dict[str, Any]:
    """Return what the same call would have published, had chance fallen otherwise."""
    from surveys.releases import selectors

    query = selectors.query_of(release.request)
    counts = query.counted(release.request.statistic["batches"])
    return query.draw(counts, release.content.n).document()


def guessed(numbers: dict[str, Any], known: list[int]) -> int:
    """Return the answer that makes the published number of “yes” likelier: noise falls off alike
    on both sides.
    """
    return int(numbers["questions"][0]["choices"][1]["noisy_count"] - sum(known) > 0.5)


def attack(tries: int, client: Any, whole: int = WHOLE) -> tuple[int, str]:
    """Attack so often, `client` being signed in; return how often the guess was right, and the
    caps of the study.
    """
    from django.test import Client

    right, stood = 0, []
    for _ in range(min(whole, tries)):
        plan = opened(drafted(client, smallest_batch="50"), client)
        known = [place % 2 for place in range(plan.content.publication.smallest_batch - 1)]
        victim = secrets.randbelow(2)
        answer(Client(), plan, [*known, victim])
        release = published(plan)
        right += guessed(release.numbers, known) == victim
        stood.append((release, known, victim))
    for _ in range(tries - len(stood)):
        release, known, victim = secrets.choice(stood)
        right += guessed(drawn_again(release), known) == victim
    return right, stood[0][0].request.plan.content.caps.central_epsilon


def reworded(client: Any, count: int) -> tuple[str, Any]:
    """Draft the same question so often, with one answer protected; return what the launch says of a
    cap of 1, and the Plan of the cap that it allows.
    """
    from surveys.design import selectors
    from surveys.design.models import Study
    from surveys.design.readiness import Readiness

    study = drafted(client, smallest_batch="50")
    for place in range(2, count + 1):
        asked = {**QUESTION, "name": f"q{place}", "text": f"Have you? ({place})"}
        rest = {"help": "", "choices": "", "epsilon": "1", "wanted": "mean", "condition": ""}
        added = client.post(f"/studies/{study.slug}/build/add/", asked | rest)
        assert added.status_code == 302, added.content.decode()
    page, terms = f"/studies/{study.slug}/limits/", "answer-in-study"
    typed = {"unit": terms, "neighbours": "change-one", "cap_delta": "0", "why": "A test."}
    typed |= {"epsilon_floor": "0.01", "epsilon_ceiling": "4", "household": "3"}
    refused = client.post(page, {**typed, "cap": "1", "release_epsilon": "1"})
    assert refused.status_code == 422, "expected the page with what is refused"
    cap = f"{Decimal(1) / count:.3f}"
    allowed = client.post(page, {**typed, "cap": cap, "release_epsilon": cap})
    assert allowed.status_code == 302, allowed.content.decode()
    study = Study.objects.get(slug=study.slug)
    problems = [each.text for each in Readiness(study).problems(NOW)]
    assert not problems, problems
    assert selectors.latest_plan(study.slug) is None
    words = " ".join(refused.content.decode().split())
    said = words[words.index("If answers are not randomised") :].partition("<")[0]
    return said, opened(study, client)


def evidence(count: int, epsilon: float, tries: int) -> int:
    """Return how often the sum of evidence is right, of as many totals with Laplace noise of ε."""
    from dpengine.central.laplace import DiscreteLaplace

    noise, right = DiscreteLaplace.for_epsilon(Fraction(str(epsilon)), 1), 0
    for _ in range(tries):
        victim = secrets.randbelow(2)
        seen = noise.release([victim] * count)
        right += (sum(abs(total) - abs(total - 1) for total in seen) > 0) == victim
    return right


def rewordings(client: Any, tries: int) -> list[dict[str, Any]]:
    """Return how the attack by rewording goes, before and now."""
    rows = []
    for count in (10, 40):
        refusal, plan = reworded(client, count)
        cap = plan.content.caps.central_epsilon
        for name, epsilon, share in (
            ("before: cap 1 for each", 1.0, said(str(min(count, 20)))),
            (f"within: cap {cap} for each", float(cap), said("1")),
        ):
            right = evidence(count, epsilon, tries)
            rows.append({"questions": count, "cap": name} | row(tries, right, share))
        print(f"{count} questions, cap 1: {refusal}")
    return rows


def said(cap: str) -> Fraction:
    """Return what the form says of such a study, as a share: what is told is rounded up to a
    tenth of a hundredth.
    """
    from surveys.guesses import even_guess_within

    return Fraction(even_guess_within(Decimal(cap))) / 100


def row(tries: int, right: int, share: Fraction) -> dict[str, Any]:
    chance = float(binom.sf(right - 1, tries, float(share)))
    return {
        "tries": tries,
        "right": right,
        "share": right / tries,
        "said": float(share),
        "chance of as many": chance,
    }


def main(tries: int = TRIES) -> None:
    with fresh_site():
        from django.conf import settings
        from django.test import Client

        from surveys.people import services as people

        settings.ALLOWED_HOSTS = ["*"]
        client = Client()
        client.force_login(people.ensure_user(username="ada", password=secrets.token_hex()))
        right, cap = attack(tries, client)
        rows = [{**row(tries, right, said(cap)), "cap": cap}]
        again = rewordings(client, REWORDED)
    table(f"{tries:,} attacks of who knows all answers but one, on a new draft's own terms", rows)
    table(f"{REWORDED} attacks by the same question in other words, one answer protected", again)
    save("n_minus_one", rows + again)


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
