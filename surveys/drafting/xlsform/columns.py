"""What every column of an XLSForm is here: kept, refused, or left out and said; and which one
was meant.
"""

import re
from difflib import get_close_matches
from functools import lru_cache

from django.conf.locale import LANG_INFO
from django.utils.translation import gettext as _

from surveys import languages
from surveys.drafting.xlsform.markup import plain
from surveys.drafting.xlsform.workbooks import Row

# What languages are called, in English and in their own words; and as some files have them.
LANGUAGES = {
    info[key].lower(): tag
    for tag, info in LANG_INFO.items()
    for key in ("name", "name_local")
    if key in info
} | {
    "eng": "en",
    "zh": "zh-hans",
    "zh-cn": "zh-hans",
    "chinese": "zh-hans",
    "中文": "zh-hans",
    "zh-tw": "zh-hant",
    "zh-hk": "zh-hant",
}
TRADITIONAL = {"traditional", "hant", "tw", "hk", "繁體", "繁体", "繁體中文", "繁体中文"}
TRANSLATED = {
    "label",
    "hint",
    "rr::label",
    "rr::unit",
    "rr::title",
    "rr::organisation",
    "rr::purpose",
}
KEPT = {
    "survey": {
        "type",
        "name",
        "label",
        "hint",
        "relevant",
        "constraint",
        "required",
        "appearance",
        "parameters",
        "disabled",
        "rr::epsilon",
        "rr::protection",
        "rr::wanted",
        "rr::codes",
        "rr::decline",
        "rr::label",
        "rr::unit",
        "rr::together",
        "rr::drawn_in",
        "rr::matters",
    },
    "choices": {"list_name", "name", "label"},
    "settings": {
        "form_title",
        "default_language",
        "rr::title",
        "rr::organisation",
        "rr::purpose",
        "rr::contact",
        "rr::follow_ups",
        "rr::asked",
    },
}
MEANT = {
    "calculation",
    "choice_filter",
    "repeat_count",
    "trigger",
    "intent",
    "read_only",
}  # without it the form is another
PYXFORM = {  # the columns that pyxform knows by several names
    "survey": {
        "appearance",
        "audio",
        "autoplay",
        "big-image",
        "body",
        "calculate",
        "calculation",
        "caption",
        "command",
        "compact_tag",
        "constraining_message",
        "constraint",
        "constraint_message",
        "count",
        "image",
        "jr:count",
        "no_app_error_string",
        "noapperrorstring",
        "read_only",
        "readonly",
        "relevance",
        "relevant",
        "repeat_count",
        "required",
        "required_message",
        "requiredmsg",
        "rows",
        "save_to",
        "sms_allow_media",
        "sms_date_format",
        "sms_datetime_format",
        "sms_field",
        "sms_option",
        "sms_response",
        "sms_separator",
        "tag",
        "value",
        "video",
    },
    "choices": {
        "audio",
        "big-image",
        "caption",
        "image",
        "list_name",
        "value",
        "video",
    },
}
OTHERS = {  # beside what pyxform knows
    "survey": {
        "media",
        "bind",
        "control",
        "body",
        "instance",
        "default",
        "guidance_hint",
        "note",
        "comment",
        "comments",
        "description",
        "index",
        "section",
        "group",
        "order",
    },
    "choices": {
        "media",
        "geometry",
        "filter",
        "order",
        "note",
        "comment",
        "comments",
    },
    "settings": {
        "form_id",
        "id_string",
        "version",
        "style",
        "name",
        "instance_name",
        "instance_id",
        "public_key",
        "prefix",
        "submission_url",
        "auto_send",
        "auto_delete",
        "allow_choice_duplicates",
        "namespaces",
        "sms_keyword",
        "sms_separator",
        "attribute",
        "delimiter",
        "clean_text_values",
        "client_editable",
        "omit_instanceid",
    },
}
SCORES = "scores"  # wanted of a scale: the mean of its points; else how often each is chosen
YES, NO = ("yes", "true", "true()", "1"), ("no", "false", "false()", "0")
NEAR = 0.75  # of difflib's ratio, from which on a column or a type was meant by what stands there


def stem(head: str) -> str:
    """Return a column's name without its language: rr::unit of rr::unit::zh-hans, label of
    label::English (en).
    """
    parts = head.split("::")
    return "::".join(parts[:2] if parts[0] == "rr" else parts[:1])


@lru_cache(maxsize=1000)  # of one file (reader.py)
def code_of(name: str) -> str:
    """Return the tag of a language that a column names: “English (en)”, “Chinese (zh)”, “中文”;
    nothing if the form has no words in it.
    """
    tag = tag_of(name)
    return tag if languages.words_of(tag) else ""


def tag_of(name: str) -> str:
    """Return the tag of what a column names, as it stands where it is none."""
    lower = name.strip().lower()
    inside = re.search(r"[(\uff08]([^)\uff09]+)[)\uff09]\s*$", lower)
    words = [inside[1].strip()] if inside else []
    words += [lower, re.split(r"[(\uff08]", lower)[0].strip()]
    if TRADITIONAL & {part for word in words for part in (word, *word.split())}:
        return "zh-hant"
    named = (LANGUAGES.get(word) or (languages.TAG.fullmatch(word) and word) for word in words)
    return next(filter(None, named), lower)


def no_words_in(name: str) -> str:
    """Return why a language is left out."""
    return _("Left out. %(problem)s") % {"problem": languages.problem(tag_of(name))}


def texts_of(row: Row, column: str, language: str) -> dict[str, str]:
    """Return what a column says in each of our languages; without a language it is the form's
    own.
    """
    texts: dict[str, str] = {}
    for head, cell in row.items():
        if stem(head) == column and (code := language_in(head, language)):
            texts.setdefault(code, plain(cell).text)
    return texts


def language_in(head: str, language: str) -> str:
    """Return the language of a column, nothing if it is none of ours."""
    name = head.removeprefix(stem(head)).removeprefix("::")
    return code_of(name) if name else language


def doubled(row: Row, language: str) -> list[str]:
    """Return the columns that say what another one has said in the same language, in other
    words.
    """
    first: dict[tuple[str, str], str] = {}
    heads = []
    for head, cell in row.items():
        code = language_in(head, language) if stem(head) in TRANSLATED else ""
        if code and first.setdefault((stem(head), code), cell) != cell:
            heads.append(head)
    return heads


def meant(sheet: str, head: str) -> str:
    """Return the column of ours that was meant by one that is nobody's; nothing if there is
    none.
    """
    first, standard = stem(head), PYXFORM.get(sheet, set()) | OTHERS[sheet]
    if first in KEPT[sheet] | MEANT or (first in standard and f"rr::{first}" not in KEPT[sheet]):
        return ""
    names = {name.removeprefix("rr::"): name for name in sorted(KEPT[sheet] | MEANT, reverse=True)}
    near = get_close_matches(first.lower().removeprefix("rr::"), names, 1, NEAR)
    return names[near[0]] if near else ""


def is_used(sheet: str, head: str, language: str) -> bool:
    """Tell whether what a column says is taken, or would have to be."""
    if stem(head) in TRANSLATED and not language_in(head, language):
        return False
    return stem(head) in KEPT[sheet] | MEANT


def left_out(sheet: str, head: str) -> str:
    """Return why a column is not taken; nothing if it is."""
    first = stem(head)
    if first in KEPT[sheet]:
        if first in TRANSLATED and not language_in(head, "en"):
            return no_words_in(head.removeprefix(first).removeprefix("::"))
        return ""
    return _("Left out: the form has nothing like it.")
