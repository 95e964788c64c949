"""A study as an entry of a public register of deployments of differential privacy (OpenDP's, its
own schema).

That schema takes no keys of its own makers: cap and burn rate stand in `release_type_details`, and
`sources` links to our own document, which has everything. What is the same of every study stands in
deployment.yaml.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from dpengine.privacy import epsilon_above
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import written
from surveys.results.privacy_loss import shown
from surveys.results.registered import RegisteredStudy

FORM = yaml.safe_load(Path(__file__).with_name("deployment.yaml").read_text(encoding="utf-8"))
RULES = {
    "when-closed": "Published once, after the close.",
    "every": "Published every {hours} hours and once more after the close; each publication is "
    "charged.",
    "continual": "Published every {hours} hours, at most {horizon} times; all are charged on the "
    "first day.",
    "on-request": "Published when a researcher asks and the cap allows it; each publication is "
    "charged.",
}
UNITS = {
    "respondent-in-study": "Respondent: all that one person sends in all waves of the study, one "
    "message in each",
    "answer-in-study": "Answer: what one person answers to one question, and to those that follow "
    "from it, in all waves of the study",
    "respondent-in-wave": "Respondent and wave: what one person sends in one wave, one message",
}
UNITS |= {
    f"household-of-{people}": f"Household: all that at most {people} people send in all waves of "
    "the study, one message each in every wave"
    for people in range(2, 6)
}
DIFFER = "Adjacent data sets have the same number of records and differ in the answers of one"
ONE_MORE = "One of two adjacent data sets has one record more than the other"
PROTECTS_ALL = "When each publication was made."
PROTECTS_ANSWERS = "How many people answered, and when each publication was made."
ON_DEVICE = "On the device: {kinds} (randomised response from whole numbers)."
LASTS = " At this rate the rest lasts {left} day{s}."
WAVES = {0: "in one wave", 1: "together"}
PROTECTED = (
    "{count} of {all} answers are changed by chance in the respondent's browser before "
    "they are sent."
)
GIVEN = (
    "{count} of {all} answers are sent as given and kept encrypted: towards whoever runs the "
    "site they have no ε."
)


def entry(record: RegisteredStudy, link: Callable[[str], str]) -> Any:
    content, rule = record.content, record.content.publication
    given, everything = len(content.cleartext), len(content.questions)
    counts = {PROTECTED: everything - given, GIVEN: given}
    channels = ", ".join(sorted({channel.kind for channel in content.channels.values()}))
    published = [publication.published_on for publication in record.published]
    values = {
        "record": record,
        "study": record.study,
        "content": content,
        "all": everything,
        "labels": ", ".join(question.label for question in content.questions),
        "first_day": str(min(published, default=record.plans[-1].opened_on)),
        "unprotected": PROTECTS_ANSWERS if content.n_is_public else PROTECTS_ALL,
        "unit": UNITS.get(content.unit, content.unit),
        "differ": DIFFER if content.n_is_public else ONE_MORE,
        "local": _local(record),
        "model": _model_name(record),
        "protections": " ".join(
            text.format(count=count, all=everything) for text, count in counts.items() if count
        ),
        "release_type": "One release"
        if rule.rule == "when-closed" and record.account.count < 2
        else "Many releases",
        "rule": RULES[rule.rule].format(hours=rule.hours, horizon=rule.horizon),
        "ends": _ends(record),
        "data_source_type": "Dynamic" if record.plan.is_open else "Static",
        "access_type": "Interactive" if rule.rule == "on-request" else "Non-interactive",
        "channels": f"{ON_DEVICE.format(kinds=channels)} " if channels else "",
        "site": link("/"),
        "day": record.now.date(),
    }
    return _filled(FORM, values | _of_budget(record))


def _of_budget(record: RegisteredStudy) -> dict[str, object]:
    account, budget, left = record.account, record.account.budget, record.days_left
    signs = "ερ" if budget.is_either else budget.measure
    cap = " or ".join(f"{each} {written(budget.cap_in(each))}" for each in signs)
    spent, sums = f"ε {shown(record.spent.epsilon)}", "Σε"
    parameters = {"epsilon": float(record.cap.epsilon)}
    if not budget.is_pure:
        parameters |= {"delta": float(record.cap.delta), "rho": float(budget.cap_in("ρ"))}
        cap += f" and δ {written(budget.delta)}"
        sums = "Σε, or on Σρ and Σδ," if budget.is_either else "Σρ and Σδ"
    if record.spent.delta:
        spent += f" at δ = {float(record.spent.delta):g}"
    return {
        "variant": "Pure DP" if budget.is_pure else "Zero-concentrated DP",
        # what readers of everything that may ever be published can learn, in numbers
        "parameters": parameters,
        "spent": spent,
        "cap": cap,
        "measure": account.measure,
        "amount_spent": written(account.amount_spent),
        "lasts": "" if left is None else LASTS.format(left=left, s="s" * (left != 1)),
        "sums": sums,
        "compared_delta": float(record.compared.delta),
        "theorems": "; ".join(f"{name}: ε {epsilon}" for name, epsilon in record.accountants),
        "mechanisms": "; ".join(ledger.mechanisms(budget.pk)) or "none yet",
    }


def _filled(part: Any, values: dict[str, object]) -> Any:
    """Return a part of the form with the values in their places."""
    if isinstance(part, dict):
        return {name: _filled(each, values) for name, each in part.items()}
    if isinstance(part, list):
        return [_filled(each, values) for each in part]
    if not isinstance(part, str):
        return part
    name = part.removeprefix("{").removesuffix("}")
    return values[name] if name in values else part.format(**values)


def _local(record: RegisteredStudy) -> str:
    """Say what whoever runs the site learns."""
    if record.cleartext and not record.changes_answers:
        return "Whoever runs the site receives the answers themselves: local ε = ∞."
    together = f"one person's answers {WAVES.get(record.waves, f'in all {record.waves} waves')}"
    local = (
        f"Towards whoever sees every message, {together} have a local ε of {record.device_epsilon}"
    )
    if record.cleartext:
        return f"{local} as far as they are changed; those sent as given have a local ε of ∞."
    if record.may_repeat:
        return (
            f"{local}, where each was drawn anew; devices that keep their key repeat the draw of "
            "an unchanged answer, so that whether it changed has no ε."
        )
    return f"{local}, which readers of the publications cannot pass either."


def _model_name(record: RegisteredStudy) -> str:
    """Say “Local” only where the loss that is stated, the cap, holds towards whoever runs the
    site too.
    """
    if record.cleartext and not record.changes_answers:
        return "Central"
    return (
        "Varies" if record.cleartext or epsilon_above(record.loss) > record.cap.epsilon else "Local"
    )


def _ends(record: RegisteredStudy) -> str:
    if record.study.retired_on:
        return f"It was retired on {record.study.retired_on}."
    if record.study.retires_on:
        return f"It ends on {record.study.retires_on} in any case."
    return "It has no other end."
