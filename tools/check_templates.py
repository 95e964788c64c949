"""Keep templates readable: no line over 120 characters, few decisions, and no comment over lines.

    python tools/check_templates.py [FOLDER]

What to show is decided in a presenter, where it can be tested; a template may still show a part
or not, at most 8 times in 100 lines over all of them.
"""

import re
import sys
from pathlib import Path

MAX_LENGTH = 120
MAX_IFS_PER_LINE = 0.08
IF = re.compile(r"{%-?\s*if\b")


def problems(folder: Path) -> list[str]:
    """Return what is wrong with the templates below a folder, a line each."""
    found, lines, ifs = [], 0, 0
    for path in sorted(path for path in folder.rglob("*.*") if path.suffix in (".html", ".txt")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            lines, ifs = lines + 1, ifs + len(IF.findall(line))
            if len(line) > MAX_LENGTH:
                found.append(f"{path}:{number}: {len(line)} characters, at most {MAX_LENGTH}")
            if line.count("{#") != line.count("#}"):  # else its words stand on the page
                found.append(f"{path}:{number}: a comment begins and ends on one line")
    if ifs > MAX_IFS_PER_LINE * lines:
        found.append(f"{folder}: {ifs} decisions in {lines} lines, at most {MAX_IFS_PER_LINE} each")
    return found


if __name__ == "__main__":
    lines = problems(Path(*sys.argv[1:] or ["templates"]))
    sys.exit("\n".join(lines) or 0)
