"""Names for whoever may see them: the ledger and everything public have pseudonyms."""

from collections.abc import Mapping

from django import template

from surveys.people import selectors

register = template.Library()


@register.filter
def known(who: object, names: Mapping[str, str]) -> str:
    """Return the name behind a pseudonym, if the reader may know it (`names`, of every page);
    else what is written.
    """
    return (names or {}).get(str(who), str(who))


@register.filter
def asker(who: object, names: Mapping[str, str]) -> str:
    """Return who asked for a release: what was written before there were pseudonyms is a name,
    and for members only.
    """
    return known(who, names) if names else selectors.public_name(str(who))
