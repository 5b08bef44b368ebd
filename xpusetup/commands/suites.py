"""test: a suite of tests on a device, in the built environment or in any other that has torch."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xpusetup.base.command import Command
from xpusetup.base.document import fields_of, read_as, to_table
from xpusetup.base.errors import NoDeviceError, NotReadyError, WorkFailedError
from xpusetup.commands import verify
from xpusetup.commands.result import Result, Say
from xpusetup.commands.verify import read_known
from xpusetup.plan.verify import device_options
from xpusetup.run.manifest import read_document
from xpusetup.run.workspace import Where
from xpusetup.suites import sources as effects
from xpusetup.suites.known import (
    Against,
    Baseline,
    ChangedPackage,
    Exclusion,
    PublishedBaseline,
    Suite,
    SuiteRecord,
    SuiteRow,
    Suites,
    SuiteVersions,
    affected_tests,
    compare_counts,
    compare_tests,
    make_operators,
    make_spec,
    parse_suites,
    render_results,
)
from xpusetup.suites.sources import SuiteOptions, SuiteRun, TestTree, find_baseline, find_source, results_folder
from xpusetup.system.files import package_text
from xpusetup.verify import runner
from xpusetup.verify.fallbacks import Operator
from xpusetup.verify.runner import Subject

CPU = "cpu"
NO_DEVICE, REPLACED = 4, 5
BAD = {"failed", "error", "crashed"}
TOOLS = ("pytest", "pytest-xdist")
REQUIRED = ("pytest<9", "pytest-xdist")
"""PyTorch's own conftest.py, of 2.6 at least, names an argument that hooks of pytest 9 no longer have."""


@dataclass(frozen=True)
class KnownSuite:
    """A suite that there is, and the names of its parts for --select."""

    name: str
    title: str
    select: list[str]


@dataclass(frozen=True, kw_only=True)
class SuiteList:
    """The suites that there are, what was published of them, and the command that runs the first."""

    list_: list[KnownSuite]
    published: list[PublishedBaseline]
    follows: str


@dataclass(frozen=True, order=True)
class AffectedOperator(Operator):
    """An operator that ran on the CPU, with the tests that said so."""

    tests: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class OperatorTable:
    """The operators in the published form, and what the table cannot tell."""

    markdown: str
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class SuiteSource:
    """The folder of the tests, the version that it says of itself (empty for none), what to know of it."""

    folder: str
    version: str
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class SuiteResult:
    """What a suite came to on a device of an environment, in seconds of the clock.

    `suites` are the rows of the table, `failed` the tests that did not pass, each with one word, `crashed` those whose
    process ended, with how, `broken` rows that ended early; `against`: what differs from a baseline; `results` is the
    file of all that.
    """

    suite: str
    device: str
    versions: SuiteVersions
    workers: int
    crashed: dict[str, str]
    excluded: list[Exclusion]
    replaced: list[ChangedPackage]
    seconds: float
    suites: list[SuiteRow]
    markdown: str
    failed: dict[str, str]
    broken: list[str]
    operators: list[AffectedOperator]
    operator_table: OperatorTable
    against: Against | None
    source: SuiteSource
    environment: str
    results: str


def list_suites() -> Result[SuiteList]:
    known = _read_suites()
    suites = [KnownSuite(one.name, one.title, [each.name for each in one.selection]) for one in known.suite]
    command = Command(f"xpusetup verify --suite {suites[0].name} --install")
    return Result("verify --suite", SuiteList(list_=suites, published=known.published, follows=command))


def run_suite(where: Where, asked: SuiteOptions, say: Say) -> Result[SuiteResult]:
    """Run a suite. Raises NotReadyError where something lacks, NoDeviceError where there is no device."""
    known = _read_suites()
    suite = known.find(asked.suite)
    meant = verify.VerifyOptions(device=asked.device)
    subject = verify.find_subject(where, meant)
    device = verify.choose_device(subject, meant).device
    _check_device(subject, device, say)
    bench = SuiteRun(known, suite, subject, device, _prepare(suite, subject, asked, say))
    source = find_source(bench, asked)
    baseline = find_baseline(bench, asked.baseline)
    folder = results_folder(bench, asked.out)
    excluded = [] if asked.select else known.excluded(suite, bench.version, bench.torch, device)
    effects.write_order(folder / "order.json", _make_order(bench, asked, source, excluded, folder))
    said = effects.run_suite(subject.python, folder / "order.json", subject.env, say)
    document = read_document(folder / "results.json") if said.code in {0, REPLACED} else {}
    if not document:
        words = " ".join((said.err.strip() or said.why).splitlines()[-1:]) or f"the runner ended with {said.code}"
        fix = "the same command goes on where this one stopped"
        raise WorkFailedError(f"the {suite.title} tests came to no result: {words}", fix=fix)
    record = read_as(SuiteRecord, document)
    found = _describe(record, bench, source, baseline, folder)
    worse = found.against.worse if found.against else found.failed
    well = not (worse or found.broken or found.replaced) and found.suites
    return Result("verify --suite", found, code=0 if well else 1)


