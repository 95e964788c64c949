"""Take out of an environment what no program reads: `make run` does it after installing.

    tests          packages' tests of themselves
    bytecode       of everything: a program compiles what it does read, once
    sources        of what is compiled already: C, Cython, catalogues of translations
    translations   into languages that this site does not speak
    symbols        of libraries: names for debuggers, 95 MB of OpenDP alone

Each file is one that pip would bring again: what is taken out by mistake is an installation away.
"""

import os
import shutil
import struct
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

SOURCES = {".c", ".pyx", ".po"}
SPOKEN = ("en", "zh")  # how the names of their folders begin
UNREAD = {"tests", "__pycache__"}
ELF = b"\x7fELF\x02\x01"  # 64 bits, the lowest byte first
PROGRAM, SECTIONS = 32, 40  # where in its head the places of both tables stand


def main(packages: Path) -> None:
    before = size(packages)
    for folder in list(unread(packages)):
        shutil.rmtree(folder)
    for path in [path for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]:
        if path.suffix in SOURCES:
            path.unlink()
        elif ".so" in path.suffixes:
            drop_symbols(path)
    print(f"{before - size(packages)} MB that no program reads taken out")


def unread(packages: Path) -> Iterator[Path]:
    """Find folders of tests, of bytecode, and of languages that nobody is spoken to in."""
    for folder, inside, _ in os.walk(packages):
        at = Path(folder)
        for name in list(inside):
            if name in UNREAD or (at.name == "locale" and not name.startswith(SPOKEN)):
                inside.remove(name)
                yield at / name


def drop_symbols(path: Path) -> None:
    """End a library where what is loaded of it ends, and have its head say no more.

    Written anew beside itself: the file may be another environment's too.
    """
    content = path.read_bytes()
    if not content.startswith(ELF):
        return
    (table,) = struct.unpack_from("<Q", content, PROGRAM)
    each, count = struct.unpack_from("<HH", content, 54)
    ends = [table + each * count]
    for at in range(table, table + each * count, each):
        offset, length = struct.unpack_from("<8xQ16xQ", content, at)
        ends.append(offset + length)
    if max(ends) >= len(content):
        return
    short = bytearray(content[: max(ends)])
    struct.pack_into("<Q", short, SECTIONS, 0)
    struct.pack_into("<HH", short, 60, 0, 0)  # how many sections, and which has their names
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(short)
    shutil.copymode(path, new)
    new.replace(path)


def size(folder: Path) -> int:
    """Return what all files in a folder take, in MB."""
    return sum(path.lstat().st_size for path in folder.rglob("*")) // 2**20


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("purelib")))
