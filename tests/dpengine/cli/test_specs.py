import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine import designs
from dpengine.cli.specs import Imported, parse, parse_asked, split
from dpengine.local.table import Table
from tests.tables import kary

F = Fraction


@pytest.mark.parametrize(
    ("spec", "after_yes", "after_no", "loss"),
    [
        ("direct", F(1), F(0), None),
        ("coin", F(3, 4), F(1, 4), F(3)),
        ("warner:p=3/4", F(3, 4), F(1, 4), F(3)),
        ("forced:p=2/3,yes=1/6,no=1/6", F(5, 6), F(1, 6), F(5)),
        ("forced:p=0.5,yes=0.5,no=0", F(1), F(1, 2), None),
        ("crosswise:p=1/4", F(1, 4), F(3, 4), F(3)),
        ("crosswise:p=.25", F(1, 4), F(3, 4), F(3)),
        ("unrelated:p=1/2,q=1/12", F(13, 24), F(1, 24), F(13)),
        ("disguised:yes=4/5", F(4, 5), F(1, 5), F(4)),
        ("disguised:yes=4/5,no=1/10", F(4, 5), F(1, 10), F(8)),
        ("mangat:p=7/10", F(1), F(3, 10), None),
        ("triangular:p=1/4", F(1), F(1, 4), None),
        ("kuk:p1=4/5,p2=1/5", F(4, 5), F(1, 5), F(4)),
        ("kary:k=2,keep=3/4", F(3, 4), F(1, 4), F(3)),
        ("  Warner : p = 3/4 ", F(3, 4), F(1, 4), F(3)),
    ],
)
def test_a_binary_design_says_yes_as_often_as_its_table_tells(spec, after_yes, after_no, loss):
    design = parse(spec)
    assert isinstance(design, designs.Design)
    assert design.is_binary
    assert design.chances == ((1 - after_no, after_no), (1 - after_yes, after_yes))
    assert design.affine == (after_no, after_yes - after_no)
    assert design.loss == loss
    assert design.epsilon == (None if loss is None else pytest.approx(math.log(loss)))


@pytest.mark.parametrize(
    ("spec", "chances"),
    [
        ("coin", designs.coin()),
        ("warner:p=3/4", designs.warner("3/4")),
        ("forced:p=2/3,yes=1/6,no=1/6", designs.forced("2/3", "1/6", "1/6")),
        ("crosswise:p=1/4", designs.crosswise("1/4")),
        ("unrelated:p=1/2,q=1/12", designs.unrelated("1/2", "1/12")),
        ("disguised:yes=4/5", designs.disguised("4/5")),
        ("disguised:yes=4/5,no=1/10", designs.disguised("4/5", "1/10")),
    ],
)
def test_a_spec_is_the_channel_that_collects_under_its_name(spec, chances):
    assert parse(spec).chances == chances
    assert parse(spec).loss == Table.of(chances).loss


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_k_ary_odds_are_those_that_collect_to_within_rounding(epsilon):
    table, design = kary(7, Decimal(epsilon)), parse(f"kary:k=7,epsilon={epsilon}")
    for row, chances in zip(table.weights, design.chances, strict=True):
        assert [float(chance) for chance in chances] == pytest.approx(
            [w / table.total for w in row], abs=1e-8
        )
    assert sum(design.chances[0]) == 1
    assert design.epsilon == pytest.approx(float(epsilon), abs=1e-12)
    assert table.loss <= design.loss


def test_codes_may_start_at_one():
    assert parse("kary:k=7,epsilon=2").first == 0
    assert parse("kary:k=7,epsilon=2,first=1").first == 1


@pytest.mark.parametrize(
    ("document", "chances"),
    [
        ([[3, 1], [1, 3]], ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))),
        ({"kind": "table", "weights": [[3, 1], [1, 3]]}, ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))),
        ([[0.7, 0.3], [0.1, 0.9]], ((F(7, 10), F(3, 10)), (F(1, 10), F(9, 10)))),
        ([["2/3", "1/3"], [1, 0]], ((F(2, 3), F(1, 3)), (F(1), F(0)))),
        ([[1, 1, 2], [2, 1, 1]], ((F(1, 4), F(1, 4), F(1, 2)), (F(1, 2), F(1, 4), F(1, 4)))),
    ],
)
def test_a_table_is_read_exactly(tmp_path, document, chances):
    path = tmp_path / "table, mine.json"
    path.write_text(json.dumps(document), encoding="utf-8-sig")
    assert parse(f"table:{path}").chances == chances
    assert parse(f"table:{path},first=1").first == 1


