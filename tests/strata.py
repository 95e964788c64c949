"""Studies that ask a list of people in strata, and reports that tickets have let in: neither is
made by its own door here.
"""

import contextlib
import datetime
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from surveys.design import documents
from surveys.design.models import Plan
from surveys.intake.reports import Report
from surveys.intake.services import accept_many
from surveys.plan.content import Invited, PlanContent, Stratum

NAMES = ("Arts", "Law", "Medicine", "Music", "Science", "Sports", "Theology", "Trade")


def of_list(content: PlanContent, people: Sequence[int]) -> PlanContent:
    """Return a Plan that asks a list with so many people in its strata."""
    names = NAMES if len(people) > 1 else ("",)
    strata = [
        Stratum(key=f"c{at:x}" + "0" * 509 + "1", name=names[at], people=many)
        for at, many in enumerate(people)
    ]
    return replace(content, invited=Invited(moments=15, strata=strata))


@contextlib.contextmanager
def asking(people: Sequence[int]) -> Iterator[None]:
    """Have whatever opens meanwhile ask such a list."""
    compose = documents.compose
    with patch.object(
        documents, "compose", lambda study, *_, **__: of_list(compose(study), people)
    ):
        yield


def answer_of(
    plan: Plan, stratum: int | None, truths: Sequence[Mapping[str, Any]], today: datetime.date
) -> None:
    """Take one report for each person of a stratum, as a browser with a ticket sends it."""
    content, reports = plan.content, []
    for person in truths:
        asked = content.sets[content.draw_set()] | content.cleartext.keys()
        sent = content.randomised({name: person[name] for name in person if name in asked})
        report = Report(
            report_id=secrets.token_hex(16),
            values=[sent.get(name) for name in content.reports],
            given={name: sent[name] for name in content.cleartext},
            stratum=stratum,
        )
        reports.append(report)
    accept_many(plan=plan, reports=reports, today=today)
