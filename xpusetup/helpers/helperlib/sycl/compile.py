"""A compile: device pass, host pass with what it needs to know of the kernels, and one object that holds both."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helperlib.output import whole
from helperlib.sycl import depend, passes, refuse
from helperlib.sycl.call import CallError
from helperlib.sycl.diagnose import clean_log, drop_repeated
from helperlib.sycl.header import MAP, kernel_names, kernel_places, map_file, map_header
from helperlib.sycl.images import Image, Record, make_assembly, make_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helperlib.sycl.call import Call, Input
    from helperlib.sycl.home import Home

CRASHED = 70
"""The exit code where the device compiler itself came to a bad end (EX_SOFTWARE)."""


class FailedError(Exception):
    """A pass failed, and has said why; holds the exit code."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Work(NamedTuple):
    """Where a call works: the toolkit, the call, a folder of its own."""

    home: Home
    call: Call
    folder: Path

    @property
    def header(self) -> Path:
        """Give the integration header."""
        return self.folder / "header.h"

    @property
    def footer(self) -> Path:
        """Give what belongs behind the source."""
        return self.folder / "footer.h"

    @property
    def maps(self) -> tuple[str, ...]:
        """Give the options that say which names files get in what is made."""
        return tuple(each for each in (*self.call.both, *self.call.host_options) if MAP.fullmatch(each))


def run(work: Work, command: Sequence[str]) -> str:
    """Run a command of the host; gives what it said on stderr. Raises FailedError with its words said."""
    if work.call.verbose:
        sys.stderr.write(f" {passes.show(list(command))}\n")
    try:
        done = subprocess.run(command, check=False, stderr=subprocess.PIPE, env=passes.environment())
    except OSError as error:
        raise FailedError(1, f"{command[0]} does not run: {error.strerror}") from error
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        sys.stderr.write(said)
        raise FailedError(done.returncode if done.returncode > 0 else 1)
    return said


def compile_source(work: Work, source: Input, out: Path) -> None:
    """Make the object of a source; it is there whole or not at all."""
    notes = depend.parse_notes(work.call.notes, "")
    if not work.call.sycl or source.language not in {"c", "c++"}:
        with whole(out) as draft:
            command = [*passes.host_command(work.call, source, work.home, None), host_stage(work.call)]
            sys.stderr.write(run(work, [*command, "-o", str(draft), *_plain_notes(notes, work, source)]))
        return
    host, record = make_passes(work, source, notes)
    made = host if work.call.stage == "-S" else join(work, host, record)
    if notes.kind:
        files = [depend.read_rule((work.folder / name).read_text()) for name in ("host.d", "device.d")]
        name = name_noted(work.call, source)
        depend.keep_rule(notes, name, depend.join_files(files, work.home.folder, work.folder))
    with whole(out) as draft:
        shutil.copyfile(made, draft)


def host_stage(call: Call) -> str:
    """Give how far the host's compiler goes with a source."""
    return "-S" if call.stage == "-S" else "-c"


def name_noted(call: Call, source: Input) -> str:
    """Give the name by which the list of included files calls what is made, as clang does."""
    return call.out or Path(source.word).with_suffix(".o").name


def _plain_notes(notes: depend.Notes, work: Work, source: Input) -> list[str]:
    """Give g++ the words of a compile without SYCL that notes files."""
    if not notes.kind:
        return []
    name = name_noted(work.call, source)
    file = notes.file or str(Path(name).with_suffix(".d"))
    targets = [word for each in notes.targets or (name,) for word in ("-MT", each)]
    return [notes.kind, "-MF", file, *targets, *(("-MP",) if notes.phony else ())]


def make_passes(work: Work, source: Input, notes: depend.Notes) -> tuple[Path, Record]:
    """Run both passes; gives the host's object and the images, of which no kernel is missing."""
    said, record = pass_device(work, source, notes)
    host = work.folder / "host"
    noted = (notes.kind, "-MF", str(work.folder / "host.d"), "-MT", "host") if notes.kind else ()
    command = passes.host_command(work.call, source, work.home, work.header, str(with_footer(work, source) or ""))
    hidden = f"-ffile-prefix-map={work.folder}=/sycl"
    sys.stderr.write(drop_repeated(run(work, [*command, hidden, host_stage(work.call), "-o", str(host), *noted]), said))
    return host, record


