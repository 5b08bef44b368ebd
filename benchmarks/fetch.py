"""The rows fetch: a tree of many repositories over a line of a fixed speed, beside git's own ways to get it."""

from __future__ import annotations

import importlib
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).resolve().parents[1] / "tests"
ROUNDS = 5
MODULES, FILES, LINES, HISTORY = 8, 600, 200, 4
"""Submodules; files in all, 13 kB each, about what those of PyTorch have; versions of each before the pinned one."""
RATE, DELAY = 256 << 10, 0.03
"""The line: bytes per second of all connections together, seconds before each answer."""
CLONE = """
git clone -q --recursive {address}super tree
cd tree
git checkout -q --recurse-submodules {rev}
git submodule -q update --init --recursive
"""
FETCH = "git init -q --bare {name} && git -C {name} fetch -q --depth 1 {address}{name} {rev} & pids+=($!)\n"
JOIN = 'for pid in "${pids[@]}"; do wait "$pid" || exit 1; done\n'


@dataclass
class Sample:
    """What one way took, again and again: seconds, and bytes that the server sent."""

    seconds: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)


def measure_fetch(folder: Path) -> Iterator[Row]:
    """Measure all ways in turn: ours, ours from the store, a copy of that tree, a recursive clone, a bare fetch."""
    sys.path.insert(0, str(TESTS))
    standins: Any = importlib.import_module("standins.superproject")
    servers: Any = importlib.import_module("standins.git_server")
    size = standins.Size(modules=MODULES, files=FILES, lines=LINES, history=HISTORY)
    upstream = standins.make_super(folder / "upstream", size)
    with servers.serve(upstream.folder, servers.Manner(rate=RATE, delay=DELAY)) as server:
        found = measure_ways(folder / "fetch", upstream, server)
    first, second, clone, bare = found["first"], found["second"], found["clone"], found["bare"]
    yield make_row("fetch_bytes", in_mib(first), in_mib(clone), goal=1 / 4, unit="MiB")
    yield make_row("fetch_time", first.seconds, clone.seconds, goal=1 / 3, unit="s")
    yield make_row("fetch_limit", first.seconds, bare.seconds, goal=1.3, unit="s")
    yield make_row("fetch_second", second.seconds, first.seconds, goal=1 / 20, unit="s")
    yield make_row("fetch_second_limit", second.seconds, found["copy"].seconds, goal=3, unit="s")


def in_mib(sample: Sample) -> list[float]:
    """Give the bytes of a sample as people read them."""
    return [size / (1 << 20) for size in sample.sizes]


def measure_ways(folder: Path, upstream: Any, server: Any) -> dict[str, Sample]:
    """Take turns; the second root of ours follows the first, whose store it finds, and a copy follows the second."""
    commands = make_commands(folder, upstream, server)
    found = {name: Sample() for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            before = server.served.size
            found[name].seconds.append(seconds_of(command))
            found[name].sizes.append(server.served.size - before)
        shutil.rmtree(folder)
    return found


def make_commands(folder: Path, upstream: Any, server: Any) -> dict[str, Command]:
    """Give the ways by name. Each finds an empty folder of its own."""
    env = upstream.environment(folder.with_name("fetch-home"), server, ("xpusetup.store", str(folder / "store")))

    def script(name: str, text: str) -> Command:
        place = folder / name
        return Command(("bash", "-ec", text), env, place, lambda: place.mkdir(parents=True))

    def ours(name: str) -> Command:
        words = upstream.command(folder / name / "tree")
        return Command(words, env, folder.parent, lambda: (folder / name).mkdir(parents=True))

    host = "https://fetch.invalid/"
    fetches = "".join(FETCH.format(name=name, address=host, rev=rev) for name, rev in upstream.revs.items())
    return {
        "first": ours("first"),
        "second": ours("second"),
        "copy": script("copy", f"cp -a {folder}/second/tree ."),
        "clone": script("clone", CLONE.format(address=host, rev=upstream.revs["super"])),
        "bare": script("bare", f"pids=()\n{fetches}{JOIN}"),
    }
