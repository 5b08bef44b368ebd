"""test: a suite of tests on a device, in the built environment or in any other that has torch."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xpusetup.base.errors import NoDeviceError, NotReadyError, WorkFailedError
from xpusetup.commands import verify
from xpusetup.commands.result import Result
from xpusetup.commands.verify import read_known
from xpusetup.plan.verify import device_options
from xpusetup.run.manifest import read_document
from xpusetup.suites import sources as effects
from xpusetup.suites.known import (
    affected_tests,
    compare_counts,
    compare_tests,
    make_operators,
    make_spec,
    parse_suites,
    render_results,
)
from xpusetup.suites.sources import SuiteRun, find_baseline, find_source, results_folder
from xpusetup.system.files import package_text
from xpusetup.verify import runner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import TypeAlias

    from xpusetup.run.workspace import Where
    from xpusetup.suites.known import Against, Exclusion, Suite, Suites
    from xpusetup.suites.sources import Source, SuiteOptions
    from xpusetup.verify.runner import Subject

    Say: TypeAlias = Callable[[str], None]


CPU = "cpu"
NO_DEVICE, REPLACED = 4, 5
BAD = {"failed", "error", "crashed"}
KINDS = ("failed", "passed", "skipped", "errors")
KEPT = ("suite", "device", "versions", "workers", "crashed", "excluded", "replaced", "seconds")
TOOLS = ("pytest", "pytest-xdist")
REQUIRED = ("pytest<9.2", "pytest-xdist")
"""pytest 9.2 and pytest-xdist 3.8 do not go together in every mode."""


def list_suites() -> Result[Any]:
    """Say which suites there are, and what was published of them."""
    known = _read_suites()
    rows = [
        {"name": one.name, "title": one.title, "select": [each.name for each in one.selection]} for one in known.suite
    ]
    published = [
        {"id": one.id, "markdown": one.markdown.strip() + "\n", "source": one.source} for one in known.published
    ]
    return Result("test", {"list": rows, "published": published, "next": f"xpusetup test {rows[0]['name']} --install"})


def run_suite(where: Where, asked: SuiteOptions, say: Say) -> Result[Any]:
    """Run a suite. Raises NotReadyError where something lacks, NoDeviceError where there is no device."""
    known = _read_suites()
    suite = known.find(asked.suite)
    meant = verify.VerifyOptions(device=asked.device)
    subject = verify.find_subject(where, meant)
    device = verify.choose_device(subject, meant)["device"]
    _check_device(subject, device, say)
    bench = SuiteRun(known, suite, subject, device, _prepare(suite, subject, asked, say))
    source = find_source(bench, asked)
    baseline = find_baseline(bench, asked.baseline)
    folder = results_folder(bench, asked.out)
    excluded = [] if asked.select else known.excluded(suite, bench.version, bench.torch, device)
    effects.write_order(folder / "order.json", _make_order(bench, asked, source, excluded, folder))
    document = _run(bench, folder, say)
    return _result(document, bench, source, _compare(document, baseline), folder)


def _read_suites() -> Suites:
    return parse_suites(package_text("data/suites.toml"))


def _check_device(subject: Subject, name: str, say: Say) -> None:
    """Look whether the device is there, before hours of tests that skip themselves."""
    if name == CPU:
        return
    device = verify.describe(subject, name)
    options = (*(device_options(device) if device else ("--device", name)), "--only", "device.available")
    document, code, words = runner.run_verifier(subject.python, options, subject.env, say)
    if code == NO_DEVICE:
        raise NoDeviceError(
            f"there is no {device.title if device else name} here to run tests on",
            fix="run them on a machine that has one, or on the CPU: --device cpu",
        )
    if code:
        bad = [one["seen"] for one in document.get("checks", ()) if one["level"] in {"fail", "crash"}] or [words]
        raise WorkFailedError(f"the device cannot be used: {bad[0]}", fix=f"xpusetup verify --device {name}")


def _prepare(suite: Suite, subject: Subject, asked: SuiteOptions, say: Say) -> Mapping[str, str]:
    """Look at what the suite needs, install it where that was asked for, and give the versions of it all."""
    names = list(dict.fromkeys(("torch", suite.distribution, *suite.needs, *TOOLS)))
    versions = effects.find_versions(subject.python, names)
    required = (*REQUIRED, *(name for name in suite.needs if name != "torch"))
    if asked.install:
        said, last = effects.install_needs(subject.python, required, subject.env, say)
        if said.code == REPLACED:
            raise WorkFailedError("what the suite needs has replaced torch", fix="xpusetup status")
        if said.code:
            raise NotReadyError(
                f"what the suite needs cannot be installed: {last or said.err.strip()}",
                fix=f"try by hand: {subject.python} -m pip install {' '.join(map(repr, required))}",
            )
        versions = effects.find_versions(subject.python, names)
    if lacking := [name for name in (*suite.needs, "pytest") if not versions.get(name)]:
        raise NotReadyError(
            f"{subject.whose} lacks what the {suite.title} tests need: {', '.join(lacking)}",
            fix=f"install it; no torch is replaced: xpusetup test {suite.name} --install",
        )
    return versions


def _make_order(
    bench: SuiteRun, asked: SuiteOptions, source: Source, excluded: list[Exclusion], folder: Path
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
        "excluded": [one.model_dump() for one in excluded],
        "environment": environment,
        "spec": list(spec),
        "distribution": suite.distribution,
        "entries": list(source.entries),
        "workers": workers,
        "parts": asked.shards,
        "seconds": asked.bound,
        "again": asked.again,
    }


def _run(bench: SuiteRun, folder: Path, say: Say) -> dict[str, Any]:
    said = effects.run_suite(bench.subject.python, folder / "order.json", bench.subject.env, say)
    document = read_document(folder / "results.json") if said.code in {0, REPLACED} else {}
    if not document:
        words = " ".join((said.err.strip() or said.why).splitlines()[-1:]) or f"the runner ended with {said.code}"
        raise WorkFailedError(
            f"the {bench.suite.title} tests came to no result: {words}",
            fix="the same command goes on where this one stopped",
        )
    return document


def _compare(document: Mapping[str, Any], baseline: Mapping[str, Any]) -> Against | None:
    if not baseline:
        return None
    if baseline.get("tests"):
        rows = frozenset(row["name"] for row in document["suites"])
        return compare_tests(baseline["name"], baseline["tests"], document["tests"], rows)
    here = {row["name"]: row for row in document["suites"]}
    return compare_counts(baseline["name"], baseline["rows"], here)


def _result(
    document: dict[str, Any], bench: SuiteRun, source: Source, against: Against | None, folder: Path
) -> Result[Any]:
    rows = [row for row in document["suites"] if any(map(row.get, KINDS)) or row["why"]]
    bad = {test: word for test, word in document["tests"].items() if word in BAD}
    broken = [f"{row['name']}: {why}" for row in rows for why in row["why"]]
    data = {
        **{name: document[name] for name in KEPT},
        "suites": rows,
        "markdown": render_results(rows),
        "failed": bad,
        "broken": broken,
        **_operators(document, bench),
        "against": asdict(against) if against else None,
        "source": {"folder": str(source.folder), "version": source.version, "notes": list(source.notes)},
        "environment": bench.subject.whose,
        "results": str(folder / "results.json"),
    }
    worse = against.worse if against else bad
    return Result("test", data, code=1 if worse or broken or document["replaced"] or not rows else 0)


def _operators(document: Mapping[str, Any], bench: SuiteRun) -> dict[str, Any]:
    """Give what the tests said of operators that ran on the CPU, with the tests that said it."""
    release = ".".join(bench.torch.split(".")[:2])
    table = make_operators(read_known(), f"{bench.device}, PyTorch {bench.torch}", document["heard"], release)
    tests = affected_tests(document["heard"])
    rows = [{**asdict(one), "tests": tests[one.name]} for one in table.operators]
    return {"operators": rows, "operator_table": {"markdown": table.markdown, "notes": list(table.notes)}}
