import pytest

from surveys.aggregation import services as sweeps
from surveys.api.serializers import _plain
from surveys.design import services as design
from surveys.releases import services as releases
from surveys.releases.models import Release
from tests.surveys.releases.conftest import asked as asked
from tests.surveys.releases.test_asking import SHARES, WATCH

URL = "/api/v1/studies/exam-honesty/releases"


@pytest.fixture
def published(draft, request, now, today):
    def publish(results="public"):
        draft.results = results
        draft.save()
        plan = request.getfixturevalue("answered")(40)
        design.close_plan(plan_id=plan.pk, today=today)
        sweeps.sweep_all(today=today)
        releases.publish_due(now=now)
        return plan

    return publish


def test_a_release_comes_with_method_noise_charge_and_intervals(client, published):
    plan = published()
    found = client.get(URL).json()["releases"][0]
    assert found["plan"] == plan.digest
    assert found["charge"]["epsilon"] == "1"
    assert found["method"]["neighbours"] == "change-one"
    assert found["n"] == 40
    order = "number kind title asked_by parameters plan wave published_on charge method"
    assert list(found)[:10] == order.split()
    assert list(found)[-1] == "in_words"
    assert list(found["charge"]) == ["epsilon", "rho", "delta", "row", "statistic"]
    assert list(found["method"]) == ["name", "sensitivity", "unit", "neighbours"]
    question = found["questions"][0]
    assert question["mechanism"]["name"] == "discrete Laplace"
    assert len(question["choices"][1]["interval"]) == 2


def test_before_anything_is_published_the_list_is_empty(client, plan):
    assert client.get(URL).json() == {"study": "exam-honesty", "releases": []}


def test_results_for_members_are_not_found_by_others(
    client, published, outsider, researcher, admin_user
):
    published(results="members")
    assert client.get(URL).status_code == 404
    client.force_login(outsider)
    assert client.get(URL).status_code == 404
    client.force_login(researcher)
    assert client.get(URL).status_code == 200
    client.force_login(admin_user)
    assert client.get(URL).status_code == 200


def test_a_draft_is_not_found(client, draft):
    assert client.get(URL).status_code == 404


def test_what_was_asked_for_is_listed_with_its_parameters_and_a_series_with_its_steps(
    client, asked, now
):
    for kind, parameters in (("shares", SHARES), ("watch", WATCH)):
        request = releases.ask_for(
            plan=asked, kind=kind, parameters=parameters, who="mira", now=now
        )
        releases.publish(request_id=request.pk, now=now)
    watch, shares = client.get("/api/v1/studies/on-request/releases").json()["releases"]
    assert (shares["kind"], shares["asked_by"], shares["parameters"]["epsilon"]) == (
        "shares",
        "a member of the team",
        "0.5",
    )
    assert shares["tables"][0]["rows"][0]["unit"] == "percent"
    assert [step["step"] for step in watch["steps"]] == [1]
    assert "state" not in watch


def test_a_variance_that_cannot_be_told_apart_is_null_even_if_it_was_drawn_as_0(client, published):
    published()
    numbers = Release.objects.get().numbers
    numbers["questions"][0]["choices"][0]["variance"]["sampling"] = 0.0
    found = _plain(numbers)["questions"][0]["choices"]
    assert found[0]["variance"]["sampling"] is None
    assert (
        found[0]["variance"]["device"]
        == numbers["questions"][0]["choices"][0]["variance"]["device"]
    )
