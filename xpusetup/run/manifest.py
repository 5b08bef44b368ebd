"""The manifest: what was built from what and verified where; how far a root is, what earlier builds took."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from xpusetup import __version__
from xpusetup.base.document import Document, to_json, to_table
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import XPU, MissingProof, Request, RootWheel, Target
from xpusetup.plan.addon import DISTRIBUTION
from xpusetup.plan.context import file_name, patches_of
from xpusetup.plan.install import published_wheels
from xpusetup.run.journal import JOURNAL
from xpusetup.run.keys import installs
from xpusetup.run.lock import hold_lock, is_abandoned, is_held
from xpusetup.run.root import BEGUN, Root, parse_document, read_lock, read_stamps
from xpusetup.system import files
from xpusetup.system.git import read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from xpusetup.base.model import Step
    from xpusetup.config.profile import Profile
    from xpusetup.machine.facts import Facts
    from xpusetup.run.keys import Stamp
    from xpusetup.run.runner import RunOutcome
    from xpusetup.run.time_left import History


# The manifest: what was built from what, on which machine, and what of it was verified.


STATEMENT = ".provenance.json"
"""What the name of a wheel's statement ends with, behind the whole name of the wheel."""
KINDS: Mapping[str, tuple[type, ...]] = {
    "verified": (bool, type(None)),
    "failed": (str, type(None)),
    "made_by": (str,),
    **dict.fromkeys(("own", "target", "inspected", "steps", "proven"), (dict,)),
    **dict.fromkeys(("facts", "verification"), (dict, type(None))),
    **dict.fromkeys(("pins", "patches", "wheels", "build_requirements", "edited"), (list,)),
}
"""What kind of value each key of a manifest has, and, below, what each of its rows holds."""
ROWS: Mapping[str, tuple[str, ...]] = {
    "own": ("folder",),
    "pins": ("name",),
    "patches": ("source", "file", "sha256"),
    "wheels": ("name", "version", "path", "sha256"),
}


def read_manifest(root: Root) -> dict[str, Any]:
    """Read manifest.json; empty where there is none."""
    found = read_document(root / "manifest.json")
    return {name: value for name, value in found.items() if _fits(name, value)}


def _fits(name: str, value: object) -> bool:
    """Say whether a value of a manifest is of the kind that it has to be; any other is as good as absent."""
    if not isinstance(value, KINDS.get(name, object)):
        return False
    rows = value.values() if name == "own" and isinstance(value, dict) else value if isinstance(value, list) else ()
    if name == "made_by":
        return value in {"build", "install"}
    if name in {"build_requirements", "edited"}:
        return all(isinstance(row, str) for row in rows)
    return all(isinstance(row, dict) and _holds(row, ROWS.get(name, ())) for row in rows)


def _holds(row: dict[str, object], names: Iterable[str]) -> bool:
    return all(isinstance(row.get(name), str) for name in names)


def read_document(path: Path) -> dict[str, Any]:
    """Read a JSON document; empty where there is none, or none that can be read."""
    return parse_document(files.read_text(path) or "")


def list_wheels(root: Root, profile: Profile, made_by: str = "build") -> list[RootWheel]:
    """List the wheels that a command got for a profile, with the hashes that their steps wrote down."""
    if made_by == "install":
        rows = [(f"{name}.download", *pin) for name, pin in published_wheels(profile).items()]
    else:
        parts = (part for part in profile.components if part.kind != "skip")
        ends = {"source": ("build",), "wheel": ("fetch", "build")}  # of a tree of the user's own it is built
        rows = [(f"{part.name}.{end}", part.distribution, part.version) for part in parts for end in ends[part.kind]]
        rows.append((f"{XPU}.build", DISTRIBUTION, ""))
    stamps = read_stamps(root)
    return [wheel for row in rows if row[0] in stamps for wheel in _wheels(stamps[row[0]], *row)]


def _wheels(stamp: Stamp, step: str, distribution: str, version: str) -> Iterator[RootWheel]:
    for made in stamp.made:
        if Path(made.path).name.startswith(f"{file_name(distribution)}-"):
            named = Path(made.path).name.split("-")[1]
            said = f"{made.path}{STATEMENT}"
            yield RootWheel(
                name=distribution,
                version=named if step.endswith(".build") else version,
                path=made.path,
                sha256=made.sha256,
                provenance=said if Path(said).is_file() else None,
            )


