"""An environment that someone else made: what is planned for it, what it would change, and what is refused."""

from __future__ import annotations

import errno
import importlib
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from data.profiles import shipped
from data.targets import plan_for
from golden import hold_scripts
from test_standing import make_root
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Layout
from xpusetup.commands.run import run
from xpusetup.commands.verify import VerifyOptions, verify
from xpusetup.emit.script import render_scripts
from xpusetup.plan.environment import built_pins, find_changes
from xpusetup.run.workspace import Where, open_workspace, options_of
from xpusetup.system.environment import not_started

make_environment: Any = importlib.import_module("make_environment")
adopt_environment: Any = importlib.import_module("adopt_environment")

CONDA = Layout(venv="/opt/conda/envs/x", adopted=True)
LOOK: dict[str, Any] = {
    "prefix": "/opt/x",
    "version": "3.11.9",
    "kind": "venv",
    "refused": "",
    "fix": "",
    "pip": True,
    "headers": True,
    "installed": {"numpy": "2.1.0", "wheel": "0.48.0"},
    "notes": ["an old library"],
}


def test_golden_plan_into_an_environment() -> None:
    texts = render_scripts(plan_for("sim", layout=CONDA))
    kept = {name: texts[name] for name in ("steps/venv.sh", "steps/requirements.sh", "steps/torch.install.sh")}
    hold_scripts("sim-into", kept, render_scripts(plan_for("sim")))


def test_nothing_but_the_look_differs_in_kind() -> None:
    """What the steps do in it is what they do in an environment of their own."""
    here, there = plan_for("torch-2.14"), plan_for("torch-2.14", layout=CONDA)
    assert [step.id for step in here.steps] == [step.id for step in there.steps]
    assert not any("make_environment" in word for step in there.steps for argv in step.run for word in argv)
    build = next(step for step in there.steps if step.id == "torch.build")
    assert dict(build.env)["CMAKE_PREFIX_PATH"] == "/opt/conda/envs/x"


@pytest.mark.parametrize(
    ("installed", "version", "changes"),
    [
        ({}, "3.11", []),
        ({"numpy": "2.4.6", "torch": "2.13.0+cpu"}, "3.11", []),
        ({"numpy": "2.4.6"}, "3.10", ["numpy 2.4.6 -> 2.2.6"]),
        (
            {"numpy": "2.1.0", "torch": "2.9.0", "pandas": "2.3"},
            "3.12",
            ["numpy 2.1.0 -> 2.4.6", "torch 2.9.0 -> 2.13.0+cpu"],
        ),
        ({"typing-extensions": "4.0"}, "3.11", ["typing-extensions 4.0 -> 4.16.0"]),
    ],
)
def test_what_would_change(installed: dict[str, str], version: str, changes: list[str]) -> None:
    assert find_changes(built_pins(shipped("sim")), installed, version) == changes


def environment(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").touch()
    return folder


@pytest.mark.parametrize("named", ["env", "env/bin/python", "env/bin/python3"])
def test_named_by_folder_or_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.chdir(tmp_path)
    env = environment(tmp_path / "env")
    (env / "bin/python3").touch()
    workspace = open_workspace(Where(profile="sim", into=named))
    assert workspace.layout == Layout(venv=str(env), adopted=True)
    assert workspace.python == f"{env}/bin/python"
    assert workspace.options == f"--profile sim --into {named}"


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"into": "none"}, "{here}/none is no environment: there is no {here}/none/bin/python"),
        ({"into": "env", "prefix": "p"}, "--into and --prefix exclude each other"),
        ({"into": "env", "python": "3.11"}, "--into and --python exclude each other"),
    ],
)
def test_named_wrongly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: dict[str, Any], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    environment(tmp_path / "env")
    with pytest.raises(UsageError) as caught:
        open_workspace(Where(profile="sim", **where))
    assert caught.value.message == message.format(here=tmp_path)


