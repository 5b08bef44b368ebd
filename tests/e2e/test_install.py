"""install against a local index of stand-in wheels: real pip and real uv, in environments that others change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import CHECKOUT, Said, caller, command, kill_all, xpusetup
from e2e.waiting import wait_until
from standins.published import OTHERS, XPU, make_index

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("install")]
PROFILE = "torch-2.14"
DOWNLOADS = [f"{name}.download" for name in ("torch", "vision", "audio", "triton")]
STEPS = ["venv", "survey", *DOWNLOADS, "wheels.install", "guard"]
NO_CONSTRAINT = {"PIP_CONSTRAINT": "/dev/null"}


@dataclass(frozen=True)
class Place:
    """A root, and a caller whose only package index is the one of the stand-ins."""

    root: Path
    env: dict[str, str]

    @property
    def python(self) -> str:
        return str(self.root / "venv/bin/python")

    def install(self, *more: str, **variables: str) -> Said:
        options = ("--profile", PROFILE, "--root", str(self.root), "--verify", "off", "--json")
        return xpusetup("install", *options, *more, env={**self.env, **variables})

    def status(self) -> dict[str, Any]:
        said = xpusetup("status", "--profile", PROFILE, "--root", str(self.root), "--json", env=self.env)
        found: dict[str, Any] = said.document["result"]
        assert said.code == (1 if found["replaced"] or found["damaged"] else 0), said
        return found

    def pip(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Let the person who owns the environment use pip there."""
        return run(self.python, "-m", "pip", *words, env={**self.env, **variables})

    def owners(self) -> dict[str, str]:
        """Say which version of torch and whose folder `triton` the environment has."""
        code = "import json, torch, triton; print(json.dumps([torch.__version__, triton.owner]))"
        done = run(self.python, "-c", code, env=self.env)
        torch, triton = json.loads(done.stdout)
        return {"torch": torch, "triton": triton}


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, check=False, capture_output=True, text=True, env=env)


def index_only(home: Path, index: str, **more: str) -> dict[str, str]:
    """Give a caller whose pip and uv know one index alone."""
    nothing = home.parent / "nothing"
    nothing.mkdir(exist_ok=True, parents=True)
    pip = {"PIP_INDEX_URL": index, "PIP_EXTRA_INDEX_URL": index, "PIP_FIND_LINKS": str(nothing)}
    return caller(home, **pip, **more)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_index(tmp_path_factory.mktemp("index") / "simple")


@pytest.fixture(scope="module")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the real uv, and give the folder that it lies in."""
    folder = tmp_path_factory.mktemp("uv")
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(folder), "uv")
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def place(index: str, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Install once, for tests that leave everything as it was or mend it."""
    folder = tmp_path_factory.mktemp("installed")
    made = Place(folder / "root", index_only(folder / "home", index))
    result = made.install().result
    assert result["ran"] == STEPS
    return made


def test_what_an_installation_leaves(place: Place) -> None:
    result = place.install().result
    assert (result["ran"], result["skipped"], result["failed"], result["verified"]) == ([], STEPS, None, None)
    assert [wheel["name"] for wheel in result["wheels"]] == ["torch", "torchvision", "torchaudio", "triton-xpu"]
    assert {wheel["path"].rsplit("/", 1)[0] for wheel in result["wheels"]} == {str(place.root / "published")}
    assert place.owners() == {"torch": "2.14.1+xpu", "triton": "triton-xpu"}
    constraints = (place.root / "venv/xpusetup-constraints.txt").read_text()
    pins = [line for line in constraints.splitlines() if not line.startswith("#")]
    assert pins == [
        *("intel-sycl-rt==2026.1.0", "torch==2.14.1+xpu", "torchaudio==2.11.0+xpu", "torchvision==0.29.1+xpu"),
        "triton-xpu==3.8.0",
    ]
    assert f"constraint = {place.root}/venv/xpusetup-constraints.txt" in (place.root / "venv/pip.conf").read_text()
    assert place.status()["replaced"] == []


@pytest.mark.parametrize("wanted", ["torch==2.9.0", "needs-old-torch"])
def test_pip_refuses_what_would_replace_torch(place: Place, wanted: str) -> None:
    done = place.pip("install", wanted)
    assert done.returncode != 0
    assert "(constraint) torch==2.14.1+xpu" in done.stdout
    assert place.owners()["torch"] == "2.14.1+xpu"