def _read_suites() -> Suites:
    return parse_suites(package_text("data/suites.toml"))


def _check_device(subject: Subject, name: str, say: Say) -> None:
    """Look whether the device is there, before hours of tests that skip themselves."""
    if name == CPU:
        return
    device = verify.describe(subject, name)
    options = (*(device_options(device) if device else ("--device", name)), "--only", "device.available")
    found, code, words = runner.run_verifier(subject.python, options, subject.env, say)
    if code == NO_DEVICE:
        fix = "run them on a machine that has one, or on the CPU: --device cpu"
        raise NoDeviceError(f"there is no {device.title if device else name} here to run tests on", fix=fix)
    if code:
        bad = [one.seen for one in (found.checks if found else ()) if one.level in {"fail", "crash"}] or [words]
        raise WorkFailedError(f"the device cannot be used: {bad[0]}", command=f"xpusetup verify --device {name}")


def _prepare(suite: Suite, subject: Subject, asked: SuiteOptions, say: Say) -> Mapping[str, str]:
    """Look at what the suite needs, install it where that was asked for, and give the versions of it all."""
    names = list(dict.fromkeys(("torch", suite.distribution, *suite.needs, *TOOLS)))
    versions = effects.find_versions(subject.python, names)
    required = (*REQUIRED, *(name for name in suite.needs if name != "torch"))
    if asked.install:
        said, last = effects.install_needs(subject.python, required, subject.env, say)
        if said.code == REPLACED:
            raise WorkFailedError("what the suite needs has replaced torch", command="xpusetup status")
        if said.code:
            fix = f"try by hand: {subject.python} -m pip install {' '.join(map(repr, required))}"
            raise NotReadyError(f"what the suite needs cannot be installed: {last or said.err.strip()}", fix=fix)
        versions = effects.find_versions(subject.python, names)
    if lacking := [name for name in (*suite.needs, "pytest") if not versions.get(name)]:
        told = f"{subject.whose} lacks what the {suite.title} tests need: {', '.join(lacking)}"
        line = f"xpusetup verify --suite {suite.name} --install"
        raise NotReadyError(told, fix="install it; no torch is replaced: ", command=line)
    return versions


def _make_order(
    bench: SuiteRun, asked: SuiteOptions, source: TestTree, excluded: list[Exclusion], folder: Path
) -> dict[str, Any]:
    workers = asked.workers if asked.workers >= 0 else (os.cpu_count() or 1) if bench.device == CPU else 1
    suite = bench.suite
    environment = bench.known.variables(suite, bench.device)
    spec = make_spec(bench.device) if suite.spec else ()
    if spec:
        environment[suite.spec] = spec[0]
    return {
        "suite": suite.name,
        "device": bench.device,
        "source": str(source.folder),
        "folder": str(folder),
        "places": list(source.places),
        "whole": list(source.whole),
        "keyword": asked.keyword or source.keyword,
        "excluded": [to_table(one) for one in excluded],
        "environment": environment,
        "spec": list(spec),
        "distribution": suite.distribution,
        "entries": list(source.entries),
        "workers": workers,
        "parts": asked.shards,
        "seconds": asked.bound,
        "again": asked.again,
    }


def _compare(record: SuiteRecord, baseline: Baseline | None) -> Against | None:
    if baseline is None:
        return None
    here = {row.name: row for row in record.suites}
    if baseline.tests:
        return compare_tests(baseline.name, baseline.tests, record.tests, frozenset(here))
    return compare_counts(baseline.name, baseline.rows, here)


def _describe(
    record: SuiteRecord, bench: SuiteRun, source: TestTree, baseline: Baseline | None, folder: Path
) -> SuiteResult:
    rows = [row for row in record.suites if row.bad or row.passed or row.skipped or row.why]
    release = ".".join(bench.torch.split(".")[:2])
    table = make_operators(read_known(), f"{bench.device}, PyTorch {bench.torch}", record.heard, release)
    tests = affected_tests(record.heard)
    return SuiteResult(
        suite=record.suite,
        device=record.device,
        versions=record.versions,
        workers=record.workers,
        crashed=record.crashed,
        excluded=record.excluded,
        replaced=record.replaced,
        seconds=record.seconds,
        suites=rows,
        markdown=render_results(rows),
        failed={test: word for test, word in record.tests.items() if word in BAD},
        broken=[f"{row.name}: {why}" for row in rows for why in row.why],
        operators=[AffectedOperator(**fields_of(one), tests=tests[one.name]) for one in table.operators],
        operator_table=OperatorTable(markdown=table.markdown, notes=list(table.notes)),
        against=_compare(record, baseline),
        source=SuiteSource(folder=str(source.folder), version=source.version, notes=list(source.notes)),
        environment=bench.subject.whose,
        results=str(folder / "results.json"),
    )
