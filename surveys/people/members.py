"""Who may do what in a study, and what each of them has used of its budget."""

from dataclasses import dataclass
from decimal import Decimal

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design.models import Study
from surveys.people import queries, services
from surveys.people.forms import MemberForm, RoleForm
from surveys.people.models import Membership, Right, Role, User
from surveys.people.wording import ROLES, Words

ON_A_PAGE = 50
REMOVED = "removed_member"  # in the session: who was removed last, so that it can be undone


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a study, as the page shows them."""

    membership: Membership
    used: Decimal | None

    @property
    def user(self) -> User:
        return self.membership.user

    @property
    def words(self) -> Words:
        return ROLES[Role(self.membership.role)]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List the members of a study; an owner adds one."""
    study = get_object_or_404(queries.studies_of(request.user), slug=slug)
    can_share = queries.may(request.user, Right.SHARE, study)
    if request.method == "POST" and not can_share:
        raise PermissionDenied(_("Only an owner of this study decides who may do what."))
    form = MemberForm(request.POST or None, study=study, initial={"role": Role.READER})
    if request.method == "POST" and form.is_valid():
        added = services.share(study=study, user=form.cleaned_data["name"], role=Role(form.cleaned_data["role"]))
        messages.success(request, _("%(name)s is in the study now.") % {"name": added.user})
        return redirect("people:members", slug)
    used = queries.used_by(study)
    page = Paginator(queries.members(study), ON_A_PAGE).get_page(request.GET.get("page"))
    members = [Member(each, _used(used, each.user)) for each in page]
    context = {"study": study, "form": form, "page": page, "members": members, "can_share": can_share,
               "measure": queries.measure(study), "roles": ROLES, "removed": _removed(request, study)}  # fmt: skip
    return render(request, "people/members.html", context)


def _used(used: dict[str, Decimal], user: User) -> Decimal | None:
    """Return what somebody has used: rows from before there were pseudonyms have their name."""
    found = [used[name] for name in {user.pseudonym, user.get_username()} if name in used]
    return sum(found, Decimal(0)) if found else None


@login_required
@require_POST
def change_role(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Give a member another role."""
    study, user = _member(request, slug, key)
    form = RoleForm(request.POST)
    if form.is_valid():
        try:
            services.change_role(study=study, user=user, role=form.role_chosen())
            said = _("%(name)s: %(role)s from now on.") % {"name": user, "role": ROLES[form.role_chosen()].name}
            messages.success(request, said)
        except services.LastOwner:
            messages.error(request, _last_owner(user))
        except Membership.DoesNotExist as gone:  # somebody else removed them meanwhile
            raise Http404("nobody of this number is in the study") from gone
    return redirect("people:members", slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Take a study away from a member. Who removes themself is asked first: they could not undo it."""
    study, user = _member(request, slug, key)
    if request.method != "POST" or (user == request.user and "sure" not in request.POST):
        return render(request, "people/remove.html", {"study": study, "member": user, "is_self": user == request.user})
    try:
        role = services.remove(study=study, user=user)
    except services.LastOwner:
        messages.error(request, _last_owner(user))
        return redirect("people:members", slug)
    except Membership.DoesNotExist:  # somebody else did it meanwhile
        return redirect("people:members", slug)
    if not queries.may(request.user, Right.READ, study):
        return redirect("dashboard:studies")
    request.session[REMOVED] = [study.pk, user.pk, role.value]
    return redirect("people:members", slug)


@login_required
@require_POST
def put_back(request: HttpRequest, slug: str) -> HttpResponse:
    """Undo the last removal."""
    study = _shareable(request, slug)
    found = _removed(request, study)
    if found:
        services.share(study=study, user=found[0], role=found[1])
        del request.session[REMOVED]
        messages.success(request, _("%(name)s is back in the study.") % {"name": found[0]})
    return redirect("people:members", slug)


def _removed(request: HttpRequest, study: Study) -> tuple[User, Role] | None:
    """Return who was removed from this study last in this session, if they are still out."""
    study_id, user_id, role = request.session.get(REMOVED, (None, None, ""))
    user = User.objects.filter(pk=user_id).exclude(memberships__study=study).first()
    return (user, Role(role)) if study_id == study.pk and user is not None else None


def _shareable(request: HttpRequest, slug: str) -> Study:
    study = get_object_or_404(queries.studies_of(request.user), slug=slug)
    if not queries.may(request.user, Right.SHARE, study):
        raise PermissionDenied(_("Only an owner of this study decides who may do what."))
    return study


def _member(request: HttpRequest, slug: str, key: int) -> tuple[Study, User]:
    study = _shareable(request, slug)
    return study, get_object_or_404(queries.members(study), user_id=key).user


def _last_owner(user: User) -> str:
    return _("%(name)s is the only owner. Make somebody else an owner first.") % {"name": user}
