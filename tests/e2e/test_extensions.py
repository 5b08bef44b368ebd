"""Extensions that `import torch` loads: a real torch, and packages that do each thing an extension can do to it.

torch is installed once; each environment is a venv of its own that sees it, with the packages made in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import Said, by_name, caller, xpusetup

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("extensions")]
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
TORCH = "2.13.0+cpu"
REFUSE = 'if "{0}" in sys.modules: raise RuntimeError("Two accelerators cannot be used at the same time")'
SEGFAULT = "import ctypes\n    ctypes.string_at(0)"
BODIES = {
    "fine": "pass",
    "broken": 'raise ImportError("libbroken.so: cannot open shared object file")',
    "segfault": SEGFAULT,
    "leaves": "import os\n    os._exit(7)",
    "hangs": "import time\n    time.sleep(600)",
}


def new_venv(prefix: Path) -> Path:
    base = Path(sys.base_prefix) / f"bin/python3.{sys.version_info[1]}"
    subprocess.run((str(base), "-m", "venv", "--without-pip", str(prefix)), check=True)
    return next(prefix.glob("lib/python3*/site-packages"))


@pytest.fixture(scope="module")
def torch_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install torch once, as a folder that other environments see."""
    folder = tmp_path_factory.mktemp("torch")
    env = caller(folder / "home")
    target = folder / "packages"
    index = ("--extra-index-url", "https://download.pytorch.org/whl/cpu") if not env.get("PIP_FIND_LINKS") else ()
    pip = (sys.executable, "-m", "pip", "install", "-q", "--target", str(target), *index, f"torch=={TORCH}", "numpy")
    subprocess.run(pip, check=True, env=env, capture_output=True)
    return target


def plug(packages: Path, name: str, body: str | None, *, requires: str = "", version: str = "1.0") -> None:
    """Put a package with an entry of torch.backends into an environment; without a body its module is missing."""
    info = packages / f"{name}_torch-{version}.dist-info"
    info.mkdir()
    asked = f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-torch\nVersion: {version}\n{asked}")
    (info / "entry_points.txt").write_text(f"[torch.backends]\n{name} = {name}:load\n")
    if body is not None:
        (packages / f"{name}.py").write_text(f"import sys\n\ndef load():\n    {body}\n")


@pytest.fixture
def make(tmp_path: Path, torch_packages: Path) -> Callable[..., Path]:
    """Give what makes an environment with torch and some of these packages."""

    def made(*names: str) -> Path:
        packages = new_venv(tmp_path / "env")
        (packages / "torch.pth").write_text(f"{torch_packages}\n")
        for name in names:
            plug(packages, name, BODIES[name])
        return packages

    return made


def devices(verb: str, tmp_path: Path, *more: str, **env: str) -> Said:
    words = ("verify", "--devices", *(("--list",) if verb == "list" else ()), "--into", str(tmp_path / "env"), *more)
    return xpusetup(*words, env=caller(tmp_path / "home", **env))


def check(tmp_path: Path, *more: str, **env: str) -> tuple[int, dict[str, Any]]:
    said = devices("check", tmp_path, "--json", *more, **env)
    return said.code, said.document["result"]


def row(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(dict(each) for each in result["devices"] if each["name"] == name)


def findings(result: dict[str, Any], *levels: str) -> list[tuple[str, str]]:
    return [(each["id"], each["seen"]) for each in result["findings"] if each["level"] in levels]


@pytest.mark.long
def test_one_that_is_fine(make: Callable[..., Path], tmp_path: Path) -> None:
    make("fine")
    code, result = check(tmp_path)
    assert code == 0
    found = row(result, "fine")
    assert found["loads"] is True
    assert (found["entry"], found["package"], found["version"]) == ("fine = fine:load", "fine-torch", "1.0")
    assert result["environment"]["torch"] == TORCH
    assert findings(result, "warn", "fail") == []
    assert "nothing breaks `import torch` here" in devices("check", tmp_path).out


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "ImportError: libbroken.so: cannot open shared object file"),
        by_name("segfault", "the process was ended by SIGSEGV, at "),
        by_name("leaves", "the process ended with exit code 7"),
    ],
)
def test_the_one_that_breaks_is_named_among_several(
    make: Callable[..., Path], tmp_path: Path, name: str, why: str
) -> None:
    packages = make("fine", name)
    plain = subprocess.run((str(tmp_path / "env/bin/python"), "-c", "import torch"), check=False, capture_output=True)
    assert plain.returncode != 0, "the case is none: torch can be imported"
    code, result = check(tmp_path)
    assert code == 1
    assert (row(result, name)["loads"], row(result, "fine")["loads"]) == (False, True)
    ((found, seen),) = findings(result, "fail")
    assert found == "autoload.extension"
    assert seen.startswith(f"{name} of {name}-torch 1.0 cannot be loaded: {why}")
    (fix,) = [each["fix"] for each in result["findings"] if each["level"] == "fail"]
    assert fix[0] == f"{tmp_path}/env/bin/python -m pip uninstall -y {name}-torch"
    assert f"export {AUTOLOAD}=0" in fix[1]
    if name == "segfault":
        assert "ctypes" in seen
    assert packages.exists()


