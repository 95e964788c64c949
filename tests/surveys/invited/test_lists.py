"""Lists as people have them: what is read, and every problem by its row and column."""

import io
import time
from pathlib import Path

import pytest
from openpyxl import Workbook

from surveys.invited import lists


def read(text, encoding="utf-8"):
    return lists.read_file(text.encode(encoding), ["en", "zh-hans"])


def problems(found):
    return [(each.row, each.column, each.text) for each in found.remarks]


def book(*rows):
    own, file = Workbook(), io.BytesIO()
    for row in rows:
        own.active.append(row)
    own.save(file)
    return file.getvalue()


def test_a_file_is_read_with_the_columns_that_letters_need():
    found = read(
        "E-mail;Name;Language;Stratum;Room no\nada@example.org;Ada L.;EN;Law;7\n\nbo@example.org\n"
    )
    assert problems(found) == []
    ada, bo = found.entries
    assert (ada.address, ada.name, ada.language) == ("ada@example.org", "Ada L.", "en")
    assert (ada.stratum, ada.columns, ada.row) == ("Law", {"room_no": "7"}, 2)
    assert (bo.address, bo.stratum, bo.row) == ("bo@example.org", "", 4)


def test_heads_may_be_the_words_of_the_chinese_page():
    (ada,) = read("邮箱,姓名,语言,分组\nada@example.org,Ada L.,en,Law\n").entries
    assert (ada.name, ada.language, ada.stratum, ada.columns) == ("Ada L.", "en", "Law", {})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_spreadsheets_write(encoding):
    found = read("address,name\na@example.org,李雷\n", encoding)
    assert [each.name for each in found.entries] == ["李雷"]


def test_a_wrong_encoding_is_told_with_its_row_and_others_are_offered_by_name():
    raw = "address,name\na@x.org,Ann\nb@x.org,Zoë\n".encode("cp1252")
    found = lists.read_file(raw, ["en"])
    assert problems(found)[0][0] == 3
    assert found.entries == found.rest == []
    assert [(each.value, each.sample) for each in found.encodings] == [("cp1252", "b@x.org,Zoë")]
    found = lists.read_file(raw, ["en"], lists.Told(encoding="cp1252"))
    assert [each.name for each in found.entries] == ["Ann", "Zoë"]


def test_every_problem_is_named_and_none_hides_another():
    found = read(
        "address,name,language\n"
        "ada@example.org,Ada,en\n"
        ",Bo,\n"
        "not an address@,Cy,\n"
        "ADA@example.org ,Ada,\n"
        "d@example.org,Di,fr\n"
        'e@example.org,"=HYPERLINK(""x"")",\n'
    )
    assert [(row, column) for row, column, _ in problems(found)] == [
        (3, "address"),
        (4, "address"),
        (5, "address"),
        (6, "language"),
        (7, "2"),
    ]
    assert "row 2" in problems(found)[2][2]


def test_heads_are_judged_before_anybody():
    assert problems(read("name\nAda\n"))[0][:2] == (1, "")
    assert "name the columns" in problems(read("a@b.org\nc@b.org\n"))[0][2]
    assert "name the columns" in problems(read("+49 170 1234567,Ada\n+49 1,Bo\n"))[0][2]
    assert problems(read("address\n"))[0][:2] == (0, "")
    assert problems(read('address\n"a@b.org\n'))[0][0] > 1


def test_a_list_of_200_000_is_refused_in_seconds():
    began = time.monotonic()
    found = read("address\n" + "".join(f"p{at}@example.org\n" for at in range(200_000)))
    assert found.count == 1
    assert "100,000" in found.remarks[0].text
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("raw", [b"address," + b",".join(b"x%d" % at for at in range(100_000))])
def test_too_many_columns_are_one_problem(raw):
    began = time.process_time()
    found = lists.read_file(raw, ["en"])
    assert problems(found) == [(1, "", "It has more than 100 columns.")]
    assert time.process_time() - began < 20


def test_long_lines_are_read_as_quickly_as_short_ones():
    began = time.process_time()
    lists.read_pasted("x\n" + 20_000 * " " + "b", ["en"])
    assert lists.EMAIL.findall(1_000_000 * "a") == []
    assert lists.EMAIL.findall(200_000 * "a'") == []
    assert time.process_time() - began < 20


