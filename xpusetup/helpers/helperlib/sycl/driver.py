"""What a call of icpx or icx does: answers about itself, compiles, links."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.sycl import compile as compiling
from helperlib.sycl import link as linking
from helperlib.sycl import passes
from helperlib.sycl.call import CallError, CompilerCall, parse_call
from helperlib.sycl.home import HomeError, read_home
from helperlib.sycl.work import CompileWork, FailedError, begin

if TYPE_CHECKING:
    from types import FrameType

    from helperlib.sycl.home import Home

BANNER = """\
Intel(R) oneAPI DPC++/C++ Compiler {version} ({version}.{day})
Target: x86_64-unknown-linux-gnu
Thread model: posix
InstalledDir: {folder}/bin
Device pass: libsycl-jit of intel-sycl-rt {wheel}; host pass: g++
"""
ENDED = 128


def main(name: str, folder: Path, words: list[str]) -> int:
    """Do what a call asks for; gives its exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        home = read_home(folder)
        call = parse_call(name, words)
        begin(call)
        if call.asked:
            sys.stdout.write(answer(call, home))
            return 0
        if not call.inputs:
            sys.stderr.write(answer(CompilerCall(name, asked="--version"), home))
            return 0
        with tempfile.TemporaryDirectory(prefix="icpx-") as place:
            return perform(CompileWork(home, call, Path(place)))
    except (CallError, HomeError, FailedError) as error:
        if str(error):
            sys.stderr.write(f"{name}: error: {error}\n")
        return error.code if isinstance(error, FailedError) else 1
    except OSError as error:
        sys.stderr.write(f"{name}: error: {error.filename}: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return ENDED + signal.SIGINT


def _end(number: int, _frame: FrameType | None) -> None:
    """End as Python does at sys.exit: files that were begun are taken away."""
    raise SystemExit(ENDED + number)


def answer(call: CompilerCall, home: Home) -> str:
    """Give what the compiler says of itself."""
    known = home.interface
    if call.asked == "-dumpversion":
        return f"{known.compiler}\n"
    if call.asked == "-dumpmachine":
        return "x86_64-unknown-linux-gnu\n"
    return BANNER.format(version=known.compiler, day=known.day, folder=home.folder, wheel=home.version)


def perform(work: CompileWork) -> int:
    """Compile what is to be compiled, and link."""
    call = work.call
    if call.dry:
        sys.stderr.write(plan(work))
    elif call.device_link:
        linking.link_device(work)
    elif call.stage in {"-E", "-M", "-MM"}:
        for source in call.sources:
            compiling.preprocess(work, source)
    else:
        objects = {}
        for number, source in enumerate(call.sources):
            part = CompileWork(work.home, call, work.folder / str(number))
            part.folder.mkdir()
            out = place_of(part, source.word)
            compiling.compile_source(part, source, out)
            objects[source.word] = out
        if call.stage == "link":
            linking.link(work, objects)
    return 0


def place_of(work: CompileWork, source: str) -> Path:
    """Give where the object of a source belongs."""
    call = work.call
    if call.stage == "link":
        return work.folder / f"{Path(source).stem}.o"
    if call.stage == "-fsyntax-only":
        return work.folder / "checked.o"
    return Path(call.out or Path(source).with_suffix({"-c": ".o", "-S": ".s"}[call.stage]).name)


def plan(work: CompileWork) -> str:
    """Give the commands of a call, for -###."""
    lines = []
    for source in work.call.sources:
        if work.call.sycl:
            words = passes.device_words(work.call, source, work.home)
            lines.append(passes.show([str(work.home.jit), *words, source.word]))
        header = work.header if work.call.sycl else None
        lines.append(passes.show(passes.host_command(work.call, source, work.home, header)))
    if work.call.stage == "link":
        lines.append(passes.show([passes.host_driver(work.call), *(each.word for each in work.call.inputs)]))
    return "".join(f" {line}\n" for line in lines)