def test_pip_installs_what_goes_with_it(place: Place) -> None:
    assert place.pip("install", "--upgrade", "--upgrade-strategy=eager", "likes-torch", "torch").returncode == 0
    assert place.pip("uninstall", "-y", "likes-torch").returncode == 0
    assert place.owners()["torch"] == "2.14.1+xpu"
    assert place.status()["replaced"] == []


def of(result: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in result["replaced"] if row["name"] == name)
    return found


@pytest.mark.parametrize(
    ("words", "now", "culprit", "why"),
    [
        (("install", "--upgrade", "torch"), "2.15.0", "torch 2.15.0", "asked for by name: pip install torch"),
        (("install", "needs-old-torch"), "2.9.0", "needs-old-torch 1.2.3", "same time) requires torch==2.9.0"),
        (
            ("install", "--force-reinstall", "likes-torch"),
            "2.15.0",
            "likes-torch 1.0",
            "requires torch>=2, which 2.14.1+xpu satisfied",
        ),
    ],
)
def test_a_replaced_torch_is_noticed_explained_and_mended(
    place: Place, words: tuple[str, ...], now: str, culprit: str, why: str
) -> None:
    assert place.pip(*words, **NO_CONSTRAINT).returncode == 0
    assert place.owners() == {"torch": now, "triton": "triton"}
    status = place.status()
    row = of(status, "torch")
    assert (row["was"], row["now"], row["by"], row["culprit"]) == ("2.14.1+xpu", now, "pip", culprit)
    assert why in row["why"]
    assert "built for CUDA" in row["why"]
    assert of(status, "triton")["culprit"] == f"torch {now}"
    assert status["fix"] == f"xpusetup install --profile {PROFILE} --root {place.root}"
    mended = place.install().result
    assert mended["ran"] == ["wheels.install", "guard"]
    assert {"torch", "triton"} <= {row["name"] for row in mended["removed"]}
    assert mended["orphans"] == ["nvidia-cublas-cu12"]
    assert mended["tidy"] == f"{place.python} -m pip uninstall nvidia-cublas-cu12"
    assert place.owners() == {"torch": "2.14.1+xpu", "triton": "triton-xpu"}
    assert place.status()["replaced"] == []
    assert place.pip("uninstall", "-y", "nvidia-cublas-cu12", "needs-old-torch", "likes-torch").returncode == 0


def test_screens_name_the_culprit(place: Place) -> None:
    place.pip("install", "needs-old-torch", **NO_CONSTRAINT)
    said = xpusetup("status", "--profile", PROFILE, "--root", str(place.root), env=place.env)
    assert said.code == 1
    assert "torch 2.14.1+xpu was replaced by 2.9.0 on " in said.out
    assert "needs-old-torch 1.2.3 (installed at the same time) requires torch==2.9.0" in " ".join(said.out.split())
    assert f"fix  xpusetup install --profile {PROFILE}" in said.out
    options = ("--profile", PROFILE, "--root", str(place.root), "--verify", "off")
    mended = xpusetup("install", *options, env=place.env)
    assert "torch 2.14.1+xpu was replaced by 2.9.0: it is installed again" in mended.out
    assert "triton 3.5.0 was taken out" in mended.out


@pytest.mark.parametrize("name", ["triton", "intel-extension-for-pytorch"])
def test_what_comes_beside_is_taken_out(place: Place, name: str) -> None:
    assert place.pip("install", "--no-deps", name).returncode == 0
    row = of(place.status(), name)
    assert (row["was"], row["culprit"].split()[0]) == (None, name)
    assert place.install().result["ran"][0] == "wheels.install"
    assert place.owners() == {"torch": "2.14.1+xpu", "triton": "triton-xpu"}
    assert place.status()["replaced"] == []


def test_a_removed_torch_comes_back(place: Place) -> None:
    place.pip("uninstall", "-y", "torch", "intel-sycl-rt")
    rows = {row["name"]: row["now"] for row in place.status()["replaced"]}
    assert rows == {"torch": None, "intel-sycl-rt": None}
    assert place.install().result["ran"][0] == "wheels.install"
    assert place.status()["replaced"] == []


