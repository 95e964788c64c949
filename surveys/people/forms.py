"""What people say about themselves, and about who may do what."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.utils.translation import gettext_lazy as _

from surveys.design.models import Study
from surveys.people.models import Membership, Role, User
from surveys.people.wording import ROLE_CHOICES


class AccountForm(forms.ModelForm):
    """How others see somebody, and where a lost password may be mended."""

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")
        labels = {"first_name": _("Given name"), "last_name": _("Family name"), "email": _("E-mail")}
        widgets = {
            "first_name": forms.TextInput({"autocomplete": "given-name"}),
            "last_name": forms.TextInput({"autocomplete": "family-name"}),
            "email": forms.EmailInput({"autocomplete": "email"}),
        }


class PasswordForm(forms.Form):
    """A new password, twice."""

    password1 = forms.CharField(
        label=_("New password"), strip=False, widget=forms.PasswordInput({"autocomplete": "new-password"})
    )
    password2 = forms.CharField(
        label=_("The same once more"), strip=False, widget=forms.PasswordInput({"autocomplete": "new-password"})
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["password1"].help_text = password_validators_help_text_html()

    def clean_password1(self) -> str:
        password: str = self.cleaned_data["password1"]
        validate_password(password, self.user)
        return password

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "password1" in cleaned and cleaned.get("password2") not in (None, cleaned["password1"]):
            self.add_error("password2", _("The two passwords differ: type the same one twice."))
        return cleaned

    def save(self) -> None:
        self.user.set_password(self.cleaned_data["password1"])
        self.user.save(update_fields=["password"])


class MemberForm(forms.Form):
    """Somebody new in a study."""

    name = forms.CharField(
        label=_("Name"),
        max_length=150,
        help_text=_("The name with which they sign in."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=ROLE_CHOICES)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study

    def clean_name(self) -> User:
        """Find the account. Whoever owns a study can try names here, and learns of each whether it is somebody's."""
        user = User.objects.filter(username=self.cleaned_data["name"].strip(), is_active=True).first()
        if user is None:
            raise forms.ValidationError(_("No account has this name. An admin makes accounts."))
        if Membership.objects.filter(study=self.study, user=user).exists():
            raise forms.ValidationError(_("This person is in the study already: change the role in the list."))
        return user


class RoleForm(forms.Form):
    """Another role for somebody in a study."""

    role = forms.ChoiceField(choices=ROLE_CHOICES)

    def role_chosen(self) -> Role:
        return Role(self.cleaned_data["role"])
