"""install against a local index of stand-in wheels: real pip and real uv, in environments that others change."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
import zipfile
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from e2e.support import CHECKOUT, Said, by_name, caller, command, kill_all, make_venv, wait_until, xpusetup
from standins.hashes import with_hashes
from standins.published import XPU, Packed, make_index
from standins.wheels import pack_wheel

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("install")]
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

    @property
    def profile(self) -> str:
        return profile_of(self.env["PIP_INDEX_URL"])

    def install(self, *more: str, **variables: str) -> Said:
        options = ("--profile", self.profile, "--root", str(self.root), "--verify", "off", "--json")
        return xpusetup("install", *options, *more, env={**self.env, **variables})

    def status(self) -> dict[str, Any]:
        said = xpusetup("status", "--profile", self.profile, "--root", str(self.root), "--json", env=self.env)
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


def profile_of(index: str) -> str:
    """Give the shipped profile of 2.14 with the hashes of an index of stand-ins."""
    folder = Path(index.removeprefix("file://"))
    file = folder.parent / "torch-2.14.toml"
    if not file.exists():
        file.write_text(with_hashes((CHECKOUT / "profiles/torch-2.14.toml").read_text(), folder))
    return str(file)


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, check=False, capture_output=True, text=True, env=env)


def index_only(home: Path, index: str, **more: str) -> dict[str, str]:
    """Give a caller whose pip and uv know one index alone."""
    nothing = home.parent / "nothing"
    nothing.mkdir(exist_ok=True, parents=True)
    pip = {"PIP_INDEX_URL": index, "PIP_EXTRA_INDEX_URL": index, "PIP_FIND_LINKS": str(nothing)}
    return caller(home, **pip, **more)


def constraints_of(venv: Path) -> list[str]:
    """Give the files of constraints that pip heeds there; those of this machine come first."""
    (line,) = (line for line in (venv / "pip.conf").read_text().splitlines() if line.startswith("constraint"))
    return line.partition("=")[2].split()


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
    assert constraints_of(place.root / "venv")[-1] == f"{place.root}/venv/xpusetup-constraints.txt"
    assert place.status()["replaced"] == []


@pytest.mark.parametrize("wanted", ["torch==2.9.0", "needs-old-torch"])
def test_pip_refuses_what_would_replace_torch(place: Place, wanted: str) -> None:
    done = place.pip("install", wanted)
    assert done.returncode != 0
    assert re.search(r"\(constraint\) torch.*==2\.14\.1\+xpu", done.stdout), done.stdout
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
        by_name(("install", "needs-old-torch"), "2.9.0", "needs-old-torch 1.2.3", "same time) requires torch==2.9.0"),
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
    assert status["fix"] == f"xpusetup install {place.profile} --root {place.root} --verify off"
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
    said = xpusetup("status", "--profile", place.profile, "--root", str(place.root), env=place.env)
    assert said.code == 1
    assert "torch 2.14.1+xpu was replaced by 2.9.0 on " in said.out
    assert "needs-old-torch 1.2.3 (installed at the same time) requires torch==2.9.0" in " ".join(said.out.split())
    assert f"fix  xpusetup install {place.profile}" in said.out
    options = ("--profile", place.profile, "--root", str(place.root), "--verify", "off")
    mended = xpusetup("install", *options, env=place.env)
    assert "torch 2.14.1+xpu was replaced by 2.9.0: it is installed again" in mended.out
    assert "triton 3.5.0 was taken out" in mended.out


@pytest.mark.parametrize("name", ["triton", by_name("intel-extension-for-pytorch")])
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


def test_another_build_of_the_same_version(place: Place, tmp_path: Path) -> None:
    other = pack_wheel(tmp_path, "intel-sycl-rt", "2026.1.0", {"other.py": b""})
    assert place.pip("install", "--force-reinstall", "--no-deps", str(other)).returncode == 0
    row = of(place.status(), "intel-sycl-rt")
    assert (row["was"], row["now"], row["culprit"]) == ("2026.1.0", "2026.1.0", "intel-sycl-rt 2026.1.0")
    assert place.install().result["ran"] == ["wheels.install", "guard"]
    assert place.status()["replaced"] == []
    assert place.install().result["ran"] == []


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
    words = (
        "run",
        "--profile",
        place.profile,
        "--root",
        str(place.root),
        "--",
        "uv",
        "pip",
        "install",
        "needs-old-torch",
    )
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


@pytest.mark.parametrize(
    ("name", "step", "by"),
    [
        ("torch", "torch.download", "pip"),
        by_name("torch", "torch.download", "uv"),
        by_name("sympy", "wheels.install", "pip"),
        by_name("sympy", "wheels.install", "uv"),
    ],
)
def test_a_changed_wheel_of_the_same_version_is_refused(
    uv: Path, tmp_path: Path, name: str, step: str, by: str
) -> None:
    """The hashes of all that the profile pins hold, also of what the wheels require; nothing is touched."""
    index = make_index(tmp_path / "simple")
    more = {"PATH": f"{uv}:{os.environ['PATH']}", "UV_DEFAULT_INDEX": index} if by == "uv" else {}
    made = Place(tmp_path / "root", index_only(tmp_path / "home", index, **more))
    profile = made.profile
    for wheel in (tmp_path / f"simple/{name}").glob(f"{name}-[12].14*.whl"):
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("changed.py", "")
    options = ("--profile", profile, "--root", str(made.root), "--verify", "off", "--json")
    said = xpusetup("install", *options, env=made.env)
    result = said.document["result"]
    assert (said.code, result["failed"]) == (1, step)
    assert f"{name}==" in " ".join(result["failure"]["last_lines"])
    assert "is not the one that was published: its hash differs" in " ".join(result["failure"]["last_lines"])
    assert run(made.python, "-c", "import torch", env=made.env).returncode == 1


@pytest.mark.long
@pytest.mark.parametrize("by", ["pip", "uv"])
def test_what_has_no_published_hash_is_recorded_and_held_to(uv: Path, tmp_path: Path, by: str) -> None:
    """What the wheels require and the profile does not pin: of unverified origin, refused where hashes are required."""
    wheels = [*XPU[:-1], Packed("sympy", "1.99.0")]
    index = make_index(tmp_path / "simple", wheels)
    more = {"PATH": f"{uv}:{os.environ['PATH']}", "UV_DEFAULT_INDEX": index, "UV_NO_CACHE": "1"} if by == "uv" else {}
    made = Place(tmp_path / "root", index_only(tmp_path / "home", index, **more))
    profile = Path(made.profile)
    profile.write_text(re.sub(r'"sympy==1.99.0" = .*', "", profile.read_text()))
    options = ("--profile", str(profile), "--root", str(made.root), "--verify", "off")
    refused = xpusetup("install", *options, "--require-hashes", "--json", env=made.env)
    assert (refused.code, refused.document["result"]["failed"]) == (1, "wheels.install")
    words = " ".join(refused.document["result"]["failure"]["last_lines"])
    assert "no published hash is known of sympy==1.99.0, and --require-hashes asks for one" in words
    assert run(made.python, "-c", "import torch", env=made.env).returncode == 1
    result = xpusetup("install", *options, "--json", env=made.env).result
    (row,) = result["unverified"]
    assert (row["name"], len(row["sha256"])) == ("sympy==1.99.0", 64)
    made.pip("uninstall", "-y", "torch")
    with zipfile.ZipFile(next((tmp_path / "simple/sympy").glob("*.whl")), "a") as archive:
        archive.writestr("changed.py", "")
    made.pip("uninstall", "-y", "sympy")
    again = xpusetup("install", *options, "--json", env=made.env)
    assert again.document["result"]["failed"] == "wheels.install"
    assert "sympy==1.99.0: the file that came is not the one as it was at first use" in " ".join(
        again.document["result"]["failure"]["last_lines"]
    )


@pytest.mark.long
def test_a_dependency_that_is_nowhere(index: str, tmp_path: Path) -> None:
    lacking = make_index(tmp_path / "simple", [one for one in XPU if one.distribution != "intel-sycl-rt"])
    (tmp_path / "torch-2.14.toml").write_text(Path(profile_of(index)).read_text())
    made = Place(tmp_path / "root", index_only(tmp_path / "home", lacking))
    said = made.install()
    words = said.document["error"]["message"]
    assert said.code == 3
    assert "of intel-sycl-rt==2026.1.0 (torch requires it), where pip looks and at https://" in words
    assert words.splitlines()[0].endswith("nothing was fetched")
    assert not made.root.exists()
    assert Place(made.root, index_only(tmp_path / "home", index)).install().result["ran"] == STEPS


def test_a_part_that_is_nowhere_is_known_before_any_is_fetched(index: str, tmp_path: Path) -> None:
    """183 MiB of torch came before it was found that there is no such torchvision."""
    lacking = make_index(tmp_path / "simple", [one for one in XPU if one.distribution != "torchvision"])
    (tmp_path / "torch-2.14.toml").write_text(Path(profile_of(index)).read_text())
    made = Place(tmp_path / "root", index_only(tmp_path / "home", lacking))
    for more in ((), ("--dry-run",)):
        said = made.install(*more)
        assert said.code == 3
        assert " of torchvision==0.29.1+xpu, where pip looks" in said.document["error"]["message"]
        assert "PIP_EXTRA_INDEX_URL=" in said.document["error"]["fix"]
    assert not made.root.exists()


def test_without_an_answer_of_any_index_the_network_alone_is_the_cause(index: str, tmp_path: Path) -> None:
    """Of torch itself it was said that there is no wheel of it for this Python."""
    closed = "http://127.0.0.1:9/simple"
    made = Place(tmp_path / "root", index_only(tmp_path / "home", index))
    said = made.install(PIP_INDEX_URL=closed, PIP_EXTRA_INDEX_URL=closed)
    assert said.code == 3
    assert said.document["error"]["message"].startswith("no answer from 127.0.0.1 (connection error)")
    assert "no wheel" not in said.document["error"]["message"]
    assert "xpusetup install --root" in said.document["error"]["fix"]  # of a bundle


def test_what_would_come_is_said_before_it_comes(place: Place, index: str, tmp_path: Path) -> None:
    made = Place(tmp_path / "root", place.env)
    offer = made.install("--dry-run").result
    sizes = {path.name.split("-")[0]: path.stat().st_size for path in (place.root / "published").glob("*.whl")}
    rows = {each["name"]: each for each in offer["wheels"]}
    assert {name: each["by"] for name, each in rows.items()} == {
        **dict.fromkeys(("torch", "torchvision", "torchaudio", "triton-xpu"), ""),
        **dict.fromkeys(("intel-sycl-rt", "sympy"), "torch"),
    }
    assert {name: rows[name]["bytes"] for name in ("torch", "torchvision")} == {
        name: sizes[name] for name in ("torch", "torchvision")
    }
    assert rows["torch"]["place"] == f"{index.removeprefix('file://')}/torch"
    assert offer["fetch"] == sum(each["bytes"] for each in rows.values())
    assert 0 < offer["disk"] < offer["free"]
    assert (offer["steps"], offer["declined"], made.root.exists()) == (STEPS, False, False)
    again = place.install("--dry-run").result
    assert (again["steps"], again["wheels"], again["fetch"]) == ([], [], 0)


def test_an_index_that_gives_no_parts_of_files(index: str, tmp_path: Path) -> None:
    """Sizes of what the profile names are known all the same; what those require comes out when they are there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=index.removeprefix("file://")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        env = index_only(tmp_path / "home", f"http://127.0.0.1:{server.server_port}", PIP_NO_CACHE_DIR="1")
        words = ("--profile", profile_of(index), "--root", str(tmp_path / "root"), "--verify", "off", "--dry-run")
        offer = xpusetup("install", *words, "--json", env=env).result
        assert offer["unread"] == ["torch", "torchvision", "torchaudio", "triton-xpu"]
        assert offer["fetch"] == sum(each["bytes"] for each in offer["wheels"]) > 0
        shown = xpusetup("install", *words, env=env).out
        assert "to fetch: at least" in shown
        assert shown.endswith("nothing was fetched: the same command without --dry-run installs it\n\n")
        assert "127.0.0.1" in shown
    finally:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Serves whole files alone, and writes no log."""

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(("answer", "there"), [("n", False), ("y", True)])
def test_without_the_device_one_question_is_asked(answer: str, *, there: bool, place: Place, tmp_path: Path) -> None:
    """On a terminal; elsewhere it goes on, for images and login nodes are made so."""
    made = Place(tmp_path / "root", place.env)
    words = command("install", "--profile", made.profile, "--root", str(made.root), "--verify", "off")
    held, end = pty.openpty()
    with subprocess.Popen(words, env=made.env, stdin=end, stdout=subprocess.PIPE, text=True) as process:
        os.write(held, f"{answer}\n".encode())
        said = process.communicate()[0]
    os.close(held)
    os.close(end)
    assert (process.returncode, (made.root / "venv").exists()) == (0, there)
    assert said.count("Install it all the same? [y/N]") == 1
    assert ("nothing was installed" in said) != there
    assert said.index("to fetch: ") < said.index("no Intel GPU on the PCI bus") < said.index("Install it")


@pytest.mark.long
def test_into_a_folder_that_is_not_there_yet(index: str, tmp_path: Path) -> None:
    env = index_only(tmp_path / "home", index)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    options = ("--profile", profile_of(index), "--into", "~/ml", "--python", version, "--verify", "off")
    assert xpusetup("install", *options, "--json", env=env).result["ran"] == STEPS
    place = tmp_path / "home/ml"
    assert run(str(place / "bin/python"), "-c", "import torch", env=env).returncode == 0
    assert xpusetup("install", *options, "--json", env=env).result["ran"] == []
    said = xpusetup("status", "--into", str(place), env=env)
    assert (said.code, "✓ torch 2.14.1+xpu" in said.out) == (0, True)


@pytest.mark.long
def test_killed_while_it_installs(index: str, tmp_path: Path) -> None:
    made = Place(tmp_path / "root", index_only(tmp_path / "home", index))
    words = command("install", "--profile", made.profile, "--root", str(made.root), "--verify", "off")
    process = subprocess.Popen(words, env=made.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = made.root / "logs/wheels.install.log"
    wait_until(lambda: log.exists() and "Installing collected" in log.read_text())
    kill_all(process)
    packages = next((made.root / "venv").glob("lib/python*/site-packages"))
    for info in packages.glob("t*.dist-info"):  # as a killed pip leaves them: the list of files is written last
        (info / "RECORD").unlink(missing_ok=True)
    result = made.install().result
    assert result["ran"] == ["wheels.install", "guard"]
    assert made.owners()["torch"] == "2.14.1+xpu"


@pytest.mark.long
def test_killed_while_pip_replaces_itself(tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    run(sys.executable, "-m", "venv", str(tmp_path / "venv"), env=dict(os.environ))
    packages = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    next(packages.glob("pip-*.dist-info/RECORD")).unlink()
    (packages / "pip/__main__.py").unlink()
    helper = Path(__file__).parents[2] / "xpusetup/helpers/forget_cut_off.py"
    said = run(str(python), str(helper), env=dict(os.environ))
    assert "pip: replacing it was cut off" in said.stdout
    assert run(str(python), "-m", "pip", "--version", env=dict(os.environ)).returncode == 0
    assert run(str(python), str(helper), env=dict(os.environ)).stdout == ""


@pytest.mark.long
def test_into_a_uv_venv_without_pip_that_holds_a_cuda_torch(index: str, uv: Path, tmp_path: Path) -> None:
    env = index_only(tmp_path / "home", index, PATH=f"{uv}:{os.environ['PATH']}", UV_DEFAULT_INDEX=index)
    theirs = tmp_path / "theirs"
    python = str(theirs / "bin/python")
    run("uv", "venv", "--python", sys.executable, str(theirs), env=env)
    done = run("uv", "pip", "install", "--python", python, "torch==2.9.0", "intel-extension-for-pytorch", env=env)
    assert done.returncode == 0, done.stderr
    made = Place(tmp_path / "root", env)
    result = made.install("--into", str(theirs)).result
    assert [row["name"] for row in result["removed"]] == ["intel-extension-for-pytorch", "triton", "torch"]
    assert result["orphans"] == ["nvidia-cublas-cu12"]
    assert result["use"].startswith("xpusetup run ")
    shown = run(python, "-c", "import torch, triton; print(torch.__version__, triton.owner)", env=env)
    assert shown.stdout.split() == ["2.14.1+xpu", "triton-xpu"]
    assert constraints_of(theirs)[-1] == f"{theirs}/xpusetup-constraints.txt"
    run("uv", "pip", "install", "--python", python, "torch==2.9.0", env=env)
    status = made.status()
    assert of(status, "torch")["why"].startswith("it was asked for by name: uv pip install torch")
    assert status["fix"].endswith(f"--into {theirs} --verify off")
    assert made.install("--into", str(theirs)).result["ran"] == ["wheels.install", "guard"]


def put(packages: Path, name: str, version: str, installer: str, record: str) -> None:
    """Put a distribution where another tool than pip would have."""
    info = packages / f"{name}-{version}.dist-info"
    info.mkdir()
    files = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "INSTALLER": installer}
    for file, text in {**files, **({"RECORD": record} if record else {})}.items():
        (info / file).write_text(text)


@pytest.mark.parametrize(
    ("installer", "record", "message", "fix"),
    [
        by_name("conda", "x,,\n", "torch 2.9.0 was installed by conda", "conda remove --prefix {prefix} pytorch; then"),
        by_name("", "", "torch 2.9.0 was installed by conda", "conda remove --prefix {prefix} pytorch; then"),
        ("dpkg", "", "torch 2.9.0 has no list of its files (RECORD)", "remove it by what installed it (dpkg)"),
    ],
)
def test_a_torch_that_pip_cannot_remove(
    index: str, tmp_path: Path, installer: str, record: str, message: str, fix: str
) -> None:
    env, prefix = index_only(tmp_path / "home", index), tmp_path / "theirs"
    make_venv(prefix)
    packages = next(prefix.glob("lib/python*/site-packages"))
    put(packages, "torch", "2.9.0", installer, record)
    if installer != "dpkg":
        (prefix / "conda-meta").mkdir()
        files = [f"{packages.relative_to(prefix)}/torch-2.9.0.dist-info/METADATA"]
        (prefix / "conda-meta/pytorch-2.9.0-0.json").write_text(json.dumps({"name": "pytorch", "files": files}))
    said = Place(tmp_path / "root", env).install("--into", str(prefix))
    result = said.document["result"]
    assert (said.code, result["failed"], result["ran"]) == (1, "survey", ["venv", "survey"])
    words = " ".join(result["failure"]["last_lines"])
    assert message in words
    assert fix.format(prefix=prefix) in words


@pytest.mark.long
def test_an_editable_torch_keeps_its_sources(index: str, tmp_path: Path) -> None:
    tree, prefix = tmp_path / "pytorch", tmp_path / "theirs"
    tree.mkdir()
    (tree / "setup.py").write_text("from setuptools import setup; setup(name='torch', version='2.16.0a0')\n")
    env = caller(tmp_path / "home")
    run(sys.executable, "-m", "venv", str(prefix), env=env)
    done = run(f"{prefix}/bin/python", "-m", "pip", "install", "-q", "-e", str(tree), env={**env, **NO_CONSTRAINT})
    assert done.returncode == 0, done.stderr
    made = Place(tmp_path / "root", index_only(tmp_path / "home", index))
    removed = made.install("--into", str(prefix)).result["removed"]
    assert [(row["name"], row["version"]) for row in removed] == [("torch", "2.16.0a0")]
    assert f"it was editable, and its sources stay in {tree}" in removed[0]["why"]
    assert (tree / "setup.py").exists()
    shown = run(f"{prefix}/bin/python", "-c", "import torch; print(torch.__version__)", env=env)
    assert shown.stdout == "2.14.1+xpu\n"


CPU = """
schema = 1
name = "published-cpu"
summary = "the published CPU wheel"
tier = "test"
tried = "in tests"
accelerator = "cpu"
verify_level = "quick"
python = ">=3.10"

