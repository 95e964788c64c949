"""The demo's study with every kind of question, answered and published as the demo does it."""

from surveys.aggregation import services as aggregation
from surveys.demo import services as demo
from surveys.demo.kinds import made_up_people
from surveys.design.models import Plan
from surveys.releases import services as releases
from tests.every_kind import EVERY, EVERY_QUESTIONS
from tests.surveys.results.small import NOW


def publish_every_kind() -> Plan:
    plan, _ = demo.ensure_study({**EVERY, "widest": 100}, EVERY_QUESTIONS, NOW)
    demo.answer_as_browsers(plan, made_up_people()[:300], NOW.date())
    aggregation.sweep_all(today=NOW.date())
    assert releases.publish_if_due(plan=plan, now=NOW) is not None
    return plan
