"""The table of words: each that upstream passes has its row, and the page says what becomes of it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from data.sycl_words import DIFFERENCES, UPSTREAM, make_page, table, upstream_words

if TYPE_CHECKING:
    from pathlib import Path

ahead: Any = importlib.import_module("helperlib.sycl.ahead")
call: Any = importlib.import_module("helperlib.sycl.call")
homes: Any = importlib.import_module("helperlib.sycl.home")
passes: Any = importlib.import_module("helperlib.sycl.passes")
REFUSED = {"-fsycl-fp64-conv-emu"}
"""What upstream passes only where a probe said yes."""


def test_every_word_that_upstream_passes_is_taken_or_probed_first() -> None:
    kinds = {word: getattr(table.find_word(word), "kind", "unknown") for word, _ in upstream_words()}
    assert {word for word, kind in kinds.items() if kind in {"unknown", "refused"}} == REFUSED
    assert {probe["word"] for probe in UPSTREAM["probe"]} >= REFUSED


@pytest.mark.parametrize("probe", UPSTREAM["probe"], ids=lambda probe: probe["word"])
def test_probes_of_upstream_get_true_answers(probe: dict[str, Any]) -> None:
    assert (table.find_word(probe["word"]).kind != "refused") is probe["answer"]


def test_what_has_no_effect_and_what_is_refused_says_why() -> None:
    assert [row.pattern for row in table.TABLE if row.kind in {"none", "refused"} and not row.why] == []


def test_each_row_for_the_device_alone_was_seen_to_make_a_difference() -> None:
    """All but -sycl-std, which stands beside two others in its row, and -f for its opposite."""
    seen = {table.find_word(each.word) for each in DIFFERENCES}
    told = {row for word, _ in upstream_words() if (row := table.find_word(word)).kind == "device"}
    assert {row.pattern for row in told if not row.pattern.startswith("-W")} <= {row.pattern for row in seen}


@pytest.mark.parametrize("word", ["-fsycl-nonsense", "-fnonsense", "--nonsense", "-ffp-contract=maybe", "-qnonsense"])
def test_a_word_without_a_row_is_unknown(word: str) -> None:
    with pytest.raises(call.CallError, match=f"unknown argument: '{word}'"):
        call.parse_call("icpx", ["-fsycl", word, "a.o"])


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("-fsycl-fp64-conv-emu", "stay out of reach"),
        ("-ftz", "drop it in silence"),
        ("-fsycl-unnamed-lambda", "name each kernel"),
        ("-fsanitize=address", "no sanitizer"),
        ("--auto-pch", "would lose"),
    ],
)
def test_a_refusal_says_what_it_is_about(word: str, why: str) -> None:
    with pytest.raises(call.CallError, match=f"'{word}' is refused: .*{why}"):
        call.parse_call("icpx", ["-fsycl", word, "a.o"])


def test_words_for_one_pass_do_not_reach_the_other() -> None:
    words = ["-fsycl", "-fhonor-nans", "-gline-tables-only", "-fPIC", "-qopenmp", "-Wbool-conversion", "-Wall", "a.o"]
    told = call.parse_call("icpx", words)
    assert told.device == ["-fhonor-nans", "-Wbool-conversion"]
    assert told.host == ["-g1", "-fPIC", "-fopenmp"]
    assert told.both == ["-Wall"]


def test_what_is_for_the_translator_is_no_option_of_the_offline_compiler() -> None:
    """Both begin with -Xs, whose value may be joined to it."""
    words = ["-fsycl", "-Xspirv-translator", "-spirv-ext=+SPV_INTEL_split_barrier", "-Xsdevice", "a.o"]
    assert call.parse_call("icpx", words).offline == ["-device"]


def test_float_division_as_precise_as_asked_is_told_to_both_compilers_of_a_gpu() -> None:
    """The words of torch-xpu-ops from 2.14 on, which stand where -cl-fp32-correctly-rounded-divide-sqrt stood."""
    words = ["-fsycl", "-foffload-fp32-prec-div", "-foffload-fp32-prec-sqrt", "-foffload-fp32-prec-div", "a.o"]
    told = call.parse_call("icpx", words)
    assert passes.image_options(told) == "-foffload-fp32-prec-div -foffload-fp32-prec-sqrt"
    assert passes.native_options(told) == ["-ze-fp32-correctly-rounded-divide-sqrt"]
    assert passes.image_options(call.parse_call("icpx", ["-fsycl", "-fno-offload-fp32-prec-div", "a.o"])) == ""


@pytest.mark.e2e  # g++ is asked for its version
def test_what_is_linked_with_the_preview_is_compiled_for_it(tmp_path: Path) -> None:
    """Else layouts of host code and library would differ in silence, whoever names the host compiler."""
    (tmp_path / "a.cpp").touch()
    home = homes.Home(tmp_path, "2026.1.2", tmp_path / "jit", {})
    for more in ([], ["-fsycl-host-compiler=g++", "-fsycl-host-compiler-options=-O2"]):
        told = call.parse_call("icpx", ["-fsycl", "-fpreview-breaking-changes", "-c", str(tmp_path / "a.cpp"), *more])
        command = passes.host_command(told, told.sources[0], home, None)
        assert "-D__INTEL_PREVIEW_BREAKING_CHANGES" in command
        assert "-D__INTEL_PREVIEW_BREAKING_CHANGES" in passes.device_words(told, told.sources[0], home)


def test_an_extension_of_pytorch_2_13_is_understood(tmp_path: Path) -> None:
    """The command lines that its cpp_extension makes of one SYCL source and one of C++, with a CPU torch."""
    source = tmp_path / "a.sycl"
    source.touch()
    own = "-Wsign-compare -DNDEBUG -g -fwrapv -O3 -Wall -fPIC -I/torch/include -I/python/include -c"
    more = "-O2 -DTORCH_API_INCLUDE_EXTENSION_H -DTORCH_EXTENSION_NAME=x_ext"
    host = f"{own} {more} -std=c++20"
    words = [*own.split(), "-fsycl", "-std=c++20", "-sycl-std=2020", "-fsycl-host-compiler=c++"]
    words += [f"-fsycl-host-compiler-options={host}", "-c", "-x", "c++", str(source), "-o", "a.o", *more.split()]
    told = call.parse_call("icpx", [*words, "-fsycl-targets=spir64_gen,spir64"])
    assert (told.stage, told.host_compiler, told.host_options) == ("-c", "c++", host.split())
    assert [(each.word, each.language) for each in told.sources] == [(str(source), "c++")]
    assert {"-fwrapv", "-O3", "-DNDEBUG", "-DTORCH_EXTENSION_NAME=x_ext"} <= set(told.both)
    line = [
        "a.o",
        "b.o",
        "-o",
        "d.o",
        "-fsycl",
        "-fsycl-link",
        "--offload-compress",
        "-fsycl-targets=spir64_gen,spir64",
    ]
    linked = call.parse_call("icpx", [*line, "-Xs", "-device pvc,bmg"])
    assert (linked.device_link, linked.targets) == (True, ("spir64_gen", "spir64"))
    assert ahead.parse_offline(linked.offline).devices == ("pvc", "bmg")


def test_the_page_is_made_of_the_table() -> None:
    """docs/sycl-words.md; XPUSETUP_TEST_UPDATE=1 writes it anew."""
    make_page()
