"""A study as an entry of a public register of deployments of differential privacy (OpenDP's, its
own schema).

That schema takes no keys of its own makers: cap and burn rate stand in `release_type_details`, and
`sources` links to our own document, which has everything.
"""

from collections.abc import Callable

from dpengine.privacy import epsilon_above
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import written
from surveys.results.privacy_loss import shown
from surveys.results.registered import RegisteredStudy

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
WAVES = {0: "in one wave", 1: "together"}
PROTECTED = (
    "{count} of {all} answers are changed by chance in the respondent's browser before "
    "they are sent."
)
GIVEN = (
    "{count} of {all} answers are sent as given and kept encrypted: towards whoever runs the "
    "site they have no ε."
)


def entry(record: RegisteredStudy, link: Callable[[str], str]) -> dict[str, object]:
    is_pure = record.account.budget.is_pure
    return {
        "url_slug": record.study.slug,
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(record),
            "dp_variant": {
                "variant_name": "Pure DP" if is_pure else "Zero-concentrated DP",
                "data_domain": "All possible answers of each respondent to every question of the "
                "plan.",
                "unprotected_quantities": "How many people answered, and when each publication was "
                "made."
                if record.content.n_is_public
                else "When each publication was made.",
            },
            "privacy_loss": _privacy_loss(record),
            "deployment_model": _model(record),
            "accounting": _accounting(record),
            "implementation": _implementation(record),
            "administrative": _administrative(record, link),
        },
    }


def _basic(record: RegisteredStudy) -> dict[str, object]:
    content = record.content
    published = [publication.published_on for publication in record.published]
    first_day = min(published, default=record.plans[-1].opened_on)
    labels = ", ".join(question.label for question in content.questions)
    return {
        "name": content.title,
        "data_curators": [content.organisation],
        "intended_use": content.purpose,
        "data_product_type": "Summary statistics",
        "data_product_region": "Not stated by the study",
        "description": f"Statistics of a survey with {len(content.questions)} questions: {labels}.",
        "publication_date": first_day.isoformat(),
    }


def _privacy_loss(record: RegisteredStudy) -> dict[str, object]:
    content = record.content
    # What readers of everything that may ever be published can learn. The schema asks for numbers.
    parameters = {"epsilon": float(record.cap.epsilon)}
    if not (budget := record.account.budget).is_pure:
        parameters |= {"delta": float(record.cap.delta), "rho": float(budget.cap_in("ρ"))}
    return {
        "privacy_unit": UNITS.get(content.unit, content.unit),
        "privacy_unit_details": f"{DIFFER if content.n_is_public else ONE_MORE} "
        f"({content.neighbours}).",
        "privacy_parameters": parameters,
        "privacy_parameters_details": _parameters_details(record),
    }


def _parameters_details(record: RegisteredStudy) -> str:
    spent = f"ε {shown(record.spent.epsilon)}"
    if record.spent.delta:
        spent += f" at δ = {float(record.spent.delta):g}"
    so_far = (
        f"The parameters are the cap of all publications together, for good; {spent} is spent so "
        "far."
    )
    if record.cleartext and not record.changes_answers:
        return f"{so_far} Whoever runs the site receives the answers themselves: local ε = ∞."
    together = f"one person's answers {WAVES.get(record.waves, f'in all {record.waves} waves')}"
    local = (
        f"Towards whoever sees every message, {together} have a local ε of {record.device_epsilon}"
    )
    if record.cleartext:
        return (
            f"{so_far} {local} as far as they are changed; those sent as given have a local ε of ∞."
        )
    if record.may_repeat:
        return (
            f"{so_far} {local}, where each was drawn anew; devices that keep their key repeat the "
            "draw of an unchanged answer, so that whether it changed has no ε."
        )
    return f"{so_far} {local}, which readers of the publications cannot pass either."


def _model(record: RegisteredStudy) -> dict[str, object]:
    rule = record.content.publication
    when = RULES[rule.rule].format(hours=rule.hours, horizon=rule.horizon)
    return {
        "model_name": _model_name(record),
        "model_name_details": f"{_protections(record)} Chance is added once more to everything "
        f"that is published.",
        "actors": "Respondents trust the script that their browser runs, whose hashes are "
        "published. Who runs the site "
        "sees messages as they are sent. Readers see publications only and need not be trusted.",
        "release_type": "One release"
        if rule.rule == "when-closed" and record.account.count < 2
        else "Many releases",
        "release_type_details": f"{when} {_spending(record)}",
        "data_source_type": "Dynamic" if record.plan.is_open else "Static",
        "access_type": "Interactive" if rule.rule == "on-request" else "Non-interactive",
        "access_type_details": "Researchers with an account may ask for further statistics after "
        "the study's own; each "
        "is charged to the same cap, which holds for all of them together.",
    }