@dataclass(frozen=True, kw_only=True)
class RootOrigin:
    """How what is in a root came about: for which target, seen on which machine, by which command and request.

    `edited` are fetched sources that were compiled with changes of the user's own.
    """

    target: Target
    facts: Facts | None
    made_by: str
    request: Request
    edited: tuple[str, ...] = ()


def write_manifest(root: Root, profile: Profile, outcome: RunOutcome, origin: RootOrigin) -> None:
    """Write manifest.json. Never "verified" without a device that was computed on."""
    old = read_manifest(root)
    verified, verification = _verification(root, outcome, old)
    own, facts = origin.request, origin.facts
    document = {
        "schema": 1,
        "xpusetup": __version__,
        "profile": profile.name,
        "pins": [_pin(part) for part in to_table(profile)["components"]],
        "build_requirements": profile.build_requirements.pins,
        "target": asdict(origin.target),
        "facts": to_table(facts) if facts else old.get("facts"),
        "made_by": origin.made_by,
        "own": {name: _own(root, name, folder, own) for name, folder in own.sources},
        "edited": [*origin.edited],
        "patches": [
            {"source": patch.source, "file": patch.file, "sha256": patch.digest} for patch in patches_of(profile, own)
        ],
        "wheels": [asdict(wheel) for wheel in list_wheels(root, profile, origin.made_by)],
        "inspected": {
            path.name.split(".")[0]: read_document(path) for path in sorted((root / "results").glob("*.inspect.json"))
        },
        "verified": verified,
        "proven": read_proof(root),
        "verification": verification or None,
        "failed": outcome.failed or None,
        "steps": read_keys(root),
    }
    files.write_text(root / "manifest.json", json.dumps(document, indent=2) + "\n")


def list_edited(root: Root, src: Path, names: Iterable[str], ran: Container[str]) -> tuple[str, ...]:
    """List the fetched sources whose files were changed when they were compiled: now, or by the build before."""
    before = read_manifest(root).get("edited", ())
    now = {name: read_tree(src / name) for name in names if f"{name}.build" in ran}
    return tuple(
        name for name in names if (name in before if name not in now else (tree := now[name]) and tree.changed)
    )


def read_keys(root: Root) -> dict[str, str]:
    """Give the keys of the steps that are done; a manifest with others was written before a run that was cut off."""
    return {name: stamp.key for name, stamp in read_stamps(root).items()}


def _verification(root: Root, outcome: RunOutcome, old: dict[str, Any]) -> tuple[bool | None, dict[str, Any]]:
    """Give what the last verification said of what is installed now: a proof ends with the next installation."""
    seen, stands = read_document(root / VERIFICATION), still_verified(root, old)
    if outcome.no_device:
        return None, {**seen, "verified": None}
    if outcome.failed.startswith(VERIFYING):
        return False, seen
    if "verify.smoke" in outcome.ran or ("verify.smoke" in outcome.skipped and stands is None):
        return seen.get("verified"), seen
    keys, told = read_keys(root), old.get("steps", {})
    since = [name for name in keys if told and told.get(name) != keys[name]]
    changed = outcome.failed or any(map(installs, [*outcome.ran, *since]))
    return (None, {}) if changed else (stands, old.get("verification") or {})


class Proven(Document, Protocol):
    """What a verification found; whether that is well, None where there was no device."""

    @property
    def verified(self) -> bool | None: ...


def record_verification(
    root: Root, verification: Proven, proof: Mapping[str, list[str]], say: Callable[[str], None]
) -> str:
    """Write the result of a verification by itself into the manifest, under the root's lock; say why not, or nothing.

    `proof` is what was there before it began. One that failed is repeated by the next build.
    """
    try:
        with hold_lock(root / "lock", say):
            if read_proof(root) != proof:
                return "what is installed changed while it was verified"
            old = read_manifest(root)
            failed = "" if (told := read_failed(root, old)).startswith(VERIFYING) else told
            result = {"verified": verification.verified, "verification": to_json(verification), "proven": proof}
            document = {**old, **result, "failed": failed or None}
            files.write_text(root / "manifest.json", json.dumps(document, indent=2) + "\n")
            if not failed:
                files.remove(root / "failed")
            if not verification.verified:
                files.remove(root / "stamps/verify.smoke")
    except NotReadyError as error:
        return error.message
    return ""


