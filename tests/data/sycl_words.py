"""The words that upstream passes to the SYCL compiler, the differences that ours make, and the page about them."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import tomli

from data.profiles import TOP

if TYPE_CHECKING:
    from collections.abc import Iterator

table: Any = importlib.import_module("helperlib.sycl.words")
UPSTREAM = tomli.loads((TOP / "tests/data/sycl_words.toml").read_text())
PAGE = TOP / "docs/sycl-words.md"
WHO = {
    "both": "both passes",
    "device": "the device pass",
    "host": "the host pass",
    "link": "the link",
    "own": "the driver",
    "none": "no effect",
    "refused": "**refused**",
}


class Difference(NamedTuple):
    """A word that changes the SPIR-V of tests/e2e/files/words.cpp, beside the words in whose company it does."""

    word: str
    beside: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


FAST = ("-ffast-math",)
DIFFERENCES = (
    Difference("-DOTHER"),
    Difference("-UOTHER", ("-DOTHER",)),
    Difference("-include", more=("other.h",)),
    Difference("-imacros", more=("other.h",)),
    Difference("-O0"),
    Difference("-g"),
    Difference("-fwrapv"),
    Difference("-fno-strict-overflow"),
    Difference("-ffast-math"),
    Difference("-fno-fast-math", FAST),
    Difference("-ffp-contract=fast"),
    Difference("-ffp-contract=off"),
    Difference("-fno-associative-math", FAST),
    Difference("-fno-reciprocal-math", FAST),
    Difference("-fhonor-nans", FAST),
    Difference("-fhonor-infinities", FAST),
    Difference("-fno-approx-func", FAST),
    Difference("-ffp-model=precise", FAST),
    Difference("-ffp-model=fast"),
    Difference("-fp-model=precise", FAST),
    Difference("-fp-model", more=("fast",)),
    Difference("-fma"),
    Difference("-fno-offload-fp32-prec-div"),
    Difference("-foffload-fp32-prec-div", ("-fno-offload-fp32-prec-div",)),
    Difference("-foffload-fp32-prec-sqrt", ("-fno-offload-fp32-prec-sqrt",)),
    Difference("-fno-sycl-id-queries-fit-in-int"),
    Difference("-fsycl-device-code-split=per_kernel"),
    Difference("-fno-sycl-dead-args-optimization"),
    Difference("-Xclang", more=("-ffp-contract=off",)),
)
SAME = (
    ("-no-ftz", "-ffast-math"),
    ("-gline-tables-only",),
    ("-Rno-debug-disables-optimization",),
    ("--offload-compress",),
    ("-Xspirv-translator", "-spirv-ext=-all"),
    ("-no-intel-lib=libirc",),
    ("-flto",),
    ("-fPIC", "-fvisibility=hidden", "-fopenmp", "-fstack-protector-strong", "-fcf-protection=full"),
)
"""Words that leave the SPIR-V as it is; where there are two for the device pass, the second is there both times."""
HEAD = """\
# The words that icpx of the wheels takes

`xpusetup toolkit` makes a folder whose `icpx` and `icx` compile device code by the compiler inside Intel's run-time
wheels, host code by g++. That compiler takes some words and drops them in silence. So the driver has a table of its own
([words.py](../xpusetup/helpers/helperlib/sycl/words.py)): a word does what it says, or has no effect for a reason that
is told, or is refused; a word that is not in the table is an unknown argument.

What follows is every word that upstream was seen to pass: torch-xpu-ops and oneDNN were configured by their own CMake
code, an extension was built by `cpp_extension`, each with a compiler that only writes down its words ([the
list](../tests/data/sycl_words.toml), with releases, files and addresses). What a word changes was seen by compiling
with it and without it (intel-sycl-rt 2026.0.0 and 2026.2.0); a test repeats that. No GPU ran any of it. The text of
all CMake files of both was searched on 2026-11-29 (torch-xpu-ops 2.6 to 2.14 and main, oneDNN v3.5.3 to v3.12.3): its
other words are for sanitizers, which are refused, or for other compilers.

- **Floating point of device code is precise** where nothing is said: `-ffp-contract=on`, no fast-math. That is clang's
  default, not icpx's (`-fp-model=fast`), which that word selects. torch-xpu-ops from 2.12 on says
  `-fno-fast-math` itself. Up to 2.11 it takes icpx's default and limits it, so its kernels are more precise here than
  the published ones: no division becomes a multiplication, and an addition joins a multiplication only within one
  expression.
- **SYCL-TLA** (flash attention in torch-xpu-ops from 2.10 on) is out of reach. Its headers call functions of three
  extensions that `-Xspirv-translator` would allow, and the translator inside the library refuses each of them:
  SPV_INTEL_split_barrier, SPV_INTEL_2d_block_io and SPV_INTEL_subgroup_matrix_multiply_accumulate (seen with a kernel
  for each, intel-sycl-rt 2026.0.0 and 2026.2.0; its own sources were not tried). torch-xpu-ops leaves it out where g++
  is older than 13; with a newer one the build would end there.
- **Registers of a Data Center GPU Max**: icpx asks its run-time compiler to choose the large register file where that
  helps. Images made here do not ask.
- **Ranges**: kernels assume that a launch has fewer than 2^31 work items, as icpx's do, unless
  `-fno-sycl-id-queries-fit-in-int` says otherwise. A larger launch is not refused: the headers of 2026.0 and 2026.1
  check that in host code of clang alone, those of 2026.2 nowhere.
- **Warnings**: clang says once a source that it does not know a word for g++'s warnings alone; icpx does too.

`CHECK_SYCL_FLAG` in `BuildFlags.cmake` of torch-xpu-ops compiles and links a program with a word:

| asked | by torch-xpu-ops | answer | what follows |
|---|---|---|---|
"""


def upstream_words() -> Iterator[tuple[str, str]]:
    """Give each word that icpx itself is told, with who tells it."""
    for group in UPSTREAM["upstream"]:
        for word, versions in group.get("words", {}).items():
            yield word, f"{group['project']} ({versions})"


def make_page() -> None:
    """Compare the page with the table, or write it anew."""
    text = "".join((HEAD, *_probes(), *(_section(group) for group in table.GROUPS)))
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text, "docs/sycl-words.md; XPUSETUP_TEST_UPDATE=1 writes it anew"


def _probes() -> Iterator[str]:
    for probe in UPSTREAM["probe"]:
        answer = "yes" if probe["answer"] else "no"
        yield f"| `{probe['word']}` | {probe['versions']} | {answer} | {probe['then']} |\n"


def _section(group: Any) -> str:
    told: dict[str, list[str]] = {}
    for word, who in upstream_words():
        if table.find_word(word) in group.rows:
            told.setdefault(word, []).append(who)
    if not told:
        return ""
    lines = "".join(f"| `{word}` | {'; '.join(who)} | {_becomes(word)} |\n" for word, who in sorted(told.items()))
    return f"\n## {group.name}\n\n| word | passed by | it reaches |\n|---|---|---|\n{lines}"


def _becomes(word: str) -> str:
    row = table.find_word(word)
    who = f"g++ as `{row.host[0]}`" if row.kind == "none" and row.host else WHO[row.kind]
    return f"{who}: {row.why}" if row.why else who