def test_an_environment_rules_over_the_sites_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xpusetup.toml").write_text('prefix = "/opt/torch"\n')
    env = environment(tmp_path / "env")
    assert open_workspace(Where(profile="sim", into="env")).layout.venv == str(env)


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        (Layout(), "--profile sim"),
        (CONDA, "--profile sim --into /opt/conda/envs/x"),
        (Layout(venv="/opt/torch", src="/scratch/me"), "--profile sim --build-dir /scratch/me --prefix /opt/torch"),
    ],
)
def test_offered_commands_name_the_folders_of_the_root(layout: Layout, options: str) -> None:
    assert options_of(open_workspace(Where(profile="sim")), layout) == options


def test_kinds(tmp_path: Path) -> None:
    assert adopt_environment.kind_of(tmp_path, nested=False) == "interpreter"
    (tmp_path / "pyvenv.cfg").touch()
    assert adopt_environment.kind_of(tmp_path, nested=True) == "venv"
    (tmp_path / "pyvenv.cfg").unlink()
    (tmp_path / "conda-meta").mkdir()
    assert adopt_environment.kind_of(tmp_path, nested=False) == "conda"


def test_the_look_sees_this_environment() -> None:
    seen = adopt_environment.look()
    assert seen["prefix"] == sys.prefix
    assert seen["installed"]["pytest"] == pytest.__version__
    assert seen["pip"] in (True, False)


@pytest.mark.parametrize(
    ("prefix", "managed", "kind", "refused"),
    [
        ("/usr", False, "interpreter", "it is the system's own Python"),
        ("/opt/python", True, "interpreter", "it is the system's own Python"),
        ("/opt/python", True, "conda", "it is the system's own Python"),
        ("/opt/python", True, "venv", "it installs into"),
        ("/opt/python", False, "conda", "it installs into"),
    ],
)
def test_refused(monkeypatch: pytest.MonkeyPatch, prefix: str, managed: bool, kind: str, refused: str) -> None:
    monkeypatch.setattr(adopt_environment, "managed", lambda: managed)
    monkeypatch.setattr(sys, "prefix", prefix)
    reason, fix = adopt_environment.refuse(kind)
    assert reason.startswith(refused)
    assert "--into DIR" in fix


@pytest.mark.parametrize(
    ("theirs", "ours", "noted"), [(29, 32, True), (32, 32, False), (33, 32, False), (29, None, False)]
)
def test_an_old_cpp_library_is_noted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    theirs: int,
    ours: int | None,
    noted: bool,
) -> None:
    library = tmp_path / "lib/libstdc++.so.6"
    library.parent.mkdir()
    (tmp_path / f"lib/libstdc++.so.6.0.{theirs}").touch()
    library.symlink_to(f"libstdc++.so.6.0.{theirs}")
    of_compiler = tmp_path / f"libstdc++.so.6.0.{ours}"
    of_compiler.touch()
    monkeypatch.setattr(adopt_environment, "_of_compiler", lambda: of_compiler if ours else Path())
    assert bool(adopt_environment.old_libstdcxx(tmp_path)) == noted


@pytest.mark.parametrize(
    ("changes", "prefix", "python"),
    [
        ({"refused": "it is frozen"}, "/opt/x", "3.11"),
        ({}, "/opt/y", "3.11"),
        ({"version": "3.12.1"}, "/opt/x", "3.11"),
    ],
)
def test_the_step_ends_where_it_does_not_fit(changes: dict[str, Any], prefix: str, python: str) -> None:
    with pytest.raises(SystemExit) as caught:
        adopt_environment.must_fit({**LOOK, **changes}, Path(prefix), python)
    assert caught.value.code == 3


