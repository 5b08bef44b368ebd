"""What an activation changed, read from two dumps of an environment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.targets import NEW_KIT, SETVARS_KIT
from data.well import well
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import Toolkit
from xpusetup.config.settings import merge_settings
from xpusetup.config.shipped import load_profile
from xpusetup.config.take import choose_toolkit
from xpusetup.machine import probe_tools as module
from xpusetup.machine.probe_tools import (
    ActivationChange,
    capture,
    clean_environment,
    find_failed,
    find_through_shell,
    holds_runtime,
    make_change,
    name_switch,
    parse_dump,
    with_toolkit_of_shell,
)
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from pathlib import Path

FUNCTION = "BASH_FUNC_module%%"
SITE = "[toolkit] prelude of /etc/xpusetup/site.toml"


def name(_line: str) -> str:
    return SITE


@pytest.mark.parametrize(
    ("dump", "values"),
    [
        (b"", {}),
        (b"A=1\0B=2\0", {"A": "1", "B": "2"}),
        (b"A=1", {"A": "1"}),
        (b"A=\0", {"A": ""}),
        (b"A=b=c=d\0", {"A": "b=c=d"}),
        (b"A=two\nlines=x\n\0B=1\0", {"A": "two\nlines=x\n", "B": "1"}),
        (b"BASH_FUNC_module%%=() {  eval `x`\n}\0", {FUNCTION: "() {  eval `x`\n}"}),
        (b"a.b-c d=1\0", {"a.b-c d": "1"}),
        (b"A=\xff\xfe\0", {"A": "\udcff\udcfe"}),
        ("A=é·".encode(), {"A": "é·"}),
    ],
)
def test_parse_dump(dump: bytes, values: dict[str, str]) -> None:
    assert parse_dump(dump) == values


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({}, {}, ActivationChange({}, ())),
        ({"A": "1"}, {"A": "1"}, ActivationChange({}, ())),
        ({"A": "1"}, {"A": "2"}, ActivationChange({"A": "2"}, ())),
        ({"A": "1"}, {"A": ""}, ActivationChange({"A": ""}, ())),
        ({"B": "1", "A": "1"}, {}, ActivationChange({}, ("A", "B"))),
        ({}, {"A": "two\nlines"}, ActivationChange({"A": "two\nlines"}, ())),
        ({"SHLVL": "1", "_": "a", "PWD": "/"}, {"SHLVL": "2", "_": "b", "OLDPWD": "/"}, ActivationChange({}, ())),
        ({FUNCTION: "x"}, {FUNCTION: "y"}, ActivationChange({FUNCTION: "y"}, ())),
        (
            {"PATH": "/bin"},
            {"PATH": "/opt:/bin", "ROOT": "/opt"},
            ActivationChange({"PATH": "/opt:/bin", "ROOT": "/opt"}, ()),
        ),
    ],
)
def test_make_change(before: dict[str, str], after: dict[str, str], change: ActivationChange) -> None:
    assert make_change(before, after) == change


def test_an_activation_begins_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine")
    monkeypatch.setenv("SETVARS_COMPLETED", "1")
    monkeypatch.setenv("HOME", "/home/me")
    assert set(clean_environment(NEW_KIT)) <= {"HOME", "PATH", "LANG", "TMPDIR", "TERM"}
    assert clean_environment(NEW_KIT)["HOME"] == "/home/me"
    whole = clean_environment(replace(NEW_KIT, provider="environment"))
    assert whole["LD_LIBRARY_PATH"] == "/mine"


@pytest.mark.parametrize(
    ("output", "kit", "message", "fix"),
    [
        (
            ProcessOutput(3, "", "first\nno icpx in the toolkit\n"),
            SETVARS_KIT,
            "the toolkit could not be switched on: no icpx in the toolkit",
            "try it by hand: env -i HOME=$HOME PATH=$PATH bash -c 'source /opt/intel/oneapi/setvars.sh; env'",
        ),
        (
            ProcessOutput(None, "", "", "bash took longer than 120 s"),
            Toolkit(provider="modules", version="", compiler="icpx", prelude=("module load x",)),
            "the toolkit could not be switched on: bash took longer than 120 s",
            "try it by hand: env -i HOME=$HOME PATH=$PATH bash -c 'module load x; env'",
        ),
        (
            ProcessOutput(1, "", ""),
            Toolkit(provider="environment", version="", compiler="icpx"),
            "the toolkit could not be switched on: it ended with 1 and gave no message",
            "xpusetup doctor --for build",
        ),
    ],
)
def test_a_toolkit_that_fails(
    output: ProcessOutput, kit: Toolkit, message: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "run_process", lambda *_args, **_words: output)
    with pytest.raises(NotReadyError) as caught:
        capture(kit)
    assert (caught.value.message, caught.value.fix) == (message, fix)
    assert find_through_shell(()) is None


def test_the_line_of_a_prelude_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator was told to install oneAPI where `module` was not found."""
    lines = ("source /etc/profile.d/modules.sh", "module load intel/2026", "true")
    ended = (
        "ready\n@xpusetup-line-ended-with:0\nbash: line 4: module: command not found\n@xpusetup-line-ended-with:127\n"
    )
    scripts: list[str] = []

    def run(argv: tuple[str, ...], **_words: object) -> ProcessOutput:
        scripts.append(argv[-1])
        return ProcessOutput(0, "", ended if argv[1] == "-c" else "")

    monkeypatch.setattr(module, "run_process", run)
    assert find_failed(lines, name) == f"`module load intel/2026` in {SITE} ended with 127: module: command not found"
    assert "module load intel/2026\necho @xpusetup-line-ended-with:$? >&2" in scripts[-1]


