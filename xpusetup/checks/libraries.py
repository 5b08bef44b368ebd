"""Libraries that cannot work together in one process: which symbol is missing, in which file, who needs it."""

from __future__ import annotations

import re
from posixpath import basename
from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import is_xpu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xpusetup.facts import Conflict, Torch

SYCL = re.compile(r"lib(sycl|ur_|umf|ze_|pi_)")
CXX = re.compile(r"lib(stdc\+\+|gcc_s)\.so")
HEADLINE: dict[str, str] = {
    "symbol": "{library} needs {names}",
    "version": "{library} needs {names}",
    "abi": "{library} is built for the other C++ ABI: it needs {names}",
    "torch": "{library} is built for another torch: it needs {names}",
    "majors": "{library} needs {names}, and another major of it is here",
    "missing": "{library} needs {names}, which is nowhere",
    "hidden": "the library path hides the {file} of the environment: the other lacks {names}",
    "offered": "the library path offers {names} beside {has}",
    "files": "{library} and {first} both wrote {names}",
}


def check_runtime(question: Question) -> Answer | None:
    """Look for another SYCL runtime, from outside, before what the environment brings or beside it."""
    return _answer(question, _is_runtime) if is_xpu(question) else None


def check_outside(question: Question) -> Answer | None:
    """Look for any other library from outside that takes the place of the one that is needed."""
    return _answer(question, lambda one, torch: _is_outside(one, torch) and not _is_runtime(one, torch))


def check_packages(question: Question) -> Answer | None:
    """Look for packages of the environment itself that do not fit together."""
    return _answer(question, _is_inside)


def check_files(question: Question) -> Answer | None:
    """Look for packages that wrote the same files."""
    return _answer(question, lambda one, _: one.kind == "files")


def driver_conflict(torch: Torch) -> Conflict | None:
    """Give the conflict of the system's driver with the C++ library that an environment brings."""
    return next((one for one in torch.conflicts or () if _is_cxx(one, torch)), None)


def _is_runtime(one: Conflict, torch: Torch) -> bool:
    return _is_outside(one, torch) and bool(SYCL.match(basename(one.first)))


def _is_outside(one: Conflict, torch: Torch) -> bool:
    return one.kind != "files" and bool(one.first) and not _is_of(one.first, torch)


def _is_inside(one: Conflict, torch: Torch) -> bool:
    return one.kind != "files" and not _is_outside(one, torch) and not _is_cxx(one, torch)


def _is_cxx(one: Conflict, torch: Torch) -> bool:
    mine = _is_of(one.first, torch) and not _is_of(one.library, torch)
    return one.kind == "version" and mine and bool(CXX.match(basename(one.first)))


def _is_of(path: str, torch: Torch) -> bool:
    return path.startswith(f"{torch.prefix}/")


def _answer(question: Question, wanted: Callable[[Conflict, Torch], bool]) -> Answer | None:
    torch = question.facts.torch
    if torch is None or torch.conflicts is None:
        return None
    found = sorted((one for one in torch.conflicts if wanted(one, torch)), key=_weight)
    if not found:
        return Answer("ok", "they fit together")
    words = {"python": torch.python, "wanted": wanted_packages(found[0])}
    return Answer(found[0].level, describe(found), words)


def _weight(one: Conflict) -> tuple[bool, bool, int, str]:
    """Put first what fails, and of that what other files prove; libsycl.so.9 before libsycl-preview.so.9."""
    return one.level != "fail", not one.has, len(basename(one.library)), one.library


def describe(found: Sequence[Conflict]) -> str:
    """Give the first conflict line by line, and how many more there are."""
    one = found[0]
    lines = [HEADLINE[one.kind].format(**_words(one))]
    if one.first and one.kind not in ("hidden", "offered", "files"):
        lacks = "" if one.kind == "majors" else ", which lacks it" if one.count == 1 else ", which lacks them"
        lines.append(f"found first: {one.first}{_owner(one, 'first')}{lacks}")
    if one.kind in ("hidden", "offered"):
        lines.append(f"found first: {one.first}{_owner(one, 'first')}")
    if one.has and one.kind != "majors":
        lines.append(
            f"{'of the environment' if one.kind == 'offered' else 'exported by'}: {one.has}{_owner(one, 'has')}"
        )
    elif one.has:
        lines.append(f"and {one.has}{_owner(one, 'has')}")
    if len(found) > 1:
        lines.append(f"and {len(found) - 1} more like it")
    return "\n".join(lines)


def _words(one: Conflict) -> dict[str, str]:
    more = one.count - 1
    names = one.names[0] if one.names else ""
    told = f"{names} and {more} more" if more > 0 else names
    if one.kind == "files":
        return {"library": one.owners.get("library", ""), "first": one.owners.get("first", ""), "names": told}
    library = f"{basename(one.library)}{_owner(one, 'library')}"
    return {"library": library, "names": told, "file": basename(one.first), "has": basename(one.has)}


def _owner(one: Conflict, part: str) -> str:
    owner = {str(name): value for name, value in one.owners.items()}.get(part)
    return f" ({owner})" if owner else ""


def wanted_packages(one: Conflict) -> str:
    """Give what pip is to install so that two packages agree: the other one in the version of the one that needs it."""
    needer, _, version = one.owners.get("library", "").partition(" ")
    brings = (one.owners.get("first") or "").partition(" ")[0]
    family = brings.startswith("intel-") and needer.startswith("intel-")
    if one.kind in ("symbol", "version") and family:
        return f"{brings}=={version}"
    return f"--force-reinstall {needer}" if needer else "--force-reinstall torch"
