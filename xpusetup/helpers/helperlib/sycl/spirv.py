"""What a SPIR-V module says of itself before its functions: the kernels, and the functions that it lacks.

The numbers are those of the SPIR-V specification, section 3 (Binary Form): a module is five words and then
instructions, each with its length and number in its first word.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

MAGIC = 0x07230203
HEAD = 20
STRING, ENTRY_POINT, FUNCTION, DECORATE = 7, 15, 54, 71
LINKAGE, IMPORT = 41, 1
WORD = 4
WORDS = b"-fsycl-device-only"
"""A word that the library adds to each compile."""


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

    def rename(number: int, rest: bytes) -> bytes:
        if number != ENTRY_POINT:
            return rest
        name, after = _text(rest, 2 * WORD)
        return rest[: 2 * WORD] + _padded(f"{name}{suffix}" if name in kernels else name) + rest[after:]

    return _rewrite(module, rename)


def drop_words(module: bytes) -> bytes:
    """Give a module without the words of its compile.

    With -g they are among the debug information, and names of temporary files among them.
    """
    if WORDS not in module:
        return module

    def drop(number: int, rest: bytes) -> bytes:
        return rest[:WORD] + _padded("") if number == STRING and WORDS in rest else rest

    return _rewrite(module, drop)


def _rewrite(module: bytes, change: Callable[[int, bytes], bytes]) -> bytes:
    """Give a module with other operands of the instructions before its functions."""
    made, at = bytearray(module[:HEAD]), HEAD
    for number, rest in _instructions(module):
        at += WORD + len(rest)
        new = change(number, rest)
        made += struct.pack("<I", (len(new) // WORD + 1) << 16 | number) + new
    return bytes(made) + module[at:]


def _padded(text: str) -> bytes:
    """Give a text as the words that hold it, with a zero behind it."""
    data = text.encode()
    return data + b"\0" * (WORD - len(data) % WORD)


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
