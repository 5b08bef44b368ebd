"""What made two builds of a wheel differ: each member by name, each cause by the value that was varied."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from data.profiles import shipped
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands import wheel_rebuild
from xpusetup.config.request import read_request, read_words, render_request
from xpusetup.rebuild.compare import WHY, Conditions, Varied, compare_wheels, count_members, find_causes
from xpusetup.rebuild.io import OFFSET, ZONE, make_elsewhere, render_zone
from xpusetup.run import removal
from xpusetup.run.root import Root
from xpusetup.run.workspace import Workspace
from xpusetup.system.files import how_chosen

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "/home/me/.local/xpusetup/sim", "/home/me/.local/xpusetup/.rebuilt/sim-at-a-longer-path"
VARIED = Conditions(
    (
        Varied("path", OLD, NEW),
        Varied("home", "/home/me", f"{NEW}/home"),
        Varied("locale", "", "de_DE.UTF-8"),
        Varied("user", "me", "daemon"),
        Varied("hostname", "vm", "another-host-name"),
        Varied("time zone", "UTC", "XPT"),
    ),
    OFFSET,
)
CASES = {
    "the folder": (f"at {OLD}/src", f"at {NEW}/src", ["path"], True),
    "behind an option": (f"-I{OLD}/include", f"-I{NEW}/include", ["path"], True),
    "kept flags": (f"-O2 -ffile-prefix-map={OLD}/src=x", f"-O2 -ffile-prefix-map={NEW}/src=x", ["flags"], True),
    "flags and more": (
        f"-fmacro-prefix-map={OLD}=x {OLD}/a.h",
        f"-fmacro-prefix-map={NEW}=x {NEW}/a.h",
        ["flags", "path"],
        True,
    ),
    "home, and not the root in it": ("see /home/me/.rc", f"see {NEW}/home/.rc", ["home"], True),
    "a short user": ("by me", "by daemon", ["user"], True),
    "a short host": ("on vm.", "on another-host-name.", ["hostname"], True),
    "a locale that was not set": ("lang=''", "lang='de_DE.UTF-8'", ["locale"], True),
    "host and folder": (f"vm:{OLD}", f"another-host-name:{NEW}", ["path", "hostname"], True),
    "a date": ("built Nov 23 2026 15:38:01", "built Nov 24 2026 09:00:59", ["time"], True),
    "seconds since the epoch": ("t=1795448552.67;", "t=1795448601.4;", ["time"], True),
    "the same moment elsewhere": ("2023-11-14 22:13:20", "2023-11-15 11:58:20", ["time zone"], True),
    "its name": ("12:00 UTC", "12:00 XPT", ["unknown"], False),
    "order of lines": ("b\na\nc\n", "a\nb\nc\n", ["order"], True),
    "order and folder": (f"b\n{OLD}/x\n", f"{NEW}/x\nb\n", ["path", "order"], True),
    "what follows from a length": (f"\x10\0{OLD}\0\x22", f"\x17\0{NEW}\0\x39", ["path"], False),
    "nothing that was varied": ("one", "two", ["unknown"], False),
    "part of a longer word": ("methods", "daemonic", ["unknown"], False),
    "a value that stands in both": (f"{OLD} me one", f"{OLD} me two", ["unknown"], False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_cause_is_named(case: str) -> None:
    one, other, causes, sure = CASES[case]
    assert find_causes(one.encode(), other.encode(), VARIED) == (causes, sure)


def test_a_cause_is_named_once() -> None:
    """The roots and the paths at which they compiled: two pairs of folders, both of which stand in a member."""
    both = replace(VARIED, varied=(*VARIED.varied, Varied("path", "/usr/local/src", "/usr/local/other")))
    one, other = f"{OLD} /usr/local/src".encode(), f"{NEW} /usr/local/other".encode()
    assert find_causes(one, other, both) == (["path"], True)


def test_without_another_time_zone_a_clock_is_a_clock() -> None:
    found = find_causes(b"2023-11-14 22:13:20", b"2023-11-15 11:58:20", Conditions())
    assert found == (["time"], True)


def wheel(path: Path, members: dict[str, str], **more: Any) -> Path:
    """Write an archive; `more`: date and mode of its members."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name, more.get("date", (2026, 1, 1, 0, 0, 0)))
            info.external_attr = more.get("mode", 0o644) << 16
            archive.writestr(info, text)
    return path