def pass_device(work: Work, source: Input, notes: depend.Notes) -> tuple[str, Record]:
    """Run the device pass; gives what it said and the images. The header for the host pass is in its place then."""
    noted = work.folder / "device.d"
    words = [
        *passes.device_words(work.call, source, work.home),
        *(each for each in work.maps if each not in work.call.both),
        *passes.behind_clang(f"-fsycl-unique-prefix={unique_prefix(source.word, work.maps)}"),
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
    return said, record


def unique_prefix(source: str, maps: Sequence[str]) -> str:
    """Give what tells the static device globals of a source from those of others, as clang's driver does."""
    return f"uid{sha256(map_file(os.path.abspath(source), maps).encode()).hexdigest()[:16]}"  # noqa: PTH100 - as text


def with_footer(work: Work, source: Input) -> Path | None:
    """Give a file that includes the source and then what the device pass puts behind it, if there is anything."""
    if not work.footer.is_file() or not work.footer.read_text(encoding="utf-8").strip():
        return None
    both = work.folder / "with_footer.cpp"
    both.write_text(f'#include "{Path(source.word).absolute()}"\n#include "{work.footer}"\n', encoding="utf-8")
    return both


def ask_device(work: Work, source: Input, words: Sequence[str], *, only_hash: bool) -> dict[str, Any]:
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
    code = subprocess.call(command, env=passes.environment())
    if code or not answer.is_file():
        how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
        why = "; that is what the kernel sends where memory is short" if code == -signal.SIGKILL else ""
        raise FailedError(CRASHED, f"the device compiler {how}{why}: {source.word}")
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return found


def read_answer(work: Work, source: Input, answer: dict[str, Any], header: str) -> Record:
    """Give the images of a device pass."""
    places = kernel_places(header, work.home.folder, work.maps)
    images = tuple(
        Image(
            "spir64",
            {name: places.get(name, {}) for name in each["kernels"]},
            each["properties"],
            Path(each["file"]).read_bytes(),
        )
        for each in answer["images"]
    )
    return Record(os.path.normpath(source.word), images)


def join(work: Work, host: Path, record: Record) -> Path:
    """Give one relocatable object of the host's and of one that registers the images."""
    if not record.images:
        return host
    both, made = work.folder / "both.o", make_registration(work, record, passes.image_options(work.call))
    run(work, ("ld", "-r", "-o", str(both), str(host), str(made)))
    return both


def make_registration(work: Work, record: Record, options: str = "") -> Path:
    """Give the object that holds images and registers them."""
    held, text, made = (work.folder / f"images.{suffix}" for suffix in ("bin", "s", "o"))
    data, starts = make_record(record)
    held.write_bytes(data)
    text.write_text(make_assembly(record, held, starts, work.home.interface.descriptor, options), encoding="utf-8")
    run(work, ("g++", "-c", "-o", str(made), str(text)))
    return made


def preprocess(work: Work, source: Input) -> None:
    """Write the preprocessed text of the host pass, or the files that both passes include."""
    notes = depend.parse_notes(work.call.notes, work.call.stage)
    command = passes.host_command(work.call, source, work.home, None)
    if work.call.stage == "-E":
        out = ["-o", work.call.out] if work.call.out else []
        sys.stderr.write(run(work, [*command, "-E", *out, *_plain_notes(notes, work, source)]))
        return
    host, device = work.folder / "host.d", work.folder / "device.d"
    run(work, [*command, "-E", notes.kind, "-MF", str(host), "-MT", "host", "-o", os.devnull])
    files = [depend.read_rule(host.read_text())]
    if work.call.sycl:
        words = [*passes.device_words(work.call, source, work.home), notes.kind, "-MF", str(device)]
        if ask_device(work, source, words, only_hash=True)["failed"]:
            raise CallError(f"the device pass cannot preprocess '{source.word}'")
    files.append(depend.read_rule(device.read_text()) if device.is_file() else [])
    name = Path(source.word).with_suffix(".o").name
    rule = depend.write_rule(notes, name, depend.join_files(files, work.home.folder, work.folder))
    place = notes.file or work.call.out
    if place:
        with whole(Path(place)) as draft:
            draft.write_text(rule)
    else:
        sys.stdout.write(rule)
