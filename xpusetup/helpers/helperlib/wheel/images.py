"""Device code in a library: for which GPUs it was compiled ahead of time, read from the images themselves.

SYCL's linker keeps images that ocloc made in a section; each is an `ar` archive with a member for each GPU, called by
the number of bits and the GPU's version (64.12.60.7) or its family (64.bmg), or, for one GPU alone, an ELF file with
that version in a note.
Newer builds compress each image with zstd, which Python reads from 3.14 on; before, the program zstd does. The newest
linker keeps all images in one section of another name, behind texts. An archive may hold SPIR-V for all other GPUs.
The driver of a tool chain of wheels has a section of its own (helperlib/sycl/images.py).
"""

import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import NamedTuple

from helperlib.elf.file import Elf
from helperlib.sycl.images import find_records

BUNDLE = "__CLANG_OFFLOAD_BUNDLE__"
"""How the sections with images are called, by the kind of their code (seen in published wheels)."""
AHEAD = "spir64_gen"
"""The part of a section's name that says: native code for Intel GPUs."""
TOGETHER = "OFFLOAD_DEVICE_CODE"
"""The section of all images, of oneAPI 2026 on (seen in vllm-xpu-kernels 0.1.16.2)."""
GENERIC = (b"generic_ir", b"\x03\x02\x23\x07")
"""What says that there is SPIR-V: the name of an archive's member, and how SPIR-V itself begins."""
ZSTD, ARCHIVE, ELF = b"\x28\xb5\x2f\xfd", b"!<arch>\n", b"\x7fELF"
MEMBER = re.compile(r"(?:32|64)\.(?:(\d+\.\d+)|([a-z][\w-]*))(?:\.\d+)?")
"""A member of an archive: called by the family where that was asked for (dg2, mtl, bmg, ptl), else by the version."""
HEADER = 60
PRODUCT = 6
"""The kind of the note that holds a GPU's version: 10 bits of architecture, 8 of release, 14 of what is left out."""
OWNER = b"IntelGT\0"
SAMPLE = 6
"""Images that are opened at the beginning and at the end of a section; all of one build are for the same GPUs."""
TIMEOUT_S = 20
LARGEST = 1 << 28
VERSIONS = {
    "12.0": ("tgl", "tgllp", "xe-lp"),
    "12.1": ("rkl", "xe-lp"),
    "12.2": ("adl-s", "rpl-s", "xe-lp"),
    "12.3": ("adl-p", "rpl-p", "xe-lp"),
    "12.4": ("adl-n", "xe-lp"),
    "12.10": ("dg1", "xe-lp"),
    "12.55": ("dg2-g10", "acm-g10", "ats-m150", "dg2", "xe-hpg"),
    "12.56": ("dg2-g11", "acm-g11", "ats-m75", "dg2", "xe-hpg"),
    "12.57": ("dg2-g12", "acm-g12", "dg2", "xe-hpg"),
    "12.60": ("pvc", "pvc-sdv", "xe-hpc"),
    "12.61": ("pvc-vg", "xe-hpc-vg"),
    "12.70": ("mtl-u", "mtl-s", "mtl-m", "arl-u", "arl-s", "mtl", "xe-lpg"),
    "12.71": ("mtl-h", "mtl-p", "mtl", "xe-lpg"),
    "12.74": ("arl-h", "arl", "xe-lpgplus"),
    "20.1": ("bmg-g21", "bmg", "xe2-hpg"),
    "20.2": ("bmg-g31", "bmg", "xe2-hpg"),
    "20.4": ("lnl-m", "lnl", "xe2-lpg"),
    "30.0": ("ptl-h", "ptl", "xe3-lpg"),
    "30.1": ("ptl-u", "ptl", "xe3-lpg"),
    "30.3": ("wcl", "xe3-lpg"),
    "30.4": ("nvl-s", "nvl-hx", "nvl-ul", "xe3-lpg"),
    "30.5": ("nvl-u", "nvl-h", "xe3-lpg"),
    "35.10": ("nvl-p", "xe3p-lpg"),
    "35.11": ("cri", "xe3p-xpc"),
}
"""What compilers call the GPUs of a version: the closest name first."""
EXACT = re.compile(r"(\d+\.\d+)\.\d+|(.+)-[a-c]\d")
"""A version with its stepping, 20.1.4, or a name with it, bmg-g21-b0."""
NAMES = {name for names in VERSIONS.values() for name in names}
LIST = re.compile(
    rb"(?<=\0)((?:%s)(?:,? ?(?:%s))*)(?=\0)" % ((b"|".join(sorted((n.encode() for n in NAMES), reverse=True)),) * 2)
)
"""A text that is nothing but a list of GPUs, as builds leave it in a library."""