def test_addresses_are_found_in_any_text():
    text = "to 'ada@example.org', <o'neill@a.example.org>: +1x.y%z-w@example.co.uk."
    assert lists.EMAIL.findall(text) == [
        "ada@example.org",
        "o'neill@a.example.org",
        "+1x.y%z-w@example.co.uk",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_character_that_no_database_holds_is_refused(encoding):
    rows = "".join(f"p{at}@example.org,A\n" for at in range(400))
    found = read(f"address,stratum\n{rows}z@example.org,A\0B\n", encoding)
    assert problems(found) == [(0, "", "It is neither a CSV file nor an .xlsx workbook.")]
    assert found.entries == []


def test_remarks_stop_but_are_counted():
    found = read("address\n" + "no@\n" * 500)
    assert (len(found.remarks), found.count) == (lists.MAX_REMARKS, 999)  # and 499 doubles


def test_a_workbook_is_read_and_its_formulas_refused():
    raw = book(["address", "name", "size"], ["a@example.org", "Ada", 7.0])
    (ada,) = lists.read_file(raw, ["en"]).entries
    assert (ada.name, ada.columns) == ("Ada", {"size": "7"})
    found = lists.read_file(book(["address", "name"], ["a@example.org", "=1+1"]), ["en"])
    assert problems(found)[0][:2] == (2, "B")
    assert found.remarks[0].where == "Row 2, column “B”"


def test_a_workbook_that_takes_too_much_is_refused_with_the_way_out():
    found = lists.read_file(book(["address"], *[["x" * 30_000]] * 300), ["en"])
    said = "The workbook holds more than a list needs. Save the list as a CSV file."
    assert [text for _, _, text in problems(found)] == [said]


def test_what_is_no_list_is_refused():
    assert lists.read_file(b"PK\x03\x04 not really", ["en"]).count
    assert lists.read_file(b"\x89PNG\0\0", ["en"]).count
    (old,) = lists.read_file(b"\xd0\xcf\x11\xe0" + b"\0" * 600, ["en"]).remarks
    assert "Save it as .xlsx" in old.text
    assert lists.read_file(b"x" * (lists.MAX_FILE_BYTES + 1), ["en"]).count


def test_pasted_lines_are_addresses_or_a_table():
    found = lists.read_pasted('Ada L. <ada@example.org>\n\n"Bo" <bo@example.org>\n', ["en"])
    assert [(each.name, each.address) for each in found.entries] == [
        ("Ada L.", "ada@example.org"),
        ("Bo", "bo@example.org"),
    ]
    found = lists.read_pasted("address\tname\na@example.org\tAda", ["en"])
    assert found.entries[0].name == "Ada"


CASES = Path(__file__).parents[2] / "data" / "cases" / "lists"


def case(name, **told):
    (path,) = CASES.glob(f"{name}*")
    return lists.read_file(path.read_bytes(), ["en", "zh-hans"], lists.Told(**told))


def people(found):
    return [(each.address, each.name) for each in found.rest]


ADA = [("ada@example.org", "Ada")]


@pytest.mark.parametrize(
    ("name", "told", "who"),
    [
        ("01", {}, [("anna@example.org", 'Änne Groß, "die" Zweite')]),
        ("02", {"encoding": "cp1252"}, [("juergen@example.org", "Jürgen Müller")]),
        ("06", {}, [("jm@example.org", "Jürgen Müller"), ("an@example.org", "Ana Núñez")]),
        ("08", {"address": 7}, [("ada@example.org", "Ada Lovelace")]),
        ("10", {"address": 1}, [("ada@example.org", "")]),
        ("14", {}, ADA),
        ("17", {}, [("+49 170 1234567", "Ada"), ("0170 7654321", "Bob")]),
        ("20", {"encoding": "gb18030"}, [("ada@example.org", "张伟")]),
        ("22", {}, ADA),
        ("24", {}, [("ada@example.org", "")]),
    ],
)
def test_lists_of_other_programs_are_read_with_what_a_person_says_of_them(name, told, who):
    assert people(case(name, **told)) == who


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("08", ("7", "E-mail 1 - Value", "ada@example.org")),
        ("10", ("1", "email", "ada@example.org")),
    ],
)
def test_where_no_head_or_several_say_which_is_the_address_a_person_does(name, first):
    found = case(name)
    assert found.rest == []
    assert problems(found) == [(1, "", "Say below which column is the address of each person.")]
    assert next((each.value, each.label, each.sample) for each in found.columns) == first


@pytest.mark.parametrize("name", ["02", "20"])
def test_encodings_are_offered_that_the_bytes_can_be_in(name):
    assert {"02": "cp1252", "20": "gb18030"}[name] in [each.value for each in case(name).encodings]
    assert case(name).rest == []


def test_columns_have_names_that_letters_can_say():
    assert case("06").entries[0].columns["abteilung"] == "Süd"
    assert case("24").entries[0].columns == {
        "name_first": "Ada",
        "city_country_zip_region": "London, UK",
    }
    (entry,) = read("address,link,Room,room,1st,-\na@b.org,a,b,c,d,e\n").entries
    assert entry.columns == {
        "link_2": "a", "room": "b", "room_2": "c", "column_5_1st": "d", "column_6": "e",
    }  # fmt: skip


def test_an_address_that_no_letter_reaches_is_named_and_the_rest_can_be_added():
    found = case("12")
    assert [row for row, _column, _text in problems(found)] == [3, 4]
    assert "other letters than a to z" in problems(found)[1][2]
    assert [address for address, _name in people(found)] == [
        "Ada@Example.org",
        "user@bücher.example",
        "o'brien@example.org",
        "first+tag@example.org",
    ]


def test_a_language_that_is_not_asked_keeps_nobody_off_the_rest():
    found = case("06")
    assert [(row, column) for row, column, _text in problems(found)] == [(2, "language")]
    assert [each.language for each in found.rest] == ["", "en"]


def test_a_text_that_a_program_wrote_as_a_formula_is_read_as_the_text():
    (entry,) = read('phone,name\n"=""0170 7654321""",Bob\n').entries
    assert entry.address == "0170 7654321"


def test_utf_16_without_its_mark_is_read():
    found = lists.read_file("address,name\na@example.org,李雷\n".encode("utf-16-le"), ["en"])
    assert [each.name for each in found.entries] == ["李雷"]
