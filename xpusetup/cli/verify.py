"""verify, test, devices, verify-wheel, rebuild, sign, fits: proof of devices, suites, wheels; what fits a torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult
    from xpusetup.run.workspace import Where


# test: suites of PyTorch, Transformers, Accelerate and diffusers on a device.


Suite = Annotated[
    str,
    typer.Argument(
        help="transformers, accelerate, diffusers or pytorch.", metavar="SUITE", autocompletion=complete.suites
    ),
]
WORKERS = "Processes of pytest-xdist; 0: none. Without it as many as processors on the CPU, one on a device."
Source = Annotated[str, typer.Option("--source", help="Where its tests are.", metavar="DIR|URL@REF")]
Select = Annotated[
    list[str] | None, typer.Option("--select", help="These folders, files or named parts.", metavar="PART")
]
Baseline = Annotated[str, typer.Option("--baseline", help="What to compare with.", metavar="FILE|ID")]


@options.command("test")
def run_tests(
    *,
    suite: Suite = "",
    where: options.BuiltWhere,
    device: options.Device = "",
    source: Source = "",
    select: Select = None,
    keyword: Annotated[str, typer.Option("--keyword", "-k", help="As pytest's -k.", metavar="EXPRESSION")] = "",
    full: Annotated[bool, typer.Option("--full", help="PyTorch's own files of tests, from its checkout.")] = False,
    baseline: Baseline = "",
    shards: Annotated[
        int, typer.Option("--shards", help="Parts into which each folder is cut.", metavar="N", min=1)
    ] = 1,
    workers: Annotated[int | None, typer.Option("--workers", help=WORKERS, metavar="N", min=0)] = None,
    bound: Annotated[float, typer.Option("--bound", help="Seconds that a test may take.", metavar="S", min=1)] = 600,
    install: Annotated[bool, typer.Option("--install", help="First install what the suite needs.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run also what an earlier run ended.")] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="Where results go.", metavar="DIR")] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Run a suite of tests on the device, and hold its results against a baseline; without a name: which there are."""
    from xpusetup.commands.test import list_suites, run_suite
    from xpusetup.suites.sources import SuiteOptions
    from xpusetup.ui.live import asking

    if not suite:
        return list_suites()
    what: dict[str, Any] = {"source": source, "select": tuple(select or ()), "keyword": keyword, "full": full}
    how: dict[str, Any] = {"shards": shards, "bound": bound, "again": again, "install": install}
    how["workers"] = -1 if workers is None else workers
    asked = SuiteOptions(suite=suite, device=device, baseline=baseline, out=out, **what, **how)
    with asking(quiet=told.silent) as say:
        return run_suite(where.find(), asked, say)


# verify-wheel: what is in a wheel.


@options.command("verify-wheel")
def verify_wheel(
    *,
    wheel: Annotated[str, typer.Argument(help="The file.", metavar="WHEEL")],
    profile: options.Profile = "",
    version: Annotated[str, typer.Option("--version", help="What its version has to be.")] = "",
    arch: Annotated[str, typer.Option("--arch", help="GPUs that it has to hold code for.", metavar="LIST")] = "",
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", help="A folder that it may not name.", metavar="DIR")
    ] = None,
    provenance: Annotated[
        bool, typer.Option("--provenance", help="Also hold its statement of what it was built from against it.")
    ] = False,
    statement: Annotated[
        str,
        typer.Option(
            "--statement", help="Where that statement is, if not beside it (.provenance.json).", metavar="FILE"
        ),
    ] = "",
    key: Annotated[
        str, typer.Option("--key", help="The public key that has to have signed the statement.", metavar="FILE")
    ] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Say what is in a wheel; with --profile, whether it is what the profile says."""
    from xpusetup.commands.verify_wheel import WheelOptions
    from xpusetup.commands.verify_wheel import verify_wheel as verify
    from xpusetup.ui.live import waiting

    asked = WheelOptions(
        profile=profile,
        version=version,
        arch=arch,
        forbidden=tuple(forbid or ()),
        provenance=provenance,
        statement=statement,
        key=key,
    )
    with waiting("reading the wheel", quiet=told.silent):
        return verify(wheel, asked)


# rebuild: the same bytes again.


@options.command("rebuild")
def rebuild(
    *,
    where: options.LockWhere,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the wheels: what it does in any case.", show_default=False)
    ] = True,
    at: Annotated[str, typer.Option("--at", help="The folder to build in.", metavar="DIR")] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the second build if nothing differs.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: one less than before.", metavar="N")
    ] = 0,
    launcher: options.Launcher = "none",
    told: options.LongOutput,
) -> AnyResult:
    """Build again what is built, in another folder and under other conditions, and compare the wheels byte by byte."""
    from xpusetup.commands.rebuild import RebuildOptions
    from xpusetup.commands.rebuild import rebuild as make

    with told.view() as view:
        how = RebuildOptions(at=at, keep=keep, jobs=jobs, launcher=launcher, observe=view.observe)
        return make(where.find(), how)


# sign: the statements of wheels, by a key of the user's own.


@options.command("sign")
def sign(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The files.", metavar="WHEEL")],
    key: Annotated[str, typer.Option("--key", help="A private key of ed25519, in PEM.", metavar="FILE")],
    told: options.LongOutput,
) -> AnyResult:
    """Sign the statements of wheels (what each was built from), once they were held against the wheels."""
    from xpusetup.commands.verify_wheel import sign_wheels
    from xpusetup.ui.live import waiting

    with waiting("reading the wheels", quiet=told.silent):
        return sign_wheels(wheels, key)


# fits: whether wheels work with a torch.


@options.command("fits")
def fits(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The files.", metavar="WHEEL")],
    where: options.ActiveWhere,
    torch: Annotated[
        str,
        typer.Option(
            "--torch", help="A wheel of torch, a folder of its libraries, or a version.", metavar="FILE|DIR|VERSION"
        ),
    ] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Say of each wheel whether it works with a torch, without loading anything."""
    from xpusetup.commands.fits import judge_wheels
    from xpusetup.ui.live import waiting

    with waiting("reading wheels and torch", quiet=told.silent):
        return judge_wheels(wheels, where.find(), torch)


