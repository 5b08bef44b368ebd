"""Images, built and run: the simulated accelerator verifies in one, and every form of a plan leaves the same."""

from __future__ import annotations

import hashlib
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from e2e.images import BASE, SYSTEM, emit_image, find_links, packages, runner_options
from e2e.support import CHECKOUT, caller, make_tiny, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.images import Engine
    from e2e.support import Said, Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("image")]
ROOT = "/opt/xpusetup"
PACKAGES = f"{ROOT}/venv/lib/python3.11/site-packages"
GONE = ("ninja", "build", "wheel", "pyelftools")
"""What building needed and nothing that runs does."""


@pytest.fixture(scope="module")
def sim(engine: Engine, system: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the image of the simulated accelerator."""
    folder = emit_image("sim", tmp_path_factory.mktemp("sim") / "out")
    text = (folder / "Dockerfile").read_text()
    assert f"ARG BASE={system}\n" in text
    bare = text.replace("FROM ${BASE} AS runtime", f"FROM {BASE} AS runtime")  # the other one has compilers already
    assert bare != text
    (folder / "Dockerfile").write_text(bare)
    engine.build(folder, "localhost/sim")
    return "localhost/sim"


@pytest.mark.long
def test_sim_is_built_and_verifies_inside(engine: Engine, sim: str) -> None:
    said = engine.run(sim, f"{ROOT}/entry.sh")
    assert re.search(r"^= \d+ checks \| simxpu", said.out, re.MULTILINE), said.out[-2000:]
    broken = engine.run(sim, "env", "SIMXPU_FAULT=wrong-numbers", f"{ROOT}/entry.sh", check=False)
    assert broken.code == 1
    assert "numbers.matmul" in broken.out


@pytest.mark.long
def test_what_is_in_it(engine: Engine, sim: str) -> None:
    """No root, nothing that compiles, nothing that only building needed, no setting of this place."""
    look = "id -u; command -v g++ git ccache; ls -d /etc/pip.conf /etc/gitconfig /run/secrets/* 2>/dev/null"
    said = engine.run(sim, "bash", "-c", f"{look}; touch {ROOT}/x", check=False)
    assert said.out == "1001\n"
    assert "Permission denied" in said.err
    names = {
        line.split("==")[0].lower()
        for line in engine.run(sim, "python", "-m", "pip", "freeze", "--all").out.splitlines()
    }
    assert {"torch", "simxpu", "numpy", "pip", "sympy"} <= {re.split(r"[ @=]", name)[0] for name in names}
    assert not names & set(GONE)
    whole, packages_alone = (int(engine.run(sim, "du", "-sxb", path).out.split()[0]) for path in (ROOT, PACKAGES))
    assert whole <= 1.05 * packages_alone
    inspected = engine("inspect", sim).out
    assert '"xpusetup.pins": "torch=2.13.0+cpu simxpu=' in inspected
    assert "pip.conf" not in engine("inspect", "--format", "{{.OCIv1.Config}}", sim).out


WHEEL = "tiny-1.0-cp311-cp311-linux_x86_64.whl"


@pytest.fixture(
    params=[
        pytest.param("", id="well", marks=pytest.mark.long),
        pytest.param("tiny.c:1:1: error: the disk is made of cheese", id="fails", marks=pytest.mark.long),
    ]
)
def tiny(request: pytest.FixtureRequest, engine: Engine, system: str, tmp_path: Path) -> tuple[Tiny, str]:
    """Give a project that builds in a second, or fails in that, where images find it too."""
    assert engine("images", "--quiet", system).out
    fault = request.param
    project = make_tiny(tmp_path, **({"setup_py": f"raise SystemExit({fault!r})\n"} if fault else {}))
    upstream = engine.place / "upstream/tiny"
    shutil.rmtree(upstream, ignore_errors=True)
    shutil.copytree(project.repository, upstream)
    return project, fault


def in_system(engine: Engine, folder: Path, *words: str) -> Said:
    """Run a command beside a folder in the system that images are built from, as their steps are."""
    settings = {"pip.conf": "/etc/pip.conf", "gitconfig": "/etc/gitconfig", "ca.crt": "/run/secrets/ca.crt"}
    files = [word for name, place in settings.items() for word in ("-v", f"{engine.place}/{name}:{place}:ro")]
    links = [word for path in find_links() for word in ("-v", f"{path}:{path}:ro")]
    upstream = ("-v", f"{engine.place}/upstream:/upstream:ro", "-v", f"{folder}:{folder}")
    return engine.run(SYSTEM, *words, options=(*files, *links, *upstream, *runner_options()), check=False)


def test_same_result(engine: Engine, tmp_path: Path, tiny: tuple[Tiny, str]) -> None:
    """Shell, image and runner, in one system: the same wheel, or the same words of the same step."""
    project, fault = tiny
    name = str(project.profile)
    image = engine.build(emit_image(name, tmp_path / "image"), "localhost/tiny", "--target", "built", check=False)
    shell = tmp_path / "shell"
    said = xpusetup(
        "emit", "shell", "--profile", name, "--verify", "off", "-o", str(shell), env=caller(tmp_path / "home")
    )
    assert said.code == 0, said.err
    by_hand = in_system(engine, tmp_path, "bash", f"{shell}/build.sh")
    words = ("--verify", "off", "--root", str(tmp_path / "root"))
    program = ("env", f"PYTHONPATH={CHECKOUT}:{packages()}", "HOME=/tmp", "python3.11", "-m", "xpusetup")
    runner = in_system(engine, tmp_path, *program, "build", "--profile", name, *words)
    outcomes = {"image": image, "shell": by_hand, "runner": runner}
    if fault:
        assert [said.code == 0 for said in outcomes.values()] == [False] * 3, outcomes
        assert [fault in said.out + said.err for said in outcomes.values()] == [True] * 3, outcomes
        assert ["tiny.build" in said.out + said.err for said in outcomes.values()] == [True] * 3
        return
    failed = [f"{form}: {(said.out + said.err)[-2000:]}" for form, said in outcomes.items() if said.code]
    assert not failed, "\n".join(failed)
    inside = engine.run("localhost/tiny", "sha256sum", f"{ROOT}/wheels/{WHEEL}").out.split()[0]
    outside = {hash_of(folder / "wheels" / WHEEL) for folder in (shell, tmp_path / "root")}
    assert outside == {inside}


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
