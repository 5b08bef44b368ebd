"""All checks of verify_device.py, and what their results are worth: levels, causes, whether a device is verified.

Verdicts: ok, wrong, unsupported (the device lacks it), absent (this torch or this machine lacks it).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from xml.etree import ElementTree as ET

from helperlib.checks import api, basics, collectives, guide, memory, models, operators, randomness, tensors, training

# All checks, in the order in which they run.


PASSING = ("ok", "info", "warn")
LEVELS = ("quick", "smoke", "full")
GATES = tuple(check.id for check in basics.GATES)
"""Nothing can be checked after one of these did not pass."""
SUITE = (*tensors.CHECKS, *operators.CHECKS, *randomness.CHECKS, *memory.CHECKS, *training.CHECKS)
"""The device suite (docs/verify.md)."""
CHECKS = (
    *basics.GATES,
    *basics.CHECKS,
    *api.CHECKS,
    *SUITE,
    *models.CHECKS,
    *guide.CHECKS,
    *api.LOADER,
    *collectives.CHECKS,
)
"""All of them, in the order in which they run."""


# What a result is worth, and what it follows from.


FAILING = ("fail", "crash")
TITLES = {check.id: check.title for check in CHECKS}
FIRST = ("device.", "ops.")
"""Where these fail, anything later may follow from it."""
PRODUCTS = ("numbers.finite", "numbers.matmul")
"""Convolutions, linear layers and attention are matrix products on most devices."""
FOLLOWS = (
    ("numbers.model", ("numbers.",)),
    ("numbers.", PRODUCTS),
    ("amp.", (*PRODUCTS, "numbers.conv")),
    ("api.gradient_checkpointing", ("numbers.",)),  # the one row that computes
    ("api.", ()),
    ("", ("numbers.",)),
)
"""Of the first prefix that an id begins with: the prefixes of what its failure may come from, besides FIRST."""
PRIVATE = ("facts", "own_fault", "since")
OPTIONAL = ("peak_bytes", "stack")


@dataclass(frozen=True)
class BenchResult:
    """What is known of one check. `stack`: where its process was when it hung or died, the innermost call first."""

    id: str
    title: str
    level: str
    seen: str
    limit: str | None = None
    seconds: float | None = None
    caused_by: str | None = None
    verdict: str | None = None
    peak_bytes: int | None = None
    stack: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    own_fault: bool = False
    since: str = ""


def describe(result: BenchResult) -> dict[str, Any]:
    pairs = asdict(result).items()
    return {key: value for key, value in pairs if key not in PRIVATE and (value or key not in OPTIONAL)}


def choose_checks(level: str, only: Sequence[str] = (), skip: Sequence[str] = ()) -> tuple[str, ...]:
    """Give the ids of a level's checks in order, gates always; what `only` names comes from any level."""
    upto = LEVELS[: LEVELS.index(level) + 1]

    def is_wanted(name: str, of_level: str) -> bool:
        chosen = is_named(name, only) if only else of_level in upto
        return name in GATES or (chosen and not is_named(name, skip))

    return tuple(check.id for check in CHECKS if is_wanted(check.id, check.level))


def is_named(name: str, among: Sequence[str]) -> bool:
    """Say whether an id is among these ids and areas."""
    return name in among or name.partition(".")[0] in among


ON_PROCESSOR = {"models.infer_compiled": "inductor writes kernels for Triton, which has no device of OpenCL"}
"""What may be lacking where what is called a GPU is the machine's processor, with the reason."""


def list_gaps(device: str, facts: Mapping[str, Any]) -> Mapping[str, str]:
    """Give what a device may lack by its kind, from the facts that tell that kind."""
    kinds = {one.get("kind") for one in facts.get("devices", ())}
    return ON_PROCESSOR if device != "cpu" and "processor" in kinds else {}


