"""verify: the checks of the helper, in any environment that has torch, and operators that fall back."""

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xpusetup.base.command import Command
from xpusetup.base.document import fields_of, read_as, to_json
from xpusetup.base.errors import NoDeviceError, NotReadyError, UsageError, WorkFailedError
from xpusetup.base.text import render_duration, render_first
from xpusetup.commands.env import run_environment
from xpusetup.commands.result import Result, Say
from xpusetup.commands.status import find_whole, must_be_installed, say_differing
from xpusetup.config.devices import Device, device_modes, find_mode, is_device_file
from xpusetup.machine.facts import Facts
from xpusetup.machine.tables import gpu_table
from xpusetup.plan.verify import device_options, parse_variables
from xpusetup.recommend.machine import find_cards, known
from xpusetup.run.builds import go_on
from xpusetup.run.guard import list_replaced
from xpusetup.run.manifest import read_document, read_manifest, read_proof, read_standing, record_verification
from xpusetup.run.root import Root
from xpusetup.run.workspace import Where, Workspace, describe_device, open_built, read_trusted_device
from xpusetup.system.environment import from_home, variables
from xpusetup.system.files import Sysroot, check_folder, check_output, package_file, package_text, write_text
from xpusetup.verify import fallbacks, runner
from xpusetup.verify.outcomes import RecordedGpu, RecordedMachine, RecordedWheel, Verification, make_record
from xpusetup.verify.runner import ChosenDevice, DeviceCheck, Subject

# verify: the checks of the verification helper, in the built environment or in any other that has torch.


