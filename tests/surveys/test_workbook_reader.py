"""Workbooks of strangers are read in a process that can do nothing else, and takes little."""

import io
import json
import signal
import struct
import subprocess
import sys
import threading
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook

from surveys import workbook_reader as reader
from surveys.drafting.xlsform import writer
from surveys.workbook_reader import Refusal
from tests.patience import PATIENCE
from tests.surveys.drafting.conftest import client_of

PROGRAM = reader.__file__
HOUSE = Path(PROGRAM).parents[1]


def book(*rows, formats=(), titles=("list",)):
    made, file = Workbook(), io.BytesIO()
    made.active.title = titles[0]
    for row in rows:
        made.active.append(row)
    for at, how in formats:
        made.active[at].number_format = how
    for title in titles[1:]:
        made.create_sheet(title).append(["of", title])
    made.save(file)
    return file.getvalue()


PEOPLE = (["address", "name"], ["a@example.org", "Ada"])


def changed(raw, part, change):
    """Return a workbook one part of which is changed."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(raw)) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == part else content)
    return made.getvalue()


def read(raw, **more):
    return reader.read_workbook(raw, **{"seconds": 10, "columns": 31, **more})


def refusal(raw, **more):
    with pytest.raises(reader.Unreadable) as raised:
        read(raw, **more)
    return raised.value.why


def test_cells_are_texts_as_they_stand_and_as_they_are_shown():
    day = datetime(2026, 3, 1, tzinfo=UTC).replace(tzinfo=None)
    row = ["007", 2, 0.5, 7, 1e20, True, day, " a ", "=1+1", None, "=TRUE()", ""]
    formats = [("B1", "0.00"), ("C1", "0%"), ("D1", "0000"), ("G1", "yyyy-mm-dd")]
    ((at, cells),) = read(book(row, formats=formats))[0].rows
    assert at == 1
    assert cells == [
        "007", "2", "0.5", "7", "100000000000000000000", "TRUE", "2026-03-01", " a ", "=1+1", "",
        "TRUE",
    ]  # fmt: skip
    assert [getattr(cell, "shown", "") for cell in cells[1:4]] == ["2.00", "50%", "0007"]
    assert [isinstance(cell, reader.Formula) for cell in cells[6:9]] == [False, False, True]


def test_rows_keep_their_numbers_and_only_sheets_that_are_named_are_read():
    raw = book(["a"], [], [None], ["b"], titles=("Survey", "other", "choices"))
    found = read(raw, only=("survey", "choices"))
    assert [sheet.title for sheet in found] == ["Survey", "other", "choices"]
    assert found[0].rows == [(1, ["a"]), (4, ["b"])]
    assert found[1].rows == []
    assert found[2].rows == [(1, ["of", "choices"])]
    assert [len(sheet.rows) for sheet in read(raw)] == [2, 0, 0], "else the first"
    assert read(book(["a"]), only=("survey",))[0].rows == [(1, ["a"])], "or the only one"


def repeated(count):
    """Return a workbook that names one sheet so many times."""

    def more(xml):
        start = xml.index(b"<sheet ")
        one = xml[start : xml.index(b"/>", start) + 2]
        return xml.replace(b"</sheets>", one * (count - 1) + b"</sheets>")

    return changed(book(*PEOPLE), "xl/workbook.xml", more)


def test_fifty_sheets_are_read_and_no_more():
    assert len(read(repeated(50))) == 50
    assert refusal(repeated(51)) == Refusal.SHEETS


SHEET = "xl/worksheets/sheet1.xml"
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">%s]>' % b"".join(
    b'<!ENTITY %c "%s">' % (name + 1, b"&%c;" % name * 10) for name in range(97, 110)
)


def before(end, more):
    return lambda: changed(book(*PEOPLE), SHEET, lambda xml: xml.replace(end, more + end, 1))


def strings(count):
    """Return a workbook whose shared texts unpack to much."""
    text = b"<si><t>" + b"x" * 60 + b"</t></si>"
    whole = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    return changed(
        book(*PEOPLE), "xl/sharedStrings.xml", lambda _: whole + text * count + b"</sst>"
    )


def lies():
    """Return an archive whose directory says that a part of thirty million bytes has a hundred."""
    raw = bytearray(changed(book(*PEOPLE), "xl/styles.xml", lambda _: b"\0" * 30 * 2**20))
    at = raw.index(b"xl/styles.xml", raw.index(b"PK\x01\x02")) - 46
    raw[at + 24 : at + 28] = struct.pack("<I", 100)
    return bytes(raw)


ATTACKS = {
    "sheets named again and again": lambda: repeated(20_000),
    "entities": lambda: changed(
        book(*PEOPLE), SHEET, lambda xml: ENTITIES + xml.replace(b"</row>", b"&n;</row>", 1)
    ),
    "shared texts": lambda: strings(2_000_000),
    "one part of many zeros": lambda: changed(
        book(*PEOPLE), "xl/workbook.xml", lambda xml: xml + b" " * 300 * 2**20
    ),
    "one long text": before(b"</t>", b"ab " * 40_000_000),
    "a row far down": lambda: changed(
        book(*PEOPLE), SHEET, lambda xml: xml.replace(b'<row r="2"', b'<row r="900000000"')
    ),
    "cells": before(b"</row>", b"<c><v/></c>" * 2_000_000),
    "empty rows": before(b"</sheetData>", b"<row></row>" * 3_000_000),
    "merges": before(b"</worksheet>", b"<mergeCells>" + b"<m/>" * 3_000_000 + b"</mergeCells>"),
    "a long tag": before(b"<sheetData>", b'<x a="' + b"y" * 20_000_000 + b'"/>'),
    "a long comment": before(b"<sheetData>", b"<!--" + b"y" * 20_000_000 + b"-->"),
    "styles": lambda: changed(
        book(*PEOPLE),
        "xl/styles.xml",
        lambda xml: xml.replace(b"</cellXfs>", b"<xf/>" * 400_000 + b"</cellXfs>"),
    ),
    "a part that lies about its size": lies,
}
MEASURE = f"""
import resource, sys
sys.path.insert(0, {str(HOUSE)!r})
from surveys import workbook_reader as reader
try:
    found = reader.read_workbook(sys.stdin.buffer.read(), seconds=2, columns=31)
    said = str(len(found[0].rows))