def test_a_table_of_floats_may_miss_1_by_their_rounding(tmp_path):
    keep, other = 0.5761168847658291, 0.21194155761708544
    path = tmp_path / "table.json"
    path.write_text(json.dumps([[keep, other, other], [other, keep, other], [other, other, keep]]))
    design = parse(f"table:{path}")
    assert [sum(row) for row in design.chances] == [1, 1, 1]
    assert design.epsilon == pytest.approx(1, abs=1e-12)
    path.write_text("[[0.33333333, 0.66666666], [0.5, 0.5]]")
    with pytest.raises(ValueError, match="rows must add up to 1"):
        parse(f"table:{path}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[[3, 1], [1, 2]]",
            "rows must add up to 1, or be whole numbers with one sum, got sums 4, 3",
        ),
        ("[[0.7, 0.2], [0.1, 0.8]]", "got sums 9/10"),
        ("[[0.7, 0.3], [0.7, 0.3]]", "nothing can be learned"),
        ("[[0, 0], [0, 0]]", "got sums 0"),
        ("[[1, 1]]", "expected two rows or more"),
        ("[3, 1]", "expected two rows or more"),
        ("7", "expected two rows or more"),
        ("[[1, 1], [1]]", "rows must be of one length"),
        ("[[1], [1]]", "rows must be of one length"),
        ("[[1, -1], [0, 0]]", "every cell must be 0 or more, got -1"),
        ("[[1, NaN], [0, 1]]", "every cell must be a number"),
        ("[[1, null], [0, 1]]", "every cell must be a number"),
        ("[[1, {}], [0, 1]]", "every cell must be a number"),
        ("[[true, 0], [0, 1]]", "every cell must be a number"),
        ("[[1, 1e999999], [0, 1]]", "every cell must be a number"),
        ("not json", "must be JSON"),
        ("[" * 100_000, "must be JSON"),
    ],
)
def test_a_table_that_is_no_channel_is_refused(tmp_path, text, words):
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        parse(f"table:{path}")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "design: expected one of affine, .* warner, got ''"),
        ("randomised", "design: expected one of .*, got 'randomised'"),
        ("direct:p=1", "design direct: expected no parts, got 'p' too"),
        ("warner", "design warner: p is missing"),
        ("warner:3/4", "design warner: expected parts such as p=2/3, got '3/4'"),
        ("warner:p=", "expected parts such as p=2/3, got 'p='"),
        ("warner:p=3/4,p=1/4", "p is given twice"),
        ("warner:p=3/4,q=1", "design warner: expected p, got 'q' too"),
        (
            "warner:p=1/2",
            "warner:p=1/2: every report is as likely after each answer: nothing can be learned",
        ),
        ("warner:p=1.5", "design warner: p must be a chance, from 0 to 1, got 3/2"),
        ("warner:p=-1/5", "p must be a chance, from 0 to 1, got -1/5"),
        ("warner:p=nan", "p must be a number such as 2/3 or 0.25, got 'nan'"),
        ("warner:p=1/0", "p must be a number such as 2/3 or 0.25, got '1/0'"),
        ("warner:p=1e-999999999", "p must be a number"),
        ("warner:p=" + "9" * 500, "p must be a number"),
        ("forced:p=2/3,yes=1/6", "design forced: no is missing"),
        ("forced:p=2/3,yes=1/6,no=1/5", "design forced: p \\+ yes \\+ no must be 1, got 31/30"),
        ("forced:p=0,yes=1/2,no=1/2", "nothing can be learned"),
        ("unrelated:p=1/2", "design unrelated: q is missing"),
        ("kary:epsilon=2", "design kary: k is missing"),
        ("kary:k=1,epsilon=2", "design kary: k must be a whole number from 2 to 128, got 1"),
        ("kary:k=2.5,epsilon=2", "k must be a whole number from 2 to 128, got 5/2"),
        ("kary:k=3", "design kary: epsilon is missing"),
        ("kary:k=3,epsilon=0", "design kary: epsilon must be above 0 and at most 20, got 0"),
        ("kary:k=3,epsilon=-1", "epsilon must be above 0"),
        ("kary:k=3,epsilon=nan", "epsilon must be a number"),
        ("kary:k=3,keep=1/3", "nothing can be learned"),
        ("kary:k=3,epsilon=1,keep=1/2", "expected k, first, keep, got 'epsilon' too"),
        ("kary:k=3,epsilon=1,first=2", "first must be a whole number from 0 to 1, got 2"),
        ("kuk:p1=1/2,p2=1/2", "nothing can be learned"),
        ("kuk:p1=1/2,p2=1/4,repeats=0", "repeats must be a whole number from 1 to 100, got 0"),
        ("affine:c0=a", "design affine: c1 is missing"),
        ("sld:group=a", "design sld: p is missing"),
        ("list:treated=t,items=0", "items must be a whole number from 1 to 100, got 0"),
        ("table:", "expected a file, as in table:FILE.json, got nothing"),
        ("table:nowhere.json", "cannot read nowhere.json: No such file"),
        ("table:x.json,first=2", "first must be 0 or 1, got '2'"),
    ],
)
def test_an_error_names_the_part_what_was_expected_and_what_came(spec, words):
    with pytest.raises(ValueError, match=words):
        parse(spec)


