"""try: a change of torch-xpu-ops, compiled into the XPU of an installed torch and put in the place of what is there."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xpusetup.base.command import Command
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import XPU, Layout, Request
from xpusetup.bisect.io import Ancestry, check_out, open_ancestry
from xpusetup.commands.build import BuildOptions, render_options, run_purpose
from xpusetup.commands.build_result import BuildResult, render_command
from xpusetup.commands.result import Result
from xpusetup.config.profile import SourceComponent
from xpusetup.config.request import ABBREVIATED, COMMIT, PULL, choose, find_sources, names_to_ask, read_words, slug
from xpusetup.config.settings import make_network
from xpusetup.plan.addon import ADDON, OPS, TRIED
from xpusetup.run.manifest import read_document
from xpusetup.run.root import Root, read_lock
from xpusetup.run.workspace import Where, Workspace, open_built, with_compiler
from xpusetup.system.environment import variables
from xpusetup.system.git import ask_git, last_words, list_refs, must_git

AN_EXAMPLE = f"as in: xpusetup try {OPS}=pr/1234, {OPS}=COMMIT or {OPS}=DIR"
RESULT = f"results/{XPU}.json"


@dataclass(frozen=True, kw_only=True)
class TriedChange:
    """A change that was tried. `tree` has it; `changed` are its files beside what was compiled before it.

    `compiled` are the sources that were compiled again, `replaced` the files in `environment` that are others now.
    `seconds` by part. `back` puts the wheel back.
    """

    change: str
    tree: str
    changed: list[str]
    compiled: list[str]
    replaced: list[str]
    environment: str
    seconds: dict[str, float]
    back: str


def try_change(where: Where, change: str, options: BuildOptions) -> Result[TriedChange] | Result[BuildResult]:
    """Compile what a change touches, and put it in its place. Raises UsageError for what is no change.

    Raises NotReadyError where XPU was not built beside a torch, or a change does not fit.
    """
    name, _, what = change.partition("=")
    if name != OPS or not what:
        raise UsageError(f"{change!r} is no change of {OPS}", fix=AN_EXAMPLE)
    workspace, request = _find_build(where)
    place = Root(workspace.root)
    tree = _find_tree(workspace, request, what, str(read_document(place / RESULT).get("torch_xpu_ops", "")))
    asked = replace(request, set=(*request.set, (XPU, TRIED, str(tree))), verify="off")
    result = run_purpose(workspace, asked, options, ADDON)
    if failure := result.data.failure:
        again = workspace.command("try", change, *render_options(options))
        failure = replace(failure, go_on=replace(failure.go_on, command=again))
        return replace(result, data=replace(result.data, failure=failure, go_on=again))
    done: dict[str, Any] = read_document(place / RESULT)
    found = TriedChange(
        change=change,
        tree=str(tree),
        environment=workspace.layout.venv,
        back=render_command(workspace, request),
        **{each: done[each] for each in ("changed", "compiled", "replaced", "seconds")},
    )
    return Result("try", found)


def _find_build(where: Where) -> tuple[Workspace, Request]:
    """Give the build of XPU beside a torch that is meant, and what it was asked for. Raises NotReadyError."""
    workspace = open_built(where, half=True)
    lock = read_lock(Root(workspace.root)) or {}
    request = read_words([str(word) for word in lock.get("words", ())])
    built = Layout(**lock.get("layout", {})).outside.get("--into", "")
    into = workspace.layout.venv if where.into else built
    if into != built or request.only != (XPU,) or not (workspace.root / RESULT).is_file():
        told = f"no XPU was built beside the torch in {into}" if into else f"{workspace.root} has no XPU beside a torch"
        line = f"xpusetup build 2.6 --into {shlex.quote(into or 'ENV')} --only xpu --device processor"
        raise NotReadyError(told, fix="build it first: ", command=Command(line, gaps=() if into else ("ENV",)))
    named = replace(where, profile=where.profile or str(lock["named"]), root=str(workspace.root), name="", into=into)
    return open_built(with_compiler(named, request)), replace(request, verify="auto")


def _find_tree(workspace: Workspace, request: Request, what: str, pin: str) -> Path:
    """Give a tree with the change: the user's own, or the pinned one with what a commit or a pull request changes."""
    if not (PULL.fullmatch(what) or COMMIT.fullmatch(what) or ABBREVIATED.fullmatch(what)) or Path(what).is_dir():
        return Path(dict(find_sources((f"{OPS}={what}",)))[OPS])
    env = {**variables(), **make_network(workspace.settings.network, variables())}
    own = dict(request.sources).get(OPS, "")
    known = ask_git(env, "-C", own, "rev-parse", "--verify", "--quiet", f"{what}^{{commit}}") if own else None
    if known and known.code == 0:
        address, rev = own, known.out.strip()
    else:
        address = _address(workspace)
        rev = what if COMMIT.fullmatch(what) else choose(what, address, list_refs(address, names_to_ask(what), env)).rev
    line = open_ancestry(address, env)
    base = _base_of_pull(line, rev, pin) if PULL.fullmatch(what) else _parent(line, rev, pin)
    folder = workspace.root / "src/tried" / slug(rev)
    for each in (base, rev, pin):
        check_out(address, each, folder, env)
    patch = folder / ".git/change.patch"
    patch.write_text(must_git(address, env, "-C", str(folder), "diff", "--no-ext-diff", "--binary", base, rev))
    done = ask_git(env, "-C", str(folder), "apply", "--3way", str(patch))
    if done.code:
        fix = f"make it fit in a tree of your own, and name that: {OPS}=DIR"
        raise NotReadyError(f"{what} does not fit {OPS} at {pin[:12]}: {last_words(done)}", fix=fix)
    return folder


def _parent(line: Ancestry, rev: str, pin: str) -> str:
    """Give the commit that a commit is a change of."""
    line.bring(rev, pin)
    return line.describe(rev).parent


def _base_of_pull(line: Ancestry, rev: str, pin: str) -> str:
    """Give the commit that a pull request is a change of: on the main branch, or on that of the release if later."""
    main = list_refs(line.address, ("HEAD",), line.env)["HEAD"]
    line.bring(rev, pin, main)
    one, other = line.common(rev, main), line.common(rev, pin)
    return other if line.precedes(one, other) else one


def _address(workspace: Workspace) -> str:
    parts = (part for part in workspace.profile.components if isinstance(part, SourceComponent))
    return next(item.repo for part in parts for item in part.vendored if item.name == OPS)
