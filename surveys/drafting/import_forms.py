"""The forms that take a workbook, and what travels with the page that refuses one: all of it that
could be taken.

It is signed and stored nowhere, so that the file is not asked for twice and nothing is imported by
halves.
"""

import msgspec
from django import forms
from django.core import signing
from django.utils.translation import gettext as _, gettext_lazy

from surveys.design.sharing import USUAL_EXPECTED
from surveys.drafting.forms import EXPECTED
from surveys.drafting.xlsform import reader

SALT = "surveys.drafting.rest"
SECONDS = 86_400  # for which such a page can be used


class ImportForm(forms.Form):
    """A workbook; or what of one that was refused can be taken, as the page that listed its
    problems carried it.
    """

    file = forms.FileField(
        label=gettext_lazy("XLSForm"),
        help_text=gettext_lazy("A workbook (.xlsx) as survey tools write it, up to 2 MB."),
        required=False,
    )
    rest = forms.CharField(required=False, widget=forms.HiddenInput)
    imported = reader.ImportedForm()  # what is to be imported: of a file, or what was left of one

    def clean(self) -> None:
        upload, rest = self.cleaned_data.get("file"), self.cleaned_data.get("rest")
        if not upload and not rest:
            self.add_error("file", _("Choose a file."))
        if rest:
            try:
                carried = signing.loads(rest, salt=SALT, max_age=SECONDS)
                self.imported = msgspec.convert(carried, reader.ImportedForm)
            except (signing.BadSignature, msgspec.ValidationError):
                self.add_error("file", _("The page is too old: choose the file again."))
        if upload and not self.errors:
            self.imported = reader.read(upload)

    @property
    def text_fields(self) -> list[forms.BoundField]:
        """Return the fields beside the workbook, which a page that was refused sends again."""
        return [field for field in self if field.name not in ("file", "rest")]

    def sealed_rest(self) -> str:
        """Return what could be taken, signed, as a page carries it; nothing if that is nothing."""
        if self.imported.rest is None:
            return ""
        rest = msgspec.to_builtins(self.imported.rest)
        return signing.dumps(rest, salt=SALT, compress=True)


class FromFileForm(ImportForm):
    """A workbook to make a study of, and what other programs' forms do not say."""

    organisation = forms.CharField(
        label=gettext_lazy("Organisation"), max_length=120, required=False
    )
    purpose = forms.CharField(
        label=gettext_lazy("Why, in a sentence or two"),
        max_length=600,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    contact = forms.EmailField(label=gettext_lazy("Contact"), required=False)
    expected = forms.IntegerField(
        label=gettext_lazy("Responses you expect"),
        help_text=EXPECTED,
        min_value=10,
        max_value=10_000_000,
        initial=USUAL_EXPECTED,
        required=False,
    )

    def clean(self) -> None:
        """Ask here for what the file does not say."""
        super().clean()
        if self.errors or self.imported.problems:
            return
        for name in ("organisation", "purpose", "contact"):
            text = self.imported.texts.get(name) or self.cleaned_data[name]
            if not text:
                self.add_error(name, _("The file does not say this: write it here."))
            self.imported.texts[name] = text
