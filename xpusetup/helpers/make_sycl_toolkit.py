"""Makes a SYCL tool chain from Intel's run-time wheels: fetched by hash, laid out as oneAPI's compiler, never by half.

The folder is made beside its place and renamed. One that holds the same wheels is left as it is, but for the driver.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
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
from make_environment import bundled_pip
from pinned_wheels import ONLY, call, use_first

if TYPE_CHECKING:
    from collections.abc import Iterator

ABOUT = "toolkit.json"
"""The file that says what a folder of ours is made from."""
SCHEMA = 1
RUNTIME = "intel-sycl-rt"
"""The distribution with the compiler, whose version is that of the folder."""
DRIVER = "libexec/xpusetup"
PARTS = ("sycl_driver.py", "helperlib/__init__.py", "helperlib/output.py", "helperlib/sycl")
"""The driver and what it imports, below the helpers."""
TERMS = "Intel End User License Agreement for Developer Tools"
USAGE = 2


def main() -> None:
    """Look what is there, then make the folder, bring its driver up to date, or leave it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requirements", type=Path, required=True, help="the pins of the wheels, with their hashes")
    parser.add_argument("--record", type=Path, required=True, help="what is held to where no hash was published")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    into = options.into.absolute()
    about = {"wheels": wheels_of(options.requirements), "driver": hash_driver(), "python": base_python()}
    there = look(into)
    try:
        if {name: there.get(name) for name in about} == about:
            say_summary(f"{RUNTIME} {there['version']}", "as it was")
        elif there.get("wheels") == about["wheels"]:
            update(into, {**there, **about})
            say_summary(f"{RUNTIME} {there['version']}", "its driver is a newer one")
        else:
            make(into, about, options.requirements, options.record)
    except OSError as error:
        refuse_disk(error, into)
        raise


def wheels_of(requirements: Path) -> dict[str, str]:
    """Give the versions of the wheels that are wanted."""
    return dict(sorted(pin.key.split("==") for pin in read_pins([requirements])))


def base_python() -> str:
    """Give the interpreter that is not of an environment, which may go."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def driver_files() -> list[Path]:
    """Give the files of the driver, below the helpers."""
    here = Path(__file__).parent
    files = [path for part in PARTS for path in sorted((here / part).rglob("*.py")) or [here / part]]
    return [path for path in files if path.is_file()]


def hash_driver() -> str:
    """Hash the names and bytes of the driver's files."""
    digest = hashlib.sha256()
    for path in driver_files():
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


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
        about = json.loads((into / ABOUT).read_text(encoding="utf-8"))
        return {**about} if about["wheels"] and (into / str(about["jit"])).is_file() else {"version": ""}
    except (OSError, ValueError, KeyError, TypeError):
        fail(f"{into} holds something that is no SYCL tool chain of xpusetup", "name an empty or a new folder", USAGE)


def make(into: Path, about: dict[str, object], requirements: Path, record: Path) -> None:
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
        version = about["wheels"][RUNTIME]  # type: ignore[index]
        write_own(home, {"schema": SCHEMA, "version": version, "jit": find_compiler(contents), **about}, into)
        exchange(home, into, draft)
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


def update(into: Path, about: dict[str, object]) -> None:
    """Bring the driver, the commands and env.sh of a folder up to date, the wheels' files being as they are."""
    with beside(into) as draft:
        write_own(draft, about, into)
        old = into / DRIVER
        if old.exists():
            old.rename(draft / "old")
        old.parent.mkdir(parents=True, exist_ok=True)
        (draft / DRIVER).rename(old)
        for name in ("bin/icpx", "bin/icx", "env.sh", ABOUT):
            (draft / name).replace(into / name)


def write_own(home: Path, about: dict[str, object], place: Path) -> None:
    """Write what is not Intel's: the driver, the commands, env.sh, and last what says that the folder is whole."""
    here = Path(__file__).parent
    for path in driver_files():
        target = home / DRIVER / path.relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    write_commands(home, str(about["python"]), place)
    write_json(home / ABOUT, about)


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


def exchange(home: Path, into: Path, draft: Path) -> None:
    """Put a finished folder in its place; what was there goes with the draft."""
    if into.exists():
        into.rename(draft / "old")
    home.rename(into)


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
