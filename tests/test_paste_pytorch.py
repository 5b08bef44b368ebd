"""doctor --paste: which torch is there in the end, what it was built for, and whether it has a device."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from data.pasting import causes, commands, findings, look, read
from xpusetup.doctor.pytorch import _is_of_another
from xpusetup.paste.pytorch import find_environment
from xpusetup.ui.doctor import show_doctor

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.machine.environments import InstalledTorch

UV = "Uninstalled 1 package in 9ms\nInstalled 1 package in 8ms\n - torch==2.9.0+xpu\n + torch==2.9.1+cpu\n"


def torch_of(text: str) -> InstalledTorch:
    told = read(text).torch
    assert told is not None
    return told


PIP = "    Found existing installation: torch 2.9.0+xpu\n      Successfully uninstalled torch-2.9.0+xpu\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (f"It was torch 2.9.0+xpu.\n{PIP}Successfully installed torch-2.9.1 triton-3.5.1\n", "2.9.1"),
        (UV, "2.9.1+cpu"),
        (" - torch==2.9.0+xpu\n", "2.9.0+xpu"),
        ("torch 2.9.0+xpu worked\n$ pip list\ntorch    2.8.0\n", "2.8.0"),
        ("$ pip list\ntorch    2.8.0+xpu\n>>> torch.__version__\n'2.9.0+cpu'\n", "2.9.0+cpu"),
        (
            f"$ python -c 'import torch; print(torch.__version__, torch.version.cuda)'\n2.9.1+cu128 12.8\n{PIP}",
            "2.9.1+cu128",
        ),
    ],
)
def test_the_torch_that_is_there_in_the_end(text: str, version: str) -> None:
    assert torch_of(text).version == version


def test_one_print_says_for_what_it_was_built() -> None:
    asked = "print(torch.__version__, torch.version.cuda, torch.xpu.is_available(), torch.cuda.get_device_name(0))"
    told = torch_of(f">>> {asked}\n2.9.1+cu128 12.8 False some card of a name\n")
    assert (told.version, told.cuda, told.xpu) == ("2.9.1+cu128", "12.8", "")
    assert told.report is not None
    assert told.report.available is False


def test_an_import_that_fails_later_counts() -> None:
    worked = "$ python -c 'import torch; print(torch.xpu.is_available())'\nTrue\n"
    broken = "ImportError: /opt/intel/oneapi/lib/libsycl.so.7: undefined symbol: urDeviceGet\n"
    assert causes(f"torch 2.8.0+xpu\n{worked}$ python a.py\n{broken}") == ["runtime.ur_mixed"]
    assert causes(f"torch 2.8.0+xpu\n$ python a.py\n{broken}{worked}") == []


NO_MATCH = "ERROR: Could not find a version that satisfies the requirement {} (from versions: 2.5.0, 2.9.0)\n"


@pytest.mark.parametrize("asked", ["torch==2.5.1+cxx11.abi", "torch==2.8.0+xpu"])
def test_a_python_that_the_release_is_for(asked: str) -> None:
    told = f"{NO_MATCH.format(asked)}$ python --version\nPython 3.12.3\nA580\n"
    assert "py.version" not in causes(told)


@pytest.mark.parametrize(
    ("library", "needs", "named"),
    [
        ("/opt/conda/lib/libstdc++.so.6", "/lib/x86_64-linux-gnu/libze_loader.so.1", ["setvars.conda_libstdcxx"]),
        ("/home/a/m/envs/b/lib/libstdc++.so.6", "/home/a/m/envs/b/lib/x/torch/lib/t.so", ["setvars.conda_libstdcxx"]),
        ("/lib/x86_64-linux-gnu/libstdc++.so.6", "/home/a/v/lib/torch/lib/libtorch.so", []),
    ],
)
def test_a_cxx_library_that_is_older_than_what_asks_it(library: str, needs: str, named: list[str]) -> None:
    assert causes(f"{library}: version `GLIBCXX_3.4.30' not found (required by {needs})\n") == named


BLIND = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5 OpenCL 3.0\n"


def test_a_list_with_a_cpu_torch_is_aside_where_nobody_asked_torch() -> None:
    text = f"$ sycl-ls\n{BLIND}torch  2.9.1+cpu\n"
    assert causes(text) == ["umd.ze_init"]
    assert causes(f"{text}torch.xpu.is_available() False\n")[0] == "torch.is_xpu_build"


def test_a_torch_without_a_version_is_named_in_no_command() -> None:
    post = "$ python a.py\nAssertionError: Torch not compiled with XPU enabled\n"
    told = findings(post)["torch.is_xpu_build"]
    assert told.level == "fail"
    assert "was not told" not in f"{told.seen}{told.fix.commands}"


def test_one_print_answers_several_questions() -> None:
    ask = 'python -c "import torch; print(torch.__version__, torch.xpu.is_available())"'
    facts = read(f"    jo@box:~$ {ask}\n    2.9.1+xpu False\n")
    assert facts.torch is not None
    assert facts.torch.report is not None
    assert (facts.torch.version, facts.torch.report.available) == ("2.9.1+xpu", False)
    other = read(f"$ {ask}\n2.9.1+xpu it works\n").torch
    assert other is not None
    assert (other.version, other.report) == ("2.9.1+xpu", None)


def test_the_version_of_intels_extension_is_not_torchs() -> None:
    torch = read(
        "$ python -c 'print(torch.__version__); print(ipex.__version__)'\n2.3.1+cxx11.abi\n2.3.110+xpu\n"
    ).torch
    assert torch is not None
    assert torch.version == "2.3.1+cxx11.abi"
    assert torch.distributions["intel-extension-for-pytorch"] == "2.3.110+xpu"


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


@pytest.mark.parametrize(
    ("vision", "torch", "other"),
    [
        ("0.27.0.dev20260420+xpu", "2.13.0.dev20260420+xpu", False),
        ("0.27.0.dev20260101+xpu", "2.13.0.dev20260420+xpu", True),
        ("0.28.0.dev20260231+xpu", "2.13.0.dev20260420+xpu", False),  # a day that no calendar has
        ("0.27.0+xpu", "2.13.0+xpu", True),
        ("0.28.0+xpu", "2.13.0+xpu", False),
    ],
)
def test_nightlies_belong_together_by_their_days(vision: str, torch: str, other: bool) -> None:
    assert _is_of_another("torchvision", vision, torch) is other


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (
            '  File "/home/me/ComfyUI/venv/lib/python3.12/site-packages/torch/cuda/__init__.py", line 372',
            "/home/me/ComfyUI/venv",
        ),
        ("$ source ~/ai/.venv/bin/activate", "~/ai/.venv"),
        (
            "Requirement already satisfied: torch in /opt/conda/envs/xpu/lib/python3.11/site-packages (2.9.0)",
            "/opt/conda/envs/xpu",
        ),
        ('  File "/usr/lib/python3/dist-packages/torch/__init__.py", line 1, in <module>', ""),
        ('  File "/home/me/.local/lib/python3.12/site-packages/torch/__init__.py", line 1', ""),
        ("$ python train.py", ""),
    ],
)
def test_the_environment_is_that_of_the_paths(line: str, place: str) -> None:
    other = ["/opt/tool/lib/python3.12/site-packages/x.py"] if "torch" in line and place else []
    assert find_environment([*other, line]) == place


B580 = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
NO_NVIDIA = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n"
TRACED = 'File "/home/me/c/venv/lib/python3.12/site-packages/torch/cuda/__init__.py", line 372, in _lazy_init\n'


@pytest.mark.parametrize("error", [NO_NVIDIA, "RuntimeError: No CUDA GPUs are available\n"])
def test_what_only_a_torch_for_cuda_says_tells_of_it(error: str, tmp_path: Path) -> None:
    found = look(f"{B580}{TRACED}{error}", tmp_path)
    assert "torch.is_xpu_build" in found.stops["run"]
    assert found.way.steps[-1].commands == ("xpusetup install --into /home/me/c/venv",)
    assert found.pasted
    assert not found.pasted.causes  # the step says the same
    works = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.14.1+xpu True\n"
    assert causes(f"{B580}{error}{works}") == []


def test_an_environment_that_is_not_told_is_a_gap_that_the_screen_names(tmp_path: Path) -> None:
    """`xpusetup install --into ENV` was printed as if it were to be typed so."""
    found = look(f"{B580}{NO_NVIDIA}", tmp_path)
    command = found.way.steps[-1].commands[0]
    assert command == "xpusetup install --into ENV"
    assert command.gaps == ("ENV",)
    console = Console(file=io.StringIO(), width=100)
    show_doctor(console, found, verbose=False)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert (
        shown.count("--into ENV") == shown.count("Replace ENV (the folder of the environment) before you run it.") > 0
    )