def test_what_the_step_says_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adopt_environment.must_fit(LOOK, Path("/opt/x"), "3.11")
    adopt_environment.tell(LOOK, ["numpy==2.4.6", "wheel==0.48.0", "build==1.6.1"])
    assert capsys.readouterr().out == (
        "venv /opt/x: Python 3.11.9, 2 distributions\nchanges numpy 2.1.0 -> 2.4.6\nnote: an old library\n"
    )
    adopt_environment.write(tmp_path / "results/environment.json", LOOK)
    document = json.loads((tmp_path / "results/environment.json").read_text())
    assert document == {"schema": 1, "prefix": "/opt/x", "kind": "venv", "python": "3.11"}


def test_pip_comes_from_the_wheel_that_python_brings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian keeps it elsewhere; where there is none, pip comes as venv itself gets it."""
    debians = tmp_path / "pip-23.0.1-py3-none-any.whl"
    debians.touch()
    monkeypatch.setattr(make_environment.sysconfig, "get_config_var", {"WHEEL_PKG_DIR": str(tmp_path)}.get)
    assert make_environment.bundled_pip() == debians
    debians.unlink()
    monkeypatch.setattr(make_environment, "find_spec", lambda _name: None)
    assert make_environment.bundled_pip() is None


def test_pip_is_unpacked_with_its_commands(tmp_path: Path) -> None:
    """RECORD has every file of it: a newer pip takes the old one away by that."""
    wheel = tmp_path / "pip-23.0.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pip/__init__.py", "")
        archive.writestr("pip-23.0.1.dist-info/RECORD", "pip/__init__.py,,\npip-23.0.1.dist-info/RECORD,,\n")
    prefix = tmp_path / "venv"
    (prefix / "bin").mkdir(parents=True)
    make_environment.unpack(wheel, prefix)
    (about,) = prefix.glob("lib/python3.*/site-packages/pip-23.0.1.dist-info")
    recorded = [line.partition(",")[0] for line in (about / "RECORD").read_text().splitlines()]
    there = {path.resolve() for path in prefix.rglob("*") if path.is_file()}
    assert {(about.parent / name).resolve() for name in recorded} == there
    assert (prefix / "bin/pip").read_text().startswith(f"#!{prefix}/bin/python\nimport sys\n")
    assert os.access(prefix / "bin/pip3", os.X_OK)


@pytest.mark.parametrize(
    ("word", "code", "message", "fix"),
    [
        ("./folder", errno.EACCES, "./folder is a folder, and no command", "name a program in it"),
        ("./plain", errno.EACCES, "./plain may not be executed", "chmod +x ./plain, or name its interpreter"),
        ("./plain", errno.ENOEXEC, "names no interpreter", "xpusetup run -- PROGRAM ./plain 'a b'"),
        ("./plain", errno.ENOENT, "the interpreter that the first line of ./plain names is not there", "-- PROGRAM"),
        ("plain", errno.ENOENT, "there is no command 'plain'", "./plain names the file that is here"),
        ("nosuch", errno.ENOENT, "there is no command 'nosuch'", "check the spelling"),
        ("./plain/x", errno.ENOTDIR, "there is no command './plain/x'", "check the spelling"),
        ("env", errno.E2BIG, "env: Argument list too long", "give fewer arguments"),
    ],
)
def test_why_a_command_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, code: int, message: str, fix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("echo hi\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").touch()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    told = not_started((word, "a b"), OSError(code, os.strerror(code)))
    assert told.code == (127 if "there is no command" in message else 126)
    assert message in told.message
    assert fix in told.fix


def test_a_command_without_a_name() -> None:
    with pytest.raises(UsageError, match="run needs a command"):
        run(Where(profile="sim"), [""])


def test_where_nothing_is_installed_yet_nothing_runs(tmp_path: Path) -> None:
    """An unfinished build ran `true` in an environment without a torch, and said nothing."""
    root = make_root(tmp_path / "sim", done=1)
    with pytest.raises(NotReadyError, match="nothing is installed yet") as caught:
        run(Where(root=str(root)), ["true"])
    assert "xpusetup build" in caught.value.fix
    with pytest.raises(NotReadyError, match="nothing is installed yet"):
        verify(Where(root=str(root)), VerifyOptions(), print)
