"""A study for a list, its owner, and a real server of letters."""

import email
import email.policy
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.test import Client

from surveys.design.drafts import new_draft
from surveys.design.models import Study
from surveys.invited import services
from surveys.invited.lists import Entry
from surveys.people import services as people
from surveys.people.models import Role
from tests.conftest import NOW, known_as
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.surveys.drafting.conftest import COPIED, TEXTS

STRATA = ("Arts", "Law", "Medicine")


class Sink:
    """Takes letters as a server does, and can be told to be unkind."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.recipients: dict[str, str] = {}  # address: what RCPT is answered with
        self.data = "250 taken"
        self.dies = False
        self.sender = "250 OK"  # what MAIL FROM is answered with

    async def handle_MAIL(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if self.sender.startswith("250"):
            envelope.mail_from = address
        return self.sender

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        said = self.recipients.get(address, "250 OK")
        if said.startswith("250"):
            envelope.rcpt_tos.append(address)
        return said

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.letters.append(envelope)
        if self.dies:
            server.transport.abort()
        return self.data

    def to(self) -> list[str]:
        return sorted(address for letter in self.letters for address in letter.rcpt_tos)

    def read(self, at: int = 0) -> Any:
        return email.message_from_bytes(self.letters[at].content, policy=email.policy.default)


@pytest.fixture
def sink(settings):
    own = Sink()
    server = Controller(own, hostname="127.0.0.1", port=free_port())
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    settings.EMAIL_CONFIGURED, settings.LETTERS_A_SECOND = True, 0
    settings.EMAIL_TIMEOUT = PATIENCE
    yield own
    server.stop(no_assert=True)


@pytest.fixture
def study(db: None) -> Study:
    texts = {**TEXTS, "is_invited": True, "expected": 60, "waves": 2}
    return new_draft(texts=texts, questions=[{**COPIED, "epsilon": 1}])


@pytest.fixture
def owner(study: Study) -> Client:
    user = known_as("olga")
    people.share(study=study, user=user, role=Role.OWNER)
    client = Client()
    client.force_login(user)
    return client


def entries(each: int = 30, strata: Any = STRATA) -> list[Entry]:
    return [
        Entry(f"p{number}.{stratum.lower()}@example.org", f"P {number}", "", stratum, {"room": "7"})
        for stratum in strata
        for number in range(each)
    ]


@pytest.fixture
def listed(study: Study) -> Study:
    """A study with 30 people in each of three strata."""
    assert services.add_people(study_id=study.pk, entries=entries()) == []
    return study


@pytest.fixture
def plan(listed: Study) -> Any:
    return services.launch(study=listed, why="A test.", who="olga", now=NOW)
