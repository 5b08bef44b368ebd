"""What an installer would install, and the files that it may take for it: published hashes, else those of first use."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installers import Way, run
from origins import Pin, read_pins, recorded, write_record
from pinned_wheels import use_first
from wheel_files import fail
from whole_file import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

ADDED = re.compile(r"^ \+ ([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
"""How uv says what it would install."""
COMPILE = ("compile", "--no-deps", "--generate-hashes", "--quiet", "--no-header", "--no-annotate", "--no-config")


class Call(NamedTuple):
    """An installer with its variables, and where else it looks."""

    way: Way
    env: Mapping[str, str]
    places: tuple[str, ...]

    def install(self, *words: str) -> tuple[int, list[str]]:
        """Run its install command; give its exit code and last lines."""
        return run((*self.way.command, "install", *self.way.python, *self.places, *words), dict(self.env))


def resolve(call: Call, paths: tuple[str, ...]) -> tuple[int, list[str], list[Pin]]:
    """Give how a dry run ended, its last lines, and all that it would install, with the hashes that it told."""
    if call.way.name == "uv":
        code, lines = call.install("--dry-run", *paths)
        added = [found for line in lines if (found := ADDED.match(line))]
        return code, lines, [Pin(f"{found[1]}=={found[2]}") for found in added]
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        report = Path(folder) / "report.json"
        code, lines = call.install("--dry-run", "--report", str(report), *paths)
        text = report.read_text(encoding="utf-8") if code == 0 else '{"install": []}'
    return code, lines, [_told(item) for item in json.loads(text)["install"]]


def _told(item: dict[str, dict[str, dict[str, dict[str, str]]]]) -> Pin:
    found = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
    return Pin(f"{item['metadata']['name']}=={item['metadata']['version']}", (found,) if found else ())


def hold(call: Call, found: list[Pin], known: Mapping[str, Pin], record: Path, *, strict: bool) -> list[Pin]:
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
    held |= {pin.key: _use_first(call, pin, record) for pin in _told_by_index(call, first)}
    return [Pin(pin.text, held[pin.key].hashes if pin.key in held else known[pin.key].hashes) for pin in found]


def _use_first(call: Call, pin: Pin, record: Path) -> Pin:
    """Write down the hashes that were told, else that of the file itself."""
    if not pin.hashes:
        return use_first(pin, record, *call.places)
    return write_record(record, pin, [(each, pin.key) for each in pin.hashes])


def _told_by_index(call: Call, pins: list[Pin]) -> list[Pin]:
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
