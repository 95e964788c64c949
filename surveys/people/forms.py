"""What people say about themselves, and about who may do what."""

from typing import Any

from django import forms
from django.contrib.auth.forms import SetPasswordMixin
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy as _

from surveys.design.models import Study
from surveys.people.models import ROLE_CHOICES, Membership, Role, User
from surveys.people.services import NoPassword

POWER_CHOICES = [
    ("", _("Researcher")),
    ("admin", _("Study admin")),
    ("site", _("Site admin")),
]


class AccountForm(forms.ModelForm):
    """How others see somebody, and where a lost password may be mended."""

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")
        labels = {
            "first_name": _("Given name"),
            "last_name": _("Family name"),
            "email": _("E-mail"),
        }
        widgets = {
            "first_name": forms.TextInput({"autocomplete": "given-name"}),
            "last_name": forms.TextInput({"autocomplete": "family-name"}),
            "email": forms.EmailInput({"autocomplete": "email"}),
        }


class PasswordForm(SetPasswordMixin, forms.Form):
    """A new password, twice."""

    error_messages = {
        "password_mismatch": _("The two passwords differ: type the same one twice."),
    }
    password1, password2 = SetPasswordMixin.create_password_fields(
        _("New password"), _("Repeat the password")
    )
    password2.help_text = ""
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        max_length=254,
        help_text=_("Your own address: a link for a lost password is sent there."),
        widget=forms.EmailInput({"autocomplete": "email"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean(self) -> dict[str, Any] | None:
        self.validate_password_for_user(self.user, "password1")
        self.validate_passwords()
        return super().clean()


class InviteForm(forms.Form):
    """Somebody new on this site."""

    name = forms.CharField(
        label=_("Name"),
        max_length=150,
        help_text=_("With which they will sign in. It stays."),
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        max_length=254,
        help_text=_("The link is sent there, if this site can send email. They confirm it."),
        widget=forms.EmailInput({"autocomplete": "off"}),
    )
    power = forms.ChoiceField(
        label=_("What they may do"),
        choices=POWER_CHOICES,
        required=False,
        help_text=_(
            "A researcher drafts studies. A study admin also sees all studies, panels and "
            "accounts; a site admin also sets the limits of this site, and invites admins."
        ),
    )

    def __init__(self, *args: Any, may_grant: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_grant:
            self.fields["power"].choices = POWER_CHOICES[:1]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(_("An account has this name already."))
        return name


class MemberForm(forms.Form):
    """Somebody new in a study."""

    name = forms.CharField(
        label=_("Name"),
        max_length=150,
        help_text=_("The name with which they sign in."),
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    role = forms.ChoiceField(label=_("Role"), choices=ROLE_CHOICES)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study

    def clean_name(self) -> User:
        """Find the account. Whoever owns a study can try names here, and learns of each whether
        it is somebody's.
        """
        user = User.objects.filter(
            username=self.cleaned_data["name"].strip(), is_active=True
        ).first()
        if user is None:
            raise forms.ValidationError(_("No account has this name. An admin makes accounts."))
        if Membership.objects.filter(study=self.study, user=user).exists():
            raise forms.ValidationError(
                _("This person is in the study already: change the role in the list.")
            )
        return user

    def clean(self) -> dict[str, Any] | None:
        user, role = self.cleaned_data.get("name"), self.cleaned_data.get("role")
        if user and role == Role.OWNER and not user.has_usable_password():
            self.add_error("name", str(NoPassword(user)))
        return super().clean()
