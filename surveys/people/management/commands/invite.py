"""Make an account if there is none of this name, and a link that sets its password: good once,
for some days. What it opens is written down, and the owners it concerns are told.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.design import selectors as design
from surveys.people import services
from surveys.people.models import Membership, Role, User


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="with which they sign in")
        parser.add_argument("--admin", action="store_true", help="a new account is an admin's")
        parser.add_argument(
            "--site-admin", action="store_true", help="and may set the limits of the site"
        )
        parser.add_argument(
            "--forget-factor", action="store_true", help="after a lost phone: forget what it showed"
        )
        parser.add_argument(
            "--own",
            metavar="STUDY",
            help="make them an owner of the study of this address, after its owners are locked out",
        )
        parser.add_argument(
            "--site", default="", help="the site's address, such as https://candor.example.org"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name: str = options["name"]
        try:
            UnicodeUsernameValidator()(name)
        except ValidationError as problem:
            raise CommandError(" ".join(problem.messages)) from None
        powers = {"is_admin": options["admin"], "is_site_admin": options["site_admin"]}
        user = services.ensure_user(username=name, password=None, **powers)
        if options["own"]:
            self.own(user, options["own"])
        if options["forget_factor"]:
            services.forget_factors(user)
        site = options["site"].rstrip("/") or settings.SITE_ADDRESS
        self.stdout.write(f"{site}{services.make_link(user=user, by=services.CONSOLE)}")
        self.stderr.write(
            f"It sets the password of {name}, once, within {settings.INVITATION_DAYS} days."
        )

    def own(self, user: User, slug: str) -> None:
        study = design.studies().filter(slug=slug).first()
        if study is None:
            raise CommandError(f"No study has the address “{slug}”.")
        if Membership.objects.filter(study=study, user=user).exists():
            services.change_role(
                study=study, user=user, role=Role.OWNER, by=services.CONSOLE, checked=False
            )
        else:
            services.share(study=study, user=user, role=Role.OWNER, by=services.CONSOLE)
