"""Device images as an object keeps them, and the assembly that registers them with the run time.

All images of a compile are one record in a section of its object, which linkers put one behind the other, so that
objects, archives and linked files say alike what is in them:

    "XPUSYCL1", length of the record, length of the text (8 bytes each), text (JSON), then each image, all at 16 bytes

The structures that the run time reads are those of intel/llvm, sycl/source/detail/compiler.hpp: a descriptor, a row
for each image with its kernels and property sets. They refer to the bytes in the record, so
that an image is there once.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from helperlib.elf.file import Buffer, Elf

SECTION, LINKED = ".lrodata.sycl_images", ".lrodata"
"""The section in an object, and what linkers make of all of its kind: it comes behind all others, so that code and data
stay within 2 GiB of each other, however large images are: machine code for one GPU is some five times its SPIR-V."""
MAGIC = b"XPUSYCL1"
ALIGNED = 16
HEADER = 24
NO_STACK = '.section .note.GNU-stack,"",@progbits'
MOST = 65535
"""Images that a descriptor can count."""
KIND, SPIRV, NATIVE = 4, 2, 1
"""The kind of a binary (SYCL) and its formats (PI_DEVICE_BINARY_TYPE of compiler.hpp)."""
FORMATS = {"spir64": SPIRV, "spir64_gen": NATIVE}


class DeviceImage(NamedTuple):
    """A device image: for which target, its kernels, its property sets, its bytes.

    A property is a number or bytes in base 64; `kernels` says of each where it is written (`FILE:LINE:COLUMN`, and a
    hash that is the same for the same text).
    """

    target: str
    kernels: dict[str, dict[str, str]]
    properties: dict[str, dict[str, int | str]]
    data: bytes


class ObjectImages(NamedTuple):
    """The images of a compile, and the source that they are of.

    `refused` is said of machine code: each GPU and kernel for which there is none.
    """

    source: str
    images: tuple[DeviceImage, ...]
    refused: tuple[tuple[str, str], ...] = ()


def make_record(record: ObjectImages) -> tuple[list[bytes], list[int]]:
    """Give the bytes of a record in parts, and where in it each image begins."""
    rows = [{**each._asdict(), "data": len(each.data)} for each in record.images]
    told = {"source": record.source, "images": rows, "refused": record.refused}
    text = json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
    parts, starts = [_padded(text, HEADER)], []
    at = HEADER + len(parts[0])
    for each in record.images:
        starts.append(at)
        parts += [each.data, _padded(b"", at + len(each.data))]
        at += len(parts[-2]) + len(parts[-1])
    return [MAGIC + at.to_bytes(8, "little") + len(text).to_bytes(8, "little"), *parts], starts


def _padded(data: bytes, before: int) -> bytes:
    return data + b"\0" * (-(before + len(data)) % ALIGNED)


def find_records(elf: Elf, *, bare: bool = False) -> Iterator[ObjectImages]:
    """Give the records of an ELF file, `bare` without the images' bytes. Raises ValueError for one that is broken."""
    for section in elf.sections():
        if section.name not in {SECTION, LINKED}:
            continue
        at, end = section.offset, section.offset + section.size
        while (at := elf.data.find(MAGIC, at, end)) >= 0:
            length, text = (int.from_bytes(elf.data[at + i : at + i + 8], "little") for i in (8, 16))
            told = json.loads(elf.data[at + HEADER : at + HEADER + text])
            images = _read_images(elf.data, at, text, told["images"], bare=bare)
            refused = tuple((gpu, kernel) for gpu, kernel in told.get("refused", ()))
            yield ObjectImages(told["source"], tuple(images), refused)
            at += max(length, HEADER)


def _read_images(data: Buffer, start: int, text: int, rows: Any, *, bare: bool) -> Iterator[DeviceImage]:
    at = start + HEADER + text
    for row in rows:
        at += -(at - start) % ALIGNED
        held = b"" if bare else data[at : at + row["data"]]
        yield DeviceImage(row["target"], row["kernels"], row["properties"], held)
        at += row["data"]


