"""What a wheel was built from, as an in-toto statement with SLSA's provenance (v1): files and hashes, and no time.

Whoever builds writes it, so it is Build level 1 and no more: it says how, and nothing keeps its writer from lying.
It lies beside the wheel and in no key: that a script or a compiler changed shows here also where the wheel did not.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from helperlib.env.pins import hash_file
from helperlib.wheel.sbom import NAME as SBOM
from helperlib.wheel.sbom import SAFE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from helperlib.wheel.sources import WheelSource


BUILD_TYPE = "urn:xpusetup:step-scripts:1"
"""How to read what follows: docs/wheels.md."""
BUILDER = "urn:xpusetup:whoever-ran-the-scripts"
ENDING = ".provenance.json"
SIGNED = ".intoto.jsonl"
"""What the names of a statement and of a signed one end with, behind the whole name of the wheel."""
CODE = (".py", ".sh", ".cmake")
AFTER = re.compile(r"^AFTER=(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class BuiltWheel:
    """A wheel and what made it: by which step of which root, with which tools, from which sources.

    `about` is what is known of the profile; `sbom` the sha256 of the bill of materials in the wheel.
    """

    wheel: Path
    root: Path
    step: str
    about: Mapping[str, Any]
    tools: Sequence[str]
    sources: Sequence[WheelSource]
    sbom: str


def render_statement(built: BuiltWheel) -> bytes:
    helpers = _file("helpers", digest_helpers(built.root / "helpers"))
    version = {"xpusetup": str(built.about.get("xpusetup", ""))}
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [_file(built.wheel.name, hash_file(built.wheel))],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": _definition(built),
            "runDetails": {
                "builder": {"id": BUILDER, "version": version, "builderDependencies": [helpers]},
                "byproducts": [{**_file(SBOM, built.sbom), "mediaType": "application/vnd.cyclonedx+json"}],
            },
        },
    }
    return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode()


def _definition(built: BuiltWheel) -> dict[str, Any]:
    profile = built.about.get("profile", {})
    before = list(steps_before(built.root, built.step))
    scripts = [f"steps/{step}.sh" for step in (*before, built.step)]
    inner: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    inner["libc"] = " ".join(platform.libc_ver()).strip()
    if facts := built.about.get("facts"):
        inner["facts"] = {"sha256": facts}
    return {
        "buildType": BUILD_TYPE,
        "externalParameters": {
            "profile": _file(str(profile.get("name", "")), str(profile.get("sha256", ""))),
            "step": built.step,
        },
        "internalParameters": inner,
        "resolvedDependencies": [
            *(_of_source(each) for each in built.sources),
            *_unique(row for step in before for row in _made_by(built.root, step)),
            *_unique(_tool(name, built.root) for name in built.tools),
            *(_file(name, hash_file(built.root / name)) for name in scripts),
        ],
    }


def _file(name: str, sha256: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": sha256}}


def _unique(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({json.dumps(row, sort_keys=True): row for row in rows}.values())


def _of_source(source: WheelSource) -> dict[str, Any]:
    found: dict[str, Any] = {"name": f"source/{source.path or '.'}", "digest": source.digest}
    if source.uri:
        found["uri"] = quote(source.uri, safe=SAFE)
    notes = {"tag": source.tag, "changed": source.changed, "patches": [*source.patches]}
    if told := {name: value for name, value in notes.items() if value}:
        found["annotations"] = told
    return found


# The steps before, by their scripts and by what their stamps say they made: wheels, and lists of what was installed.


def steps_before(root: Path, step: str) -> Iterator[str]:
    """Give the steps that a step comes after, however far before, in the order of their names."""
    found: set[str] = set()
    waiting = [step]
    while waiting:
        script = (root / f"steps/{waiting.pop()}.sh").read_text(encoding="utf-8")
        named = AFTER.search(script)
        names = set(" ".join(shlex.split(named[1])).split()) - found if named else set()
        found |= names
        waiting += names
    return iter(sorted(found))


def _made_by(root: Path, step: str) -> Iterator[dict[str, Any]]:
    stamp = root / f"stamps/{step}"  # sha256 and path of what a step made, as helpers/step.sh wrote it down
    for line in stamp.read_text(encoding="utf-8").splitlines()[1:] if stamp.is_file() else ():
        digest, _size, _written, rest = line.split(" ", 3)
        path = Path(rest if rest.startswith("/") else rest.split(" ", 2)[2])
        if path.suffix == ".whl":
            yield _file(path.name, digest)
        elif path.name.endswith("requirements.json") and path.is_file():
            yield from map(_installed, json.loads(path.read_text(encoding="utf-8")))


def _installed(row: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"uri": f"pkg:pypi/{quote(row['name'].lower())}@{quote(row['version'], safe='')}"}
    return {**found, "digest": {"sha256": row["sha256"]}} if row["sha256"] else found


# What compiled it: each compiler by its own bytes, and by what it says of itself.


def _tool(name: str, root: Path) -> dict[str, Any]:
    """Identify a compiler: the one behind the launcher that a step may have put before it."""
    places = (place for place in os.environ.get("PATH", "").split(os.pathsep) if Path(place) != root / "launcher")
    path = shutil.which(name, path=os.pathsep.join(places))
    if path is None:
        return {"name": Path(name).name, "annotations": {"found": False}}
    said = subprocess.run((path, "--version"), check=False, capture_output=True, text=True, errors="replace")
    version = {"version": said.stdout.partition("\n")[0]}
    return {**_file(Path(name).name, hash_file(Path(path).resolve())), "annotations": version}


def digest_helpers(folder: Path) -> str:
    """Hash the programs that did the work: the sha256 of what sha256sum says of each, in the order of their paths."""
    files = (path for path in folder.rglob("*") if path.suffix in CODE and path.is_file())
    own = {str(path.relative_to(folder)): path for path in files}
    names = sorted(name for name in own if "/" not in name or name.startswith("helperlib/"))
    lines = (f"{hash_file(own[name])}  {name}\n" for name in names)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
