"""No release is made of what is not one, and an archive holds what was committed, with its sums."""

import hashlib
import subprocess
import tarfile

import pytest

from tools.release import BUNDLE, archive, problems


@pytest.mark.parametrize(
    ("version", "changelog", "status", "told"),
    [
        ("0.9.0", "## 0.9.0 (30 November 2026)\n", "", []),
        ("0.9.0", "## 0.9.0\n", "", []),
        ("0.9.0.dev0", "## 0.9.0.dev0\n", "", ["got 0.9.0.dev0"]),
        ("0.9.0", "## Unreleased\n\n### 0.9.0\n", "", ["“## 0.9.0”"]),
        ("0.9.0", "## 0.9.0\n", " M README.md\n", ["README.md"]),
    ],
)
def test_what_is_no_release_is_named(version, changelog, status, told):
    found = problems(version, changelog, status)
    assert len(found) == len(told)
    assert all(part in said for part, said in zip(told, found, strict=True))


def test_an_archive_holds_what_was_committed_and_its_sums_are_true(tmp_path):
    house = tmp_path / "house"
    made = house / BUNDLE
    made.parent.mkdir(parents=True)
    (made.parent / "form.js").write_text("1")
    made.write_text(f"{hashlib.sha256(b'1').hexdigest()}  form/form.js\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "All"]):
        subprocess.run([*git, *words], cwd=house, check=True)
    (house / "not committed").write_text("2")
    path = archive("0.9.0", tmp_path / "release", house)
    with tarfile.open(path) as found:
        names = found.getnames()
        found.extractall(path.parent, filter="data")
    assert f"candor-0.9.0/{BUNDLE}" in names
    assert "candor-0.9.0/not committed" not in names
    sums = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(sums, cwd=path.parent, capture_output=True).returncode == 0
    assert len((path.parent / "SHA256SUMS").read_text().splitlines()) == 2
