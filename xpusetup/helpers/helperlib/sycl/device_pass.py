"""The device pass as the driver sees it: a child that compiles, and what is made of its answer."""

from __future__ import annotations

import json
import os
import signal
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helperlib.sycl import depend, passes, refuse
from helperlib.sycl.diagnose import clean_log
from helperlib.sycl.header import kernel_names, kernel_places, map_file, map_header
from helperlib.sycl.images import DeviceImage, ObjectImages
from helperlib.sycl.rename import hide_types, rename_image, rename_text
from helperlib.sycl.spirv import drop_words
from helperlib.sycl.work import FailedError, run_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helperlib.sycl.call import Input
    from helperlib.sycl.work import CompileWork

CRASHED = 70
"""The exit code where the device compiler itself came to a bad end (EX_SOFTWARE)."""


def words_of(work: CompileWork, source: Input) -> list[str]:
    """Give the words of the pass, but for where it writes."""
    return [
        *passes.device_words(work.call, source, work.home),
        *(each for each in work.maps if each not in work.call.both),
        *passes.behind_clang(f"-fsycl-unique-prefix={unique_prefix(source.word, work.maps)}"),
    ]


def pass_device(work: CompileWork, source: Input, notes: depend.Notes) -> tuple[str, ObjectImages]:
    """Run the device pass; gives what it said and the images. The header for the host pass is in its place then."""
    noted = work.folder / "device.d"
    words = [
        *words_of(work, source),
        *passes.behind_clang(f"-fsycl-int-header={work.header}", f"-fsycl-int-footer={work.footer}"),
        *(notes.kind or "-MD", "-MF", str(noted)),
    ]
    answer = ask_device(work, source, words, only_hash=False)
    said = clean_log(answer["log"], work.home.folder)
    sys.stderr.write(said)
    if answer["failed"]:
        raise FailedError(1)
    header = work.header.read_text(encoding="utf-8")
    record = read_answer(work, source, answer, header)
    trouble = refuse.find_trouble(record.images, kernel_names(header))
    if refuse.is_esimd(record.images, depend.read_rule(noted.read_text())) and not work.call.host_is_clang:
        trouble = refuse.ESIMD
    if trouble:
        raise FailedError(1, f"{source.word}: {trouble}")
    work.header.write_text(map_header(header, work.maps), encoding="utf-8")
    return said, with_suffix(work, record, kernel_names(header)) if work.call.suffix else record


def with_suffix(work: CompileWork, record: ObjectImages, kernels: list[str]) -> ObjectImages:
    """Give the images, header and footer names of this library's own for the kernels."""
    for path in (work.header, work.footer):
        text = hide_types(path.read_text(encoding="utf-8"))
        path.write_text(rename_text(text, kernels, work.call.suffix), encoding="utf-8")
    return record._replace(images=tuple(rename_image(each, kernels, work.call.suffix) for each in record.images))


def unique_prefix(source: str, maps: Sequence[str]) -> str:
    """Give what tells the static device globals of a source from those of others, as clang's driver does."""
    return f"uid{sha256(map_file(os.path.abspath(source), maps).encode()).hexdigest()[:16]}"  # noqa: PTH100 - as text


def ask_device(work: CompileWork, source: Input, words: Sequence[str], *, only_hash: bool) -> dict[str, Any]:
    """Let a child compile for the device, or hash what it would compile. Raises FailedError where it dies."""
    request = work.folder / "request.json"
    told = {"jit": str(work.home.jit), "source": source.word, "words": list(words), "only_hash": only_hash}
    request.write_text(json.dumps(told), encoding="utf-8")
    driver = Path(__file__).resolve().parents[2] / "sycl_driver.py"
    command = (sys.executable, "-I", str(driver), "device-pass", str(request))
    if work.call.verbose:
        sys.stderr.write(f" (device pass) {passes.show([str(work.home.jit), *words, source.word])}\n")
    answer = work.folder / "answer.json"
    answer.unlink(missing_ok=True)
    which = "" if only_hash else "device"
    code, said = run_measured(command, which, TMPDIR=str(work.folder))  # it leaves folders there
    if code or not answer.is_file():
        how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
        why = "; that is what the kernel sends where memory is short" if code == -signal.SIGKILL else ""
        raise FailedError(CRASHED, f"the device compiler {how}{why}: {source.word}\n{said}".rstrip())
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    found["log"] = f"{found.get('log', '')}{said}"
    return found


def read_answer(work: CompileWork, source: Input, answer: dict[str, Any], header: str) -> ObjectImages:
    """Give the images of a device pass."""
    places = kernel_places(header, work.home.folder, work.maps)
    images = tuple(
        DeviceImage(
            "spir64",
            {name: places.get(name, {}) for name in each["kernels"]},
            each["properties"],
            drop_words(Path(each["file"]).read_bytes()),
        )
        for each in answer["images"]
    )
    return ObjectImages(map_file(os.path.normpath(source.word), work.maps), images)
