"""The profile of a new release: that of the release before it, with every pin that upstream's files and wheels tell.

A pin that nothing tells stays as it was, or is left out where what was would be wrong for sure, and is unconfirmed.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from xpusetup.base.document import read_as, to_table
from xpusetup.base.errors import UsageError
from xpusetup.config.lock import find_unmet
from xpusetup.config.new_profile import render_profile
from xpusetup.config.profile import Profile
from xpusetup.config.upstream import NEEDED, VERSION_FILE, Reading, places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.base.values import Confidence


@dataclass(frozen=True, kw_only=True)
class ReleasePin:
    """One pin of a new release: what it was in the release before, what it is, and where that is known from."""

    pin: str
    was: str
    now: str
    source: str
    confidence: Confidence


@dataclass(frozen=True)
class MadeRelease:
    """A profile that was made, each of its pins, and what to know about it."""

    profile: Profile
    pins: tuple[ReleasePin, ...]
    notes: tuple[str, ...]


# Which release is meant, and the one before it.


ASKED = re.compile(r"v?(\d+\.\d+)(?:\.(\d+))?")


def parse_release(text: str) -> tuple[str, str]:
    """Give a release as X.Y, and its point release as X.Y.Z; empty where that was not said. Raises UsageError."""
    found = ASKED.fullmatch(text)
    if found is None:
        message, line = f"--release {text!r} is no release of PyTorch", "xpusetup profiles new --release 2.15"
        raise UsageError(message, fix="as in: ", command=line)
    return found[1], f"{found[1]}.{found[2]}" if found[2] else ""


def newest_tag(release: str, tags: Sequence[str]) -> str:
    """Give the tag of the newest point release of X.Y among those of a server, without candidates; empty for none."""
    found = [tag for tag in tags if re.fullmatch(rf"v{re.escape(release)}\.\d+", tag)]
    return max(found, key=Version, default="")


def release_before(release: str, profiles: Sequence[Profile]) -> Profile:
    """Give the profile of the release before X.Y. Raises UsageError where none ships."""
    found = {Version(each.name.removeprefix("torch-")): each for each in profiles if each.name.startswith("torch-")}
    older = [version for version in found if version < Version(release)]
    if not older:
        raise UsageError(f"no profile of a release before {release} ships", command="xpusetup profiles list")
    return found[max(older)]


def check_tree(release: str, files: Mapping[str, str | None], where: str, get: str) -> None:
    """Refuse a tree that says nothing of Intel GPUs, or is of another release. Raises UsageError."""
    if not files.get(NEEDED):
        raise UsageError(f"{where} has no {NEEDED}, which names the commit of torch-xpu-ops", fix=get)
    text = (files.get(VERSION_FILE) or "").strip()
    try:
        there = ".".join(map(str, Version(text).release[:2])) if text else release
    except InvalidVersion:
        there = release
    if there != release:
        fix = f"take the files of {release}, or say --release {there}"
        raise UsageError(f"{where} is of {there}: its {VERSION_FILE} says {text}", fix=fix)


# What several places say of one pin, made one.


def weigh(readings: Sequence[Reading]) -> tuple[dict[str, Reading], list[str]]:
    """Choose a reading for each pin: the surest, the first of these. Where the sure ones differ none is confirmed."""
    by_pin: dict[str, list[Reading]] = {}
    for each in readings:
        by_pin.setdefault(each.pin, []).append(each)
    chosen: dict[str, Reading] = {}
    notes = []
    for pin, told in by_pin.items():
        sure = [each for each in told if each.confidence == "confirmed"] or told
        first = sure[0]
        other = next((each for each in sure if each.value != first.value), None)
        chosen[pin] = first
        if other is not None:
            notes.append(f"{pin}: {first.source} says {first.value}, {other.source} says {other.value}")
            source = f"{first.source}; but {other.source} says {other.value}"
            chosen[pin] = type(first)(pin=first.pin, value=first.value, source=source, confidence="unconfirmed")
    return chosen, notes


# From readings to a profile.


ORDER: tuple[Confidence, ...] = ("confirmed", "likely", "unconfirmed")


class Draft:
    """A profile as data, into which pins are put one by one; each is written down with where it is known from."""

    def __init__(self, base: Profile, told: Mapping[str, Reading]) -> None:
        self.base, self.told = base, told
        self.data: dict[str, Any] = to_table(replace(base, hashes={}))
        self.pins: list[ReleasePin] = []

    def part(self, name: str) -> dict[str, Any]:
        """Give the table of a component, or of what it vendors; empty where the profile has none."""
        parts = self.data["components"]
        vendored = [item for part in parts for item in part.get("vendored", [])]
        return next((each for each in (*parts, *vendored) if each["name"] == name), {})

    def take(self, pin: str, was: str, otherwise: str | None = None) -> ReleasePin:
        """Give what is told of a pin, else `otherwise`, else what was, unconfirmed; and write it down."""
        found = self.told.get(pin)
        places = " and ".join(places_of(pin))
        lacking = f"that of {self.base.name}: {f'{places} did not tell it' if places else 'nothing tells it'}"
        if found is None and otherwise is not None:
            lacking = f"not found: {places}" if places else "not found"
        made = ReleasePin(
            pin=pin,
            was=was,
            now=found.value if found else was if otherwise is None else otherwise,
            source=found.source if found else lacking,
            confidence=found.confidence if found else "unconfirmed",
        )
        self.pins.append(made)
        return made


def surest(pins: Sequence[ReleasePin]) -> Confidence:
    """Give the confidence of what rests on several pins: that of the least sure."""
    return max((pin.confidence for pin in pins), key=ORDER.index, default="unconfirmed")


def sources_of(pins: Sequence[ReleasePin]) -> str:
    """Give where several pins are known from, each place once."""
    return "; ".join(dict.fromkeys(pin.source for pin in pins))


def make_release(
    base: Profile, name: str, version: str, readings: Sequence[Reading], files: Mapping[str, str | None], today: str
) -> MadeRelease:
    """Make the profile of a release, `version` as X.Y.Z, out of that of the release before and what was read."""
    told, notes = weigh(readings)
    draft = Draft(base, told)
    for put in (put_torch, put_vendored, put_triton, put_partners, put_toolkit, put_runtime, put_machine):
        put(draft, version)
    put_head(draft, name, version, today)
    profile = read_as(Profile, draft.data)
    kept = f"those of {base.name}: gcc_faults, memory and disk, and the build requirements that are not Intel's"
    more = (*notes, *_switches(draft), *find_unmet(profile.build_requirements.pins, files), kept)
    return MadeRelease(profile, tuple(draft.pins), more)


def _switches(draft: Draft) -> Iterator[str]:
    """Say what the build of the published wheel sets and the profile does not."""
    part = draft.part("torch")
    known = {**draft.data["environment"], **part["environment"]}
    begin = "torch.environment."
    left = [f"{pin.removeprefix(begin)}={each.value}" for pin, each in draft.told.items() if pin.startswith(begin)]
    unset = [each for each in left if each.partition("=")[0] not in known]
    if unset:
        yield f"the build of the published wheel sets {', '.join(unset)}; the profile leaves them as the tree has them"


def put_torch(draft: Draft, version: str) -> None:
    """Put version, tag and commit of torch, its front end, and the switches that the profile has too."""
    part = draft.part("torch")
    named = draft.take("torch.version", part["version"], f"{version}+xpu")
    commit = draft.take("torch.rev", part["rev"] or "", "")
    part |= {"version": f"{version}+xpu", "tag": f"v{version}", "ref": "", "rev": commit.now or None}
    tag = f"which commit the tag v{version} is was not to be seen"
    part |= {"reason": "" if commit.confidence == "confirmed" else tag, "confidence": commit.confidence}
    part["source"] = sources_of((named, commit))
    part["frontend"] = draft.take("torch.frontend", part["frontend"]).now
    for name, was in part["environment"].items():
        if f"torch.environment.{name}" in draft.told:
            part["environment"][name] = draft.take(f"torch.environment.{name}", was).now


def put_vendored(draft: Draft, _version: str) -> None:
    """Put the sources that configure and build fetch: the commit, or the tag, whose commit a fetch finds."""
    ops = draft.part("torch-xpu-ops")
    found = draft.take("torch-xpu-ops.rev", ops["rev"] or "", "")
    reason = "" if found.now else f"the tree's own {ops['pin_file']} decides"
    ops |= {"rev": found.now or None, "source": found.source, "confidence": found.confidence, "reason": reason}
    for name in ("onednn", "sycl-tla"):
        if item := draft.part(name):
            _put_tagged(draft, name, item)


def _put_tagged(draft: Draft, name: str, item: dict[str, Any]) -> None:
    if f"{name}.rev" in draft.told and f"{name}.tag" not in draft.told:
        named = draft.take(f"{name}.rev", item["rev"] or "")
        item |= {"tag": "", "rev": named.now, "source": named.source, "confidence": named.confidence, "reason": ""}
        return
    tag = draft.take(f"{name}.tag", item["tag"])
    same = tag.now == item["tag"]
    commit = draft.told.get(f"{name}.rev")
    rev = commit.value if commit else item["rev"] if same else None
    item |= {"tag": tag.now, "rev": rev, "source": tag.source, "confidence": tag.confidence}
    item["reason"] = "" if rev else f"named by its tag {tag.now}; which commit that is was not to be seen"


def put_triton(draft: Draft, _version: str) -> None:
    """Put the version of Triton's wheel; one that nothing tells is a guess, which the torch tree mends."""
    part = draft.part("triton")
    found = draft.take("triton.version", part["version"])
    guess = "" if found.confidence != "unconfirmed" else "a guess: the torch tree names it, resolved by a lock"
    part |= {"version": found.now, "source": found.source, "confidence": found.confidence, "reason": guess}


