"""Machine code for named GPUs, made from the images of a link by ocloc: only a link knows the list of GPUs.

`-fsycl-targets=spir64_gen,spir64 -Xs "-device LIST -options OPTION"`. Each image gives one archive of ocloc's for all
GPUs of the list, or for those that take the image: of fp64 on Arc A, ocloc makes none. What was made and what was
refused is kept by the SPIR-V, the list, the options and ocloc itself, so that an edited kernel costs ocloc for its own
image.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helperlib.output import NOT_READY, whole
from helperlib.sycl import cache
from helperlib.sycl.call import CallError
from helperlib.sycl.images import DeviceImage, ObjectImages
from helperlib.sycl.passes import native_options
from helperlib.sycl.work import FailedError, run_measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helperlib.sycl.work import CompileWork

GEN = "spir64_gen"
LIBRARIES = ("libigc.so*", "libocloc.so*")
PLACES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
PACKAGES = (
    "install ocloc with its compiler "
    "(Ubuntu: intel-ocloc; Debian sid: intel-ocloc and libigc2; Debian 12 and 13 have none)"
)
REFUSED = 245
"""What ocloc ends with where the code of an image cannot be built for a GPU (ocloc 26.27, as the next one)."""
IN_A_LIST = 1
"""What it ends with where it was called for several, whatever was wrong with one of them."""
SHOWN = 300
"""Characters of what ocloc said that are passed on."""


class Offline(NamedTuple):
    """What ocloc is asked for: the GPUs, by its own names, and its options in their order."""

    devices: tuple[str, ...]
    options: tuple[str, ...]


class Native(NamedTuple):
    """What ocloc made of an image, and which GPUs it made nothing for, with its reason."""

    image: DeviceImage | None
    refused: dict[str, str]


def parse_offline(told: Sequence[str]) -> Offline:
    """Read what `-Xs` hands on. Raises CallError without a list of GPUs.

    Blanks may stand behind backslashes, and all of it in quotes: up to 2.7 FindSYCL.cmake's command is not VERBATIM,
    so that CMake puts them there. The published wheels were made by that very line.
    """
    devices: list[str] = []
    options: list[str] = []
    words = [word for each in told for word in shlex.split(re.sub(r"\\ ", " ", each.strip().strip('"')))]
    while words:
        word = words.pop(0)
        if word not in {"-device", "-options", "-q"} or (word != "-q" and not words):
            raise CallError(f"-Xs '{word}': the offline compiler is told -device LIST and -options OPTION here")
        if word == "-device":
            devices = words.pop(0).split(",")
        elif word == "-options":
            options += shlex.split(words.pop(0))
    if not devices:
        raise CallError("ocloc: device is not specified: -Xs '-device LIST'")
    return Offline(tuple(devices), tuple(options))


def make_native(work: CompileWork, records: Iterable[ObjectImages]) -> ObjectImages:
    """Give the images of a link as machine code. Raises FailedError without ocloc."""
    offline = parse_offline(work.call.offline)
    offline = offline._replace(options=tuple(dict.fromkeys((*offline.options, *native_options(work.call)))))
    ocloc = find_ocloc(work)
    images = list({each.data: each for record in records for each in record.images if _is_whole(each)}.values())
    with ThreadPoolExecutor(work.call.link_jobs or len(os.sched_getaffinity(0))) as pool:
        made = list(pool.map(lambda each: compile_image(ocloc, each, offline), images))
    sys.stderr.write(tell_refused(work.call.name, zip(images, made, strict=True)))
    pairs = zip(images, made, strict=True)
    refused = tuple((gpu, name) for image, each in pairs for gpu in each.refused for name in image.kernels)
    return ObjectImages("device link", tuple(each.image for each in made if each.image), refused)


def _is_whole(image: DeviceImage) -> bool:
    """Say whether an image has kernels, and lacks no function of another image, which ocloc would not find."""
    return bool(image.kernels) and image.target != GEN and not image.properties.get("SYCL/imported symbols")


def find_ocloc(work: CompileWork) -> Path:
    """Give the offline compiler."""
    found = shutil.which("ocloc") or shutil.which("ocloc", path=str(work.home.folder / "bin"))
    if not found:
        raise FailedError(NOT_READY, f"there is no ocloc, and machine code was asked for by -device: {PACKAGES}")
    return Path(found)


def identify(ocloc: Path) -> list[str]:
    """Say which ocloc it is, and which compiler it loads."""
    told = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    places = [*(Path(each) for each in told if each), *map(Path, PLACES)]
    found = [path for place in places for pattern in LIBRARIES for path in sorted(place.glob(pattern))]
    return [cache.stat_of(path) for path in (ocloc, *found)]


def compile_image(ocloc: Path, image: DeviceImage, offline: Offline) -> Native:
    """Make machine code of an image for all GPUs that take it, or find what ocloc said of the same one before."""
    told = "\0".join((*offline.devices, "", *offline.options, "", *identify(ocloc)))
    folder = cache.place()
    kept = folder / "ahead" / sha256(image.data + told.encode()).hexdigest() if folder else None
    if kept and kept.is_file():
        os.utime(kept)
        head, _, data = kept.read_bytes().partition(b"\n")
        refused = json.loads(head)
    else:
        data, refused = _make(ocloc, image, offline)
        with suppress(OSError):  # a cache that cannot be written is passed over
            if kept:
                with whole(kept) as draft:
                    draft.write_bytes(json.dumps(refused).encode() + b"\n" + data)
    return Native(image._replace(target=GEN, data=data) if data else None, refused)


def _make(ocloc: Path, image: DeviceImage, offline: Offline) -> tuple[bytes, dict[str, str]]:
    """Call ocloc for all GPUs at once, or, where one refuses the image, for each and then for those that take it."""
    data, why = run_ocloc(ocloc, image, offline)
    if data or len(offline.devices) == 1:
        return data, {} if data else {offline.devices[0]: why}
    alone = {each: run_ocloc(ocloc, image, offline._replace(devices=(each,))) for each in offline.devices}
    refused = {each: why for each, (made, why) in alone.items() if not made}
    left = tuple(each for each in alone if each not in refused)
    if len(left) == 1:
        data = alone[left[0]][0]
    elif left:
        data, why = run_ocloc(ocloc, image, offline._replace(devices=left))
        if not data:
            raise FailedError(1, f"{why}; it was called for {','.join(left)}, each of which it takes alone")
    return data, refused


def run_ocloc(ocloc: Path, image: DeviceImage, offline: Offline) -> tuple[bytes, str]:
    """Give what ocloc makes, or nothing and why. Raises FailedError where it fails otherwise than by the image."""
    with tempfile.TemporaryDirectory(prefix="icpx-") as name:
        source, out = Path(name, "image.spv"), Path(name, "out")
        out.mkdir()
        source.write_bytes(image.data)
        line = [str(ocloc), "compile", "-q", "-spirv_input", "-file", str(source), "-device", ",".join(offline.devices)]
        line += ["-output", "made", "-output_no_suffix", "-out_dir", str(out)]
        line += [word for each in offline.options for word in ("-options", each)]
        code, told = run_measured(line, f"ocloc {','.join(offline.devices)}", cwd=Path(name))
        made = sorted(out.iterdir(), key=lambda path: path.stat().st_size)
        if code == 0 and made:
            return made[-1].read_bytes(), ""
    said = f"ocloc ended with {code}: {' '.join(told.split())[:SHOWN]}"
    if code not in {REFUSED, IN_A_LIST}:
        raise FailedError(1, f"{said}; it was called for {','.join(offline.devices)}: {shlex.join(line)}")
    return b"", said


def tell_refused(name: str, made: Iterable[tuple[DeviceImage, Native]]) -> str:
    """Say which kernels have no machine code for which GPU, and why."""
    lines = []
    for image, native in made:
        for device, why in native.refused.items():
            lines.append(f"{name}: note: no machine code for {device}: {', '.join(image.kernels)} ({why})\n")
    return "".join(lines)
