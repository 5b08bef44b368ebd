"""What a person can get wrong, and what a machine can lack: one clear paragraph, the right code, nothing lost."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.support import Tiny, caller, command, make_tiny, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("bad-input")]
BASICS = (
    *("bash", "env", "python3", "sed", "cut", "head", "tail", "sha256sum", "stat", "readlink", "mkdir", "mv", "rm"),
    *("flock", "dirname", "uname", "cat", "wc", "ls", "grep"),
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Make a project that builds in a second."""
    return make_tiny(tmp_path_factory.mktemp("bad"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("build", "--profile", "smi"), 2, "did you mean sim?"),
        (("build", "--profile", "no/such.toml"), 2, "there is no profile file no/such.toml"),
        (("build", "--profile", "sim", "--root", "a b"), 2, "compiler flags and PATH cannot carry"),
        (("build", "--profile", "sim", "--root", "x$(touch y)"), 2, "compiler flags and PATH cannot carry"),
        (("build", "--profile", "sim", "--name", "../up"), 2, "is not a folder name"),
        (("build", "--profile", "sim", "--root", "/proc/nothing"), 3, "/proc/nothing is on proc, which holds no files"),
        (("build", "--profile", "sim", "--until", "simxpu.biuld"), 2, "this profile has no step 'simxpu.biuld'"),
        (("build", "--profile", "sim", "--only", "vision"), 2, "this profile has no component 'vision'"),
        (("build", "--profile", "sim", "--set", "simxpu"), 2, "is not COMPONENT.KEY=VALUE"),
        (("build", "--profile", "sim", "--set", "torch.A=1"), 2, "this profile has no component"),
        (("build", "--profile", "sim", "--arch", "pvc"), 2, "has no list of device targets"),
        (("build", "--profile", "torch-2.14", "--arch", "xyz"), 2, "targets of torch-2.14: pvc, bmg, dg2, arl-h"),
        (("plan", "--profile", "torch-2.14", "--arch", "bgm"), 2, "did you mean bmg?"),
        (("build", "--profile", "torch-2.4", "--arch", "bmg"), 2, "targets of torch-2.4: pvc, xe-lpg"),
        (("dockerfile", "--profile", "torch-2.4", "--arch", "bmg", "-o", "out"), 2, "targets of torch-2.4: pvc"),
        (("emit", "slurm", "--profile", "torch-2.4", "--arch", "bmg", "-o", "out"), 2, "targets of torch-2.4: pvc"),
        (("build", "--profile", "sim", "--verify", "maybe"), 2, "--verify cannot be 'maybe'"),
        (("build", "--profile", "sim", "--python", "3.99"), 2, "and not 3.99"),
        (("build", "--profile", "torch-2.5"), 3, "intel-for-pytorch-gpu-dev-0.5 intel-pti-dev-0.9"),
        (("build", "--profile", "torch-2.14"), 3, "intel-deep-learning-essentials-2026.1"),
        (("verify", "--profile", "sim"), 3, "nothing is built in"),
        (("status", "--profile", "sim"), 3, "xpusetup build sim"),
        (("env", "--profile", "sim"), 3, "nothing is built in"),
        (("run", "--profile", "sim"), 2, "run needs a command"),
        (("emit", "tarball", "--profile", "sim", "-o", "out"), 2, "there is no form 'tarball'"),
        (("doctor", "--facts", "no.json"), 2, "there is no file no.json"),
        (("doctor", "--only", "hw.nope"), 2, "there is no check 'hw.nope'"),
    ],
)
def test_refused_with_the_fix(tmp_path: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    env = caller(tmp_path / "home", ONEAPI_ROOT=str(tmp_path / "no-oneapi"))
    said = xpusetup(*arguments, env=env, cwd=tmp_path)
    assert said.code == code, said.err
    assert words in said.err
    assert "fix  " in said.err
    assert not (tmp_path / "y").exists()


@pytest.mark.parametrize(("profile", "code"), [("smi", 2), ("torch-2.14", 3)])
def test_a_refusal_in_json(tmp_path: Path, profile: str, code: int) -> None:
    env = caller(tmp_path / "home", ONEAPI_ROOT=str(tmp_path / "no-oneapi"))
    document = xpusetup("build", "--profile", profile, "--json", env=env, cwd=tmp_path).document
    assert set(document["error"]) == {"message", "fix", "code", "next"}
    assert (document["ok"], document["error"]["code"]) == (False, code)


@pytest.mark.parametrize(
    "arguments",
    [
        ("build",),
        ("plan",),
        ("emit", "shell", "-o", "out"),
        ("emit", "apptainer", "-o", "out"),
        ("emit", "github", "--from", "source", "--label", "big", "-o", "out"),
    ],
)
def test_a_device_target_that_a_variable_says(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    env = caller(tmp_path / "home", **{f"XPUSETUP_{arguments[0].upper()}_ARCH": "bmg"})
    said = xpusetup(*arguments, "--profile", "torch-2.4", env=env, cwd=tmp_path)
    assert said.code == 2
    assert "targets of torch-2.4: pvc, xe-lpg" in said.err


@pytest.mark.parametrize(
    "arguments", [("build",), ("install",), ("doctor",), ("emit", "module", "-o", "out"), ("bundle", "create", "b.tar")]
)
@pytest.mark.parametrize("file", ["xpusetup.toml", "home/.config/xpusetup/site.toml"])
def test_a_device_target_that_a_settings_file_says(tmp_path: Path, arguments: tuple[str, ...], file: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text('arch = ["pvc", "xyz"]\n')
    env = caller(tmp_path / "home")
    said = xpusetup(*arguments, "--profile", "torch-2.14", env=env, cwd=tmp_path)
    assert said.code == 2, said.err
    assert "'xyz' is not a known device target" in said.err
    assert "targets of torch-2.14: pvc, bmg" in said.err


@pytest.mark.parametrize("missing", ["g++", "git"])
def test_missing_program(tiny: Tiny, tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in [*BASICS, *({"gcc", "g++", "git"} - {missing})]:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    env = {**tiny.env, "PATH": str(folder)}
    said = xpusetup("build", *tiny.options(tmp_path / "root"), env=env)
    assert said.code == 3
    assert f"no {missing} on PATH" in said.err
    assert not (tmp_path / "root").exists()


@pytest.mark.long
def test_moved_tag(tiny: Tiny, tmp_path: Path) -> None:
    """A confirmed tag that points elsewhere than its pin stops the fetch and names both commits."""
    upstream = tmp_path / "upstream"
    shutil.copytree(tiny.repository, upstream)
    git = ("git", "-C", str(upstream), "-c", "user.name=t", "-c", "user.email=t@t.invalid")
    subprocess.run((*git, "commit", "-q", "--allow-empty", "-m", "two"), check=True)
    subprocess.run((*git, "tag", "-f", "v1.0"), check=True, capture_output=True)
    now = subprocess.run((*git, "rev-parse", "HEAD"), check=True, capture_output=True, text=True).stdout.strip()
    env = {**tiny.env, "GIT_CONFIG_KEY_0": f"url.file://{upstream}.insteadOf"}
    said = xpusetup("build", *tiny.options(tmp_path / "root"), "--verify", "off", env=env)
    assert said.code == 1
    assert now in said.out
    assert tiny.rev in said.out
    assert "someone moved it" in said.out


def test_own_changes_are_never_touched(tiny: Tiny, tmp_path: Path) -> None:
    root = tmp_path / "root"
    xpusetup("build", *tiny.options(root), "--verify", "off", "--until", "tiny.fetch", env=tiny.env)
    source = root / "src/tiny/tiny.c"
    source.write_text("/* mine */" + source.read_text())
    (root / "stamps/tiny.fetch").unlink()
    said = xpusetup("build", *tiny.options(root), "--verify", "off", env=tiny.env)
    assert said.code == 1
    assert "holds changes of your own (tiny.c)" in " ".join(said.out.split())
    assert source.read_text().startswith("/* mine */")


@pytest.mark.long
def test_a_source_that_was_changed_is_told(tiny: Tiny, tmp_path: Path) -> None:
    """Only the build is done again, nothing is fetched: a wheel of other bytes must not pass for the pin's."""
    options = ("--profile", str(tiny.profile), "--root", str(tmp_path / "root"))
    assert "changes of your own" not in xpusetup("build", *options, "--verify", "off", env=tiny.env).out
    source = tmp_path / "root/src/tiny/tiny.c"
    text = source.read_text()
    source.write_text(f"{text}int added = 1;\n")
    (tmp_path / "root/stamps/tiny.build").unlink()
    said = xpusetup("build", *options, "--verify", "off", env=tiny.env)
    assert "tiny was built with changes of your own in its source: its wheel is not that of its pin" in said.out
    source.write_text(text)
    assert json.loads((tmp_path / "root/manifest.json").read_text())["edited"] == ["tiny"]
    assert "with changes of your own" in xpusetup("status", *options, env=tiny.env).out
    xpusetup("build", *options, "--verify", "off", "--set", "tiny.TINY_SLEEP=0", env=tiny.env)
    assert json.loads((tmp_path / "root/manifest.json").read_text())["edited"] == []


@pytest.mark.parametrize(("option", "step"), [("--prefix", "venv"), ("--build-dir", "tiny.fetch")])
def test_a_folder_with_something_else_in_it_survives(tiny: Tiny, tmp_path: Path, option: str, step: str) -> None:
    """A prefix or a build folder that was named by mistake is refused, not emptied."""
    precious = tmp_path / "mine/tiny/thesis.tex"
    precious.parent.mkdir(parents=True)
    precious.write_text("years of work")
    place = str(tmp_path / "mine")
    said = xpusetup("build", *tiny.options(tmp_path / "root"), "--verify", "off", option, place, env=tiny.env)
    assert said.code == 1
    assert f"{step} failed" in said.out
    assert precious.read_text() == "years of work"


def test_no_space(tiny: Tiny, tmp_path: Path) -> None:
    """A disk that fills up in the middle: said as such, and the next run goes on elsewhere or later."""
    inside = f'mount -t tmpfs -o size=6m none {tmp_path} && exec "$@"'
    words = command("build", *tiny.options(tmp_path / "root"), "--verify", "off")
    user = () if os.getuid() == 0 else ("-Ur",)
    done = subprocess.run(
        ("unshare", *user, "-m", "bash", "-c", inside, "bash", *words),
        check=False,
        capture_output=True,
        text=True,
        env=tiny.env,
    )
    assert done.returncode in (1, 3), done.stdout + done.stderr
    assert "No space left on device" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_odd_values_reach_the_build_unharmed(tiny: Tiny, tmp_path: Path) -> None:
    """Shell metacharacters in any value are text, in the scripts too."""
    odd = "a b'c\"d$(touch pwned)`e`;f&g|h\\i*?"
    said = xpusetup(
        "build", *tiny.options(tmp_path / "root"), "--verify", "off", "--set", f"tiny.TINY_FAIL={odd}", env=tiny.env
    )
    assert said.code == 1
    assert f"error: {odd}" in (tmp_path / "root/logs/tiny.build.log").read_text()
    assert not list((tmp_path / "root").rglob("pwned"))


def test_caller_does_not_leak_into_steps(tiny: Tiny, tmp_path: Path) -> None:
    """Neither CFLAGS that no compiler takes nor a PYTHONPATH that shadows setuptools reach a build; said once."""
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow/setuptools.py").write_text("raise SystemExit('leaked')")
    env = {**tiny.env, "CFLAGS": "--nonsense", "PYTHONPATH": str(tmp_path / "shadow"), "CC": "/bin/false"}
    said = xpusetup("build", *tiny.options(tmp_path / "root"), "--verify", "off", env=env)
    assert said.code == 0, said.out + said.err
    assert said.out.count("not passed on, because steps start clean: CC, CFLAGS, PYTHONPATH") == 1


def test_pip_settings_come_by_variables_alone(tiny: Tiny, tmp_path: Path) -> None:
    """A step that installs obeys PIP_* variables of its caller: an index that isn't there makes it fail."""
    env = {
        **tiny.env,
        "PIP_INDEX_URL": "https://index.invalid/simple",
        "PIP_RETRIES": "0",
        "PIP_CONFIG_FILE": os.devnull,
    }
    env = {name: value for name, value in env.items() if name not in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL")}
    said = xpusetup("build", *tiny.options(tmp_path / "root"), "--verify", "off", env={**env, "PIP_NO_CACHE_DIR": "1"})
    assert said.code == 1
    assert "requirements failed" in said.out


@pytest.mark.parametrize(
    "closed",
    [
        *(pytest.param(each, marks=pytest.mark.long) for each in ("<&- >&-", "2>&-", "| true")),
        "<&- >&- 2>&-",
        "2>&1 | true",
    ],
)
def test_nobody_is_told(closed: str, tiny: Tiny, tmp_path: Path) -> None:
    """Nothing fails where the caller closed a stream or reads none of it, and no file is taken for a closed stream."""
    root = tiny.options(tmp_path / "root")
    asked = [("build", *root, "--until", "venv"), ("plan", *root), ("plan", *root, "--json"), ("status", *root[2:])]
    asked += [("status", *root[2:], "--log", "venv")]
    for words in asked:
        line = f"set -o pipefail; {shlex.join(command(*words))} {closed}"
        done = subprocess.run(("bash", "-c", line), check=False, capture_output=True, text=True, env=tiny.env)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (words, done.stderr)
    assert (tmp_path / "root/stamps/venv").is_file()


PIP_SAYS = """[global]
TARGET = {0}/target
find-links =
  {1}
[install]
prefix: {0}/prefix
dry_run = yes
user = true
"""


@pytest.mark.parametrize("place", ["user", *(pytest.param(each, marks=pytest.mark.long) for each in ("named", "site"))])
def test_where_pip_installs_is_no_matter_of_settings_files(place: str, tiny: Tiny, tmp_path: Path) -> None:
    """What they say of where pip finds things holds; of what they say elsewhere nothing is written."""
    root, home, links = tmp_path / "root", tmp_path / "home", tiny.env.get("PIP_FIND_LINKS", "")
    assert xpusetup("build", *tiny.options(root), "--until", "venv", env=tiny.env).code == 0
    files = {"user": home / ".config/pip/pip.conf", "named": tmp_path / "x.conf", "site": root / "venv/pip.conf"}
    files[place].parent.mkdir(parents=True, exist_ok=True)
    files[place].write_text(PIP_SAYS.format(tmp_path, "\n  ".join(links.split())))
    env = {name: value for name, value in tiny.env.items() if name != "PIP_FIND_LINKS"} | {"HOME": str(home)}
    env |= {"PIP_CONFIG_FILE": str(files["named"])} if place == "named" else {}
    (tmp_path / "tmp").mkdir()
    env["TMPDIR"] = str(tmp_path / "tmp")
    said = xpusetup("build", *tiny.options(root), "--until", "requirements", env=env)
    assert said.code == 0, said.err
    subprocess.run((str(root / "venv/bin/python"), "-c", "import packaging"), check=True)
    log = (root / "logs/requirements.log").read_text()
    assert f"note: left out of the settings of pip, which installs into {root}/venv: TARGET = {tmp_path}/target" in log
    assert not [name for name in ("target", "prefix") if (tmp_path / name).exists()]
    assert not list((tmp_path / "tmp").glob("tmp.*"))


def test_where_pip_installs_is_no_matter_of_the_callers_settings(tiny: Tiny, tmp_path: Path) -> None:
    """A folder, a dry run or the user's own packages: pip ended well, and nothing was in the environment."""
    settings = {"PIP_TARGET": str(tmp_path / "target"), "PIP_DRY_RUN": "1", "PIP_USER": "1"}
    root = tmp_path / "root"
    said = xpusetup("build", *tiny.options(root), "--until", "requirements", env={**tiny.env, **settings})
    assert said.code == 0, said.err
    subprocess.run((str(root / "venv/bin/python"), "-c", "import packaging"), check=True)
    assert not (tmp_path / "target").exists()
    assert not list((root / "helpers").glob("**/__pycache__"))
