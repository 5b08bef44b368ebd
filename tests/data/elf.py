"""ELF files made by hand: a shared library with names that it has, names that it asks for, and what it needs."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

X86_64 = 62
HEADER, SEGMENT = 64, 56


def gnu_hash(name: str) -> int:
    """Hash a name as the loader does."""
    found = 5381
    for letter in name.encode():
        found = (found * 33 + letter) & 0xFFFFFFFF
    return found


def make_elf(
    names: Sequence[str] = (),
    asked: Sequence[str] = (),
    needed: Sequence[str] = (),
    soname: str = "",
    runpath: str = "",
    machine: int = X86_64,
) -> bytes:
    """Give the bytes of a library; its names are found by a hash table of two buckets, and it has no sections."""
    names = sorted(names, key=lambda name: gnu_hash(name) % 2)
    strings, places = b"\0", {}
    for text in (*names, *asked, *needed, soname, runpath):
        places[text] = len(strings)
        strings += text.encode() + b"\0"
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    symbols += b"".join(struct.pack("<IBBHQQ", places[name], 0x12, 0, 0, 0, 0) for name in asked)
    symbols += b"".join(struct.pack("<IBBHQQ", places[name], 0x12, 0, 7, 4096, 1) for name in names)
    table = _hash_table(names, 1 + len(asked))
    start = HEADER + 2 * SEGMENT
    at = {5: start, 6: start + len(strings), 0x6FFFFEF5: start + len(strings) + len(symbols), 10: len(strings)}
    own = [(tag, places[text]) for tag, text in ((14, soname), (29, runpath)) if text]
    tags = [*((1, places[name]) for name in needed), *own, *at.items(), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    body = strings + symbols + table
    end = start + len(body)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, machine, 1, 0, HEADER, 0, 0, HEADER, SEGMENT, 2, 0, 0, 0
    )
    whole = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end + len(dynamic), end + len(dynamic), 4096)
    shown = struct.pack("<IIQQQQQQ", 2, 6, end, end, end, len(dynamic), len(dynamic), 8)
    return header + whole + shown + body + dynamic


def _hash_table(names: Sequence[str], first: int) -> bytes:
    buckets = [next((first + n for n, name in enumerate(names) if gnu_hash(name) % 2 == each), 0) for each in (0, 1)]
    chain = []
    for number, name in enumerate(names):
        last = number + 1 == len(names) or gnu_hash(names[number + 1]) % 2 != gnu_hash(name) % 2
        chain.append(gnu_hash(name) & ~1 | last)
    return struct.pack(f"<IIIIQ2I{len(chain)}I", 2, first, 1, 0, 2**64 - 1, *buckets, *chain)
