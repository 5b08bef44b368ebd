"""Kernels for GPUs that are not here: what is said of each, what ends with 1, how images and ocloc are read."""

from __future__ import annotations

import importlib
import struct
import sys
from dataclasses import replace
from functools import partial
from io import StringIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from data.codegen import BMG, COMPILED, CRASHED, FAILED, NOTES, PVC, REFUSAL, REFUSED, record, target
from golden import hold_one
from xpusetup.base.document import to_json
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands import codegen
from xpusetup.commands.codegen import generate_code, make_result
from xpusetup.run.workspace import Where, Workspace
from xpusetup.ui import screens
from xpusetup.ui.console import Terminal

if TYPE_CHECKING:
    from xpusetup.verify.codegen import CodegenRecord, RecordedTarget

INVALID = "InvalidModule: Invalid SPIR-V module: input SPIR-V module uses extension 'SPV_KHR_bfloat16'"
helper: Any = importlib.import_module("generate_kernels")
inductor: Any = importlib.import_module("helperlib.codegen.inductor")


@pytest.mark.parametrize(
    ("targets", "states", "failed"),
    [
        ((PVC, BMG), ["generated", "generated"], False),
        ((PVC, REFUSED), ["generated", "refused"], False),
        ((REFUSED,), ["refused"], True),
        ((PVC, FAILED), ["generated", "failed"], True),
        ((PVC, CRASHED), ["generated", "failed"], True),
        ((), [], True),
    ],
    ids=["all", "one-refused", "none-known", "one-failed", "one-crashed", "no-target"],
)
def test_what_is_generated_and_what_fails(targets: tuple[RecordedTarget, ...], states: list[str], failed: bool) -> None:
    found = make_result(record(*targets), "torch-2.14", "/root")
    assert ([one.status for one in found.targets], found.failed) == (states, failed)
    assert found.verified is None
    assert set(found.words) == set(states)


def test_each_that_is_not_generated_says_why() -> None:
    found = make_result(record(REFUSED, FAILED, CRASHED), "torch-2.14", "/root")
    assert [one.why for one in found.targets] == [
        REFUSAL,
        "matmul: ocloc: error: backend compiler failed build.",
        "the process of lnl-m ended with -11",
    ]


def test_no_word_of_it_says_that_something_was_verified() -> None:
    document: Any = to_json(make_result(record(PVC, BMG), "torch-2.14", "/root"))
    assert document["verified"] is None
    text = shown(record(PVC, BMG))
    assert "generated, not run: 2 of 2 targets" in text
    assert not any(word in text for word in ("verified", "passed", "computes"))


def shown(found: CodegenRecord, *, verbose: bool = False) -> str:
    console = Terminal(width=100, no_color=True, file=StringIO(), highlight=False, soft_wrap=True, _environ={})
    screens.show_data(console, make_result(found, "torch-2.14", "/root"), verbose=verbose)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_what_torch_compile_does_not_generate_is_listed() -> None:
    text = " ".join(shown(record(PVC, BMG)).split())
    assert "code of torch.compile: not generated, because there is no torch in this environment" in text
    text = " ".join(shown(record(target("pvc", "12.60", model=COMPILED), BMG, REFUSED)).split())
    assert "pvc: addmm of the model: not generated, because torch.compile leaves it to a library" in text
    assert "bmg: code of torch.compile: not generated" in text
    assert "matmul bf16 (matrix engines), 2 of torch.compile" in text


def test_a_kernel_of_torch_compile_that_ocloc_refuses_is_a_failure() -> None:
    found = target("pvc", "12.60", model=COMPILED)
    wrong = replace(found.kernels[-1], stage="ocloc", error="error: no", image_bytes=0)
    made = make_result(record(replace(found, kernels=[*found.kernels[:-1], wrong])), "torch-2.14", "/root")
    assert (made.failed, made.targets[0].why) == (True, "triton_per_fused_1: ocloc: error: no")


