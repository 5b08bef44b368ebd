"""verify: proof that a device computes; suites of tests; what is here and what breaks `import torch`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from xpusetup.base.errors import UsageError
from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.run.workspace import Where


LISTED = "list"
"""The word that stands for no suite, but for all that there are."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CheckRequest:
    """Which checks run, and how."""

    level: options.Level = "smoke"
    only: options.OnlyChecks = None
    skip: options.SkipChecks = None
    listed: options.ListChecks = False
    patience: options.Patience = None
    junit: options.Junit = ""
    mode: Annotated[str, options.value("--mode", "NAME", "A mode of the device, such as lazy.")] = ""
    save: Annotated[str, options.value("--save", "FILE", "Write a record to send in; it names nobody.")] = ""

    def run(self, where: Where, device: str, told: options.LongOutput) -> options.Answer:
        """Run the checks."""
        from xpusetup.commands.verify import VerifyOptions
        from xpusetup.commands.verify import verify as make
        from xpusetup.ui.live import asking

        given = {**vars(self), "only": tuple(self.only or ()), "skip": tuple(self.skip or ())}
        given["patience"] = self.patience or 300
        del given["listed"]
        with asking(quiet=told.silent, plain=False) as say:
            first = (lambda _text: None) if told.silent else told.say
            return make(where, VerifyOptions(device=device, **given), say, first)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SuiteRequest:
    """Which tests of a suite run, and how."""

    suite: Annotated[
        str,
        options.value(
            "--suite",
            "pytorch|torch-xpu-ops|transformers|accelerate|diffusers|list",
            "Run the tests of a library on the device; list: those that are known.",
            offer=complete.suites,
        ),
    ] = ""
    source: Annotated[str, options.value("--source", "DIR|URL@REF", "With --suite: where its tests are.")] = ""
    select: Annotated[
        list[str] | None, options.value("--select", "PART", "With --suite: these folders, files or named parts.")
    ] = None
    keyword: Annotated[str, options.value("--keyword -k", "EXPRESSION", "With --suite: as pytest's -k.")] = ""
    full: Annotated[bool, options.flag("--full", "With --suite pytorch: the test files of its checkout.")] = False
    baseline: Annotated[str, options.value("--baseline", "FILE|ID", "With --suite: what to compare with.")] = ""
    shards: Annotated[
        int, options.value("--shards", "N", "With --suite: parts into which each folder is cut.", min=1)
    ] = 1
    workers: Annotated[
        int | None,
        options.value(
            "--workers", "N", "With --suite: processes of pytest-xdist; 0: none.", "one; on the CPU one a core", min=0
        ),
    ] = None
    bound: Annotated[float, options.value("--bound", "S", "With --suite: seconds that a test may take.", min=1)] = 600
    install: Annotated[bool, options.flag("--install", "With --suite: first install what the tests need.")] = False
    again: Annotated[bool, options.flag("--again", "With --suite: also run tests that ended an earlier run.")] = False
    out: Annotated[str, options.value("--out -o", "DIR", "With --suite: the folder for the results.")] = ""

    def run(self, where: Where, device: str, told: options.LongOutput) -> options.Answer:
        """Run the suite, or list those that there are."""
        from xpusetup.commands.suites import list_suites, run_suite
        from xpusetup.suites.sources import SuiteOptions
        from xpusetup.ui.live import asking

        if self.suite == LISTED:
            return list_suites()
        given = {**vars(self), "select": tuple(self.select or ())}
        given["workers"] = -1 if self.workers is None else self.workers
        with asking(quiet=told.silent) as say:
            return run_suite(where, SuiteOptions(device=device, **given), say)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FallbackRequest:
    """What is asked of operators that run on the CPU."""

    fallbacks: Annotated[bool, options.flag("--fallbacks", "Say which operators run on the CPU instead.")] = False
    release: Annotated[
        str, options.value("--release", "X.Y", "With --fallbacks: what was published of this release.")
    ] = ""
    log: Annotated[
        list[str] | None, options.value("--log", "FILE", "With --fallbacks: what a log tells; - is stdin.")
    ] = None
    markdown: Annotated[bool, options.flag("--markdown", "With --fallbacks: print Markdown.")] = False

    def is_asked(self) -> bool:
        """Say whether any of it is asked for."""
        return bool(self.fallbacks or self.release or self.log or self.markdown)

    def run(self, where: Where, device: str, told: options.LongOutput) -> options.Answer:
        """Say which operators run on the CPU."""
        from xpusetup.commands.verify import FallbackOptions, show_fallbacks
        from xpusetup.ui.live import waiting

        logs = tuple(self.log or ())
        asked = FallbackOptions(
            device=device, release=self.release, logs=logs, markdown=self.markdown, whole=told.verbose
        )
        with waiting("running operators on the device", quiet=told.silent or bool(self.release or logs)):
            return show_fallbacks(where, asked)


@options.command(
    "verify",
    "xpusetup verify --level quick",
    "xpusetup verify --suite transformers --install --select tests/trainer",
    takes=options.Build,
    common="--level --only --list --suite --devices",
)
def verify(
    *,
    where: options.BuiltWhere,
    device: options.Device = None,
    checks: CheckRequest,
    suite: SuiteRequest,
    devices: Annotated[
        bool, options.flag("--devices", "Show the accelerators here, and what breaks `import torch`.")
    ] = False,
    fallbacks: FallbackRequest,
    codegen: Annotated[
        bool, options.flag("--codegen", "Compile kernels for the profile's GPUs, without running them.")
    ] = False,
    told: options.LongOutput,
) -> options.Answer:
    """Prove that the accelerator computes the right numbers."""
    given = tuple(device or ())
    if devices:
        return _devices(where.find(), given, checks, told)
    if len(given) > 1:
        raise UsageError("one device is verified at a time", fix="give --device once; several are for --devices")
    one = given[0] if given else ""
    if suite.suite:
        return suite.run(where.find(), one, told)
    if codegen:
        return _codegen(where.find(say=told.say), quiet=told.silent)
    if fallbacks.is_asked():
        return fallbacks.run(where.find(say=told.say), one, told)
    if checks.listed:
        from xpusetup.commands.verify import list_checks

        return list_checks()
    return checks.run(where.find(say=told.say), one, told)


def _devices(where: Where, files: tuple[str, ...], asked: CheckRequest, told: options.LongOutput) -> options.Answer:
    """Load each extension in a process of its own; with --list, torch is not imported."""
    from xpusetup.commands.devices import check_devices, list_devices
    from xpusetup.ui.live import waiting

    if asked.listed:
        return list_devices(where, files)
    with waiting("importing torch, alone and with each extension", quiet=told.silent):
        return check_devices(where, files, patience=asked.patience or 60)


def _codegen(where: Where, *, quiet: bool) -> options.Answer:
    from xpusetup.commands.codegen import generate_code
    from xpusetup.ui.live import waiting

    with waiting("compiling kernels", quiet=quiet):
        return generate_code(where)
