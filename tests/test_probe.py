"""What is seen of a machine that lies below a folder: GPUs, nodes, toolkits and the limits of control groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xpusetup.machine import probe as probe_module
from xpusetup.machine import probe_tools
from xpusetup.machine.facts import NO_COMPILER, Gpu, Resources
from xpusetup.machine.probe import Ask, probe
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PCI = "sys/bus/pci/devices"
ICPX = "Intel(R) oneAPI DPC++/C++ Compiler {} (build)"
UNLIMITED = str((1 << 63) - 4096)


@pytest.fixture
def slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder that stands for /."""
    root = tmp_path / "slash"
    root.mkdir()
    monkeypatch.setenv("XPUSETUP_SYSROOT", f"{root}/")
    monkeypatch.setenv("HOME", "/home/me")
    return root


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def device(address: str, vendor: str, device: str, kind: str) -> dict[str, str]:
    values = {"vendor": f"0x{vendor}\n", "device": f"0x{device}\n", "class": f"0x{kind}\n"}
    return {f"{PCI}/{address}/{name}": text for name, text in values.items()}


def test_nothing_is_there(slash: Path) -> None:
    assert slash.is_dir()
    facts = probe(["hardware"])
    assert facts.hardware is not None
    assert (facts.hardware.gpus, facts.hardware.nodes) == ([], [])
    assert facts.resources is None


def test_hardware(slash: Path) -> None:
    write(slash, device("0000:03:00.0", "8086", "E20B", "030000"))
    write(slash, device("0000:00:02.0", "8086", "7d55", "030000"))
    write(slash, device("0000:04:00.0", "8086", "0bd5", "038000"))
    write(slash, device("0000:05:00.0", "1da3", "1020", "120000"))
    write(slash, device("0000:06:00.0", "8086", "1533", "020000"))
    (slash / PCI / "0000:03:00.0/driver").symlink_to("../../../bus/pci/drivers/xe")
    write(slash, {"dev/dri/renderD128": "", "dev/dri/card0": "", "dev/dri/renderD129": ""})
    write(slash, {"sys/class/drm/renderD128/device/vendor": "0x8086\n"})
    hardware = probe(["hardware"]).hardware
    assert hardware is not None
    assert [(gpu.address, gpu.device, gpu.driver) for gpu in hardware.gpus] == [
        ("0000:00:02.0", "7d55", None),
        ("0000:03:00.0", "e20b", "xe"),
        ("0000:04:00.0", "0bd5", None),
        ("0000:05:00.0", "1020", None),
    ]
    assert hardware.gpus[3] == Gpu(address="0000:05:00.0", vendor="1da3", device="1020", pci_class="120000")
    assert [(node.path, node.vendor, node.openable) for node in hardware.nodes] == [
        ("/dev/dri/renderD128", "8086", True),
        ("/dev/dri/renderD129", None, True),
    ]


@pytest.mark.parametrize(
    ("texts", "cpus", "memory"),
    [
        ({}, None, None),
        ({"cpu.max": "max 100000\n", "memory.max": "max\n"}, None, None),
        ({"cpu.max": "250000 100000\n", "memory.max": "8589934592\n"}, 2.5, 8589934592),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2.0, None),
        ({"memory/memory.limit_in_bytes": f"{UNLIMITED}\n"}, None, None),
        ({"memory/memory.limit_in_bytes": "4294967296\n"}, None, 4294967296),
        ({"cpu.max": "", "memory.max": "garbage"}, None, None),
    ],
)
def test_limits_of_a_control_group(
    slash: Path, texts: dict[str, str], cpus: float | None, memory: int | None, tmp_path: Path
) -> None:
    write(slash / "sys/fs/cgroup", texts)
    resources = probe(["resources"], Ask(places={tmp_path / "not/yet/there": ["wheels"]})).resources
    assert isinstance(resources, Resources)
    assert (resources.cpu_limit, resources.memory_limit) == (cpus, memory)
    assert resources.disks[0].path == str(tmp_path / "not/yet/there")
    assert resources.disks[0].writable


