"""Why a row of an XLSForm cannot be taken, and what to do instead."""

from difflib import get_close_matches

from django.utils.translation import gettext as _, gettext_lazy

from surveys.drafting.xlsform.columns import NEAR

METADATA = {
    "start",
    "end",
    "today",
    "deviceid",
    "device id",
    "subscriberid",
    "simserial",
    "phonenumber",
    "phone number",
    "username",
    "email",
    "audit",
    "start-geopoint",
    "background-audio",
    "background-geopoint",
    "imei",
    "uuid",
    "start time",
    "end time",
    "get today",
    "get start time",
    "get end time",
    "get device id",
    "get subscriber id",
    "get sim id",
    "get phone number",
    "subscriber id",
    "sim id",
    "sim serial",
}
REASONS = (  # types, and why a row of theirs cannot be taken
    (
        (
            "text",
            "string",
            "barcode",
        ),
        gettext_lazy(
            "A text in the respondent’s own words cannot be protected: chance would make it "
            "unreadable, and unchanged it tells who wrote it. Offer choices instead "
            "(select_one), with “Something else” among them."
        ),
    ),
    (
        ("decimal",),
        gettext_lazy(
            "Numbers are whole: ask in a smaller unit (integer), or offer ranges as choices."
        ),
    ),
    (
        (
            "geopoint",
            "geotrace",
            "geoshape",
            "gps",
            "location",
            "osm",
        ),
        gettext_lazy("A place tells who answered. Offer regions as choices instead."),
    ),
    (
        (
            "image",
            "photo",
            "audio",
            "video",
            "file",
        ),
        gettext_lazy(
            "A picture, sound or file that respondents send cannot be protected. Leave it out."
        ),
    ),
    (
        ("rank",),
        gettext_lazy("Ranks cannot be asked. Ask for the first choice (select_one)."),
    ),
    (
        (
            "time",
            "datetime",
        ),
        gettext_lazy("A time of day cannot be asked. Offer parts of the day as choices."),
    ),
    (
        (
            "calculate",
            "hidden",
        ),
        gettext_lazy("Nothing is computed from answers. Take this row out."),
    ),
    (
        (
            "select_one_external",
            "select_one_from_file",
            "select_multiple_from_file",
            "xml-external",
            "csv-external",
        ),
        gettext_lazy(
            "Choices from another file cannot be frozen with the form. Put them into the "
            "sheet “choices”."
        ),
    ),
)
BY_KIND = {kind: reason for kinds, reason in REASONS for kind in kinds}
TAKEN = {
    "select_one",
    "select_multiple",
    "integer",
    "int",
    "range",
    "date",
    "note",
    "begin group",
    "end group",
}


def reason_for(whole: str) -> str:
    """Return why a type cannot be taken, or nothing if it can."""
    words = whole.lower().replace("_", " ").split()
    if "_".join(words) in TAKEN or "_".join(words[:2]) in ("select_one", "select_multiple"):
        return ""
    for kind in (
        "_".join(words[:count]) for count in (4, 3, 2, 1)
    ):  # the longest name that is known
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
            return _("Unknown type “%(type)s”. Did you mean “%(meant)s”?") % said
    return _("The type “%(type)s” cannot be asked here.") % said