def test_of_much_that_is_printed_the_complaint_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lmod's advice on caches came in place of the name that it does not know."""
    lmod = ["Lmod has detected the following error: These modules are unknown:", '"x"', "Please check", "out-of-date"]
    said = "\n".join([*lmod, "@xpusetup-line-ended-with:1\n"])
    monkeypatch.setattr(module, "run_process", lambda *_argv, **_words: ProcessOutput(0, "", said))
    assert find_failed(("module load x",), name) == f"`module load x` in {SITE} ended with 1: {lmod[0]} / {lmod[1]}"


@pytest.mark.parametrize("code", [7, 0])
def test_a_line_that_ends_the_shell(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "@xpusetup-line-ended-with:0\n"
    ended = {"-n": ProcessOutput(0, "", ""), "-c": ProcessOutput(code, "", said)}
    monkeypatch.setattr(module, "run_process", lambda argv, **_words: ended[argv[1]])
    assert find_failed(("true", f"exit {code}", "true"), name) == f"`exit {code}` in {SITE} ended the shell with {code}"


def test_old_modules_say_an_error_and_end_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "ModuleCmd_Load.c(244):ERROR:105: Unable to locate a modulefile for 'x'\n@xpusetup-line-ended-with:0\n"
    monkeypatch.setattr(module, "run_process", lambda *_argv, **_words: ProcessOutput(0, "", said))
    assert find_failed(("module load x",), name) == f"`module load x` in {SITE} ended with 0: {said.splitlines()[0]}"
    monkeypatch.setattr(module, "run_process", lambda *_argv, **_words: ProcessOutput(2, "", ""))
    assert find_failed(("if true; then",), name) == ""  # no line of it stands alone


@pytest.mark.parametrize(
    ("profile", "toolkit", "runs"), [("sim", "", False), ("torch-2.14", "wheels", False), ("torch-2.14", "", True)]
)
def test_a_prelude_runs_where_a_toolkit_is_needed(
    profile: str, toolkit: str, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`plan sim` needs no oneAPI, and ran what a site loads it with."""
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(module, "find_through_shell", ran.append)
    monkeypatch.setattr(module, "find_failed", lambda *_about: "")
    settings = merge_settings([("xpusetup.toml", '[toolkit]\nprelude = ["touch MARK"]\n')])
    named = load_profile(profile)
    wanted = (choose_toolkit(named, toolkit) if toolkit else named).toolkit
    with_toolkit_of_shell(well(), settings, wanted)
    assert ran == ([("touch MARK",)] if runs else [])


def test_a_line_is_of_its_own_key() -> None:
    """A bad line of the prelude was told as one of the modules."""
    text = '[toolkit]\nprelude = ["source /no.sh"]\nmodules = ["intel/2026"]\n'
    settings = merge_settings([("xpusetup.toml", text)])
    named = {line: name_switch(settings, line) for line in ("source /no.sh", "module load intel/2026", "")}
    assert [key.split()[1] for key in named.values()] == ["prelude", "modules", "modules"]


def test_a_folder_with_a_runtime(tmp_path: Path) -> None:
    """What would come before the libraries of the wheels is seen by name."""
    assert not holds_runtime("")
    assert not holds_runtime(str(tmp_path))
    (tmp_path / "libsycl.so.8").touch()
    assert holds_runtime(str(tmp_path))
