"""verify, test, verify-wheel, rebuild, sign, fits: proof of devices, suites and wheels, and what fits a torch."""

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
    typer.Argument(help="transformers, accelerate, diffusers or pytorch.", autocompletion=complete.suites),
]
Source = Annotated[str, typer.Option("--source", help="Where its tests are.", metavar="DIR|URL@REF")]
Select = Annotated[list[str] | None, typer.Option("--select", help="These folders, files or named parts.")]
Baseline = Annotated[str, typer.Option("--baseline", help="What to compare with.", metavar="FILE|ID")]


@options.spread
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
    shards: Annotated[int, typer.Option("--shards", help="Parts of each folder.", min=1)] = 1,
    workers: Annotated[int, typer.Option("--workers", help="Processes of pytest-xdist; 0: none.", min=-1)] = -1,
    bound: Annotated[float, typer.Option("--bound", help="Seconds that a test may take.", min=1)] = 600,
    install: Annotated[bool, typer.Option("--install", help="First install what the suite needs.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run also what an earlier run ended.")] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="Where results go.", metavar="DIR")] = "",
    told: options.LongOutput,
) -> None:
    """Run a suite of tests on the device, and hold its results against a baseline; without a name: which there are."""
    what: dict[str, Any] = {"source": source, "select": tuple(select or ()), "keyword": keyword, "full": full}
    how: dict[str, Any] = {"shards": shards, "workers": workers, "bound": bound, "again": again, "install": install}
    words = {"suite": suite, "device": device, "baseline": baseline, "out": out, **what, **how}
    told.finish("test", lambda: _work(where.find(), words, quiet=told.silent))


def _work(where: Where, words: dict[str, Any], *, quiet: bool) -> AnyResult:
    from xpusetup.commands.test import list_suites, run_suite
    from xpusetup.suites.sources import SuiteOptions
    from xpusetup.ui.live import asking

    if not words["suite"]:
        return list_suites()
    with asking(quiet=quiet) as say:
        return run_suite(where, SuiteOptions(**words), say)


# verify-wheel: what is in a wheel.


@options.spread
def verify_wheel(
    *,
    wheel: Annotated[str, typer.Argument(help="The file.", metavar="WHEEL")],
    profile: options.Profile = "",
    version: Annotated[str, typer.Option("--version", help="What its version has to be.")] = "",
    arch: Annotated[str, typer.Option("--arch", help="GPUs that it has to hold code for.", metavar="LIST")] = "",
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", help="A folder that it may not name.", metavar="DIR")
    ] = None,
    provenance: Annotated[bool, typer.Option("--provenance", help="It has to say what it was built from.")] = False,
    statement: Annotated[
        str, typer.Option("--statement", help="Where it says so, if not beside it (.provenance.json).", metavar="FILE")
    ] = "",
    key: Annotated[str, typer.Option("--key", help="The public key that has to have signed it.", metavar="FILE")] = "",
    told: options.LongOutput,
) -> None:
    """Say what is in a wheel; with --profile, whether it is what the profile says."""

    def work() -> AnyResult:
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

    told.finish("verify-wheel", work)


# rebuild: the same bytes again.


@options.spread
def rebuild(
    *,
    where: options.LockWhere,
    check: Annotated[bool, typer.Option("--check", help="Compare, which is all that it is for.")] = True,  # noqa: ARG001 - as it is
    at: Annotated[str, typer.Option("--at", help="The folder to build in.", metavar="DIR")] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the second build if nothing differs.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: others than before.")] = 0,
    launcher: options.Launcher = "none",
    told: options.LongOutput,
) -> None:
    """Build again what is built, in another folder and under other conditions, and compare the wheels byte by byte."""

    def work() -> AnyResult:
        from xpusetup.commands.rebuild import RebuildOptions
        from xpusetup.commands.rebuild import rebuild as make

        with told.view() as view:
            how = RebuildOptions(at=at, keep=keep, jobs=jobs, launcher=launcher, observe=view.observe)
            return make(where.find(), how)

    told.finish("rebuild", work)


