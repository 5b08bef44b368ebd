"""Kernels under names of a library's own: `--xpusetup-kernel-suffix=NAME`, a word of this driver alone.

The run time finds kernels by name, in all libraries of a process. Of two different ones with one name it takes that of
the library which was loaded first, in silence. With a suffix for each library each finds its own. What the headers of
SYCL keep of a kernel is a variable that libraries share, so the kernels' types become hidden too: g++ then hides every
template and function that has one of them in its name, but not the guards of their static variables (g++ 12).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helperlib.elf.file import SYMBOL, Elf
from helperlib.sycl.spirv import rename_kernels

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from helperlib.sycl.images import DeviceImage

DECLARED = "// Forward declarations of templated kernel function types:"
NAMED = "// names of all kernels defined in the corresponding source"
"""Between these lines of the integration header the types of kernels are declared."""
GUARD = b"_ZGVZN4sycl3_V16detail19getDeviceKernelInfoI"
HIDDEN = 2
"""The visibility of a symbol that no other library sees (STV_HIDDEN)."""
VISIBILITY = 5
"""The byte of a symbol that holds it."""
DEPTH = "@"
"""What parts the name of a kernel from the rest of a property's name: `_ZTS1A@reqd_sub_group_size`."""


def rename_text(text: str, kernels: Collection[str], suffix: str) -> str:
    """Give the integration header with other names; they stand there as texts."""
    if not kernels:
        return text
    pattern = re.compile(f'"({"|".join(map(re.escape, sorted(kernels, key=len, reverse=True)))})"')
    return pattern.sub(lambda found: f'"{found[1]}{suffix}"', text)


def hide_types(header: str) -> str:
    """Give the integration header with hidden types of kernels."""
    begun, ended = "#pragma GCC visibility push(hidden)", "#pragma GCC visibility pop"
    if DECLARED not in header or NAMED not in header:
        return header
    return header.replace(DECLARED, f"{begun}\n{DECLARED}", 1).replace(NAMED, f"{ended}\n{NAMED}", 1)


def rename_image(image: DeviceImage, kernels: Collection[str], suffix: str) -> DeviceImage:
    """Give an image with other names of its kernels, in its code and in all that is told of it."""

    def rename(name: str) -> str:
        own, sign, rest = name.partition(DEPTH)
        return f"{own}{suffix}{sign}{rest}" if own in kernels else name

    properties = {key: {rename(name): value for name, value in held.items()} for key, held in image.properties.items()}
    named = {rename(name): told for name, told in image.kernels.items()}
    return image._replace(kernels=named, properties=properties, data=rename_kernels(image.data, kernels, suffix))


def hide_guards(path: Path) -> None:
    """Hide the guards of what the headers keep of kernels, in an object of the host pass."""
    data = bytearray(path.read_bytes())
    places = {each.name: each for each in Elf(bytes(data)).sections()}
    table, names = places[".symtab"], places[".strtab"]
    for at in range(table.offset, table.offset + table.size, SYMBOL.size):
        begin = names.offset + SYMBOL.unpack_from(data, at)[0]
        if data.startswith(GUARD, begin):
            data[at + VISIBILITY] = HIDDEN
    path.write_bytes(data)
