"""Studies of invited people, for journeys: opened with a list, and letters to its people."""

import json
from dataclasses import dataclass
from typing import Any

from tests.journeys.site import Site

STRATA = [{"name": "Faculty of arts", "people": 40}, {"name": "Faculty of law", "people": 312}]
OPEN = """
import datetime, json
from msgspec import convert
from surveys.design import services
from surveys.design.models import Translation
from surveys.issuer import services as issuer
from surveys.plan.content import Invited
found = {{}}
for each in json.loads({given!r}):
    more = dict(is_invited=True, answers_from=each["invited"].get("answers_from"))
    study = services.draft_study(study=dict(each["study"], **more), questions=each["questions"])
    if each["chinese"]:
        Translation.objects.create(study=study, language="zh-hans", content=each["chinese"])
    keys = issuer.make_keys(len(each["strata"]))
    strata = [dict(part, key=key) for part, key in zip(each["strata"], keys)]
    part = convert(dict(each["invited"], strata=strata, moments=15), Invited)
    plan = services.open_study(
        why="A test.",
        study_id=study.pk,
        who="researcher",
        now=datetime.datetime.now(datetime.UTC),
        invited=part,
    )
    issuer.open_plan(plan.document.encode())
    found[study.slug] = plan.digest
print(json.dumps(found))
"""
INVITE = """
import base64, hashlib, json, secrets
from surveys.issuer import services as issuer
reference = {reference!r} or secrets.token_hex(16)
code = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
issuer.invite({plan!r}, [(reference, {stratum}, hashlib.sha256(code.encode()).digest())])
print(json.dumps([reference, code]))
"""
COUNTS = """
import json
from surveys.issuer import services as issuer
print(json.dumps([list(each) for each in issuer.counts({plan!r})]))
"""


@dataclass
class Letter:
    """What somebody got: the link, and who they are to the list."""

    link: str
    reference: str
    code: str


@dataclass
class Listed:
    """An open study of invited people."""

    site: Site
    slug: str
    plan: str  # its digest

    @property
    def link(self) -> str:
        """The link without a letter's part."""
        return f"{self.site.base}/s/{self.slug}/#{self.plan}"

    def letter(self, stratum: int = 1, reference: str = "", language: str = "") -> Letter:
        """Return a letter to somebody new, or one more to whom a reference names."""
        code = INVITE.format(plan=self.plan, stratum=stratum, reference=reference)
        reference, code = self.site.python(code)
        page = f"{self.site.base}/s/{self.slug}/{language and language + '/'}"
        return Letter(f"{page}#{self.plan}.{stratum}.{code}", reference, code)

    def fetched(self) -> list[int]:
        """Return how many people of each stratum have fetched a ticket."""
        return [each[1] for each in self.site.python(COUNTS.format(plan=self.plan))]


def listed(site: Site, *studies: dict[str, Any]) -> dict[str, Listed]:
    """Open studies that `every_kind` made, with the list's own parts in `invited` and `strata`."""
    whole = [{"invited": {}, "strata": STRATA, **study} for study in studies]
    found = site.python(OPEN.format(given=json.dumps(whole)))
    return {slug: Listed(site, slug, plan) for slug, plan in found.items()}
