"""verify: the checks of the verification helper, in the built environment or in any other that has torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.commands.accelerators import is_device_file, read_device
from xpusetup.commands.default import open_built
from xpusetup.commands.inspecting import find_built, run_environment
from xpusetup.commands.places import check_folder
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import describe_device
from xpusetup.effects import verifier
from xpusetup.effects.environment import variables
from xpusetup.effects.manifest import read_proof, record_verification
from xpusetup.errors import NoDeviceError, NotReadyError, UsageError, WorkFailedError
from xpusetup.pairing import device_modes, find_mode
from xpusetup.plan.verify import device_options, parse_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from xpusetup.commands.places import Where
    from xpusetup.devices import Device
    from xpusetup.effects.root import Root
    from xpusetup.model import Mode

    Say: TypeAlias = Callable[[str], None]

AUTO = "auto"
BAD_USAGE, NO_DEVICE = 2, 4
OLDEST = (3, 10)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What to verify. An empty `device` is the profile's, an empty `junit` no such file, `patience` in seconds."""

    device: str = ""
    level: str = "smoke"
    junit: str = ""
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    patience: float = 300
    throughput: bool = False
    mode: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing was left out, so that the answer holds for the device."""
        return not self.only and not self.skip and not self.mode


@dataclass(frozen=True)
class Subject:
    """An environment to verify: its interpreter, the variables it is run with, what was asked of which device.

    `root` is that of the build, None where the environment is not ours; `whose` names it to people. `known` is the
    device of a profile, or of a file that was named, `modes` those that it was built for.
    """

    python: Path
    env: Mapping[str, str]
    device: str
    whose: str
    root: Root | None = None
    known: Device | None = None
    modes: tuple[Mode, ...] = ()


LACKS = "xpusetup doctor --for run"
"""What says why a device that should be here is not."""


def list_checks() -> Result:
    """Say which checks there are, in order."""
    return Result("verify", {"list": verifier.list_checks()})


def verify(where: Where, asked: Asked, say: Say) -> Result:
    """Compute on the device and compare with the CPU. Raises NoDeviceError where there is none."""
    given = read_device(asked.device) if is_device_file(asked.device) else None
    asked = replace(asked, device=given.name) if given else asked
    subject = find_subject(where, asked)
    subject = replace(subject, known=given) if given else subject
    chosen = choose_device(subject, asked)
    device = describe(subject, chosen["device"])
    subject, within = _in_mode(subject, asked, device)
    options = (*(device_options(device) if device else ("--device", AUTO)), *_options(within))
    proof = read_proof(subject.root) if subject.root else {}
    document, code, words = verifier.run_verifier(subject.python, options, subject.env, say)
    if code == BAD_USAGE:
        raise UsageError(words.partition("error: ")[2] or words, fix="all checks: xpusetup verify --list")
    if code == NO_DEVICE:
        raise NoDeviceError(
            f"there is no {device.title if device else 'device'} here to verify {subject.whose} on",
            fix="verify it on a machine that has one; what is missing here: xpusetup doctor --for run",
        )
    if not document:
        raise WorkFailedError(f"the verification ended without a result: {words}", fix="try: xpusetup verify --list")
    told = {"chosen_by": chosen["why"], "environment": subject.whose, "fix": LACKS, "not_recorded": ""}
    if subject.root is not None and asked.whole and chosen["device"] == subject.device:
        told["not_recorded"] = record_verification(subject.root, document, proof, say)
    return Result("verify", {**document, **told}, code=code)


def find_subject(where: Where, asked: Asked) -> Subject:
    """Give the environment that is meant. Raises NotReadyError where nothing is built, or there is no torch."""
    if where.into and not (where.profile or where.root or where.name):
        return _look_at(where.into, asked)
    workspace = open_built(where)
    try:
        built = find_built(workspace)
    except NotReadyError:
        if not where.into:
            raise
        return _look_at(where.into, asked, workspace.profile.accelerator)
    device = built.target.accelerator
    found = Subject(built.python, run_environment(built), device, workspace.profile.name, built.root, workspace.device)
    return replace(found, modes=built.target.modes)


def _in_mode(subject: Subject, asked: Asked, device: Device | None) -> tuple[Subject, Asked]:
    """Choose the mode: the named one, else the usual one of a build; an environment that is not ours is as it is."""
    modes = subject.modes or (device_modes(device) if device else ())
    mode = find_mode(modes, asked.mode) if asked.mode else next(iter(subject.modes), None)
    if mode is None:
        return subject, asked
    environment = {**subject.env, **dict(parse_variables((*mode.variables, *mode.models)))}
    return replace(subject, env=environment), replace(asked, skip=(*asked.skip, *mode.skips))


def describe(subject: Subject, name: str) -> Device | None:
    """Give what is known of the device to verify; None where torch is to choose it."""
    if name == AUTO:
        return None
    return subject.known if subject.known and subject.known.name == name else describe_device(name)


def _look_at(place: str, asked: Asked, device: str = AUTO) -> Subject:
    """Take an environment as it is. Raises NotReadyError where it has no torch, or a Python that is too old."""
    path = Path(place).expanduser().absolute()
    python = path if path.is_file() else path / "bin/python"
    if not python.is_file():
        raise UsageError(
            f"{path} is no environment: there is no {python}", fix="name a venv, a conda prefix or a python"
        )
    check_folder(python)
    found = verifier.look_at(python)
    if not found.python:
        raise NotReadyError(f"{python} does not run: {found.why}", fix="name another interpreter")
    if found.python < OLDEST:
        shown = ".".join(map(str, found.python))
        raise NotReadyError(
            f"{python} is Python {shown}, the checks need 3.10 or newer", fix="name another environment"
        )
    if not found.torch:
        raise NotReadyError(f"there is no torch in {path}", fix=f"xpusetup install --into {place}")
    return Subject(python, variables(), asked.device or device, place)


def choose_device(subject: Subject, asked: Asked) -> dict[str, str]:
    """Give the name of the device to verify and who chose it; `auto` stays where torch cannot be asked."""
    name = asked.device or subject.device
    if name != AUTO:
        return {"device": name, "why": "--device" if asked.device else subject.whose}
    return {"device": AUTO, "why": "", **verifier.find_device(subject.python, subject.env)}


def _options(asked: Asked) -> tuple[str, ...]:
    named = [word for name in asked.only for word in ("--only", name)]
    named += [word for name in asked.skip for word in ("--skip", name)]
    junit = ("--junit", str(Path(asked.junit).expanduser().absolute())) if asked.junit else ()
    more = ("--throughput",) if asked.throughput else ()
    return ("--level", asked.level, "--patience", f"{asked.patience:g}", *named, *junit, *more)
