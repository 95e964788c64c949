"""Over time: every release is a point with its own interval, and waves are not joined."""

import datetime
import html
import re
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import translation

from surveys.demo import services as demo
from surveys.design.models import Plan
from surveys.people import services as people
from surveys.people.models import User
from surveys.releases import selectors as releases
from surveys.results.time_series import BEYOND, time_series_of
from tests.surveys.results.small import NOW, QUESTIONS, STUDY, answer, open_small, publish
from tests.surveys.results.views.test_studies import IN_CHINESE

pytestmark = pytest.mark.django_db


@pytest.fixture
def thrice(db: None) -> Plan:
    plan = open_small(cap=Decimal(4))
    for day in range(3):
        answer(plan)
        publish(plan, NOW + datetime.timedelta(hours=25 * day))
    return plan


def test_every_release_is_a_point_with_the_interval_that_was_published(thrice: Plan) -> None:
    published = releases.by_rule_of(thrice.study)
    moon = time_series_of(thrice, published)[0].series[0]
    assert [point.release.content.n for point in moon.points] == [120, 240, 360]
    for point, made in zip(moon.points, reversed(published), strict=True):
        yes = made.numbers["questions"][0]["choices"][1]
        assert point.number.value == pytest.approx(100 * yes["estimate"])
        assert [point.number.low, point.number.high] == pytest.approx(
            [100 * end for end in yes["interval"]]
        )


def test_points_stand_where_their_moments_do(thrice: Plan) -> None:
    moon = time_series_of(thrice, releases.by_rule_of(thrice.study))[0].series[0]
    first, middle, last = (float(point.x[:-1]) for point in moon.points)
    assert middle == pytest.approx((first + last) / 2)


def test_a_picture_shows_little_of_what_cannot_be_and_says_so(thrice: Plan) -> None:
    for question in time_series_of(thrice, releases.by_rule_of(thrice.study)):
        for series in question.series:
            for tick in series.scale.ticks:
                value = float(tick.label.replace("−", "-").rstrip("%"))
                assert -BEYOND <= value <= 100 + BEYOND


def test_the_table_says_what_the_picture_shows(
    outsider: Client, researcher: User, thrice: Plan
) -> None:
    people.share(study=thrice.study, user=researcher)
    page = html.unescape(outsider.get("/studies/small/over-time/").content.decode())
    assert "style=" not in page
    rows = re.findall(r'<a href="../\?release=(\d+)">', page)
    assert len(set(rows)) == 3
    assert "Releases: 3." in page


def test_one_publication_is_no_course(member: Client, published: Plan) -> None:
    assert "No course to show yet" in member.get("/studies/small/over-time/").content.decode()


def test_a_reader_of_another_language_sees_the_same_series(db: None) -> None:
    study, texts = {**STUDY, "cap": Decimal(4)}, {"zh-hans": IN_CHINESE}
    plan, _ = demo.ensure_study(study, QUESTIONS, NOW, translations=texts)
    for day in range(2):
        answer(plan)
        publish(plan, NOW + datetime.timedelta(hours=25 * day))
    with translation.override("zh-hans"):
        questions = time_series_of(plan, releases.by_rule_of(plan.study))
    assert [series.title for series in questions[0].series] == ["是"]
    assert questions[1].series[-1].title == "非常同意"
    assert len(questions[1].series) == 5
