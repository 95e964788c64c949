"""Find published numbers by the key that pages and files call them by."""

from collections.abc import Sequence
from dataclasses import replace

from django.http import Http404

from surveys.releases.models import Release, Step
from surveys.releases.queries import Publication


def key_of(published: Release | Step) -> str:
    """Return the number that it has in the study, and which refresh it is if there are several: 3, or 3.12."""
    row = str(published.entry.number)
    return f"{row}.{published.number}" if isinstance(published, Step) else row


def chosen(
    published: Sequence[Release | Step], key: str | None, among: Sequence[Publication] = ()
) -> Release | Step | None:
    """Return the release, or refresh, of this key; the newest by the rule if none is named. Http404 if it is not "
    "there."""
    if key is None:
        return published[0] if published else None
    asked = [made for each in among for made in _made(each)]
    for each in (*published, *asked):
        if key_of(each) == key:
            return each
    series = [each for each in among if str(each.number) == key and each.series]
    if series:
        return series[0].steps[-1] if series[0].steps else None
    raise Http404("no release has this number")


def narrowed_to(publications: Sequence[Publication], key: str) -> list[Publication]:
    """Return the publication of this key; of a series whose refresh is named, that refresh alone."""
    row, _, step = key.partition(".")
    found = [each for each in publications if str(each.number) == row]
    if not step:
        return found
    return [replace(each, steps=tuple(made for made in each.steps if str(made.number) == step)) for each in found]


def _made(publication: Publication) -> list[Release | Step]:
    return [publication.release] if publication.release else list(publication.steps)
