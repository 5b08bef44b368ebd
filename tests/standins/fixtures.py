"""What the tests of and with the stand-ins share: `pytest_plugins = ("standins.fixtures",)` brings it."""

import fcntl
import os
from pathlib import Path

import pytest

from standins.eras import Eras
from standins.oneapi import make_oneapi
from standins.upstreams import Upstreams, make_upstreams
from standins.workshop import Workshop, make_workshop, only_wheel, setup_py, torch_tree, unpack


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """One venv for all workers of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "workshop"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Workshop(folder / "venv", folder) if (folder / "venv/bin/ninja").exists() else make_workshop(folder)


@pytest.fixture(scope="session")
def oneapi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_oneapi(tmp_path_factory.mktemp("oneapi"))


@pytest.fixture(scope="session")
def old(tmp_path_factory: pytest.TempPathFactory) -> Upstreams:
    return make_upstreams(tmp_path_factory.mktemp("old"), release="2.5")


@pytest.fixture(scope="session")
def new(tmp_path_factory: pytest.TempPathFactory) -> Upstreams:
    return make_upstreams(tmp_path_factory.mktemp("new"), release="2.14")


@pytest.fixture(scope="session")
def old_site(shop: Workshop, old: Upstreams, oneapi: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Torch 2.5 built with the SYCL compiler, its wheel unpacked as a site folder."""
    tree = torch_tree(shop, old, tmp_path_factory.mktemp("torch-2.5") / "tree")
    requirements = "intel-sycl-rt==2025.3.1 | pytorch-triton-xpu==3.1.0"
    done = setup_py(shop, tree, "bdist_wheel", oneapi=oneapi, PYTORCH_EXTRA_INSTALL_REQUIREMENTS=requirements)
    assert done.returncode == 0, done.stdout
    assert shop.run("git", "status", "--porcelain", cwd=tree).stdout == ""
    return unpack(only_wheel(tree), tree.parent / "site")


@pytest.fixture(scope="session")
def eras(tmp_path_factory: pytest.TempPathFactory) -> Eras:
    """Both torch profiles, re-pinned; each is built when a test first asks for it."""
    return Eras(tmp_path_factory.mktemp("eras"))
