"""The time zones that a study can have, by their names in the IANA database."""

from functools import lru_cache
from zoneinfo import available_timezones

UTC = "UTC"
AREAS = (
    "Africa",
    "America",
    "Antarctica",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


@lru_cache(maxsize=1)
def zones() -> list[str]:
    """Return the names of the zones of places, after UTC."""
    places = [name for name in available_timezones() if name.partition("/")[0] in AREAS]
    return [UTC, *sorted(places)]
