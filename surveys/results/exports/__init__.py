"""Released numbers to take along, each with the mechanism inside.

A format is its suffix, its media type, what its link says and how it is written, and has a place
in this list: the order of the links.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from django.utils.translation import gettext as _

from surveys.results.exports.labelled import write_spss, write_stata
from surveys.results.exports.plain import write_csv, write_json, write_parquet
from surveys.results.exports.rows import ExportRow
from surveys.results.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    suffix: str
    media_type: str
    program: str  # or the format's own name
    write: Callable[[Metadata, list[ExportRow]], bytes]
    needs: tuple[str, ...] = ()  # packages of requirements-spss.txt: it has labels

    @property
    def is_here(self) -> bool:
        """Tell whether this site has what it is written with."""
        return all(find_spec(package) is not None for package in self.needs)

    @property
    def title(self) -> str:
        """Return what a link to such a file says."""
        labelled = _("%(program)s, with labels") % {"program": self.program}
        return labelled if self.needs else self.program


LABELLED = ("pandas", "pyreadstat")
FORMATS: Mapping[str, Format] = {
    format.suffix: format
    for format in (
        Format("sav", "application/x-spss-sav", "SPSS", write_spss, LABELLED),
        Format("dta", "application/x-stata-dta", "Stata", write_stata, LABELLED),
        Format("csv", "text/csv; charset=utf-8", "CSV", write_csv),
        Format("parquet", "application/vnd.apache.parquet", "Parquet", write_parquet),
        Format("json", "application/json; charset=utf-8", "JSON", write_json),
    )
}


def offered() -> list[Format]:
    """Return the kinds of files that this site can write."""
    return [each for each in FORMATS.values() if each.is_here]


def lacking() -> str:
    """Name the programs for whose files this site lacks a package; nothing if it lacks none."""
    return ", ".join(each.program for each in FORMATS.values() if not each.is_here)