@pytest.fixture
def compilers(slash: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give what each compiler below the folder says; what is not named says nothing."""
    said: dict[str, str] = {}

    def run(argv: Sequence[str], **_words: object) -> ProcessOutput:
        name = argv[0].removeprefix(str(slash))
        return ProcessOutput(0, said.get(name, ""), "") if name in said else ProcessOutput(None, "", "", "is not there")

    monkeypatch.setattr(probe_tools, "run_process", run)
    return said


def add(slash: Path, said: dict[str, str], path: str, version: str) -> None:
    write(slash, {path.lstrip("/"): ""})
    said[path] = ICPX.format(version)


def test_no_toolkit(slash: Path, compilers: dict[str, str]) -> None:
    assert compilers == {}
    (slash / "opt").mkdir()
    kits = probe(["toolkits"], Ask(toolkit="/sw/oneapi/")).toolkits
    assert kits is not None
    assert kits.found == []
    assert kits.searched == ["/sw/oneapi", "/opt/intel/oneapi", "/home/me/intel/oneapi"]


def test_toolkits(slash: Path, compilers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    base = "/opt/intel/oneapi"
    add(slash, compilers, f"{base}/compiler/2026.1/bin/icpx", "2026.1.0")
    add(slash, compilers, f"{base}/compiler/2025.3/bin/icpx", "2025.3.2")
    (slash / f".{base}/compiler/latest").symlink_to("2026.1")
    compilers[f"{base}/compiler/latest/bin/icpx"] = ICPX.format("2026.1.0")
    add(slash, compilers, f"{base}/pytorch-gpu-dev-0.5/bin/icpx", "2024.1.4")
    write(slash, {f".{base}/setvars.sh": "", f".{base}/pytorch-gpu-dev-0.5/oneapi-vars.sh": ""})
    write(slash, {f".{base}/compiler/2026.1/env/vars.sh": "", f".{base}/pti/latest/env/vars.sh": ""})
    add(slash, compilers, "/sw/bin/bin/icpx", "unreadable")
    monkeypatch.setenv("ONEAPI_ROOT", "/sw")
    kits = probe(["toolkits"]).toolkits
    assert kits is not None
    assert [(kit.compiler, kit.version) for kit in kits.found] == [
        ("/sw/bin/bin/icpx", None),
        (f"{base}/compiler/latest/bin/icpx", "2026.1.0"),
        (f"{base}/compiler/2025.3/bin/icpx", "2025.3.2"),
        (f"{base}/pytorch-gpu-dev-0.5/bin/icpx", "2024.1.4"),
    ]
    assert kits.found[0].setvars is None
    assert kits.found[1].setvars == f"{base}/setvars.sh"
    assert kits.found[1].scripts == [
        f"{base}/compiler/latest/env/vars.sh",
        f"{base}/pti/latest/env/vars.sh",
        f"{base}/pytorch-gpu-dev-0.5/oneapi-vars.sh",
    ]


@pytest.mark.parametrize(
    ("libraries", "note"),
    [({}, NO_COMPILER), ({"libigc.so.2": "/usr/lib/libigc.so.2"}, None), (None, None)],
)
def test_a_systems_ocloc_without_its_compiler(
    libraries: dict[str, str] | None, note: str | None, slash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers questions and compiles nothing; its package on Debian does not bring the compiler."""
    assert slash.is_dir()
    monkeypatch.setattr(probe_tools, "_ocloc", lambda *_: "/usr/bin/ocloc")
    monkeypatch.setattr(probe_tools, "ask", lambda *_: "")
    monkeypatch.setattr(probe_tools, "probe_libraries", lambda *_: libraries)
    assert probe(["toolkits"]).notes.get("toolkits.ocloc") == note


def test_variables_that_matter_and_no_other(slash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slash.is_dir()
    for name in probe_module.TOLD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/x")
    monkeypatch.setenv("AWS_SECRET", "hidden")
    assert probe(["environment"]).environment == {"LD_LIBRARY_PATH": "/x"}