AUTO = "auto"
BAD_USAGE, NO_DEVICE = 2, 4
OLDEST = (3, 10)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """What to verify. An empty `device` is the profile's, an empty `junit` no such file, `patience` in seconds."""

    device: str = ""
    level: str = "smoke"
    junit: str = ""
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    patience: float = 300
    mode: str = ""
    save: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing was left out, so that the answer holds for the device."""
        return not self.only and not self.skip and not self.mode


SYSTEM = ("/", "/usr", "/usr/local")
"""Where a system has its own Python, into which nothing is installed."""
LEVELS = ("quick", "smoke", "full")
LACKS = Command("xpusetup doctor --for run")
"""What says why a device that should be here is not."""


@dataclass(frozen=True)
class DeviceCheckList:
    """The checks that there are, in their order."""

    list_: list[DeviceCheck]


@dataclass(frozen=True, kw_only=True)
class DeviceVerification(Verification):
    """A verification, who chose its device, whose environment it was made in, and the command that says what lacks.

    `not_recorded` says why the root's manifest does not have it; empty where it has, or there is no root of ours.
    `left`: steps of the build that are still to come, for which `fix` is the command. `whole`: no check was left out by
    an option; else it proves nothing of the build. `saved`: the file that holds the
    record of it.
    """

    chosen_by: str
    environment: str
    fix: str
    not_recorded: str
    left: list[str]
    whole: bool = True
    saved: str | None = None


def list_checks() -> Result[DeviceCheckList]:
    return Result("verify", DeviceCheckList(runner.list_checks()))


def verify(where: Where, asked: VerifyOptions, say: Say, begin: Say = lambda _text: None) -> Result[DeviceVerification]:
    """Compute on the device and compare with the CPU; `begin` is told what is begun. Raises NoDeviceError."""
    _check_options(asked)
    given = read_trusted_device(asked.device) if is_device_file(asked.device) else None
    asked = replace(asked, device=given.name) if given else asked
    subject = find_subject(where, asked)
    subject = replace(subject, known=given) if given else subject
    chosen = choose_device(subject, asked)
    device = describe(subject, chosen.device)
    subject, within = _in_mode(subject, asked, device)
    options = (*(device_options(device) if device else ("--device", AUTO)), *_options(within))
    proof = read_proof(subject.root) if subject.root else {}
    begin(f"verifying {subject.whose}, level {asked.level}{_describe_time(subject.root, asked)}")
    found, code, words = runner.run_verifier(subject.python, options, subject.env, say, asked.junit)
    if code == BAD_USAGE:
        raise UsageError(words.partition("error: ")[2] or words, fix="all checks: ", command="xpusetup verify --list")
    if code == NO_DEVICE:
        raise _no_device(subject, device)
    if found is None:
        message = f"the verification ended without a result: {words}"
        raise WorkFailedError(message, fix="try: ", command="xpusetup verify --list")
    why = ""
    said = asked.whole or (found.verified is False and not asked.mode)  # a part proves nothing, but can fail
    if subject.root is not None and said and chosen.device == subject.device:
        why = record_verification(subject.root, found, proof, say)
    told = DeviceVerification(
        **fields_of(found),
        chosen_by=chosen.why,
        environment=subject.whose,
        fix=subject.go_on or (LACKS if lacks_device(found) else ""),
        not_recorded=why,
        left=list(subject.left),
        whole=asked.whole,
    )
    if asked.save:
        save_record(found, subject, Path(asked.save))
        told = replace(told, saved=asked.save)
    return Result("verify", told, code=code)


def _check_options(asked: VerifyOptions) -> None:
    if asked.level not in LEVELS:
        raise UsageError(f"--level cannot be {asked.level!r}", fix=f"use one of: {', '.join(LEVELS)}")
    for name in filter(None, (asked.junit, asked.save)):
        check_output(from_home(name))


def _describe_time(root: Root | None, asked: VerifyOptions) -> str:
    """Say what these checks took in this root before; nothing where that was another level, or a part of them."""
    last = read_manifest(root).get("verification") or {} if root and asked.whole else {}
    if not last.get("verified") or last.get("level") != asked.level:
        return ""
    seconds = sum(check.get("seconds") or 0 for check in last.get("checks", ()))
    return f"; its checks took {render_duration(seconds)} last time" if seconds else ""


def lacks_device(seen: Verification) -> bool:
    """Say whether no device was there to compute on, rather than that it computed wrongly."""
    return any(check.id == "device.available" and check.level in ("fail", "crash") for check in seen.checks)


def _no_device(subject: Subject, device: Device | None) -> NoDeviceError:
    fix, line = "verify it on a machine that has one; what is missing here: ", str(LACKS)
    seen = _seen_here(device) if device else ""
    if subject.left:
        fix, line = f"the build is not done ({render_first(subject.left)}): ", subject.go_on
    elif device and seen:
        hides = [f"{name}={subject.env[name]}" for name in device.filters if name in subject.env]
        by = f"; {', '.join(hides)} may hide it" if hides else ""
        unset = f"unset {' '.join(each.partition('=')[0] for each in hides)}; or see" if hides else "see"
        message = f"PyTorch in {subject.whose} finds no {device.title}, and one is here: {seen}{by}"
        return NoDeviceError(message, fix=f"{unset} what is wrong: ", command=LACKS)
    return NoDeviceError(
        f"there is no {device.title if device else 'device'} here to verify {subject.whose} on", fix=fix, command=line
    )


def _seen_here(device: Device) -> str:
    """Name the first of a device's cards that the PCI bus shows; empty where it shows none."""
    from xpusetup.machine.accelerators import cards_of  # noqa: PLC0415 - where no device was found alone
    from xpusetup.machine.probe_hardware import probe_hardware  # noqa: PLC0415 - same

    return next(iter(cards_of(device, probe_hardware(Sysroot.from_environment()), gpu_table())), "")


# verify --save: a record that an owner of hardware can send in.


def save_record(seen: Verification, subject: Subject, path: Path) -> None:
    """Write what was seen on what, by hashes and versions, without what names people and machines."""
    from xpusetup.commands.doctor import redactor_of  # noqa: PLC0415 - all of this is asked for by few
    from xpusetup.machine.probe import Ask, probe  # noqa: PLC0415 - same
    from xpusetup.system.program import describe_version  # noqa: PLC0415 - same

    facts = probe(("system", "hardware", "userland", "container"), Ask(imports=False))
    built = read_document(subject.root / "manifest.json") if subject.root else {}
    wheels = [
        RecordedWheel(**{key: one[key] for key in ("name", "version", "sha256")}) for one in built.get("wheels", ())
    ]
    record = make_record(
        seen,
        record_machine(facts),
        wheels,
        taken=facts.taken[:10],
        program=describe_version(),
        profile=str(built.get("profile", "")),
    )
    write_text(path, json.dumps(redactor_of(facts).document(to_json(record)), indent=2) + "\n")


