"""What is seen of a machine that lies below a folder: kernel, driver, container, network, environments, trees."""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from xpusetup import doctor
from xpusetup.base.document import to_text
from xpusetup.base.errors import NotReadyError
from xpusetup.config.settings import NetworkSettings, make_network
from xpusetup.doctor import pytorch, toolkit
from xpusetup.machine import probe as probe_module
from xpusetup.machine import probe_hardware, probe_places, probe_python, probe_torch, probe_userland
from xpusetup.machine.probe import Ask, probe
from xpusetup.system import process
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.machine.facts import Facts

RELEASE = "6.14.0-33-generic"


@pytest.fixture
def slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder that stands for /, and a caller without settings in another."""
    root = tmp_path / "slash"
    root.mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(root))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name in (*probe_module.TOLD, *probe_places.INDEXES, *probe_places._both_cases(), "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PIP_CONFIG_FILE", "KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"):
        monkeypatch.delenv(name, raising=False)
    return root


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, ProcessOutput]:
    """Give what programs say by their name; what is not named is not there."""
    answers: dict[str, ProcessOutput] = {}

    def run(argv: Sequence[str], **_words: object) -> ProcessOutput:
        name = argv[0].rpartition("/")[2]
        return answers.get(name, ProcessOutput(None, "", "", f"{name} is not there"))

    for module in (process, probe_userland, probe_torch, probe_torch, probe_places):
        monkeypatch.setattr(module, "run_process", run)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in answers else None)
    return answers


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def seen(section: str, about: Ask | None = None) -> Facts:
    return probe([section], about)  # type: ignore[list-item]


def test_kernel(slash: Path) -> None:
    pci = "sys/bus/pci/devices/0000:03:00.0"
    write(
        slash,
        {f"{pci}/{name}": text for name, text in {"class": "0x030000", "vendor": "0x8086", "device": "0xe20b"}.items()},
    )
    write(slash, {"proc/sys/kernel/osrelease": f"{RELEASE}\n", "proc/cmdline": "ro quiet modprobe.blacklist=i915\n"})
    write(slash, {"sys/module/xe/parameters/force_probe": "e20b\n", "sys/module/i915/version": "1.25.2\n"})
    write(slash, {f"lib/modules/{RELEASE}/modules.alias": "alias pci:v00008086d0000E20Bsv*sd*bc03sc*i* xe\n"})
    write(slash, {f"lib/modules/{RELEASE}/updates/dkms/i915.ko.zst": "", "etc/modprobe.d/no.conf": "blacklist xe\n"})
    write(slash, {"lib/firmware/xe/bmg_guc_70.bin.zst": "", "lib/firmware/xe/other.bin": ""})
    write(slash, {"var/log/dmesg": "[ 1.0] xe 0000:03:00.0: [drm] Found BATTLEMAGE\n[ 2.0] usb\n"})
    kernel = seen("kernel").kernel
    assert kernel is not None
    assert (kernel.release, kernel.blacklisted, kernel.dkms) == (RELEASE, ["i915", "xe"], ["i915"])
    assert (kernel.modules, kernel.force_probe) == ({"i915": "1.25.2", "xe": None}, {"xe": "e20b"})
    assert (kernel.claims, kernel.firmware) == ({"e20b": ["xe"]}, ["xe/bmg_guc_70.bin.zst"])
    assert kernel.messages == ["xe 0000:03:00.0: [drm] Found BATTLEMAGE"]


def test_kernel_of_a_container(slash: Path) -> None:
    assert slash.is_dir()
    facts = seen("kernel")
    assert facts.kernel is not None
    assert (facts.kernel.claims, facts.kernel.firmware, facts.kernel.messages) == (None, None, None)
    assert "modules.alias cannot be read" in facts.notes["kernel.claims"]


def test_messages_that_only_root_may_read(slash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(slash, {"proc/sys/kernel/dmesg_restrict": "1\n"})
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    told: dict[str, str] = {}
    outside = type(
        "Outside", (), {"text": "", "read": staticmethod(lambda name: (slash / name.lstrip("/")).read_text())}
    )
    assert probe_hardware._messages(outside(), told) is None
    assert told == {"kernel.messages": "kernel.dmesg_restrict is 1: only root may read the kernel's messages"}


def test_userland(slash: Path, said: dict[str, ProcessOutput], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(slash, {"var/lib/dpkg/status": "Package: libze1\nStatus: install ok installed\nVersion: 1.24.0\n"})
    write(slash, {"etc/ld.so.cache": "", "etc/OpenCL/vendors/intel.icd": "/usr/lib/libigdrcl.so\n"})
    write(slash, {"usr/include/level_zero/ze_api.h": ""})
    write(tmp_path, {"lib/libigc.so.2": ""})
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/lib:")
    said["ldconfig"] = ProcessOutput(0, "\tlibze_loader.so.1 (libc6,x86-64) => /lib/libze_loader.so.1\n", "")
    said["sycl-ls"] = ProcessOutput(0, "[opencl:cpu][opencl:0] Intel(R) OpenCL\n", "")
    said["clinfo"] = ProcessOutput(None, "", "", "clinfo took longer than 3 s")
    said[sys.executable.rpartition("/")[2]] = ProcessOutput(-11, '{"loader": "/l", "init": null}\n', "")
    facts = seen("userland")
    found = facts.userland
    assert found is not None
    assert found.packages == {"libze1": "1.24.0"}
    assert found.libraries == {
        "libze_loader.so.1": "/lib/libze_loader.so.1",
        "libigc.so.2": f"{tmp_path}/lib/libigc.so.2",
    }
    assert (found.opencl, found.sycl) == (
        {"intel.icd": "/usr/lib/libigdrcl.so"},
        ["[opencl:cpu][opencl:0] Intel(R) OpenCL"],
    )
    assert (found.clinfo, facts.notes) == (
        None,
        {
            "userland.clinfo": "clinfo took longer than 3 s",
            "userland.opencl": "intel.icd names /usr/lib/libigdrcl.so, which is not there",
        },
    )
    assert found.level_zero is not None
    assert found.level_zero.error == "the driver ended the process: -11"
    assert found.headers == ["/usr/include/level_zero/ze_api.h"]


def test_userland_where_nothing_is(slash: Path, said: dict[str, ProcessOutput]) -> None:
    assert slash.is_dir()
    assert said == {}
    facts = seen("userland")
    assert facts.userland is not None
    assert facts.userland.level_zero is not None
    assert facts.userland.level_zero.error == "libze_loader.so.1 is not here"
    assert facts.notes == {"userland.packages": "neither dpkg's status file nor pacman nor rpm is here"}


@pytest.mark.parametrize(
    ("texts", "variables", "kind"),
    [
        ({}, {}, ""),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({}, {"SINGULARITY_CONTAINER": "/x.sif"}, "apptainer"),
        ({"proc/1/environ": "container=lxc\0"}, {}, "lxc"),
        ({"proc/sys/kernel/osrelease": "6.6.87.2-microsoft-standard-WSL2\n"}, {}, "wsl2"),
    ],
)
def test_container(
    slash: Path, texts: dict[str, str], variables: dict[str, str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(slash, texts)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    container = seen("container").container
    assert container is not None
    assert container.kind == kind
    assert bool(container.details) == (kind == "wsl2")


def test_network_holds_no_password(
    slash: Path, said: dict[str, ProcessOutput], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(slash, {"etc/pip.conf": "[global]\nindex-url = https://me:secret@index.example/simple\n"})
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy.example:3128")
    monkeypatch.setattr(shutil, "which", lambda _name: "/usr/bin/git")
    said["git"] = ProcessOutput(0, "url.https://me:secret@mirror/.insteadof https://github.com/\n", "")
    network = seen("network").network
    assert network is not None
    assert "secret" not in to_text(network)
    assert network.proxies == {"https_proxy": "http://***@proxy.example:3128"}
    assert network.indexes == {"/etc/pip.conf index-url": "https://***@index.example/simple"}
    assert network.redirects == {"https://***@mirror/": "https://github.com/"}
    assert network.credentials == ["/etc/pip.conf index-url", "https://***@mirror/", "https_proxy"]
    assert network.reach is None


def test_mirrors_of_a_site_are_known_as_steps_know_them(slash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(slash, {"etc/pip.conf": ""})
    asked: dict[str, str] = {}
    monkeypatch.setattr(shutil, "which", lambda _name: "/usr/bin/git")
    tell = ProcessOutput(0, "", "")
    monkeypatch.setattr(probe_places, "run_process", lambda *_, env, **__: asked.update(env) or tell)
    site = NetworkSettings(pip_index="file:///mirror", git={"https://github.com/": "file:///git/"})
    network = seen("network", Ask(network=make_network(site, {}))).network
    assert network is not None
    assert network.indexes["PIP_INDEX_URL"] == "file:///mirror"
    assert asked["GIT_CONFIG_KEY_0"] == "url.file:///git/.insteadOf"  # of which git itself tells


def environment(folder: Path, *info: str) -> Path:
    packages = folder / "lib/python3.11/site-packages"
    write(folder, {"pyvenv.cfg": "", "bin/python3": ""})
    for name in info:
        (packages / name).mkdir(parents=True)
    packages.mkdir(parents=True, exist_ok=True)
    return packages


def test_torch_is_read_and_not_imported(slash: Path, said: dict[str, ProcessOutput], tmp_path: Path) -> None:
    assert slash.is_dir()
    assert said == {}
    environment(tmp_path / "empty")
    packages = environment(
        tmp_path / "venv",
        "torch-2.13.0+cpu.dist-info",
        "NumPy-2.3.1.dist-info",
        "numpy-1.26.4.dist-info",
        "six-1.0.dist-info",
    )
    write(
        packages,
        {
            "torch/version.py": "__version__ = '2.13.0+cpu'\ncuda = None\n",
            "torch-2.13.0+cpu.dist-info/METADATA": "Requires-Dist: intel-sycl-rt==2025.0.2\nRequires-Dist: sympy>=1\n",
        },
    )
    write(packages, {"torch/lib/libc10_xpu.so": "\x7fELF libsycl.so.8\0libsycl.so.8\0"})
    write(tmp_path / "venv/lib", {"libsycl.so.8": ""})
    facts = seen("torch", Ask(environments=(str(tmp_path / "empty"), str(tmp_path / "venv"))))
    torch = facts.torch
    assert torch is not None
    assert (torch.prefix, torch.version, torch.xpu, torch.cuda) == (str(tmp_path / "venv"), "2.13.0+cpu", "", "")
    assert torch.distributions == {"numpy": "2.3.1", "torch": "2.13.0+cpu"}
    assert (torch.doubled, torch.requires, torch.sycl) == (["numpy"], ["intel-sycl-rt==2025.0.2"], ["libsycl.so.8"])
    assert list(torch.libraries) == ["libsycl.so.8"]
    assert torch.report is None


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (ProcessOutput(0, 'noise\n{"error": "", "seconds": 1.5, "version": "2.8.0+xpu"}\n', ""), ""),
        (ProcessOutput(-6, "", "terminate called\nAborted"), "import torch ended the process with -6: Aborted"),
        (ProcessOutput(None, "", "", "python3 took longer than 20 s"), None),
    ],
)
def test_torch_for_xpu_is_imported(
    slash: Path, said: dict[str, ProcessOutput], tmp_path: Path, output: ProcessOutput, error: str | None
) -> None:
    assert slash.is_dir()
    packages = environment(tmp_path / "venv", "torch-2.8.0+xpu.dist-info")
    write(packages, {"torch/version.py": "__version__ = '2.8.0+xpu'\nxpu: Optional[str] = '20250101'\n"})
    said["python3"] = output
    facts = seen("torch", Ask(environments=(str(tmp_path / "venv"),)))
    assert facts.torch is not None
    assert (facts.torch.report.error if facts.torch.report else None) == error
    assert ("torch.report" in facts.notes) == (error is None)


def test_a_source_tree(slash: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slash.is_dir()
    tree = tmp_path / "pytorch-2.5.1"
    write(tree, {"version.txt": "2.5.1\n", "torch/__init__.py": "", "third_party/x/a": "", "setup.py": ""})
    write(tree, {".gitmodules": "[submodule]\n\tpath = third_party/x\n[submodule]\n    path = third_party/y\n"})
    write(tree, {"build/CMakeCache.txt": "CMAKE_HOME_DIRECTORY:INTERNAL=/old\nCXX:STRING=x\n", ".git": ""})
    assert seen("tree").tree is None
    monkeypatch.chdir(tree / "torch")
    found = seen("tree").tree
    assert found is not None
    assert (found.path, found.version, found.git, found.in_use, found.setup_py) == (
        str(tree),
        "2.5.1",
        True,
        False,
        True,
    )
    assert (found.submodules, found.cache) == (["third_party/y"], {"CMAKE_HOME_DIRECTORY": "/old"})
    monkeypatch.chdir(tree)
    found = seen("tree").tree
    assert found is not None
    assert found.in_use


def test_other_accelerators(slash: Path, said: dict[str, ProcessOutput]) -> None:
    write(
        slash, {"sys/class/accel/accel0/device/vendor": "0x8086\n", "sys/class/accel/accel1/device/vendor": "0x1da3\n"}
    )
    write(slash, {"sys/module/habanalabs/version": "1.24.1\n", "dev/davinci0": "", "dev/davinci_manager": ""})
    write(slash, {"usr/local/Ascend/driver/version.info": "Version=25.2.0\n", "usr/local/Ascend/cann/set_env.sh": ""})
    said["hl-smi"] = ProcessOutput(0, "0, HL-225, 1.24.1-x, 768 MiB, 98304 MiB\n", "")
    said["npu-smi"] = ProcessOutput(1, "", "dcmi module initialize failed")
    facts = probe(["gaudi", "ascend"])
    assert facts.gaudi is not None
    assert (facts.gaudi.nodes, facts.gaudi.driver) == (["/dev/accel/accel1"], "1.24.1")
    assert [card.name for card in facts.gaudi.cards or []] == ["HL-225"]
    assert facts.ascend is not None
    assert (facts.ascend.nodes, facts.ascend.driver) == (["/dev/davinci0", "/dev/davinci_manager"], "25.2.0")
    assert (facts.ascend.cards, facts.ascend.scripts) == (None, ["/usr/local/Ascend/cann/set_env.sh"])
    assert facts.notes == {"ascend.npu-smi": "/usr/bin/npu-smi ended with 1 and said: dcmi module initialize failed"}


def test_a_probe_that_breaks_is_a_note(slash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slash.is_dir()

    def break_down(*_words: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(probe_hardware, "probe_kernel", break_down)
    facts = probe(["kernel", "container"])
    assert (facts.kernel, facts.container is not None) == (None, True)
    assert facts.notes == {"kernel": "the probe itself failed: ZeroDivisionError: by nothing"}


def test_what_a_user_has_to_mend_is_no_note(slash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slash.is_dir()

    def refuse(_wanted: str) -> None:
        raise NotReadyError("there is no python3.9 here")

    monkeypatch.setattr(probe_python, "probe_python", refuse)
    with pytest.raises(NotReadyError, match=r"python3\.9"):
        probe(["python"])


def test_sections_are_probed_at_the_same_time(slash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that wait for each other can only end together."""
    assert slash.is_dir()
    meeting = threading.Barrier(2, timeout=20)

    def meet() -> None:
        meeting.wait()

    monkeypatch.setattr(probe_places, "probe_tree", meet)
    monkeypatch.setattr(probe_places, "probe_caches", meet)
    facts = probe(["tree", "caches"])
    assert facts.notes == {}


def test_what_checks_ask_of_the_shell_is_written_down() -> None:
    """A variable that a check reads and no probe writes down would never be seen."""
    folder = Path(doctor.__file__).parent
    text = "".join(path.read_text() for path in folder.glob("*.py"))
    asked = set(re.findall(r'variable\(question, "(\w+)"\)', text)) | {"CC", "CXX", *toolkit.LISTS, *pytorch.FALLBACK}
    assert len(asked) > 10
    assert asked <= set(probe_module.TOLD)
