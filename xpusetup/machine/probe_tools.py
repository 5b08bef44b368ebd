"""Programs, interpreters and toolkits: what is there, and what switching a toolkit on changes."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import Toolkit
from xpusetup.config.settings import Settings
from xpusetup.config.toolkit import PRODUCTS
from xpusetup.machine.activation import render_activation, render_first
from xpusetup.machine.facts import NO_COMPILER, PRELUDE, Facts, Tool, Toolkits, ToolkitSeen
from xpusetup.machine.parsers import parse_compiler_version, parse_ocloc_targets
from xpusetup.machine.probe_userland import probe_libraries
from xpusetup.system.files import Sysroot
from xpusetup.system.process import TIMEOUT_S, Notes, ask, run_process

# Switches a toolkit on in a shell of its own and writes down what that did to the environment.


FAIL = 'fail() { printf "%s\\n  %s\\n" "$1" "$2" >&2; exit "${3:-1}"; }'
KEPT = ("HOME", "PATH", "LANG", "TMPDIR", "TERM")


@dataclass(frozen=True)
class ActivationChange:
    """What an activation set and unset. Values are text as the process environment holds it, several lines included."""

    sets: Mapping[str, str]
    unsets: tuple[str, ...]


def capture(toolkit: Toolkit, *, seconds: float = 120.0) -> ActivationChange:
    """Give what switching the toolkit on changes, from a clean environment. Raises NotReadyError when it fails."""
    change, words = _capture(render_activation(toolkit), clean_environment(toolkit), seconds)
    if change is None:
        raise NotReadyError(f"the toolkit could not be switched on: {words}", fix=_by_hand(toolkit))
    return change


def capture_scripts(scripts: tuple[str, ...], *, seconds: float = 120.0) -> ActivationChange:
    """Give what the first of a device's scripts that is here changes; nothing where none is. Raises NotReadyError."""
    there = tuple(script for script in scripts if Path(script).is_file())[:1]
    if not there:
        return ActivationChange({}, ())
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    change, words = _capture(render_first(there), kept, seconds)
    if change is None:
        fix = f"try it by hand: env -i HOME=$HOME PATH=$PATH bash -c 'source {there[0]}; env'"
        raise NotReadyError(f"{there[0]} could not be sourced: {words}", fix=fix)
    return change


