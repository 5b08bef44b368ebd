"""What can happen to a build: it is killed, interrupted, started twice, damaged afterwards; nothing is lost."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from e2e.support import Tiny, by_name, command, make_tiny, unpack, wait_until, xpusetup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("tiny")]
STEPS = ["venv", "requirements", "tiny.fetch", "tiny.build", "tiny.inspect", "tiny.install", "guard"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Make a project that builds in a second."""
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def built(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build its root once."""
    root = tmp_path_factory.mktemp("root") / "tiny"
    result = xpusetup("build", *tiny.options(root), "--verify", "off", "--json", env=tiny.env).result
    assert result["ran"] == STEPS
    assert result["verified"] is None
    return root


def start(tiny: Tiny, root: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start a build that sleeps in its build step, and give the process."""
    words = command("build", *tiny.options(root), "--verify", "off", *more)
    return subprocess.Popen(words, env=tiny.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def log_has(root: Path, step: str, text: str) -> Callable[[], bool]:
    """Say whether a step's log holds a text yet."""
    log = root / "logs" / f"{step}.log"
    return lambda: log.exists() and text in log.read_text(errors="replace")


def alive(root: Path) -> list[str]:
    """List the processes that work below a root."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = " ".join(process.info["cmdline"] or [])
        if f"{root}/" in words and process.info["status"] != psutil.STATUS_ZOMBIE and "pytest" not in words:
            found.append(words)
    return found


def test_second_build_runs_nothing(tiny: Tiny, built: Path) -> None:
    before = (built / "manifest.json").read_bytes()
    result = xpusetup("build", *tiny.options(built), "--verify", "off", "--json", env=tiny.env).result
    assert (result["ran"], result["skipped"]) == ([], STEPS)
    assert (built / "manifest.json").read_bytes() == before


def test_a_step_that_runs_alone_leaves_those_after_it_to_come(tiny: Tiny, built: Path) -> None:
    """They were done with what the step made before."""
    words = ("build", *tiny.options(built), "--verify", "off", "--json")
    result = xpusetup(*words, "--set", "tiny.TINY_ROUND=7", "--until", "tiny.build", env=tiny.env).result
    assert (result["ran"], result["verified"]) == (["tiny.build"], None)
    assert "tiny.install" in result["left"]
    assert "tiny.install" in xpusetup("status", *tiny.options(built), "--json", env=tiny.env).result["left"]
    assert "tiny.install" in xpusetup(*words, env=tiny.env).result["ran"]
    assert xpusetup("status", *tiny.options(built), "--json", env=tiny.env).result["left"] == []


@pytest.mark.parametrize("verb", ["build", "plan"])
def test_what_is_done_is_told_without_what_only_reads_new_files(tiny: Tiny, built: Path, verb: str) -> None:
    argv = command(verb, *tiny.options(built), "--verify", "off")
    env = {**tiny.env, "PYTHONPROFILEIMPORTTIME": "1"}
    subprocess.run(argv, env=env, check=True, capture_output=True)  # the first may have to read them
    told = subprocess.run(argv, env=env, check=True, capture_output=True, text=True).stderr
    assert "xpusetup.config.profile" in told
    assert "pydantic" not in told


def test_a_plan_estimates_from_the_build_beside_it(tiny: Tiny, built: Path) -> None:
    def estimate(root: Path, *more: str) -> dict[str, Any]:
        result = xpusetup("plan", *tiny.options(root), "--verify", "off", "--json", *more, env=tiny.env).result
        found: dict[str, Any] = result["estimate"]
        return found

    beside, own = estimate(built.parent / "new"), estimate(built)
    assert (beside["unknown"], beside["bytes"]) == ([], None)
    assert beside["seconds"] > 0
    assert beside["disk"] > 1 << 20
    assert (own["seconds"], own["bytes"], own["disk"]) == (0, 0, beside["disk"])
    assert estimate(built.parent / "new", "--verify", "auto")["unknown"] == ["verify.smoke"]


def _sha(root: Path) -> str:
    wheels = json.loads((root / "manifest.json").read_text())["wheels"]
    found: str = wheels[0]["sha256"]
    return found


@pytest.mark.parametrize("killed", [by_name({"python"}), {"python", "bash"}])
def test_what_outlived_a_build_is_waited_for(tiny: Tiny, built: Path, tmp_path: Path, killed: set[str]) -> None:
    """Kill the program alone: its step goes on to its stamp. Kill the step's shells too: what compiles goes on alone.

    A second run waits for both instead of compiling beside them.
    """
    mark, hold = (tmp_path / f"{name}-{len(killed)}" for name in ("mark", "hold"))  # other names are another build
    hold.touch()
    slow = ("--set", f"tiny.TINY_HOLD={hold}", "--set", f"tiny.TINY_MARK={mark}")
    first = start(tiny, built, *slow)
    wait_until(mark.exists)
    shells = [each for each in psutil.Process(first.pid).children(recursive=True) if each.name() in killed - {"python"}]
    for each in (psutil.Process(first.pid), *shells):
        each.kill()
    first.wait()
    with (tmp_path / "said").open("w+") as said:
        words = command("build", *tiny.options(built), "--verify", "off", *slow, "--json")
        second = subprocess.Popen(words, env=tiny.env, stdout=subprocess.PIPE, stderr=said)
        wait_until(lambda: "outlived" in (tmp_path / "said").read_text())
        hold.unlink()
        result = json.loads(second.communicate()[0])["result"]
    times = 1 if killed == {"python"} else 2
    assert mark.read_text() == "building\n" * times
    assert "tiny.build" in result["skipped" if times == 1 else "ran"]
    assert (built / "lock").read_text().strip() == ""


@pytest.mark.long
@pytest.mark.parametrize("time_of", [1e9, 4e9])
def test_times_of_files_mean_nothing(tiny: Tiny, built: Path, time_of: float) -> None:
    """As after a clock that was set back, or forth: what is the same by its hash is not made again."""
    words = ("build", *tiny.options(built), "--verify", "off", "--json")
    before = xpusetup(*words, env=tiny.env).result["wheels"]
    for path in [path for path in built.rglob("*") if not path.is_symlink()]:
        os.utime(path, (time_of, time_of))
    again = xpusetup(*words, env=tiny.env).result
    assert (again["ran"], again["wheels"]) == ([], before)
    changed = xpusetup(*words, "--set", f"tiny.TINY_ROUND={time_of:.0f}", env=tiny.env).result
    assert "tiny.build" in changed["ran"]
    assert [wheel["sha256"] for wheel in changed["wheels"]] == [wheel["sha256"] for wheel in before]


def test_two_builds_at_once(tiny: Tiny, built: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    slow = ("--set", "tiny.TINY_SLEEP=5", "--set", f"tiny.TINY_MARK={mark}")
    process = start(tiny, built, *slow)
    wait_until(mark.exists)
    said = xpusetup("build", *tiny.options(built), "--verify", "off", *slow, "--json", env=tiny.env)
    assert said.code == 3
    assert said.document["error"]["message"] == f"another xpusetup (process {process.pid}) is at work in {built}"
    fix = str(said.document["error"]["fix"])
    assert fix.startswith("watch it: xpusetup status ")
    assert fix.endswith(" --log tiny.build -f\nor make another one beside it: --name NAME")
    assert process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted(tiny: Tiny, built: Path, tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C ends the whole tree at once, and the next run goes on."""
    mark = tmp_path / "mark"
    slow = ("--set", "tiny.TINY_SLEEP=60", "--set", f"tiny.TINY_MARK={mark}")
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # by nohup, say: what is ignored is handed on
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    process = start(tiny, built, *slow)
    wait_until(mark.exists)
    began = time.monotonic()
    os.kill(process.pid, number)
    assert process.wait() == 130
    assert time.monotonic() - began < 30  # the step would sleep a minute
    assert alive(built) == []
    assert "interrupted in tiny.build: " in xpusetup("status", *tiny.options(built), env=tiny.env).out


@pytest.mark.parametrize("damage", [by_name("missing"), "changed"])
def test_damaged_wheel(tiny: Tiny, built: Path, damage: str) -> None:
    """A wheel that went away or was changed is noticed, said, and made again with the same bytes."""
    xpusetup("build", *tiny.options(built), "--verify", "off", env=tiny.env)
    sha = _sha(built)
    wheel = next((built / "wheels").glob("tiny-*.whl"))
    if damage == "missing":
        wheel.unlink()
    else:
        wheel.write_bytes(wheel.read_bytes() + b"more")
    said = xpusetup("status", *tiny.options(built), env=tiny.env)
    assert said.code == 1
    assert ("is missing" if damage == "missing" else "was changed after it was made") in said.out
    result = xpusetup("build", *tiny.options(built), "--verify", "off", "--json", env=tiny.env).result
    assert "tiny.build" in result["ran"]
    assert "requirements" in result["skipped"]
    assert result["wheels"][0]["sha256"] == sha


def test_failed_step(tiny: Tiny, built: Path) -> None:
    """A failed step ends with its last lines, the first error line, and the command that repeats it."""
    said = xpusetup(
        "build", *tiny.options(built), "--verify", "off", "--set", "tiny.TINY_FAIL=out of ideas", env=tiny.env
    )
    assert said.code == 1
    assert "tiny.build failed" in said.out
    assert "tiny.c:1:1: error: out of ideas" in said.out
    again = f"bash {built}/steps/tiny.build.sh"
    assert again in said.out
    by_hand = subprocess.run(again.split(), check=False, capture_output=True, text=True, env=tiny.env)
    assert by_hand.returncode == 1
    assert "out of ideas" in by_hand.stderr + by_hand.stdout


def test_script_and_program_agree_on_keys(tiny: Tiny, built: Path) -> None:
    """What the program finds done, the scripts find done: both compute one key."""
    xpusetup("build", *tiny.options(built), "--verify", "off", env=tiny.env)
    for step in STEPS:
        done = subprocess.run(
            ("bash", str(built / f"steps/{step}.sh")), check=True, capture_output=True, text=True, env=tiny.env
        )
        assert done.stdout == f"{step} is done\n"


def test_plan_says_which_input_changed(tiny: Tiny, built: Path) -> None:
    """Against what the scripts themselves kept: a variable that was set, a compiler that is another one."""
    xpusetup("build", *tiny.options(built), "--verify", "off", env=tiny.env)

    def why(*more: str, **variables: str) -> dict[str, object]:
        words = (*tiny.options(built), "--verify", "off", *more, "--explain", "--json")
        steps = xpusetup("plan", *words, env={**tiny.env, **variables}).result["steps"]
        return {step["id"]: step["changed"] or step["why"] for step in steps if step["state"] == "stale"}

    assert why() == {}
    follow = {"tiny.inspect": "after tiny.build", "tiny.install": "after tiny.inspect", "guard": "after tiny.install"}
    assert why("--set", "tiny.TINY_SLEEP=0") == {"tiny.build": ["env TINY_SLEEP unset → 0"], **follow}
    fake = built.parent / "bin"
    fake.mkdir()
    (fake / "g++").write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "g++ (later) 99.1.0" && exit\nexec /usr/bin/g++ "$@"\n'
    )
    (fake / "g++").chmod(0o755)
    changed = why(PATH=f"{fake}:{tiny.env['PATH']}")
    assert str(changed["tiny.build"]).endswith(f"→ {fake}/g++ g++ (later) 99.1.0']"), changed


def test_patterns_of_variables_are_not_files(tiny: Tiny, tmp_path: Path) -> None:
    """A file that is called like a pattern, in the folder a step is started from, keeps no variable out."""
    (tmp_path / "GIT_CONFIG_note").touch()
    emitted = xpusetup("emit", "shell", "--profile", str(tiny.profile), "-o", str(tmp_path / "out"), env=tiny.env)
    assert emitted.code == 0, emitted.err
    words = ("bash", str(unpack(tmp_path / "out") / "steps/tiny.fetch.sh"))
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=tiny.env, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_later_commands_find_a_prefix_of_its_own(tiny: Tiny, tmp_path: Path) -> None:
    """Where a build put its environment is read from its root: run, env and status need not be told again."""
    prefix, scratch = tmp_path / "prefix", tmp_path / "scratch"
    root = tiny.options(tmp_path / "root")
    folders = ("--prefix", str(prefix), "--build-dir", str(scratch))
    xpusetup("build", *root, *folders, "--verify", "off", env=tiny.env)
    said = xpusetup("run", *root, "--", "python", "-c", "import tiny; print(tiny.__file__)", env=tiny.env)
    assert said.out.startswith(f"{prefix}/lib/")
    assert xpusetup("env", *root, "--json", env=tiny.env).result["set"]["VIRTUAL_ENV"] == str(prefix)
    assert xpusetup("status", *root, "--json", env=tiny.env).result["sources"]["tiny"]["rev"] == tiny.rev
    assert not (tmp_path / "root/venv").exists()


def flip(path: Path) -> None:
    """Change one bit of a file, and set its times back; its size is as it was."""
    seen = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    with path.open("r+b") as stream:
        stream.write(data)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def test_one_bit_of_a_wheel_with_its_times_set_back(tiny: Tiny, built: Path) -> None:
    xpusetup("build", *tiny.options(built), "--verify", "off", env=tiny.env)
    sha = _sha(built)
    flip(next((built / "wheels").glob("tiny-*.whl")))
    said = xpusetup("status", *tiny.options(built), "--json", env=tiny.env)
    assert said.code == 1
    assert "was changed after it was made" in said.document["result"]["damaged"]["tiny.build"]
    by_hand = subprocess.run(
        ("bash", str(built / "steps/tiny.build.sh")), env=tiny.env, capture_output=True, check=True
    )
    assert b"is done" not in by_hand.stdout
    assert xpusetup("status", *tiny.options(built), env=tiny.env).code == 0
    assert _sha(built) == sha


def test_an_installed_file_that_was_changed(tiny: Tiny, built: Path) -> None:
    """A look at lists does not see it, and says that it did not look; `--check` does, and its fix mends it."""
    xpusetup("build", *tiny.options(built), "--verify", "off", env=tiny.env)
    library = next((built / "venv/lib").rglob("tiny*.so"))
    flip(library)
    quick = xpusetup("status", *tiny.options(built), "--json", env=tiny.env).result
    assert (quick["checked"], quick["damaged"]) == (False, {})
    said = xpusetup("status", *tiny.options(built), "--check", "--json", env=tiny.env)
    assert said.code == 1
    result = said.document["result"]
    assert result["checked"] is True
    assert result["damaged"] == {"tiny.install": f"{library} was changed after it was installed"}
    assert xpusetup(*shlex.split(result["fix"])[1:], env=tiny.env).code == 0
    assert xpusetup("status", *tiny.options(built), "--check", "--json", env=tiny.env).result["damaged"] == {}


def test_what_was_merely_touched_is_hashed_once(tiny: Tiny, built: Path) -> None:
    """As after a copy, or chmod: the kernel's own times differ, the hash decides, and the stamp learns of them."""
    words = ("build", *tiny.options(built), "--verify", "off", "--json")
    xpusetup(*words, env=tiny.env)
    wheel = next((built / "wheels").glob("tiny-*.whl"))
    wheel.chmod(0o600)
    wheel.chmod(0o644)
    assert xpusetup(*words, env=tiny.env).result["ran"] == []
    stamped = next(line for line in (built / "stamps/tiny.build").read_text().splitlines() if line.endswith(".whl"))
    assert int(stamped.split(" ")[4]) == wheel.stat().st_ino
    seconds, rest = divmod(wheel.stat().st_ctime_ns, 10**9)
    assert stamped.split(" ")[3] == f"{seconds}.{rest:09d}"
    by_hand = subprocess.run(
        ("bash", str(built / "steps/tiny.build.sh")), env=tiny.env, capture_output=True, check=True
    )
    assert b"is done" in by_hand.stdout
