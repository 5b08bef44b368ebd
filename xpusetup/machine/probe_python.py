"""The interpreter that carries the environment: found by version or path, or that of an environment that is there."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from xpusetup.base.document import read_as
from xpusetup.base.errors import NotReadyError
from xpusetup.machine.environments import ForeignEnvironment, Python
from xpusetup.system import files
from xpusetup.system.environment import which_python
from xpusetup.system.process import run_process

TIMEOUT_S = 10.0
"""Seconds that an interpreter may take to say what it is; on a network file system the first start is slow."""
LOOK = "helpers/adopt_environment.py"
ABOUT = """
import sys, sysconfig, os, importlib.util as u
print("%d.%d.%d" % sys.version_info[:3])
print(int(os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))))
print(int(u.find_spec("venv") is not None and u.find_spec("ensurepip") is not None))
print(int(bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))
"""
PACKAGES = {
    "debian": ("sudo apt-get install -y python{0} python{0}-venv python{0}-dev",),
    "fedora": ("sudo dnf install -y python{0} python{0}-devel",),
    "rhel": ("sudo dnf install -y python{0} python{0}-devel",),
    "suse": ("sudo zypper install -y python{1} python{1}-devel",),
}
"""What gets an interpreter, by distribution family; {0} is 3.12, {1} is 312."""
PACKAGED = "  # another way, where the packages of this system have it"
GET_UV = ("python3 -m venv ~/uv && ~/uv/bin/pip install uv", 'export PATH="$PATH:$HOME/uv/bin"')
"""Gets uv without root, and lets it be found in this shell: by the next call of this program too."""


def probe_python(wanted: str) -> Python:
    """Ask an interpreter what it is and whether it can carry an environment and compile extensions.

    `wanted` is a path, a version as in 3.11, or empty for the interpreter below the one that runs this. Raises
    NotReadyError where there is none that runs.
    """
    reasons = []
    for path in _candidates(wanted):
        output = run_process((path, "-I", "-c", ABOUT), seconds=TIMEOUT_S)
        lines = output.out.split()
        if output.code == 0 and len(lines) == 4 and _is_of(lines[0], wanted):  # noqa: PLR2004 - as many as ABOUT prints
            headers, venv, free = (line == "1" for line in lines[1:])
            return Python(executable=path, version=lines[0], headers=headers, venv=venv, free_threaded=free)
        reasons.append(
            f"{path} does not run: {_reason(output.why, output.err)}" if not lines else f"{path}: {lines[0]}"
        )
    if reasons:
        raise NotReadyError("\n".join(reasons), fix=_how_to_get(wanted) or "name another interpreter: --python PATH")
    raise NotReadyError(f"there is no {_name(wanted)} here", fix=_how_to_get(wanted) or "check the spelling")


def _reason(why: str, said: str) -> str:
    return why or next(iter(said.strip().splitlines()), "it says nothing")


def _is_version(wanted: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)*t?", wanted) is not None


def _is_of(version: str, wanted: str) -> bool:
    return not _is_version(wanted) or f"{version}.".startswith(f"{wanted.removesuffix('t')}.")


def _name(wanted: str) -> str:
    return f"python{wanted}" if _is_version(wanted) else wanted


def _candidates(wanted: str) -> Iterator[str]:
    """Yield interpreters in the order in which they are tried: PATH, then what uv and pyenv have; nothing is loaded."""
    if not wanted:
        base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        yield str(base) if base.exists() else sys.executable
        return
    if (path := which_python(_name(wanted))) is not None:
        yield path
    if _is_version(wanted):
        yield from _of_uv(wanted)
        yield from _of_pyenv(wanted)


def _of_uv(version: str) -> Iterator[str]:
    uv = shutil.which("uv")
    if uv is not None:
        words = ("python", "find", "--offline", "--no-python-downloads", "--no-project", "--system", version)
        output = run_process((uv, *words), seconds=TIMEOUT_S)
        if output.code == 0 and output.out.strip():
            yield output.out.strip()


def _of_pyenv(version: str) -> Iterator[str]:
    folder = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    there = (path for path in folder.glob(f"{version}*/bin/python") if _is_of(path.parts[-3], version))
    yield from map(str, sorted(there, key=_age, reverse=True))


def _age(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.parts[-3])]


def _how_to_get(wanted: str) -> str:
    """Give the commands that get an interpreter of a version; empty for a path."""
    if not _is_version(wanted):
        return ""
    import distro  # noqa: PLC0415 - for the error alone

    minor = ".".join(wanted.removesuffix("t").split(".")[:2])
    families = (distro.id(), *distro.like().split())
    packaged = next((PACKAGES[name] for name in families if name in PACKAGES), ())
    lines = [line.format(minor, minor.replace(".", "")) + PACKAGED for line in packaged]
    uv = () if shutil.which("uv") else GET_UV
    return "\n  ".join([*uv, f"uv python install {wanted}", *lines])


def probe_adopted(python: str) -> Python:
    """Look at an existing environment through its own interpreter. Raises NotReadyError where that does not run."""
    output = run_process((python, "-E", "-s", "-B", str(files.package_file(LOOK)), "--look"), seconds=TIMEOUT_S * 3)
    fix = "name an environment whose Python runs: --into DIR"
    if output.code != 0:
        raise NotReadyError(f"{python} does not run: {_reason(output.why, _last(output.err))}", fix=fix)
    try:
        seen = json.loads(output.out)
        version, headers = seen.pop("version"), seen.pop("headers")
        seen |= _of_another(seen["prefix"], Path(python).parent.parent)
        adopted = read_as(ForeignEnvironment, seen)
    except (ValueError, KeyError, TypeError) as error:
        raise NotReadyError(f"{python} does not say what it is", fix=fix) from error
    return Python(executable=python, version=version, headers=headers, venv=True, adopted=adopted)


def _of_another(prefix: str, named: Path) -> dict[str, str]:
    """Refuse a folder whose interpreter is a link to that of another place."""
    if Path(prefix).resolve() == named.resolve():
        return {}
    fix = "name the environment itself, or make one: python3 -m venv DIR"
    return {"prefix": str(named), "refused": f"its bin/python is that of {prefix}", "fix": fix}


def _last(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "")
