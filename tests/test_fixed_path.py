"""Whether a root may be seen at one fixed path while it compiles, and what is kept and said of it."""

from __future__ import annotations

import errno
import importlib
import os
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.base.model import BUILD_PATH, ROOT, Layout, Step
from xpusetup.emit.script import sees_build_path

if TYPE_CHECKING:
    from pathlib import Path

fixed_path: Any = importlib.import_module("fixed_path")
COMPILES = Step(id="a.build", title="", run=(), needs=("compiler",))


class BecameError(Exception):
    """What the helper became a command by."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a root; the helper can mount, and becomes nothing."""

    def become(_name: str, words: list[str]) -> None:
        raise BecameError(words, os.environ["XPUSETUP_SEEN_AT"])

    monkeypatch.setattr(os, "execvp", become)
    monkeypatch.setattr(fixed_path, "enter", lambda _root, _path: None)
    monkeypatch.setenv("XPUSETUP_SEEN_AT", "")
    monkeypatch.setattr(fixed_path, "why_not", lambda _root, _path, tool: tool)
    monkeypatch.delenv("XPUSETUP_BUILD_PATH", raising=False)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, root: Path, *, why: str = "") -> str:
    """Give the path at which the command sees its root; it is told here why it could not."""
    monkeypatch.setattr("sys.argv", ["fixed_path.py", str(root), "/one/path", why, "bash", "step.sh"])
    with pytest.raises(BecameError) as became:
        fixed_path.main()
    words, path = became.value.args
    assert words == ["bash", "step.sh"]
    monkeypatch.delenv("XPUSETUP_BUILD_PATH", raising=False)
    return str(path)


def test_a_path_that_cannot_be_kept_is_no_traceback(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_path: Path, _text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fixed_path, "write_text", full)
    monkeypatch.setattr("sys.argv", ["fixed_path.py", str(place), "/one/path", "", "bash", "step.sh"])
    with pytest.raises(SystemExit) as ended:
        fixed_path.main()
    assert ended.value.code == 3
    assert capsys.readouterr().err == (
        f"xpusetup: {place}/build-path cannot be written: No space left on device\n  df -h {place}\n"
    )


def test_what_was_decided_is_kept_and_told_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, place) == "/one/path"
    assert (place / "build-path").read_text() == "/one/path\n"
    assert capsys.readouterr().out == f"{place} compiles as /one/path, a bind mount that nobody else sees\n"
    assert call(monkeypatch, place) == "/one/path"
    assert capsys.readouterr().out == ""


def test_a_root_that_began_at_its_real_path_stays_there(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, place, why="it is full") == str(place)
    assert capsys.readouterr().out.startswith("note: it compiles at its real path, not at /one/path: it is full. So ")
    assert call(monkeypatch, place) == str(place)
    assert capsys.readouterr().out == ""


def test_what_was_compiled_there_is_not_gone_on_with_here(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call(monkeypatch, place)
    monkeypatch.setattr("sys.argv", ["fixed_path.py", str(place), "/one/path", "not allowed", "bash", "step.sh"])
    with pytest.raises(SystemExit) as ended:
        fixed_path.main()
    assert ended.value.code == 3
    assert "which it cannot be now: not allowed" in (said := capsys.readouterr().err)
    assert "export XPUSETUP_BUILD_PATH=real" in said
    monkeypatch.setenv("XPUSETUP_BUILD_PATH", "real")
    assert call(monkeypatch, place, why="not allowed") == str(place)
    assert call(monkeypatch, place) == str(place)


@pytest.mark.parametrize(
    ("variables", "tool", "why"),
    [
        ({}, "", ""),
        ({"HOME": "/one/path/me"}, "", "/one/path/me lies in it"),
        ({"PATH": "/usr/bin:/one/path/bin"}, "", "/one/path/bin lies in it"),
        ({"CCACHE_DIR": "/one/path/cache"}, "", "/one/path/cache lies in it"),
        ({}, "/one/path/oneapi/bin/icpx", "/one/path/oneapi/bin/icpx lies in it"),
        ({"HOME": "/one/pathology"}, "", ""),
    ],
)
def test_what_the_mount_would_hide(
    variables: dict[str, str], tool: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PATH", *fixed_path.FOLDERS):
        monkeypatch.setenv(name, variables.get(name, ""))
    assert fixed_path.why_not_free("/home/me/root", "/one/path", tool) == why


def test_sccache_sees_no_mount(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call(monkeypatch, place)
    monkeypatch.setenv("COMPILER_LAUNCHER", "/usr/bin/sccache")
    assert call(monkeypatch, place) == str(place)
    assert "sccache compiles in a server of its own, which does not see it" in capsys.readouterr().out
    assert call(monkeypatch, place) == str(place)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("COMPILER_LAUNCHER", "/usr/bin/ccache")
    assert (place / "build-path").read_text() == f"{place}\n"


def test_a_root_that_lies_there_already(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["fixed_path.py", str(place), str(place), "", "bash", "step.sh"])
    with pytest.raises(BecameError) as became:
        fixed_path.main()
    assert became.value.args[1] == str(place)
    assert not (place / "build-path").exists()


def test_where_it_may_be_mounted(tmp_path: Path) -> None:
    assert fixed_path.why_not_place("/usr/local") == ""
    assert fixed_path.why_not_place("/no/such/folder") == "/no/such/folder: No such file or directory"
    assert fixed_path.why_not_place("/tmp") == "others than root may change /tmp"  # noqa: S108 - as every machine has it
    (tmp_path / "link").symlink_to("/usr")
    assert fixed_path.why_not_place(str(tmp_path / "link")) == f"{tmp_path}/link is no folder"


@pytest.mark.parametrize(
    ("step", "layout", "sees"),
    [
        (COMPILES, Layout(), True),
        (Step(id="a.install", title="", run=()), Layout(), False),
        (COMPILES, Layout(venv="/opt/env"), False),
        (COMPILES, Layout(src="/scratch/src"), False),
        (Step(id="a.build", title="", run=(), needs=("compiler",), protected_trees=("/home/me/a",)), Layout(), False),
        (
            Step(id="a.build", title="", run=(("pip", "wheel", f"{ROOT}/../../.."),), needs=("compiler",)),
            Layout(),
            False,
        ),
    ],
)
def test_which_steps_see_it(step: Step, layout: Layout, *, sees: bool) -> None:
    assert sees_build_path(step, layout) == sees
    assert BUILD_PATH == "/usr/local/src"