def put_partners(draft: Draft, _version: str) -> None:
    """Put version, tag and commit of torchvision and torchaudio."""
    for name in ("vision", "audio"):
        part = draft.part(name)
        if not part or part["kind"] != "source":
            continue
        version = draft.take(f"{name}.version", part["version"])
        same = version.now == part["version"]
        commit = draft.take(f"{name}.rev", part["rev"] or "", None if same else "")
        part |= {"version": version.now, "tag": f"v{Version(version.now).public}", "rev": commit.now or None}
        part |= {"source": sources_of((version, commit)), "confidence": surest((version, commit)), "ref": ""}
        part["reason"] = (
            "" if commit.now else f"which commit its tag v{Version(version.now).public} is was not to be seen"
        )


def put_toolkit(draft: Draft, _version: str) -> None:
    """Put the oneAPI, which is the one whose run time the wheels require, its scripts, and the targets."""
    kit, was = draft.data["toolkit"], draft.base.toolkit
    if was is None:
        return
    draft.data.pop("other_toolkits", None)  # nobody saw that they serve the new release too
    release = draft.take("toolkit.preferred", kit["preferred"])
    scripts = draft.take("toolkit.scripts", ", ".join(kit["scripts"]))
    year, minor = [*release.now.split("."), "0"][:2]
    kit |= {"preferred": release.now, "scripts": scripts.now.split(", ")}
    kit["accepts"] = was.accepts if release.now == was.preferred else f">={release.now},<{year}.{int(minor) + 1}"
    kit |= {"source": sources_of((release, scripts)), "confidence": surest((release, scripts))}
    for kind in ("apt", "rpm"):
        kit["packages"][kind] = [each.replace(f"-{was.preferred}", f"-{release.now}") for each in kit["packages"][kind]]
    kit["packages"]["page"] = re.sub(r"/\d+-\d+\.html$", ".html", kit["packages"]["page"])
    if arch := draft.data["arch"]:
        targets = draft.take("arch.default", ", ".join(arch["default"]))
        arch |= {"default": targets.now.split(", "), "source": targets.source, "confidence": targets.confidence}
        draft.take("arch.ocloc", arch["ocloc"] or "")