except reader.Unreadable as refusal:
    said = refusal.why.name
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(said, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_file_takes_more_memory_or_time_than_it_is_given(attack):
    raw = ATTACKS[attack]()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=raw, capture_output=True, check=True
    )
    said, seconds, memory = done.stdout.split()
    assert float(seconds) < 3.5  # of the processor: those two, and the start
    assert int(memory) <= reader.MEMORY
    assert said in (b"LARGE", b"SHEETS", b"DAMAGED", b"1", b"2")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", Refusal.NONE),
        (b"address\na@example.org\n", Refusal.NONE),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, Refusal.OLD),
        (b"PK\x03\x04 cut short", Refusal.DAMAGED),
        (book(*PEOPLE)[:2000], Refusal.DAMAGED),
    ],
)
def test_a_code_says_why_a_file_is_not_read(raw, why):
    assert refusal(raw) == why


def test_a_sheet_that_says_too_much_for_an_answer_is_refused(monkeypatch):
    rows = [["x" * 30_000] for _ in range(300)]
    assert refusal(book(*rows)) == Refusal.LARGE
    assert len(read(book(*rows[:200]))[0].rows) == 200
    monkeypatch.setattr(reader, "MOST_ANSWERED", 1000)  # of what comes, whoever wrote it
    assert refusal(book(*rows[:1])) == Refusal.LARGE


@pytest.mark.parametrize(
    "written",
    [b"", b"[[", b'"NOTHING"', b"{}", b"[1]", b'[["a", [[1, [[]]]]]]', b'[["a", [[1, 2]]]]'],
)
def test_what_the_program_writes_is_judged_like_a_strangers(monkeypatch, written):
    monkeypatch.setattr(reader, "_run", lambda *asked: written)
    assert refusal(book(*PEOPLE)) == Refusal.LARGE


def within(code):
    """Return what code prints in the program, once it is confined."""
    begin = f"import os, runpy, socket, sys; program = runpy.run_path({PROGRAM!r})\n"
    begin += "program['_load'](); program['_confine'](5)\n"
    done = subprocess.run(
        [sys.executable, "-I", "-c", begin + code], capture_output=True, text=True, env={}
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "act",
    [
        "open('/etc/hostname')",
        "socket.socket()",
        "bytearray(300 * 2**20)",
        "os.pipe()",
    ],
)
def test_the_program_can_open_and_take_nothing(act):
    code = f"try: {act}; print('could')\nexcept (OSError, MemoryError): print('could not')"
    assert within(code) == "could not"


def test_the_program_ends_when_its_time_of_the_processor_is_over():
    code = f"import runpy; runpy.run_path({PROGRAM!r})['_confine'](1)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-I", "-c", code], timeout=PATIENCE, check=False)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_the_program_has_nothing_of_the_site(monkeypatch, tmp_path):
    """Neither its environment nor its modules, nor descriptors beyond the three."""
    monkeypatch.setenv("SECRET_KEY", "a secret of the site")
    told = (
        "import json, os, sys\n"
        "print(json.dumps([dict(os.environ), [m for m in sys.modules if 'django' in m or "
        "m.startswith('surveys')], os.listdir('/proc/self/fd'), os.getcwd(), sys.flags.isolated]))"
    )
    program = tmp_path / "program.py"
    program.write_text(told)
    monkeypatch.setattr(reader, "__file__", str(program))
    environment, modules, descriptors, folder, isolated = json.loads(reader._run(b"", "{}", 20))
    assert not environment.keys() & {"SECRET_KEY", "DJANGO_SETTINGS_MODULE", "PATH"}
    assert modules == []
    assert set(descriptors) <= {"0", "1", "2", "3"}  # the last is of the listing itself
    assert (folder, isolated) == ("/", 1)


def test_what_hangs_is_ended(monkeypatch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(reader, "__file__", str(program))
    assert reader._run(b"x" * 2**20, "{}", 0.5) == b""


def test_two_are_read_at_once_and_the_third_is_asked_to_come_again(db, monkeypatch):
    begun, goes_on = threading.Semaphore(0), threading.Event()

    def slow(*_asked):
        begun.release()
        assert goes_on.wait(60)
        return b"[]"

    monkeypatch.setattr(reader, "_run", slow)
    threads = [threading.Thread(target=read, args=(book(*PEOPLE),)) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert begun.acquire(timeout=60)
    try:
        file = SimpleUploadedFile("form.xlsx", writer.example())
        page = client_of("ada").post("/studies/new/", {"way": "file", "file": file})
        assert page.status_code == 503
        assert int(page["Retry-After"]) > 0
        assert "Go back and retry in 15 seconds" in page.content.decode()
    finally:
        goes_on.set()
        for thread in threads:
            thread.join()
    monkeypatch.undo()
    assert read(book(*PEOPLE)), "their places are free again"
