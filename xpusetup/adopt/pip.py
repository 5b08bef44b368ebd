"""pip: constraints, requirements files and pip.conf of a project whose torch stays. Pure, line by line."""

from __future__ import annotations

import configparser
import re
from posixpath import dirname
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.adopt.keeping import Keeping

CONSTRAINTS = "xpusetup-constraints.txt"
MARK = "# torch stays: xpusetup adopt"
HEAD = f"{MARK}\n# What would replace it is refused; taken back by: xpusetup adopt --undo\n"
SECTION = re.compile(r"^\s*\[([^\]]+)\]\s*$")
OPTIONS = re.compile(r"(?:^|\s)(?:#|--|\\$)")
"""Where a comment, an option of a requirement, or a line that goes on begins."""
KEY = re.compile(r"^constraint\s*[=:]", re.IGNORECASE)


def render_constraints(keeping: Keeping) -> str:
    """Give the constraints: what stays in its version, and Tritons that no version may come of."""
    pins = [one.pin for one in keeping.keeps]
    return HEAD + "".join(f"{line}\n" for line in (*pins, *(f"{name}<0" for name in keeping.never)))


def adopt_requirements(text: str, keeping: Keeping) -> str:
    """Give a requirements file that names the constraints, and where the wheels are."""
    end = "\r\n" if "\r\n" in text else "\n"
    folders = dict.fromkeys(dirname(one.source) for one in keeping.keeps if one.kind == "wheel")
    lines = [f"-c {CONSTRAINTS}", *(f"--find-links {folder}" for folder in folders)]
    lines += [f"--extra-index-url {keeping.index}"] if keeping.index else []
    return "".join(f"{line}  {MARK}{end}" for line in lines) + text


def find_refused(text: str, keeping: Keeping) -> list[str]:
    """Give the requirements of a file that the constraints refuse: another torch, or a Triton that must not come."""
    found = (_requirement(line) for line in text.splitlines())
    kept = {one.name: one.version for one in keeping.keeps}
    return [
        str(one)
        for one in found
        if one is not None
        and (one.marker is None or one.marker.evaluate())
        and (name := canonicalize_name(one.name)) in keeping.names
        and (name not in kept or not one.specifier.contains(kept[name], prereleases=True))
    ]


def _requirement(line: str) -> Requirement | None:
    try:
        return Requirement(OPTIONS.split(line, maxsplit=1)[0])
    except InvalidRequirement:  # an option, a comment, a path
        return None


def leave_requirements(text: str) -> str:
    """Take our lines out."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.rstrip().endswith(MARK))


def adopt_settings(text: str, path: str, others: Sequence[str]) -> str:
    """Give pip.conf with one more file of constraints in `[install]`, which hides those that others name elsewhere."""
    lines = text.splitlines(keepends=True)
    key = _line_in_install(lines, KEY)
    if key is not None:
        end = len(lines[key]) - len(lines[key].rstrip("\r\n"))
        body, tail = (lines[key][:-end], lines[key][-end:]) if end else (lines[key], "")
        lines[key] = f"{body.rstrip()} {path}{tail}"
        return "".join(lines)
    line = f"constraint = {' '.join((*others, path))}\n"
    head = _line_in_install(lines, SECTION)
    if head is not None:
        lines.insert(head + 1, line)
        return "".join(lines)
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}[install]\n{line}"


def leave_settings(text: str, path: str) -> str:
    """Take the file of constraints out of pip.conf again."""
    return re.sub(rf"[ \t]+{re.escape(path)}(?=\s|$)", "", text)


def find_ours(settings: str) -> str:
    """Give the path by which pip.conf names our file of constraints: the project may have been moved since."""
    named = (name for names in read_constraints(settings).values() for name in names)
    return next((name for name in named if name.endswith(f"/{CONSTRAINTS}")), CONSTRAINTS)


def _line_in_install(lines: Sequence[str], wanted: re.Pattern[str]) -> int | None:
    """Give the line of the head of `[install]`, or of a key in it."""
    current = ""
    for number, line in enumerate(lines):
        found = SECTION.match(line)
        current = found[1].strip() if found else current
        if current == "install" and wanted.match(line):
            return number
    return None


def read_constraints(text: str) -> dict[str, list[str]]:
    """Give the files of constraints that settings name, by section; none where they cannot be read."""
    found = configparser.RawConfigParser(strict=False)
    try:
        found.read_string(text)
    except configparser.Error:
        return {}
    return {name: found.get(name, "constraint", fallback="").split() for name in ("global", "install")}
