"""One's own account, the link that sets its password, and who may do what in a study."""

from decimal import Decimal
from http import HTTPStatus
from typing import Any, cast

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.views import password_reset as allauth_password_reset
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.views import login_webauthn
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from surveys.actor import actor
from surveys.brakes import Places, place_of
from surveys.design.models import Study
from surveys.people import audit, factors, selectors, services
from surveys.people.forms import AccountForm, InviteForm, MemberForm, PasswordForm
from surveys.people.invitations import NotOpen, holder_of
from surveys.people.models import ROLE_TEXTS, AuditRow, Membership, Right, Role, User

INVITATION = "invitation"  # in the session: the link that was opened
REMOVED = "removed_member"  # in the session: who was removed last, so that it can be undone
ON_A_PAGE = 50
PASSKEYS_AT_ONCE = 1_000  # sign-ins that one network may begin; as many again in ten minutes
PASSKEY_SECONDS = 600  # in which such a sign-in is completed
networks = Places()


@login_required
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Show an account to whom it belongs, and change how others see it."""
    user = cast(User, request.user)
    form = AccountForm(request.POST or None, instance=User.objects.get(pk=user.pk))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            services.change_email(user=user, email=form.cleaned_data["email"], by=user.pseudonym)
            form.save()
        messages.success(request, _("Saved."))
        return redirect("people:account")
    rows = told(AuditRow.objects.filter(whom=user.pseudonym), request)
    return render(request, "people/account.html", {"form": form, "history": rows, **about(user)})


def about(user: User) -> dict[str, Any]:
    """Return what the page says of somebody's second factor and sessions."""
    own = list(Authenticator.objects.filter(user=user).order_by("created_at"))
    codes = next((factor for factor in own if factor.type == factor.Type.RECOVERY_CODES), None)
    return {
        "app": next((factor for factor in own if factor.type == factor.Type.TOTP), None),
        "keys": [factor for factor in own if factor.type == factor.Type.WEBAUTHN],
        "codes": None if codes is None else len(codes.wrap().get_unused_codes()),
        "is_needed": factors.must_show(user),
        "others": len(services.sessions_of(user)) - 1,
    }


def told(rows: QuerySet[AuditRow], request: HttpRequest, slug: str = "") -> list[dict[str, Any]]:
    """Return rows of the audit as pages say them, with the names that the reader may know."""
    names = selectors.names_for(request.user, slug)
    return [{"at": row.at, "said": audit.sentence(row, names)} for row in rows[: audit.SHOWN]]


@login_required
@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Say what a second factor is, and lead to the ways of setting one up."""
    user = cast(User, request.user)
    return render(
        request, "people/second_factor.html", about(user) | {"has_one": factors.has_factor(user)}
    )


@login_required
@require_POST
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out everywhere but here."""
    ended = services.end_other_sessions(
        user=cast(User, request.user), kept=request.session.session_key
    )
    text = ngettext(
        "Signed out in %(n)s other browser.", "Signed out in %(n)s other browsers.", ended
    ) % {"n": ended}
    messages.success(request, text)
    return redirect("people:account")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def accounts(request: HttpRequest) -> HttpResponse:
    """List the accounts of this site, and make one: a link sets its password."""
    user = _admin(request, Right.SEE_ACCOUNTS)
    can_add = selectors.may(user, Right.ADD_ACCOUNTS)
    if request.method == "POST" and not can_add:
        raise PermissionDenied(_("Only admins of this site invite people."))
    form = InviteForm(request.POST or None, may_grant=selectors.may(user, Right.GRANT))
    if request.method == "POST" and form.is_valid():
        made = services.invite(
            username=form.cleaned_data["name"],
            email=form.cleaned_data["email"],
            by=user,
            is_admin=form.cleaned_data["power"] == "admin",
            is_site_admin=form.cleaned_data["power"] == "site",
        )
        return _with_link(request, made)
    page = Paginator(User.objects.order_by("username"), ON_A_PAGE).get_page(request.GET.get("page"))
    rows = [
        {
            "account": each,
            "may_link": selectors.may(user, Right.LINK, each),
            "may_close": selectors.may(user, Right.CLOSE, each),
            "owns": selectors.owns(each),
            "power": selectors.power_of(each),
        }
        for each in page
    ]
    context = {"form": form, "page": page, "rows": rows, "can_add": can_add}
    status = 422 if form.errors else 200
    return render(request, "people/accounts.html", context, status=status)


