"""Kernels that were compiled for GPUs which need not be here: what came of each target. Nothing of it was run."""

from dataclasses import dataclass
from typing import Literal

Generated = Literal["generated", "refused", "failed"]
MEANING: dict[Generated, str] = {
    "generated": "every kernel became machine code, and each image names this GPU; none was run",
    "refused": "this ocloc does not know the target",
    "failed": "a kernel did not become machine code for this GPU",
}


@dataclass(frozen=True, kw_only=True)
class GeneratedKernel:
    """A kernel as helpers/generate_kernels.py compiled it for one target.

    `origin`: written by hand here, or what inductor made of a model. `stage` is the last one that was begun: triton
    (to SPIR-V), ocloc (to machine code), image (read back). `versions` are the GPUs that the image names, `matrix`:
    whether it multiplies by the matrix engines, `half` the type of 16 bits in it (bf16, or fp16 for a GPU without),
    `error` in the words of who refused it; empty where all is well. A size is 0 where there is none. `seconds` passed;
    of a processor ocloc used `ocloc_seconds`.
    """

    name: str
    origin: Literal["written", "inductor"]
    stage: Literal["triton", "ocloc", "image"]
    error: str
    spirv_bytes: int
    image_bytes: int
    versions: list[str]
    matrix: bool
    half: str
    seconds: float
    ocloc_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ModelCode:
    """How far torch.compile's code generator, inductor, came with a small model.

    `torch` is its version, empty where there is none; `why` says why it made no kernel, empty where it did; `calls` are
    the functions of libraries that it leaves work to: nothing is generated for them.
    """

    torch: str
    why: str
    calls: list[str]


@dataclass(frozen=True, kw_only=True)
class RecordedTarget:
    """A target as the helper left it: `refused` in ocloc's words, `crashed` where its process left no result.

    `model` is null in both cases.
    """

    name: str
    refused: str
    kernels: list[GeneratedKernel]
    crashed: str = ""
    model: ModelCode | None = None


@dataclass(frozen=True, kw_only=True)
class CodegenRecord:
    """What helpers/generate_kernels.py wrote; versions are empty where Triton or ocloc is not there."""

    triton: str
    ocloc: str
    program: str
    targets: list[RecordedTarget]


@dataclass(frozen=True, kw_only=True)
class GeneratedTarget:
    """What came of one target, and why where it is not generated; `model` is null where none was tried."""

    name: str
    status: Generated
    why: str
    kernels: list[GeneratedKernel]
    model: ModelCode | None = None


def judge(record: CodegenRecord) -> list[GeneratedTarget]:
    return [_judge_target(target) for target in record.targets]


def explain_words(targets: list[GeneratedTarget]) -> dict[str, str]:
    used = {target.status for target in targets}
    return {status: meaning for status, meaning in MEANING.items() if status in used}


def list_left_out(targets: list[GeneratedTarget]) -> list[str]:
    """Say what of the model was not generated and why, each once, with its targets where it is not true of all."""
    told: dict[str, list[str]] = {}
    tried = [target for target in targets if target.model is not None]
    for target in tried:
        if target.model and target.model.why:
            told.setdefault(f"code of torch.compile: not generated, because {target.model.why}", []).append(target.name)
        if target.model and target.model.calls:
            calls = ", ".join(target.model.calls)
            told.setdefault(
                f"{calls} of the model: not generated, because torch.compile leaves it to a library", []
            ).append(target.name)
    return [text if len(names) == len(tried) else f"{', '.join(names)}: {text}" for text, names in told.items()]


def is_failed(targets: list[GeneratedTarget]) -> bool:
    """Say whether generation failed: a kernel of a target that ocloc knows, or because it knows none of them."""
    states = {target.status for target in targets}
    return "failed" in states or "generated" not in states


def _judge_target(target: RecordedTarget) -> GeneratedTarget:
    if target.refused:
        return GeneratedTarget(name=target.name, status="refused", why=target.refused, kernels=[], model=None)
    failed: dict[str, list[str]] = {}
    for one in target.kernels:
        if one.error:
            failed.setdefault(f"{one.stage}: {one.error}", []).append(one.name)
    wrong = [f"{', '.join(names)}: {words}" for words, names in failed.items()]
    if target.crashed or not target.kernels:
        wrong.append(target.crashed or "no kernel was tried")
    status: Generated = "failed" if wrong else "generated"
    why = "; ".join(wrong)
    return GeneratedTarget(name=target.name, status=status, why=why, kernels=target.kernels, model=target.model)