@pytest.mark.long
def test_the_fix_mends_it(make: Callable[..., Path], tmp_path: Path) -> None:
    """With the switch that is offered torch imports, and without the package the check is content."""
    packages = make("broken")
    assert check(tmp_path)[0] == 1
    words = (str(tmp_path / "env/bin/python"), "-c", "import torch")
    subprocess.run(words, check=True, env={**caller(tmp_path / "home"), AUTOLOAD: "0"})
    (packages / "broken_torch-1.0.dist-info/entry_points.txt").unlink()
    assert check(tmp_path)[0] == 0


def test_one_that_hangs_is_bounded_and_says_where(make: Callable[..., Path], tmp_path: Path) -> None:
    packages = make("hangs")
    code, result = check(tmp_path, "--patience", "8")
    assert code == 1
    assert row(result, "hangs")["error"] == f"no end within 8 s, at {packages}/hangs.py:5"


@pytest.mark.long
def test_one_whose_file_is_missing(make: Callable[..., Path], tmp_path: Path) -> None:
    plug(make(), "gone", None)
    listed = devices("list", tmp_path, "--json").result
    ((name, seen),) = findings(listed, "fail")
    assert (name, seen) == ("autoload.module", "gone of gone-torch 1.0 cannot be loaded: there is no module gone")
    code, result = check(tmp_path)
    assert (code, findings(result, "fail")) == (1, [(name, seen)])


def test_what_an_interrupted_uninstallation_leaves(make: Callable[..., Path], tmp_path: Path) -> None:
    packages = make()
    plug(packages, "rest", None)
    (packages / "rest/__pycache__").mkdir(parents=True)
    assert findings(devices("list", tmp_path, "--json").result, "fail")[0][0] == "autoload.module"


@pytest.mark.long
def test_one_for_another_torch(make: Callable[..., Path], tmp_path: Path) -> None:
    plug(make(), "late", "pass", requires="torch==2.14.0.*")
    code, result = check(tmp_path)
    assert code == 0
    why = f"late-torch 1.0 requires torch==2.14.0.*, and torch is {TORCH}"
    assert findings(result, "warn") == [("autoload.pin", why)]


@pytest.mark.long
def test_two_that_load_alone_and_not_together(make: Callable[..., Path], tmp_path: Path) -> None:
    packages = make()
    for name, other in (("first", "second"), ("second", "first")):
        plug(packages, name, REFUSE.format(other))
    code, result = check(tmp_path)
    assert (code, row(result, "first")["loads"], row(result, "second")["loads"]) == (1, True, True)
    ((name, seen),) = findings(result, "fail")
    assert name == "autoload.together"
    assert seen.startswith("first, second load one by one, and not together: RuntimeError: Two accelerators")


@pytest.mark.long
def test_the_switch_of_this_torch(make: Callable[..., Path], tmp_path: Path) -> None:
    """Only "1" enables: the rule is asked of the torch that is installed, and the caller's value held against it."""
    make("fine")
    for value, level in (("true", "warn"), ("", "warn"), ("0", "info")):
        code, result = check(tmp_path, **{AUTOLOAD: value})
        found = [each["level"] for each in result["findings"] if each["id"] == "autoload.switch"]
        assert (code, found) == (0, [level])
        assert row(result, "fine")["loads"] is True


