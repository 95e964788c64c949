"""Make accounts, share studies."""

from django.contrib.auth.models import Group

from surveys.design.models import Study
from surveys.people.apps import ADMINS
from surveys.people.models import Membership, Role, User


def ensure_user(*, username: str, password: str, is_admin: bool = False) -> User:
    """Return the account of this name, making it if it is new. An existing one keeps its password."""
    user = User.objects.filter(username=username).first()
    if user is None:
        user = User.objects.create_user(username=username, password=password, is_staff=is_admin)
        if is_admin:
            user.groups.add(Group.objects.get(name=ADMINS))
    return user


def share(*, study: Study, user: User, role: Role = Role.READER) -> Membership:
    """Give somebody a role in a study. Sharing again changes nothing."""
    return Membership.objects.get_or_create(user=user, study=study, defaults={"role": role})[0]
