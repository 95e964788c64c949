"""dpengine is a library of its own: installed without the site, and tested without Django."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import dpengine

HOUSE = Path(__file__).parent.parent
PROJECT = tomllib.loads((HOUSE / "pyproject.toml").read_text())
ALONE = """
import sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("django", "surveys"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Nowhere())
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
SOME = ["test_readme.py", "test_designs.py", "cli/test_privatise.py", "local/test_number.py"]


def test_its_tests_pass_where_there_is_no_django():
    paths = [f"tests/dpengine/{name}" for name in SOME]
    words = [
        "-q",
        "-p",
        "no:django",
        "-p",
        "no:slipcover",
        "-p",
        "no:cacheprovider",
        "-c",
        "tests/dpengine/pytest.ini",
    ]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, *words, *paths],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)


def test_no_test_of_it_imports_the_site():
    for path in (HOUSE / "tests" / "dpengine").rglob("*.py"):
        text = path.read_text()
        assert not re.search(r"^\s*(?:from|import) (?:django|surveys)\b", text, re.M), path


def test_only_dpengine_is_installed_in_one_version():
    assert PROJECT["tool"]["setuptools"]["packages"]["find"] == {"include": ["dpengine*"]}
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "dpengine.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", dpengine.__version__)
    folders = {path.parent for path in (HOUSE / "dpengine").rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_it_needs_two_packages_and_the_site_pins_all_that_it_can_use():
    wanted = PROJECT["project"]["dependencies"]
    assert [re.split("[>=]", each)[0] for each in wanted] == ["numpy", "scipy"]
    extras = PROJECT["project"]["optional-dependencies"]
    wanted += [each for extra in extras.values() for each in extra]
    pins = "".join((HOUSE / f"requirements{more}.in").read_text() for more in ("", "-spss"))
    for each in wanted:
        assert re.search(rf"^{re.split('[>=]', each)[0]}==", pins, re.M), each