def judge_result(result: BenchResult, gaps: Mapping[str, str], torch: str) -> BenchResult:
    """Turn what is unsupported or absent into a level: expected of this device, of this old torch, or a fault."""
    gap = gaps.get(result.id)
    if result.id in GATES:
        return result
    if gap and result.level == "ok":
        return replace(result, level="info", seen=f"{result.seen}; no gap any more: {gap}")
    if gap and result.verdict in ("unsupported", "absent"):
        return replace(result, level="skip", seen=f"{result.seen}; expected: {gap}")
    if result.verdict == "absent" and result.since:
        numbers = [tuple(map(int, re.findall(r"\d+", text.partition("+")[0])[:2])) for text in (torch, result.since)]
        if not numbers[0] or numbers[0] >= numbers[1]:  # a version that has none counts as new
            return replace(result, level="fail", seen=f"{result.seen}; torch {torch} should have it")
    return result


def find_cause(result: BenchResult, earlier: Sequence[BenchResult]) -> str | None:
    """Name the first earlier check whose trouble this one may follow from."""
    if result.level not in FAILING or result.own_fault:
        return None
    prefixes = (*FIRST, *next(causes for prefix, causes in FOLLOWS if result.id.startswith(prefix)))
    if "amp" in result.id:
        prefixes += ("amp.",)
    possible = (one for one in earlier if one.level in FAILING and one.id.startswith(prefixes))
    return next((one.caused_by or one.id for one in possible), None)


def fill_in(results: list[BenchResult], chosen: Sequence[str]) -> list[BenchResult]:
    """Add the checks that nobody came to, because of the gate or of the first failure that let no other through."""
    found = {one.id: one for one in results}
    last = results[-1]
    cause = last.caused_by or last.id
    blank = {name: BenchResult(name, TITLES[name], "skip", "not run", caused_by=cause) for name in chosen}
    return list({**blank, **found}.values())


def is_verified(results: Sequence[BenchResult]) -> bool | None:
    """Say yes or no, or None where there is no device and none was expected. A skipped check is not a failed one."""
    if any(one.level in FAILING for one in results):
        return False
    return None if any(one.level not in PASSING for one in results if one.id in GATES) else True


# A verification as JUnit XML, the form that CI servers show.


UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, not even escaped."""
TAGS = {"fail": "failure", "crash": "error", "skip": "skipped"}


def render_junit(document: dict[str, Any]) -> str:
    """Give the document of verify_device.py as one test suite: a test case a check, its area as the class."""
    checks = document["checks"]
    levels = [check["level"] for check in checks]
    suite = ET.Element(
        "testsuite",
        name=f"xpusetup verify {document['device']}",
        tests=str(len(checks)),
        failures=str(levels.count("fail")),
        errors=str(levels.count("crash")),
        skipped=str(levels.count("skip")),
        time=f"{sum(check['seconds'] or 0 for check in checks):.3f}",
    )
    names = [str(device.get("name")) for device in document["devices"][:1]]
    known = {"device": document["device"], "name": "".join(names), "torch": document["versions"].get("torch")}
    properties = ET.SubElement(suite, "properties")
    for name, value in known.items():
        ET.SubElement(properties, "property", name=name, value=clean(value or ""))
    for check in checks:
        add_case(suite, check)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def add_case(suite: ET.Element, check: dict[str, Any]) -> None:
    area = check["id"].partition(".")[0]
    seconds = f"{check['seconds'] or 0:.3f}"
    case = ET.SubElement(suite, "testcase", classname=f"verify.{area}", name=check["id"], time=seconds)
    caused = f" (follows from {check['caused_by']})" if check["caused_by"] else ""
    tag = TAGS.get(check["level"])
    if tag is None:
        ET.SubElement(case, "system-out").text = clean(check["seen"])
        return
    trouble = ET.SubElement(case, tag, message=clean(check["seen"] + caused))
    lines = [f"limit: {check['limit']}"] if check["limit"] else []
    trouble.text = clean("\n".join([*lines, *check.get("stack", ())])) or None


def clean(text: str) -> str:
    return UNPRINTABLE.sub("?", text)