def _capture(activation: str, environment: Mapping[str, str], seconds: float) -> tuple[ActivationChange | None, str]:
    """Give what an activation changes; None and its last words where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        body = f"{{\n{activation}\n}} >&2"
        script = f'set -eu\n{FAIL}\nbefore=$1 after=$2\nenv -0 >"$before"\n{body}\nenv -0 >"$after"\n'
        argv = ("bash", "-c", script, "xpusetup", str(before), str(after))
        output = run_process(argv, seconds=seconds, env=environment)
        if output.code != 0:
            silent = output.why or f"it ended with {output.code} and gave no message"
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


def make_change(before: Mapping[str, str], after: Mapping[str, str]) -> ActivationChange:
    """Compare two dumps, leaving out what every shell changes."""
    own = {"_", "SHLVL", "PWD", "OLDPWD"}
    sets = {name: value for name, value in after.items() if name not in own and before.get(name) != value}
    return ActivationChange(sets, tuple(sorted(set(before) - set(after) - own)))


def holds_runtime(folder: str) -> bool:
    """Say whether a folder holds libraries that would come before those of the wheels."""
    names = ("libsycl*.so*", "libur_*.so*", "libc10*.so*", "libtorch*.so*")
    return any(next(Path(folder).glob(name), None) for name in names) if folder else False


MARK = "@xpusetup-line-ended-with:"
SAID = 2
"""Lines that are kept of what a failing one printed: from the first that complains on, else the last ones."""
COMPLAINS = re.compile(r"(?i)\b(?:error|unknown|unable|cannot|not found|no such|denied)\b")
SHELL = re.compile(r"^(?:/\S*)?bash: (?:-c: )?line \d+: ")
"""How bash begins what it says of a line."""


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
    version = parse_compiler_version(run_process((path, "--version"), seconds=TIMEOUT_S).out)
    return ToolkitSeen(root=change.sets.get("ONEAPI_ROOT", ""), compiler=path, version=version)


def _name_switch(settings: Settings) -> str:
    """Name the key that says how the toolkit is switched on, and its file."""
    key = next((each for each in ("modules", "prelude", "provider") if getattr(settings.toolkit, each)), "provider")
    return f"[toolkit] {key} of {settings.origins.get(f'toolkit.{key}', 'the site file')}"


def find_failed(prelude: tuple[str, ...], by_site: str, *, seconds: float = 120.0) -> str:
    """Run a prelude line by line and tell of the first that fails; empty where none does, or they are one command.

    `by_site` names the key and the file that it is of. A line that ends the shell, as `exit` does, fails too.
    Old modules end with 0 whatever happens: a `module load` that prints an error failed too.
    """
    body = "\n".join(f"{line}\necho {MARK}$? >&2" for line in prelude)
    if run_process(("bash", "-n", "-c", body), seconds=seconds).code != 0:  # a line alone is no whole command
        return ""
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    output = run_process(("bash", "-c", f"set +eu; set --\n{{ {body}\n}} >&2"), seconds=seconds, env=kept)
    parts = output.err.split(MARK)
    for line, said, after in zip(prelude, parts, parts[1:], strict=False):
        text = said.partition("\n")[2] if said is not parts[0] else said
        code, lines = int(after.split()[0]), [each.strip() for each in text.splitlines() if each.strip()]
        if code or (line.lstrip().startswith("module ") and any("error" in each.lower() for each in lines)):
            first = next(
                (place for place, each in enumerate(lines) if COMPLAINS.search(each)), max(0, len(lines) - SAID)
            )
            told = " / ".join(SHELL.sub("", each) for each in lines[first : first + SAID])
            return f"`{line}` in {by_site} ended with {code}{f': {told}' if told else ' and printed nothing'}"
    if len(parts) <= len(prelude):
        ended = output.why or f"ended the shell with {output.code}"
        return f"`{prelude[len(parts) - 1]}` in {by_site} {ended}"
    return ""


def _by_hand(toolkit: Toolkit) -> str:
    first = next(iter((*toolkit.prelude, *(f"source {script}" for script in toolkit.scripts))), "")
    if not first:
        return "xpusetup doctor --for build"
    return f"try it by hand: env -i HOME=$HOME PATH=$PATH bash -c '{first}; env'"


# Programs, interpreters and toolkits: what is there, and what each says of its version.


PROGRAMS = ("gcc", "g++", "clang++", "git", "cmake", "ninja", "uv", "ccache")
PARTS = ("compiler", "mkl", "pti", "ccl", "mpi", "umf", "tcm", "tbb", "dnnl", "ocloc", "dpl")


def probe_programs(compilers: Mapping[str, str] | None = None) -> list[Tool]:
    """Find the programs of a build on PATH, with the first line that each says of its version.

    `compilers` are those that a site has instead of gcc and g++, under whose names they are told, also where they lack.
    """
    own = {name: word for name, word in (compilers or {}).items() if word != name}
    found = [(name, path) for name in PROGRAMS if (path := shutil.which(own.get(name, name)) or own.get(name))]
    with ThreadPoolExecutor(len(PROGRAMS)) as pool:
        versions = pool.map(lambda pair: _first_line(pair[1]), found)
        return [
            Tool(name=name, path=path, version=version) for (name, path), version in zip(found, versions, strict=True)
        ]


def _first_line(path: str) -> str | None:
    output = run_process((path, "--version"), seconds=TIMEOUT_S) if "/" in path else None  # else it is not on PATH
    lines = output.out.splitlines() if output else []
    return lines[0] if output and output.code == 0 and lines else None


def probe_toolkits(sysroot: Sysroot, extra: str, notes: Notes) -> Toolkits:
    """Look for oneAPI where its users put it, the place that was named first; and for the device compiler."""
    home = os.environ.get("HOME", "")
    named = [extra, os.environ.get("ONEAPI_ROOT", "")]
    places = [place for place in (*named, "/opt/intel/oneapi", f"{home}/intel/oneapi") if place]
    searched = list(dict.fromkeys(place.rstrip("/") for place in places))
    ocloc = _ocloc(sysroot, searched)
    targets = ask(notes, "toolkits.ocloc", (ocloc, "compile", "--help")) if ocloc else None
    if ocloc and ocloc.startswith("/usr/bin/") and lacks_compiler(sysroot):
        notes["toolkits.ocloc"] = NO_COMPILER
    return Toolkits(
        found=[*_toolkits(sysroot, searched), *_open_compilers(sysroot, extra)],
        searched=searched,
        ocloc=ocloc,
        targets=None if targets is None else parse_ocloc_targets(targets),
    )


def lacks_compiler(sysroot: Sysroot) -> bool:
    """Say whether the linker knows no graphics compiler, which a system's ocloc loads: its package may not bring it."""
    known = probe_libraries(sysroot, {})
    return known is not None and not any(name.startswith("libigc.so.") for name in known)


