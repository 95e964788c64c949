"""Files to take along: what is in them, and that what other programs read back is what was
published.
"""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas
import pyreadstat
import pytest
from django.test import Client
from pyarrow import parquet

from surveys.design.models import Plan
from surveys.people import services as people
from surveys.people.models import User
from surveys.plan.content import PlanQuestion
from surveys.releases import selectors as releases
from surveys.releases.numbers import (
    Figure,
    MeanFigure,
    NoiseLaw,
    QuartileFigure,
    QuestionNumbers,
    RangeFigure,
    Row,
    Table,
)
from surveys.results import exports
from surveys.results.exports import FORMATS
from surveys.results.exports.labelled import MAX_VALUE_LABEL, NOTE, cut, notes
from surveys.results.exports.rows import (
    COLUMNS,
    ExportRow,
    estimated,
    question_rows,
    table_row,
)
from surveys.spreadsheets import quoted_lines
from tests.surveys.results import small
from tests.surveys.results.small import NOW, answer, open_small, publish

pytestmark = pytest.mark.django_db
CHARGED = "0.702375829"  # of the 0.75 that a publication may cost, less what reports share
EXPORT = "/studies/small/export."


def published_choices(plan: Plan) -> list[dict[str, Any]]:
    numbers = releases.by_rule_of(plan.study)[0].numbers
    return [choice for question in numbers["questions"] for choice in question["choices"]]


def read_sav(client: Client, folder: Path, address: str = f"{EXPORT}sav") -> tuple[Any, Any]:
    response = client.get(address)
    assert response.status_code == 200
    path = folder / "read.sav"
    path.write_bytes(response.content)
    return pyreadstat.read_sav(str(path))


def test_spss_reads_every_released_number_with_its_interval(
    member: Client, published: Plan, tmp_path: Path
) -> None:
    frame, _ = read_sav(member, tmp_path)
    choices = published_choices(published)
    assert len(frame) == len(choices) == 7
    for row, choice in zip(frame.to_dict("records"), choices, strict=True):
        assert row["estimate"] == pytest.approx(100 * choice["estimate"])
        assert [row["low"], row["high"]] == pytest.approx([100 * end for end in choice["interval"]])
        assert row["variance_device"] == pytest.approx(1e4 * choice["variance"]["device"])
        assert row["noisy_count"] == choice["noisy_count"]


def test_spss_shows_words_for_every_variable_and_every_code(
    member: Client, published: Plan, tmp_path: Path
) -> None:
    frame, meta = read_sav(member, tmp_path)
    assert all(meta.column_names_to_labels[name] for name in frame.columns)
    assert meta.variable_value_labels["item"][1001] == "Moon: Yes"
    assert meta.variable_value_labels["item"][2004] == "Cheese: Strongly agree"
    assert meta.variable_value_labels["question"][1] == "Have you been to the Moon?"
    assert set(frame["item"]) == set(meta.variable_value_labels["item"])
    assert meta.file_label == "A small study"
    assert meta.variable_measure["estimate"] == "scale"
    assert meta.variable_measure["item"] == "nominal"


def test_spss_holds_the_methods_in_its_notes(
    member: Client, published: Plan, tmp_path: Path
) -> None:
    _, meta = read_sav(member, tmp_path)
    said = "".join("".join(line.split()) for line in meta.notes)
    section = member.get("/studies/small/methods/?plain=section").content.decode()
    assert said == "".join(section.split())
    assert published.digest in said


def test_dates_arrive_in_spss_as_dates(member: Client, published: Plan, tmp_path: Path) -> None:
    frame, _ = read_sav(member, tmp_path)
    assert str(frame["published_on"][0])[:10] == "2026-05-11"


