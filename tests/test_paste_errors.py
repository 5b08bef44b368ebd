"""doctor --paste: what error lines mean, and messages that say that it fails and not why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.diagnosis import diagnose
from data.pasting import causes, errors, findings, look
from xpusetup.base.errors import UsageError
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.paste import read_paste
from xpusetup.machine.known_bad import concerns
from xpusetup.machine.tables import known_bad
from xpusetup.run.workspace import Where
from xpusetup.ui.console import make_console
from xpusetup.ui.doctor import show_doctor

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Error! Bad return status for module build on kernel: 6.9.1-arch1-1 (x86_64)", "dkms.build"),
        ("E: Unable to correct problems, you have held broken packages.", "pkg.unmet"),
    ],
)
def test_lines_of_a_log_are_enough(text: str, cause: str, tmp_path: Path) -> None:
    assert errors(tmp_path, f"{text}\n") == [cause]
    assert causes(f"{text}\n") == []


def test_a_compiler_that_the_driver_could_not_load() -> None:
    text = "Abort was called at 40 line in file:\n/build/shared/source/built_ins/built_ins.cpp\nAborted (core dumped)\n"
    assert causes(text) == ["umd.igc_incompatible"]
    assert causes(text.replace("built_ins.cpp", "drm_neo.cpp")) == ["umd.ze_init"]


def test_torch_that_works_is_not_blamed_for_a_library_that_a_program_lacks(tmp_path: Path) -> None:
    asked = ">>> torch.xpu.is_available(), torch.xpu.device_count()\n(True, 1)\n"
    lacking = "OSError: libocloc.so: cannot open shared object file: No such file or directory\n"
    assert causes(asked + lacking) == []
    assert errors(tmp_path, asked + lacking) == ["import.gpu_driver_lib"]


BY_OPENCL = "[opencl:gpu][opencl:1] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) A380 Graphics OpenCL 3.0 NEO\n"


def test_an_npu_that_is_not_there_is_no_cause(tmp_path: Path) -> None:
    line = "ZE_LOADER_DEBUG_TRACE:Load Library of {0} failed with {0}: cannot open shared object file\n"
    assert errors(tmp_path, BY_OPENCL + line.format("libze_intel_vpu.so")) == []
    assert errors(tmp_path, BY_OPENCL + line.format("libze_intel_gpu.so.1")) == ["ze.loader_trace"]


NOT_LINKED = "$ python a.py\nRuntimeError: PyTorch is not linked with support for xpu devices\n"


BLIND = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5 OpenCL 3.0\n"


@pytest.mark.parametrize(
    ("post", "surer"),
    [
        pytest.param(
            "$ sycl-ls\n" + BLIND + NOT_LINKED,
            True,
            id="a symptom and an error that is known",
        ),
        pytest.param(
            "$ id\nuid=1000(r) gid=1000(r) groups=1000(r)\n$ ls -l /dev/dri\n"
            "crw-rw---- 1 root render 226, 128 Sep  3 18:22 renderD128\n" + NOT_LINKED,
            False,
            id="a cause that was seen and an error",
        ),
    ],
)
def test_an_error_that_is_known_stands_before_symptoms(tmp_path: Path, post: str, surer: bool) -> None:
    file = tmp_path / "post.txt"
    file.write_text(post)
    assert read_paste([str(file)]).describe(tuple(findings(post).values()), causes(post)).surer is surer


def test_an_error_that_is_known_stands_before_a_torch_without_a_device(tmp_path: Path) -> None:
    post = (
        "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.9.0+xpu False\n"
        "OSError: libmkl_sycl_blas.so.5: cannot open shared object file: No such file or directory\n"
    )
    file = tmp_path / "post.txt"
    file.write_text(post)
    pasted = read_paste([str(file)])
    assert pasted.describe(tuple(findings(post).values()), ["torch.available"]).surer


def test_an_error_that_the_title_says_too_is_explained_where_it_ends_the_import(tmp_path: Path) -> None:
    """The first line that tells of it is the title then, and not the one with which the import ended."""
    end = "ImportError: /home/jo/envs/a/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so: undefined symbol: "
    text = f"undefined symbol: iJIT_NotifyEvent since yesterday\n\n$ python -c 'import torch'\n{end}iJIT_NotifyEvent\n"
    file = tmp_path / "post"
    file.write_text(text)
    found = {each.id: each for each in read_paste([str(file)]).explain(tuple(findings(text).values()))}
    assert "MKL" in found["torch.import"].why


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: driver (code 2013265921, ZE_RESULT_ERROR_UNINITIALIZED)\n",
        "AssertionError: Torch not compiled with CUDA enabled\n",
    ],
)
def test_a_message_alone_is_no_cause(tmp_path: Path, text: str) -> None:
    file = tmp_path / "post.txt"
    file.write_text(text)
    told = read_paste([str(file)]).describe(tuple(findings(text).values()))
    assert causes(text) == []
    assert told.causes == []
    assert told.symptoms


def test_code_for_cuda_is_the_cause_where_the_gpu_is_intels(tmp_path: Path) -> None:
    text = (
        "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
        "AssertionError: Torch not compiled with CUDA enabled\n"
    )
    file = tmp_path / "post.txt"
    file.write_text(text)
    told = read_paste([str(file)]).describe(tuple(findings(text).values()))
    assert ([each.id for each in told.causes], told.symptoms) == (["rt.cuda_code"], [])


def test_facts_that_doctor_saved_are_no_post(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text('{"schema": 1, "taken": "2026-11-30T08:00:00+00:00", "hardware": {"gpus": []}}')
    with pytest.raises(UsageError, match="holds what doctor --save wrote") as error:
        read_paste([str(file)])
    assert f"xpusetup doctor --facts {file}" in str(error.value.fix)


def test_what_a_program_lacks_is_no_cause_where_the_device_works(tmp_path: Path) -> None:
    text = "True tensor([2.], device='xpu:0')\nAttributeError: module 'torch.backends' has no attribute 'xpu'\n"
    file = tmp_path / "post.txt"
    file.write_text(text)
    assert read_paste([str(file)]).describe(tuple(findings(text).values())).causes == []


A770 = "05:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0]\n"


CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"


def test_nothing_untold_is_called_well() -> None:
    found = findings(f"{A770}$ sycl-ls\n{CPU}")["umd.ze_init"]
    assert "Not told: " in found.fix.say
    assert "variables" in found.fix.say.partition("Not told")[2]


def test_windows_is_asked_for_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "post.txt"
    file.write_text("PS C:\\work> python a.py\nProcess finished with exit code -1073741819 (0xC0000005)\n")
    asked = [
        each.paste for each in read_paste([str(file)]).describe(tuple(findings(file.read_text()).values())).unknown
    ]
    assert any("win32_VideoController" in each for each in asked)
    assert not any("dmesg" in each or "lspci" in each for each in asked)


def test_the_reason_of_an_import_is_found_with_its_quotes(tmp_path: Path) -> None:
    file = tmp_path / "post.txt"
    line = "ImportError: /lib64/libc.so.6: version `GLIBC_2.28' not found (required by /opt/a/libx.so)\n"
    file.write_text(f"torch 2.7.1+xpu\n{line}")
    pasted = read_paste([str(file)])
    assert [each.id for each in pasted.causes] == ["import.glibc"]


NO_PART = "ModuleNotFoundError: No module named 'quantlib{}'\n"


WORKS = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n{} True\n"


def test_a_missing_module_that_nobody_expected_is_told(tmp_path: Path) -> None:
    for said in ("", "That is not expected.\n", "Is that expected?\n"):
        found = look(f"{NO_PART.format('')}{said}{WORKS.format('2.8.0+xpu')}A770\n", tmp_path)
        assert found.pasted is not None
        assert [each.id for each in found.pasted.causes] == ["import.no_module"]


def test_what_helps_and_is_set_already_is_not_asked_for() -> None:
    entry = next(each for each in known_bad() if each.id == "ccl-2022-on-b60")
    assert concerns(entry, ["torchrun --nproc-per-node 2 t.py"], works=True)
    assert not concerns(entry, ["$ CCL_ALLREDUCE=ring torchrun t.py"], works=True)
    assert not concerns(entry, ["a = torch.ones(2, device='xpu')"], works=True)


def test_a_symptom_stands_below_the_error_that_explains_it(tmp_path: Path) -> None:
    """It stood beside it as a message of its own, and one line that has two readings stood there twice."""
    file = tmp_path / "post.txt"
    file.write_text("$ sycl-ls\n" + BLIND + NOT_LINKED)
    data = diagnose(Where(), DoctorOptions(paste=(str(file),)))
    assert data.pasted
    assert data.pasted.causes
    console = make_console()
    with console.capture() as said:
        show_doctor(console, replace(data, pasted=replace(data.pasted, symptoms=["it finds no device"])), verbose=False)
    assert "with it came: it finds no device" in said.get()
    assert "A message" not in said.get()


@pytest.mark.parametrize("torch", ["2.9.0+cpu", "2.9.0+cu128"])
@pytest.mark.parametrize(
    "line",
    [
        "AssertionError: Torch not compiled with XPU enabled",
        "AssertionError: Torch not compiled with CUDA enabled",
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
        ">>> torch.xpu.is_available()\nFalse",
    ],
)
def test_a_torch_that_is_no_build_for_xpu_is_said_once(torch: str, line: str, tmp_path: Path) -> None:
    card = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
    text = f"$ lspci -nnk\n{card}$ pip list\ntorch {{}}\n$ python run.py\n{line}\n"
    assert (causes(text.format(torch)), errors(tmp_path, text.format(torch))) == (["torch.is_xpu_build"], [])
    right = text.format("2.9.0+xpu")  # of the right build it is the only word on it, or its check has it
    assert errors(tmp_path, right) or causes(right) == ["torch.available"]


@pytest.mark.parametrize(("more", "whole"), [(100, True), (200, False)])
def test_a_long_error_is_cut_with_a_sign(tmp_path: Path, more: int, whole: bool) -> None:
    text = f"RuntimeError: driver (code 2013265921, ZE_RESULT_ERROR_UNINITIALIZED) {'x' * more}"
    file = tmp_path / "post.txt"
    file.write_text(text)
    (told,) = read_paste([str(file)]).describe(tuple(findings(text).values())).symptoms
    assert (told == text, told.endswith("x…")) == (whole, not whole)
