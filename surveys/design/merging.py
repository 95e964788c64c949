"""Merge what was typed on a page with what others have saved since that page was read.

Of each field there are three values: as it was read, as it is saved now, and as it was typed. What
only one side changed is taken; where both did, and not to the same, the person chooses. A choice is
sent as `take:name`, and a field that waits for one is named in `conflict`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from dpengine.privacy import plain
from surveys.design.models import Revision

MINE, THEIRS = "mine", "theirs"
DELETED = "deleted"  # what is asked of something that is gone
OF_PICTURES = ("picture_file", "drop_picture")  # both say which picture a question has


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that two people have changed: what each wrote, and who saved first."""

    name: str
    label: str
    mine: str
    theirs: str
    save: Revision | None


@dataclass(slots=True)
class Merged:
    """What was typed, with what others saved filled in; and what waits for a choice."""

    data: QueryDict
    conflicts: list[Conflict] = field(default_factory=list)
    is_dropped: bool = False  # somebody deleted it, and it is left so


def merge(
    *,
    read: forms.BaseForm,
    now: forms.BaseForm,
    data: QueryDict,
    files: MultiValueDict[str, Any] | None = None,
    last: Callable[[str], Revision | None],
) -> Merged:
    """Merge what was typed into a form, given that form as it was read and as it is saved now.

    `last`: who saved a field last, by its name.
    """
    merged, waiting = Merged(data.copy()), data.getlist("conflict")
    files = MultiValueDict() if files is None else files
    merged.data.pop("conflict", None)
    for name, own in now.fields.items():
        if own.disabled:
            continue
        typed = own.widget.value_from_datadict(data, files, name)
        old, new = (_value(form, name) for form in (read, now))
        chosen = str(data.get(f"take:{name}", "")) if name in waiting else MINE
        if chosen == THEIRS:
            _fill_in(merged, now[name])
        elif chosen == MINE and _same(old, new):
            continue
        elif chosen == MINE and (name not in read.fields or not _differs(now[name], old, typed)):
            _fill_in(merged, now[name])
        elif _differs(now[name], new, typed):
            texts = {"mine": _text(own, typed), "theirs": _text(own, new)}
            label = str(own.label or name)
            merged.conflicts.append(Conflict(name=name, label=label, save=last(name), **texts))
    return merged


def if_deleted(data: QueryDict, label: str, save: Revision | None) -> Merged:
    """Return what was typed into what somebody has deleted: it is made again only if chosen."""
    merged = Merged(data.copy())
    chosen = data.get(f"take:{DELETED}") if DELETED in data.getlist("conflict") else None
    merged.data.pop("conflict", None)
    merged.is_dropped = chosen == THEIRS
    if chosen not in (MINE, THEIRS):
        texts = {"mine": _("keep it, as it is written below"), "theirs": _("deleted")}
        merged.conflicts.append(Conflict(name=DELETED, label=label, save=save, **texts))
    return merged


def merge_texts(
    *,
    read: Mapping[str, str],
    now: Mapping[str, str],
    data: QueryDict,
    labels: Mapping[str, str],
    save: Revision | None,
) -> Merged:
    """Merge texts that were typed, by their keys, as `merge` does a form's fields."""
    names = {key: forms.CharField(label=label, required=False) for key, label in labels.items()}
    form = type("Texts", (forms.Form,), names)
    return merge(
        read=form(initial=dict(read)),
        now=form(initial=dict(now)),
        data=data,
        last=lambda _name: save,
    )


def _value(form: forms.BaseForm, name: str) -> Any:
    """Return what a form that was not sent has in a field; of a picture, which one it is."""
    if name in OF_PICTURES:
        return getattr(form, "instance").picture_id  # noqa: B009
    return form[name].value() if name in form.fields else None


def _same(old: Any, new: Any) -> bool:
    return bool(old == new or (old in (None, "") and new in (None, "")))


def _differs(bound: forms.BoundField, value: Any, typed: Any) -> bool:
    """Tell whether what was typed is another value; a line may end in either way."""
    if bound.name in OF_PICTURES:
        return bool(typed)
    if isinstance(typed, str) and isinstance(value, str):
        typed, value = ("\n".join(text.split("\r\n")) for text in (typed, value))
    with suppress(forms.ValidationError):
        value = bound.field.to_python(value)  # a form may begin with a number as it is written
    return bool(bound.field.has_changed(value, typed))


def _fill_in(merged: Merged, bound: forms.BoundField) -> None:
    """Put what is saved in a field into what was typed."""
    if isinstance(bound.field, forms.FileField) or bound.name in OF_PICTURES:
        merged.data.pop(bound.name, None)
        return
    value = bound.value()
    if isinstance(bound.field.widget, forms.CheckboxInput):
        merged.data[bound.name] = "on" if value else ""
        return
    typed = bound.field.widget.format_value(value)
    merged.data[bound.name] = (typed[0] if isinstance(typed, list) else typed) or ""


def _text(own: forms.Field, value: Any) -> str:
    """Return a value in the words of its field."""
    if isinstance(own, forms.FileField):
        return _("another picture")
    if isinstance(own, forms.BooleanField):
        return _("ticked") if value else _("not ticked")
    if isinstance(own, forms.ChoiceField):
        shown = {str(key): str(text) for key, text in own.widget.choices}
        return shown.get(str("" if value is None else value), str(value or ""))
    if isinstance(value, Decimal):
        value = plain(value)
    return str("" if value is None else value).strip()
