"""Refuse an archive of XML that a stranger may have made, before anything reads it."""

import re
import zipfile
from collections.abc import Iterator
from enum import Enum
from io import BytesIO

MAX_PARTS = 300  # files in the archive
ARCHIVE = b"PK\x03\x04"  # how one begins
DECLARED = re.compile(b"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
ROW = re.compile(rb"<(?:\w+:)?row\b")
CHUNK = 2**20  # bytes unpacked at a time


class Hostile(Enum):
    """What is wrong with an archive."""

    LARGE = "it unpacks to too much"
    ENTITIES = "it declares entities"
    TAGS = "it holds too much"


def hostile(raw: bytes, *, unpacked: int, most_tags: int, in_a_row: int) -> Hostile | None:
    """Tell whether an archive unpacks to too many bytes, or has too many tags, in all or in one row
    of a sheet: each takes its readers time and memory, and a few bytes unpack to many.

    And whether it declares types: whoever writes one means to have it expanded, or fetched.
    """
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        parts, tags = archive.infolist(), 0
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > unpacked:
            return Hostile.LARGE
        for part in parts:
            is_xml, tail = part.filename.endswith((".xml", ".rels")), b""
            of_row = -most_tags  # before the first row, if there is one
            for chunk in _chunks(archive, part):
                if is_xml and DECLARED.search(tail + chunk):
                    return Hostile.ENTITIES
                tail = chunk[-9:]  # shorter than what is looked for
                for at, piece in enumerate(ROW.split(chunk)):
                    count = piece.count(b"<") - piece.count(b"</")
                    of_row = count + (0 if at else of_row)
                    tags += count
                    if of_row > in_a_row or tags > most_tags:
                        return Hostile.TAGS
    return None


def _chunks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(part) as file:
        while chunk := file.read(CHUNK):
            yield chunk.replace(b"\0", b"")  # UTF-16 too
