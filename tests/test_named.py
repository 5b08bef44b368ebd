"""A profile or a build named by an argument: what it stands for, and where an option says otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.cli.named import Words, place_named
from xpusetup.run.named import Named

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from in_process import Program
    from xpusetup.run.workspace import Where


@pytest.fixture(autouse=True)
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two builds are here: that of a profile, and one of another name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XPUSETUP_ROOT", str(tmp_path / "builds"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("sim", "dev"):
        (tmp_path / "builds" / name).mkdir(parents=True)
        lock = {"schema": 1, "named": "sim", "profile": {"name": "sim"}}
        (tmp_path / "builds" / name / "profile.lock.json").write_text(json.dumps(lock))


@pytest.mark.parametrize(
    ("word", "build", "given", "meant"),
    [
        ("2.14", False, {}, {"profile": "torch-2.14"}),
        ("torch-2.14", False, {"profile": "torch-2.14"}, {"profile": "torch-2.14"}),
        ("stack-cpu", False, {}, {"profile": "stack-cpu"}),
        ("./mine.toml", False, {}, {"profile": "./mine.toml"}),
        ("sim", False, {"name": "dev"}, {"profile": "sim"}),
        ("sim", False, {"root": "x"}, {"profile": "sim"}),
        ("dev", False, {}, {"name": "dev"}),
        ("sim", True, {}, {"name": "sim"}),
        ("dev", True, {"name": "dev"}, {"name": "dev"}),
        ("dev", True, {"profile": "sim"}, {"name": "dev"}),
        ("2.14", True, {}, {"profile": "torch-2.14"}),
    ],
)
def test_what_a_word_stands_for(word: str, build: bool, given: dict[str, str], meant: dict[str, str]) -> None:
    assert Named(word=word, build=build, **given).place() == meant


@pytest.mark.parametrize(
    ("word", "build", "given", "message"),
    [
        ("2.14", False, {"profile": "torch-2.13"}, "two profiles are named: 2.14, and --profile torch-2.13"),
        ("dev", False, {"name": "sim"}, "two builds are named: dev, and --name sim"),
        ("dev", False, {"root": "x"}, "two builds are named: dev, and --root x"),
        ("dev", True, {"name": "sim"}, "two builds are named: dev, and --name sim"),
        ("sim", True, {"root": "x"}, "two builds are named: sim, and --root x"),
        ("sim", True, {"profile": "torch-2.14"}, "two builds are named: sim, and --profile torch-2.14"),
        ("2.14", True, {"name": "dev"}, "two builds are named: 2.14, and --name dev"),
        ("deb", True, {}, "there is no build 'deb'; did you mean dev?"),
        ("simm", True, {}, "there is no build 'simm'; did you mean sim?"),
        ("x9", True, {}, "there is no build 'x9'"),
        ("torch-2.41", False, {}, "there is no profile 'torch-2.41'; did you mean torch-2.14?"),
        ("2.16", False, {}, "there is no profile '2.16'; did you mean torch-2.14?"),
    ],
)
def test_what_says_otherwise(word: str, build: bool, given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        Named(word=word, build=build, **given).place()
    assert raised.value.message == message
    assert raised.value.fix


def test_an_argument_is_stronger_than_a_variable() -> None:
    given: dict[str, Any] = {"named": "2.14", "profile": "sim", "name": "dev"}
    how = Words(takes="PROFILE", variables={"--profile": "XPUSETUP_BUILD_PROFILE", "--name": "XPUSETUP_BUILD_NAME"})
    assert place_named(given, how) == {"profile": "torch-2.14", "name": ""}
    with pytest.raises(UsageError, match="two profiles are named"):
        place_named(given, Words(takes="PROFILE"))


def test_several_profiles_make_a_matrix() -> None:
    given: dict[str, Any] = {"named": ["2.14", "sim"], "profile": ["2.13"]}
    assert place_named(given, Words(takes="PROFILE"))["profile"] == ["torch-2.14", "sim", "torch-2.13"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("build 2.14 -p torch-2.13", "two profiles are named: 2.14, and --profile torch-2.13"),
        ("status dev --name sim", "two builds are named: dev, and --name sim"),
        ("plan 2.99", "there is no profile '2.99'"),
        ("remove nosuch", "there is no build 'nosuch'"),
        ("uninstall nosuch", "there is no build 'nosuch'"),
        ("profiles show 2.99", "there is no profile '2.99'"),
        ("run nosuch -- python", "there is no build 'nosuch'"),
        ("run git log -- f", "'log' stands before the --; put -- before the whole command"),
        ("run sim", "run needs a command"),
        ("run sim --json", "--json stands where the command begins; put -- before the command"),
        ("bisect v2.13.0 main -p main", "-p stands where the command begins; put -- before the command"),
        ("bisect v2.13.0 -- true", "bisect needs a commit that works and one that fails"),
    ],
)
def test_what_is_refused(words: str, said: str, program: Program) -> None:
    ran = program(words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0].startswith(f" ✗ {said}")


@pytest.mark.parametrize("words", ["2.14", "-p 2.14", "--profile=2.14", "torch-2.14"])
def test_each_way_to_name_a_profile_means_the_same(words: str, program: Program) -> None:
    error = program(f"status --json {words}").document()["error"]
    assert error["message"].endswith("/builds/torch-2.14")
    assert error["fix"] == "xpusetup install torch-2.14"


@pytest.mark.parametrize(
    ("words", "argv"),
    [
        ("run sim -- python -c x", ["python", "-c", "x"]),
        ("run -- python x.py --json", ["python", "x.py", "--json"]),
        ("run sim python x.py", ["python", "x.py"]),
        ("run python x.py", ["python", "x.py"]),
        ("run --name dev python --quiet", ["python", "--quiet"]),
    ],
)
def test_whose_words_are_whose(words: str, argv: list[str], program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []

    def run(where: Where, command: list[str]) -> None:
        ran.append((where.name, [*command]))
        raise SystemExit

    monkeypatch.setattr("xpusetup.commands.run.run", run)
    program(words)
    named = "dev" if "dev" in words else "sim" if "sim" in words else ""
    assert ran == [(named, argv)]


@pytest.mark.parametrize("verb", ["build", "plan", "status", "verify"])
def test_a_mistyped_name_of_a_build_begins_no_other_build(verb: str, program: Program) -> None:
    ran = program(f"{verb} --name=dve")
    assert ran.code == 2
    assert "there is no build 'dve'; did you mean dev?" in ran.err
    assert f"xpusetup {verb} --name dev" in ran.err
    assert "a new build names its profile, as in: xpusetup build PROFILE --name dve" in ran.err


def test_a_name_like_none_that_is_here_begins_no_build_either(program: Program) -> None:
    ran = program("build --name=nosuch")
    assert ran.code == 2
    assert "there is no build 'nosuch'; here are " in ran.err
    assert "a new build names its profile, as in: xpusetup build PROFILE --name nosuch" in ran.err