RECORD = "x-1.dist-info/RECORD"
PLAIN = {"a.py": "1", "b.py": "2", RECORD: "a.py,sha256=1,1\nb.py,sha256=2,1\n"}


@pytest.mark.parametrize(
    ("members", "more", "told"),
    [
        (PLAIN, {}, {}),
        (dict(reversed(PLAIN.items())), {}, {"(the order of members)": ["order"]}),
        (PLAIN, {"date": (2026, 1, 2, 0, 0, 0)}, {name: ["time"] for name in PLAIN}),
        (PLAIN, {"mode": 0o600}, {name: ["mode"] for name in PLAIN}),
        ({**PLAIN, "c.py": "3"}, {}, {"c.py": ["absent"]}),
        (
            {**PLAIN, "b.py": "9", RECORD: "a.py,sha256=1,1\nb.py,sha256=9,1\n"},
            {},
            {"b.py": ["unknown"], RECORD: ["follows"]},
        ),
        ({**PLAIN, RECORD: "a.py,sha256=8,1\nb.py,sha256=2,1\n"}, {}, {RECORD: ["unknown"]}),
        ({**PLAIN, RECORD: "b.py,sha256=2,1\na.py,sha256=1,1\n"}, {}, {RECORD: ["order"]}),
    ],
)
def test_members_are_named(members: dict[str, str], more: Any, told: dict[str, list[str]], tmp_path: Path) -> None:
    one, other = wheel(tmp_path / "one.whl", PLAIN), wheel(tmp_path / "two.whl", members, **more)
    found = compare_wheels(one, other, VARIED)
    assert {each.member: each.causes for each in found} == told
    assert all(each.why == "; ".join(WHY[cause] for cause in each.causes) for each in found)
    assert count_members(other) == len(members)


def test_where_they_differ_is_shown(tmp_path: Path) -> None:
    one = wheel(tmp_path / "one.whl", {"a": f"\0\1before\2{OLD}/x\3"})
    other = wheel(tmp_path / "two.whl", {"a": f"\0\1before\2{NEW}/x\3"})
    (found,) = compare_wheels(one, other, VARIED)
    assert (found.was, found.now) == (f"{OLD}/x", f"{NEW}/x")


def test_the_time_zone_is_one(tmp_path: Path) -> None:
    (tmp_path / "zone").write_bytes(render_zone(ZONE, OFFSET))
    with (tmp_path / "zone").open("rb") as stream:
        here = ZoneInfo.from_file(stream)
    now = datetime(2026, 11, 23, tzinfo=timezone.utc).astimezone(here)
    assert (now.utcoffset(), now.tzname()) == (timedelta(seconds=OFFSET), ZONE)
    assert struct.unpack(">6I", render_zone(ZONE, OFFSET)[20:44]) == (0, 0, 0, 0, 1, 4)


def test_the_words_of_a_build_are_read_back(tmp_path: Path) -> None:
    patch = tmp_path / "a.patch"
    patch.write_text("--- a/x\n+++ b/x\n")
    asked = read_request(
        arch="bmg,pvc", variables=["torch.USE_X=a b"], patch=[f"torch={patch}"], verify="off", require_hashes=False
    )
    words = ("--python", "3.12", "--take", "triton=skip", "--require-hashes", *render_request(asked))
    assert read_words(words) == asked
    assert read_words(()) == read_request(verify="off")


