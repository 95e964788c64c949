"""Why a row of an XLSForm cannot be taken, and what to do instead."""

from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.drafting.columns import NEAR

METADATA = {
    *("start", "end", "today", "deviceid", "device id", "subscriberid", "simserial", "phonenumber", "phone number"),
    *("username", "email", "audit", "start-geopoint", "background-audio", "background-geopoint", "imei", "uuid"),
    *("start time", "end time", "get today", "get start time", "get end time", "get device id", "get subscriber id"),
    *("get sim id", "get phone number", "subscriber id", "sim id", "sim serial"),
}
METADATA_REASON: Any = gettext_lazy("Left out: it would say who answered, from where or when.")
REPEATED: Any = gettext_lazy("Questions are not repeated: how often would tell who answered. Ask each once.")
COMPUTED: Any = gettext_lazy("Nothing is computed from answers: take this column out, or ask in another way.")
OTHER: Any = gettext_lazy(
    "“Other” with words of one’s own cannot be protected. Put “Something else” among the choices instead."
)
DATE: Any = gettext_lazy(
    "A day is too exact to protect well. Ask for the month (appearance month-year), or offer ranges as choices."
)
CONDITION: Any = gettext_lazy(
    "Only ${question} = 'answer' and selected(${question}, 'answer') can be kept, joined by “or” for one question."
)
ASKED_OF_ALL: Any = gettext_lazy(
    "Asked of everybody, with “Does not apply” among the answers, unless “Texts and terms” says that questions are "
    "passed over."
)
TEXT: Any = gettext_lazy(
    "A text in the respondent’s own words cannot be protected: chance would make it unreadable, and unchanged it "
    "tells who wrote it. Offer choices instead (select_one), with “Something else” among them."
)
DECIMAL: Any = gettext_lazy("Numbers are whole: ask in a smaller unit (integer), or offer ranges as choices.")
PLACE: Any = gettext_lazy("A place tells who answered. Offer regions as choices instead.")
RECORDING: Any = gettext_lazy("A picture, sound or file that respondents send cannot be protected. Leave it out.")
RANKED: Any = gettext_lazy("Ranks cannot be asked. Ask for the first choice (select_one).")
DAYTIME: Any = gettext_lazy("A time of day cannot be asked. Offer parts of the day as choices.")
CALCULATED: Any = gettext_lazy("Nothing is computed from answers. Take this row out.")
LIMITED: Any = gettext_lazy("Only numbers and months have limits. Take this out, or offer other choices.")
PIPED: Any = gettext_lazy("An answer cannot be shown in another question’s text: take ${…} out.")
READ_ONLY: Any = gettext_lazy("What is only to be read is a note: write “note” as its type.")
INSIDE: Any = gettext_lazy("It stands in a group that cannot be taken.")
BEFORE: Any = gettext_lazy("It belongs to the question after it, which cannot be taken.")
LONELY: Any = gettext_lazy("Left out: no question follows it.")
CONDITIONAL: Any = gettext_lazy("It has a condition that the next question does not have: it would be shown to all.")
REQUIRED: Any = gettext_lazy(
    "Every question has to be answered here. Offer “Prefer not to say” instead: write yes under rr::decline."
)
FETCHED: Any = gettext_lazy(
    "Choices from another file cannot be frozen with the form. Put them into the sheet “choices”."
)
BY_KIND: dict[str, Any] = {
    "text": TEXT,
    "string": TEXT,
    "barcode": TEXT,
    "decimal": DECIMAL,
    "geopoint": PLACE,
    "geotrace": PLACE,
    "geoshape": PLACE,
    "gps": PLACE,
    "location": PLACE,
    "image": RECORDING,
    "photo": RECORDING,
    "audio": RECORDING,
    "video": RECORDING,
    "file": RECORDING,
    "rank": RANKED,
    "time": DAYTIME,
    "datetime": DAYTIME,
    "calculate": CALCULATED,
    "hidden": CALCULATED,
    "osm": PLACE,
    "select_one_external": FETCHED,
    "select_one_from_file": FETCHED,
    "select_multiple_from_file": FETCHED,
    "xml-external": FETCHED,
    "csv-external": FETCHED,
}
TAKEN = {"select_one", "select_multiple", "integer", "int", "range", "date", "note", "begin group", "end group"}


def reason_for(whole: str) -> str:
    """Return why a type cannot be taken, or nothing if it can."""
    words = whole.lower().replace("_", " ").split()
    if "_".join(words) in TAKEN or "_".join(words[:2]) in ("select_one", "select_multiple"):
        return ""
    for kind in ("_".join(words[:count]) for count in (4, 3, 2, 1)):  # the longest name that is known
        if kind in BY_KIND:
            return str(BY_KIND[kind])
    return _unknown(words, whole)


def _unknown(words: list[str], whole: str) -> str:
    """Say that nobody knows this type, and which one may have been meant."""
    said = {"type": whole[:40]}
    known = {kind.replace("_", " "): kind for kind in sorted(TAKEN | BY_KIND.keys())}
    for count in (2, 1, 3):
        rest = " ".join(words[count:])
        if near := get_close_matches(" ".join(words[:count]), known, 1, NEAR):
            said["meant"] = f"{known[near[0]]} {rest[:40]}".strip()
            return _("There is no type “%(type)s”. Did you mean “%(meant)s”?") % said
    return _("There is no type “%(type)s” that could be asked here.") % said
