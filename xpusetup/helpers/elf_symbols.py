"""The dynamic symbols of an ELF file: those that it asks others for, and those that others find in it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from elf_file import HIDDEN, OWN, SYMBOL, SYMTAB, VERSYM, Asked, Symbol

if TYPE_CHECKING:
    from elf_file import Elf

WEAK = 2
SEEN = (1, WEAK, 10)
"""Bindings that others see: global, weak, unique in the process."""
DEFAULT, PROTECTED = 0, 3


class Symbols(NamedTuple):
    """What is asked for, and what is there: plain names, and `name@version` where it has version nodes."""

    asked: tuple[Symbol, ...]
    names: frozenset[str]
    versioned: frozenset[str]


def read_symbols(elf: Elf) -> Symbols:
    """Read them all. Raises struct.error where a table is cut off."""
    count = elf.count_symbols()
    start = elf.offset_of(elf.value(SYMTAB))
    rows = SYMBOL.iter_unpack(elf.data[start : start + count * SYMBOL.size])
    versions = _numbers(elf, count)
    strings = elf.strings()
    needed, own = dict(elf.asked_versions()), elf.own_versions()
    asked: list[Symbol] = []
    names: set[str] = set()
    versioned: set[str] = set()
    for (place, info, other, section, _, _), number in zip(rows, versions, strict=True):
        if not place or info >> 4 not in SEEN:
            continue
        name = strings[place : strings.find(b"\0", place)].decode("utf-8", "backslashreplace")
        plain = number & ~HIDDEN
        if section == 0:
            node = needed.get(plain, NOTHING) if plain >= OWN else NOTHING
            asked.append(Symbol(name, node.version, info >> 4 == WEAK, node.file))
        elif other & 3 in (DEFAULT, PROTECTED):
            names.add(name)
            if plain >= OWN and own:
                versioned.add(f"{name}@{own.get(plain, '')}")
    return Symbols(tuple(asked), frozenset(names), frozenset(versioned))


NOTHING = Asked("", "", weak=True)


def _numbers(elf: Elf, count: int) -> tuple[int, ...]:
    if not elf.value(VERSYM):
        return (0,) * count
    return struct.unpack_from(f"<{count}H", elf.data, elf.offset_of(elf.value(VERSYM)))
