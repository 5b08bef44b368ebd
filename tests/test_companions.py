"""What is installed beside a torch, so that it stays: the renderer, and commands of others that pass it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xpusetup.commands.explain import explain_log
from xpusetup.machine.companions import INDEX, TorchThere, install_beside
from xpusetup.machine.installs import keep_torch, moves_torch

if TYPE_CHECKING:
    from pathlib import Path

GAUDI = TorchThere("2.11.0a0+git009b5f6")
XPU = TorchThere("2.11.0+xpu", {"triton-xpu": "3.7.0"}, for_xpu=True)
CPU = TorchThere("2.13.0+cpu")
NIGHTLY = TorchThere("2.16.0.dev20261120+xpu", for_xpu=True)
OWN = TorchThere("2.12.0a0+git1234567", for_xpu=True)


@pytest.mark.parametrize(
    ("name", "torch", "words"),
    [
        ("torchaudio", GAUDI, "--no-deps torchaudio==2.11.0+cpu --index-url {}/cpu"),
        ("torchvision", GAUDI, "--no-deps torchvision==0.26.0+cpu --index-url {}/cpu"),
        ("torchvision", XPU, "--no-deps torchvision==0.26.0+xpu --index-url {}/xpu"),
        ("torchvision", OWN, "--no-deps torchvision==0.27.0+xpu --index-url {}/xpu"),
        ("torchaudio", TorchThere("2.10.0+xpu"), "--no-deps torchaudio==2.10.0+xpu --index-url {}/xpu"),
        ("torchaudio", CPU, "--no-deps torchaudio==2.11.0+cpu --index-url {}/cpu"),
        ("torchvision", TorchThere("2.15.0+xpu"), "--no-deps torchvision==0.29.2+xpu --index-url {}/xpu"),
        ("torchcodec", XPU, "--no-deps torchcodec==0.15.0+cpu --index-url {}/cpu"),
        ("torchao", XPU, "--no-deps torchao"),
        ("triton", XPU, "--no-deps triton-xpu==3.7.0 --index-url {}/xpu"),
        ("triton", TorchThere("2.9.1+xpu"), "pytorch-triton-xpu torch==2.9.1+xpu --index-url {}/xpu"),
        ("triton", TorchThere("2.13.0+cpu", npu=True), "--no-deps triton-ascend"),
        ("torch-npu", CPU, "--force-reinstall --no-deps 'torch-npu==2.13.0.*'"),
        ("torchvision", NIGHTLY, "--pre torchvision torch==2.16.0.dev20261120+xpu --index-url {}/nightly/xpu"),
        ("torchvision", TorchThere("2.13.0"), "--no-deps torchvision==0.28.0"),
    ],
)
def test_a_companion_of_a_torch(name: str, torch: TorchThere, words: str) -> None:
    assert install_beside([name], torch) == [f"python -m pip install {words.format(INDEX)}"]


def test_a_torch_without_a_triton() -> None:
    assert install_beside(["triton"], CPU) == []
    assert install_beside(["triton", "torchao"], GAUDI) == ["python -m pip install --no-deps torchao"]


def test_beside_a_torch_that_nobody_knows_a_command_has_to_be_filled_in() -> None:
    ask, line = install_beside(["torchaudio"], None)
    assert ask == "python -c 'import torch; print(torch.__version__)'"
    assert line == f"python -m pip install --no-deps torchaudio==VERSION --index-url {INDEX}/LOCAL"
    assert line.gaps, "no program can run it"
    assert not ask.gaps
    assert install_beside(["torch-npu"], None)[1:] == ["python -m pip install --no-deps torch-npu==VERSION"]


ALL = f"pip install --force-reinstall torch torchvision --index-url {INDEX}/xpu"


@pytest.mark.parametrize(
    ("command", "torch", "kept"),
    [
        ("pip install 'numpy<2'", XPU, ["pip install 'numpy<2'"]),
        ("pip install timm", None, ["pip install timm"]),
        (
            "pip install easyocr",
            XPU,
            [f"pip install easyocr torch==2.11.0+xpu torchvision==0.26.0+xpu --extra-index-url {INDEX}/xpu"],
        ),
        ("uv pip install peft", CPU, ["uv pip install peft torch==2.13.0+cpu --torch-backend cpu"]),
        ("pip install -r requirements.txt", GAUDI, ["pip install -r requirements.txt"]),
        ("pip install --no-deps PACKAGE", XPU, ["pip install --no-deps PACKAGE"]),
        (
            ALL,
            XPU,
            [f"pip install --force-reinstall torch==2.11.0+xpu torchvision==0.26.0+xpu --index-url {INDEX}/xpu"],
        ),
        (ALL, CPU, [ALL]),
        (ALL, GAUDI, []),
        (ALL, OWN, []),
        (ALL, TorchThere("2.13.0+cu130"), [ALL]),
        (f"pip uninstall -y x && {ALL}", GAUDI, []),
        (f"pip install -U torch --index-url {INDEX}/xpu", XPU, [f"pip install -U torch --index-url {INDEX}/xpu"]),
        (f"pip install torch --index-url {INDEX}/cpu", XPU, []),
        (
            "pip install --force-reinstall torch",
            CPU,
            [f"pip install --force-reinstall torch=={CPU.version} --index-url {INDEX}/cpu"],
        ),
        (
            "a/python -m pip install torchaudio einops",
            GAUDI,
            [
                f"a/python -m pip install --no-deps torchaudio==2.11.0+cpu --index-url {INDEX}/cpu",
                "a/python -m pip install einops",
            ],
        ),
        ("pip list | grep torch", XPU, ["pip list | grep torch"]),
        ('pip install "x==$(cat v)"', XPU, ['pip install "x==$(cat v)"']),
    ],
)
def test_a_command_of_others_keeps_the_torch(command: str, torch: TorchThere | None, kept: list[str]) -> None:
    assert list(keep_torch(command, torch)) == kept


def test_which_commands_ask_for_the_torch_that_is_there() -> None:
    assert [
        moves_torch(each) for each in ("pip install torchaudio", "pip install timm", "ls", "pip install numpy")
    ] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("module", "version", "word"),
    [
        ("torchaudio", "2.11.0a0+git009b5f6", "torchaudio==2.11.0+cpu"),
        ("torchvision", "2.12.0a0+gitabcdef1", "torchvision==0.27.0+cpu"),
        ("torchvision", "2.11.0+xpu", "torchvision==0.26.0+xpu"),
        ("easyocr", "2.11.0+xpu", "torchvision==0.26.0+xpu"),
    ],
)
def test_explain_names_what_belongs_to_the_torch_of_a_log(module: str, version: str, word: str, tmp_path: Path) -> None:
    """A plain `pip install torchaudio` beside it brings another torch, for CUDA."""
    log = tmp_path / "a.log"
    log.write_text(
        f'$ python -c "import torch; print(torch.__version__)"\n{version}\n$ python a.py\n'
        "Traceback (most recent call last):\n"
        f"  File \"a.py\", line 1, in <module>\n    import {module}\nModuleNotFoundError: No module named '{module}'\n"
    )
    told, _ = explain_log(str(log))
    lines = [line for line in told.causes[0].commands if "install" in line]
    assert word in lines[0].split(), lines
    assert "--no-deps" in lines[0] or f"torch=={version}" in lines[0]


def test_a_package_that_came_from_the_index_of_torch(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(
        "error: Distribution `markupsafe==3.0.3 @ registry+https://mirror.example/whl/xpu` can't be installed because "
        "it doesn't have a source distribution or wheel for the current platform\n\n"
        "hint: You're using CPython 3.12 (`cp312`), but `markupsafe` (v3.0.3) only has wheels with the following "
        "Python ABI tags: `cp314`, `cp314t`\n"
    )
    told, _ = explain_log(str(log))
    assert "from torch's own index (https://mirror.example/whl/xpu)" in told.causes[0].cause
    assert "uv lock --upgrade-package markupsafe" in told.causes[0].commands
