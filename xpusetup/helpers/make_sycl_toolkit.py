"""Makes a SYCL tool chain from Intel's run-time wheels: fetched by hash, laid out as oneAPI's compiler, never by half.

The folder is made beside its place and renamed. One that holds the same wheels is left as it is, but for the driver.
"""

from __future__ import annotations

import argparse
import ast
import errno
import json
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.env.pins import read_pins, recorded
from helperlib.output import NOT_READY, fail, render_size, say_summary, write_json
from helperlib.sycl.folder import LICENCES, Contents, find_compiler, read_contents, unpack, write_commands
from helperlib.sycl.home import RECORD, SCHEMA
from make_environment import bundled_pip
from pinned_wheels import ONLY, call, use_first

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNTIME = "intel-sycl-rt"
"""The distribution with the compiler, whose version is that of the folder."""
DRIVER = "libexec/xpusetup"
TERMS = "Intel End User License Agreement for Developer Tools"
USAGE = 2


def main() -> None:
    """Look what is there, then make the folder, bring its driver up to date, or leave it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requirements", type=Path, help="the pins of the wheels with their hashes; else the driver")
    parser.add_argument("--record", type=Path, help="what is held to where no hash was published")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="where to write what was done")
    options = parser.parse_args()
    into = options.into.absolute()
    try:
        state = bring(into, options.requirements, options.record)
    except OSError as error:
        refuse_disk(error, into)
        raise
    if options.out:
        write_json(options.out, {"state": state})


def bring(into: Path, requirements: Path | None, record: Path | None) -> str:
    """Make the folder where other wheels are wanted than it has, else its driver; give made, updated or unchanged."""
    there = look(into)
    if requirements and record and there.get("wheels") != (wanted := wheels_of(requirements)):
        make(into, wanted, requirements, record)
        return "made"
    state = "updated" if there and not same_driver(into) else "unchanged"
    if state == "updated":
        update(into)
    if requirements:
        done = "its driver is a newer one" if state == "updated" else "as it was"
        say_summary(f"{RUNTIME} {there['version']}", done)
    return state


def wheels_of(requirements: Path) -> dict[str, str]:
    """Give the versions of the wheels that are wanted."""
    return dict(sorted(pin.key.split("==") for pin in read_pins([requirements])))


def base_python() -> str:
    """Give the interpreter that is not of an environment, which may go."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def driver_files() -> list[Path]:
    """Give the driver and all that it imports of ours."""
    here = Path(__file__).parent
    found: set[Path] = set()
    waiting = [here / "sycl_driver.py"]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path, here)
    return sorted(found)


def imported(path: Path, here: Path) -> list[Path]:
    """Give the files of our library that a module imports."""
    nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.ImportFrom)]
    names = [(node.module or "", alias.name) for node in nodes for alias in node.names]
    ours = {f"{module}.{name}" for module, name in names} | {module for module, _ in names}
    places = [here / f"{name.replace('.', '/')}.py" for name in ours if name.startswith("helperlib")]
    return [here / "helperlib/__init__.py", *(place for place in places if place.is_file())]


def same_driver(into: Path) -> bool:
    """Say whether the folder has the driver that lies here."""
    here = Path(__file__).parent
    pairs = ((path, into / DRIVER / path.relative_to(here)) for path in driver_files())
    return all(mine.is_file() and mine.read_bytes() == path.read_bytes() for path, mine in pairs)


def look(into: Path) -> dict[str, object]:
    """Read what a folder says of itself; end where it holds something that is none of ours."""
    try:
        if not any(into.iterdir()):
            return {}
    except FileNotFoundError:
        return {}
    except OSError as error:
        fail(f"{into} cannot be used: {error.strerror}", "name another folder", USAGE)
    try:
        about = json.loads((into / RECORD).read_text(encoding="utf-8"))
        return {**about} if about["wheels"] and (into / str(about["jit"])).is_file() else {"version": ""}
    except (OSError, ValueError, KeyError, TypeError):
        fail(f"{into} holds something that is no SYCL tool chain of xpusetup", "name an empty or a new folder", USAGE)


