"""An XLSForm with every kind of question that can be asked, for people to begin from."""

import json
from pathlib import Path

from surveys.drafting import xlsform_out

SHEETS = json.loads((Path(__file__).parent / "example.json").read_text())


def example_workbook() -> bytes:
    """Return it as a workbook."""
    return xlsform_out.written(SHEETS["survey"], SHEETS["choices"], SHEETS["settings"])
