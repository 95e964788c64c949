from django.urls import include, path
from django.views.generic import RedirectView

from surveys.people import views

app = [
    path("account/", views.account, name="account"),
    path("account/second-factor/", views.second_factor, name="second-factor"),
    path("account/sessions/end/", views.end_sessions, name="end-sessions"),
    path("account/invitation/", views.invitation, name="invitation"),
    path("account/invitation/<str:token>/", views.invitation_link, name="invitation-link"),
    path("people/", views.accounts, name="accounts"),
    path("people/<int:key>/link/", views.link, name="link"),
    path("people/<int:key>/close/", views.close, name="close"),
    path("studies/<slug:slug>/people/", views.members, name="members"),
    path("studies/<slug:slug>/people/back/", views.put_back, name="member-back"),
    path("studies/<slug:slug>/people/<int:key>/", views.change_role, name="member-role"),
    path("studies/<slug:slug>/people/<int:key>/remove/", views.remove, name="member-remove"),
]

# Before allauth's own: pages that this site has one of, or none. An address of e-mail stands in the
# account.
to_account = RedirectView.as_view(pattern_name="people:account")
instead = [
    path("password/reset/", views.password_reset, name="account_reset_password"),
    path("email/", to_account, name="account_email"),
    path("confirm-email/", to_account, name="account_email_verification_sent"),
    path(
        "confirm-email/<str:key>/",
        RedirectView.as_view(url="/account/"),
        name="account_confirm_email",
    ),
    path("2fa/", to_account, name="mfa_index"),
    path("2fa/webauthn/login/", views.passkey, name="mfa_login_webauthn"),
    path("2fa/webauthn/", to_account, name="mfa_list_webauthn"),
]

urlpatterns = [
    path("", include((app, "people"))),
    path("accounts/", include(instead)),
]
