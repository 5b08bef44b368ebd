"""build --bundle: a bundle in place of the network, and a word on each step that asked for it all the same."""

import re
import shlex
import sys
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Plan, Request, Step
from xpusetup.bundle import without_network
from xpusetup.bundle.contents import Bundle, create_again, make_offline
from xpusetup.bundle.io import hash_head, make_repository, read_head, unpack
from xpusetup.config.shipped import load_profile, other_ways, profile_names, stack_names
from xpusetup.config.take import choose_toolkit, take_parts
from xpusetup.machine.probe_system import read_machine
from xpusetup.run.root import Root
from xpusetup.run.runner import RunOutcome
from xpusetup.run.workspace import Where, Workspace, open_workspace
from xpusetup.system.environment import cache_folder, short_path, whole_path
from xpusetup.system.files import check_folder
from xpusetup.system.logs import read_lines
from xpusetup.system.process import run_process
from xpusetup.system.trust import foreign_file, require_trust

# What a step's log tells of attempts to reach out where the network is taken away.


COUNTED = re.compile(r"note: it asked for the network (?:once|(\d+) times)\b")
"""How bundle/without_network.py ends the log of a step that did; the kernel counts, so silence hides nothing."""
ASKED = re.compile(r"note: git asked for (.+) \((\d+)\), and this step has no network")
"""How helpers/step.sh ends it, also where a network was there and answered."""
REFUSED = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Could not resolve host|Network is unreachable"
    r"|nodename nor servname|unable to resolve host address|Failed to establish a new connection"
    r"|NameResolutionError|transport '\w+' not allowed|failed to lookup address information|Couldn.t resolve host",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"(?:https?|ftp|git|ssh)://[^\s'\"<>),;]+|host='[^']+'", re.IGNORECASE)
FETCHES = "FetchContent_Declare|ExternalProject_Add|DOWNLOAD|urlopen|urlretrieve|requests.get|clone|curl|wget"
"""How the sources of a build ask for what they lack: what CMake, Python and shells call it."""
LOOK = ("grep", "-rnIwE", "--exclude-dir=.git")
NEAR = 6
"""Maximum number of lines between an address and the refusal that it belongs to."""


@dataclass(frozen=True)
class NetworkAttempt:
    """A step that asked for the network: how often, and the addresses that its log names.

    It is counted by the kernel where the network is taken away, else by git alone; 0 where the log tells it otherwise.
    `look` is the command that lists what in its source may have.
    """

    step: str
    times: int
    addresses: tuple[str, ...]
    look: str = ""


def find_attempt(step: str, lines: Iterable[str], *, heard: bool = True) -> NetworkAttempt | None:
    """Read a log by lines; None where nothing asked for the network. `heard`: what it says of refusals counts too."""
    times, refused = 0, False
    asked: dict[str, int] = {}
    told: dict[str, None] = {}
    near: deque[str] = deque(maxlen=NEAR + 1)
    for line in lines:
        near.append(line)
        if found := COUNTED.match(line):
            times += int(found[1] or 1)
        elif found := ASKED.match(line):
            asked[found[1]] = int(found[2])
        elif heard and REFUSED.search(line):
            refused = True
            told |= dict.fromkeys(_clean(each[0]) for text in near for each in ADDRESS.finditer(text))
    if not times and not asked and not refused:
        return None
    return NetworkAttempt(step, times or sum(asked.values()), tuple(dict.fromkeys([*asked, *told])))


def _clean(address: str) -> str:
    return address.removeprefix("host='").rstrip("'.,:/")


# Which steps asked for the network and had none: read from their logs, once a build has ended.


def describe_attempts(root: Root, plan: Plan, outcome: RunOutcome, bundle: Bundle | None) -> list[NetworkAttempt]:
    """Give the steps that ran now, have no network and asked for it, and what of their source may have.

    From a bundle that is every step. Elsewhere a network may have answered: what git asked for is told all the same,
    and refusals in a log only where its step failed, because a name that is not found may be that of this machine.
    """
    networked = {step.id for step in plan.steps if "network" in step.needs} if bundle is None else set()
    told = []
    for step in outcome.ran:
        heard = bundle is not None or step == outcome.failed
        attempt = None if step in networked else find_attempt(step, read_lines(root.log(step)), heard=heard)
        if attempt:
            tree = plan.layout.src.replace(ROOT, str(root.path)) + f"/{step.partition('.')[0]}"
            told.append(replace(attempt, look=shlex.join((*LOOK, FETCHES, tree))))
    return told


TIMEOUT_S = 30
SHORT = 16


@dataclass(frozen=True)
class AirGap:
    """What stands for the network: the variables that point git, pip and uv at the bundle, and what takes it away.

    `wrap` is empty where this machine lets nobody take it away.
    """

    bundle: Bundle
    network: dict[str, str]
    wrap: tuple[str, ...]

    def before(self, step: Step) -> tuple[str, ...]:
        """Give the command that runs a step without a network. A device may need more than a namespace has."""
        return () if "device" in step.needs else self.wrap

    def refuse_other_target(self, python: str) -> None:
        """Stop where the wheels are those of another Python. Raises UsageError."""
        made = ".".join(self.bundle.python.split(".")[:2])
        if made != python:
            raise UsageError(f"the bundle holds wheels for Python {made}, and this is {python}", fix=f"--python {made}")


