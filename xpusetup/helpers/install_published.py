"""Installs published wheels, with what they require, in place of what stands in the environment.

In this order, so that what can't be done touches nothing: resolve, hold every file to a hash, part what owns the same
folders, install, install again what had the same version (its files may have been overwritten).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from forget_cut_off import forget_cut_off
from helperlib.env.distributions import Found, canonical, find_wheel, installed, names_of
from helperlib.env.installers import EnvironmentInstaller, environment, places_of, run, ways
from helperlib.env.pins import Pin, hash_file, read_pins, recorded, refuse_other, write_pins, write_record
from helperlib.output import fail, write_json, write_text
from pinned_wheels import PLACES, use_first
from remove_conflicts import add_options, refuse_foreign, removals, remove

CUDA = ("nvidia-", "cuda-")
MISSING = re.compile(r"No matching distribution found for (\S+)|there (?:is|are) no versions? of (\S+)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--look", action="store_true", help="only say what would be done, and what stands in the way")
    parser.add_argument("--wheels", type=Path, help="the folder that they lie in")
    parser.add_argument("--wheel", action="append", required=True, metavar="NAME==VERSION")
    parser.add_argument(
        "--beside", action="append", default=[], metavar="NAME==VERSION", help="what is there, and stays"
    )
    parser.add_argument("--index", default="", help="where else to look for what they require")
    parser.add_argument("--requirements", type=Path, action="append", default=[], help="the hashes that are known")
    parser.add_argument("--record", type=Path, help="what is held to where no hash was published")
    parser.add_argument("--require-hashes", action="store_true", help="take nothing else than what has such a hash")
    parser.add_argument("--constraints", default="", help="our own, which are renewed afterwards")
    parser.add_argument("--out", type=Path, required=True)
    add_options(parser)
    options = parser.parse_args()
    wanted = dict(pin.split("==", 1) for pin in options.wheel)
    before = installed()
    gone = removals(before, options.remove)
    replaced = {name: before[canonical(name)] for name in wanted if canonical(name) in before}
    refuse_foreign([*(found for found, _why in gone), *replaced.values()])
    same = {name for name, found in replaced.items() if found.version == wanted[name]}
    removed = describe(gone, {name: found for name, found in replaced.items() if name not in same}, wanted)
    left: list[str] = []
    if not options.look:
        forget_cut_off()
        install(options, find_wheels(options.wheels, options.wheel), gone, same)
        left = orphans(installed())
    write_json(options.out, {"removed": removed, "orphans": left, "tidy": tidy(left)})


def find_wheels(folder: Path, pins: list[str]) -> dict[str, str]:
    """Give the path of each of these wheels, by its distribution."""
    split = (pin.split("==", 1) for pin in pins)
    return {name: str(find_wheel(folder, name, version)) for name, version in split}


def describe(gone: list[tuple[Found, str]], replaced: dict[str, Found], wanted: dict[str, str]) -> list[dict[str, str]]:
    """Say what leaves the environment, and why, and what becomes of an editable one's folder."""
    changed = [(found, f"{name} {wanted[name]} takes its place") for name, found in replaced.items()]
    told = []
    for found, why in (*gone, *changed):
        kept = f"; it was editable, and its sources stay in {found.source}" if found.source else ""
        told.append({"name": found.name, "version": found.version, "why": why + kept})
    for row in told:
        print(f"{row['name']} {row['version']}: {row['why']}", flush=True)
    return told


def install(options: argparse.Namespace, wheels: dict[str, str], gone: list[tuple[Found, str]], same: set[str]) -> None:
    """Resolve, hold, remove, install: with the first installer that can, from the first places that have everything."""
    known = {pin.key: pin for pin in read_pins(options.requirements)}
    beside = find_wheels(options.wheels, options.beside)
    own = {name: hold_wheel(name, Path(path), known, options) for name, path in wheels.items()}
    complaints: list[str] = []
    for way in ways():
        env = environment(way, options.constraints)
        for places in places_of(options.index):
            call = InstallerCall(way, env, places)
            code, lines, found = resolve(call, (*wheels.values(), *beside.values()))
            complaints += lines if code else []
            if code == 0:
                more = [pin for pin in found if pin.name not in {canonical(name) for name in (*wheels, *beside)}]
                held = hold(call, more, known, options.record, strict=options.require_hashes)
                remove(gone)
                finish(call, [*own.values(), *held], options.record)
                again = [own[name] for name in sorted(same)]
                finish(call, again, options.record, "--reinstall" if way.name == "uv" else "--force-reinstall")
                return
    refuse_incomplete(complaints)


def hold_wheel(name: str, path: Path, known: dict[str, Pin], options: argparse.Namespace) -> Pin:
    """Give a fetched wheel as what is installed, with the hashes that it is held to, or end where it has another."""
    wanted = next(Pin(text) for text in options.wheel if text.split("==")[0] == name)
    pin, found = recorded(options.record, known.get(wanted.key, wanted)), hash_file(path)
    if not pin.hashes:  # carried here from where it was fetched
        pin = write_record(options.record, pin, [(found, path.name)])
    if found not in pin.hashes:
        fail(f"{path} is not the file that was fetched: its hash differs", f"rm {path}; the same command fetches it")
    return Pin(f"{name} @ {path.absolute().as_uri()}", pin.hashes)