FOLLOWS = {"mkl-static": "mkl", "mkl-include": "mkl", "tbb-devel": "tbb"}
"""Build requirements that have the version of a run-time library; those that are one follow by their own name."""


def put_runtime(draft: Draft, _version: str) -> None:
    """Put the libraries that the wheel requires: those that are told and no other, where any are told."""
    table = draft.data["runtime_requirements"]
    begin, was = "runtime.", dict(pin.split("==") for pin in table["pins"])
    told = [pin.removeprefix(begin) for pin in draft.told if pin.startswith(begin)]
    pins = [draft.take(f"{begin}{name}", was.get(name, "")) for name in sorted(told or was)]
    now = {pin.pin.removeprefix(begin): pin.now for pin in pins}
    table |= {"pins": [f"{name}=={version}" for name, version in now.items()], "source": _first(pins)}
    table |= {"confidence": surest(pins), "note": "", "resolved": ""}
    build = draft.data["build_requirements"]
    build["pins"] = [_follow(pin, now) for pin in build["pins"]]
    build["built"] = False
    build["note"] = f"those of {draft.base.name}; the Intel packages have the versions of the run-time requirements"


def _first(pins: Sequence[ReleasePin]) -> str:
    """Give where a whole list is known from: its files, without the lines of each."""
    return "; ".join(dict.fromkeys(re.sub(r":\d+ of ", " of ", pin.source) for pin in pins))


