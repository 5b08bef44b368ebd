"""pip: constraints, requirements files and pip.conf of a project whose torch stays. Pure, line by line."""

import configparser
import re
from collections.abc import Sequence
from posixpath import dirname
from urllib.parse import quote, unquote

from packaging.requirements import InvalidRequirement, Requirement

from xpusetup.adopt.keeping import Keeping
from xpusetup.base.errors import UsageError

CONSTRAINTS = "xpusetup-constraints.txt"
MARK = "# torch stays: xpusetup adopt"
HEAD = f"{MARK}\n# What would replace it is refused; taken back by: xpusetup adopt --undo\n"
SECTION = re.compile(r"^\s*\[(.+)\]")
KEYS = re.compile(r"^\s+[^\s\[]")
COMMENT = re.compile(r"^\s*[#;]")
OPTIONS = re.compile(r"(?:^|\s)(?:#|--|\\$)")
"""Where a comment, an option of a requirement, or a line that goes on begins."""
KEY = re.compile(r"^\s*(?:--)?constraint\s*[=:]", re.IGNORECASE)


def render_constraints(keeping: Keeping) -> str:
    """Give the constraints: what stays in its version, and Tritons that no version may come of."""
    pins = [one.pin for one in keeping.pinned]
    return HEAD + "".join(f"{line}\n" for line in (*pins, *(f"{name}<0" for name in keeping.never)))


def adopt_requirements(text: str, keeping: Keeping) -> str:
    """Give a requirements file that names the constraints, and where the wheels are."""
    end = "\r\n" if "\r\n" in text else "\n"
    folders = dict.fromkeys(name_in_settings(dirname(one.source)) for one in keeping.keeps if one.kind == "wheel")
    lines = [f"-c {CONSTRAINTS}", *(f"--find-links {folder}" for folder in folders)]
    lines += [f"--extra-index-url {index}" for index in keeping.indexes]
    return "".join(f"{line}  {MARK}{end}" for line in lines) + text


def find_refused(text: str, keeping: Keeping) -> list[str]:
    """Give the requirements of a file that the constraints refuse: another torch, or a Triton that must not come."""
    found = (_requirement(line) for line in text.splitlines())
    return [str(one) for one in found if one is not None and keeping.refuses(one)]


def _requirement(line: str) -> Requirement | None:
    try:
        return Requirement(OPTIONS.split(line, maxsplit=1)[0])
    except InvalidRequirement:  # an option, a comment, a path
        return None


def leave_requirements(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.rstrip().endswith(MARK))


def name_in_settings(path: str) -> str:
    """Give the word by which settings name a file: pip parts words at blanks, whatever quotes are round them."""
    return path if len(path.split()) == 1 else f"file://{quote(path)}"


def path_of(word: str) -> str:
    return unquote(word.removeprefix("file://")) if word.startswith("file://") else word


def render_settings(word: str) -> str:
    """Give settings that name one file of constraints alone."""
    return f"[install]\nconstraint = {word}\n"


def adopt_settings(text: str, path: str, others: Sequence[str], where: str) -> str:
    """Give pip.conf with one more file of constraints in `[install]`, which hides those that others name elsewhere.

    Raises UsageError where pip cannot read what lies there, or would read it otherwise afterwards.
    """
    word = name_in_settings(path)
    wanted = _settings(text, where)
    there = wanted.get("install", {}).get("constraint", "").split()
    wanted["install"] = {**wanted.get("install", {}), "constraint": " ".join(sorted([*(there or others), word]))}
    found = _with_word(text, word, others)
    after = _settings(found, where)
    words = after.get("install", {}).get("constraint", "").split()
    if {**after, "install": {**after.get("install", {}), "constraint": " ".join(sorted(words))}} != wanted:
        fix = f"write it with [install] in a line of its own and each key below it at its beginning: {where}"
        raise UsageError(f"{where} is written in a form that cannot be edited safely", fix=fix)
    return found


def _settings(text: str, where: str) -> dict[str, dict[str, str]]:
    """Read settings as pip does. Raises UsageError where it could not."""
    found = configparser.RawConfigParser()
    try:
        found.read_string(text)
    except configparser.Error as error:
        why = str(error).splitlines()[0].replace("'<string>'", where)
        raise UsageError(f"pip cannot read {where}: {why}", fix="mend it, then the same command again") from None
    return {name: {_key(key): value for key, value in found.items(name)} for name in found.sections()}


def _key(name: str) -> str:
    return name.lower().removeprefix("--").replace("_", "-")


def _with_word(text: str, word: str, others: Sequence[str]) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    key, head = _line_in_install(lines, KEY), _line_in_install(lines, SECTION)
    if key is not None:
        body = lines[key].rstrip("\r\n")
        lines[key] = f"{body.rstrip()} {word}{lines[key][len(body) :]}"
        return "".join(lines)
    line = f"constraint = {' '.join((*others, word))}{end}"
    lines = [each if each.endswith(("\n", "\r")) else f"{each}{end}" for each in lines]
    if head is None:
        return "".join((*lines, f"[install]{end}", line))
    after = next((each for each in lines[head + 1 :] if each.strip() and not COMMENT.match(each)), "")
    lines.insert(head + 1, f"{after[: len(after) - len(after.lstrip())] if KEYS.match(after) else ''}{line}")
    return "".join(lines)


def leave_settings(text: str, path: str, before: str, after: str) -> str:
    """Take the file of constraints out of pip.conf again, with the key and the section that came for it alone."""
    found = re.sub(rf"[ \t]+{re.escape(path)}(?=\s|$)", "", text)
    lines = found.splitlines(keepends=True)
    key, head = _line_in_install(lines, KEY), _line_in_install(lines, SECTION)
    copied = read_constraints(after).get("install", [])
    if key is None or head is None or any(KEY.match(line) for line in _section(before)):
        return found
    if any(word not in copied for word in re.split(r"[=:]", lines[key], maxsplit=1)[1].split()):
        return found
    del lines[key]
    if not any(SECTION.match(line) for line in _section(before)) and not "".join(_section("".join(lines))[1:]).strip():
        del lines[head]
    return "".join(lines)


def _section(text: str) -> list[str]:
    """Give the lines of `[install]`, its head included."""
    lines, current = text.splitlines(keepends=True), ""
    found = []
    for line in lines:
        head = SECTION.match(line)
        current = head[1].strip() if head else current
        found += [line] if current == "install" else []
    return found


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
    keys = {name: dict(found.items(name)) for name in ("global", "install") if found.has_section(name)}
    return {
        name: {_key(key): value for key, value in each.items()}.get("constraint", "").split()
        for name, each in keys.items()
    }
