"""Catalogues of the form's words: those that come with the site, and those that an admin installs.

Every one that this site has had is kept, with its bytes. What a form says is in no Plan: a false
sentence could never be mended. So an open study is told by the newest catalogue of its language,
and none is ever taken away.
"""

import datetime
import hashlib
import re

from django.db import transaction

from surveys import catalogues, languages
from surveys.design.models import Catalogue
from surveys.design.refusals import Refused
from surveys.design.site import OF_SITE
from surveys.ledger import services as ledger
from surveys.messages import message

MAX_BYTES = 1_000_000
LANGUAGE = re.compile(r'"Language: ([A-Za-z0-9_-]+)\\n"')
WORDS_OF = message("words of the form in %(tag)s", fills="term")


def keep_ours(using: str = "default") -> None:
    """Keep the catalogues that come with the site."""
    today = datetime.datetime.now(datetime.UTC).date()
    for tag, words in languages.ours().items():
        content = (languages.FOLDER / f"{tag}.po").read_bytes()
        Catalogue.objects.using(using).get_or_create(
            tag=tag,
            sha256=words.sha256,
            defaults={"content": content, "is_ours": True, "day": today},
        )


@transaction.atomic
def install(*, po: bytes, who: str, why: str, now: datetime.datetime) -> Catalogue:
    """Install the words of the form in a language that does not come with the site, and write a row
    of the ledger. Refused names every message that is wrong; then nothing is installed.
    """
    tag = _tag_of(po)
    if problems := _problems(po, tag):
        raise Refused("\n".join(problems))
    sha256, before = hashlib.sha256(po).hexdigest(), languages.words_in(tag)
    if before and before.sha256 == sha256:
        raise Refused(f"{tag}: this file is installed already")
    made, is_new = Catalogue.objects.get_or_create(
        tag=tag, sha256=sha256, defaults={"content": po, "is_ours": False, "day": now.date()}
    )
    if not is_new:
        raise Refused(f"{tag}: a later file took the place of this one: change its date, say")
    if wrong := languages.misread(tag):
        raise Refused(f"{tag}: “{wrong}”: another catalogue of the site says it in other words")
    old = before.sha256 if before else "none"
    what = OF_SITE(term=WORDS_OF(tag=tag))
    ledger.record(what=what, old=old, new=sha256, why=why, who=who, now=now)
    return made


def _tag_of(po: bytes) -> str:
    found = LANGUAGE.search(po[:10_000].decode(errors="replace"))
    tag = found[1].replace("_", "-").lower() if found else ""
    if not languages.TAG.fullmatch(tag):
        raise Refused("expected a header with the tag of the language, such as Language: pt-br")
    if tag in languages.ours():
        raise Refused(f"{tag}: the words of this language come with the site")
    return tag


def _problems(po: bytes, tag: str) -> list[str]:
    if len(po) > MAX_BYTES:
        return [f"{tag}: expected {MAX_BYTES:,} bytes at most, got {len(po):,}"]
    if b"Plural-Forms:" not in po:
        return [f"{tag}: its header has no Plural-Forms"]
    source = catalogues.read((languages.FOLDER / f"{languages.SOURCE}.po").read_bytes())
    try:
        return catalogues.problems(catalogues.read(po), source, tag)
    except (ValueError, LookupError) as error:
        return [f"{tag}: it is no catalogue: {error}"]