def read_proof(root: Root) -> dict[str, list[str]]:
    """Give the hashes of what a verification is about: the wheels, and the lists of what was installed."""
    return {
        name: [each.sha256 for each in stamp.made]
        for name, stamp in read_stamps(root).items()
        if installs(name) or name.endswith((".build", ".download"))
    }


def still_verified(root: Root, manifest: Mapping[str, Any]) -> bool | None:
    """Say what a manifest proves of what is in a root now: nothing, where that is not what was verified."""
    proven = manifest.get("proven")
    return manifest.get("verified") if proven is not None and proven == read_proof(root) else None


def read_verified(root: Root, standing: Standing, manifest: Mapping[str, Any]) -> bool | None:
    """Give what the last verification said of what is installed now; None where none did, or a part is to come."""
    if standing.left:
        return None
    if read_failed(root, manifest).startswith(VERIFYING):
        return False
    if "verified" in manifest:
        return still_verified(root, manifest)
    said = read_document(root / VERIFICATION).get("verified")  # the scripts by themselves write no manifest
    return said if said is None or "verify.smoke" in standing.done else False  # its step did not end well


def read_failed(root: Root, manifest: Mapping[str, Any]) -> str:
    """Name the step that failed in the last run, be it of the scripts by themselves; empty where none did.

    A run that was interrupted wrote no manifest: what failed in the one before was repeated.
    """
    by_hand = (files.read_text(root / "failed") or "").strip()
    return by_hand or ("" if is_abandoned(root / "lock") else str(manifest.get("failed") or ""))


def find_missing_proof(root: Root, standing: Standing) -> MissingProof:
    """Say why nothing is proven, as far as that is known: nothing was computed on, or nobody was to look."""
    seen = read_verification(root)
    if seen and seen.get("verified") is None:
        return "no device"
    return "off" if ("--verify", "off") in pairwise(standing.words) else ""


def read_verification(root: Root) -> dict[str, Any]:
    """Give the document of the last verification; empty where there was none. Its rows are always tables."""
    manifest = read_manifest(root)
    seen = (manifest.get("verification") or {}) if "verified" in manifest else read_document(root / VERIFICATION)
    return {name: _rows(value) if name in {"devices", "checks"} else value for name, value in seen.items()}


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _own(root: Root, name: str, folder: str, request: Request) -> dict[str, Any]:
    """Say which tree of the user's own it was: its commit, or the hash of an archive's files when it was built."""
    tree = read_tree(Path(folder))
    seen = asdict(tree) if tree else {}
    if name in request.archives:
        told = read_document(root / f"results/{name}.source.json")
        seen = {"archive": told.get("archive", ""), "missing": told.get("missing", [])}
    return {"folder": folder, "editable": name in request.editable, **seen}


def _pin(part: dict[str, Any]) -> dict[str, Any]:
    wanted = (
        "name",
        "kind",
        "distribution",
        "version",
        "repo",
        "tag",
        "rev",
        "confidence",
        "source",
        "reason",
        "vendored",
    )
    return {name: part[name] for name in wanted if part.get(name)}


# What earlier builds of a profile took: read from the root's own journal and from those of the roots beside it.


DISK = "results/disk.json"


def read_history(root: Path, profile: str, steps: Sequence[Step] = ()) -> History:
    """Give what is known of a profile's builds here, of these steps done in the same way; the root's own come first."""
    from xpusetup.run.time_left import merge_histories, parse_journal  # noqa: PLC0415 - a build that is done asks for none

    beside = sorted(path.parent for path in root.parent.glob(f"*/{JOURNAL}")) if root.parent.is_dir() else []
    others = [path for path in beside if path != root and _builds(path, profile)]
    found = []
    for path in (root, *others):
        history = parse_journal(files.read_text(path / JOURNAL) or "", steps, whole=path != root)
        disk = read_document(path / DISK).get("bytes")
        found.append(history._replace(disk=disk if isinstance(disk, int) else None))
    return merge_histories(found)


def _builds(path: Path, profile: str) -> bool:
    lock = read_lock(Root(path)) or {}
    return bool(lock.get("profile", {}).get("name") == profile)


# How far a root is: which steps of its profile are done, which are left, and whether someone is at work there.


