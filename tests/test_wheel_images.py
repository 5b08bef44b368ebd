"""What device images say of themselves, and what of an ELF file can be broken: bytes in, values out."""

from __future__ import annotations

import importlib
import struct
import sys
from typing import Any

import pytest

from data.texts import GPUS

elf_file: Any = importlib.import_module("helperlib.elf.file")
images: Any = importlib.import_module("helperlib.wheel.images")

SECTION = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen"


def make_elf(**sections: bytes) -> bytes:
    """Make an ELF file of nothing but sections; in a name `__dot__` stands for a dot."""
    parts = {name.replace("__dot__", "."): content for name, content in sections.items()}
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*parts, ".shstrtab"))
    rows, body, place = [(0,) * 10], b"", 64
    for name, content in {**parts, ".shstrtab": names}.items():
        pad = -(place + len(body)) % 16
        body += b"\0" * pad
        rows.append((names.find(name.encode()), 1, 0, 0, place + len(body), len(content), 0, 0, 1, 0))
        body += content
    head = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 0, 0, 3, 62, 1, 0, 0, place + len(body), 0, 64, 56, 0, 64, len(rows), len(rows) - 1),
    )
    return head + body + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)


def archive(*names: str, code: bytes = b"code\0") -> bytes:
    head = f"{0:<12}{0:<6}{0:<6}{644:<8}{len(code):<10}`\n"
    members = (f"{name:<16}{head}".encode() + code + b"\n" * (len(code) % 2) for name in names)
    return b"!<arch>\n" + b"".join(members)


def zebin(version: int) -> bytes:
    """Make an image for one GPU: an ELF file with its version in a note."""
    return make_elf(__dot__note=struct.pack("<III8sI", 8, 4, 6, b"IntelGT\0", version))


def read(content: bytes) -> Any:
    return images.read_targets(elf_file.Elf(make_elf(**{SECTION: content})))


def test_an_image_for_several_gpus() -> None:
    found = read(archive("pad_0/", "64.12.60.7/", "pad_1/", "64.20.1.4/", "generic_ir/"))
    assert (found.versions, found.images, found.trouble) == ({"12.60", "20.1"}, 1, "")


@pytest.mark.parametrize(
    ("name", "version", "versions"),
    [
        ("64.bmg/", 20 << 22 | 1 << 14, {"bmg"}),
        ("64.dg2/", 12 << 22 | 55 << 14 | 8, {"dg2"}),
        ("64.mtl", 12 << 22 | 70 << 14 | 4, {"mtl"}),
        ("64.ptl/", 30 << 22 | 4, {"ptl"}),
        ("64.pvc.7/", 12 << 22 | 60 << 14 | 7, {"12.60"}),
        ("64.of-tomorrow/", 35 << 22 | 11 << 14, {"35.11"}),
    ],
)
def test_an_image_by_a_name_and_not_by_a_version(name: str, version: int, versions: set[str]) -> None:
    assert read(archive("pad_0/", name, code=zebin(version))).versions == versions


def test_an_image_for_one_gpu() -> None:
    assert read(zebin(20 << 22 | 4 << 14 | 1)).versions == {"20.4"}


def test_several_images() -> None:
    first = archive("64.12.60.7/")
    assert read(first + b"\0" * (-len(first) % 16) + archive("64.30.0.4/")).versions == {"12.60", "30.0"}


@pytest.mark.parametrize(
    ("content", "versions"),
    [
        (archive("64.12.60.7/").ljust(80, b"\0") + archive("pad_0/", "64.20.1.0/"), {"12.60", "20.1"}),
        (zebin(20 << 22 | 4 << 14 | 1), {"20.4"}),
        (b"\x03\x02\x23\x07", set()),
    ],
)
def test_the_newest_linker_keeps_all_images_behind_texts(content: bytes, versions: set[str]) -> None:
    found = images.read_targets(elf_file.Elf(make_elf(OFFLOAD_DEVICE_CODE=b"-options".ljust(32, b"\0") + content)))
    assert found.versions == versions


@pytest.mark.parametrize(
    ("sections", "generic"),
    [
        ({SECTION: archive("64.12.60.7/")}, False),
        ({SECTION: archive("64.12.60.7/", "generic_ir/")}, True),
        ({"__CLANG_OFFLOAD_BUNDLE__sycl-spir64": b"code", SECTION: archive("64.12.60.7/")}, True),
        ({"OFFLOAD_DEVICE_CODE": archive("64.12.60.7/").ljust(256, b"\0") + b"\x03\x02\x23\x07"}, True),
    ],
)
def test_what_a_driver_compiles_for_other_gpus(sections: dict[str, bytes], generic: bool) -> None:
    assert images.read_targets(elf_file.Elf(make_elf(**sections))).generic is generic


