"""How many numbers have been published about how few people."""

import pytest
from django.test import Client

from surveys.design import services as design
from surveys.releases.reconstruction import Crowding, crowding_of
from tests.html import one_line
from tests.surveys.results import kinds
from tests.surveys.results.small import NOW, answer, close, open_small, publish


@pytest.mark.parametrize(
    ("numbers", "people", "is_near"),
    [
        (0, 0, False),
        (0, 100, False),
        (49, 100, False),
        (50, 100, True),
        (300, 100, True),
        (1, 0, True),
    ],
)
def test_half_a_number_a_person_is_near(numbers: int, people: int, is_near: bool) -> None:
    assert Crowding(numbers, people, is_of_reports=True).is_near is is_near


def test_errors_of_the_root_of_n_are_what_it_cannot_get_over() -> None:
    assert Crowding(1, 400, is_of_reports=False).root == 20


@pytest.mark.django_db
def test_numbers_and_people_of_a_wave_are_counted() -> None:
    plan = open_small()
    answer(plan)
    assert crowding_of(plan) == Crowding(0, 120, is_of_reports=True)
    publish(plan)
    assert crowding_of(plan).numbers == 7  # yes, no, and five steps of liking
    assert crowding_of(plan, 6) == Crowding(13, 120, is_of_reports=True)


@pytest.mark.django_db
def test_another_waves_numbers_are_not_about_these_people() -> None:
    first = open_small(waves=2, draws="kept")
    answer(first)
    publish(first)
    close(first)
    design.begin_wave(study_id=first.study_id)
    second = design.open_study(why="A test.", study_id=first.study_id, who="ada", now=NOW)
    assert crowding_of(second) == Crowding(0, 0, is_of_reports=True)
    assert crowding_of(first).numbers == 7


@pytest.mark.django_db
def test_answers_sent_as_given_are_more_than_reports() -> None:
    assert not crowding_of(kinds.mixed()).is_of_reports


@pytest.mark.django_db
def test_the_registry_says_how_many_and_warns_when_they_are_many(client: Client) -> None:
    plan = open_small()
    answer(plan)
    publish(plan)
    page = one_line(client.get("/registry/small/").content.decode())
    assert "7 numbers on 120 people" in page
    assert "Many numbers about few people" not in page


@pytest.mark.django_db
def test_the_registry_warns_where_numbers_are_many(client: Client) -> None:
    kinds.plain()  # seven numbers about a dozen people
    page = one_line(client.get("/registry/small/").content.decode())
    assert "About<b>7 numbers on 12 people</b>have been published about this wave" in page
    assert "Responses are randomised on the device" in page
    assert "ask for less" not in page
    assert "nearly all answers that are not randomised" not in page
