"""Every command's JSON has the one envelope, in success and in error, with the exit codes of the contract."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.core
import typer.main

from data.machines import LAPTOP, WORKSTATION
from data.profiles import small_text
from xpusetup.cli import app

if TYPE_CHECKING:
    from in_process import Program

BAD = Path(__file__).parent / "data/bad.toml"
FINDING = {"id", "area", "level", "title", "seen", "why", "fix", "source", "caused_by"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(small_text())
    (tmp_path / "strange.toml").write_text(small_text(('accelerator = "cpu"', 'accelerator = "gpu"')))
    (tmp_path / "workstation.json").write_text(json.dumps(WORKSTATION))
    (tmp_path / "laptop.json").write_text(json.dumps(LAPTOP))
    (tmp_path / "laptop").touch()
    (tmp_path / "small.whl").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "later.json").write_text(json.dumps({**LAPTOP, "schema": 2}))
    (tmp_path / "cut.json").write_text(json.dumps(LAPTOP)[:100])


@pytest.mark.parametrize(
    ("words", "command", "code", "keys"),
    [
        ("profiles list", "profiles list", 0, {"profiles"}),
        ("profiles show sim", "profiles show", 0, {"schema", "name", "summary", "components"}),
        ("profiles check torch-2.5", "profiles check", 0, {"profile", "components"}),
        ("profiles check small.toml", "profiles check", 0, {"profile", "components"}),
        ("profiles trust small.toml", "profiles trust", 0, {"files", "record"}),
        ("doctor --list", "doctor", 0, {"checks"}),
        ("verify --suite list", "verify --suite", 0, {"list", "published"}),
        (
            "doctor -p torch-2.14 --facts workstation.json",
            "doctor",
            0,
            {"findings", "root_causes", "way", "can_build", "can_run"},
        ),
        ("doctor -p torch-2.5 --facts laptop.json", "doctor", 1, {"findings", "root_causes", "way", "can_build"}),
        ("doctor -p sim --facts laptop.json --for build", "doctor", 0, {"findings", "can_build", "can_run"}),
        ("doctor -p sim --facts laptop.json --only git.present", "doctor", 0, {"findings"}),
    ],
)
def test_results(words: str, command: str, code: int, keys: set[str], program: Program) -> None:
    ran = program(f"{words} --json")
    document = ran.document()
    assert (ran.code, document["command"]) == (code, command)
    assert keys <= set(document["result"])
    for finding in document["result"].get("findings", []):
        assert set(finding) == FINDING


@pytest.mark.parametrize(
    ("words", "code", "message", "fix"),
    [
        (
            "profiles show sin",
            2,
            "there is no profile 'sin'; did you mean sim?",
            "xpusetup profiles show sim",
        ),
        ("verify --suite transfromers", 2, "there is no suite 'transfromers'; did you mean transformers?", "known: "),
        ("emit docker -p sim -o made", 2, "there is no form 'docker'; did you mean dockerfile?", "there is: shell"),
        ("profiles check none.toml", 2, "there is no profile file none.toml that can be read", ""),
        ("profiles check strange.toml", 2, "nothing is known of an accelerator 'gpu'", "known: "),
        (f"profiles check {BAD}", 2, f"{BAD}:8: python: must be", "correct the file, then: "),
        ("build -p sin", 2, "there is no profile 'sin'", "xpusetup build -p sim"),
        ("install torch==2.13", 2, "there is no profile 'torch==2.13'", "xpusetup install torch-2.13"),
        ("install B580", 2, "there is no profile 'B580'", "leave it out, and the release is chosen that fits"),
        ("build sim --name a$b", 2, "the folder ", "choose a plainer one: --name a-b"),
        ("doctor --only network", 2, "there is no check 'network'", "that is an area, of net."),
        ("doctor --paste nothere", 2, "cannot read nothere", "name a file with what was posted, or - for stdin"),
        ("install --into /usr/bin/python3", 2, "/usr/bin/python3 is the Python of the system", "name an environment"),
        ("build -p sim --verify maybe", 2, "--verify cannot be 'maybe'", "use one of: auto, require, off"),
        ("build -p sim --set torch", 2, "--set 'torch' is not COMPONENT.KEY=VALUE", "as in: "),
        ("build -p sim --name a/b", 2, "--name 'a/b' is not a folder name", "use --root DIR"),
        ("build -p sim --root a$b", 2, "the folder ", "choose a plainer one"),
        ("build --bundle none.tar", 2, "cannot read ", "check its name"),
        ("build --bundle small.toml -p sim", 2, "small.toml is no bundle of xpusetup", "copy it again"),
        ("bundle verify none.tar", 2, "cannot read ", "check its name"),
        ("bundle verify small.toml", 2, "small.toml is no bundle of xpusetup", "copy it again"),
        ("bundle create . -p sim", 2, ". is a folder", "name a file: /"),
        ("bundle create small.toml -p sim", 2, "small.toml is there, and is no bundle", "name another file"),
        (
            "bundle create root/packing/x.tar -p sim --root root",
            2,
            "root/packing/x.tar lies where",
            "write it elsewhere",
        ),
        ("bundle create x.tar -p sim --installer", 2, "sim is built without a toolkit", "leave --installer out"),
        ("bundle create x.tar -p torch-2.5 --installer", 2, "no offline installer of oneAPI 2024.1 is known", "leave"),
        (
            "bundle create x.tar -p torch-2.13 --toolkit dpclang --installer",
            2,
            "no offline installer of the open DPC++ 6.2 is known for torch-2.13",
            "leave --installer out, and carry its packages over yourself: ",
        ),
        ("bundle create x.tar -p torch-2.13 --toolkit nvcc", 2, "torch-2.13 has no toolkit 'nvcc'", "it has: oneapi, "),
        (
            "bundle create x.tar -p torch-2.13 --toolkit dpclang --from wheels",
            2,
            "published wheels are installed whole, as they are",
            "leave --rev, --take, --toolkit and --only out",
        ),
        ("bundle create small.toml/x.tar -p sim", 3, "cannot write ", "choose another place, or move it away: mv "),
        ("bundle verify small.toml/x", 2, "cannot read small.toml/x", "check its name"),
        ("bundle verify /dev/zero", 2, "/dev/zero is no file but a pipe or a device", "save it as a file"),
        ("build --bundle /dev/zero", 2, "/dev/zero is no file but a pipe or a device", "save it as a file"),
        ("emit shell --out a$b -p sim", 2, "the folder ", "choose a plainer one: --out DIR"),
        ("emit slurm --out a$b -p sim", 2, "the folder ", "choose a plainer one: --out DIR"),
        ("emit shell -p sim --out=", 2, "emit needs -o DIR", "xpusetup emit shell -p sim --out= -o DIR"),
        ("build -p sim --prefix a$b", 2, "the folder ", "choose a plainer one: --prefix DIR"),
        ("plan -p sin", 2, "there is no profile 'sin'", ""),
        ("plan -p sim --verify maybe", 2, "--verify cannot be 'maybe'", ""),
        ("emit dockerfil --out x", 2, "there is no form 'dockerfil'", "there is: "),
        ("emit shell --out x -p sin", 2, "there is no profile 'sin'", ""),
        ("status -p sim", 3, "nothing is built in ", "xpusetup build sim"),
        ("verify -p sim", 3, "nothing is built in ", "xpusetup build sim"),
        ("env -p sim", 3, "nothing is built in ", "xpusetup build sim"),
        ("run -p sim", 2, "run needs a command", "xpusetup run sim -- "),
        ("run -p sim python", 3, "nothing is built in ", "xpusetup build sim"),
        ("doctor -p sim --for fun --facts laptop.json", 2, "--for cannot be 'fun'", "use one of: build, run"),
        ("doctor -p sim --only a.b", 2, "there is no check 'a.b'", "xpusetup doctor sim --list"),
        ("doctor -p sim --skip a.b", 2, "there is no check 'a.b'", "xpusetup doctor sim --list"),
        ("doctor -p sim --facts none.json", 2, "there is no file none.json that can be read", ""),
        ("doctor -p sim --facts later.json", 2, "later.json: schema: Input should be 1", ""),
        ("doctor -p sim --facts cut.json", 2, "cut.json: (file): Invalid JSON", ""),
        ("profiles show laptop", 2, "there is no profile 'laptop'; a file is named by its path", "--profile ./laptop"),
        ("verify -p sim --level hard", 2, "--level cannot be 'hard'", "use one of: quick, smoke, full"),
        ("verify -p sim --junit folder", 3, "cannot write folder: Is a directory", "name a file, not a folder"),
        ("verify -p sim --save laptop.json/x", 3, "cannot write laptop.json/x: ", "choose another place"),
        ("verify -p sim --save /proc/x/y", 3, "cannot write /proc/x/y: ", "choose another place: --save FILE"),
        ("bundle create /proc/x.tar -p sim", 3, "cannot write /proc/x.tar: ", "choose another place: FILE"),
        ("wheel sign laptop.json --key no.pem", 2, "laptop.json is no wheel", "name a file that ends with .whl"),
        ("wheel sign folder --key no.pem", 2, "folder is a folder, and no wheel", "name a file that ends with .whl"),
        (
            "wheel sign small.whl --key laptop.json",
            2,
            "there is no small.whl.provenance.json, which says what it was built from",
            "take wheel and statement from where both were built (wheels/ of the root)",
        ),
        ("wheel fits folder --torch 2.13.0", 2, "folder is a folder, and no wheel", "name a file that ends with .whl"),
        ("wheel sign small.whl --key no.pem", 2, "there is no file no.pem", "check its name: ls ."),
        ("wheel check laptop.json", 2, "laptop.json is no wheel", "name a file that ends with .whl"),
        ("wheel check none.whl", 2, "there is no wheel 'none.whl'", "see what is there: ls ."),
        (
            "bundle create sim",
            2,
            "sim is a profile; name the bundle's file first",
            "xpusetup bundle create sim.tar sim",
        ),
    ],
)
def test_errors(words: str, code: int, message: str, fix: str, program: Program) -> None:
    ran = program(f"--json {words}")
    document = ran.document()
    error = document["error"]
    assert (ran.code, words.startswith(document["command"])) == (code, True)
    assert list(error) == ["message", "fix", "code", "next"]
    assert error["code"] == code
    assert error["message"].startswith(message)
    assert error["fix"].startswith(fix)
    assert error["fix"]


def test_errors_for_people(program: Program) -> None:
    ran = program("profiles show sin")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == " ✗ there is no profile 'sin'; did you mean sim?\n   fix  xpusetup profiles show sim\n"


def test_a_number_that_is_none(program: Program) -> None:
    ran = program("build --jobs abc")
    assert ran.code == 2
    assert "'abc' is not a whole number" in ran.err or "'abc' is not a valid integer" in ran.err  # Typer before 0.29


def test_an_empty_log_is_called_empty(tmp_path: Path, program: Program) -> None:
    (tmp_path / "empty.log").touch()
    assert "not known: the log is empty" in program("explain empty.log").out


def test_bad_settings_stop_every_command(tmp_path: Path, program: Program) -> None:
    (tmp_path / "xpusetup.toml").write_text("jobs = 'many'\n")
    for words in ("build -p sim", "plan -p sim", "status -p sim", "doctor -p sim --facts laptop.json"):
        ran = program(f"{words} --json")
        assert (ran.code, ran.document()["error"]["fix"]) == (2, "correct xpusetup.toml")


@pytest.mark.parametrize("words", ["build --nosuch", "emit", "profiles show", "nosuch", "build --jobs=-1", "plan -j x"])
def test_usage(words: str, program: Program) -> None:
    ran = program(words)
    assert ran.code == 2
    assert "Traceback" not in ran.err + ran.out


def test_a_variable_is_called_as_its_option(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_SETUP_FOR", "fun")
    assert "--for cannot be 'fun'" in program("setup").err
    assert "XPUSETUP_PROFILES_NEW_FROM for --from" in " ".join(program("profiles new --help").out.split())


@pytest.mark.parametrize("words", ["self", "wheel sign", "list", "profiles show", "explain"])
def test_help_names_no_variable_of_an_option_that_is_not_there(words: str, program: Program) -> None:
    assert "_PROFILE" not in program(f"{words} --help").out


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("run", "run [OPTIONS] [BUILD] -- COMMAND..."),
        ("bisect", "bisect [OPTIONS] [GOOD] [BAD] -- COMMAND..."),
        ("wheel fits", "wheel fits [OPTIONS] WHEEL..."),
        ("profiles new", "profiles new [OPTIONS] [NAME]"),
        ("emit", "emit [OPTIONS] FORM [PROFILE]..."),
    ],
)
def test_usage_as_people_write_it(words: str, usage: str, program: Program) -> None:
    assert program(f"{words} --help").out.splitlines()[0] == f"Usage: xpusetup {usage}"


@pytest.mark.parametrize("words", ["--json profiles list", "--json profiles list --json", "profiles list"])
def test_json_may_stand_before_the_command_or_in_a_variable(
    words: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--json" not in words:
        monkeypatch.setenv("XPUSETUP_JSON", "1")
    assert program(words).document()["command"] == "profiles list"
    assert program(f"{words} --nosuch").code == 2


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("torch-2.16", "torch-2.14"),
        ("torch-2.1", "torch-2.4"),
        ("torch-2.14.1", "torch-2.14"),
        ("gaudi-1.25", "gaudi-1.24.1"),
        ("gaudi-1.21.5", "gaudi-1.21"),
        ("troch-2.14", "torch-2.14"),
        ("sin", "sim"),
        ("torch-2.41", "torch-2.14"),
        ("TORCH-2.14", "torch-2.14"),
        ("torch-214", "torch-2.14"),
        ("v2.14", "torch-2.14"),
        ("torch-2.12-xpu", "torch-2.12"),
        ("torch", "torch-2.14"),
        ("pytorch", "torch-2.14"),
        ("gaudi", "gaudi-1.24.1"),
        ("xpu", "torch-2.14"),
        ("npu", "ascend-2.14"),
        ("comfyui", "stack-comfyui"),
    ],
)
def test_the_nearest_profile(name: str, meant: str, program: Program) -> None:
    assert program(f"profiles show {name}").err.splitlines()[0].endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("name", ["nosuch", "foo", "cuda", "stack-vllm", "stack-other", "latest", "x"])
def test_a_name_that_is_near_to_none(name: str, program: Program) -> None:
    assert program(f"profiles show {name}").err.splitlines()[0] == f" ✗ there is no profile '{name}'"


@pytest.mark.parametrize("words", ["--help", "build --help", "profiles --help", "doctor -h"])
def test_help(words: str, program: Program) -> None:
    ran = program(words)
    assert (ran.code, ran.err) == (0, "")
    assert "Usage: " in ran.out


MANY = "-p sim --only vision --only=audio --set a.B=1 --target all"


def test_what_is_a_word_already_is_taken_without_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typer makes a reader of pydantic for each option, given or not, and each costs a short command a while."""
    read: list[Any] = []
    module: Any = typer.core
    original = getattr(module, "build_runtime_param", None)  # Typer before 0.29 has none

    def count(descriptor: Any) -> Any:
        read.append(descriptor.annotation)
        return original(descriptor)  # type: ignore[misc]

    monkeypatch.setattr(module, "build_runtime_param", count, raising=False)
    monkeypatch.setenv("XPUSETUP_ONLY", "torch vision")
    build = typer.main.get_command(app).commands["build"]  # type: ignore[attr-defined]
    found = build.make_context("build", MANY.split()).params
    assert [*found["only"], *found["variables"], *found["rev"]] == ["vision", "audio", "a.B=1"]
    assert (found["target"], found["jobs"], found["json"]) == ("all", None, False)
    assert {*read} <= {bool}, "that of --help, which Typer adds by itself"
    found = build.make_context("build", ["--jobs", "3"], auto_envvar_prefix="XPUSETUP").params
    assert (found["jobs"], [*found["only"]]) == (3, ["torch", "vision"])