def test_where_nothing_may_be_entered_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that allows no namespaces: folder, home, locale and umask are others all the same."""
    told = dict.fromkeys(("host", "zone", "uid"), "Operation not permitted")
    monkeypatch.setattr("xpusetup.rebuild.io._try", lambda _asked: told)
    monkeypatch.setattr("xpusetup.rebuild.io._read_zone", lambda: ("UTC", 0))
    monkeypatch.setattr("xpusetup.rebuild.io._other_locale", lambda: "C")
    monkeypatch.setenv("LANG", "C")
    found = make_elsewhere(tmp_path / "root", tmp_path / "again", (4, 3))
    same = {each.name: each.why for each in found.told if not each.varied}
    refused = "this machine does not allow it: Operation not permitted"
    assert same == {"hostname": refused, "time zone": refused, "user": refused, "locale": "there is no other here"}
    assert {each.cause for each in found.conditions.varied} == {"path", "home"}
    assert found.conditions.offset == 0
    assert not {"host", "zone", "uid", "gid"} & {*json.loads(found.words[3])}


# Where a second build lies, and what becomes of it.


def test_a_link_leads_to_the_place_and_stays(tmp_path: Path) -> None:
    """`--at LINK`: the link went, and the second build stayed behind; by one into the root it was built in there."""
    root = Root(tmp_path / "r")
    (root / "src").mkdir(parents=True)
    for name, to in {"scratch": tmp_path / "far", "inside": root / "src"}.items():
        (tmp_path / name).symlink_to(to)
    assert wheel_rebuild._find_place(root, str(tmp_path / "scratch/x")) == tmp_path / "far/x"
    with pytest.raises(UsageError, match="is in the root itself"):
        wheel_rebuild._find_place(root, str(tmp_path / "inside/x"))


def test_another_place_is_named_by_at(tmp_path: Path) -> None:
    """A root whose parent may not be written: the advice named --root, which is the first build's."""
    assert how_chosen(wheel_rebuild._find_place(Root(tmp_path / "r"), "") / "steps") == "--at DIR"


def test_what_says_that_it_is_a_second_build_goes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A removal that was cut off left a folder that held something else for the next run."""
    for name in ("rebuild.json", "a", "z"):
        (tmp_path / "again" / name).mkdir(parents=True)
    monkeypatch.setattr(removal, "_remove", _refuse)
    with pytest.raises(NotReadyError):
        wheel_rebuild._clear(tmp_path / "again")
    assert (tmp_path / "again/rebuild.json").exists()
    monkeypatch.undo()
    wheel_rebuild._clear(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def _refuse(place: Path) -> None:
    raise NotReadyError(f"cannot remove {place}", fix="")


def workspace_of(name: str) -> Any:
    """Give as much of a workspace as says which commands mean it."""
    made = SimpleNamespace(options=f"--profile {name}", profile=shipped(name))
    made.command = partial(Workspace.command, made)  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize("now", [None, "another wheel", "the wheel"])
def test_the_first_build_went_meanwhile(now: str | None, tmp_path: Path) -> None:
    """It was compared with what was there in the end, or the advice was to make an empty folder of wheels."""
    path, then = tmp_path / "a.whl", hashlib.sha256(b"the wheel").hexdigest()
    if now is not None:
        path.write_text(now)
    workspace = workspace_of("sim")
    wheels: Any = [SimpleNamespace(path=str(path), sha256=then)]
    if now == "the wheel":
        wheel_rebuild._require_unchanged(workspace, wheels)
        return
    with pytest.raises(NotReadyError, match="was removed or changed while it was built again"):
        wheel_rebuild._require_unchanged(workspace, wheels)


def test_a_wheel_of_an_edited_source_is_not_built_elsewhere(tmp_path: Path) -> None:
    """Hours later its differences had the cause `unknown`."""
    (tmp_path / "manifest.json").write_text(json.dumps({"schema": 1, "edited": ["simxpu"]}))
    workspace = workspace_of("sim")
    with pytest.raises(UsageError, match="simxpu was built with changes of your own in ") as caught:
        wheel_rebuild._refuse_edited(workspace, Root(tmp_path), [SimpleNamespace(name="simxpu")])  # type: ignore[list-item]
    undo = f"rm {tmp_path}/stamps/simxpu.build; xpusetup build sim"
    assert caught.value.fix.splitlines()[1] == f"or undo it, and build it anew: {undo}"
    wheel_rebuild._refuse_edited(workspace, Root(tmp_path), [SimpleNamespace(name="torch")])  # type: ignore[list-item]
