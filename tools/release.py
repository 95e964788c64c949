"""Make the archive of a release, with its sums, of what is committed.

    python tools/release.py

`make release` asks for it last, when tests, the walk and the translations have passed.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import dpengine

HOUSE = Path(__file__).parent.parent
GIT = shutil.which("git") or "git"
BUNDLE = "surveys/intake/static/form/SHA256SUMS"


def problems(version: str, changelog: str, status: str) -> list[str]:
    """Return why no release can be made of this."""
    found = []
    if "dev" in version:
        found.append(f"dpengine/__init__.py: expected the version of a release, got {version}")
    if not any(line.split()[:2] == ["##", version] for line in changelog.splitlines()):
        found.append(f"CHANGELOG.md: expected a section “## {version}”, found none")
    if status:
        found.append(f"expected that all is committed, found changes:\n{status}")
    return found


def archive(version: str, folder: Path, house: Path = HOUSE) -> Path:
    """Write the archive, and beside it SHA256SUMS: its own sum, and those of the form's script and
    style in it, which browsers are served.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = f"candor-{version}"
    path = folder / f"{name}.tar.gz"
    options = ["--format=tar.gz", f"--prefix={name}/", f"--output={path}", "HEAD"]
    subprocess.run([GIT, "archive", *options], cwd=house, check=True)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"]
    for line in (house / BUNDLE).read_text(encoding="utf-8").splitlines():
        digest, served = line.split(maxsplit=1)
        sums.append(f"{digest}  {name}/{Path(BUNDLE).parents[1]}/{served}")
    (folder / "SHA256SUMS").write_text("\n".join([*sums, ""]), encoding="utf-8")
    return path


def main() -> int:
    command = [GIT, "status", "--porcelain"]
    status = subprocess.run(command, cwd=HOUSE, check=True, capture_output=True, text=True).stdout
    changelog = (HOUSE / "CHANGELOG.md").read_text(encoding="utf-8")
    if found := problems(dpengine.__version__, changelog, status):
        print("\n".join(found), file=sys.stderr)
        return 1
    print(archive(dpengine.__version__, HOUSE / "var" / "release"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