class Targets(NamedTuple):
    """The versions and families of GPUs that images are for, how many images there are, why some could not be read.

    A family's image is compiled for the lowest of its versions, and the driver loads it on each of them
    (`genericIdAcronyms` and `compatibilityMapping` in compute-runtime's platforms.h at e37c60bf).
    `generic`: there is SPIR-V, from which a driver compiles for any GPU. `also`: versions on which the driver loads an
    image that is alone, though it was compiled for another; a member of an archive is found by its very version.
    `refused`: GPUs and kernels for which the offline compiler made none, where the tool chain of wheels says so.
    """

    versions: frozenset[str] = frozenset()
    images: int = 0
    trouble: str = ""
    generic: bool = False
    also: frozenset[str] = frozenset()
    refused: tuple[tuple[str, str], ...] = ()


ALONE = {"12.55": ("12.56", "12.57"), "12.70": ("12.71",), "20.1": ("20.2", "20.4"), "30.0": ("30.1", "30.3")}
"""Versions on which the driver loads an image of another one (`compatibilityMapping` in compute-runtime's platforms.h
at e37c60bf). In an archive it looks for the version or family by name before (device_binary_format_ar.cpp)."""


def names_of(versions: Iterable[str]) -> list[str]:
    """Give GPUs by their names, those without one by their version; a family stands for the lowest of it too."""
    there = {*versions}
    there -= {known[0] for each in there if (known := versions_of(each))}
    return [VERSIONS.get(each, (each,))[0] for each in sorted(there, key=_order)]


def _order(version: str) -> tuple[int, ...]:
    return numbers_of(next(iter(versions_of(version)), version))


