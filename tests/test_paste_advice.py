"""doctor --paste: commands as they are typed where the post comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.pasting import commands, findings
from xpusetup.base.command import Command
from xpusetup.base.model import Fix
from xpusetup.paste.advice import habits_of

if TYPE_CHECKING:
    from pathlib import Path

UV = "$ uv pip install torch\n + torch==2.11.0\n$ uv run python -c 'print(torch.__version__)'\n2.11.0+cpu\n"


def test_commands_are_those_of_the_installer_that_is_used(tmp_path: Path) -> None:
    index = "--index-url https://download.pytorch.org/whl/xpu"
    found = commands(UV, "torch.is_xpu_build", tmp_path)
    assert found == [f"uv pip install --reinstall torch==2.11.0 {index}"]


SETVARS = 'exec env -i HOME="$HOME" bash --norc'


@pytest.mark.parametrize(
    ("post", "line", "typed"),
    [
        ("$ uv venv\n", "python -m pip uninstall -y triton", "uv pip uninstall triton"),
        ("$ uv venv\n$ pip install torch\n", "python -m pip uninstall -y triton", "python -m pip uninstall -y triton"),
        ("[me@node ~]$ module load intel/2025.1\n", SETVARS, "module purge"),
        ("$ bash\n", SETVARS, SETVARS),
        ("I run Fedora Silverblue 42\n", "sudo dnf install -y intel-opencl", "sudo rpm-ostree install intel-opencl"),
        ("This is IncusOS.\n", "sudo apt-get update", ""),
    ],
)
def test_commands_as_they_are_typed_there(post: str, line: str, typed: str) -> None:
    assert habits_of([post]).command(line) == typed


def test_a_system_without_packages_is_told_what_to_do_instead() -> None:
    fix = habits_of(["Talos Linux 1.9\n"]).fix(
        Fix(say="Then restart.", commands=(("any", (Command("sudo apt-get update"),)),))
    )
    assert fix.commands == (("any", ()),)
    assert fix.say.startswith("Then restart. Talos Linux has no packages")


NONE = "Number of platforms                               0\n"


def test_what_mends_opencls_variable_is_to_unset_it() -> None:
    found = findings(f"OCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n$ clinfo\n{NONE}")["umd.opencl_icd"]
    assert found.fix.commands[0][1][0].startswith("unset OCL_ICD_VENDORS")


def test_opencls_variable_is_no_warning_where_it_lists_the_gpu() -> None:
    shown = "$ clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) Arc(TM) A770 Graphics\n"
    found = findings(f"OCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n{shown}")
    assert found["umd.opencl_icd"].level in ("ok", "info")


ABC = "abc@0123456789ab:/$ id\nuid=1000(abc) gid=1000(abc) groups=1000(abc)\nabc@0123456789ab:/$ ls -l /dev/dri\n"


NODE = "crw-rw---- 1 0 993 226, 128 Jan  2 08:00 renderD128\n"


def test_abc_is_made_a_member_inside() -> None:
    found = findings(f"{ABC}{NODE}Arc A380\n")["perm.container_gid"]
    assert "usermod -aG" in str(found.fix.commands)
    assert "abc" in found.fix.say


POD = "Flex 170\n$ kubectl exec ov-0 -- id\nuid=1000 gid=1000 groups=1000\n$ kubectl exec ov-0 -- ls -ln /dev/dri\n"


def test_a_pod_is_given_the_group_in_its_spec() -> None:
    found = findings(f"{POD}{NODE}no devices found\n")["perm.container_gid"]
    assert "supplementalGroups: [993]" in str(found.fix.commands)


MAPPED = "crw-rw---- 1 nobody nogroup 226, 128 Oct  1 07:00 renderD128\n"


BLIND = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.8.0+xpu False\n"


def test_podman_keeps_groups() -> None:
    asked = f"$ podman run --device /dev/dri a/b:1 ls -l /dev/dri\n{MAPPED}"
    text = f"{asked}$ podman run a/b:1 id\nuid=1000 gid=1000 groups=1000\n{BLIND}"
    assert "keep-groups" in str(findings(text)["perm.container_gid"].fix.commands)