def test_a_list_imports_nothing(tmp_path: Path) -> None:
    """Whatever would happen on the import of torch or of an extension, a list does not see it."""
    packages = new_venv(tmp_path / "env")
    mark = tmp_path / "imported"
    for name in ("torch", "loud"):
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(f"open({str(mark)!r}, 'w').close()\nraise SystemExit(3)\n")
    (packages / "torch/version.py").write_text("from typing import Optional\n__version__ = '2.9.0+cpu'\ncuda = None\n")
    plug(packages, "loud", None)
    result = devices("list", tmp_path, "--json").result
    assert (result["environment"]["torch"], result["checked"]) == ("2.9.0+cpu", False)
    assert row(result, "loud")["loads"] is None
    assert findings(result, "fail") == []
    assert not mark.exists()
    assert devices("list", tmp_path).code == 0


def test_without_torch_and_without_an_environment(tmp_path: Path) -> None:
    new_venv(tmp_path / "env")
    assert devices("list", tmp_path, "--json").result["environment"]["torch"] is None
    said = devices("check", tmp_path)
    assert said.code == 3
    assert f"there is no torch in {tmp_path}/env (--into)" in said.err
    nowhere = xpusetup("verify", "--devices", "--into", str(tmp_path), env=caller(tmp_path / "home"))
    assert (nowhere.code, f"{tmp_path} is no environment" in nowhere.err) == (2, True)


def test_the_active_environment_is_the_default(tmp_path: Path) -> None:
    new_venv(tmp_path / "env")
    env = caller(tmp_path / "home", VIRTUAL_ENV=str(tmp_path / "env"))
    found = xpusetup("verify", "--devices", "--list", "--json", env=env).result["environment"]
    assert (found["prefix"], found["chosen_by"]) == (str(tmp_path / "env"), "VIRTUAL_ENV")


VENDOR = """
name = "acme"
title = "Acme"
pci_vendors = ["1dac"]
[hardware]
devices = { "0001" = "Acme One" }
nodes = ["/dev/acme[0-9]*"]
[tool]
name = "acme-smi"
query = ["--list"]
[environment]
scripts = ["/opt/acme/set_env.sh"]
sets = ["ACME_HOME"]
[extension]
distribution = "acme-torch"
module = "acme"
"""


def test_a_vendors_device_is_seen_by_its_file_alone(tmp_path: Path) -> None:
    """Its card, its node, what its own program says, and that its environment is not set."""
    plug(new_venv(tmp_path / "env"), "acme", "pass")
    machine, programs = tmp_path / "machine", tmp_path / "bin"
    for number, product in enumerate(("0x0001", "0x0002")):
        card = machine / f"sys/bus/pci/devices/0000:0{number}:00.0"
        card.mkdir(parents=True)
        for name, text in (("class", "0x120000"), ("vendor", "0x1dac"), ("device", product)):
            (card / name).write_text(f"{text}\n")
    for place in ("dev/acme0", "dev/acmectl", "opt/acme/set_env.sh"):
        (machine / place).parent.mkdir(parents=True, exist_ok=True)
        (machine / place).touch()
    programs.mkdir()
    (programs / "acme-smi").write_text('#!/bin/sh\necho "asked $*"\n')
    (programs / "acme-smi").chmod(0o755)
    (tmp_path / "acme.toml").write_text(VENDOR)
    env = {"XPUSETUP_SYSROOT": str(machine), "PATH": f"{programs}:{os.environ['PATH']}"}
    more = ("--device", str(tmp_path / "acme.toml"))
    found = row(devices("list", tmp_path, *more, "--json", **env).result, "acme")
    assert (found["present"], found["package"]) == (True, "acme-torch")
    assert found["seen"] == {
        "cards": ["Acme One at 0000:00:00.0"],
        "nodes": ["/dev/acme0"],
        "tool": f"{programs}/acme-smi",
        "says": ["asked --list"],
        "script": "/opt/acme/set_env.sh",
        "ready": False,
    }
    assert "its environment is not set: source /opt/acme/set_env.sh" in devices("list", tmp_path, *more, **env).out
    (programs / "acme-smi").write_text("#!/bin/sh\necho no driver >&2\nexit 9\n")
    found = row(devices("list", tmp_path, *more, "--json", **env, ACME_HOME="/opt/acme").result, "acme")
    assert (found["seen"]["says"], found["seen"]["ready"]) == (["it ended with 9", "no driver"], True)


def test_bad_device_files_are_usage(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('nam = "x"\n')
    said = xpusetup("verify", "--devices", "--list", "--device", str(bad), env=caller(tmp_path / "home"))
    assert said.code == 2
    assert f"{bad}:1: nam: unknown key; did you mean 'name'?" in said.err
