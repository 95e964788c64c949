"""Refuse an archive of XML that a stranger may have made, before anything reads it."""

import zipfile
from contextlib import suppress
from enum import Enum
from io import BytesIO
from xml.parsers import expat

MAX_PARTS = 300  # files in the archive
ARCHIVE = b"PK\x03\x04"  # how one begins
CHUNK = 2**16  # bytes unpacked at a time
# bytes without a tag: readers go through an unfinished one from its beginning, again and again
LONGEST = 2**19
MOST_BESIDE = 150_000  # tags that are neither in a row nor in a shared text: styles, links, merges
PICTURES = "xl/media/"  # which may declare types, as SVG does: no reader of ours looks there


class Hostile(Enum):
    """What is wrong with an archive."""

    LARGE = "it unpacks to too much"
    ENTITIES = "it declares entities"
    TAGS = "it holds too much"


def hostile(raw: bytes, *, unpacked: int, most_tags: int, in_a_row: int) -> Hostile | None:
    """Tell whether an archive unpacks to too many bytes, or has too many tags, in all, in one row
    of a sheet or beside the rows, or too long a text: each takes its readers time and memory, and a
    few bytes unpack to many.

    And whether it declares types: whoever writes one means to have it expanded, or fetched.
    """
    look = _Look(most_tags, in_a_row)
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > unpacked:
            return Hostile.LARGE
        for part in parts:
            parser = look.parser()
            with archive.open(part) as file, suppress(expat.ExpatError):  # readers stop there too
                try:
                    while chunk := file.read(CHUNK):
                        parser.Parse(chunk)
                        look.read(len(chunk))
                except _Found as found:
                    is_picture = part.filename.startswith(PICTURES)
                    if found.what is not Hostile.ENTITIES or not is_picture:
                        return found.what
    return None


class _Found(Exception):
    """What is wrong was found."""

    def __init__(self, what: Hostile) -> None:
        super().__init__(what.value)
        self.what = what


class _Look:
    """Count the tags of all parts, those within each row of a sheet and those beside the rows, and
    the bytes between two tags; find declared types.
    """

    def __init__(self, most: int, in_a_row: int) -> None:
        self.left, self.in_a_row, self.beside = most, in_a_row, MOST_BESIDE

    def parser(self) -> expat.XMLParserType:
        """Return a parser of the next part, which keeps nothing of it."""
        # how deep the tag is, how deep its row or text, whose tags, and bytes since the last tag
        self.depth = self.row = self.of_row = self.silent = 0
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = self.begin, self.end
        parser.StartDoctypeDeclHandler = self.declare
        return parser

    def read(self, count: int) -> None:
        self.silent += count
        if self.silent > LONGEST:
            raise _Found(Hostile.TAGS)

    def begin(self, name: str, _attributes: object) -> None:
        self.depth += 1
        self.left -= 1
        self.silent = 0
        if self.row:
            self.of_row += 1
        elif name.rpartition(" ")[2] in ("row", "si"):
            self.row, self.of_row = self.depth, 0
        else:
            self.beside -= 1
        if min(self.left, self.beside, self.in_a_row - self.of_row) < 0:
            raise _Found(Hostile.TAGS)

    def end(self, _name: str) -> None:
        self.silent = 0
        if self.depth == self.row:
            self.row = 0
        self.depth -= 1

    def declare(self, *_declared: object) -> None:
        raise _Found(Hostile.ENTITIES)