@pytest.mark.parametrize("content", [b"", b"device code", b"\0" * 64, b"!<arch>\nshort", b"\x7fELF", archive()])
def test_no_image(content: bytes) -> None:
    assert read(content).versions == frozenset()


def test_compressed_images_that_cannot_be_read_are_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images.shutil, "which", lambda _name: None)
    monkeypatch.setattr(images, "import_module", importlib.import_module if sys.version_info < (3, 14) else _absent)
    found = read(images.ZSTD + b"0123456789")
    assert found.versions == frozenset()
    assert found.trouble.startswith("its images are compressed")


def _absent(name: str) -> None:
    raise ImportError(name)


@pytest.mark.parametrize(
    ("wanted", "versions", "lacking"),
    [
        (("pvc", "bmg"), ("12.60", "20.1"), []),
        (("pvc", "bmg"), ("12.60", "20.2"), []),
        (("pvc", "bmg"), ("12.60",), ["bmg"]),
        (("ats-m150", "xe-lpg"), ("12.55", "12.70"), []),
        (("dg2",), ("12.56",), []),
        (("a-gpu-of-tomorrow",), ("12.60",), []),
        (("lnl-m",), ("99.1",), ["lnl-m"]),
        (("bmg", "bmg-g21", "bmg-g31-a0", "20.2", "lnl-m"), ("bmg",), ["lnl-m"]),
        (("dg2", "ats-m75", "acm-g12", "pvc"), ("dg2",), ["pvc"]),
        (("mtl-u", "arl-s", "mtl-h", "arl-h"), ("mtl",), ["arl-h"]),
        (("ptl-h", "ptl-u", "wcl"), ("ptl",), ["wcl"]),
    ],
)
def test_gpus_without_an_image(wanted: tuple[str, ...], versions: tuple[str, ...], lacking: list[str]) -> None:
    assert images.find_lacking(wanted, versions) == lacking


def test_names_of_gpus() -> None:
    assert images.names_of({"20.1", "12.60", "99.1"}) == ["pvc", "bmg-g21", "99.1"]
    assert images.names_of({"20.2", "20.1", "bmg", "12.60", "dg2"}) == ["dg2", "pvc", "bmg", "bmg-g31"]


def test_names_that_stand_for_images_alone() -> None:
    assert images.names_for({"20.1"}) == ["bmg-g21"]
    assert images.names_for({"bmg"}) == ["bmg", "bmg-g21", "bmg-g31"]


@pytest.mark.parametrize(
    ("image", "names"),
    [
        (archive("64.20.1.0/"), ["bmg-g21"]),
        (archive("64.bmg/", code=zebin(20 << 22 | 1 << 14)), ["bmg", "bmg-g21", "bmg-g31"]),
        (zebin(20 << 22 | 1 << 14), ["bmg-g21", "bmg-g31", "lnl", "lnl-m", "xe2-lpg"]),
        (archive("64.12.55.8/"), ["acm-g10", "ats-m150", "dg2-g10"]),
    ],
)
def test_on_which_gpus_an_image_is_loaded(image: bytes, names: list[str]) -> None:
    """In an archive the driver looks for its own version or family; an image of one GPU it holds against a table."""
    found = read(image)
    assert images.names_for(found.versions | found.also) == names


def test_every_gpu_has_its_name_among_images() -> None:
    assert {each.device for each in GPUS.families if each.accelerator == "xpu" and each.targets} <= images.NAMES


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        (b"\0pvc,bmg\0", {"pvc,bmg"}),
        (b"x\0pvc bmg-g21\0y", {"pvc bmg-g21"}),
        (b"\0-device pvc,bmg\0", set()),
        (b"\0pvc_kernel\0", set()),
    ],
)
def test_lists_of_gpus_among_texts(text: bytes, lists: set[str]) -> None:
    assert images.read_lists(elf_file.Elf(make_elf(__dot__rodata=text))) == lists


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"\x7fELF\1\1" + b"\0" * 60, b"MZ" + b"\0" * 80, b"\x7fELF\2\2" * 20]
)
def test_what_is_no_elf_file(content: bytes) -> None:
    with pytest.raises(elf_file.NotElfError):
        elf_file.Elf(content)


WHOLE = make_elf(**{SECTION: archive("64.12.60.7/")})


@pytest.mark.parametrize("size", range(6, len(WHOLE), 7))
def test_a_file_that_was_cut_off(size: int) -> None:
    with pytest.raises((elf_file.NotElfError, struct.error)):
        images.read_targets(elf_file.Elf(WHOLE[:size]))
