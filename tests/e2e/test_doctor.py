"""The doctor on this machine as it is, on one below a folder, and with real loaders, tools and interpreters."""

from __future__ import annotations

import ctypes.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, xpusetup
from xpusetup import __version__

if TYPE_CHECKING:
    from e2e.support import Said

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("doctor")]
HEADER = Path("/usr/include/level_zero/ze_api.h")
STANDIN = Path(__file__).parent / "files/ze_standin.c"
SLEEPER = "#!/bin/sh\nsleep 600 &\nsleep 600\n"
LEVELS = {"ok", "info", "warn", "fail", "skip"}
PCI = "sys/bus/pci/devices/0000:03:00.0"


def doctor(env: dict[str, str], *words: str, profile: str = "torch-2.14") -> Said:
    return xpusetup("doctor", "-p", profile, *words, env=env)


def levels(result: dict[str, Any]) -> dict[str, str]:
    return {finding["id"]: finding["level"] for finding in result["findings"]}


def save(env: dict[str, str], path: Path, *words: str) -> dict[str, Any]:
    assert doctor(env, "--save", str(path), *words).code in (0, 1)
    facts: dict[str, Any] = json.loads(path.read_text())
    return facts


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_what_is_saved_here_is_judged_alike_elsewhere(tmp_path: Path) -> None:
    env = caller(tmp_path / "home", https_proxy="http://jane:secret@proxy.invalid:1")
    here = doctor(env, "--save", str(tmp_path / "here.json"), "--json")
    there = doctor(caller(tmp_path / "other"), "--facts", str(tmp_path / "here.json"), "--json")
    found = here.document["result"]
    assert levels(found) == levels(there.document["result"])
    assert set(levels(found).values()) <= LEVELS
    assert here.code == there.code == (1 if found["root_causes"] else 0)
    saved = (tmp_path / "here.json").read_text()
    for name in ("secret", str(tmp_path / "home")):
        assert name not in saved + here.out
    assert json.loads(saved)["network"]["credentials"] == ["https_proxy"]
    assert json.loads(saved)["program"].startswith(__version__)