def test_stata_reads_every_released_number_and_shows_its_words(
    member: Client, published: Plan, tmp_path: Path
) -> None:
    response = member.get(f"{EXPORT}dta")
    assert response.headers["Content-Disposition"] == 'attachment; filename="small.dta"'
    path = tmp_path / "read.dta"
    path.write_bytes(response.content)
    frame, meta = pyreadstat.read_dta(str(path))
    assert list(frame["estimate"]) == pytest.approx(
        [100 * choice["estimate"] for choice in published_choices(published)]
    )
    assert set(frame["item"]) == set(meta.variable_value_labels["item"])
    assert meta.variable_value_labels["item"][2004] == "Cheese: Strongly agree"
    assert meta.variable_value_labels["question"][1] == "Have you been to the Moon?"
    assert meta.column_names_to_labels["low"] == "Lower end of the 95 percent interval"
    assert meta.file_label == "A small study"
    assert set(frame["mechanism"]) == {"discrete Laplace, 2 tallies; 120 reports"}
    assert {str(day)[:10] for day in frame["published_on"]} == {"2026-05-11"}


def test_the_results_page_links_every_format(member: Client, published: Plan) -> None:
    page = member.get("/studies/small/").content.decode()
    for suffix, format in FORMATS.items():
        assert f'href="{EXPORT}{suffix}?release=' in page
        assert f"{format.title}</a>" in page


def test_a_site_without_the_packages_says_so_and_offers_the_rest(
    member: Client, published: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "find_spec", lambda package: None)
    page = " ".join(member.get("/studies/small/").content.decode().split())
    assert "This site writes no files of SPSS, Stata." in page
    assert f"{EXPORT}sav" not in page
    assert f"{EXPORT}csv" in page
    assert member.get(f"{EXPORT}sav").status_code == 404


def test_parquet_has_the_mechanism_in_its_metadata(member: Client, published: Plan) -> None:
    table = parquet.read_table(io.BytesIO(member.get(f"{EXPORT}parquet").content))
    metadata = table.schema.metadata
    assert metadata[b"plan"].decode() == published.document
    assert metadata[b"plan_sha256"].decode() == published.digest
    assert b"discrete Laplace" in metadata[b"methods"]
    assert table.column_names == list(COLUMNS)
    assert table["estimate"].to_pylist() == [
        100 * choice["estimate"] for choice in published_choices(published)
    ]
    assert table.schema.field("estimate").metadata[b"label"].startswith(b"Estimate")


def test_csv_says_the_mechanism_on_every_line(member: Client, published: Plan) -> None:
    rows = list(csv.DictReader(io.StringIO(member.get(f"{EXPORT}csv").content.decode())))
    assert {row["mechanism"] for row in rows} == {"discrete Laplace, 2 tallies; 120 reports"}
    assert {row["charge_epsilon"] for row in rows} == {CHARGED}
    assert {row["plan"] for row in rows} == {published.digest}
    assert [float(row["odds_own"]) for row in rows[:2]] == pytest.approx([0.731, 0.731], abs=0.001)


def test_words_that_programs_take_for_nothing_are_quoted_and_named_in_the_codebook(
    member: Client, published: Plan
) -> None:
    """“None” is an answer of the demo: pandas and R read it as missing."""
    assert quoted_lines(["label", "n"], [["None", 3], ["NA", None], ["", -1.5], ['“a" b', 2]]) == (
        '"label","n"\r\n"None",3\r\n"NA",\r\n,-1.5\r\n"“a"" b",2\r\n'
    )
    text = member.get(f"{EXPORT}csv").content.decode()
    assert text.startswith('"study","wave"')
    frame = pandas.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [str(each) for each in frame["label"]] == [row["label"] for row in rows]
    assert frame["estimate"].dtype == frame["step"].dtype == float
    codebook = json.loads(member.get(f"{EXPORT}json").content)["reading"]
    assert 'keep_default_na=False, na_values=[""]' in codebook
    assert "na.strings" in member.get("/studies/small/").content.decode()


@pytest.mark.parametrize("words", [["None", "NA", "nan", "null"]])
def test_an_answer_that_reads_like_nothing_comes_back_as_it_was(words: list[str]) -> None:
    text = quoted_lines(["answer", "people"], [[word, 4] for word in words])
    frame = pandas.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    assert list(frame["answer"]) == words


