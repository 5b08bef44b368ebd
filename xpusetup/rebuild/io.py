"""What can be another on this machine when the same is built again."""

import json
import os
import platform
import pwd
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xpusetup.base.model import Step
from xpusetup.rebuild.compare import Conditions, Varied
from xpusetup.run.root import SECOND_HOME, SECOND_ZONE, Root, read_build_path
from xpusetup.system import files
from xpusetup.system.environment import variable
from xpusetup.system.process import run_process

# Other conditions than those of the first build.


@dataclass(frozen=True, kw_only=True)
class VariedCondition:
    """One thing that was another in the second build, or could not be (`varied`), and why not; empty for no value."""

    name: str
    was: str
    now: str
    varied: bool
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherConditions:
    """Other conditions: what is told of each, what differences may come from, and the words that enter them."""

    told: tuple[VariedCondition, ...]
    conditions: Conditions
    words: tuple[str, ...]

    def before(self, step: Step) -> tuple[str, ...]:
        """Give what a step's script is run by: what asks for the network does that as it always does."""
        return () if "network" in step.needs else self.words


HOST = "another-host-name"
ZONE, OFFSET = "XPT", 13 * 3600 + 45 * 60
"""A time zone that is nobody's, and its seconds to the east of UTC."""
UMASK = "0027"
TRY_S = 20.0
LISTED_S = 10.0
NAMES = {"host": "hostname", "zone": "time zone", "uid": "user"}
"""The conditions that take a namespace, by what elsewhere.py calls them."""


def make_elsewhere(root: Path, again: Path, jobs: tuple[int, int]) -> OtherConditions:
    """Find out what can be another here, and make what the second build needs for it in its own root.

    `jobs`: how many ran at a time in the first build and in the second, 0 where that is not known.
    """
    home, zone_file = again / SECOND_HOME, again / SECOND_ZONE
    files.make_folder(home)
    zone_file.write_bytes(render_zone(ZONE, OFFSET))
    other, (zone, offset), locale = _other_user(), _read_zone(), _other_locale()
    asked: dict[str, Any] = {"host": HOST, "zone": str(zone_file), "uid": other.pw_uid, "gid": other.pw_gid}
    problems = _try(asked)
    user = variable("USER") or next((each.pw_name for each in pwd.getpwall() if each.pw_uid == os.geteuid()), "")
    values = {
        "path": (str(root), str(again)),
        "home": (variable("HOME"), str(home)),
        "locale": (variable("LANG"), locale),
        "user": (user, other.pw_name),
        "hostname": (platform.node(), HOST),
        "time zone": (zone, ZONE),
    }
    absent = {NAMES[name]: why for name, why in problems.items()}
    told = (
        *(_tell(name, *pair, absent.get(name, "")) for name, pair in values.items()),
        VariedCondition(name="umask", was="of the caller", now=UMASK, varied=True),
        _tell_jobs(*jobs),
    )
    idle = {*problems, *(("gid",) if "uid" in problems else ())}
    entered = {name: value for name, value in asked.items() if name not in idle}
    more = {"umask": UMASK, "env": {"HOME": str(home), "LANG": locale}}
    return OtherConditions(
        told=told,
        conditions=Conditions(
            tuple(Varied(each.name, each.was, each.now) for each in told if each.varied and each.name in values),
            OFFSET - offset if "zone" not in problems else 0,
        ),
        words=(*_elsewhere(), json.dumps({**entered, **more})),
    )


def _elsewhere() -> tuple[str, ...]:
    """Give the words before the JSON of helpers/elsewhere.py."""
    return sys.executable, "-Es", str(files.package_file("helpers/elsewhere.py"))


def seen_paths(root: Path, again: Path) -> tuple[Varied, ...]:
    """Return both build paths if they differ."""
    was, now = read_build_path(Root(root)), read_build_path(Root(again))
    return (Varied("path", was, now),) if was != now else ()


def _tell(name: str, was: str, now: str, why: str) -> VariedCondition:
    why = f"this machine does not allow it: {why}" if why else "there is no other here" if was == now else ""
    return VariedCondition(name=name, was=was, now=was if why else now, varied=not why, why=why)


def _tell_jobs(was: int, now: int) -> VariedCondition:
    why = "" if was != now else "as many as before" if was else "as many as the build chooses itself"
    words = [str(each) if each else "" for each in (was, now)]
    return VariedCondition(name="jobs", was=words[0], now=words[1], varied=not why, why=why)


def _try(asked: Mapping[str, Any]) -> dict[str, str]:
    """Give what cannot be another here, and why."""
    done = run_process((*_elsewhere(), json.dumps(asked), "--try"), seconds=TRY_S)
    try:
        found = json.loads(done.out)
    except ValueError:
        found = dict.fromkeys(NAMES, done.why or "it ended without a word")
    return {name: str(why) for name, why in found.items() if name in NAMES}


def render_zone(name: str, offset: int) -> bytes:
    """Give a time zone as RFC 8536 has it: one offset in seconds to the east, all the year."""
    hours, minutes = divmod(offset // 60, 60)
    kind = struct.pack(">iBB", offset, 0, 0) + name.encode() + b"\0"
    head = b"TZif2" + bytes(15) + struct.pack(">6I", 0, 0, 0, 0, 1, len(name) + 1)
    return (head + kind) * 2 + f"\n{name}-{hours}:{minutes:02}\n".encode()


def _read_zone() -> tuple[str, int]:
    """Give the machine's own time zone, which steps have, whatever TZ says: its name and seconds to the east."""
    said = run_process(("date", "+%Z %z"), seconds=LISTED_S, env={"PATH": variable("PATH")}).out.split()
    if len(said) != len(("name", "offset")):
        return "", 0
    seconds = int(said[1][1:3]) * 3600 + int(said[1][3:5]) * 60
    return said[0], -seconds if said[1].startswith("-") else seconds


def _other_user() -> pwd.struct_passwd:
    """Give another user of this machine: one of the system's own, because root and people have habits."""
    others = [each for each in pwd.getpwall() if each.pw_uid not in {0, os.geteuid()}]
    return min(others, key=lambda each: each.pw_uid, default=pwd.getpwuid(0))


def _other_locale() -> str:
    """Give a locale that is installed and is not that of the caller, one of another language where there is one."""
    said = run_process(("locale", "-a"), seconds=LISTED_S).out.split()
    others = [each for each in said if _plain(each) != _plain(variable("LANG"))]
    return next((each for each in others if each[:1].islower()), "C" if variable("LANG") != "C" else "C.UTF-8")


def _plain(locale: str) -> str:
    return locale.lower().replace("-", "")
