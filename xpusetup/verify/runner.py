"""Which environment is verified, and the helper that is started in it."""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from xpusetup.base.document import read_as
from xpusetup.base.model import Mode
from xpusetup.config.devices import Device
from xpusetup.run.manifest import read_document
from xpusetup.run.root import Root
from xpusetup.system import files
from xpusetup.system.environment import from_home
from xpusetup.system.process import ProcessOutput, follow_process, run_process
from xpusetup.verify.outcomes import Verification


@dataclass(frozen=True)
class Subject:
    """An environment to verify: its interpreter, the variables it is run with, what was asked of which device.

    `root` is that of the build, None where the environment is not ours; `whose` names it to people. `known` is the
    device of a profile, or of a file that was named, `modes` those that it was built for. Where steps of the build are
    `left`, `go_on` is the command that runs them.
    """

    python: Path
    env: Mapping[str, str]
    device: str
    whose: str
    root: Root | None = None
    known: Device | None = None
    modes: tuple[Mode, ...] = ()
    left: tuple[str, ...] = ()
    go_on: str = ""


# Starts the verification helper of this package with the interpreter of any environment.


LOOK = "import importlib.util, sys; print(*sys.version_info[:2], importlib.util.find_spec('torch') is not None)"
IMPORT = 900
"""Seconds that torch may take to be imported, or not to be, from a slow file system."""


class SeenInterpreter(NamedTuple):
    """An environment before it is verified. `python` is empty where its interpreter does not run; `why` says why."""

    python: tuple[int, ...]
    torch: bool
    why: str = ""


class VerifierRun(NamedTuple):
    """What the helper left: what it found (None where it came to no result), its exit code, its last words."""

    found: Verification | None
    code: int
    words: str


@dataclass(frozen=True, kw_only=True)
class DeviceCheck:
    """A check that there is, its area, and the level of verification from which on it is made; a gate always is."""

    id: str
    area: str
    title: str
    level: str


class ChosenDevice(NamedTuple):
    """The name of a device, and who or what chose it."""

    device: str
    why: str


def command(python: Path | str, *options: str) -> tuple[str, ...]:
    """Give the helper's command line. It leaves no byte code beside itself."""
    return (str(python), "-B", str(files.package_file("helpers") / "verify_device.py"), *options)


def list_checks() -> list[DeviceCheck]:
    return read_as(list[DeviceCheck], _parse(run_process(command(sys.executable, "--list"), seconds=60), []))


def look_at(python: Path) -> SeenInterpreter:
    """Ask an interpreter what it is, without importing torch."""
    output = run_process((str(python), "-c", LOOK), seconds=60)
    words = output.out.split()
    if output.code != 0 or not words:
        return SeenInterpreter((), torch=False, why=output.why or output.err.strip())
    return SeenInterpreter(tuple(map(int, words[:-1])), torch=words[-1] == "True")


def find_device(python: Path, env: Mapping[str, str]) -> ChosenDevice | None:
    """Ask torch which device is here, and why it is that one; None where torch cannot be asked."""
    found = _parse(run_process(command(python, "--which"), seconds=IMPORT, env=env), {})
    return ChosenDevice(found["device"], found.get("why", "")) if "device" in found else None


def run_verifier(
    python: Path, options: Sequence[str], env: Mapping[str, str], say: Callable[[str], None], junit: str = ""
) -> VerifierRun:
    """Verify, saying each line of the helper as it comes. It bounds itself, check by check.

    `junit` is a file for the same as JUnit XML: written here, where an open one has the name that the user gave.
    """
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        out, report = Path(folder) / "verify.json", Path(folder) / "junit.xml"
        more = ("--junit", str(report)) if junit else ()
        output = follow_process(command(python, *options, *more, "--out", str(out)), env=env, say=say)
        if junit and report.exists():
            files.write_text(from_home(junit), report.read_text(encoding="utf-8"))
        words = (output.err.strip() or output.why).splitlines()
        document = read_document(out)
        found = read_as(Verification, document) if document else None
        return VerifierRun(found, 1 if output.code is None else output.code, words[-1] if words else "")


def _parse(output: ProcessOutput, otherwise: Any) -> Any:
    try:
        return json.loads(output.out) if output.code == 0 else otherwise
    except json.JSONDecodeError:
        return otherwise