def make_assembly(record: ObjectImages, file: Path, starts: list[int], descriptor: int, options: str = "") -> str:
    """Give the assembly that holds a record, which lies in a file, and registers its images when it is loaded.

    The functions that register stand in `.init_array` and `.fini_array`, which linkers keep with --gc-sections.
    Without images there is nothing to register, and nothing is asked of the run time.
    """
    if not record.images:
        return f"{NO_STACK}\n"
    texts = _Texts()
    tables: list[str] = []
    rows = [
        line for i, each in enumerate(record.images) for line in _row(each, i, starts[i], descriptor, texts, tables)
    ]
    lines = [
        f'.section {SECTION},"al",@progbits',
        f".balign {ALIGNED}",
        ".Lrecord:",
        f".incbin {_quoted(str(file))}",
        '.section .data.rel.ro.sycl,"aw",@progbits',
        *tables,
        ".balign 8",
        ".Limages:",
        *rows,
        ".Ldescriptor:",
        f".short 1, {len(record.images)}",
        ".long 0",
        ".quad .Limages, 0, 0",
        *_FUNCTIONS,
        '.section .rodata.sycl,"a",@progbits',
        f".Loptions: .asciz {_quoted(options)}",
        ".Lnothing: .byte 0",
        *(f".Ltarget_{name}: .asciz {_quoted(name)}" for name in FORMATS),
        *texts.lines,
        NO_STACK,
    ]
    return "\n".join(lines) + "\n"


_FUNCTIONS = (
    '.section .text.sycl,"ax",@progbits',
    ".Lregister:",
    "leaq .Ldescriptor(%rip), %rdi",
    "jmp __sycl_register_lib@PLT",
    ".Lunregister:",
    "leaq .Ldescriptor(%rip), %rdi",
    "jmp __sycl_unregister_lib@PLT",
    '.section .init_array,"aw",@init_array',
    ".balign 8",
    ".quad .Lregister",
    '.section .fini_array,"aw",@fini_array',
    ".balign 8",
    ".quad .Lunregister",
)


class _Texts:
    """Texts and byte strings that tables refer to, each once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.labels: dict[bytes, str] = {}

    def label(self, data: bytes) -> str:
        """Give the label of these bytes, behind which stands a zero."""
        if data not in self.labels:
            self.labels[data] = f".Ltext{len(self.labels)}"
            values = ",".join(map(str, data + b"\0"))
            self.lines += [".balign 8", f"{self.labels[data]}: .byte {values}"]
        return self.labels[data]


def _row(
    image: DeviceImage, number: int, start: int, descriptor: int, texts: _Texts, tables: list[str]
) -> Iterable[str]:
    """Give the row of an image; what it refers to is added to the tables."""
    entries, sets = f".Lentries{number}", f".Lsets{number}"
    tables += [".balign 8", f"{entries}:"]
    tables += [f".quad 0, {texts.label(name.encode())}, 0, 0" for name in image.kernels]
    tables += [f"{entries}_end:"]
    ranges = []
    for i, (name, values) in enumerate(image.properties.items()):
        label = f"{sets}_{i}"
        tables += [f"{label}:", *(_property(each, value, texts) for each, value in values.items()), f"{label}_end:"]
        ranges.append(f".quad {texts.label(name.encode())}, {label}, {label}_end")
    tables += [f"{sets}:", *ranges, f"{sets}_end:"]
    begin, end = f".Lrecord+{start}", f".Lrecord+{start + len(image.data)}"
    return (
        f".short {descriptor}",
        f".byte {KIND}, {FORMATS[image.target]}",
        ".long 0",
        f".quad .Ltarget_{image.target}, .Loptions, .Lnothing",
        *((".quad 0, 0",) if descriptor < _NO_MANIFEST else ()),
        f".quad {begin}, {end}, {entries}, {entries}_end, {sets}, {sets}_end",
    )


_NO_MANIFEST = 3
"""The version of the descriptor from which on a row has no manifest."""


def _property(name: str, value: int | str, texts: _Texts) -> str:
    label = texts.label(name.encode())
    if isinstance(value, int):
        return f".quad {label}, 0\n.long 1, 0\n.quad {value}"
    held = base64.b64decode(value)
    return f".quad {label}, {texts.label(held)}\n.long 2, 0\n.quad {len(held)}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