def test_columns_and_expressions_are_kept_as_they_were_typed():
    spec = "affine:c0=1-p,c1=2*(p)-1"
    assert parse(spec) == Imported(spec, "affine", {"c0": "1-p", "c1": "2*(p)-1"})
    design = parse("sld:p=odds,group=half")
    assert isinstance(design, Imported)
    assert (design.kind, design.parts) == ("sld", {"p": "odds", "group": "half"})
    assert parse("cdm:p=odds,no=1/10").parts == {"p": "odds", "no": "1/10"}
    assert parse("kuk:p1=4/5,p2=1/5,repeats=3").repeats == 3


def test_commas_in_brackets_and_backticks_do_not_part():
    assert split("a,(b,c),`d,e`,f") == ["a", "(b,c)", "`d,e`", "f"]


def test_a_subset_design_gives_away_its_epsilon():
    design = parse("subset:k=5,size=2,epsilon=1,first=1")
    assert (design.first, design.size, len(design.chances[0])) == (1, 2, 10)
    assert design.epsilon == pytest.approx(1)
    assert parse("subset:k=5,size=1,keep=1/2").chances == parse("kary:k=5,keep=1/2").chances


@pytest.mark.parametrize(
    ("text", "column", "spec"),
    [
        ("drug:coin", "drug", "coin"),
        (" drug :kary:k=3,keep=1/2", "drug", "kary:k=3,keep=1/2"),
        ("`a:b`:coin", "a:b", "coin"),
        ("drug", "drug", None),
    ],
)
def test_a_column_and_how_it_was_asked(text, column, spec):
    asked = parse_asked("--cross", text, is_open=True)
    assert asked.column == column
    assert asked.design == (None if spec is None else parse(spec))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "--predictor: expected COL:SPEC, such as .*, got ''"),
        ("drug", "--predictor: expected COL:SPEC, such as .*, got 'drug'"),
        (":coin", "--predictor: expected COL:SPEC"),
        ("drug:", "--predictor: expected COL:SPEC"),
        ("drug:wrner:p=3/4", "--predictor: design: expected one of .*, got 'wrner'"),
        ("drug:warner:p=2", "--predictor: design warner: p must be a chance"),
        ("drug:sld:p=p", "--predictor: expected a design whose chances are known, got sld"),
        ("drug:subset:k=5,size=5,keep=1/2", "size must be a whole number from 1 to 4, got 5"),
        ("drug:subset:k=40,size=9,keep=1/2", "design subset: k times the sets .* at most 65536"),
    ],
)
def test_a_column_that_is_not_said_how_it_was_asked_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        parse_asked("--predictor", text)
