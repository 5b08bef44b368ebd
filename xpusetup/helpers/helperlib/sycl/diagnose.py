"""What the two passes say, as the words of one compiler: the paths of the wheel's folder, and each warning once."""

from __future__ import annotations

import re
from os.path import normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INSIDE = re.compile(r"/sycl-jit-toolchain(/[^\s:'\"<>,)]*)")
"""A path inside the library: it keeps the headers and its own folder there."""
PREFIX = re.compile(r"\A(?:Device compilation failed\n)?(?:Detailed information:\n)?\t?")
COLOURS = re.compile(r"\x1b\[[0-9;]*[mK]")
SAID = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? (?P<kind>warning|error|fatal error): (?P<text>.*)$")
FLAG = re.compile(r"\[-W(?:error=)?([\w+-]+)=?[^\]]*\]$")
CONTEXT = re.compile(
    r"^(In file included from|\s+from) |^\S.*: (In |At global scope|In instantiation|\s*required (from|by))"
)
NOTE = re.compile(r"^\S[^:]*:\d+:(?:\d+:)? note: ")
UNNAMED = re.compile(
    r"unnamed type '.*' is invalid; provide a kernel name, or use '-fsycl-unnamed-lambda' to enable unnamed kernel "
    r"lambdas"
)
NAMELESS = (
    "this lambda needs a kernel name, because g++ compiles the host code: q.parallel_for<class NAME>(...), or a "
    "functor of a named class"
)
UNDEFINED = re.compile(r"(Undefined function \S+ found in \S+)\. This may result in runtime errors\.")
JOINING = (
    r"\1; if another source has it, compile both with -fsycl-allow-device-image-dependencies, else no kernel "
    "that calls it can be launched"
)


def map_paths(text: str, folder: Path) -> str:
    """Put the folder of the toolkit in the place of the compiler's own."""
    return INSIDE.sub(lambda found: normpath(f"{folder}{found[1]}"), text)


def clean_log(text: str, folder: Path) -> str:
    """Give the device pass's words as they would stand on a screen."""
    text = UNNAMED.sub(NAMELESS, map_paths(PREFIX.sub("", text), folder))
    text = f"{UNDEFINED.sub(JOINING, text).rstrip()}\n"
    return "".join(dict.fromkeys(_at_launch(group, folder) for group in _groups(text))).lstrip("\n")


def _at_launch(group: list[str], folder: Path) -> str:
    """Give a message; one about a kernel's name, which is of SYCL's headers, at the line that launches the kernel."""
    said = next((found for line in group if (found := SAID.match(line.rstrip("\n")))), None)
    if said is not None and "kernel name" in said["text"] and said["file"].startswith(f"{folder}/"):
        for number, line in enumerate(group):
            if (note := NOTE.match(line)) and not line.startswith(f"{folder}/"):
                place = note[0].removesuffix(" note: ")
                return "".join((f"{place} error: {said['text']}\n", *group[number + 1 :]))
    return "".join(group)


def drop_repeated(host: str, device: str) -> str:
    """Leave out the host pass's warnings that the device pass gave of the same line under the same flag."""
    said = {key for group in _groups(device) for key in _keys(group)}
    return "".join("".join(group) for group in _groups(host) if not (set(_keys(group)) & said))


def _keys(group: list[str]) -> Iterator[tuple[str, str, str]]:
    """Give the file, the line and the flag of a warning."""
    for line in group:
        found = SAID.match(COLOURS.sub("", line.rstrip("\n")))
        if found is not None and found["kind"] == "warning" and (flag := FLAG.search(found["text"])):
            yield normpath(found["file"]), found["line"], flag[1]


def _groups(text: str) -> list[list[str]]:
    """Part a compiler's words into messages, each with what leads to it and the notes behind it."""
    groups: list[list[str]] = []
    before: list[str] = []
    for line in text.splitlines(keepends=True):
        plain = COLOURS.sub("", line.rstrip("\n"))
        if SAID.match(plain) or plain.startswith("cc1"):
            groups.append([*before, line])
            before = []
        elif CONTEXT.match(plain) or not groups:
            before.append(line)
        else:
            groups[-1] += [*before, line]
            before = []
    return [*groups, before] if before else groups