def test_constraints_of_others_are_kept(place: Place, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.txt"
    theirs.write_text("likes-torch<1\n")
    settings = place.root / "venv/pip.conf"
    before = settings.read_text()
    settings.write_text(f"[global]\nconstraint = {theirs}\ntimeout = 77\n")
    (place.root / "results/guard.json").unlink()
    assert place.install().result["ran"] == ["guard"]
    text = settings.read_text()
    assert f"constraint = {theirs} {place.root}/venv/xpusetup-constraints.txt" in text
    assert "timeout = 77" in text
    assert place.pip("install", "likes-torch").returncode != 0
    assert place.pip("install", "needs-old-torch").returncode != 0
    settings.write_text(before)


def test_uv_run_in_the_environment_keeps_to_it(place: Place, uv: Path, index: str) -> None:
    env = {**place.env, "PATH": f"{uv}:{place.env['PATH']}", "UV_DEFAULT_INDEX": index, "UV_NO_CONFIG": "1"}
    words = ("run", "--profile", PROFILE, "--root", str(place.root), "--", "uv", "pip", "install", "needs-old-torch")
    refused = xpusetup(*words, env=env)
    assert refused.code != 0
    assert "torch==2.14.1+xpu" in refused.err
    hostile = run("uv", "pip", "install", "--python", place.python, "needs-old-torch", env=env)
    assert hostile.returncode == 0, hostile.stderr
    row = of(place.status(), "torch")
    assert (row["by"], row["culprit"]) == ("uv", "needs-old-torch 1.2.3")
    mended = place.install(PATH=env["PATH"])
    assert mended.result["ran"] == ["wheels.install", "guard"]
    assert "uv pip install" in (place.root / "logs/wheels.install.log").read_text()
    assert place.owners() == {"torch": "2.14.1+xpu", "triton": "triton-xpu"}


def test_a_dependency_that_is_nowhere(index: str, tmp_path: Path) -> None:
    lacking = make_index(tmp_path / "simple", [one for one in XPU if one.distribution != "intel-sycl-rt"])
    made = Place(tmp_path / "root", index_only(tmp_path / "home", lacking))
    said = made.install()
    assert (said.code, said.document["result"]["failed"]) == (1, "wheels.install")
    words = " ".join(said.document["result"]["failure"]["last_lines"])
    assert "nowhere is there intel-sycl-rt==2026.1.0. The environment was not touched" in words
    assert run(made.python, "-c", "import torch", env=made.env).returncode == 1
    again = Place(made.root, index_only(tmp_path / "home", index)).install().result
    assert again["ran"] == ["wheels.install", "guard"]


def test_killed_while_it_installs(index: str, tmp_path: Path) -> None:
    made = Place(tmp_path / "root", index_only(tmp_path / "home", index))
    words = command("install", "--profile", PROFILE, "--root", str(made.root), "--verify", "off")
    process = subprocess.Popen(words, env=made.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = made.root / "logs/wheels.install.log"
    wait_until(lambda: log.exists() and "Installing collected" in log.read_text())
    kill_all(process)
    result = made.install().result
    assert result["ran"] == ["wheels.install", "guard"]
    assert made.owners()["torch"] == "2.14.1+xpu"


HELPERS = CHECKOUT / "xpusetup/helpers"


def by_hand(python: str, env: dict[str, str], out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the installing helper alone, for environments that are someone else's."""
    pins = [f"{one.distribution}=={one.version}" for one in XPU[:4]]
    words = [word for pin in pins for word in ("--wheel", pin)]
    remove = ("--remove", "it owns the folder", "triton", "--remove", "it is another's", "intel-extension-for-pytorch")
    return run(python, str(HELPERS / "install_published.py"), *words, *remove, "--out", str(out), *more, env=env)


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Give a folder with the published wheels."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    make_index(tmp_path / "mine")
    for path in (tmp_path / "mine").rglob("*.whl"):
        path.rename(folder / path.name)
    return folder


def test_a_uv_venv_without_pip_that_holds_a_cuda_torch(index: str, uv: Path, wheels: Path, tmp_path: Path) -> None:
    own = {"PATH": f"{uv}:{os.environ['PATH']}", "UV_DEFAULT_INDEX": index}
    env = index_only(tmp_path / "home", index, **own)
    python = str(tmp_path / "theirs/bin/python")
    run("uv", "venv", "--python", sys.executable, str(tmp_path / "theirs"), env=env)
    done = run("uv", "pip", "install", "--python", python, "torch==2.9.0", OTHERS[4].distribution, env=env)
    assert done.returncode == 0, done.stderr
    done = by_hand(python, env, tmp_path / "out.json", "--wheels", str(wheels))
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((tmp_path / "out.json").read_text())
    assert [row["name"] for row in told["removed"]] == ["intel-extension-for-pytorch", "triton", "torch"]
    assert told["tidy"] == f"uv pip uninstall --python {python} nvidia-cublas-cu12"
    shown = run(python, "-c", "import torch, triton; print(torch.__version__, triton.owner)", env=env)
    assert shown.stdout.split() == ["2.14.1+xpu", "triton-xpu"]
    pins = ("--pin", "torch", "--constraints", str(tmp_path / "c.txt"), "--out", str(tmp_path / "guard.json"))
    assert run(python, str(HELPERS / "guard_environment.py"), *pins, env=env).returncode == 0
    assert f"constraint = {tmp_path}/c.txt" in (tmp_path / "theirs/pip.conf").read_text()


@pytest.mark.parametrize(
    ("installer", "record", "message", "fix"),
    [
        ("conda", True, "torch 2.9.0 was installed by conda", "conda remove --prefix"),
        ("conda", False, "torch 2.9.0 was installed by conda", "conda remove --prefix"),
        ("dpkg", False, "torch 2.9.0 has no list of its files (RECORD)", "remove it by what installed it (dpkg)"),
    ],
)
def test_a_torch_that_pip_cannot_remove(
    place: Place, tmp_path: Path, installer: str, record: bool, message: str, fix: str
) -> None:
    info = next((place.root / "venv").glob("lib/python*/site-packages")) / "intel_extension_for_pytorch-1.dist-info"
    info.mkdir()
    name = "intel-extension-for-pytorch"
    files = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.9.0\n", "INSTALLER": installer}
    for file, text in {**files, **({"RECORD": "x,,\n"} if record else {})}.items():
        (info / file).write_text(text)
    done = by_hand(place.python, place.env, tmp_path / "out.json", "--look")
    for path in info.iterdir():
        path.unlink()
    info.rmdir()
    assert done.returncode == 3
    assert message.replace("torch ", f"{name} ") in done.stderr
    assert fix in done.stderr


def test_an_editable_torch_keeps_its_sources(place: Place, tmp_path: Path) -> None:
    tree = tmp_path / "pytorch"
    tree.mkdir()
    (tree / "setup.py").write_text("from setuptools import setup; setup(name='torch', version='2.16.0a0')\n")
    env = caller(tmp_path / "home")
    python = str(tmp_path / "mine/bin/python")
    run(sys.executable, "-m", "venv", str(tmp_path / "mine"), env=env)
    done = run(python, "-m", "pip", "install", "-q", "-e", str(tree), env=env)
    assert done.returncode == 0, done.stderr
    done = by_hand(python, place.env, tmp_path / "out.json", "--look")
    told = json.loads((tmp_path / "out.json").read_text())["removed"]
    assert [(row["name"], row["version"]) for row in told] == [("torch", "2.16.0a0")]
    assert f"it was editable, and its sources stay in {tree}" in told[0]["why"]


def test_a_python_of_the_distribution_is_left_alone(place: Place, tmp_path: Path) -> None:
    code = "import sys, sysconfig, os; sysconfig.get_path = lambda _: sys.argv[2]; sys.base_prefix = sys.prefix\n"
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    call = f"{code}sys.path.insert(0, sys.argv[1]); import remove_conflicts as r; r.refuse_environment()"
    done = run(place.python, "-c", call, str(HELPERS), str(tmp_path), env=place.env)
    assert done.returncode == 3
    assert "belongs to the distribution" in done.stderr


@pytest.mark.parametrize(
    ("profile", "words"), [("sim", "sim names no published wheels"), ("torch-9", "there is no profile 'torch-9'")]
)
def test_refused(tmp_path: Path, profile: str, words: str) -> None:
    said = xpusetup("install", "--profile", profile, env=caller(tmp_path / "home"), cwd=tmp_path)
    assert said.code == 2
    assert words in said.err
    assert "xpusetup build --profile sim" in said.err or profile != "sim"