@login_required
@require_POST
def link(request: HttpRequest, key: int) -> HttpResponse:
    """Make a link that sets an account's password: it stands on this page, and nowhere else."""
    account = _account(request, key)
    if not selectors.may(request.user, Right.LINK, account):
        raise PermissionDenied(
            _(
                "No link is made for this account, because it owns a study and a "
                "link would open the study’s list. Use the account’s own email, "
                "or let another owner add a new account."
            )
        )
    return _with_link(request, account)


@login_required
@require_POST
def close(request: HttpRequest, key: int) -> HttpResponse:
    """Close an account, or open it again."""
    account = _account(request, key)
    if not selectors.may(request.user, Right.CLOSE, account):
        raise PermissionDenied(_("You cannot close this account."))
    services.set_open(
        user=account, is_open=not account.is_active, by=_admin(request, Right.SEE_ACCOUNTS)
    )
    return redirect("people:accounts")


def _with_link(request: HttpRequest, account: User) -> HttpResponse:
    path = services.make_link(user=account, by=actor(request))
    context = {
        "account": account,
        "link": request.build_absolute_uri(path),
        "days": settings.INVITATION_DAYS,
        "sent": services.send_link(account, request.build_absolute_uri(path)),
    }
    return render(request, "people/invited.html", context)


def _admin(request: HttpRequest, right: Right) -> User:
    if not selectors.may(request.user, right):
        raise PermissionDenied(_("Only admins of this site see its accounts."))
    return cast(User, request.user)


def _account(request: HttpRequest, key: int) -> User:
    _admin(request, Right.SEE_ACCOUNTS)
    return get_object_or_404(User, pk=key)


def invitation_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open a link: keep it out of the address of the page that follows, where it could be read
    or passed on.
    """
    try:
        holder_of(token)
    except NotOpen as refusal:
        return not_open(request, refusal)
    request.session[INVITATION] = token
    return redirect("people:invitation")


@never_cache
@sensitive_post_parameters()
def invitation(request: HttpRequest) -> HttpResponse:
    """Set a password by a link that was opened."""
    try:
        user = holder_of(request.session.get(INVITATION, ""))
    except NotOpen as refusal:
        return not_open(request, refusal)
    form = PasswordForm(request.POST or None, user=user, initial={"email": user.email})
    if request.method == "POST" and form.is_valid():
        services.set_password(
            user=user,
            password=form.cleaned_data["password1"],
            email=form.cleaned_data["email"],
        )
        logout(request)  # whoever was signed in here before
        # a password that was just set need not be typed once more; a second factor is asked for
        record_authentication(
            request, user, method="password", username=user.username, reauthenticated=True
        )
        response: HttpResponse = perform_login(request, Login(user=user))
        return response
    return render(request, "people/invitation.html", {"form": form, "holder": user})


def not_open(request: HttpRequest, refusal: NotOpen) -> HttpResponse:
    return render(request, "people/link.html", {"problem": refusal}, status=410)


def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Mend a lost password by a letter, where letters can be sent; else say who can."""
    if not settings.EMAIL_CONFIGURED:
        return render(request, "account/password_reset.html", {"by_admin": True})
    response: HttpResponseBase = allauth_password_reset(request)
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """List the members of a study; an owner adds one."""
    study = get_object_or_404(selectors.studies_of(request.user), slug=slug)
    can_share = selectors.may(request.user, Right.SHARE, study)
    if request.method == "POST" and not can_share:
        raise PermissionDenied(_("Only an owner of this study decides who may do what."))
    form = MemberForm(request.POST or None, study=study, initial={"role": Role.READER})
    if request.method == "POST" and form.is_valid():
        added = services.share(
            study=study,
            user=form.cleaned_data["name"],
            role=Role(form.cleaned_data["role"]),
            by=actor(request),
        )
        messages.success(request, _("%(name)s is in the study now.") % {"name": added.user})
        return redirect("people:members", slug)
    used = selectors.used_by(study)
    page = Paginator(selectors.members(study), ON_A_PAGE).get_page(request.GET.get("page"))
    rows = [
        (member, ROLE_TEXTS[Role(member.role)].name, _used(used, member.user)) for member in page
    ]
    context = {
        "study": study,
        "form": form,
        "page": page,
        "members": rows,
        "can_share": can_share,
        "measure": selectors.measure(study),
        "roles": ROLE_TEXTS,
        "removed": _removed(request, study),
        "history": told(audit.rows_of_study(study), request, slug) if can_share else [],
    }
    return render(request, "people/members.html", context)


