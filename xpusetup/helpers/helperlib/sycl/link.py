"""A link: by g++, with the run time; afterwards what got into the file is held against itself."""

from __future__ import annotations

import shutil
import sys
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.elf.file import Elf, NotElfError
from helperlib.output import whole
from helperlib.sycl import passes
from helperlib.sycl.ahead import GEN, make_native
from helperlib.sycl.compile import make_registration
from helperlib.sycl.images import ObjectImages, find_records
from helperlib.sycl.refuse import find_mixed, find_undefined
from helperlib.sycl.work import CompileWork, FailedError, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helperlib.elf.file import Buffer

ARCHIVE = b"!<arch>\n"
MEMBER = 60
NAMED = ".sycl_images"
"""How the names of sections end in which this driver and earlier ones put images."""


def link(work: CompileWork, objects: dict[str, Path]) -> None:
    """Link the inputs, sources as their objects. Raises FailedError where two kernels of one name differ."""
    call = work.call
    out = Path(call.out or "a.out")
    words = [str(objects.get(each.word, each.word)) for each in call.inputs]
    if call.sycl and GEN in call.targets:
        read = [record for word in words if not word.startswith("-") for record in read_images(Path(word))]
        words.append(str(make_registration(work, make_native(work, read))))
    with whole(out) as draft:
        command = [passes.host_driver(call), *_link_options(call.both), *call.host, "-o", str(draft), *words]
        sys.stderr.write(run(work, [*command, *_runtime(work)], "link"))
        if call.sycl:
            records = read_images(draft, bare=True)
            check_names(records)
            trouble = find_mixed(records) or ("" if call.shared else find_undefined(records))
            if trouble:
                raise FailedError(1, trouble)


def _link_options(words: list[str]) -> list[str]:
    """Give what of the words for both passes says something to a link too."""
    return [each for each in words if each.startswith(("-O", "-g", "-m", "-pthread", "-f", "-std="))]


def _runtime(work: CompileWork) -> list[str]:
    """Give the words that add the run time; a program finds it in the toolkit, a library by who loads it."""
    if not work.call.sycl:
        return []
    path = [] if work.call.shared else [f"-Wl,-rpath,{work.home.lib}"]
    return [f"-L{work.home.lib}", *path, "-lsycl-preview" if work.call.preview else "-lsycl"]


def link_device(work: CompileWork) -> None:
    """Make the object of a device link. Objects register their own SPIR-V, so without native code it holds nothing."""
    names = [Path(each.word) for each in work.call.inputs if not each.word.startswith("-")]
    records = [record for name in names for record in read_images(name)]
    check_names(records)
    record = make_native(work, records) if GEN in work.call.targets else ObjectImages("device link", ())
    with whole(Path(work.call.out or "a.out")) as draft:
        shutil.copyfile(make_registration(work, record), draft)


def read_images(path: Path, *, bare: bool = False) -> list[ObjectImages]:
    """Give the images of an object, an archive or a linked file, `bare` without their bytes."""
    try:
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
            return [record for member in _members(data) for record in _read_member(path, member, bare=bare)]
    except OSError as error:
        raise FailedError(1, f"{(error.strerror or 'cannot be read').lower()}: '{path}'") from error
    except ValueError:  # an empty file
        return []


def _read_member(path: Path, member: Buffer, *, bare: bool) -> list[ObjectImages]:
    """Give the images of an ELF file; anything else has none."""
    try:
        elf = Elf(member)
    except NotElfError:
        return []
    unknown = f"'{path}' has device images in a form that this driver does not know; compile it anew"
    try:
        found = list(find_records(elf, bare=bare))
    except (ValueError, LookupError, TypeError) as error:
        raise FailedError(1, unknown) from error
    if not found and any(each.name.endswith(NAMED) for each in elf.sections()):
        raise FailedError(1, unknown)
    return found


def _members(data: Buffer) -> Iterator[Buffer]:
    """Give the files in an archive, or the file itself."""
    if data[: len(ARCHIVE)] != ARCHIVE:
        yield data
        return
    at = len(ARCHIVE)
    while at + MEMBER <= len(data):
        size = int(data[at + 48 : at + 58])
        yield data[at + MEMBER : at + MEMBER + size]
        at += MEMBER + size + size % 2


def check_names(records: Iterable[ObjectImages]) -> None:
    """Refuse kernels that have one name and are written in two ways: the run time would take either for both."""
    seen: dict[str, tuple[str, str]] = {}
    for record in records:
        for name, told in ((name, told) for image in record.images for name, told in image.kernels.items()):
            mark, place = told.get("text", ""), f"{told.get('at', '?')} ({record.source})"
            first = seen.setdefault(name, (mark, place))
            if first[0] != mark:
                raise FailedError(
                    1,
                    f"two kernels are called '{name}': {first[1]} and {place}; the run time would take one of them for "
                    "both. Give one of them a name of its own",
                )
