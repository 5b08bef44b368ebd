"""What lies beside torch in an environment and cannot be loaded there: looked at once, kept while nothing changes."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import Misfit
from xpusetup.system import files
from xpusetup.system.environment import cache_folder
from xpusetup.system.files import Sysroot
from xpusetup.system.process import run_process

HELPER = "helpers/inspect_fit.py"
READS = (
    *(
        HELPER,
        "machine/fit.py",
        "machine/fit_read.py",
        "helpers/helperlib/elf/file.py",
        "helpers/helperlib/elf/conflicts.py",
    ),
    *("helpers/helperlib/wheel/fit.py", "helpers/helperlib/wheel/runtime.py"),
)
"""What decides the answer: where one of them changed, what was kept counts for nothing."""
TIMEOUT_S = 30.0
"""Seconds that the look may take; most of an environment is listed, few files are read."""
CORE = "torch/lib/libtorch_cpu.so"


def find_misfits(prefix: Path, places: Sequence[Path]) -> list[Misfit] | None:
    """Give what cannot be loaded beside the torch of an environment; None without a torch, or where nobody could look.

    The answer is kept beside what tells that the environment is the same, a failure too: the next one is a few `stat`.
    """
    if not any((place / CORE).exists() for place in places):
        return None
    try:
        key = _key(prefix, places)
    except OSError:
        return None
    kept = cache_folder("fits") / f"{sha256(str(prefix).encode()).hexdigest()[:16]}.json"
    there, found = _read(kept, key)
    if not there:
        found = _look(prefix, places)
        _keep(kept, key, found)
    return found


def _key(prefix: Path, places: Sequence[Path]) -> str:
    told = [str(prefix), os.environ.get("LD_LIBRARY_PATH", ""), Sysroot.from_environment().text]
    told += [_stamp(files.package_file(name)) for name in READS]
    return sha256("\n".join((*told, *_stamps(places))).encode()).hexdigest()


def _stamps(places: Sequence[Path]) -> Iterator[str]:
    """Give what changes when something is installed, removed or replaced."""
    for place in places:
        yield _stamp(place / CORE)
        for name in sorted(os.listdir(place)):  # noqa: PTH208 - names alone
            if name.endswith(".dist-info"):
                yield _stamp(place / name / "RECORD")


def _stamp(path: Path) -> str:
    try:
        seen = path.stat()
    except OSError:
        return f"{path} -"
    return f"{path} {seen.st_size} {seen.st_mtime_ns}"


def _read(kept: Path, key: str) -> tuple[bool, list[Misfit] | None]:
    """Give whether there is an answer of this key, and the answer."""
    try:
        told = json.loads(files.read_text(kept) or "{}")
        rows = told["misfits"]
        found = rows if rows is None else [Misfit(**row) for row in rows]
        return told["key"] == key, found
    except (ValueError, KeyError, TypeError):
        return False, None


def _keep(kept: Path, key: str, found: list[Misfit] | None) -> None:
    """Write the answer down where that can be done; where not, it is looked for again."""
    rows = found if found is None else [asdict(one) for one in found]
    with suppress(NotReadyError):
        files.write_text(kept, json.dumps({"key": key, "misfits": rows}) + "\n")


def _look(prefix: Path, places: Sequence[Path]) -> list[Misfit] | None:
    from xpusetup.base.document import read_as  # noqa: PLC0415 - where the answer is kept, nothing is read or judged
    from xpusetup.machine.fit import name_misfits  # noqa: PLC0415 - same
    from xpusetup.machine.fit_read import Inspection  # noqa: PLC0415 - same

    sysroot = Sysroot.from_environment().text
    words = [word for place in places for word in ("--place", str(place))]
    words += ["--sysroot", sysroot] if sysroot else []
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    argv = (sys.executable, "-B", str(files.package_file(HELPER)), "--installed", "--prefix", str(prefix), *words)
    output = run_process(argv, seconds=TIMEOUT_S, env=kept, cwd=Path("/"))
    try:
        return name_misfits(read_as(Inspection, json.loads(output.out)), _python_of(places))
    except ValueError:
        return None


def _python_of(places: Sequence[Path]) -> str:
    found = (re.search(r"python(3\.\d+t?)/", f"{place}/") for place in places)
    return next((each[1] for each in found if each), "")


def read_version(places: Sequence[Path]) -> str:
    """Give the version of the torch that lies there; empty without one."""
    for place in places:
        found = re.search(r"^__version__ = '([^']+)'", files.read_text(place / "torch/version.py") or "", re.MULTILINE)
        if found:
            return found[1]
    return ""


def site_packages(prefix: Path) -> Iterator[Path]:
    """Give where an environment keeps its distributions, in the order in which its interpreter looks."""
    python = interpreter_of(prefix)
    if python is None:
        return
    minor = next(iter(re.findall(r"python(3\.\d+)$", str(python.resolve()))), "3.*")
    patterns = (f"lib/python{minor}/site-packages", f"lib64/python{minor}/site-packages")
    system = ("local/lib/python{0}/dist-packages", "lib/python3/dist-packages", "local/lib/python{0}/site-packages")
    own = () if (prefix / "pyvenv.cfg").exists() else tuple(pattern.format(minor) for pattern in system)
    seen = set()
    for path in (each for pattern in (*patterns, *own) for each in sorted(prefix.glob(pattern))):
        if path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


def interpreter_of(prefix: Path) -> Path | None:
    return next((path for name in ("python3", "python") if (path := prefix / "bin" / name).exists()), None)