def _model_name(record: RegisteredStudy) -> str:
    """Say “Local” only where the loss that is stated, the cap, holds towards whoever runs the
    site too.
    """
    if record.cleartext and not record.changes_answers:
        return "Central"
    return (
        "Varies" if record.cleartext or epsilon_above(record.loss) > record.cap.epsilon else "Local"
    )


def _protections(record: RegisteredStudy) -> str:
    everything = len(record.questions)
    given = sum(question.is_cleartext for question in record.content.questions)
    counts = {PROTECTED: everything - given, GIVEN: given}
    return " ".join(
        text.format(count=count, all=everything) for text, count in counts.items() if count
    )


def _spending(record: RegisteredStudy) -> str:
    """Say cap, burn rate and end: the schema has no keys for them."""
    account, study = record.account, record.study
    sign = account.measure
    if study.retired_on:
        ends = f"It was retired on {study.retired_on}."
    elif study.retires_on:
        ends = f"It ends on {study.retires_on} in any case."
    else:
        ends = "It has no other end."
    budget = account.budget
    signs = "ερ" if budget.is_either else budget.measure
    cap = " or ".join(f"{each} {written(budget.cap_in(each))}" for each in signs)
    if not budget.is_pure:
        cap += f" and δ {written(budget.delta)}"
    left = record.days_left
    days = "" if left is None else f" At this rate the rest lasts {left} day{'s' * (left != 1)}."
    return (
        f"Cap: {cap}. Spent: {sign} {written(account.amount_spent)}. "
        f"Burn rate: {sign} {record.per_week} a week.{days} No refreshment: when the cap is "
        f"reached, nothing is "
        f"published again and all messages are erased. {ends}"
    )


def _accounting(record: RegisteredStudy) -> dict[str, object]:
    budget = record.account.budget
    sums = "Σε" if budget.is_pure else "Σρ and Σδ"
    if budget.is_either:
        sums = "Σε, or on Σρ and Σδ,"
    theorems = "; ".join(f"{name}: ε {epsilon}" for name, epsilon in record.accountants)
    return {
        "post_processing": "Debiasing by the plan's exact odds, confidence intervals, shares cut "
        "to 0 to 100 % for "
        "display beside the uncut estimates. All of it from published counts, at no further loss.",
        "composition": f"Sequential, by a filter on {sums} that holds for releases chosen after "
        f"seeing earlier ones. "
        f"Spent so far by other theorems, at δ = {float(record.compared.delta):g}: {theorems}.",
    }


def _implementation(record: RegisteredStudy) -> dict[str, object]:
    used = ledger.mechanisms(record.account.budget.pk)
    channels = sorted({channel.kind for channel in record.content.channels.values()})
    local = ""
    if channels:
        local = f"On the device: {', '.join(channels)} (randomised response from whole numbers). "
    return {
        "preprocessing_and_hyperparameter_tuning": "None on the data: odds, cap and rule are "
        "fixed in the plan before "
        "the first answer.",
        "mechanisms": f"{local}In publications: {'; '.join(used) or 'none yet'}. "
        "Samplers of OpenDP 0.16.0 on integers, scales rounded towards privacy; no floating point "
        "between an answer "
        "and its message.",
        "justification": "Odds are the most precise ones within the study's ε; cost and expected "
        "error were shown "
        "before each choice.",
    }


def _administrative(record: RegisteredStudy, link: Callable[[str], str]) -> dict[str, object]:
    slug = record.study.slug
    return {
        "sources": f"- This entry in full, as JSON: {link(f'/registry/{slug}.json')}\n"
        f"- Page of the study: {link(f'/registry/{slug}/')}\n"
        f"- The frozen plan, SHA-256 {record.plan.digest}: {link(f'/api/v1/studies/{slug}/plan')}\n"
        f"- The ledger of the whole site: {link('/registry/ledger.json')}\n",
        "notes": f"Written by the site itself on {record.now.date()} from the study's plan and "
        f"ledger.",
        "registry_authors": [record.content.organisation],
    }