def test_a_dash_is_stdout_where_a_file_is_written(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the screen says of it stands beside it, on stderr."""
    monkeypatch.setattr("xpusetup.cli.finish.STDOUT", str(Path("stdout").absolute()))
    ran = program("setup -o - -p torch-2.14 --facts workstation.json")
    assert Path("stdout").read_text().startswith("#!")
    assert (ran.out, "as a script for root" in ran.err) == ("", True)
    assert not Path("-").exists()
    refused = program("setup -o - -p torch-2.14 --facts workstation.json --json").document()["error"]
    assert refused["message"] == "--json has stdout for its document"


def test_a_dash_is_no_folder(program: Program) -> None:
    ran = program("emit shell -p sim -o -")
    assert (ran.code, "'-' is no folder; one of that name is ./-" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("build --profil sim", "--profile"),
        ("plan --jsn", "--json"),
        ("doctor --facs x", "--facts"),
        ("--vrbose doctor", "--verbose"),
        ("plan --nosuch", ""),
        ("list --check", ""),
        ("build --for run", ""),
    ],
)
def test_the_option_that_is_near(words: str, near: str, program: Program) -> None:
    told = program(words).err.splitlines()
    assert told[0].partition("; did you mean ")[2] == (f"{near}?" if near else "")
    assert not near or near in told[-1]


def test_bad_usage_that_nobody_hears(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document cannot be written, as on a full disk: the code stays that of bad usage."""

    def refuse(_text: str) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout.write", refuse)
    monkeypatch.setattr("xpusetup.cli.finish.leave", lambda *_streams: None)
    assert program("plan --nosuch --json").code == 2


@pytest.mark.parametrize("words", ["plan -p sim", "doctor", "profiles new mine", "status -p sim"])
def test_a_folder_that_is_gone_is_told_as_that(words: str, program: Program, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    ran = program(words)
    os.chdir(tmp_path)
    assert (ran.code, ran.err.splitlines()[-2:]) == (
        3,
        [" ✗ the folder in which this was called is gone", "   fix  cd to one that is there, and again"],
    )


@pytest.mark.parametrize(
    "words", ["profiles show sim", "doctor --facts laptop.json", "status -p sim", "explain empty.log"]
)
def test_a_user_without_a_home(words: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a numeric user of a container: who asks where it is was ended by a traceback."""

    def unknown(_number: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    Path("empty.log").touch()
    assert program(words).code in {0, 1, 3}
    assert os.environ["HOME"] == "/"


@pytest.mark.parametrize(
    "words",
    [
        "plan -p sim --source simxpu=~nobody-here/x",
        "plan -p sim --patch simxpu=~nobody-here/x",
        "wheel fits ~nobody-here/x.whl",
        "profiles trust ~nobody-here/x",
        "verify -p sim --device ~nobody-here/x.toml",
    ],
)
def test_the_home_of_a_user_whom_nobody_knows(words: str, program: Program) -> None:
    ran = program(words)
    assert (ran.code, "~nobody-here/x" in ran.err) == (2, True)
