"""What is taken out of an environment: nothing that a program reads."""

import ctypes
import shutil
import sys

import pytest
from opendp._lib import lib_path

from tools.slim import drop_symbols, main


def test_tests_sources_bytecode_and_other_languages_go_and_the_rest_stays(tmp_path):
    gone = [
        "package/tests/test_it.py",
        "package/part/__pycache__/it.pyc",
        "package/locale/de/LC_MESSAGES/django.mo",
        "package/locale/zh_Hans/LC_MESSAGES/django.po",
        "package/_fast.c",
    ]
    stays = [
        "package/__init__.py",
        "package/test/runner.py",
        "package/locale/en/LC_MESSAGES/django.mo",
        "package/locale/zh_Hans/LC_MESSAGES/django.mo",
        "package/locale/__init__.py",
    ]
    for name in gone + stays:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    main(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(stays)


@pytest.mark.skipif(sys.platform != "linux", reason="ELF is Linux's")
def test_a_library_without_its_symbols_is_shorter_and_still_loads(tmp_path):
    short = tmp_path / "short.so"
    shutil.copy(lib_path, short)
    with short.open("ab") as file:
        file.write(b"names for a debugger" * 1000)
    longer = short.stat()
    drop_symbols(short)
    assert short.stat().st_size <= longer.st_size - 20_000
    assert short.stat().st_mode == longer.st_mode
    assert ctypes.CDLL(str(short)).opendp_core__measurement_invoke


def test_what_is_no_library_is_left_alone(tmp_path):
    text = tmp_path / "linker.so"
    text.write_text("INPUT(libm.so.6)")
    drop_symbols(text)
    assert text.read_text() == "INPUT(libm.so.6)"
