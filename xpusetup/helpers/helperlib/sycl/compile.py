"""A compile: device pass, host pass with what it needs to know of the kernels, and one object that holds both."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.output import whole
from helperlib.sycl import cache, depend, passes
from helperlib.sycl.call import CallError
from helperlib.sycl.device import NOTED
from helperlib.sycl.device_pass import ask_device, pass_device, words_of
from helperlib.sycl.diagnose import INSIDE, drop_repeated
from helperlib.sycl.images import ObjectImages, make_assembly, make_record
from helperlib.sycl.rename import hide_guards
from helperlib.sycl.work import run

if TYPE_CHECKING:
    from helperlib.sycl.call import CompilerCall, Input
    from helperlib.sycl.work import CompileWork


def compile_source(work: CompileWork, source: Input, out: Path) -> None:
    """Make the object of a source; it is there whole or not at all."""
    notes = depend.parse_notes(work.call.notes, "")
    if not work.call.sycl or source.language not in {"c", "c++"}:
        with whole(out) as draft:
            command = [*passes.host_command(work.call, source, work.home, None), host_stage(work.call)]
            line = [*command, "-o", str(draft), *_plain_notes(notes, work, source)]
            sys.stderr.write(run(work, line, "host"))
        return
    made = make_object(work, source, notes)
    if notes.kind:
        files = [depend.read_rule((work.folder / name).read_text()) for name in ("host.d", "device.d")]
        name = name_noted(work.call, source)
        depend.keep_rule(notes, name, depend.join_files(files, work.home.folder, work.folder))
    with whole(out) as draft:
        shutil.copyfile(made, draft)


def make_object(work: CompileWork, source: Input, notes: depend.Notes) -> Path:
    """Find the object of a source in the cache, or run both passes."""
    key = cache.find_key(work, source, words_of(work, source), notes)
    found = cache.fetch(key)
    if work.call.verbose and key:
        sys.stderr.write(f" (cache) {key}: {'found' if found else 'not there'}\n")
    if found:
        sys.stderr.write(found[1])
        return found[0]
    host, record, said = make_passes(work, source, notes)
    made = host if work.call.stage == "-S" else join(work, host, record)
    cache.keep(key, made, said)
    return made


def host_stage(call: CompilerCall) -> str:
    """Give how far the host's compiler goes with a source."""
    return "-S" if call.stage == "-S" else "-c"


def name_noted(call: CompilerCall, source: Input) -> str:
    """Give the name by which the list of included files calls what is made, as clang does."""
    return call.out or Path(source.word).with_suffix(".o").name


def _plain_notes(notes: depend.Notes, work: CompileWork, source: Input) -> list[str]:
    """Give g++ the words of a compile without SYCL that notes files."""
    if not notes.kind:
        return []
    name = name_noted(work.call, source)
    file = notes.file or str(Path(name).with_suffix(".d"))
    targets = [word for each in notes.targets or (name,) for word in ("-MT", each)]
    return [notes.kind, "-MF", file, *targets, *(("-MP",) if notes.phony else ())]


def make_passes(work: CompileWork, source: Input, notes: depend.Notes) -> tuple[Path, ObjectImages, str]:
    """Run both passes; gives the host's object, the images, of which no kernel is missing, and what was said."""
    said, record = pass_device(work, source, notes)
    host = work.folder / "host"
    noted = (notes.kind, "-MF", str(work.folder / "host.d"), "-MT", "host") if notes.kind else ()
    command = passes.host_command(work.call, source, work.home, work.header, str(with_footer(work, source) or ""))
    hidden = f"-ffile-prefix-map={work.folder}=/sycl"
    line = [*command, hidden, host_stage(work.call), "-o", str(host), *noted]
    more = drop_repeated(run(work, line, "host"), said)
    sys.stderr.write(more)
    if work.call.suffix and work.call.stage != "-S":
        hide_guards(host)
    return host, record, said + more


def with_footer(work: CompileWork, source: Input) -> Path | None:
    """Give a file that includes the source and then what the device pass puts behind it, if there is anything."""
    if not work.footer.is_file() or not work.footer.read_text(encoding="utf-8").strip():
        return None
    both = work.folder / "with_footer.cpp"
    both.write_text(f'#include "{Path(source.word).absolute()}"\n#include "{work.footer}"\n', encoding="utf-8")
    return both


def join(work: CompileWork, host: Path, record: ObjectImages) -> Path:
    """Give one relocatable object of the host's and of one that registers the images."""
    if not record.images:
        return host
    both, made = work.folder / "both.o", make_registration(work, record, passes.image_options(work.call))
    run(work, ("ld", "-r", "-o", str(both), str(host), str(made)))
    return both


def make_registration(work: CompileWork, record: ObjectImages, options: str = "") -> Path:
    """Give the object that holds images and registers them."""
    held, text, made = (work.folder / f"images.{suffix}" for suffix in ("bin", "s", "o"))
    parts, starts = make_record(record)
    with held.open("wb") as stream:
        stream.writelines(parts)
    text.write_text(make_assembly(record, held, starts, work.home.interface.descriptor, options), encoding="utf-8")
    run(work, ("g++", "-c", "-o", str(made), str(text)))
    return made


def preprocess(work: CompileWork, source: Input) -> None:
    """Write the preprocessed text of the host pass, or the files that both passes include."""
    notes = depend.parse_notes(work.call.notes, work.call.stage)
    command = passes.host_command(work.call, source, work.home, None)
    if work.call.stage == "-E":
        out = ["-o", work.call.out] if work.call.out else []
        sys.stderr.write(run(work, [*command, "-E", *out, *_plain_notes(notes, work, source)]))
        tell_device(work, source)
        return
    host, device = work.folder / "host.d", work.folder / "device.d"
    run(work, [*command, "-E", notes.kind, "-MF", str(host), "-MT", "host", "-o", os.devnull])
    files = [depend.read_rule(host.read_text())]
    if work.call.sycl:
        words = [*passes.device_words(work.call, source, work.home), notes.kind, "-MF", NOTED]
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


def tell_device(work: CompileWork, source: Input) -> None:
    """Put behind the preprocessed text of the host what the device pass reads, as markers and a comment.

    A compiler cache that asks for this text would give an old object where only the other pass sees a change.
    """
    if not work.call.sycl or {"-P", "-dM"} & set(work.call.host):
        return
    words = [*passes.device_words(work.call, source, work.home), "-MMD", "-MF", NOTED]
    answer = ask_device(work, source, words, only_hash=True)
    files = depend.read_rule((work.folder / "device.d").read_text())
    lines = [*(f'# 1 "{each}"' for each in files if not INSIDE.match(each)), f"// device pass: {answer['hash']}"]
    text = "\n".join(lines) + "\n"
    if work.call.out:
        with Path(work.call.out).open("a", encoding="utf-8") as stream:
            stream.write(text)
    else:
        sys.stdout.write(text)