def test_what_was_charged_is_a_number_in_parquet(member: Client, published: Plan) -> None:
    table = parquet.read_table(io.BytesIO(member.get(f"{EXPORT}parquet").content))
    assert [str(table.schema.field(f"charge_{sign}").type) for sign in ("epsilon", "rho")] == [
        "double",
        "double",
    ]
    assert set(table["charge_epsilon"].to_pylist()) == {float(CHARGED)}


def test_stata_holds_the_methods_in_its_notes(
    member: Client, published: Plan, tmp_path: Path
) -> None:
    path = tmp_path / "read.dta"
    path.write_bytes(member.get(f"{EXPORT}dta").content)
    frame, found = pyreadstat.read_dta(str(path))
    said = " ".join(found.notes)
    assert "discrete Laplace, 2 tallies" in said
    assert "Ye, M., & Barg, A." in said
    assert len(frame) > 3
    assert found.column_names_to_labels["estimate"].startswith("Estimate")
    again = pandas.read_stata(path, convert_categoricals=False)  # by the map of its sections
    assert list(again["estimate"]) == list(frame["estimate"])
    with pandas.io.stata.StataReader(path) as reader:
        assert reader.value_labels()


def test_json_has_the_plan_and_the_methods_beside_its_rows(member: Client, published: Plan) -> None:
    document = json.loads(member.get(f"{EXPORT}json").content)
    assert document["plan"] == json.loads(published.document)
    assert document["methods"].count("Ye, M., & Barg, A.") == 1
    assert len(document["rows"]) == 7


def test_columns_are_named_in_the_readers_language(published: Plan, member: Client) -> None:
    """A label that was put into words as the program started would be English for everybody."""
    response = member.get(f"{EXPORT}json", headers={"Accept-Language": "zh-hans"})
    assert json.loads(response.content)["columns"]["wave"] == "轮次"


def test_one_release_can_be_taken_alone(member: Client, published: Plan) -> None:
    row = releases.by_rule_of(published.study)[0].entry.number
    response = member.get(f"{EXPORT}csv?release={row}")
    assert response.headers["Content-Disposition"] == f'attachment; filename="small-{row}.csv"'
    assert member.get(f"{EXPORT}csv?release=77").status_code == 404
    assert member.get(f"{EXPORT}xlsx").status_code == 404


@pytest.mark.parametrize("suffix", FORMATS)
def test_nothing_published_makes_a_file_without_lines(
    member: Client, plan: Plan, suffix: str
) -> None:
    answer(plan, 40)
    response = member.get(f"{EXPORT}{suffix}")
    assert response.status_code == 200
    if suffix == "json":
        assert json.loads(response.content)["rows"] == []


def test_files_are_for_those_who_may_read(
    client: Client, outsider: Client, published: Plan
) -> None:
    assert outsider.get(f"{EXPORT}csv").status_code == 404
    client.logout()
    assert client.get(f"{EXPORT}csv").headers["Location"].startswith("/accounts/login/")
    assert client.get("/results/small/export.csv").status_code == 404


def test_public_files_are_for_everyone_and_set_no_cookie(client: Client, db: None) -> None:
    plan = open_small(results="public")
    answer(plan)
    publish(plan)
    response = client.get("/results/small/export.csv")
    assert response.status_code == 200
    assert not response.cookies


def test_no_line_of_a_note_is_longer_than_spss_holds_in_any_language() -> None:
    text = "回答在发送之前由受访者的浏览器按概率改变。" * 12 + "\n\n" + "word " * 100
    found = notes(text)
    assert max(len(line.encode()) for line in found) <= NOTE
    assert "".join("".join(found).split()) == "".join(text.split())


def test_long_choices_are_cut_to_whole_letters() -> None:
    short = cut("选" * 100, MAX_VALUE_LABEL)
    assert len(short.encode()) <= MAX_VALUE_LABEL
    assert short == "选" * 39 + "…"


def test_lines_of_a_note_are_filled_and_no_word_stands_alone() -> None:
    text = "the answers were changed by chance with ε = 1 an answer, so that nobody can tell; " * 8
    found = notes(text)
    assert all(len(line.encode()) > NOTE - 12 for line in found[:-1])
    assert " ".join(found).split() == text.split()


