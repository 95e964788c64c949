"""Publications: found by the key that pages and files call them by, and as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import Http404

from surveys.releases.models import Release, Step
from surveys.releases.numbers import Numbers
from surveys.releases.selectors import Publication
from surveys.results.questions import ResultBlock, blocks_of, results_of
from surveys.results.tables import NumberTable


def key_of(release: Release | Step) -> str:
    """Return its number in the study, and which refresh it is if there are several: 3, or 3.12."""
    row = str(release.entry.number)
    return f"{row}.{release.number}" if isinstance(release, Step) else row


def chosen(by_rule: Sequence[Release | Step], key: str | None) -> Release | Step | None:
    """Return the release of this key, the newest if none is named; or raise Http404."""
    matching = [release for release in by_rule if key is None or key_of(release) == key]
    if key is not None and not matching:
        raise Http404("no release has this number")
    return matching[0] if matching else None


def narrowed_to(publications: Sequence[Publication], key: str) -> Publication:
    """Return the publication of this key, of one refresh if it is named; or raise Http404."""
    for publication in publications:
        if str(publication.number) == key:
            return publication
        for step in publication.steps:
            if key_of(step) == key:
                return replace(publication, steps=(step,))
    raise Http404("no release has this number")


@dataclass(frozen=True, slots=True)
class PublishedNumbers:
    """The numbers of a release, or of one step of a series."""

    content: Numbers
    step: Step | None
    tables: list[NumberTable]
    blocks: list[ResultBlock]  # where they are shares of answers, which have pictures of their own

    @property
    def made_up(self) -> int:
        """Return how many made-up people a synthetic set holds, 0 where there is none."""
        return sum(int(row[-1]) for row in self.content.people)


def shown_of(publication: Publication) -> list[PublishedNumbers]:
    """Return the numbers of a release, or those of all steps of a series, newest first."""
    shown = []
    for release in reversed(publication.drawn):
        content, results = publication.query.shown(release.content), results_of(release)
        tables = [] if results else [NumberTable.of(table) for table in content.tables]
        step = release if isinstance(release, Step) else None
        shown.append(PublishedNumbers(content, step, tables, blocks_of(results)))
    return shown


def summary_of(publication: Publication) -> str:
    """Return a publication in a list: its only number with its interval, or the first word."""
    newest = publication.drawn[-1] if publication.drawn else None
    tables = newest.content.tables if newest and not results_of(newest) else []
    row = NumberTable.of(tables[0]).one if tables else None
    if row is None:
        return ""
    return f"{row.value} ({row.interval})" if row.interval else row.value