def _used(used: dict[str, Decimal], user: User) -> Decimal:
    """Return what somebody has used: rows from before there were pseudonyms have their name."""
    names = {user.pseudonym, user.get_username()}
    return sum((used[name] for name in names if name in used), Decimal(0))


@login_required
@require_POST
def change_role(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Give a member another role."""
    study, user = _member(request, slug, key)
    role = request.POST.get("role", "")
    if role in Role.values:
        try:
            services.change_role(study=study, user=user, role=Role(role), by=actor(request))
            text = _("%(name)s: %(role)s from now on.")
            messages.success(request, text % {"name": user, "role": ROLE_TEXTS[Role(role)].name})
        except (services.LastOwner, services.NoPassword) as refusal:
            messages.error(request, str(refusal))
        except Membership.DoesNotExist as gone:  # somebody else removed them meanwhile
            raise Http404("nobody of this number is in the study") from gone
    return redirect("people:members", slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Take a study away from a member. Who removes themself is asked first: they could not undo
    it.
    """
    study, user = _member(request, slug, key)
    if request.method != "POST" or (user == request.user and "sure" not in request.POST):
        return render(
            request,
            "people/remove.html",
            {"study": study, "member": user, "is_self": user == request.user},
        )
    try:
        role = services.remove(study=study, user=user, by=actor(request))
    except services.LastOwner as refusal:
        messages.error(request, str(refusal))
        return redirect("people:members", slug)
    except Membership.DoesNotExist:  # somebody else did it meanwhile
        return redirect("people:members", slug)
    if not selectors.may(request.user, Right.READ, study):
        return redirect("dashboard:studies")
    request.session[REMOVED] = [study.pk, user.pk, role.value]
    return redirect("people:members", slug)


@login_required
@require_POST
def put_back(request: HttpRequest, slug: str) -> HttpResponse:
    """Undo the last removal."""
    study = _shareable(request, slug)
    removed = _removed(request, study)
    if removed:
        user, role = removed
        services.share(study=study, user=user, role=role, by=actor(request))
        del request.session[REMOVED]
        messages.success(request, _("%(name)s is back in the study.") % {"name": user})
    return redirect("people:members", slug)


def _removed(request: HttpRequest, study: Study) -> tuple[User, Role] | None:
    """Return who was removed from this study last in this session, if they are still out."""
    study_id, user_id, role = request.session.get(REMOVED, (None, None, ""))
    user = User.objects.filter(pk=user_id).exclude(memberships__study=study).first()
    return (user, Role(role)) if study_id == study.pk and user is not None else None


def _shareable(request: HttpRequest, slug: str) -> Study:
    study = get_object_or_404(selectors.studies_of(request.user), slug=slug)
    if not selectors.may(request.user, Right.SHARE, study):
        raise PermissionDenied(_("Only an owner of this study decides who may do what."))
    return study


def _member(request: HttpRequest, slug: str, key: int) -> tuple[Study, User]:
    study = _shareable(request, slug)
    return study, get_object_or_404(selectors.members(study), user_id=key).user


@never_cache
def passkey(request: HttpRequest) -> HttpResponseBase:
    """Begin a sign-in by a passkey (GET), or complete it (POST).

    Each beginning stores a challenge in a session of its own: a program that begins without end
    must not fill that table.
    """
    place = place_of(request) if request.method != "POST" else ""
    if wait := networks.wait(place, PASSKEYS_AT_ONCE):
        busy = {"Retry-After": str(wait)}
        return HttpResponse(status=HTTPStatus.TOO_MANY_REQUESTS, headers=busy)
    answer: HttpResponseBase = login_webauthn(request)
    if not request.user.is_authenticated and not request.session.is_empty():
        request.session.set_expiry(PASSKEY_SECONDS)
    return answer
