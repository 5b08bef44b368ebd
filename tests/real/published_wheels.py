"""What the inspector says of wheels that others published: a check may end a build only where those pass it.

`python -m real.published_wheels FOLDER` (in tests/) gets each wheel of tests/data/published_wheels.toml by name and
hash into a folder, where it stays, and runs wheel check on it. What was inspected by the same inspector before is not
inspected again. FOLDER takes 11 GB; `--small` leaves out what is larger than 20 MB.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict, Field

from helper_modules import closure_files
from xpusetup.base.values import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CHECKOUT = Path(__file__).parents[2]
TABLE = CHECKOUT / "tests/data/published_wheels.toml"
SMALL = 20_000_000
PYTHON = "3.11"
LEVELS = ("fail", "warn", "crash")


HEAD = """# Published wheels and the inspector

<!-- not run: it downloads 11 GB -->

    make e2e-published-wheels

A check of `wheel check`, which is also the step `<component>.inspect`, may end a build only where the wheels that
upstream publishes pass it. The command gets every wheel of `tests/data/published_wheels.toml` from the package index by
name and hash, inspects it and compares. It takes 11 GB in `PUBLISHED=DIR` and goes on where it stopped; pip.conf holds
for it too.

{count} wheels; {left} fail, rightly. Those of torch are CUDA and CPU builds: the default index has none for Intel GPUs.

| wheel | | versions |
|---|---|---|
"""


class Published(BaseModel):
    """A published wheel, and what is said of it.

    `true` says why a failure that is left is one of the wheel and not of the check; `says` are texts that have to be
    among what is said, whatever the level is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    version: str
    file: str
    size: int
    sha256: str
    fail: list[str]
    warn: list[str]
    true: str = ""
    says: list[str] = Field(default_factory=list)


class Named(Protocol):
    """A wheel by name and hash."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def sha256(self) -> str: ...


class UnavailableError(RuntimeError):
    """pip cannot get a wheel, or gives another one."""


def read_table(path: Path = TABLE) -> list[Published]:
    """Read the table of published wheels."""
    return [Published(**row) for row in parse_toml(path.read_text())["wheel"]]


def fetch(wheel: Named, folder: Path, env: Mapping[str, str]) -> Path:
    """Give the file, by pip where it is not there yet."""
    path = folder / wheel.file
    if not path.is_file():
        with tempfile.TemporaryDirectory(dir=folder, prefix=".pip-") as place:
            _download(wheel, Path(place), env)
            (Path(place) / wheel.file).rename(path)
    if (found := hash_of(path)) != wheel.sha256:
        raise UnavailableError(f"{path} has the hash {found}, in the table stands {wheel.sha256}: remove it")
    return path


def _download(wheel: Named, place: Path, env: Mapping[str, str]) -> None:
    wanted = place / "wanted.txt"
    wanted.write_text(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    platforms = wheel.file.removesuffix(".whl").rpartition("-")[2].split(".")
    exact = re.search(r"-cp(\d)(\d+)-cp", wheel.file)
    python = f"{exact[1]}.{exact[2]}" if exact else PYTHON
    tags = ("--python-version", python, *(word for name in platforms for word in ("--platform", name)))
    options = ("--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir", *tags)
    line = (sys.executable, "-m", "pip", "download", *options, "--dest", str(place), "-r", str(wanted))
    done = subprocess.run(line, check=False, capture_output=True, text=True, env=env)
    if done.returncode != 0 or not (place / wheel.file).is_file():
        raise UnavailableError(f"pip does not get {wheel.file}: {done.stderr.strip()[-600:]}")


def inspect(path: Path, env: Mapping[str, str]) -> dict[str, list[str]]:
    """Give the checks by level, as wheel check tells them, without those that are well; and all that it says."""
    line = (sys.executable, "-m", "xpusetup", "wheel", "check", str(path), "--json")
    done = subprocess.run(line, check=False, capture_output=True, text=True, env=env, cwd=CHECKOUT)
    document = json.loads(done.stdout)
    rows = document["result"]["checks"]
    told = {level: sorted(_plain(row["id"]) for row in rows if row["level"] == level) for level in LEVELS}
    if document["ok"] != (done.returncode == 0) or document["ok"] == bool(told["fail"] or told["crash"]):
        raise AssertionError(f"{path.name}: exit code {done.returncode} and {told} do not go together")
    return {**told, "said": [row["seen"] for row in rows]}


def _plain(check: str) -> str:
    return check.removeprefix("wheel.")


def hash_of(path: Path) -> str:
    """Hash a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def render_page(wheels: Sequence[Published]) -> str:
    """Give the page of the documentation: what is said, and of which wheels."""
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for wheel in wheels:
        versions = rows.setdefault((wheel.name, _now(wheel)), {})
        versions.setdefault(wheel.version, []).append(_platform(wheel))
    left = sum(bool(one.fail) for one in wheels)
    return HEAD.format(count=len(wheels), left=left) + "".join(_row(*key, rows[key]) for key in rows)