def _follow(pin: str, versions: Mapping[str, str]) -> str:
    name = pin.partition("==")[0]
    version = versions.get(FOLLOWS.get(name, name))
    return f"{name}=={version}" if version else pin


def put_machine(draft: Draft, _version: str) -> None:
    """Put the oldest CMake and GCC, and the Pythons: from, before, and those that torchvision refuses."""
    for key in ("cmake", "gcc"):
        draft.data[key] = draft.take(key, draft.data[key]).now
    was = [part.strip() for part in draft.base.python.split(",")]
    parts = [
        draft.take(f"python.{key}", ",".join(part for part in was if part.startswith(sign))).now
        for key, sign in (("from", ">="), ("before", "<"), ("not", "!="))
    ]
    draft.data["python"] = ",".join(part for part in parts if part)


def put_head(draft: Draft, name: str, version: str, today: str) -> None:
    """Put what a profile says of itself, and the wheels that the project publishes, which nobody saw yet."""
    parts = {each: draft.part(each)["version"] for each in ("vision", "audio", "triton") if draft.part(each)}
    named = {"vision": "torchvision", "audio": "torchaudio", "triton": "Triton"}
    beside = ", ".join(f"{named[each]} {Version(text).public}" for each, text in parts.items())
    draft.data |= {
        "name": name,
        "summary": f"PyTorch {version}, {beside} for Intel GPUs: read from upstream's files on {today}",
        "tier": "new",
        "tried": "never: read from upstream's files alone",
    }
    if published := draft.data["published"]:
        torch, triton = draft.told.get("torch.version"), draft.part("triton")
        seen = torch is not None and "+xpu" in torch.source.replace("%2B", "+")
        told = [*map(draft.part, ("torch", "vision", "audio")), *([] if triton["reason"] else [triton])]
        published["wheels"] = [f"{part['distribution']}=={part['version']}" for part in told]
        published |= {"source": torch.source if torch and seen else "as for the release before; not seen in the index"}
        published |= {"confidence": "likely" if seen else "unconfirmed", "note": ""}
        published |= {"collectives": _collectives(draft)}


def _collectives(draft: Draft) -> dict[str, Any] | None:
    """Say whether the build of the published wheel asks for XCCL; None where nothing tells it."""
    told = draft.told.get("torch.environment.USE_XCCL")
    if told is None:
        return None
    return {
        "built": told.value in {"1", "ON"},
        "source": f"{told.source}: USE_XCCL={told.value}",
        "confidence": "likely",
    }


# What people review.


def comment_of(made: MadeRelease, base: str, today: str) -> str:
    """Give the comment above a profile: how it was made, and where what has no source of its own is known from."""
    begins = ("cmake", "gcc", "python.", "torch.frontend", "torch.environment.")
    own = [pin for pin in made.pins if pin.pin.startswith(begins)]
    lines = (f"{pin.pin} {pin.now}: {pin.confidence}, {pin.source}" for pin in own)
    return "\n# ".join(
        (f"Begun from {base} and upstream's files, {today}. Read it: xpusetup profiles show FILE", *lines)
    )


def make_diff(base: Profile, made: Profile) -> list[str]:
    """Give the differences between two profiles as a diff, without its head."""
    old, new = (render_profile(replace(each, hashes={}), each.name).splitlines() for each in (base, made))
    return list(difflib.unified_diff(old, new, base.name, made.name, lineterm="", n=1))
