"""A call of the compiler, told apart: what it is to do, with what, and which words each pass gets."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from helperlib.sycl.words import Word, find_word

CPP = (".cpp", ".cc", ".cxx", ".c++", ".C", ".cp", ".CPP", ".sycl")
ASSEMBLY = (".s", ".S")
LANGUAGES = {"c", "c++", "c-header", "c++-header", "none"}
STAGES = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}
SWITCHES = {
    "-fsycl": "sycl",
    "-fno-sycl": "sycl",
    "-fsycl-link": "device_link",
    "-shared": "shared",
    "-static": "static",
    "-fpreview-breaking-changes": "preview",
    "-v": "verbose",
    "-###": "dry",
}
"""Words that stand alone, and the field that each sets."""
ASKED = {"--version", "-dumpversion", "-dumpmachine"}
TARGETS = {"spir64", "spir64_gen"}
DEEPEST = 20
"""Response files within response files."""


class CallError(Exception):
    """A call that is refused; the text is what clang would say, or says what to do instead."""


@dataclass(frozen=True)
class Input:
    """A word of the link line, in its order: a source with its language, an object or library, an option."""

    word: str
    language: str = ""


@dataclass
class CompilerCall:
    """What a call asks for. `both`, `device` and `host` are the words of the passes, `notes` those that list files.

    `link_jobs` is how many calls of ocloc may run at once; 0 is one for each processor.
    """

    name: str
    stage: str = "link"
    sycl: bool = False
    device_link: bool = False
    shared: bool = False
    static: bool = False
    preview: bool = False
    inputs: list[Input] = field(default_factory=list)
    both: list[str] = field(default_factory=list)
    device: list[str] = field(default_factory=list)
    host: list[str] = field(default_factory=list)
    targets: tuple[str, ...] = ("spir64",)
    offline: list[str] = field(default_factory=list)
    host_compiler: str = ""
    host_options: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    out: str = ""
    asked: str = ""
    verbose: bool = False
    dry: bool = False
    suffix: str = ""
    link_jobs: int = 0

    @property
    def host_is_clang(self) -> bool:
        """Say whether another clang compiles the host's half."""
        return "clang" in Path(self.host_compiler).name

    @property
    def sources(self) -> list[Input]:
        """Give what is to be compiled."""
        return [each for each in self.inputs if each.language]


def parse_call(name: str, words: list[str]) -> CompilerCall:
    """Tell the words of a call apart. Raises CallError for a word that is unknown, refused or lacks its argument."""
    call = CompilerCall(name)
    left, language = expand(words), ""
    while left:
        word = left.pop(0)
        if word == "-" or not word.startswith("-"):
            call.inputs.append(Input(word, language or _language_of(word, call)))
            continue
        row = find_word(word)
        if row is None:
            raise CallError(f"unknown argument: '{word}'")
        if row.kind == "refused":
            raise CallError(f"'{word}' is refused: {row.why}")
        if len(left) < row.arity:
            raise CallError(f"argument to '{word}' is missing (expected {row.arity} value)")
        values, left = left[: row.arity], left[row.arity :]
        if word.startswith("-x"):
            language = _language(word[2:] or values[0])
        else:
            _take(call, row, word, values)
    _check(call)
    return call


def expand(words: list[str], depth: int = 0) -> list[str]:
    """Put the words of response files (@FILE) in their place."""
    found: list[str] = []
    for word in words:
        if not (word.startswith("@") and Path(word[1:]).is_file()):
            found.append(word)
        elif depth == DEEPEST:
            raise CallError(f"response files within response files, more than {DEEPEST} deep: {word}")
        else:
            found += expand(shlex.split(Path(word[1:]).read_text(encoding="utf-8")), depth + 1)
    return found


def _language(told: str) -> str:
    if told not in LANGUAGES:
        raise CallError(f"language not recognized: '{told}'")
    return "" if told == "none" else told


def _language_of(word: str, call: CompilerCall) -> str:
    """Give the language by which a file is compiled; none for objects and libraries."""
    suffix = Path(word).suffix
    if suffix in CPP:
        return "c++"
    if suffix in ASSEMBLY:
        return "assembler"
    if suffix in {".c", ".i", ".ii"}:
        return {".c": "c", ".i": "cpp-output", ".ii": "c++-cpp-output"}[suffix]
    return "c++" if word == "-" and call.stage != "link" else ""


def _take(call: CompilerCall, row: Word, word: str, values: list[str]) -> None:
    """Give a word to whom its row says."""
    given = [word, *values]
    if row.kind == "own":
        _take_own(call, word, values)
    elif row.kind == "link":
        call.inputs += [Input(each) for each in given]
    elif row.kind == "both":
        call.both += given
    elif row.kind == "device":
        call.device += given
    if row.kind in {"host", "none", "device"} and (row.host is not None or row.kind == "host"):
        call.host += given if row.host is None else row.host


def _take_own(call: CompilerCall, word: str, values: list[str]) -> None:
    """Heed a word that is the driver's own."""
    if word in STAGES:
        call.stage = word
    elif word in ASKED:
        call.asked = word
    elif word in SWITCHES:
        setattr(call, SWITCHES[word], word != "-fno-sycl")
    elif word.startswith(("-fsycl-targets=", "-fsycl-host-compiler", "-fsycl-max-", "--xpusetup-")):
        _take_joined(call, word)
    else:
        _take_with_value(call, word, values)
    if word in {"-shared", "-static"}:
        call.inputs.append(Input(word))


def _take_joined(call: CompilerCall, word: str) -> None:
    """Heed a word whose value stands behind an equals sign."""
    name, _, value = word.partition("=")
    if name == "-fsycl-targets":
        call.targets = _targets(word, value)
    elif name == "-fsycl-host-compiler":
        call.host_compiler = value
    elif name == "-fsycl-max-parallel-link-jobs":
        call.link_jobs = int(value)
    elif name == "--xpusetup-kernel-suffix":
        call.suffix = f"_{value}"
    else:
        call.host_options = shlex.split(value)


def _take_with_value(call: CompilerCall, word: str, values: list[str]) -> None:
    """Heed a word of the driver's own whose value is joined to it or the next word."""
    if word.startswith("-Xs"):
        joined = [] if word == "-Xs" or word.startswith("-Xsycl-target-backend") else [f"-{word[3:]}"]
        call.offline += joined or values
    elif word.startswith("-o"):
        call.out = word[2:] or values[0]
    elif word.startswith("-M"):
        call.notes += [word, *values]
    else:
        raise AssertionError(word)


def _targets(word: str, value: str) -> tuple[str, ...]:
    targets = tuple(value.split(","))
    for target in targets:
        if target not in TARGETS:
            raise CallError(f"invalid target '{target}' in '{word}'")
    return targets


def _check(call: CompilerCall) -> None:
    """Refuse what does not go together."""
    if call.asked:
        return
    if not any(not each.word.startswith("-") or each.word == "-" for each in call.inputs) and not call.verbose:
        raise CallError("no input files")
    if call.stage != "link" and call.out and len(call.sources) > 1:
        raise CallError("cannot specify -o when generating multiple output files")
    for each in call.sources:
        if each.word != "-" and not Path(each.word).is_file():
            raise CallError(f"no such file or directory: '{each.word}'")
    if call.sycl and any(each.language == "c" and Path(each.word).suffix != ".c" for each in call.sources):
        raise CallError("'-x c' must not be used in conjunction with '-fsycl', expected '-x c++'")
