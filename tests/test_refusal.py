"""Bad usage is told as every other error is, with the whole command that is right; old names work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from data.profiles import shipped
from xpusetup.base.document import read_as, to_table
from xpusetup.base.verbs import ALIASES, COMMANDS, FIRST, MORE, OLD, VERBS
from xpusetup.bundle.contents import Bundle, render_bundle
from xpusetup.bundle.io import hash_members, write_bundle
from xpusetup.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


OF_BUNDLE = "emit has no option --bundle; the build of a module has it"
THEN = """
        then, in the folder that it writes: xpusetup build --bundle x.tar --root DIR/software/NAME
        Replace DIR and NAME before you run it."""


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        ("--profile sim build", "--profile goes after the command", "build --profile sim"),
        ("-p sim build -v", "-p goes after the command", "build -p sim -v"),
        ("-psim --json wheel check x", "", ""),
        (
            "--name=x --into y status",
            "--name goes after the command",
            "status --name=x --into y",
        ),
        ("-p list list", "list has no option -p", "list --help"),
        ("-p sim", "xpusetup has no option -p", "--help"),
        ("plan sim --bundle x.tar", "plan has no option --bundle; install and build have it", "plan --help"),
        ("doctor --bundle=x.tar", "doctor has no option --bundle; install and build have it", "doctor --help"),
        ("emit module sim --bundle x.tar -o sw", OF_BUNDLE, f"emit module sim -o sw{THEN}"),
        ("emit module sim -o sw --bundle=x.tar", OF_BUNDLE, f"emit module sim -o sw{THEN}"),
        ("build --gpu-label x", "build has no option --gpu-label; emit has it", "build --help"),
        ("list --zzz", "list has no option --zzz", "list --help"),
        ("doctor --fix", "doctor has no --fix: setup mends what it can", "setup --apply"),
        ("doctor torch-2.14 --fix", "doctor has no --fix: setup mends what it can", "setup torch-2.14 --apply"),
        ("build -j -3", "--jobs: -3 is too small; the least is 1", "build --help"),
        ("build -j 0", "--jobs: 0 is too small; the least is 1", "build --help"),
        ("build -j 1.5", "--jobs: '1.5' is not a whole number", "build --help"),
        ("verify --patience nan", "--patience: nan is too small; the least is 1", "verify --help"),
        ("verify --patience soon", "--patience: 'soon' is not a number", "verify --help"),
        ("build --profile", "--profile needs a value", "build --help"),
        ("build a b", "build: unexpected argument 'b'", "build --help"),
        ("wheel check", "wheel check needs WHEEL: the wheel's file", "as in: xpusetup wheel check WHEEL"),
        ("emit shell", "emit needs -o DIR", "emit shell -o DIR\n        Replace DIR before you run it."),
        ("stauts sim", "there is no command 'stauts'; did you mean status?", "status sim"),
        ("wheel chek x", "there is no command 'wheel chek'; did you mean wheel check?", "wheel check x"),
        ("demo", "there is no command 'demo'; did you mean build sim?", "build sim"),
        ("setup --paste x", "setup has no --paste: doctor does that", "doctor --paste x"),
        ("zzz", "there is no command 'zzz'", "--help"),
        ("wheel fit a.whl", "there is no command 'wheel fit'; did you mean wheel fits?", "wheel fits a.whl"),
        ("fit a.whl", "there is no command 'fit'; did you mean fits?", "wheel fits a.whl"),
        ("clean sim", "there is no command 'clean'; did you mean remove?", "remove sim"),
        ("version", "there is no command 'version'; did you mean --version?", "--version"),
        ("build sim --yes", "build has no --yes: it asks nothing", "build sim"),
        ("list --root a", "list has no --root: status does that", "status --root a"),
        ("list --cache --root a", "list has no --root: status does that", "status --root a"),
        ("setup --apply -o d --paste x -v", "setup has no --paste: doctor does that", "doctor --paste x -v"),
        ("build --bundle x.tar --dry-run", "build has no --dry-run: plan does that", "plan"),
        ("ls --root=a", "list has no --root: status does that", "status --root=a"),
        ("build -y sim --bundle x.tar", "build has no -y: it asks nothing", "build sim --bundle x.tar"),
        ("build 2.14 -j 4 --dry-run --bundle=x.tar", "build has no --dry-run: plan does that", "plan 2.14"),
        (
            "build --dry-run -j8 --only torch -p sim",
            "build has no --dry-run: plan does that",
            "plan --only torch -p sim",
        ),
        ("plan --jsn sim", "plan has no --jsn; did you mean --json?", "plan --json sim"),
    ],
)
def test_what_is_told(words: str, message: str, fix: str, program: Program) -> None:
    ran = program(words)
    assert ran.code == 2
    if message:
        line = fix if fix.startswith("as in") else f"xpusetup {fix}"
        assert (ran.out, ran.err) == ("", f" ✗ {message}\n   fix  {line}\n")
    else:
        assert "-psim" in ran.document()["error"]["fix"]


@pytest.mark.parametrize(
    ("variable", "value", "words", "said"),
    [
        ("XPUSETUP_BUILD_JOBS", "x", "build", "XPUSETUP_BUILD_JOBS: 'x' is not a whole number"),
        ("XPUSETUP_QUIET", "maybe", "list", "XPUSETUP_QUIET: 'maybe' is neither 1 nor 0"),
        (
            "XPUSETUP_VERIFY_LEVEL",
            "x",
            "verify -p sim",
            "--level cannot be 'x' (--level is from XPUSETUP_VERIFY_LEVEL)",
        ),
        (
            "XPUSETUP_PLAN_PROFILE",
            "sin",
            "plan",
            "there is no profile 'sin'; did you mean sim? (--profile is from XPUSETUP_PLAN_PROFILE)",
        ),
        ("XPUSETUP_FITS_TORCH", "x y", "fits none.whl", ""),
    ],
)
def test_a_bad_value_names_its_variable(
    variable: str, value: str, words: str, said: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    ran = program(words)
    assert ran.code == 2
    assert said in ran.err


OLD_WORDS = {
    "test": "transfromers",
    "devices list": "-p sin",
    "devices check": "-p sin",
    "cache size": "",
    "cache prune": "",
    "verify-wheel": "none.whl",
    "fits": "none.whl",
    "sign": "none.whl --key none.pem",
    "rebuild": "--check -p zzzzzz",
}


@pytest.mark.parametrize("old", OLD)
def test_an_old_name_does_the_same_and_says_the_new_one(old: str, program: Program) -> None:
    new = f"{OLD[old]} {OLD_WORDS[old]}".replace("--check ", "")
    today, before = program(new), program(f"{old} {OLD_WORDS[old]}")
    line = f"xpusetup: {old} is called {OLD[old]} now; the old name goes with the next release\n"
    assert (before.code, before.out, before.err) == (today.code, today.out, line + today.err)
    assert program(f"{old} {OLD_WORDS[old]} --json") == program(f"{new} --json")
    assert line not in program(f"{old} {OLD_WORDS[old]} --quiet").err


def test_the_variables_of_an_old_name_work(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_VERIFY_WHEEL_PROFILE", "sin")
    assert (
        "no profile 'sin'" in program("verify-wheel none.whl").err or "none.whl" in program("verify-wheel none.whl").err
    )
    monkeypatch.setenv("XPUSETUP_TEST_SHARDS", "x")
    assert "XPUSETUP_TEST_SHARDS: 'x' is not a whole number" in program("test transformers").err
    monkeypatch.setenv("XPUSETUP_DOCKERFILE_FROM", "sources")
    assert "--from cannot be 'sources' (--from is from XPUSETUP_DOCKERFILE_FROM)" in program("dockerfile sim -o x").err
    assert "XPUSETUP_TEST_SHARDS" not in program("verify --suite transfromers").err


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("help", "xpusetup [OPTIONS] COMMAND [ARGS]..."),
        ("help build", "xpusetup build [OPTIONS] [PROFILE]"),
        ("help wheel fits", "xpusetup wheel fits [OPTIONS] WHEEL..."),
        ("help fits", "xpusetup wheel fits [OPTIONS] WHEEL..."),
        ("ls --help", "xpusetup list [OPTIONS]"),
        ("uninstall --help", "xpusetup remove [OPTIONS] [BUILD]"),
        ("update --help", "xpusetup self [OPTIONS]"),
        ("dockerfile --help", "xpusetup emit [OPTIONS] FORM [PROFILE]..."),
    ],
)
def test_help_and_aliases(words: str, usage: str, program: Program) -> None:
    ran = program(words)
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"Usage: {usage}")


def test_the_help_shows_ten_commands_and_with_all_every_one(program: Program) -> None:
    short, whole = program("--help").out, program("--help --all").out
    assert program("--all").out == whole == program("help --all").out
    rows = {name: re.search(rf"(?m)^  {name}  ", whole) for name in COMMANDS}
    assert [name for name, found in rows.items() if found is None] == []
    assert len(re.findall(r"(?m)^  [a-z]+  ", short.partition("Commands:")[2])) == len(FIRST) == 10
    assert f"{len(COMMANDS) - 10} more commands: xpusetup --help --all" in short
    assert [heading for heading in MORE if f"\n{heading}:\n" not in whole] == []


def test_no_other_word_is_a_command() -> None:
    root = typer.main.get_command(app)
    assert {*root.commands, *ALIASES, "help"} == {*VERBS}  # type: ignore[attr-defined]
    assert {name.partition(" --")[0] for name in (*OLD.values(), *ALIASES.values())} <= {*COMMANDS, "emit dockerfile"}


def test_what_is_common_is_an_option(program: Program) -> None:
    root: Any = typer.main.get_command(app)
    for name in COMMANDS:
        command = root.find(name)
        options = {option for each in command.params for option in each.opts}
        assert command.common <= options, name
        told = program(f"{name} --help").out
        assert told.index("Options:") < (told.index("Advanced:") if "Advanced:" in told else len(told))


@pytest.mark.parametrize(("words", "plan"), [("", "--profile sim --rev simxpu=main"), ("sim ", "sim")])
def test_a_plan_of_a_bundle_is_of_its_profile(words: str, plan: str, program: Program, tmp_path: Path) -> None:
    """The fix was `plan --bundle x.tar`, and plan has no --bundle."""
    sim = to_table(shipped("sim"))
    told = {
        "schema": 1,
        "created_by": "0.1.0",
        "profile": sim,
        "base": sim,
        "file": "profile/sim.toml",
        "parts": [],
        "pins": [],
        "python": "3.11.7",
        "machine": "x86_64",
        "repositories": [],
        "revs": {"simxpu": "main"},
    }
    member = tmp_path / "sim.toml"
    member.write_text("x")
    files = {"profile/sim.toml": member}
    bundle = read_as(Bundle, {**told, "members": hash_members(files)})
    write_bundle(tmp_path / "x.tar", render_bundle(bundle), files)
    ran = program(f"build {words}--bundle x.tar --dry-run")
    assert ran.err == f" ✗ build has no --dry-run: plan does that\n   fix  xpusetup plan {plan}\n"
