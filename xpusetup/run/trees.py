"""Source trees of the user's own: those that a root keeps to, and what each is the source of."""

from __future__ import annotations

import ast
import re
import shlex
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from xpusetup.base.command import Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import XPU
from xpusetup.base.values import read_table
from xpusetup.base.verbs import sort_words
from xpusetup.config.request import EDITABLE, PINNED, render_request, with_sources
from xpusetup.run.journal import read_records
from xpusetup.run.root import Root, read_lock
from xpusetup.system import files
from xpusetup.system.environment import short_path
from xpusetup.system.git import has_changed
from xpusetup.system.trust import find_foreign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xpusetup.base.model import Request
    from xpusetup.config.profile import Profile
    from xpusetup.run.workspace import Workspace


# What a tree is the source of, as far as its files say it without being run. What says it no sooner than when it is
# built is told by the wheel that it makes.


def check_trees(profile: Profile, request: Request) -> None:
    """Raise UsageError for a tree that is of something else than the component that it is named for."""
    parts = {part.name: canonicalize_name(part.distribution) for part in profile.components if part.kind != "skip"}
    vendored = {item.name for part in profile.components if part.kind == "source" for item in part.vendored}
    for name, folder in request.sources:
        made = canonicalize_name(find_distribution(Path(folder)))
        own = {name, parts.get(name)}  # a build may rename what it makes, as triton's
        wrong = made not in own and (name in parts or made in parts.values())  # what is vendored makes none
        if not made or not wrong:
            continue
        fix = f"name the tree of {name}: --source {name}=DIR"
        other = next((part for part, distribution in parts.items() if distribution == made), "")
        if name not in {*parts, *vendored} and len(request.sources) == 1:
            word = f"{other}={folder}{EDITABLE if name in request.editable else ''}"
            line = Command(f"the same command with --source {shlex.quote(word)}", again=("--source", word))
            message = f"{profile.name} has no component {name!r}, and {folder} is the source of {made}"
            raise UsageError(f"{message}; did you mean {other}?", command=line)
        if other:
            fix = f"{fix}; this one is given so: --source {shlex.quote(f'{other}={folder}')}"
        raise UsageError(f"{folder} is the source of {made}, and not of {name}", fix=fix)


def find_distribution(tree: Path) -> str:
    """Give the distribution that a source tree makes; empty where its files do not say it."""
    folders = (tree, tree / "python")  # the second is Triton's before 3.4
    found = (name for folder in folders for name in _names(folder))
    return next((name for name in found if name), "")


def _names(folder: Path) -> Iterator[str]:
    yield str(read_table(_read(folder / "pyproject.toml"), "project").get("name", ""))
    config = ConfigParser(interpolation=None)
    try:
        config.read_string(_read(folder / "setup.cfg"))
        yield config.get("metadata", "name", fallback="")
    except ConfigError:
        pass
    yield _name_of_setup(_read(folder / "setup.py"))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _name_of_setup(text: str) -> str:
    """Give the name that a setup.py hands to setup(), where it stands there as text or in a variable of the file."""
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError):
        return ""
    given = [
        word.value
        for node in nodes
        if isinstance(node, ast.Call) and re.search(r"(?:^|\.)setup$", ast.unparse(node.func))
        for word in node.keywords
        if word.arg == "name"
    ]
    if len(given) == 1 and isinstance(given[0], ast.Name):
        told = [node for node in nodes if isinstance(node, ast.Assign)]
        given = [node.value for node in told if ast.unparse(node.targets[0]) == ast.unparse(given[0])]
    value = given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else ""
    return value if isinstance(value, str) else ""


# Trees of the user's own. A root that an option names was made for them: it keeps to those that it was last built of,
# because the pinned commit in their place costs hours, and whoever left an option out did not ask for that.


