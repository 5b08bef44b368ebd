"""The search for a commit: real git and real builds of a project of one file, a third of whose commits do not build."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import replace
from math import ceil, log2
from typing import TYPE_CHECKING

import psutil
import pytest

from e2e.support import CHECKOUT, SETUP, SOURCE, command, make_tiny, wait_until, xpusetup
from standins.repository import run_git, write_text
from standins.upstreams import TORCH, TORCH_XPU_OPS
from standins.wheels import pack_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.support import Tiny
    from standins.eras import Eras

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("tiny")]
COMMITS = 16
CULPRIT = 11
BROKEN = {2, 5, 7, 8, 14}
TEST = "import tiny; raise SystemExit(tiny.__doc__ == 'bad')"


def git(tiny: Tiny, *words: str) -> str:
    done = subprocess.run(
        ("git", *words), cwd=tiny.repository, env=tiny.env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    made = make_tiny(tmp_path_factory.mktemp("bisect"), setup_py=SETUP, tiny_c=SOURCE)
    text = made.profile.read_text().replace('environment.TINY_VERSION = "1.0"', 'version_variable = "TINY_VERSION"')
    made.profile.write_text(text)
    return made


def write_history(tiny: Tiny, culprit: int, broken: set[int]) -> list[str]:
    """Commit as often; give the commits."""
    revs = []
    for number in range(COMMITS):
        state = "bad" if number >= culprit else "good"
        text = SOURCE.replace("__FILE__", f'"{state}"')
        (tiny.repository / "tiny.c").write_text(f"// {number}\n{text}{'#error broken' if number in broken else ''}\n")
        git(tiny, "-c", "user.name=Me", "-c", "user.email=me@x.invalid", "commit", "-qam", f"commit {number}")
        revs.append(git(tiny, "rev-parse", "HEAD"))
    return revs


def bisect(tiny: Tiny, root: Path, revs: list[str], *words: str) -> tuple[str, ...]:
    ends = ("--good", revs[0], "--bad", revs[-1], "--component", "tiny")
    return ("bisect", *tiny.options(root), *ends, *words)


@pytest.mark.long
def test_the_culprit_is_found_among_commits_that_do_not_build(tiny: Tiny, tmp_path: Path) -> None:
    revs = write_history(tiny, CULPRIT, BROKEN)
    words = bisect(tiny, tmp_path / "root", revs, "--json", "--", "python", "-c", TEST)
    found = xpusetup(*words, env=tiny.env).result
    assert (found["culprit"]["rev"], found["culprit"]["subject"]) == (revs[CULPRIT], f"commit {CULPRIT}")
    assert found["culprit"]["author"] == "Me"
    assert found["builds"] <= ceil(log2(COMMITS)) + found["skipped"]
    assert {trial["verdict"] for trial in found["trials"]} <= {"good", "bad", "skip"}
    again = xpusetup(*words, env=tiny.env)  # what was tried is kept
    assert (again.result["culprit"], again.result["trials"]) == (found["culprit"], found["trials"])
    assert "tried" not in re.sub("what was tried", "", again.err)
    assert (tmp_path / f"root/logs/bisect.{revs[CULPRIT][:9]}.log").exists() or revs[CULPRIT] not in {
        trial["rev"] for trial in found["trials"]
    }


def write_nightlies(tiny: Tiny, folder: Path, revs: list[str], numbers: tuple[int, ...], absent: int) -> str:
    """Make an index with a nightly wheel of some commits, each made from a commit of a branch of its own.

    One of them requires what is nowhere. Gives the address of the index.
    """
    links = []
    for number in numbers:
        subject = f"2026-05-{number + 1:02} nightly release ({revs[number]})"
        words = ("commit-tree", "-p", revs[number], "-m", subject, f"{revs[number]}^{{tree}}")
        rev = git(tiny, "-c", "user.name=Me", "-c", "user.email=me@x.invalid", *words)
        files = {
            "tiny/__init__.py": f'"""{"bad" if number >= CULPRIT else "good"}"""\n'.encode(),
            "tiny/version.py": f"__version__ = '1.0'\ngit_version: str = '{rev}'\n".encode(),
        }
        version, requires = f"1.0.dev202605{number + 1:02}", ("no-such-thing==1",) if number == absent else ()
        links.append(pack_wheel(folder, "tiny", version, files, requires).name)
    page = "".join(f'<a href="../../{name}">{name}</a>\n' for name in links)
    write_text(folder / "simple/tiny/index.html", f"<!DOCTYPE html><html><body>\n{page}</body></html>\n")
    return f"file://{folder}/simple"


@pytest.mark.long
def test_nightly_wheels_come_before_builds(tiny: Tiny, tmp_path: Path) -> None:
    revs = write_history(tiny, CULPRIT, BROKEN)
    index = write_nightlies(tiny, tmp_path / "nightlies", revs, (0, 3, 6, 9, 10, 12, 15), absent=9)
    ends = ("--good", "2026-05-01", "--bad", "1.0.dev20260516", "--component", "tiny", "--nightlies", index)
    words = ("bisect", *tiny.options(tmp_path / "root"), *ends, "--json", "--", "python", "-c", TEST)
    found = xpusetup(*words, env=tiny.env).result
    assert found["culprit"]["rev"] == revs[CULPRIT]
    wheels = found["nightlies"]
    assert (wheels["good"], wheels["bad"]) == ("1.0.dev20260511", "1.0.dev20260513")
    assert (found["good"], found["bad"]) == (revs[10], revs[12])
    assert found["builds"] == 1  # what is between the two
    tried = {trial["rev"][-2:]: trial["verdict"] for trial in wheels["trials"]}
    assert tried.items() >= {"01": "good", "16": "bad", "11": "good", "13": "bad"}.items()
    assert len(tried) <= 2 + ceil(log2(6)) + ("10" in tried)
    again = xpusetup(*words, env=tiny.env).result  # what was tried is kept
    assert (again["nightlies"], again["trials"]) == (wheels, found["trials"])


@pytest.mark.long
def test_where_no_build_can_tell(tiny: Tiny, tmp_path: Path) -> None:
    revs = write_history(tiny, 8, {6, 7, 8})
    said = xpusetup(*bisect(tiny, tmp_path / "root", revs, "--", "python", "-c", TEST), env=tiny.env)
    assert said.code == 1
    assert "one of these commits of tiny" in said.out
    assert [f"commit {number}" in said.out for number in (5, 6, 7, 8, 9, 10)] == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--good", "HEAD_", "--bad", "FIRST", "--", "true"), 2, "swap them: --good "),
        (("--good", "HEAD_", "--bad", "HEAD_", "--", "true"), 2, "are one commit of tiny"),
        (("--good", "2026-05-09", "--bad", "2026-05-01", "--", "true"), 2, "swap them: --good 2026-05-01"),
        (("--good", "FIRST", "--bad", "HEAD_"), 2, "bisect needs a command"),
        (("--good", "nosuch", "--bad", "HEAD_", "--", "true"), 2, "has no tag or branch 'nosuch'"),
        pytest.param(
            ("--good", "FIRST", "--bad", "HEAD_", "--", "no-such-command"),
            1,
            "ended with 127: that is no verdict",
            marks=pytest.mark.long,
        ),
        (("--good", "FIRST", "--bad", "HEAD_", "--component", "torch", "--", "true"), 2, "--component tiny"),
        (("--good", "2026-05-01", "--bad", "HEAD_", "--", "true"), 2, "is a nightly and"),
        (("--good", "2026-05-01", "--bad", "2026-05-09", "--", "true"), 2, "names no index of nightly wheels"),
    ],
)
def test_refused(tiny: Tiny, tmp_path: Path, words: tuple[str, ...], code: int, text: str) -> None:
    revs = write_history(tiny, CULPRIT, set())
    names = {"HEAD_": revs[-1], "FIRST": revs[-4]}
    asked = ["--component", "tiny", *(names.get(word, word) for word in words)]
    said = xpusetup("bisect", *tiny.options(tmp_path / "root"), *asked, env=tiny.env)
    assert (said.code, text in said.err) == (code, True), said.err


@pytest.mark.long
def test_a_tree_that_was_changed_is_no_verdict_and_a_search_between_others_goes_on(tiny: Tiny, tmp_path: Path) -> None:
    revs, root = write_history(tiny, CULPRIT, set()), tmp_path / "root"
    assert xpusetup("build", *tiny.options(root), "--verify", "off", env=tiny.env).code == 0
    text = (root / "src/tiny/tiny.c").read_text()
    (root / "src/tiny/tiny.c").write_text(f"{text}// mine\n")
    test = ("--", "python", "-c", TEST)
    said = xpusetup(*bisect(tiny, root, revs, *test), env=tiny.env)
    assert (said.code, "tiny.fetch failed, which is no verdict on" in said.err) == (1, True), said.err
    assert not (root / "results/bisect.json").exists()
    (root / "src/tiny/tiny.c").write_text(text)
    found = xpusetup(*bisect(tiny, root, revs, "--json", *test), env=tiny.env).result
    assert xpusetup(*bisect(tiny, root, revs, "--", "no-such-command"), env=tiny.env).code == 1  # mistyped
    nearer = ("--good", revs[CULPRIT - 1], "--bad", revs[-2], "--component", "tiny", "--json", *test)
    again = xpusetup("bisect", *tiny.options(root), *nearer, env=tiny.env).result
    assert (again["culprit"], again["trials"]) == (found["culprit"], found["trials"])


@pytest.mark.parametrize(
    ("tried", "text"),
    [
        ("true", "works with {bad} of tiny"),
        pytest.param("./plain", "fails with {good} of tiny", marks=pytest.mark.long),
    ],
)
def test_a_command_that_tells_no_commits_apart_names_none(tiny: Tiny, tmp_path: Path, tried: str, text: str) -> None:
    """Each end of a search is tried before the commit beside it is named. One without `#!` is run as by a shell."""
    revs = write_history(tiny, CULPRIT, set())
    (tmp_path / "plain").write_text("exit 1\n")
    (tmp_path / "plain").chmod(0o755)
    ends = ("--good", revs[1], "--bad", revs[3], "--component", "tiny")
    words = ("bisect", *tiny.options(tmp_path / "root"), *ends, "--", tried)
    said = xpusetup(*words, env={**tiny.env, "PYTHONPATH": str(CHECKOUT)}, cwd=tmp_path)
    wanted = f"the command {text.format(good=revs[1][:9], bad=revs[3][:9])}"
    assert (said.code, wanted in said.err, "the first bad commit" in said.out) == (2, True, False), said.err


def lives(mark: str) -> bool:
    return any(mark in (each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"]))


@pytest.mark.parametrize("how", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL])
def test_what_a_search_tried_ends_with_it_or_with_the_next(tiny: Tiny, tmp_path: Path, how: signal.Signals) -> None:
    revs, mark = write_history(tiny, CULPRIT, set()), f"60.0{how}{os.getpid()}"
    ends = ("--good", revs[1], "--bad", revs[3], "--component", "tiny")
    words = (
        "bisect",
        *tiny.options(tmp_path / "root"),
        *ends,
        "--",
        "sh",
        "-c",
        f"sleep {mark} & sleep {mark}; exit 1",
    )
    with (tmp_path / "said").open("wb") as said:
        running = subprocess.Popen(command(*words), env=tiny.env, stdout=said, stderr=subprocess.STDOUT)
        wait_until(lambda: lives(mark))
        running.send_signal(how)
        running.wait()
    if how == signal.SIGKILL:
        again = xpusetup(*words[:-1], "exit 200", env=tiny.env)
        assert "ending the command of a search that was killed" in again.out
    wait_until(lambda: not lives(mark), seconds=5)


CPP = '\nextern "C" const char *state_of_kernel() {{ return "{0}"; }}\n'
GREP = 'grep -q kernel_is_good "$VIRTUAL_ENV"/lib/python*/site-packages/torch/lib/libtorch_xpu.so'


@pytest.mark.long
@pytest.mark.xdist_group("eras-2.14")
def test_behind_a_moved_pin_the_search_goes_on_inside(eras: Eras, tmp_path: Path) -> None:
    """Torch moves torch-xpu-ops by six commits at once; the fourth of them broke it, and the second does not build."""
    old = eras.stand("torch-2.14")
    repos = {url: shutil.copytree(path, tmp_path / path.name) for url, path in old.upstreams.repos.items()}
    stand = replace(old, upstreams=replace(old.upstreams, base=tmp_path, repos=repos))
    ops = write_commits(repos[TORCH_XPU_OPS], "main", [_kernel(number) for number in range(7)])
    pins = [ops[0], ops[0], ops[0], ops[6], ops[6], ops[6]]
    torch = write_commits(
        repos[TORCH], "main", [{"third_party/xpu.txt": f"{pin}\n", "N": f"{n}"} for n, pin in enumerate(pins)]
    )
    words = ("--good", torch[0], "--bad", torch[-1], "--root", tmp_path / "root", "--json", "--", "sh", "-c", GREP)
    done = stand.call("bisect", *words)
    found = json.loads(done.stdout)["result"]
    assert found["culprit"]["rev"] == torch[3], done.stderr
    assert (found["inside"]["component"], found["inside"]["good"], found["inside"]["bad"]) == (
        "torch-xpu-ops",
        ops[0],
        ops[6],
    )
    assert found["inside"]["culprit"]["rev"] == ops[4]


def _kernel(number: int) -> dict[str, str]:
    text = CPP.format("kernel_is_good" if number < 4 else "kernel_is_bad")
    return {"src/xpu.cpp.more": text if number != 2 else "#error broken\n"}


def write_commits(bare: Path, branch: str, contents: list[dict[str, str]]) -> list[str]:
    """Put a commit on a branch for each set of files; a file whose name ends in .more is added to the one before."""
    tree = bare.with_suffix(".work")
    run_git(bare.parent, "clone", "--quiet", "--no-local", "--branch", branch, str(bare), str(tree))
    before = {name: (tree / name.removesuffix(".more")).read_text() for name in contents[0] if name.endswith(".more")}
    revs = []
    for number, files in enumerate(contents):
        for name, text in files.items():
            write_text(tree / name.removesuffix(".more"), before.get(name, "") + text)
        run_git(tree, "add", "--all")
        run_git(tree, "commit", "--quiet", "--allow-empty", "--message", f"{bare.stem} {number}")
        revs.append(run_git(tree, "rev-parse", "HEAD"))
    run_git(tree, "push", "--quiet", "origin", branch)
    return revs