def record_machine(facts: Facts) -> RecordedMachine:
    cards = find_cards(facts, known())
    gpus = [
        RecordedGpu(
            id=f"{card.gpu.vendor}:{card.gpu.device}",
            name=card.product.title(),
            platform=card.platform.name if card.platform else "",
            driver=card.gpu.driver,
        )
        for card in cards
    ]
    system, container, userland = facts.system, facts.container, facts.userland
    return RecordedMachine(
        system=system.name if system else "",
        kernel=system.kernel if system else "",
        container=container.kind if container else "",
        gpus=gpus,
        packages=dict(userland.packages or {}) if userland else {},
    )


def find_subject(where: Where, asked: VerifyOptions) -> Subject:
    """Give the environment that is meant. Raises NotReadyError where nothing is built, or there is no torch."""
    if where.into and not (where.profile or where.root or where.name):
        return _look_at(where.into, asked)
    workspace = open_built(where, failing=True)
    workspace.trust_files()
    try:
        built = find_whole(workspace)
    except NotReadyError:
        if not where.into:
            raise
        return _look_at(where.into, asked, workspace.profile.accelerator)
    must_be_installed(workspace, built)
    standing = read_standing(built.root)
    again = go_on(built.root)
    _must_be_there(workspace, built.root, again)
    say_differing(where, workspace, built)
    device = built.target.accelerator
    found = Subject(built.python, run_environment(built), device, workspace.profile.name, built.root, workspace.device)
    return replace(found, modes=built.target.modes, left=standing.left, go_on=again if standing.left else "")


def _must_be_there(workspace: Workspace, root: Root, again: Command) -> None:
    """Stop where a part of a build was uninstalled since: every check would fail. Raises NotReadyError."""
    parts = {part.distribution for part in workspace.profile.components}
    gone = [f"{row.name} {row.was}" for row in list_replaced(root) if row.now is None and row.name in parts]
    if gone:
        message = f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone from the environment"
        raise NotReadyError(message, fix="to install it again: ", command=again)


def _in_mode(subject: Subject, asked: VerifyOptions, device: Device | None) -> tuple[Subject, VerifyOptions]:
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


def _look_at(place: str, asked: VerifyOptions, device: str = AUTO) -> Subject:
    """Take an environment as it is. Raises NotReadyError where it has no torch, or a Python that is too old."""
    path = from_home(place).absolute()
    python = path if path.is_file() else path / "bin/python"
    if not python.is_file():
        fix = "name a venv, a conda prefix or a python"
        raise UsageError(f"{path} is no environment: there is no {python}", fix=fix)
    check_folder(python, there=True)
    found = runner.look_at(python)
    if not found.python:
        raise NotReadyError(f"{python} does not run: {found.why}", fix="name another interpreter")
    if found.python < OLDEST:
        shown = ".".join(map(str, found.python))
        fix = "name another environment"
        raise NotReadyError(f"{python} is Python {shown}, the checks need 3.10 or newer", fix=fix)
    if not found.torch:
        prefix = python.parent.parent
        named = shlex.quote(str(prefix if path.is_file() else place))
        own = str(prefix) in SYSTEM
        raise NotReadyError(
            f"there is no torch in {path}", command="xpusetup install" if own else f"xpusetup install --into {named}"
        )
    return Subject(python, variables(), asked.device or device, place)


def choose_device(subject: Subject, asked: VerifyOptions) -> ChosenDevice:
    """Give the name of the device to verify and who chose it; `auto` stays where torch cannot be asked."""
    name = asked.device or subject.device
    if name != AUTO:
        return ChosenDevice(name, "--device" if asked.device else subject.whose)
    return runner.find_device(subject.python, subject.env) or ChosenDevice(AUTO, "")


def _options(asked: VerifyOptions) -> tuple[str, ...]:
    named = [word for name in asked.only for word in ("--only", name)]
    named += [word for name in asked.skip for word in ("--skip", name)]
    return ("--level", asked.level, "--patience", f"{asked.patience:g}", *named)


# verify --fallbacks: which operators run on the CPU, as published, as a log tells, or as this device does.


COMMAND = "verify --fallbacks"
HELPER = "helpers/collect_fallbacks.py"
RESULT = "results/fallbacks.json"
SECONDS = 900