# sign: the statements of wheels, by a key of the user's own.


@options.spread
def sign(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The files.", metavar="WHEEL...")],
    key: Annotated[str, typer.Option("--key", help="A private key of ed25519, in PEM.", metavar="FILE")],
    told: options.LongOutput,
) -> None:
    """Sign what wheels say of what they were built from, once it was held against them."""

    def work() -> AnyResult:
        from xpusetup.commands.sign import sign_wheels
        from xpusetup.ui.live import waiting

        with waiting("reading the wheels", quiet=told.silent):
            return sign_wheels(wheels, key)

    told.finish("sign", work)


# fits: whether wheels work with a torch.


@options.spread
def fits(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The files.", metavar="WHEEL...")],
    where: options.ActiveWhere,
    torch: Annotated[
        str, typer.Option("--torch", help="A wheel of torch, a folder of its libraries, or a version.", metavar="X")
    ] = "",
    told: options.LongOutput,
) -> None:
    """Say of each wheel whether it works with a torch, without loading anything."""

    def work() -> AnyResult:
        from xpusetup.commands.fits import judge_wheels
        from xpusetup.ui.live import waiting

        with waiting("reading wheels and torch", quiet=told.silent):
            return judge_wheels(wheels, where.find(), torch)

    told.finish("fits", work)


# verify: proof that a device computes, and which operators it leaves to the CPU.


@options.spread
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
    throughput: Annotated[bool, typer.Option("--throughput", help="Also images a second.")] = False,
    save: Annotated[
        str, typer.Option("--save", help="Write a record of it that can be sent in; it names nobody.", metavar="FILE")
    ] = "",
    fallbacks: Annotated[bool, typer.Option("--fallbacks", help="Which operators run on the CPU instead.")] = False,
    codegen: Annotated[
        bool, typer.Option("--codegen", help="Compile kernels for the profile's GPUs; needs none, and runs nothing.")
    ] = False,
    release: Annotated[str, typer.Option("--release", help="As published of this release.", metavar="R")] = "",
    log: Annotated[list[str] | None, typer.Option("--log", help="As a log tells; -: stdin.", metavar="FILE")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables as Markdown on a terminal too.")] = False,
    told: options.LongOutput,
) -> None:
    """Prove that the accelerator computes the right numbers."""

    def work() -> AnyResult:
        if codegen:
            return _codegen(where.find(), quiet=told.silent)
        if fallbacks or release or log or markdown:
            tables = {"device": device, "release": release, "logs": tuple(log or ()), "markdown": markdown}
            return _fallbacks(where.find(), **tables, whole=told.verbose, quiet=told.silent)
        checks = {"device": device, "level": level, "only": tuple(only or ()), "skip": tuple(skip or ()), "mode": mode}
        if listed:
            return _list()
        how = {"junit": junit, "patience": patience, "throughput": throughput, "save": save}
        return _checks(where.find(), **checks, **how, quiet=told.silent)

    told.finish("verify", work)


def _list() -> AnyResult:
    from xpusetup.commands.verify import list_checks

    return list_checks()


def _checks(where: Where, *, quiet: bool, **words: Any) -> AnyResult:
    from xpusetup.commands.verify import VerifyOptions
    from xpusetup.commands.verify import verify as make
    from xpusetup.ui.live import asking

    with asking(quiet=quiet) as say:
        return make(where, VerifyOptions(**words), say)


def _fallbacks(where: Where, *, quiet: bool, **words: Any) -> AnyResult:
    from xpusetup.commands.verify import FallbackOptions, show_fallbacks
    from xpusetup.ui.live import waiting

    asked = FallbackOptions(**words)
    with waiting("running operators on the device", quiet=quiet or bool(asked.release or asked.logs)):
        return show_fallbacks(where, asked)


def _codegen(where: Where, *, quiet: bool) -> AnyResult:
    from xpusetup.commands.codegen import generate_code
    from xpusetup.ui.live import waiting

    with waiting("compiling kernels", quiet=quiet):
        return generate_code(where)
