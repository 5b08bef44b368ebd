"""What is asked most often, in the forms in which it is posted: names of versions, kernels in words, and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.diagnosis import diagnose
from xpusetup.base.model import Fix
from xpusetup.commands.doctor import Diagnosis, DoctorOptions
from xpusetup.machine.versions import is_stock
from xpusetup.paste.advice import habits_of
from xpusetup.paste.facts import facts_from_paste
from xpusetup.paste.prose import failing_kernel
from xpusetup.run.tables import gpu_table, sayings, showings
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.machine.facts import Facts


def read(text: str) -> Facts:
    return facts_from_paste([text], "", gpu_table(), (), sayings(), showings())[0]


def look(text: str, tmp_path: Path) -> Diagnosis:
    file = tmp_path / "post.txt"
    file.write_text(text)
    return diagnose(Where(), DoctorOptions(paste=(str(file),)))


def commands(text: str, check: str, tmp_path: Path) -> list[str]:
    return next(each.fix.commands for each in look(text, tmp_path).findings if each.id == check)


@pytest.mark.parametrize(
    ("version", "stock"),
    [
        ("23.43.27642.40-1ubuntu3", True),
        ("23.43.27642.50-803~22.04", False),
        ("23.43.27642.52-803.el9", False),
        ("24.39.31294.20-1032~24.04", False),
    ],
)
def test_whose_driver_of_23_43_it_is(version: str, stock: bool) -> None:
    assert is_stock(version) is stock


@pytest.mark.parametrize(
    ("sentence", "kernels"),
    [
        ("On kernel 6.5.0-45 it works, on 6.8.0-31 clinfo lists nothing.", ("6.5.0-45", "6.8.0-31")),
        ("With Linux 6.12 it fails but with 6.11 it works", ("6.11", "6.12")),
        ("Kernel 6.14 works, and 6.15 works", ("", "")),
        ("Python 3.12 works, torch 2.6 fails", ("", "")),
    ],
)
def test_the_kernel_that_fails_of_two(sentence: str, kernels: tuple[str, str]) -> None:
    assert failing_kernel([sentence]) == kernels


def test_the_version_of_intels_extension_is_not_torchs() -> None:
    torch = read(
        "$ python -c 'print(torch.__version__); print(ipex.__version__)'\n2.3.1+cxx11.abi\n2.3.110+xpu\n"
    ).torch
    assert torch is not None
    assert torch.version == "2.3.1+cxx11.abi"
    assert torch.distributions["intel-extension-for-pytorch"] == "2.3.110+xpu"


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ('PRETTY_NAME="Ubuntu 22.04.4 LTS"\n$ uname -r\n6.5.0-45-generic\n', ("Ubuntu 22.04.4 LTS", "22.04")),
        ("$ uname -r\n4.18.0-477.10.1.el8_8.x86_64\n", ("RHEL or what is made from it 8.8", "8.8")),
        ("$ uname -r\n6.13.7-200.fc41.x86_64\n", ("Fedora Linux 41", "41")),
    ],
)
def test_the_system_by_what_was_shown(text: str, system: tuple[str, str]) -> None:
    found = read(text).system
    assert found is not None
    assert (found.name, found.version) == system


def test_rocky_linux_is_no_kernel() -> None:
    facts = read("The server runs Rocky Linux 8.7 with two cards.\n$ python -c 'import torch'\nImportError: no\n")
    assert facts.system is None or facts.system.kernel in ("0", "")


UV = "$ uv pip install torch\n + torch==2.11.0\n$ uv run python -c 'print(torch.__version__)'\n2.11.0+cpu\n"


def test_commands_are_those_of_the_installer_that_is_used(tmp_path: Path) -> None:
    index = "--index-url https://download.pytorch.org/whl/xpu"
    found = commands(UV, "torch.is_xpu_build", tmp_path)
    assert found == [f"uv pip install --reinstall torch==2.11.0 {index}"]


def test_no_release_is_named_that_the_index_does_not_have(tmp_path: Path) -> None:
    text = ">>> torch.__version__\n'1.13.1+cu117'\n>>> torch.xpu.is_available()\nFalse\n"
    assert "torch==" not in " ".join(commands(text, "torch.is_xpu_build", tmp_path))


def test_a_build_that_took_the_place_of_another_is_told_with_it(tmp_path: Path) -> None:
    text = "$ uv pip install -e .\nUninstalled 1 package in 1ms\n - torch==2.11.0+xpu\n + torch==2.11.0+cpu\n"
    said = next(each for each in look(text, tmp_path).findings if each.id == "torch.is_xpu_build")
    assert "2.11.0+xpu" in said.why
    assert "--no-deps" in said.fix.say


def test_nothing_is_installed_where_torch_has_a_device(tmp_path: Path) -> None:
    head = "$ uname -r\n6.6.87.2-microsoft-standard-WSL2\n"
    works = "$ python -c 'print(torch.__version__, torch.xpu.is_available())'\n2.9.1+xpu True\n"
    names = "$ clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) Iris(R) Xe Graphics\n"
    for text in (head + works, names + works):
        steps = look(text, tmp_path).way.steps
        assert [each.title.partition(":")[0] for each in steps] == ["nothing to install"], steps


def test_the_number_of_the_card_is_taken_from_the_list(tmp_path: Path) -> None:
    listed = "[level_zero:gpu][level_zero:1] Intel(R) Level-Zero, Intel(R) Arc(TM) A750 Graphics 1.3 [1.3.30714]\n"
    text = f"RuntimeError: Can't add devices across platforms to a single context. -33\n$ sycl-ls\n{listed}"
    said = next(each for each in look(text, tmp_path).findings if each.id == "umd.device_choice")
    assert "ONEAPI_DEVICE_SELECTOR=level_zero:1" in said.fix.say


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
    fix = habits_of(["Talos Linux 1.9\n"]).fix(Fix(say="Then restart.", commands=(("any", ("sudo apt-get update",)),)))
    assert fix.commands == (("any", ()),)
    assert fix.say.startswith("Then restart. Talos Linux has no packages")
