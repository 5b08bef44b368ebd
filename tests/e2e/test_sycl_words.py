"""What words do: the SPIR-V with a word and without it, by the compiler inside Intel's run-time wheels."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data.sycl_words import DIFFERENCES, SAME, Difference
from helper_modules import HELPERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from e2e.sycl_chain import Chain

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("sycl-chain")]

call: Any = importlib.import_module("helperlib.sycl.call")
homes: Any = importlib.import_module("helperlib.sycl.home")
passes: Any = importlib.import_module("helperlib.sycl.passes")
SOURCE = Path(__file__).with_name("files") / "words.cpp"
DRIVER = HELPERS / "sycl_driver.py"


@pytest.fixture(scope="module")
def device(sycl_chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], str]:
    """Give what compiles for the device with words of a call: a hash of all SPIR-V. Each set of words once."""
    folder, home, known = tmp_path_factory.mktemp("device"), homes.read_home(sycl_chain.home), {}
    (folder / "other.h").write_text("#define OTHER 1\n")

    def compile_device(words: Sequence[str]) -> str:
        told = tuple(str(folder / each) if each == "other.h" else each for each in words)
        if told not in known:
            known[told] = _device_pass(folder, home, told)
        return known[told]

    return compile_device


def _device_pass(folder: Path, home: Any, words: Sequence[str]) -> str:
    parsed = call.parse_call("icpx", ["-fsycl", "-std=c++17", "-c", str(SOURCE), *words])
    request = {"jit": str(home.jit), "source": str(SOURCE), "only_hash": False}
    request["words"] = passes.device_words(parsed, parsed.sources[0], home)
    (folder / "request.json").write_text(json.dumps(request))
    command = ("python3", "-I", str(DRIVER), "device-pass", str(folder / "request.json"))
    subprocess.run(command, check=True, env={**os.environ, "LD_LIBRARY_PATH": str(home.lib)})
    answer = json.loads((folder / "answer.json").read_text())
    assert not answer["failed"], answer["log"]
    found = sha256()
    for image in answer["images"]:
        found.update(Path(image["file"]).read_bytes())
    return f"{len(answer['images'])} {found.hexdigest()}"


@pytest.mark.parametrize("seen", DIFFERENCES, ids=lambda seen: " ".join((seen.word, *seen.beside)))
def test_a_word_for_device_code_changes_the_spirv(device: Any, seen: Difference) -> None:
    assert device((*seen.beside, seen.word, *seen.more)) != device(seen.beside)


@pytest.mark.parametrize("words", SAME, ids=lambda words: words[0])
def test_a_word_without_effect_leaves_the_spirv_as_it_is(device: Any, words: tuple[str, ...]) -> None:
    beside = ("-ffast-math",) if "-ffast-math" in words else ()
    assert device(words) == device(beside)


def test_device_code_is_precise_where_nothing_is_said(device: Any) -> None:
    assert device(()) == device(("-ffp-model=precise",)) == device(("-fno-fast-math", "-ffp-contract=on"))


def test_the_language_is_that_of_2020(device: Any) -> None:
    assert device(("-sycl-std=2020",)) == device(())
    with pytest.raises(AssertionError, match="invalid value '2017' in '-sycl-std=2017'"):
        device(("-sycl-std=2017",))


@pytest.mark.parametrize(
    "word", ["-fPIE", "-fvisibility=hidden", "-fstack-protector-strong", "-fcf-protection=full", "-ffunction-sections"]
)
def test_a_word_for_host_code_changes_the_object(sycl_chain: Chain, tmp_path: Path, word: str) -> None:
    source = tmp_path / "host.cpp"
    source.write_text("extern int other; extern void use(char*); void f() { char a[16] = {}; use(a); other++; }\n")
    made: list[bytes] = []
    for words in ((), (word,)):
        out = tmp_path / f"{len(made)}.o"
        command = (
            str(sycl_chain.home / "bin/icpx"),
            "-fPIC",
            "-fcf-protection=none",
            *words,
            "-c",
            str(source),
            "-o",
            str(out),
        )
        subprocess.run(command, check=True, env=sycl_chain.env)
        made.append(out.read_bytes())
    assert made[0] != made[1]