@dataclass(frozen=True)
class FallbackOptions:
    """What to tell of: a release as published, logs, or else a run here, on the profile's device or another.

    `markdown`: on a terminal too; `whole`: with the built-in list.
    """

    device: str = ""
    release: str = ""
    logs: tuple[str, ...] = ()
    markdown: bool = False
    whole: bool = False


def read_known() -> fallbacks.FallbackData:
    """Read what was published of operators that run on the CPU, and the lists of releases."""
    return fallbacks.parse_known(package_text("data/fallbacks.toml"))


@dataclass(frozen=True, kw_only=True)
class FallbackTables:
    """Tables of operators that run on the CPU, and what the words in them mean.

    `device` and `torch` are those of a run here, `release` the one that was named. `markdown`: shown as such.
    """

    device: str | None = None
    torch: str | None = None
    release: str | None
    tables: list[fallbacks.FallbackTable]
    words: dict[str, str]
    markdown: bool


def show_fallbacks(where: Where, asked: FallbackOptions) -> Result[FallbackTables]:
    """Give the tables that were asked for. Raises UsageError for a release that is not known."""
    known = read_known()
    if asked.release and asked.release not in known.releases:
        raise UsageError(f"no list is known of release {asked.release!r}", fix=f"--release {'|'.join(known.releases)}")
    if asked.logs:
        return Result(COMMAND, _tell(_of_logs(known, asked), asked))
    if asked.release:
        published = fallbacks.published_tables(known, asked.release)
        listed = () if published and not asked.whole else (fallbacks.list_table(known, asked.release),)
        return Result(COMMAND, _tell((*published, *listed), asked))
    record = _collect(where, asked.device)
    tables = fallbacks.run_tables(known, record)
    told = replace(_tell(tables, asked), device=record.device, torch=record.torch)
    return Result(COMMAND, told, code=1 if any(table.errors for table in tables) else 0)


def _tell(tables: Iterable[fallbacks.FallbackTable], asked: FallbackOptions) -> FallbackTables:
    rows = list(tables)
    used = {one.how for table in rows for one in table.operators}
    words = {str(how): meaning for how, meaning in fallbacks.MEANING.items() if how in used}
    markdown = asked.markdown or bool(asked.release and not asked.logs)
    return FallbackTables(release=asked.release or None, tables=rows, words=words, markdown=markdown)


def _of_logs(known: fallbacks.FallbackData, asked: FallbackOptions) -> Sequence[fallbacks.FallbackTable]:
    from xpusetup.system.logs import STDIN, read_log, read_stdin  # noqa: PLC0415 - seldom asked for

    patterns = fallbacks.parse_patterns(package_text("helpers/helperlib/fallbacks/messages.json"))
    texts = (("stdin", read_stdin()) if name == STDIN else (name, read_log(Path(name))) for name in asked.logs)
    return [fallbacks.log_table(known, name, fallbacks.scan(text, patterns), asked.release) for name, text in texts]


def _collect(where: Where, device: str) -> fallbacks.FallbackRecord:
    """Run the workloads with the built environment's python. Raises NoDeviceError, WorkFailedError."""
    from xpusetup.system.process import run_process  # noqa: PLC0415 - published tables and logs start nothing

    workspace = open_built(where)
    built = find_whole(workspace)
    result = built.root / RESULT
    result.unlink(missing_ok=True)
    # The package's own helper: a root that an older version built has none.
    helper = (str(built.python), str(package_file(HELPER)))
    argv = (*helper, "--device", device or built.target.accelerator, "--out", str(result))
    said = run_process(argv, seconds=SECONDS, env=run_environment(built))
    document = read_document(result)
    if said.code == NO_DEVICE and built.target.device_expected:
        raise WorkFailedError(f"the {workspace.device.title} cannot be used", command=workspace.command("verify"))
    if said.code == NO_DEVICE:
        fix = "--release R tells what is known of a release, --log FILE what a log from a machine with one says"
        raise NoDeviceError(f"there is no {workspace.device.title} here to run operators on", fix=fix)
    if not document:
        words = (said.err.strip() or said.out.strip() or said.why).splitlines()[-1:]
        raise WorkFailedError(f"the run ended without a result: {' '.join(words)}", fix=f"try: {' '.join(argv)}")
    return read_as(fallbacks.FallbackRecord, document)