@pytest.mark.parametrize("verbose", [False, True])
def test_golden_screen(verbose: bool) -> None:
    compiled = target("ptl-h", "30.0", model=COMPILED)
    text = shown(record(PVC, REFUSED, FAILED, CRASHED, BMG, compiled), verbose=verbose)
    hold_one(
        f"screens/codegen{'-verbose' if verbose else ''}.txt", "".join(f"{x.rstrip()}\n" for x in text.splitlines())
    )


def workspace(targets: list[str] | None) -> Any:
    arch = SimpleNamespace(default=targets) if targets is not None else None
    made = SimpleNamespace(profile=SimpleNamespace(name="x", arch=arch), options="--profile x")
    made.command = partial(Workspace.command, made)  # type: ignore[arg-type]
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give what is asked of the helper, which is not run; it writes `found`, the build was aimed at `arch`."""
    kept: dict[str, Any] = {"found": record(PVC), "listed": ["pvc", "bmg"], "arch": ()}
    monkeypatch.setattr(codegen, "open_built", lambda _where: workspace(kept["listed"]))
    monkeypatch.setattr(
        codegen,
        "find_whole",
        lambda _: SimpleNamespace(python="/r/venv/bin/python", root="/r", target=SimpleNamespace(arch=kept["arch"])),
    )
    monkeypatch.setattr(codegen, "run_environment", lambda _built: {"PATH": "/bin"})

    def collect(python: str, _env: object, targets: object) -> CodegenRecord:
        kept.update(python=python, targets=targets)
        found: CodegenRecord = kept["found"]
        return found

    monkeypatch.setattr(codegen, "_collect", collect)
    return kept


@pytest.mark.parametrize(
    ("arch", "targets"), [((), ("pvc", "bmg")), (("lnl-m",), ("lnl-m",)), (("none",), ("pvc", "bmg"))]
)
def test_the_targets_are_those_of_the_build_else_of_the_profile(asked: Any, arch: Any, targets: Any) -> None:
    asked["arch"] = arch
    assert generate_code(Where()).code == 0
    assert (asked["targets"], asked["python"]) == (targets, "/r/venv/bin/python")


def test_exit_codes(asked: Any) -> None:
    asked["found"] = record(PVC, FAILED)
    result = generate_code(Where())
    assert (result.code, result.command) == (1, "verify --codegen")


@pytest.mark.parametrize(
    ("found", "words", "fix"),
    [
        (record(triton=""), "there is no Triton in /r", "xpusetup build x --only triton"),
        (record(program=""), "ocloc, Intel's offline compiler, is not on PATH", "Debian sid: intel-ocloc and libigc2"),
    ],
    ids=["triton", "ocloc"],
)
def test_what_is_not_there(asked: Any, found: CodegenRecord, words: str, fix: str) -> None:
    asked["found"] = found
    with pytest.raises(NotReadyError, match=words) as told:
        generate_code(Where())
    assert fix in told.value.fix


def test_a_profile_without_targets(asked: Any) -> None:
    asked["listed"] = None
    with pytest.raises(UsageError, match="x has no list of device targets"):
        generate_code(Where())


# The helper: ocloc's words, what Triton is told of a GPU, and what an image has to show.


def image(version: tuple[int, int, int], *kernels: str) -> bytes:
    """Give what of an image of ocloc is looked at: an ELF file with the note of its GPU, and names of sections."""
    number = version[0] << 22 | version[1] << 14 | version[2]
    note = struct.pack("<III", 8, 4, 6) + b"IntelGT\0" + struct.pack("<I", number)
    return b"\x7fELF\2\1\1" + bytes(9) + note + b"".join(f".text.{name}\0".encode() for name in kernels)


@pytest.mark.parametrize(("target", "version"), [("pvc", "12.60"), ("bmg", "20.1")])
def test_the_note_that_the_real_ocloc_wrote(target: str, version: str) -> None:
    made = b"\x7fELF\2\1\1" + bytes(9) + bytes.fromhex(NOTES[target])
    assert list(helper.read_versions(made)) == [version]
    assert helper.judge_image(made + b".text.add\0", target, [version], "add") == ""


@pytest.mark.parametrize(
    ("made", "target", "says"),
    [
        (image((12, 60, 7), "add"), "pvc", ""),
        (image((20, 1, 0), "add"), "bmg", ""),
        (image((20, 1, 0), "add"), "bmg-g21", ""),
        (image((20, 1, 0), "add"), "pvc", "the image is for bmg-g21"),
        (image((12, 60, 7), "softmax"), "pvc", "the image has no kernel add"),
        (b"\x7fELF\2\1\1" + bytes(90), "pvc", "no GPU is named in the image"),
        (b"", "pvc", "no GPU is named in the image"),
    ],
)
def test_an_image_has_to_be_for_its_gpu_and_hold_the_kernel(made: bytes, target: str, says: str) -> None:
    versions = sorted(set(helper.read_versions(made)))
    assert helper.judge_image(made, target, versions, "add") == says


@pytest.mark.parametrize(
    ("said", "telling"),
    [
        (
            "Could not determine device target: foo.\nError: Cannot get HW Info for device foo.\n",
            "Could not determine device target: foo. Error: Cannot get HW Info for device foo.",
        ),
        (
            f"Compilation from IR - skipping loading of FCL\n{INVALID}\nBuild failed with error code: -11\n",
            INVALID,
        ),
        ("Build failed with error code: -11\nCommand was: ocloc compile\n", "Build failed with error code: -11"),
        ("warning: x\nerror: backend compiler failed build.\n", "error: backend compiler failed build."),
        ("", ""),
    ],
)
def test_words_of_ocloc(said: str, telling: str) -> None:
    assert helper._telling(said) == telling


def test_what_triton_is_told_of_a_gpu() -> None:
    wide = helper.describe_gpu("pvc", frozenset(helper.EXTENSIONS.values()), "26.27.39122")
    old = helper.describe_gpu("tgl", frozenset(), "")
    assert (wide["sub_group_sizes"], wide["has_fp64"], wide["driver_version"]) == ([16, 32], True, "1.6.39122+0")
    assert (old["sub_group_sizes"], old["has_fp64"], old["driver_version"]) == ([8, 16, 32], False, "1.6.0+0")


# What inductor wrote, as 2.14.1 writes it, shortened.

CODE = '''
from torch._inductor.select_algorithm import extern_kernels
triton_per_fused_0 = async_compile.triton("triton_per_fused_0", """
import triton
""", device_str="xpu")
cpp_fused_0 = async_compile.cpp_pybinding(["float*"], "void kernel()")
def call(args):
    extern_kernels.addmm(arg0, arg1, out=buf0)
    triton_per_fused_0.run(buf0, 32)
    extern_kernels.addmm(arg2, buf0, out=buf1)
    extern_kernels.bmm(arg2, buf0, out=buf1)
'''


def test_what_is_read_of_the_code_that_inductor_writes() -> None:
    assert inductor.read_code(CODE) == ({"triton_per_fused_0": "\nimport triton\n"}, ["addmm", "bmm"])


def test_without_torch_nothing_of_a_model_is_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inductor.importlib.util, "find_spec", lambda _name: None)
    assert inductor.generate_model({}) == ("", "there is no torch in this environment", {}, [])


def test_what_inductor_stopped_with_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_gpu: object) -> None:
        raise RuntimeError("where\n  PyTorch is not linked with support for xpu devices\n")

    monkeypatch.setattr(inductor.importlib.util, "find_spec", lambda _name: object())
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.14.1"))
    monkeypatch.setattr(inductor, "pretend", stop)
    monkeypatch.setattr(inductor.os, "environ", {})
    found = inductor.generate_model({})
    assert found.torch == "2.14.1"
    assert found.why == "inductor stopped: RuntimeError: PyTorch is not linked with support for xpu devices"
