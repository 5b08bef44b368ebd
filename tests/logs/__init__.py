"""Logs to explain: real lines and where they were seen, whole logs of work that went well, a maker of large ones."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.base.values import parse_toml
from xpusetup.explain.explanation import Explanation, explain
from xpusetup.explain.finder import Signature, parse_signatures
from xpusetup.system.files import package_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
WENT_WELL = sorted((HERE / "ok").glob("*.log"))
CHUNK = 1 << 16
SMALLEST = """
[[signature]]
id = "a.b"
phase = "runtime"
cause = "something"
fix = "look"
words = ["boom"]
patterns = ['boom']
source = "https://a"
confidence = "high"
example = "boom"

[[signature.when]]
patterns = ['cats']
cause = "it was cats"
"""
"""A catalogue of one failure, with one narrower cause."""


@cache
def signatures() -> tuple[Signature, ...]:
    """Read the catalogue that ships."""
    return parse_signatures(package_texts("data/signatures"))


@cache
def wordings() -> list[dict[str, Any]]:
    """Read the table of real wordings."""
    found: list[dict[str, Any]] = parse_toml((HERE / "wordings.toml").read_text(encoding="utf-8"))["wording"]
    return found


def explained(log: str | bytes, chunk: int = CHUNK, *, failed: bool = False) -> Explanation:
    """Explain a log in chunks; `failed`: it is known that what wrote it failed."""
    data = log if isinstance(log, bytes) else log.encode()
    return explain((data[start : start + chunk] for start in range(0, len(data), chunk)), signatures(), failed=failed)


def ids(explanation: Explanation) -> list[str]:
    """Give the names of the causes, best first."""
    return [match.signature.id for match in explanation.causes]


def noise(count: int, seed: int = 1) -> Iterator[str]:
    """Make lines as a build of PyTorch writes them: progress, commands, warnings and notes with treacherous words."""
    chance = random.Random(seed)  # noqa: S311 - noise, no secret
    kinds = (
        "[{n}/7561] Building CXX object caffe2/CMakeFiles/torch_cpu.dir/__/aten/src/ATen/native/error{n}.cpp.o",
        "[{n}/7561] /usr/bin/c++ -DUSE_XPU -Werror=return-type -Wno-error=pedantic -o x{n}.o -c failed{n}.cpp",
        "/pytorch/aten/src/x{n}.cpp:12:3: warning: unused parameter ‘killed’ [-Wunused-parameter]",
        "/pytorch/c10/util/y.h:{n}:7: note: declared here",
        '   12 |   throw std::runtime_error("fatal error: no space left on device");',
        "-- Performing Test HAS_WERROR_{n} - Failed",
        "copying torch/errors/exception{n}.py -> build/lib/torch/errors",
        "test/test_errors.py::test_killed_{n} PASSED                  [ 50%]",
    )
    for number in range(count):
        yield chance.choice(kinds).format(n=number)
