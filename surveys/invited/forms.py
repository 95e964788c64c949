"""Forms of a list and its letters."""

import base64
import contextlib
import datetime
from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from surveys.invited import letters, lists
from surveys.invited.lists import Found, Told
from surveys.languages import name as language_name

MOST_CARRIED = 1_500_000  # bytes of a file that a page carries


class AddForm(forms.Form):
    """People: a file, lines that were pasted, or a number of people without names."""

    file = forms.FileField(
        label=gettext_lazy("A file"),
        required=False,
        help_text=gettext_lazy(
            "CSV or .xlsx, as your survey tool or address book writes it. The first row names the "
            "columns. Name, language and stratum are used if they are there. Your emails can use "
            "all others."
        ),
    )
    pasted = forms.CharField(
        label=gettext_lazy("Or paste addresses, one a line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )
    count = forms.IntegerField(
        label=gettext_lazy("Or a number of people without names"),
        required=False,
        min_value=1,
        max_value=lists.MAX_PEOPLE,
        help_text=gettext_lazy("For codes that you print and give away yourself."),
    )
    stratum = forms.CharField(
        label=gettext_lazy("Their stratum"), required=False, max_length=lists.MAX_STRATUM
    )

    address = forms.IntegerField(required=False, widget=forms.HiddenInput)
    encoding = forms.CharField(required=False, widget=forms.HiddenInput)
    # a file that was sent before, so that it is not asked for twice
    carried = forms.CharField(required=False, widget=forms.HiddenInput)
    rest = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, languages: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.languages = languages
        self.found = Found()
        self.raw = b""

    @property
    def asked(self) -> list[forms.BoundField]:
        """Return the fields that are asked in every case."""
        return [self[name] for name in ("file", "pasted", "count", "stratum")]

    @property
    def is_carried(self) -> bool:
        return 0 < len(self.raw) <= MOST_CARRIED

    @property
    def carried_file(self) -> str:
        """Return the file as the page carries it; nothing of one that is too large."""
        return base64.b64encode(self.raw).decode() if self.is_carried else ""

    def clean(self) -> None:
        file, pasted = self.cleaned_data.get("file"), self.cleaned_data.get("pasted", "")
        if self.errors:
            return
        given = [name for name in ("file", "pasted", "count") if self.cleaned_data.get(name)]
        told = Told(self.cleaned_data["address"] or 0, self.cleaned_data["encoding"])
        if not given and self.cleaned_data["carried"]:
            with contextlib.suppress(ValueError):
                self.raw = base64.b64decode(self.cleaned_data["carried"], validate=True)
            self.found = lists.read_file(self.raw, self.languages, told)
        elif len(given) != 1:
            self.add_error(
                None, _("Upload a file, paste a list, or enter how many people: one of these.")
            )
        elif file:
            self.raw = file.read(lists.MAX_FILE_BYTES + 1)
            self.found = lists.read_file(self.raw, self.languages, told)
        elif pasted:
            self.found = lists.read_pasted(pasted, self.languages, told)


class ReturnedForm(forms.Form):
    """Addresses to which letters could not be delivered, in whatever text they stand."""

    file = forms.FileField(label=gettext_lazy("Messages that came back, or a list"), required=False)
    pasted = forms.CharField(
        label=gettext_lazy("Or paste the addresses"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # it stands beside an AddForm
        super().__init__(*args, **kwargs | {"auto_id": "returned_%s"})

    def addresses(self) -> set[str]:
        """Return every e-mail address in what was given."""
        file = self.cleaned_data.get("file")
        raw = file.read(lists.MAX_FILE_BYTES).decode("utf-8", "replace") if file else ""
        return set(lists.EMAIL.findall(raw + "\n" + self.cleaned_data.get("pasted", "")))


class LetterForm(forms.Form):
    """A letter in each language of the study, and its day."""

    day = forms.DateField(
        label=gettext_lazy("Day"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=gettext_lazy("Today: at once. Later: from 07:00 UTC on."),
    )

    def __init__(
        self,
        *args: Any,
        languages: list[str],
        columns: set[str],
        today: datetime.date,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.languages, self.columns, self.today = languages, columns, today
        for code in languages:
            name = language_name(code) if len(languages) > 1 else ""
            of = f" ({name})" if name else ""
            self.fields[f"subject_{code}"] = forms.CharField(
                label=_("Subject") + of, max_length=letters.MAX_SUBJECT
            )
            self.fields[f"text_{code}"] = forms.CharField(
                label=_("Text") + of,
                max_length=letters.MAX_TEXT,
                widget=forms.Textarea(attrs={"rows": 16}),
            )

    def clean_day(self) -> datetime.date:
        day: datetime.date = self.cleaned_data["day"]
        if day < self.today:
            raise forms.ValidationError(_("This day has passed."))
        return day

    def clean(self) -> None:
        for code in self.languages:
            subject = self.cleaned_data.get(f"subject_{code}", "")
            text = self.cleaned_data.get(f"text_{code}", "")
            if subject and text and (wrong := problem_of(subject, text, self.columns)):
                self.add_error(f"text_{code}", wrong)

    @property
    def texts(self) -> dict[str, dict[str, str]]:
        return {
            code: {
                "subject": " ".join(self.cleaned_data[f"subject_{code}"].split()),
                "text": self.cleaned_data[f"text_{code}"].replace("\0", "").replace("\r\n", "\n"),
            }
            for code in self.languages
        }


class EraseForm(forms.Form):
    day = forms.DateField(
        label=gettext_lazy("Erase the list on"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=gettext_lazy(
            "Leave empty to delete it when the study ends. No email can be sent after it."
        ),
    )


def problem_of(subject: str, text: str, columns: Iterable[str]) -> str:
    """Return why a letter cannot go out, or nothing."""
    known = letters.OWN | set(columns)
    for part in (subject, text):
        for hole in letters.HOLE.findall(part):
            if hole not in known:
                told = _("There is no column {%(hole)s}. The columns are: %(known)s.")
                names = ", ".join(f"{{{name}}}" for name in sorted(known))
                return told % {"hole": hole, "known": names}
    if letters.HOLE.findall(text).count("link") != 1 or "link" in letters.HOLE.findall(subject):
        return _("{link} must appear once in the text: it is each person’s own.")
    return ""