def make(into: Path, wanted: dict[str, str], requirements: Path, record: Path) -> None:
    """Fetch the wheels and put a new folder in the place of what is there."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with beside(into) as draft:
        wheels = draft / "wheels"
        fetch(requirements, record, wheels)
        contents = contents_of(wheels)
        refuse_small(contents, into)
        home = draft / "home"
        home.mkdir()
        unpack(contents, home)
        copy_driver(home)
        write_commands(home, base_python(), into)
        version = wanted[RUNTIME]
        about = {"schema": SCHEMA, "version": version, "jit": find_compiler(contents), "wheels": wanted}
        write_json(home / RECORD, about)
        if into.exists():
            into.rename(draft / "old")
        home.rename(into)
    print(f"The libraries in {into} are Intel's, under its terms ({TERMS}): {into / LICENCES}")
    say_summary(f"{RUNTIME} {version}", render_size(contents.size), f"{len(contents.links)} links for copies")


def fetch(requirements: Path, record: Path, into: Path) -> None:
    """Let pip fetch the wheels into a folder, held to their hashes."""
    if not find_spec("pip") and (wheel := bundled_pip()):
        sys.path.insert(0, str(wheel))
        os.environ["PYTHONPATH"] = str(wheel)
    known = [recorded(record, pin) for pin in read_pins([requirements])]
    pins = [pin if pin.hashes else use_first(pin, record) for pin in known]
    call(("download", *ONLY, "--dest", str(into)), pins, record)


def contents_of(wheels: Path) -> Contents:
    """Give what the fetched wheels bring; end where that is no compiler."""
    try:
        contents = read_contents(sorted(wheels.glob("*.whl")))
    except ValueError as error:
        fail(str(error), "nothing was made; the same command fetches the wheels again")
    if not find_compiler(contents):
        fail(f"these wheels of {RUNTIME} hold no compiler (libsycl-jit.so)", "take a profile that pins a newer one")
    return contents


def update(into: Path) -> None:
    """Bring the driver of a folder up to date; its commands stay, by which a build knows its compiler."""
    with beside(into) as draft:
        copy_driver(draft)
        if (into / DRIVER).exists():
            (into / DRIVER).rename(draft / "old")
        (into / DRIVER).parent.mkdir(exist_ok=True)
        (draft / DRIVER).rename(into / DRIVER)


def copy_driver(home: Path) -> None:
    """Copy the driver into a folder."""
    here = Path(__file__).parent
    for path in driver_files():
        target = home / DRIVER / path.relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


@contextmanager
def beside(into: Path) -> Iterator[Path]:
    """Give an empty folder on the same file system, which goes in the end; those of runs that were killed go too."""
    for left in into.parent.glob(f".{into.name}.xpusetup-*"):
        shutil.rmtree(left, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{into.name}.xpusetup-", dir=into.parent))
    try:
        draft.chmod(0o755)
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


SPARE = 64 << 20
"""Bytes for file systems, whose blocks are larger than the ends of files."""


def refuse_small(contents: Contents, into: Path) -> None:
    """End where the folder will not fit."""
    wanted, free = contents.size + SPARE, shutil.disk_usage(into.parent).free
    if free < wanted:
        has = f"{into.parent} has {render_size(free)} free, and the folder takes {render_size(wanted)}"
        fail(has, "free some space there, or name another place", NOT_READY)


def refuse_disk(error: OSError, into: Path) -> None:
    """End with the reason where the file system does not take the folder."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        fail(f"{into.parent} is full: {error.strerror}. Nothing was made", "free 2 GiB there", NOT_READY)
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        fail(f"{into.parent} cannot be written: {error.strerror}", "name a folder of your own", NOT_READY)


if __name__ == "__main__":
    main()