[build_requirements]
pins = []

[published]
index = "https://download.pytorch.org/whl/cpu"
wheels = ["torch==2.13.0+cpu"]
source = "this test"
confidence = "confirmed"

[[components]]
kind = "wheel"
name = "torch"
distribution = "torch"
version = "2.13.0+cpu"
index = "https://download.pytorch.org/whl/cpu"
source = "this test"
confidence = "confirmed"
"""


@pytest.mark.long
def test_a_real_torch_is_verified(tmp_path: Path) -> None:
    """The CPU wheel that is published, with what it requires, from the index of this place."""
    profile, root = tmp_path / "cpu.toml", tmp_path / "root"
    profile.write_text(CPU)
    env = caller(tmp_path / "home")
    options = ("--profile", str(profile), "--root", str(root), "--json")
    result = xpusetup("install", *options, env=env).result
    assert (result["ran"][-1], result["verified"]) == ("verify.smoke", True)
    assert xpusetup("verify", *options, "--level", "quick", env=env).result["verified"] is True
    assert xpusetup("status", *options, env=env).result["replaced"] == []


BOTH = CPU.replace("pins = []", 'pins = ["packaging==26.3"]').replace("torch", "sympy").replace("2.13.0+cpu", "1.14.0")


@pytest.mark.long
def test_build_and_install_in_one_root(index: str, tmp_path: Path) -> None:
    """Whichever ran last is what the environment holds; each mends what others did to it."""
    profile, root = tmp_path / "both.toml", tmp_path / "root"
    profile.write_text(with_hashes(BOTH, Path(index.removeprefix("file://"))))
    env = index_only(tmp_path / "home", index)
    options = ("--profile", str(profile), "--root", str(root), "--json")

    def ran(command: str) -> list[str]:
        result = xpusetup(command, *options, "--verify", "off", env=env).result
        assert xpusetup("status", *options, env=env).result["made_by"] == command
        found: list[str] = result["ran"]
        return found

    assert ran("install") == ["venv", "survey", "sympy.download", "wheels.install", "guard"]
    assert ran("build") == ["requirements", "sympy.fetch", "sympy.install", "guard"]
    assert ran("build") == []
    uninstall = (str(root / "venv/bin/python"), "-m", "pip", "uninstall", "-y", "sympy")
    assert run(*uninstall, env=env).returncode == 0
    said = xpusetup("status", *options, env=env)
    assert said.code == 1
    assert [row["now"] for row in said.document["result"]["replaced"]] == [None]
    assert ran("build")[0] == "sympy.install"
    assert ran("install") == ["wheels.install", "guard"]
    assert ran("install") == []


@pytest.mark.parametrize(
    ("profile", "words"), [("sim", "sim names no published wheels"), ("torch-9", "there is no profile 'torch-9'")]
)
def test_refused(tmp_path: Path, profile: str, words: str) -> None:
    said = xpusetup("install", "--profile", profile, env=caller(tmp_path / "home"), cwd=tmp_path)
    assert said.code == 2
    assert words in said.err
    assert "xpusetup build sim" in said.err or profile != "sim"