def test_a_machine_below_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "slash"
    write(root, {f"{PCI}/class": "0x030000\n", f"{PCI}/vendor": "0x8086\n", f"{PCI}/device": "0xe20b\n"})
    write(root, {"proc/sys/kernel/osrelease": "6.8.0-31-generic\n", "proc/cmdline": "ro quiet\n"})
    write(root, {"lib/modules/6.8.0-31-generic/modules.alias": "alias pci:v00008086d000056A0sv*sd*bc03sc*i* i915\n"})
    write(root, {"etc/os-release": 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n'})
    said = doctor(caller(tmp_path / "home", XPUSETUP_SYSROOT=str(root)), "--for", "run", "--json")
    found = said.document["result"]
    assert said.code == 1
    assert "kmd.force_probe" in found["root_causes"]
    cause = next(each for each in found["findings"] if each["id"] == "kmd.force_probe")
    assert cause["seen"] == "Linux 6.8.0-31-generic has no driver for Arc B580 (Battlemage) at 0000:03:00.0"
    assert cause["fix"]["commands"][:2] == ["sudo apt-get update", "sudo apt-get install -y linux-generic-hwe-24.04"]
    folded = {each["id"] for each in found["findings"] if each["caused_by"] == "kmd.force_probe"}
    assert {"kmd.bound", "perm.dri_nodes"} <= folded


def test_the_real_loader_without_a_driver(tmp_path: Path) -> None:
    if ctypes.util.find_library("ze_loader") is None:
        pytest.skip("no libze_loader here: apt-get install libze1")
    facts = save(caller(tmp_path / "home"), tmp_path / "facts.json")
    ladder = facts["userland"]["level_zero"]
    if ladder["init"] == 0:
        pytest.skip("this machine has a driver")
    assert ladder["init"] == 0x78000001
    assert Path(ladder["loader"]).name.startswith("libze_loader.so.1")
    assert ladder["devices"] == []


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile a loader with a card behind it, against Intel's own header."""
    if not HEADER.exists():
        pytest.skip(f"no {HEADER} here: apt-get install libze-dev")
    folder = tmp_path_factory.mktemp("loader")
    words = (
        "gcc",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(folder / "libze_loader.so.1"),
        str(STANDIN),
    )
    subprocess.run(words, check=True)
    return folder


def climb(tmp_path: Path, loader: Path, fault: str = "") -> dict[str, Any]:
    env = caller(tmp_path / "home", LD_LIBRARY_PATH=str(loader), ZE_STANDIN_FAULT=fault)
    ladder: dict[str, Any] = save(env, tmp_path / "facts.json")["userland"]["level_zero"]
    return ladder


def test_a_card_behind_the_loader(tmp_path: Path, loader: Path) -> None:
    ladder = climb(tmp_path, loader)
    assert (ladder["init"], ladder["drivers"], ladder["error"]) == (0, 1, "")
    assert ladder["devices"] == [
        {
            "name": "Intel(R) Arc(TM) B580 Graphics",
            "uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f",
            "vendor": "8086",
            "device": "e20b",
            "kind": "gpu",
            "driver_version": 17008466,
            "memory": 12 << 30,
        }
    ]


@pytest.mark.parametrize(
    ("fault", "init", "drivers", "error"),
    [
        ("dependency", 0x70020000, None, ""),
        ("no-device", 0, 1, ""),
        ("crash", None, None, "the driver ended the process: -6"),
    ],
)
def test_rungs_that_break(
    tmp_path: Path, loader: Path, fault: str, init: int | None, drivers: int | None, error: str
) -> None:
    ladder = climb(tmp_path, loader, fault)
    assert (ladder["init"], ladder["drivers"], ladder["error"]) == (init, drivers, error)
    assert ladder["devices"] == []


def test_a_tool_that_never_answers_is_a_note(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    write(tools, {"sycl-ls": SLEEPER, "hl-smi": "not a program\n"})
    for tool in tools.iterdir():
        tool.chmod(0o755)
    env = caller(tmp_path / "home")
    facts = save({**env, "PATH": f"{tools}:{env['PATH']}"}, tmp_path / "facts.json")
    assert facts["userland"]["sycl"] is None
    assert facts["notes"]["userland.sycl-ls"].endswith("sycl-ls took longer than 3 s")
    assert "cannot be started" in facts["notes"]["gaudi.hl-smi"]


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Give an environment with a torch of two files, for XPU."""
    folder = tmp_path / "venv"
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", str(folder)), check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    write(packages, {"torch/version.py": "__version__ = '2.14.1+xpu'\nxpu = '20260100'\ncuda = None\n"})
    write(packages, {"torch-2.14.1+xpu.dist-info/METADATA": "Name: torch\nVersion: 2.14.1+xpu\n"})
    return packages


TORCH = """
import warnings
from . import version
__version__ = version.__version__
def compiled_with_cxx11_abi(): return True
class xpu:
    _is_compiled = staticmethod(lambda: True)
    is_available = staticmethod(lambda: warnings.warn("XPU device count is zero!") or False)
    device_count = staticmethod(lambda: 0)
"""


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        (TORCH, {"torch.is_xpu_build": "ok", "torch.import": "info", "torch.available": "fail"}),
        ("raise ImportError('libsycl.so.9: no version') from OSError('x')", {"torch.import": "fail"}),
        ("import os; os.abort()", {"torch.import": "fail"}),
        ("raise SystemExit(0)", {"torch.import": "fail"}),
    ],
)
def test_what_importing_torch_does_is_a_fact(
    environment: Path, tmp_path: Path, text: str, checks: dict[str, str]
) -> None:
    write(environment, {"torch/__init__.py": text})
    env = caller(tmp_path / "home", VIRTUAL_ENV=str(environment.parents[2]))
    only = [word for check in ("torch.is_xpu_build", "torch.import", "torch.available") for word in ("--only", check)]
    found = levels(doctor(env, *only, "--json").document["result"])
    assert {name: found.get(name) for name in checks} == checks


def test_hosts_are_asked_only_by_name(tmp_path: Path) -> None:
    env = caller(tmp_path / "home", https_proxy="http://127.0.0.1:9")
    env.pop("PIP_FIND_LINKS", None)  # where the tests take wheels from
    assert "net.git_reach" not in levels(doctor(env, "--for", "build", "--json").document["result"])
    asked = ("--only", "net.git_reach", "--only", "net.wheels_reach")
    hosts = (
        "no answer from github.com, download.pytorch.org, pypi.org",
        "no answer from download.pytorch.org, pypi.org",
    )
    findings = doctor(env, *asked, "--json").document["result"]["findings"]
    assert [(each["level"] in ("fail", "warn"), each["seen"]) for each in findings] == [(True, seen) for seen in hosts]


def test_without_a_route_nothing_is_fetched(tmp_path: Path) -> None:
    """No host is asked: the kernel's own tables tell."""
    write(tmp_path, {"root/proc/net/route": "Iface\tDestination\n", "root/proc/net/ipv6_route": ""})
    env = caller(tmp_path / "home", XPUSETUP_SYSROOT=str(tmp_path / "root"))
    found = levels(doctor(env, "--for", "build", "--json").document["result"])
    assert found["net.git_reach"] in ("fail", "warn")
