"""Looks at an environment that someone else made, before anything is installed into it. Never empties or remakes it.

It runs with that environment's own interpreter: what is installed and where, only that one knows.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from helperlib.env.distributions import canonical
from helperlib.output import NOT_READY, fail, write_json


def main() -> None:
    """Print what was seen, or hold it against what was planned, see to pip, and write down what it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--look", action="store_true", help="print what is seen as JSON, and nothing else")
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--python", help="the version that was planned for, as in 3.11")
    parser.add_argument("--requires", action="append", default=[], metavar="NAME==VERSION")
    parser.add_argument("--reports", type=Path, help="the folder for the reports of installations")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seen = look()
    if options.look:
        print(json.dumps(seen))
        return
    must_fit(seen, options.prefix, options.python)
    tell(seen, options.requires)
    if not seen["pip"]:  # as in an environment that `uv venv` made: install the one that Python brings along
        done = subprocess.run((sys.executable, "-m", "ensurepip", "--default-pip"), check=False)
        if done.returncode != 0:
            prefix = seen["prefix"]
            fail(f"pip could not be installed into {prefix}", f"uv pip install --python {prefix} pip", NOT_READY)
    options.reports.mkdir(parents=True, exist_ok=True)
    write(options.out, seen)


def must_fit(seen: EnvironmentLook, prefix: Path, python: str) -> None:
    """End when this is not the environment that was planned for, or none that may be used."""
    if seen["refused"]:
        fail(f"nothing can be installed into {prefix}: {seen['refused']}", seen["fix"], NOT_READY)
    if Path(seen["prefix"]).resolve() != prefix.resolve():
        what = f"{sys.executable} is of {seen['prefix']}, not of {prefix}"
        fail(what, "name the environment itself: --into", NOT_READY)
    if seen["version"].rsplit(".", 1)[0] != python:
        what = f"{prefix} has Python {seen['version']}, planned was {python}"
        fail(what, "plan it again: the same command that began this", NOT_READY)


def tell(seen: EnvironmentLook, requires: list[str]) -> None:
    print(f"{seen['kind']} {seen['prefix']}: Python {seen['version']}, {len(seen['installed'])} distributions")
    for pin in requires:
        name, _, version = pin.partition("==")
        here = seen["installed"].get(name, "")
        if here and here != version:
            print(f"changes {name} {here} -> {version}")
    for note in seen["notes"]:
        print(f"note: {note}")


def write(out: Path, seen: EnvironmentLook) -> None:
    """Write what the environment is, and nothing that an installation changes: later steps follow from this file."""
    minor = seen["version"].rsplit(".", 1)[0]
    document = {"schema": 1, "prefix": seen["prefix"], "kind": seen["kind"], "python": minor}
    write_json(out, document)


# What an existing environment is, as its own interpreter sees it: standard library alone, and nothing is changed.


LIBSTDCXX = re.compile(r"libstdc\+\+\.so\.6\.0\.(\d+)$")
SYSTEM = {"/", "/usr"}


class EnvironmentLook(TypedDict):
    """An environment. `refused` says why nothing may be installed into it, `fix` what to do then."""

    prefix: str
    version: str
    kind: str
    refused: str
    fix: str
    pip: bool
    headers: bool
    installed: dict[str, str]
    notes: list[str]


def look() -> EnvironmentLook:
    kind = kind_of(Path(sys.prefix), nested=sys.prefix != sys.base_prefix)
    refused, fix = refuse(kind)
    return {
        "prefix": sys.prefix,
        "version": ".".join(map(str, sys.version_info[:3])),
        "kind": kind,
        "refused": refused,
        "fix": fix,
        "pip": importlib.util.find_spec("pip") is not None,
        "headers": Path(sysconfig.get_paths()["include"], "Python.h").exists(),
        "installed": installed(),
        "notes": [*old_libstdcxx(Path(sys.prefix))] if kind == "conda" else [],
    }


def kind_of(prefix: Path, *, nested: bool) -> str:
    """Say what a prefix is: `venv`, `conda`, or an `interpreter` that is no environment of another."""
    if nested and (prefix / "pyvenv.cfg").exists():
        return "venv"
    return "conda" if (prefix / "conda-meta").is_dir() else "interpreter"


def refuse(kind: str) -> tuple[str, str]:
    """Say why this environment can't be used, and what to do; two empty texts where it can."""
    prefix, minor = sys.prefix, "{}.{}".format(*sys.version_info[:2])
    another = f"make one, and name it: {sys.executable} -m venv DIR; --into DIR"
    conda = f"make one, and name it: conda create -p DIR python={minor} pip; --into DIR"
    packages = Path(sysconfig.get_paths()["purelib"])
    usual = Path(prefix, "lib", f"python{minor}", "site-packages")
    closed = [path for path in (packages, Path(prefix, "bin"), Path(prefix)) if not os.access(path, os.W_OK)]
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    system = kind != "venv" and (prefix in SYSTEM or managed())
    frozen = (Path(prefix) / "conda-meta/frozen").exists()
    no_pip = all(importlib.util.find_spec(name) is None for name in ("pip", "ensurepip"))
    get_pip = f"conda install -p {prefix} pip" if kind == "conda" else f"uv pip install --python {prefix} pip"
    faults = (
        (free, "it is free-threaded, which no profile was made for", "name an environment of an ordinary Python"),
        (system, "it is the system's own Python, which its package manager looks after", another),
        (frozen, "it is a conda environment that was frozen (conda-meta/frozen)", conda),
        (packages != usual, f"it installs into {packages}, not into its lib/python{minor}", another),
        (bool(closed), f"{next(iter(closed), '')} may not be written to", f"ask its owner, or {another}"),
        (no_pip, "it has neither pip nor ensurepip", get_pip),
    )
    return next(((reason, fix) for wrong, reason, fix in faults if wrong), ("", ""))


def managed() -> bool:
    """Say whether this interpreter belongs to a package manager (PEP 668)."""
    return Path(sysconfig.get_paths()["stdlib"], "EXTERNALLY-MANAGED").exists()


def installed() -> dict[str, str]:
    """Give the version of every distribution that this interpreter sees; the first on its path is the one it uses."""
    found: dict[str, str] = {}
    for each in metadata.distributions():
        name, version = each.metadata["Name"], each.metadata["Version"]
        if name and version:  # what an interrupted installation leaves has neither
            found.setdefault(canonical(name), version)
    return dict(sorted(found.items()))


def old_libstdcxx(prefix: Path) -> list[str]:
    """Warn of a C++ library in the environment that is older than the compiler's: its python loads its own first."""
    theirs, ours = _level(prefix / "lib/libstdc++.so.6"), _level(_of_compiler())
    if theirs is None or ours is None or theirs >= ours:
        return []
    older = f"{prefix}/lib has libstdc++.so.6.0.{theirs}, older than g++'s own 6.0.{ours}"
    mend = f"conda install -p {prefix} -c conda-forge libstdcxx-ng"
    return [f"{older}: what is built may not load for lack of a GLIBCXX version; {mend} mends that"]


def _of_compiler() -> Path:
    if shutil.which("g++") is None:
        return Path()
    words = ("g++", "-print-file-name=libstdc++.so.6")
    return Path(subprocess.run(words, check=False, capture_output=True, text=True).stdout.strip())


def _level(library: Path) -> int | None:
    found = LIBSTDCXX.search(str(library.resolve())) if library.is_file() else None
    return int(found[1]) if found else None


if __name__ == "__main__":
    main()