# verify: proof that a device computes, and which operators it leaves to the CPU.


Release = Annotated[
    str, typer.Option("--release", help="With --fallbacks: what was published of this release.", metavar="X.Y")
]
Logs = Annotated[
    list[str] | None,
    typer.Option("--log", help="With --fallbacks: what a log tells; - is stdin.", metavar="FILE"),
]


@options.command("verify")
def verify(
    *,
    where: options.BuiltWhere,
    device: options.Device = "",
    level: options.Level = "smoke",
    only: options.OnlyChecks = None,
    skip: options.SkipChecks = None,
    listed: options.ListChecks = False,
    patience: options.Patience = 300,
    junit: options.Junit = "",
    mode: Annotated[str, typer.Option("--mode", help="A mode of the device's, such as lazy.", metavar="NAME")] = "",
    throughput: Annotated[
        bool, typer.Option("--throughput", help="Also measure how many images a second it computes.")
    ] = False,
    save: Annotated[
        str, typer.Option("--save", help="Write a record of it that can be sent in; it names nobody.", metavar="FILE")
    ] = "",
    fallbacks: Annotated[bool, typer.Option("--fallbacks", help="Say which operators run on the CPU instead.")] = False,
    codegen: Annotated[
        bool, typer.Option("--codegen", help="Compile kernels for the profile's GPUs; needs none, and runs nothing.")
    ] = False,
    release: Release = "",
    log: Logs = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="With --fallbacks: Markdown on a terminal too.")] = False,
    told: options.LongOutput,
) -> AnyResult:
    """Prove that the accelerator computes the right numbers."""
    if codegen:
        return _codegen(where.find(say=told.say), quiet=told.silent)
    if fallbacks or release or log or markdown:
        tables = {"device": device, "release": release, "logs": tuple(log or ()), "markdown": markdown}
        return _fallbacks(where.find(say=told.say), **tables, whole=told.verbose, quiet=told.silent)
    if listed:
        from xpusetup.commands.verify import list_checks

        return list_checks()
    checks = {"device": device, "level": level, "only": tuple(only or ()), "skip": tuple(skip or ()), "mode": mode}
    how = {"junit": junit, "patience": patience, "throughput": throughput, "save": save}
    return _checks(where.find(say=told.say), **checks, **how, quiet=told.silent)


def _checks(where: Where, *, quiet: bool, **words: Any) -> AnyResult:
    from xpusetup.commands.verify import VerifyOptions
    from xpusetup.commands.verify import verify as make
    from xpusetup.ui.live import asking

    with asking(quiet=quiet) as say:
        return make(where, VerifyOptions(**words), say)


def _codegen(where: Where, *, quiet: bool) -> AnyResult:
    from xpusetup.commands.codegen import generate_code
    from xpusetup.ui.live import waiting

    with waiting("compiling kernels", quiet=quiet):
        return generate_code(where)


def _fallbacks(where: Where, *, quiet: bool, **words: Any) -> AnyResult:
    from xpusetup.commands.verify import FallbackOptions, show_fallbacks
    from xpusetup.ui.live import waiting

    asked = FallbackOptions(**words)
    with waiting("running operators on the device", quiet=quiet or bool(asked.release or asked.logs)):
        return show_fallbacks(where, asked)


# devices: accelerators and extensions of an environment, listed or tried; results of many as one table.


DeviceFiles = Annotated[
    list[str] | None, typer.Option("--device", help="One more accelerator, by its device file.", metavar="FILE")
]


@options.command("devices list")
def devices_list(*, where: options.ActiveWhere, device: DeviceFiles = None, told: options.LongOutput) -> AnyResult:
    """List accelerators and what `import torch` loads for them, without importing it."""
    from xpusetup.commands.devices import list_devices

    return list_devices(where.find(), tuple(device or ()))


@options.command("devices check")
def devices_check(
    *,
    where: options.ActiveWhere,
    device: DeviceFiles = None,
    patience: Annotated[
        float, typer.Option("--patience", help="Seconds for each import of torch.", metavar="S", min=1)
    ] = 60,
    told: options.LongOutput,
) -> AnyResult:
    """Load each extension in a process of its own: what works, and what breaks `import torch`."""
    from xpusetup.commands.devices import check_devices
    from xpusetup.ui.live import waiting

    with waiting("importing torch, alone and with each extension", quiet=told.silent):
        return check_devices(where.find(), tuple(device or ()), patience=patience)


@options.command("devices table")
def devices_table(
    *,
    results: Annotated[
        list[str], typer.Argument(help="Saved results of verify, roots, folders of roots.", metavar="RESULT")
    ],
    page: Annotated[
        str, typer.Option("--page", help="Write it into this Markdown file, between its markers.", metavar="FILE")
    ] = "",
    told: options.LongOutput,
) -> AnyResult:
    """One table of devices and checks: ok, wrong, unsupported, absent, not run."""
    from xpusetup.commands.devices import tabulate

    return tabulate(results, page)