def keep_trees(workspace: Workspace, request: Request) -> tuple[Workspace, Request]:
    """Give the request with the trees that its root was last built of, and the workspace with a word on each.

    A tree stays until another, the pinned commit or another revision is asked for; so does `--verify off`. Where the
    root is that of the profile, they are left, which is said too. What names them has to be trusted as they are.
    Raises UsageError for a tree that is gone, and for one that is of something else.
    """
    check_trees(workspace.profile, request)
    with files.noting() as seen:
        lock = read_lock(Root(workspace.root)) or {}
    words = lock.get("words")
    if lock.get("named") != workspace.known["named"] or not isinstance(words, list):
        return workspace, replace(request, verify=request.verify or "auto")
    before = sort_words([str(word) for word in words])
    kept = before.get("--verify", [""])[0] == "off" and workspace.root_named and not request.verify
    request = replace(request, verify="off" if kept else request.verify or "auto")
    left = {name: tree for name, _, tree in (word.partition("=") for word in before.get("--source", ()))}
    left = {name: tree for name, tree in left.items() if _is_open(workspace, request, lock, name)}
    notes = [*workspace.take_notes, *(_say_tree(workspace, name, tree) for name, tree in left.items())]
    notes += ["not verified, as in the last build here; --verify auto verifies it"] if kept else []
    if workspace.root_named and left:
        for name, tree in left.items():
            request = _keep(workspace, request, name, tree)
        workspace = replace(workspace, foreign=(*workspace.foreign, *find_foreign(seen)))
    now = sort_words(render_request(request))
    gone = [(option, value) for option in ("--set", "--patch") for value in before.get(option, ())]
    gone = [(option, value) for option, value in gone if value not in now.get(option, ())]
    if gone:
        notes.append(f"the last build here was with {shlex.join(chain(*gone))}, which this one leaves out")
    return replace(workspace, take_notes=tuple(notes)), request


def _is_open(workspace: Workspace, request: Request, lock: Mapping[str, object], name: str) -> bool:
    """Say whether nothing was asked of a component whose tree the last build had, and the profile still has it."""
    parts = [part for part in workspace.profile.components if part.kind != "skip"]
    vendored = (item.name for part in parts if part.kind == "source" for item in part.vendored)
    revs = workspace.known["rev"] != lock.get("rev") and name in workspace.revs
    asked = name in {*dict(request.sources), *request.pinned} or revs or workspace.takes.get(name) == "wheel"
    return not asked and name in {*(part.name for part in parts), *vendored}


def _keep(workspace: Workspace, request: Request, name: str, tree: str) -> Request:
    try:
        return with_sources(request, [f"{name}={tree}"])
    except UsageError as error:
        why = f"the last build in {workspace.root} was of a tree of your own, {name}={tree}: {error.message}"
        pinned = workspace.command("build", *render_request(request), "--source", f"{name}={PINNED}")
        fix = f"name another: --source {name}=DIR; or build the pinned commit: "
        raise UsageError(why, fix=fix, command=pinned) from error


def _say_tree(workspace: Workspace, name: str, tree: str) -> str:
    folder = short_path(tree.removesuffix(EDITABLE))
    if workspace.root_named:
        return f"{name} is of your tree {folder}, as in the last build here; the pinned one: --source {name}={PINNED}"
    again = f"your tree again: --source {shlex.quote(f'{name}={short_path(tree)}')}"
    return f"{name} is the pinned one, where the last build here was of your tree {folder}; {again}"


# Trees of the user's own that are newer than what was built of them.


def find_newer(root: Root, profile: Profile, own: Mapping[str, Any]) -> dict[str, str]:
    """Give the trees (name -> folder) that changed since their build began, of those that the manifest names (`own`).

    Python of an editable tree needs no build, and does not count. Of an unpacked archive nothing is said.
    """
    runs = [one for one in read_records(root) if one.state == "ran"] if own else []
    began = {one.step: one.time - one.seconds for one in runs}
    parts = [part for part in profile.components if part.kind == "source"]
    owners = {item.name: part.name for part in parts for item in part.vendored}
    found = {}
    for name, one in own.items():
        editable, part = one.get("editable"), owners.get(name, name)
        linked = (own.get(part) or {}).get("editable")
        step = f"{part}.install" if editable or linked else f"{part}.build"
        since = began.get(step, began.get(f"{XPU}.build"))
        if since and has_changed(Path(one["folder"]), since, but=".py" if editable else ""):
            found[name] = one["folder"]
    return found


def describe_newer(newer: Mapping[str, str]) -> str:
    """Say which trees changed since they were built; empty for none."""
    folders = [short_path(folder) for folder in dict.fromkeys(newer.values())]
    verbs = "has changed since it was" if len(folders) == 1 else "have changed since they were"
    return f"{' and '.join(folders)} {verbs} built" if folders else ""
