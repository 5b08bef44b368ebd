"""What the tests of fetching share: one stand-in, the tree that git itself makes of it, and what a fetch said."""

from __future__ import annotations

import subprocess

import pytest

from standins.superproject import HOST, Done, Size, Super, make_super, snapshot

STORE = ".cache/xpusetup/git"


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Super:
    """Make a super with three submodules and one below them, 300 files."""
    return make_super(tmp_path_factory.mktemp("upstream"), Size(modules=3, files=300))


@pytest.fixture(scope="session")
def wanted(upstream: Super, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Fetch as git itself does, and give what the tree holds."""
    folder = tmp_path_factory.mktemp("wanted")
    env = upstream.environment(folder / "home", f"file://{upstream.folder}/")
    for words in (
        ("clone", "--quiet", "--no-checkout", f"{HOST}super", "tree"),
        ("-C", "tree", "-c", "advice.detachedHead=false", "checkout", "--quiet", upstream.revs["super"]),
        ("-C", "tree", "submodule", "--quiet", "update", "--init", "--recursive"),
    ):
        subprocess.run(("git", *words), cwd=folder, env=env, check=True, capture_output=True)
    found = snapshot(folder / "tree")
    assert len(found) > 300
    return found


def notes(done: Done) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("note: ")]


def summary(done: Done) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]
