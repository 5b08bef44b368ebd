"""A real build is removed: not while it is at work, not without being asked, and never somebody's work in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from e2e.support import caller, command, kill_all, make_tiny, make_venv, wait_until, xpusetup

pytestmark = pytest.mark.e2e


def test_a_build_is_removed_when_nobody_needs_it(tmp_path: Path) -> None:
    tiny, root, hold = make_tiny(tmp_path), tmp_path / "root", tmp_path / "hold"
    hold.touch()
    at_work = subprocess.Popen(
        command("build", *tiny.options(root), "--set", f"tiny.TINY_HOLD={hold}"),
        env=tiny.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until((root / "logs/tiny.build.log").exists)
        refused = xpusetup("remove", "--root", str(root), "--yes", "--json", env=tiny.env)
        told = refused.document["error"]["message"]
        assert (refused.code, told) == (3, f"a build is at work in {root}; nothing was removed")
        assert (root / "profile.lock.json").exists()
    finally:
        kill_all(at_work)
    hold.unlink()
    assert xpusetup("build", *tiny.options(root), "--verify", "off", env=tiny.env).code == 0
    unasked = xpusetup("remove", "--root", str(root), env=tiny.env)
    assert (unasked.code, unasked.err.splitlines()[-1]) == (
        2,
        f"   fix  to remove it unasked: xpusetup remove --root {root} --yes",
    )
    (root / "src/tiny/tiny.c").write_text("/* mine */\n")
    # as in a hook of git, or where a home is kept in git: none of it is about the trees of a build
    other = {"GIT_DIR": str(tiny.repository / ".git"), "GIT_WORK_TREE": str(tiny.repository)}
    told = xpusetup("remove", "--root", str(root), "--yes", "--json", env={**tiny.env, **other}).result
    assert told["left"] == [{"path": str(root / "src/tiny"), "why": "tiny.c was changed there"}]
    assert [str(path.relative_to(root)) for path in (*root.iterdir(), *(root / "src").iterdir())] == ["src", "src/tiny"]


@pytest.mark.long
def test_what_a_build_writes_is_all_known(tmp_path: Path) -> None:
    """Of a build with patches, a report, a commit of somebody's own in a second one: the folder itself is gone."""
    tiny, root, patch = make_tiny(tmp_path), tmp_path / "root", tmp_path / "a.patch"
    old, new = (tmp_path / name for name in ("old.c", "new.c"))
    old.write_text((tiny.repository / "tiny.c").read_text())
    new.write_text(f"{old.read_text()}/* one more line */\n")
    told = subprocess.run(("diff", "-u", str(old), str(new)), capture_output=True, text=True, check=False).stdout
    patch.write_text(told.replace(str(old), "a/tiny.c").replace(str(new), "b/tiny.c"))
    built = xpusetup("build", *tiny.options(root), "--patch", f"tiny={patch}", "--verify", "off", env=tiny.env)
    assert built.code == 0, built.err + built.out
    for words in (("report",), ("status",), ("verify",)):
        xpusetup(*words, "--root", str(root), env=tiny.env)
    told_all = xpusetup("remove", "--root", str(root), "--yes", "--quiet", env=tiny.env)
    assert (told_all.code, told_all.err, told_all.out.count("\n")) == (0, "", 1), told_all
    assert not root.exists()


@pytest.mark.long
def test_somebodys_commit_stays_and_their_environment_too(tmp_path: Path) -> None:
    tiny, root, env = make_tiny(tmp_path), tmp_path / "root", tmp_path / "env"
    make_venv(env)
    built = xpusetup("build", *tiny.options(root), "--into", str(env), "--verify", "off", env=tiny.env)
    assert built.code == 0, built.err + built.out
    assert (env / "share/xpusetup").is_dir()
    git = ("git", "-C", str(root / "src/tiny"), "-c", "user.name=t", "-c", "user.email=t@t.invalid")
    subprocess.run((*git, "commit", "-q", "--allow-empty", "-m", "mine"), check=True, env=caller(tmp_path / "home"))
    told = xpusetup("remove", "--root", str(root), "--yes", "--json", env=tiny.env).result
    assert [(Path(row["path"]).name, row["why"].split(",")[0][:8]) for row in told["left"]] == [("tiny", "it is at")]
    assert (told["environment"], told["uninstall"]) == (str(env), f"{env}/bin/python -m pip uninstall tiny")
    assert not (env / "share/xpusetup").exists()
    assert not (env / "pip.conf").exists()
    subprocess.run((str(env / "bin/python"), "-c", "import tiny"), check=True)