def enter(
    where: Where,
    request: Request,
    file: str,
    warn: Callable[[str], None],
    say: Callable[[str], None],
    command: Literal["build", "install"] = "build",
) -> tuple[Workspace, AirGap]:
    """Unpack a bundle unless that was done, and open the workspace that it was made for; `say` is told of progress.

    Raises UsageError for a file that is none, or that was made for something else.
    """
    path = Path(file)
    bundle = read_head(path)
    require_trust(foreign_file(path))
    if where.profile in {*profile_names(), *stack_names()} - {bundle.base.name}:
        own = Command(shlex.join(("xpusetup", bundle.purpose, "--bundle", file)))
        raise UsageError(f"{file} holds {bundle.base.name}, not {where.profile}", fix=own)
    _refuse_other(bundle, request, file, command)
    folder = check_folder(cache_folder("bundles") / hash_head(path)[:SHORT])
    place = short_path(str(folder))
    if folder.is_dir():
        say(f"using what was unpacked before, in {place}; {file} is not read again (bundle verify reads it)")
    else:
        say(f"unpacking {file} to {place}")
    unpack(path, bundle, folder, lambda made: _make_repositories(bundle, made))
    workspace = _open(where, bundle, folder)
    workspace = replace(workspace, known={**workspace.known, "bundle": str(whole_path(file))})
    wrap, why = _take_away()
    if why:
        warn(f"the network cannot be taken away here ({why}): a download that goes well would not be noticed")
    return workspace, AirGap(bundle, make_offline(bundle, str(folder)), wrap)


HOLDS = {"build": "what a build fetches", "install": "published wheels with what they require"}


def _refuse_other(bundle: Bundle, request: Request, file: str, command: str) -> None:
    if bundle.purpose != command:
        other = Command(shlex.join(("xpusetup", bundle.purpose, "--bundle", file)))
        fix = Advice(other)
        if command == "build" or bundle.base.published:
            elsewhere = create_again("FILE", command, ("--profile", bundle.base.name))
            fix = Advice(other, "; or, where there is a network: ", Command(elsewhere, gaps=("FILE",)))
        raise UsageError(f"{file} holds {HOLDS[bundle.purpose]}", fix=fix)
    if (here := read_machine()) != bundle.machine:
        raise UsageError(
            f"{file} was made for {bundle.machine}, and this is {here}", fix="create one on such a machine"
        )
    parts = [part.name for part in bundle.profile.components if part.kind != "skip"]
    lacking = [name for name in request.only or parts if name not in bundle.parts] if command == "build" else []
    if lacking:
        only = " ".join(f"--only {name}" for name in bundle.parts)
        raise UsageError(f"{file} holds nothing of {', '.join(lacking)}", fix=f"build what it holds: {only}")


def _make_repositories(bundle: Bundle, folder: Path) -> None:
    for repository in bundle.repositories:
        make_repository(repository, folder)


def _open(where: Where, bundle: Bundle, folder: Path) -> Workspace:
    name = where.profile or _name(bundle, folder)
    revs = where.rev or tuple(f"{part}={ref}" for part, ref in bundle.revs.items())
    takes = where.take or tuple(f"{part}={how}" for part, how in bundle.takes.items())
    kit = bundle.base.toolkit.called if bundle.base.toolkit else ""  # also where a site here names another
    if where.toolkit not in ("", kit):
        other = Command(f"xpusetup bundle create FILE --profile {name} --toolkit {where.toolkit}", gaps=("FILE",))
        raise UsageError(f"the bundle was made for --toolkit {kit}", fix="leave --toolkit out, or: ", command=other)
    workspace = open_workspace(replace(where, profile=name, rev=revs, take=takes, toolkit=kit))
    if workspace.takes != bundle.takes:
        given = (
            " ".join(f"--take {part}={how}" for part, how in bundle.takes.items()) or "every part as its profile has it"
        )
        raise UsageError(f"the bundle was made with {given}", fix="leave --take out")
    if workspace.base != bundle.base:
        message = f"the bundle was made for another {bundle.base.name} than {name} is here"
        other = Command(f"xpusetup bundle create FILE --profile {name}", gaps=("FILE",))
        raise UsageError(message, fix="leave --profile out, or create a bundle for it: ", command=other)
    if workspace.revs != bundle.revs:
        given = " ".join(f"--rev {part}={ref}" for part, ref in bundle.revs.items()) or "no revision"
        raise UsageError(f"the bundle was made with {given}", fix="leave --rev out")
    return replace(workspace, profile=bundle.profile, locked=bool(bundle.revs))


def _name(bundle: Bundle, folder: Path) -> str:
    """Give the profile's name where the same one ships with this program, else its file in the bundle."""
    name = bundle.base.name
    if name not in {*profile_names(), *stack_names()}:
        return str(folder / bundle.file)
    with suppress(UsageError):  # a part that can be taken so no longer, or a toolkit that it has no longer
        shipped = load_profile(name)
        chosen = choose_toolkit(shipped, bundle.toolkit) if bundle.toolkit else shipped
        if take_parts(chosen, bundle.takes, other_ways()).profile == bundle.base:
            return name
    return str(folder / bundle.file)


def _take_away() -> tuple[tuple[str, ...], str]:
    """Give the command that runs another without a network, or why there is none."""
    wrap = (sys.executable, "-I", str(without_network.__file__))
    tried = run_process((*wrap, "true"), seconds=TIMEOUT_S)
    if tried.code == 0:
        return wrap, ""
    return (), (tried.err.strip().splitlines() or [tried.why or "it cannot be tried"])[-1]