def finish(call: InstallerCall, pins: list[Pin], record: Path, *words: str) -> None:
    """Install just these files, or end with what was wrong with one of them."""
    if not pins:
        return
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        listed = write_pins(Path(folder) / "requirements.txt", pins)
        code, lines = call.install("--no-deps", "--require-hashes", *words, "-r", str(listed))
    if code:
        refuse_other(lines, pins, record)
        fail("the wheels could not be installed; the lines above say why", "the same command goes on here")


def refuse_incomplete(complaints: list[str]) -> None:
    """End with what could not be found; nothing was touched yet."""
    missing = sorted({found[1] or found[2] for line in complaints if (found := MISSING.search(line))})
    last = (complaints or ["no installer said why"])[-1].strip()
    what = f"nowhere is there {', '.join(missing)}" if missing else last
    fail(f"what the wheels require cannot be installed: {what}. The environment was not touched", PLACES)


def orphans(there: dict[str, Found]) -> list[str]:
    """Name the libraries of a CUDA torch that nothing here requires any more; they are harmless, and large."""
    needed = {name for found in there.values() for name in names_of(found.requires)}
    return sorted(name for name in there if name.startswith(CUDA) and name not in needed)


def tidy(left: list[str]) -> str:
    """Give the command that removes what nothing requires, and say it."""
    if not left:
        return ""
    own = importlib.util.find_spec("pip")
    begin = f"{sys.executable} -m pip uninstall" if own else f"uv pip uninstall --python {sys.executable}"
    command = f"{begin} {' '.join(left)}"
    print(f"nothing requires these any more: {command}", flush=True)
    return command


# What an installer would install, and the files that it may take for it: published hashes, else those of first use.


ADDED = re.compile(r"^ \+ ([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
"""How uv says what it would install."""
COMPILE = ("compile", "--no-deps", "--generate-hashes", "--quiet", "--no-header", "--no-annotate", "--no-config")


class InstallerCall(NamedTuple):
    """An installer with its variables, and where else it looks."""

    way: EnvironmentInstaller
    env: Mapping[str, str]
    places: tuple[str, ...]

    def install(self, *words: str) -> tuple[int, list[str]]:
        """Run its install command; give its exit code and last lines."""
        return run((*self.way.command, "install", *self.way.python, *self.places, *words), dict(self.env))


def resolve(call: InstallerCall, paths: tuple[str, ...]) -> tuple[int, list[str], list[Pin]]:
    """Give how a dry run ended, its last lines, and all that it would install, with the hashes that it told."""
    if call.way.name == "uv":
        code, lines = call.install("--dry-run", *paths)
        added = [found for line in lines if (found := ADDED.match(line))]
        return code, lines, [Pin(f"{found[1]}=={found[2]}") for found in added]
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        report = Path(folder) / "report.json"
        code, lines = call.install("--dry-run", "--report", str(report), *paths)
        text = report.read_text(encoding="utf-8") if code == 0 else '{"install": []}'
    pins = []
    for item in json.loads(text)["install"]:
        sha256 = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
        pins.append(Pin(f"{item['metadata']['name']}=={item['metadata']['version']}", (sha256,) if sha256 else ()))
    return code, lines, pins


def hold(call: InstallerCall, found: list[Pin], known: Mapping[str, Pin], record: Path, *, strict: bool) -> list[Pin]:
    """Give each of them with the hashes that it is held to. `strict`: end where one has no published hash."""
    free = [pin for pin in found if pin.key not in known or not known[pin.key].hashes]
    if free and strict:
        fail(
            f"no published hash is known of {', '.join(pin.key for pin in free)}, and --require-hashes asks for one."
            " The environment was not touched",
            "put them into [hashes] of a profile of your own, or leave --require-hashes out",
        )
    held = {pin.key: recorded(record, Pin(pin.text)) for pin in free}
    first = [pin for pin in free if not held[pin.key].hashes]
    for pin in _told_by_index(call, first):  # the hashes that were told, else that of the file itself
        sums = [(each, pin.key) for each in pin.hashes]
        held[pin.key] = write_record(record, pin, sums) if sums else use_first(pin, record, *call.places)
    return [Pin(pin.text, held[pin.key].hashes if pin.key in held else known[pin.key].hashes) for pin in found]


def _told_by_index(call: InstallerCall, pins: list[Pin]) -> list[Pin]:
    """Give pins with the hashes that an index tells of their files, where the dry run of uv told none."""
    lacking = [pin for pin in pins if not pin.hashes]
    if not lacking or call.way.name != "uv":
        return pins
    command = (*call.way.command, *COMPILE, *call.way.python, *call.places, "-")
    text = "".join(f"{pin.text}\n" for pin in lacking)
    done = subprocess.run(command, input=text, env=dict(call.env), text=True, capture_output=True, check=False)
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        listed = Path(folder) / "requirements.txt"
        write_text(listed, done.stdout if done.returncode == 0 else "")
        told = {pin.key: pin.hashes for pin in read_pins([listed])}
    return [Pin(pin.text, pin.hashes or told.get(pin.key, ())) for pin in pins]


if __name__ == "__main__":
    main()