def test_charges_are_numbers_in_spss(member: Client, published: Plan, tmp_path: Path) -> None:
    frame, meta = read_sav(member, tmp_path)
    assert set(frame["charge_epsilon"]) == {float(CHARGED)}
    assert meta.variable_measure["charge_rho"] == "scale"


BLANK = ExportRow(
    study="small",
    wave=1,
    release=1,
    step=None,
    published_on=NOW.date(),
    kind="shares",
    n=120,
    mechanism="",
    sensitivity="",
    charge_epsilon="0.75",
    charge_rho="None",
    neighbours="change-one",
    privacy_unit="respondent-in-wave",
    plan="",
)


def test_a_value_that_is_a_word_stands_in_its_line() -> None:
    line = table_row(Table("Most common", []), Row("1.", "Some college"), BLANK)
    assert line.label == "1.: Some college"
    assert line.estimate is None
    assert table_row(Table("Mean", []), Row("Mean", 3), BLANK).label == "Mean"


def test_a_month_is_a_year_and_words_and_never_a_count_of_months() -> None:
    """24273.87 is October 2022: 2022.82."""
    ends: dict[str, Any] = {"interval": [24270.0, 24279.0], "standard_error": 2.4}
    numbers = QuestionNumbers(
        name="since",
        mechanism=NoiseLaw(name="", scale=1.0),
        as_precise_as=None,
        is_month=True,
        mean=MeanFigure(estimate=24273.87, **ends),
        quartiles=[QuartileFigure(part=50, estimate=24273, **ends)],
        ranges=[RangeFigure(least=24264, most=24275, estimate=0.25, **ends)],
    )
    question = PlanQuestion(
        name="since",
        kind="month",
        protection="publication",
        label="Since",
        text="Since when?",
        help="",
        choices=[],
        decline=0,
    )
    lines = {line.label: line for line in question_rows(question, numbers, BLANK)}
    assert list(lines) == [
        "January 2022 to December 2022",
        "50% are at most this: October 2022",
        "mean: October 2022",
    ]
    mean = lines["mean: October 2022"]
    assert (mean.estimate, mean.low, mean.high) == pytest.approx((2022.8225, 2022.5, 2023.25))
    assert (mean.standard_error, mean.unit) == (pytest.approx(0.2), "year")


@pytest.mark.parametrize(
    "sampling", [None, 0.0], ids=["as it is drawn now", "as it was drawn once"]
)
@pytest.mark.parametrize(
    ("device", "where"), [(4e-4, "variance_device"), (0.0, "variance_publication")]
)
def test_a_variance_that_cannot_be_told_apart_is_empty_with_a_note(
    sampling: float | None, device: float, where: str
) -> None:
    def row(sampling: float | None) -> ExportRow:
        variance = {"sampling": sampling, "device": device, "publication": 1e-4}
        ends: dict[str, Any] = {"interval": [-0.05, 0.03], "standard_error": 0.02}
        return estimated(Figure(estimate=-0.01, variance=variance, **ends).scaled(100), BLANK)

    untold = row(sampling)
    assert (untold.variance_sampling, untold.variance_publication) == (None, pytest.approx(1))
    assert untold.note.endswith(f"both are in {where}")
    assert row(1e-4).note == ""


def test_a_choice_takes_its_own_code_into_files(
    client: Client, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(small.QUESTIONS[0], "codes", "8\n-9")
    plan = small.open_small()
    small.answer(plan)
    small.publish(plan)
    people.share(study=plan.study, user=researcher)
    client.force_login(researcher)
    rows = list(csv.DictReader(io.StringIO(client.get(f"{EXPORT}csv").content.decode())))
    codes = [(row["choice"], row["code"]) for row in rows if row["question"] == "moon"]
    assert codes == [("0", "8"), ("1", "-9")]
    assert {row["code"] for row in rows if row["question"] == "agree"} == {""}
