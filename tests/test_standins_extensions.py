"""The stand-ins that are built on torch, and the one beside it: vision, audio, Triton."""

from pathlib import Path

import pytest

from standins.oneapi import make_runtime_wheel
from standins.upstreams import AUDIO, TRITON, VISION, Upstreams
from standins.workshop import Done, Workshop, dynamic, fetch, only_wheel, refusal, unpack

pytest_plugins = ("standins.fixtures",)
pytestmark = [pytest.mark.e2e, pytest.mark.long]  # as test_standins.py


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the libsycl that a wheel of Intel's brings, without any oneAPI."""
    folder = tmp_path_factory.mktemp("runtime")
    unpack(make_runtime_wheel(folder), folder)
    return folder / "intel_sycl_rt-2025.3.1.data/data/lib"


def bdist_wheel(shop: Workshop, tree: Path, path: Path | str, runtime: Path | str = "", **env: str) -> Done:
    on_torch = {"PYTHONPATH": str(path), "LD_LIBRARY_PATH": str(runtime)}
    return shop.run(shop.python, "setup.py", "bdist_wheel", cwd=tree, env=on_torch | env)


@pytest.mark.parametrize(
    ("component", "url", "version"), [("torchvision", VISION, "0.20.1"), ("torchaudio", AUDIO, "2.5.1")]
)
def test_an_extension_is_built_on_the_installed_torch(  # noqa: PLR0913, PLR0917
    component: str,
    url: str,
    version: str,
    shop: Workshop,
    old: Upstreams,
    old_site: Path,
    runtime: Path,
    tmp_path: Path,
) -> None:
    tree = tmp_path / "tree"
    fetch(shop, old, component, url, tree)
    assert "No module named 'torch'" in refusal(bdist_wheel(shop, tree, ""))
    assert "libsycl.so.8" in refusal(bdist_wheel(shop, tree, old_site))
    env = {"BUILD_VERSION": f"{version}+xpu", "PYTORCH_VERSION": "2.5.1+xpu", "FORCE_CUDA": "0"}
    if component == "torchaudio":
        assert "BUILD_SOX=0 was not exported" in refusal(bdist_wheel(shop, tree, old_site, runtime, **env))
        env |= {"BUILD_SOX": "0", "USE_FFMPEG": "0"}
    done = bdist_wheel(shop, tree, old_site, runtime, **env)
    assert done.returncode == 0, done.stdout
    site = unpack(only_wheel(tree), tmp_path / "site")
    (library,) = site.glob(f"{component}/*.so")
    assert "[libc10.so]" in dynamic(library)
    code = f"import {component} as it; print(it.__version__, it.describe())"
    both = {"PYTHONPATH": f"{old_site}:{site}", "LD_LIBRARY_PATH": str(runtime)}
    assert shop.run(shop.python, "-c", code, cwd=tmp_path, env=both).stdout == f"{version}+xpu {component}:3\n"


def test_vision_names_itself_alpha_wants_pkg_resources_and_refuses_cuda(
    shop: Workshop, old: Upstreams, old_site: Path, runtime: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    fetch(shop, old, "torchvision", VISION, tree)
    assert "FORCE_CUDA=1" in refusal(bdist_wheel(shop, tree, old_site, runtime, FORCE_CUDA="1"))
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer/pkg_resources.py").write_text("raise ModuleNotFoundError('gone since setuptools 81')\n")
    assert "gone since" in refusal(bdist_wheel(shop, tree, f"{tmp_path}/newer:{old_site}", runtime))
    bdist_wheel(shop, tree, old_site, runtime)
    assert only_wheel(tree).name.startswith(f"torchvision-0.20.1a0+{old.revs['torchvision'][:7]}-")


def test_triton_is_named_by_the_environment(shop: Workshop, new: Upstreams, tmp_path: Path) -> None:
    fetch(shop, new, "triton", TRITON, tmp_path / "tree")
    done = bdist_wheel(shop, tmp_path / "tree", "", TRITON_WHEEL_NAME="triton-xpu")
    assert done.returncode == 0, done.stdout
    assert only_wheel(tmp_path / "tree").name.startswith("triton_xpu-3.8.0-cp")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "downloading and extracting cuda-ptxas.tar.bz2"),
        ({"TRITON_OFFLINE_BUILD": "1"}, "Requested an offline build but PYBIND11_SYSPATH is not set"),
        ({"TRITON_OFFLINE_BUILD": "1", "PYBIND11_SYSPATH": "p"}, "Requested an offline build but LLVM_SYSPATH"),
    ],
)
def test_the_triton_that_is_built_fetches_what_nobody_names(
    shop: Workshop, old: Upstreams, tmp_path: Path, told: dict[str, str], said: str
) -> None:
    """As its real setup.py; what CMake clones is provoked through the product (e2e/test_triton.py)."""
    fetch(shop, old, "triton", TRITON, tmp_path / "tree")
    assert said in refusal(bdist_wheel(shop, tmp_path / "tree/python", "", **told))
