"""The forms that take a workbook, and what travels with the page that refuses one: all of it that could be taken.

It is signed and stored nowhere, so that the file is not asked for twice and nothing is imported by halves.
"""

from decimal import Decimal
from typing import Any

from django import forms
from django.core import signing
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.drafting import xlsform
from surveys.drafting.forms import Marked

SALT = "surveys.drafting.rest"
SECONDS = 86_400  # for which such a page can be used


def sealed(found: xlsform.Found) -> str:
    """Return what was found as a page carries it."""
    epsilons = [{**each, "epsilon": str(each["epsilon"])} if "epsilon" in each else each for each in found.questions]
    remarks = [(remark.where, remark.text) for remark in found.remarks]
    content = [found.title, found.texts, epsilons, found.translations, remarks]
    return signing.dumps(content, salt=SALT, compress=True)


def unsealed(text: str) -> xlsform.Found | None:
    """Return what a page carried; None if it is too old, or none of ours."""
    try:
        title, texts, questions, translations, remarks = signing.loads(text, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    asked = [{**each, "epsilon": Decimal(each["epsilon"])} if "epsilon" in each else each for each in questions]
    said = [xlsform.Remark(*remark) for remark in remarks]
    return xlsform.Found(title, texts, asked, translations, remarks=said)


class ImportForm(Marked, forms.Form):
    """A workbook; or what of one that was refused can be taken, as the page that listed its problems carried it."""

    file = forms.FileField(
        label=gettext_lazy("XLSForm"),
        help_text=gettext_lazy("A workbook (.xlsx or .xls) as survey tools write it, up to 2 MB."),
        required=False,
    )
    rest = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("file") and not cleaned.get("rest"):
            self.add_error("file", _("Choose a file."))
        if cleaned.get("rest") and (found := unsealed(cleaned["rest"])) is not None:
            cleaned["rest"] = found
        elif cleaned.get("rest"):
            self.add_error("file", _("The page is too old: choose the file again."))
        return cleaned

    def found(self) -> xlsform.Found:
        """Return what is to be imported: of a file, or what was left of one."""
        upload, rest = self.cleaned_data["file"], self.cleaned_data["rest"]
        found: xlsform.Found = xlsform.read(upload) if upload else rest
        return found


class FromFileForm(ImportForm):
    """A workbook to make a study of, and what other programs' forms do not say."""

    organisation = forms.CharField(label=gettext_lazy("Who asks"), max_length=120, required=False)
    purpose = forms.CharField(
        label=gettext_lazy("Why, in a sentence or two"),
        max_length=600,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    contact = forms.EmailField(label=gettext_lazy("Whom to write to"), required=False)

    def texts_with(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return the study's texts: the file's, and what is typed here where it says nothing."""
        texts = {name: told.get(name) or self.cleaned_data[name] for name in ("organisation", "purpose", "contact")}
        for name, said in texts.items():
            if not said:
                self.add_error(name, _("The file does not say this: write it here."))
        return {**told, **texts}
