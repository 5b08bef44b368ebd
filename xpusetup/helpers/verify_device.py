"""Verifies that a device computes the right numbers, and writes what it saw as one JSON document.

The checks run in a child (device_checks.py), so that a hang, a signal or a broken extension is a finding as well.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import re
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device_checks import CHECKS, PASSING
from summary import count, say_summary

if TYPE_CHECKING:
    from collections.abc import Iterator

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
ALONE = "import faulthandler; faulthandler.dump_traceback_later(300, exit=True); import torch"
TITLES = {check.id: check.title for check in CHECKS}
FOLLOWS = {
    "numbers.matmul": ("numbers.finite",),
    "numbers.conv": ("numbers.finite", "numbers.matmul"),
    "numbers.autograd": ("numbers.finite", "numbers.matmul"),
    "numbers.model": ("numbers.finite", "numbers.matmul", "numbers.conv", "numbers.autograd"),
    "amp.dtype": ("numbers.finite", "numbers.matmul", "numbers.conv"),
}
"""What a failure may come from. Convolutions and linear layers are matrix products on most devices."""
PRIVATE = ("facts", "own_fault")
NOT_CHECKED = ("torch.compile", "float16 autocast", "operator coverage", "memory limits", "distributed", "speed")


@dataclass(frozen=True)
class Result:
    id: str
    title: str
    level: str
    seen: str
    limit: str | None = None
    seconds: float | None = None
    caused_by: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    own_fault: bool = False


def find_cause(result: Result, earlier: list[Result]) -> str | None:
    """Name the first earlier check whose trouble this one may follow from."""
    if result.level in PASSING or result.own_fault:
        return None
    possible = (one for one in earlier if one.level not in PASSING and one.id in FOLLOWS.get(result.id, ()))
    return next((one.caused_by or one.id for one in possible), None)


def run_checks(device: str, patience: float) -> Iterator[Result]:
    """Give each result as it comes; a child that ends too early failed the check that it was at."""
    source, sink = os.pipe()
    script = str(Path(__file__).with_name("device_checks.py"))
    child = subprocess.Popen(
        (sys.executable, script, device, str(sink), str(patience)),
        env={**os.environ, AUTOLOAD: "1"},  # only the exact string "1" turns it on
        pass_fds=(sink,),
        stdout=sys.stderr.fileno(),
    )
    os.close(sink)
    started: str | None = CHECKS[0].id
    with os.fdopen(source) as events:
        for event in map(json.loads, events):
            started = event.get("start")
            if started is None:
                yield Result(title=TITLES[event["id"]], **event)
    code = child.wait()
    if started:
        yield Result(started, TITLES[started], "crash", describe_end(code, patience))


def describe_end(code: int, patience: float) -> str:
    if code < 0:
        return f"the process was ended: {signal.strsignal(-code)}"
    return f"no answer within {patience:g} s" if code == 1 else f"the process ended with exit code {code}"


def explain_import(failed: Result, extensions: dict[str, str]) -> Result:
    """Say whose fault it is that torch cannot be imported: with autoload off, only torch itself is left."""
    environment = {**os.environ, AUTOLOAD: "0"}
    command = (sys.executable, "-c", ALONE)
    alone = subprocess.run(command, env=environment, cwd=Path(__file__).parent, capture_output=True, check=False)
    if alone.returncode:
        return replace(failed, level="fail", seen=f"torch itself cannot be imported: {failed.seen}")
    named = re.search(r"backend extension: (\S+?)\.(?:\s|$)", failed.seen)
    names = [named[1]] if named else sorted(extensions)
    shown = ", ".join(f"{name} ({extensions.get(name, 'package unknown')})" for name in names) or "unknown"
    reason = failed.seen.split(" because ", 1)[-1]
    return replace(failed, level="fail", seen=f"extension {shown} cannot be loaded: {reason}; torch itself can")


def find_extensions() -> dict[str, str]:
    """List the packages that `import torch` loads, as entry point: package and version."""
    found = entry_points(group="torch.backends")
    return {one.name: f"{one.dist.name} {one.dist.version}" if one.dist else one.value for one in found}


def explain(result: Result, extensions: dict[str, str], *, expected: bool) -> Result:
    """Add to what the child saw what only its caller knows."""
    if result.id == "device.available" and result.level == "skip" and expected:
        return replace(result, level="fail")
    if result.id != "autoload.import":
        return result
    if result.level not in PASSING:
        return explain_import(result, extensions)
    loaded = "".join(f", extension {name} ({package})" for name, package in sorted(extensions.items()))
    switch = os.environ.get(AUTOLOAD, "1")
    if extensions and switch != "1":
        off = f"; {AUTOLOAD}={switch} here turns extensions off, these checks turned them on"
        return replace(result, level="warn", seen=result.seen + loaded + off)
    return replace(result, seen=result.seen + loaded)


def fill_in(results: list[Result]) -> list[Result]:
    """Add the checks that the child never came to, because of the last one that it did come to."""
    cause = results[-1].caused_by or results[-1].id
    return results + [Result(one.id, one.title, "skip", "not run", caused_by=cause) for one in CHECKS[len(results) :]]


def is_verified(results: list[Result]) -> bool | None:
    """Say yes or no, or None where there is no device and none was expected."""
    if any(one.level in ("fail", "crash") for one in results):
        return False
    return None if any(one.level == "skip" for one in results) else True


def make_document(device: str, results: list[Result], extensions: dict[str, str]) -> dict[str, Any]:
    facts = {key: value for one in results for key, value in one.facts.items()}
    devices = facts.get("devices", [])
    versions = {"python": platform.python_version(), "torch": facts.get("torch") or package_version("torch")}
    skipped = [one.id for one in results if one.level == "skip"]
    others = [f"{device}:{one['index']}" for one in devices[1:]]
    return {
        "device": f"{device}:0" if devices and device != "cpu" else device,
        "devices": devices,
        "versions": {**versions, "numpy": package_version("numpy"), "extensions": extensions},
        "checks": [{key: value for key, value in asdict(one).items() if key not in PRIVATE} for one in results],
        "verified": is_verified(results),
        "not_checked": [*skipped, *others, *NOT_CHECKED],
    }


def summarise(document: dict[str, Any]) -> tuple[str, ...]:
    bad = sum(check["level"] in {"fail", "crash"} for check in document["checks"])
    checks = count(len(document["checks"]), "check")
    names = [str(one.get("name", "")) for one in document["devices"][:1]]
    return (f"{bad} of {checks} failed" if bad else checks, *names)


def package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def write_json(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)


def verify(device: str, *, expected: bool, patience: float) -> dict[str, Any]:
    extensions = find_extensions()
    results: list[Result] = []
    for result in run_checks(device, patience):
        one = explain(result, extensions, expected=expected)
        cause = find_cause(one, results)
        results.append(replace(one, caused_by=cause))
        after = f" (follows from {cause})" if cause else ""
        print(f"{one.level:5} {one.title}: {one.seen}{after}", flush=True)
    return make_document(device, fill_in(results), extensions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", required=True, help="xpu, simxpu, cpu, cuda, hpu, npu, ...")
    parser.add_argument("--expected", action="store_true", help="it has to be there: its absence is a failure")
    parser.add_argument("--out", type=Path, help="where the JSON document goes")
    parser.add_argument("--patience", type=float, default=300, metavar="SECONDS", help="for each check")
    options = parser.parse_args()
    if not options.device.isidentifier():
        parser.error(f"--device {options.device}: the name of a device type, without an index")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal's encoding is not the finding's matter
    document = verify(options.device, expected=options.expected, patience=options.patience)
    if options.out:
        write_json(options.out, document)
    say_summary(*summarise(document))
    return {True: 0, False: 1, None: 4}[document["verified"]]


if __name__ == "__main__":
    sys.exit(main())
