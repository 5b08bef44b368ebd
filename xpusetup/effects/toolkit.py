"""Switches a toolkit on in a shell of its own and writes down what that did to the environment."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects.notes import PATIENCE
from xpusetup.effects.process import run_process
from xpusetup.emit.activation import render_activation, render_first
from xpusetup.errors import NotReadyError
from xpusetup.facts import ToolkitSeen
from xpusetup.model import Toolkit
from xpusetup.outputs.tools import parse_compiler_version

if TYPE_CHECKING:
    from collections.abc import Mapping

FAIL = 'fail() { printf "%s\\n  %s\\n" "$1" "$2" >&2; exit "${3:-1}"; }'
KEPT = ("HOME", "PATH", "LANG", "TMPDIR", "TERM")


@dataclass(frozen=True)
class Change:
    """What an activation set and unset. Values are text as the process environment holds it, several lines included."""

    sets: Mapping[str, str]
    unsets: tuple[str, ...]


def capture(toolkit: Toolkit, *, seconds: float = 120.0) -> Change:
    """Give what switching the toolkit on changes, from a clean environment. Raises NotReadyError when it fails."""
    change, words = _capture(render_activation(toolkit), clean_environment(toolkit), seconds)
    if change is None:
        raise NotReadyError(f"the toolkit could not be switched on: {words}", fix=_by_hand(toolkit))
    return change


def capture_scripts(scripts: tuple[str, ...], *, seconds: float = 120.0) -> Change:
    """Give what the first of a device's scripts that is here changes; nothing where none is. Raises NotReadyError."""
    there = tuple(script for script in scripts if Path(script).is_file())[:1]
    if not there:
        return Change({}, ())
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    change, words = _capture(render_first(there), kept, seconds)
    if change is None:
        fix = f"try it by hand: env -i HOME=$HOME PATH=$PATH bash -c 'source {there[0]}; env'"
        raise NotReadyError(f"{there[0]} could not be sourced: {words}", fix=fix)
    return change


def _capture(activation: str, environment: Mapping[str, str], seconds: float) -> tuple[Change | None, str]:
    """Give what an activation changes; None and its last words where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        body = f"{{\n{activation}\n}} >&2"
        script = f'set -eu\n{FAIL}\nbefore=$1 after=$2\nenv -0 >"$before"\n{body}\nenv -0 >"$after"\n'
        argv = ("bash", "-c", script, "xpusetup", str(before), str(after))
        output = run_process(argv, seconds=seconds, env=environment)
        if output.code != 0:
            silent = output.why or f"it ended with {output.code} and said nothing"
            return None, (output.err.strip().splitlines() or [silent])[-1]
        return make_change(parse_dump(before.read_bytes()), parse_dump(after.read_bytes())), ""


def clean_environment(toolkit: Toolkit) -> dict[str, str]:
    """Give the environment that an activation begins with."""
    everything = toolkit.provider == "environment"
    return {name: value for name, value in os.environ.items() if everything or name in KEPT}


def parse_dump(dump: bytes) -> dict[str, str]:
    """Read what `env -0` wrote."""
    pairs = (entry.partition(b"=") for entry in dump.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def make_change(before: Mapping[str, str], after: Mapping[str, str]) -> Change:
    """Compare two dumps, leaving out what every shell changes."""
    own = {"_", "SHLVL", "PWD", "OLDPWD"}
    sets = {name: value for name, value in after.items() if name not in own and before.get(name) != value}
    return Change(sets, tuple(sorted(set(before) - set(after) - own)))


def holds_runtime(folder: str) -> bool:
    """Say whether a folder holds libraries that would come before those of the wheels."""
    names = ("libsycl*.so*", "libur_*.so*", "libc10*.so*", "libtorch*.so*")
    return any(next(Path(folder).glob(name), None) for name in names) if folder else False


def find_through_shell(prelude: tuple[str, ...]) -> ToolkitSeen | None:
    """Find the compiler that a site's prelude (or, without one, the caller's own environment) puts on PATH."""
    toolkit = Toolkit(provider="modules" if prelude else "environment", version="", compiler="icpx", prelude=prelude)
    try:
        change = capture(toolkit)
    except NotReadyError:
        return None
    path = shutil.which("icpx", path=change.sets.get("PATH", os.environ.get("PATH")))
    if path is None:
        return None
    version = parse_compiler_version(run_process((path, "--version"), seconds=PATIENCE).out)
    return ToolkitSeen(root=change.sets.get("ONEAPI_ROOT", ""), compiler=path, version=version)


def _by_hand(toolkit: Toolkit) -> str:
    first = next(iter((*toolkit.prelude, *(f"source {script}" for script in toolkit.scripts))), "")
    if not first:
        return "xpusetup doctor --for build"
    return f"try it by hand: env -i HOME=$HOME PATH=$PATH bash -c '{first}; env'"
