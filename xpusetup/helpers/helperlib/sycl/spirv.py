"""What a SPIR-V module says of itself before its functions: the kernels, and the functions that it lacks.

The numbers are those of the SPIR-V specification, section 3 (Binary Form): a module is five words and then
instructions, each with its length and number in its first word.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAGIC = 0x07230203
HEAD = 20
ENTRY_POINT, FUNCTION, DECORATE = 15, 54, 71
LINKAGE, IMPORT = 41, 1
WORD = 4


def read_imports(module: bytes) -> list[str]:
    """Give the functions and variables that a module expects of others. Raises ValueError for what is no SPIR-V."""
    found = []
    for number, rest in _instructions(module):
        if number == DECORATE and struct.unpack_from("<I", rest, WORD)[0] == LINKAGE:
            name, after = _text(rest, 2 * WORD)
            if struct.unpack_from("<I", rest, after)[0] == IMPORT:
                found.append(name)
    return found


def read_kernels(module: bytes) -> list[str]:
    """Give the names of a module's kernels."""
    return [_text(rest, 2 * WORD)[0] for number, rest in _instructions(module) if number == ENTRY_POINT]


def rename_kernels(module: bytes, kernels: Collection[str], suffix: str) -> bytes:
    """Give a module whose kernels of these names have a suffix."""
    made, at = bytearray(module[:HEAD]), HEAD
    for number, rest in _instructions(module):
        at += WORD + len(rest)
        if number == ENTRY_POINT:
            name, after = _text(rest, 2 * WORD)
            named = f"{name}{suffix}".encode() if name in kernels else name.encode()
            rest = rest[: 2 * WORD] + named + b"\0" * (WORD - len(named) % WORD) + rest[after:]  # noqa: PLW2901
        made += struct.pack("<I", (len(rest) // WORD + 1) << 16 | number) + rest
    return bytes(made) + module[at:]


def _instructions(module: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the number and the operands of each instruction before the first function."""
    if len(module) < HEAD or struct.unpack_from("<I", module)[0] != MAGIC:
        raise ValueError("a device image is no SPIR-V")
    at = HEAD
    while at < len(module):
        first = struct.unpack_from("<I", module, at)[0]
        number, length = first & 0xFFFF, (first >> 16) * WORD
        if number == FUNCTION:
            return
        if not length or at + length > len(module):
            raise ValueError(f"a device image is broken at byte {at}")
        yield number, module[at + WORD : at + length]
        at += length


def _text(data: bytes, at: int) -> tuple[str, int]:
    """Give a text that ends with a zero, and where the words behind it begin."""
    end = data.index(b"\0", at)
    return data[at:end].decode("utf-8", "replace"), at + ((end - at) // WORD + 1) * WORD
