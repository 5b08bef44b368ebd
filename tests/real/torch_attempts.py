"""Long builds in a Debian root, in attempts that are measured: each goes on where the last one was killed or failed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from real.debian_root import enter
from real.outside import UnavailableError, outer_environment, run
from real.torch_figures import Attempt, Built, share_done

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOOK_EVERY = 5.0
PROFILE = "torch-2.6-debian.toml"
CACHE = {"CCACHE_DIR": "/build/ccache", "CCACHE_MAXSIZE": "20G"}


@dataclass(frozen=True)
class Work:
    """The folder that everything lies in, the profile that is built, and where in the Debian root that is done."""

    folder: Path
    profile: str = PROFILE
    roots: str = "/build"

    @property
    def root(self) -> Path:
        """The Debian root."""
        return self.folder / "root"

    def measure(self, name: str) -> Path:
        """Give the file of what was measured of one attempt."""
        return self.folder / f"measures/{name}.json"

    def events(self, name: str) -> Path:
        """Give the file in which one attempt writes its events."""
        return self.root / f"build/{name}.events"

    def inside(self, *argv: str, seconds: int = 3600) -> str:
        """Run a program in the root to its end, and give what it says."""
        return run(enter(self.root, *argv, **CACHE), env=outer_environment(), seconds=seconds)

    def place(self, place: str) -> Path:
        """Give the product's root of that name, as it is seen from outside."""
        return Path(f"{self.root}{self.inner(place)}")

    def inner(self, place: str) -> str:
        """Give the product's root of that name, as it is seen from inside."""
        return f"{self.roots.rstrip('/')}/{place}"

    def xpusetup(self, command: str, place: str, *more: str) -> tuple[str, ...]:
        """Give the words of the product in the root."""
        where = ("--profile", f"/opt/{self.profile}", "--root", self.inner(place))
        return ("/opt/xpusetup/bin/xpusetup", *command.split(), *where, *more)


def build(work: Work, name: str, place: str, kill_at: Sequence[float] = ()) -> None:
    """Build a root from nothing, in as many attempts as it takes; the first ones are killed at shares of ninja's work.

    Raises UnavailableError where the build fails: the next call goes on there.
    """
    attempts = list_attempts(work, name)
    while not any(one.code == 0 for one in attempts):
        if not attempts:
            empty(work.place(place))
        number = len(attempts) + 1
        killed = kill_at[number - 1] if number <= len(kill_at) else 0
        attempt = run_attempt(work, [one.name for one in attempts], f"{name}.{number}", place, killed)
        if not killed and attempt.code != 0:
            log = work.folder / f"measures/{attempt.name}.err"
            raise UnavailableError(f"the build ended with {attempt.code}: {log.read_text()[-2000:]}")
        attempts = list_attempts(work, name)
    keep(work, name, place)


def empty(place: Path) -> None:
    """Leave nothing of a root but its folder."""
    for path in place.iterdir() if place.exists() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def keep(work: Work, name: str, place: str) -> None:
    """Copy what a build has made and said: the next one may take its place."""
    kept = work.folder / f"measures/{name}"
    if kept.exists():
        return
    part = kept.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    for folder in ("results", "wheels", "logs"):
        shutil.copytree(work.place(place) / folder, part / folder)
    shutil.copy(work.place(place) / "journal.jsonl", part)
    part.rename(kept)


def list_attempts(work: Work, name: str) -> list[Attempt]:
    """Give what was measured of a build so far; an attempt that ended with this program has no end."""
    paths = sorted(work.folder.glob(f"measures/{name}.*.json"), key=lambda path: int(path.suffixes[0][1:]))
    return [Attempt(**json.loads(path.read_text())) for path in paths]


def run_attempt(
    work: Work, before: Sequence[str], title: str, place: str, kill_at: float, more: Sequence[str] = ()
) -> Attempt:
    """Start the build once, follow it, kill it where that is asked for, and write down what it took."""
    say(f"{title}{f', killed at {kill_at:.0%}' if kill_at else ''}; its events: {work.events(title)}")
    began = time.time()
    write_measure(work, Attempt(title, began=began))
    words = work.xpusetup("build", place, "--launcher", "ccache", "--events", f"/build/{title}.events", "--json", *more)
    out, err = (work.folder / f"measures/{title}.{kind}" for kind in ("out", "err"))
    with out.open("wb") as to_out, err.open("wb") as to_err:
        entered = enter(work.root, *words, **CACHE)
        process = subprocess.Popen(entered, env=outer_environment(), stdout=to_out, stderr=to_err)
    paths = [work.events(name) for name in (*before, title)]
    processor = follow(process, lambda: bool(kill_at) and share_done([read_lines(path) for path in paths]) >= kill_at)
    attempt = Attempt(title, process.returncode, began, time.time(), processor)
    write_measure(work, attempt)
    return attempt


def follow(process: subprocess.Popen[bytes], is_enough: Callable[[], bool]) -> float:
    """Wait for the end, or bring it about; give the processor seconds of it and all that it started."""
    processor = 0.0
    while process.poll() is None:
        time.sleep(LOOK_EVERY)
        processor = max(processor, processor_seconds(process.pid))
        if is_enough():
            below = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGKILL)
            process.wait()
            psutil.wait_procs(below)
    return processor


def processor_seconds(pid: int) -> float:
    """Add up a process, all below it, and what they have waited for."""
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for one in (parent, *parent.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total


def write_measure(work: Work, attempt: Attempt) -> None:
    """Write down an attempt, whole or not at all."""
    path = work.measure(attempt.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(attempt._asdict(), indent=2) + "\n")
    part.replace(path)


def read_built(work: Work, name: str) -> Built:
    """Read what a build that came to its end has left."""
    attempts = list_attempts(work, name)
    kept = work.folder / f"measures/{name}"
    return Built(
        attempts=attempts,
        events=[read_lines(work.events(one.name)) for one in attempts],
        journal=read_lines(kept / "journal.jsonl"),
        result=json.loads((work.folder / f"measures/{attempts[-1].name}.out").read_text())["result"],
        inspected=json.loads((kept / "results/torch.inspect.json").read_text()),
        verified=json.loads((kept / "results/verify.json").read_text()),
        members=list_members(next(kept.glob("wheels/torch-*.whl"))),
    )


def list_members(wheel: Path) -> dict[str, int]:
    """Give the files of a wheel with the check sum of each."""
    with zipfile.ZipFile(wheel) as opened:
        return {member.filename: member.CRC for member in opened.infolist()}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines; a kill may have cut the last one."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


def say(text: str) -> None:
    """Tell what comes next."""
    sys.stderr.write(f"e2e-torch: {text}\n")