def numbers_of(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def versions_of(name: str) -> list[str]:
    """Give the versions of all GPUs that have this name, the lowest first."""
    return [version for version, names in VERSIONS.items() if name in names]


def names_for(versions: Iterable[str]) -> list[str]:
    """Give the names that stand for these versions and families, and for no other."""
    counts = Counter(name for names in VERSIONS.values() for name in names)
    families = {each for each in versions if versions_of(each)}
    single = {name for each in _each_version(versions) for name in VERSIONS.get(each, ()) if counts[name] == 1}
    return sorted(families | single)


def _each_version(versions: Iterable[str]) -> list[str]:
    """Put the versions of each family in its place."""
    return [version for each in versions for version in versions_of(each) or (each,)]


def find_lacking(wanted: Iterable[str], versions: Iterable[str]) -> list[str]:
    """Give the wanted GPUs for which there is no image; a name without a known version cannot be judged."""
    there = {name for version in _each_version(versions) for name in (version, *VERSIONS.get(version, ()))}
    stepped = {name: EXACT.fullmatch(name) for name in wanted}
    plain = {name: (found[1] or found[2]) if found else name for name, found in stepped.items()}
    return [name for name, found in plain.items() if found in {*NAMES, *VERSIONS} and found not in there]


def read_lists(elf: Elf) -> frozenset[str]:
    """Give the lists of GPUs that stand as texts among a library's constants."""
    data = (elf.data[each.offset : each.offset + each.size] for each in elf.sections() if each.name == ".rodata")
    return frozenset(found[1].decode() for part in data for found in LIST.finditer(b"\0" + bytes(part) + b"\0"))


def read_targets(elf: Elf) -> Targets:
    """Read for which GPUs a library has code that was compiled ahead of time."""
    found: set[str] = set()
    alone: set[str] = set()
    count, trouble, generic = 0, "", False
    records = list(find_records(elf))
    for own in (each for record in records for each in record.images):
        native = own.target == AHEAD
        versions = set(read_versions(own.data)) if native else set()
        found |= versions
        alone |= versions if own.data.startswith(ELF) else set()
        count, generic = count + native, generic or not native
    for section in elf.sections():
        if not section.name.endswith((AHEAD, TOGETHER)):
            generic = generic or (section.name.startswith(BUNDLE) and "spir64" in section.name)
            continue
        starts = _starts(elf, section.offset, section.offset + section.size)
        count += len(starts) - 1
        chosen = sorted({*range(len(starts) - 1)[:SAMPLE], *range(len(starts) - 1)[-SAMPLE:]})
        for number in chosen:
            image, why = _expand(bytes(elf.data[starts[number] : starts[number + 1]]))
            found |= set(read_versions(image))
            alone |= set(read_versions(image)) if image.startswith(ELF) else set()
            trouble = trouble or why
            generic = generic or any(mark in image for mark in GENERIC)
    also = frozenset(each for version in alone for each in ALONE.get(version, ()))
    return Targets(
        frozenset(found), count, trouble, generic, also, tuple(each for own in records for each in own.refused)
    )


def _starts(elf: Elf, start: int, end: int) -> list[int]:
    """Give where images begin, by their magic numbers at places that the linker aligned; last the end of all.

    All are of the kind with which the section begins, else of the first kind that is there: an archive holds ELF files.
    """
    kinds = (ARCHIVE, ELF, ZSTD)
    first = [each for each in kinds if elf.data[start : start + len(each)] == each]
    for magic in first or kinds:
        places, place = [], elf.data.find(magic, start, end)
        while place >= 0:
            places.append(place)
            place = elf.data.find(magic, place + 1, end)
        if aligned := [each for each in places if (each - start) % 8 == 0]:
            return [*aligned, end]
    return [end]


def _expand(image: bytes) -> tuple[bytes, str]:
    """Undo the compression of an image; what pads it may follow."""
    if not image.startswith(ZSTD):
        return image, ""
    try:
        return import_module("compression.zstd").ZstdDecompressor().decompress(image, LARGEST), ""
    except ImportError:
        return _expand_by_program(image)
    except ValueError as error:  # its own ZstdError among them
        return b"", str(error)


def _expand_by_program(image: bytes) -> tuple[bytes, str]:
    program = shutil.which("zstd")
    if program is None:
        return b"", "its images are compressed, and to read them takes Python 3.14 or the program zstd"
    try:
        done = subprocess.run((program, "-dcq"), input=image, capture_output=True, check=False, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return b"", "zstd did not end"
    return done.stdout, ""  # what pads the image makes it end with an error after the image itself


def read_versions(image: bytes) -> Iterator[str]:
    """Give the versions and families that an image of ocloc is for: of one GPU, or an archive of several."""
    if image.startswith(ARCHIVE):
        yield from _of_archive(image)
    elif image.startswith(ELF):
        yield from _of_notes(image)


def _of_archive(image: bytes) -> Iterator[str]:
    place = len(ARCHIVE)
    while image[place + HEADER - 2 : place + HEADER] == b"`\n":
        name, size = image[place : place + 16].decode("ascii", "replace"), image[place + 48 : place + 58].strip()
        length = int(size) if size.isdigit() else 0
        start = place + HEADER
        if found := MEMBER.fullmatch(name.strip().rstrip("/")):
            yield from _of_member(found[1], found[2], image[start : start + length])
        place = start + length + length % 2


def _of_member(version: str | None, name: str | None, code: bytes) -> Iterator[str]:
    """Give what a member is for: a family that is known by its name, any other by the note in its code."""
    known = versions_of(name or "")
    if version or len(known) == 1:
        yield version or known[0]
    elif name and known:
        yield name
    else:
        yield from _of_notes(code)


def _of_notes(image: bytes) -> Iterator[str]:
    """Find the note with the version: its owner's name stands behind its kind, and the version behind that name."""
    for found in re.finditer(re.escape(OWNER), image):
        size, kind = struct.unpack_from("<II", image, found.start() - 8) if found.start() >= 12 else (0, 0)  # noqa: PLR2004
        if kind == PRODUCT and size == 4 and found.end() + 4 <= len(image):  # noqa: PLR2004 - one number
            value = struct.unpack_from("<I", image, found.end())[0]
            yield f"{value >> 22}.{value >> 14 & 0xFF}"