VERIFYING = "verify."
AFTER = re.compile(r"^AFTER='?(.*?)'?$", re.MULTILINE)
VERIFICATION = "results/verify.json"
"""What the verification at the end of a build, or the scripts by themselves, wrote."""
INSTALLING = "wheels.install"
"""The step by which the plan of `install` is known in roots that an older program or an emitted form made."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far a root is. `left` are steps to come, none where only verification is; `at_work` those that run now.

    `done` are those whose results still stand: no step that they follow from is to come.

    `command` made it, with the options `words` beside those that name it, a bundle among them while it can be read;
    `held` says whether it is at work, `cut` in which steps the last run was interrupted.
    """

    command: str
    words: tuple[str, ...]
    steps: tuple[str, ...]
    done: tuple[str, ...]
    left: tuple[str, ...]
    at_work: tuple[str, ...]
    held: bool
    cut: tuple[str, ...]

    @property
    def installed(self) -> bool:
        """Whether all of the profile is in its environment."""
        return not self.left

    @property
    def coming(self) -> tuple[str, ...]:
        """The steps to come, the running ones first."""
        running = tuple(step for step in self.at_work if not step.startswith(VERIFYING))
        return (*running, *(step for step in self.left if step not in running))


def read_standing(root: Root) -> Standing:
    """Read how far a root is, from its files alone."""
    lock, stamps = read_lock(root) or {}, read_stamps(root)
    scripts = sorted(path.stem for path in (root / "steps").glob("*.sh"))
    named = lock.get("steps")
    steps = tuple(map(str, named)) if isinstance(named, list) else tuple(scripts)
    open_ = _find_open(root, steps, stamps)
    held, guess = is_held(root / "lock"), "install" if INSTALLING in steps else "build"
    bundle = str(lock.get("bundle") or "")
    return Standing(
        words=(*map(str, lock.get("words") or ()), *(("--bundle", bundle) if os.access(bundle, os.R_OK) else ())),
        command=str((lock.get("asked") or {}).get("command") or read_manifest(root).get("made_by") or guess),
        steps=steps,
        done=tuple(step for step in stamps if step not in open_),
        left=open_ if any(not step.startswith(VERIFYING) for step in open_) else (),
        at_work=_begun(root) if held else (),
        held=held,
        cut=_begun(root) if is_abandoned(root / "lock") else _cut_by_hand(root) if not held else (),
    )


def forget_after(root: Root, ran: Collection[str]) -> None:
    """Take back that the steps after those that ran are done, where a run was to stop before them."""
    steps = tuple(read_stamps(root))
    for step in _find_open(root, steps, {*steps} - {*ran}):
        if step not in ran:
            (root / f"stamps/{step}").unlink(missing_ok=True)


def _find_open(root: Root, steps: tuple[str, ...], stamps: Container[str]) -> tuple[str, ...]:
    """Give the steps that are not done, and those after them, as their scripts say."""
    after = {step: AFTER.search(files.read_text(root / f"steps/{step}.sh") or "") for step in steps}
    found = {step for step in steps if step not in stamps}
    while more := {step for step, said in after.items() if said and found & {*said[1].split()}} - found:
        found |= more
    return tuple(step for step in steps if step in found)


def _cut_by_hand(root: Root) -> tuple[str, ...]:
    """Give the step in which the scripts by themselves were cut off."""
    return tuple((files.read_text(root / "unfinished") or "").split()[:1])


def _begun(root: Root) -> tuple[str, ...]:
    """Give the steps that have begun and not ended, and have said something since the root was locked."""
    folder, _, prefix = BEGUN.rpartition("/")
    since = (root / "lock").stat().st_mtime
    names = sorted(
        path.name.removeprefix(prefix) for path in (root / folder).glob(f"{prefix}*") if not path.stat().st_size
    )
    return tuple(name for name in names if root.log(name).exists() and root.log(name).stat().st_mtime >= since)


def describe_machine(facts: Mapping[str, Any]) -> str:
    """Name a machine by its saved facts; empty where there are none."""
    system = facts.get("system")
    if not isinstance(system, dict) or not system:
        return ""
    name, version = str(system.get("name", "")), str(system.get("version") or "")
    known = name if version in name else f"{name} {version}"
    return f"{known} · Linux {system.get('kernel', '')} · {system.get('machine', '')}"