def _row(name: str, said: str, versions: Mapping[str, Sequence[str]]) -> str:
    told = ", ".join(f"{version} ({', '.join(sorted(platforms))})" for version, platforms in versions.items())
    return f"| {name} | {said} | {told} |\n"


def _platform(wheel: Published) -> str:
    tag = wheel.file.removesuffix(".whl").rpartition("-")[2]
    known = {
        "musllinux": "musl",
        "macosx": "macOS",
        "win": "Windows",
        "any": "any",
        "aarch64": "arm64",
        "armv7l": "armv7",
    }
    return next((name for part, name in known.items() if part in tag.split("_") or tag.endswith(part)), "x86-64")


def _words(names: Sequence[str]) -> str:
    return ", ".join(names) or "-"


def _now(wheel: Published) -> str:
    fails = f"**fails {_words(wheel.fail)}**: {wheel.true}; " if wheel.fail else ""
    return f"{fails}{f'warns of {_words(wheel.warn)}' if wheel.warn else 'ok'}"


def find_difference(wheel: Published, told: Mapping[str, Sequence[str]]) -> str:
    """Say where the table and the inspector differ; empty where they do not."""
    wanted = {"fail": sorted(wheel.fail), "warn": sorted(wheel.warn), "crash": []}
    parts = [
        f"{level}: {told[level]}, in the table {wanted[level]}" for level in LEVELS if told[level] != wanted[level]
    ]
    lacking = [text for text in wheel.says if not any(text in said for said in told.get("said", ()))]
    return "; ".join([*parts, *(f"it does not say {text!r}" for text in lacking)])


def inspector_hash() -> str:
    """Hash the program's own files that wheel check runs."""
    texts = (path.read_bytes() for path in closure_files("inspect_wheel"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def run_all(wheels: Iterable[Published], folder: Path, env: Mapping[str, str]) -> Iterator[tuple[Published, str]]:
    """Give for each wheel where it differs from the table, going on where the last run stopped."""
    results = folder / f"said-{inspector_hash()[:12]}"
    results.mkdir(parents=True, exist_ok=True)
    for wheel in wheels:
        kept = results / f"{wheel.file}.json"
        try:
            if not kept.is_file():
                told = inspect(fetch(wheel, folder, env), env)
                kept.write_text(json.dumps(told))
            yield wheel, find_difference(wheel, json.loads(kept.read_text()))
        except UnavailableError as error:
            yield wheel, str(error)


def main() -> None:
    """Inspect them all, say what differs, and end with 1 where anything does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true", help=f"those of at most {SMALL // 1_000_000} MB alone")
    options = parser.parse_args()
    wheels = [wheel for wheel in read_table() if not options.small or wheel.size <= SMALL]
    failed = 0
    for wheel, differs in run_all(wheels, options.folder.absolute(), os.environ):
        failed += bool(differs)
        said = f"✗ {wheel.file}: {differs}" if differs else f"✓ {wheel.file}"
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(wheels)} published wheels, {failed} not as the table says\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