def _ocloc(sysroot: Sysroot, places: list[str]) -> str | None:
    """Find the device compiler: on PATH, in a package that names it by version, or in a toolkit."""
    if (path := shutil.which("ocloc")) is not None:
        return path
    versioned = [str(path) for path in sorted(sysroot.path("/usr/bin").glob("ocloc-[0-9]*"))]
    patterns = ("*/latest/bin/ocloc", "*/bin/ocloc", "bin/ocloc")
    found = (path for place in places for pattern in patterns for path in sorted(sysroot.path(place).glob(pattern)))
    bundled = [str(path) for path in found]
    return next(reversed(versioned), next(iter(bundled), None))


def _toolkits(sysroot: Sysroot, places: list[str]) -> Iterator[ToolkitSeen]:
    for place in places:
        for compiler in _compilers(sysroot, place):
            path = sysroot.path(compiler)
            setvars = f"{place}/setvars.sh"
            yield ToolkitSeen(
                root=place,
                compiler=compiler,
                version=parse_compiler_version(run_process((str(path), "--version"), seconds=TIMEOUT_S).out),
                setvars=setvars if sysroot.path(setvars).exists() else None,
                scripts=list(_scripts(sysroot, place)),
                parts=[part for part in PARTS if sysroot.path(f"{place}/{part}").is_dir()],
            )


def _open_compilers(sysroot: Sysroot, extra: str) -> Iterator[ToolkitSeen]:
    """Find the open DPC++: in the place that was named, else on PATH, where PyTorch's CMake looks for it."""
    name = PRODUCTS["dpclang"].compiler
    named = f"{extra.rstrip('/')}/bin/{name}"
    here = extra and sysroot.path(named).exists()
    path, program = (named, str(sysroot.path(named))) if here else (shutil.which(name),) * 2
    if path and program:
        version = parse_compiler_version(run_process((program, "--version"), seconds=TIMEOUT_S).out)
        yield ToolkitSeen(kind="dpclang", root=str(Path(path).parents[1]), compiler=path, version=version)


def _scripts(sysroot: Sysroot, place: str) -> Iterator[str]:
    base = sysroot.path(place)
    for pattern in ("*/latest/env/vars.sh", "*/oneapi-vars.sh"):
        for path in sorted(base.glob(pattern)):
            yield f"{place}/{path.relative_to(base)}"


def _compilers(sysroot: Sysroot, place: str) -> Iterator[str]:
    """Yield every icpx once: that of `latest` first, other versions, then bundles whose folders lie together."""
    base = sysroot.path(place)
    seen = set()
    for pattern in ("compiler/latest/bin/icpx", "compiler/[0-9]*/bin/icpx", "*/bin/icpx"):
        for path in sorted(base.glob(pattern), reverse=True):
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield f"{place}/{path.relative_to(base)}"


def with_toolkit_of_shell(facts: Facts, settings: Settings) -> Facts:
    """Add the toolkit of the site's prelude, or of the caller's environment, where the site says that it is there."""
    if facts.toolkits is None or settings.toolkit.provider not in ("modules", "environment"):
        return facts
    prelude, by_site = tuple(settings.toolkit.prelude), _name_switch(settings)
    seen = find_through_shell(prelude)
    found = [seen] if seen is not None else []
    failed = find_failed(prelude, by_site) if prelude and not found else ""
    toolkits = replace(facts.toolkits, found=found, searched=[], by_site=by_site)
    return replace(facts, toolkits=toolkits, notes={**facts.notes, **({PRELUDE: failed} if failed else {})})
