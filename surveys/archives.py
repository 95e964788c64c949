"""Refuse an archive of XML that a stranger may have made, before anything reads it."""

import re
import zipfile
from enum import Enum
from io import BytesIO

MAX_PARTS = 300  # files in the archive
ARCHIVE = b"PK\x03\x04"  # how one begins
DECLARED = re.compile(b"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


class Hostile(Enum):
    """What is wrong with an archive."""

    LARGE = "it unpacks to too much"
    ENTITIES = "it declares entities"
    TAGS = "it holds too much"


def hostile(raw: bytes, *, unpacked: int, most_tags: int) -> Hostile | None:
    """Tell whether an archive unpacks to too many bytes, or has too many tags: each takes its
    readers time and memory, and a few bytes unpack to many.

    And whether it declares types: whoever writes one means to have it expanded, or fetched.
    """
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        parts, tags = archive.infolist(), 0
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > unpacked:
            return Hostile.LARGE
        for part in parts:
            content = archive.read(part).replace(b"\0", b"")  # UTF-16 too
            if part.filename.endswith((".xml", ".rels")) and DECLARED.search(content):
                return Hostile.ENTITIES
            tags += content.count(b"<") - content.count(b"</")
            if tags > most_tags:
                return Hostile.TAGS
    return None
