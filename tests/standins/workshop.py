"""By hand what the product's plans do, as short as can be: the stand-ins are proved with it, without the product."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from standins.oneapi import COMPONENTS
from standins.upstreams import ONEDNN, SYCL_TLA, TORCH_XPU_OPS, Upstreams, git_environment

TOOLS = (
    "build",
    "cmake>=3.27",
    "ninja",
    "packaging>=24.2",
    "pyyaml",
    "scikit-build-core>=1.0",
    "setuptools>=70.1,<80",
    "typing-extensions>=4.10.0",
)
CONFIGURE_ONLY = (
    "-Cbuild.targets=help",
    "-Cinstall.components=nothing",
    "-Cwheel.exclude=**",
    "--outdir",
    "configured",
)
Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Workshop:
    """A venv with the build tools, and the environment of a machine that has nothing else."""

    venv: Path
    home: Path

    @property
    def python(self) -> str:
        """The venv's interpreter."""
        return str(self.venv / "bin/python")

    def run(self, *command: str, cwd: Path, env: Mapping[str, str] | None = None, oneapi: Path | None = None) -> Done:
        """Run to the end, output and errors together, with oneAPI's component scripts sourced first when asked."""
        base = {"PATH": f"{self.venv}/bin:{os.environ['PATH']}", "HOME": str(self.home), "GIT_TERMINAL_PROMPT": "0"}
        if oneapi is not None:
            scripts = " ".join(f"{oneapi}/{name}/latest/env/vars.sh" for name in COMPONENTS)
            command = ("bash", "-c", f'for script in {scripts}; do . "$script"; done; exec "$@"', "activated", *command)
        return subprocess.run(
            command,
            check=False,
            cwd=cwd,
            env=base | dict(env or {}),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )


def make_workshop(folder: Path) -> Workshop:
    """Make a venv with TOOLS from the index that pip is set to."""
    subprocess.run((sys.executable, "-m", "venv", str(folder / "venv")), check=True)
    pip = (str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run((*pip, *TOOLS), check=True)
    return Workshop(folder / "venv", folder)


def fetch(shop: Workshop, upstreams: Upstreams, component: str, url: str, target: Path) -> Done:
    """Get the pinned commit at depth 1, into a repository without a remote; end at the first git that fails."""
    target.mkdir(parents=True)
    env = git_environment(upstreams)
    commands = (
        ("init", "--quiet"),
        ("fetch", "--quiet", "--depth=1", url, upstreams.revs[component]),
        ("checkout", "--quiet", "FETCH_HEAD"),
        ("submodule", "--quiet", "update", "--init", "--recursive", "--depth=1"),
    )
    for command in commands:
        done = shop.run("git", *command, cwd=target, env=env)
        if done.returncode:
            break
    return done


def torch_tree(shop: Workshop, upstreams: Upstreams, target: Path) -> Path:
    """Torch with its submodules and torch-xpu-ops; beside it SYCL-TLA and oneDNN where its era has them."""
    fetch(shop, upstreams, "torch", "https://github.com/pytorch/pytorch", target)
    fetch(shop, upstreams, "torch-xpu-ops", f"{TORCH_XPU_OPS}.git", target / "third_party/torch-xpu-ops")
    if "sycl-tla" in upstreams.revs:
        fetch(shop, upstreams, "sycl-tla", SYCL_TLA, beside(target))
    if "oneDNN" in upstreams.revs:
        fetch(shop, upstreams, "oneDNN", ONEDNN, beside(target, "onednn"))
        shop.run("git", "tag", upstreams.tags["oneDNN"], cwd=beside(target, "onednn"))
    return target


def beside(tree: Path, name: str = "sycl-tla") -> Path:
    """Give the folder of SYCL-TLA, or of oneDNN, that belongs to a tree of torch."""
    return tree.with_name(f"{tree.name}.{name}")


def torch_environment(tree: Path, version: str, **more: str) -> dict[str, str]:
    """Set what a profile sets, for a wheel that is the same from every folder."""
    return {
        "USE_XPU": "1",
        "USE_MPI": "0",
        "USE_CUDA": "0",
        "MAX_JOBS": "2",
        "TORCH_XPU_ARCH_LIST": "pvc,bmg",
        "PYTORCH_BUILD_VERSION": version,
        "PYTORCH_BUILD_NUMBER": "1",
        "SOURCE_DATE_EPOCH": "1727870400",
        "CXXFLAGS": f"-ffile-prefix-map={tree}=.",
        "CMAKE_BUILD_RPATH_USE_ORIGIN": "ON",  # else the length of the folder's path stays in the libraries
    } | more


def dynamic(library: Path) -> str:
    """NEEDED, SONAME and RPATH lines."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return subprocess.run(("readelf", "-d", str(library)), env=env, check=True, capture_output=True, text=True).stdout


def setup_py(shop: Workshop, tree: Path, *args: str, oneapi: Path | None = None, **env: str) -> Done:
    environment = torch_environment(tree, "2.5.1+xpu", **env)
    return shop.run(shop.python, "setup.py", *args, cwd=tree, env=environment, oneapi=oneapi)


def frontend(shop: Workshop, tree: Path, *args: str, oneapi: Path | None = None, **env: str) -> Done:
    cloned = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{beside(tree, 'onednn')}.insteadOf"}
    environment = torch_environment(tree, "2.14.1+xpu", **{**cloned, "GIT_CONFIG_VALUE_0": ONEDNN, **env})
    define = f"-Ccmake.define.FETCHCONTENT_SOURCE_DIR_REPO-SYCL-TLA={beside(tree)}"
    command = (shop.python, "-m", "build", "--wheel", "--no-isolation", define, *args)
    return shop.run(*command, cwd=tree, env=environment, oneapi=oneapi)


def only_wheel(tree: Path) -> Path:
    (wheel,) = (tree / "dist").glob("*.whl")
    return wheel


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def unpack(wheel: Path, target: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def refusal(done: Done) -> str:
    """Give the output on one line, of a run that must have failed."""
    assert done.returncode != 0, done.stdout
    return " ".join(done.stdout.split())
