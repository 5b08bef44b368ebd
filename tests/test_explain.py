"""What a log says: every failure of the catalogue, its real wordings, and nothing where nothing went wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from logs import WENT_WELL, explained, ids, noise, signatures, wordings
from xpusetup.base.errors import UsageError
from xpusetup.explain.finder import Signature, parse_signatures
from xpusetup.system.files import package_texts

if TYPE_CHECKING:
    from pathlib import Path

AROUND = "-- Configuring done\n[1/2] Building CXX object x.cpp.o\n{}\n[2/2] Linking CXX executable x\n"


MOST = 520
"""A catalogue of more tables can no longer be read by one person; an entry that was not seen again makes room."""


def test_the_catalogue_stays_small() -> None:
    text = package_texts("data/signatures")
    assert len(re.findall(r"^\[\[\w+(?:\.when)?\]\]$", text, re.MULTILINE)) < MOST


def test_every_example_is_found() -> None:
    """And none of its commands holds a name that no pattern finds."""
    amiss = [signature.id for signature in signatures() if not is_told(signature)]
    assert amiss == []


def is_told(signature: Signature) -> bool:
    """Say whether the example of a signature is found in its line, and what is advised can be pasted."""
    causes = explained(AROUND.format(signature.example)).describe().causes
    told = next((cause for cause in causes if cause.id == signature.id), None)
    here = told is not None and told.line == causes[0].line == 3
    return here and not re.search(r"<[a-z_]+>", " ".join(told.commands if told else ()))


@pytest.mark.parametrize("wording", wordings(), ids=lambda wording: f"{wording['id']}-{wording['source'][-40:]}")
def test_real_wordings(wording: dict[str, Any]) -> None:
    found = explained("\n".join(noise(40)) + "\n" + wording["lines"] + "\n" + "\n".join(noise(40, 2)), failed=True)
    assert ids(found)[:1] == [wording["id"]], found.causes
    assert 40 < found.causes[0].line <= 40 + wording["lines"].count("\n") + 1


def test_wordings_name_signatures() -> None:
    known = {signature.id for signature in signatures()}
    assert {wording["id"] for wording in wordings()} <= known
    assert all(wording["source"].startswith("http") for wording in wordings())


@pytest.mark.parametrize("path", WENT_WELL, ids=lambda path: path.stem)
def test_nothing_is_wrong_in_a_log_of_success(path: Path) -> None:
    assert ids(explained(path.read_bytes())) == []


def test_noise_is_noise() -> None:
    found = explained("\n".join(noise(2000)))
    assert (ids(found), found.first_error, found.lines) == ([], None, 2000)


def test_there_are_twenty_such_logs() -> None:
    assert len(WENT_WELL) >= 20


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('confidence = "high"', 'confidence = "sure"'), "'high', 'medium' or 'low'"),
        (("words = [", "wrods = ["), "wrods"),
        (('id = "clone.rpc_failed"', 'id = "clone.url_error"'), "stand twice: ['clone.url_error']"),
        (('follows = ["clone.rpc_failed"', 'follows = ["clone.nothing"'), "that nothing has: ['clone.nothing']"),
    ],
)
def test_the_catalogue_is_read_strictly(change: tuple[str, str], words: str) -> None:
    text = package_texts("data/signatures")
    assert change[0] in text
    with pytest.raises(UsageError, match="data/signatures: ") as caught:
        parse_signatures(text.replace(*change, 1))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("fatal: detected dubious ownership in repository at '/src/pytorch'", "/src/pytorch"),
        ("fatal: detected dubious ownership in repository at '/home/me/my tree/x'", "'/home/me/my tree/x'"),
        ("fatal: detected dubious ownership in repository at '/a/$(id)'", "'/a/$(id)'"),
        ("fatal: detected dubious ownership in repository", "FOLDER"),
    ],
)
def test_git_is_told_of_the_folder_that_it_names_and_of_no_other(line: str, folder: str) -> None:
    (cause,) = explained(f"Cloning\n{line}\nmake: *** [all] Error 1\n").describe().causes
    assert cause.commands == [f"git config --global --add safe.directory {folder}"]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        (
            "src/x.cpp:41:12: error: 'scale_larges' was not declared in this scope; did you mean 'scale_largest'?",
            "the code uses a name that nothing declares; the compiler knows a similar one: scale_largest",
        ),
        (
            "a.cpp:42:10: error: no member named 'emptylike' in namespace 'at'; did you mean 'empty_like'?",
            "the code uses a name that nothing declares; the compiler knows a similar one: empty_like",
        ),
        (
            "a.cpp:42:10: error: no template named 'vectr' in namespace 'std'; did you mean 'vector'?",
            "the code uses a name that nothing declares; the compiler knows a similar one: vector",
        ),
        (
            "a.cpp:17:42: error: SYCL kernel cannot allocate storage",
            "a SYCL kernel, or a function that it calls, does what device code may not do: allocate storage",
        ),
        (
            "c++: fatal error: Killed signal terminated program cc1plus\nslurmstepd: error: Detected 1 oom_kill event",
            "the compiler needed more memory than Slurm gives the job, and was killed",
        ),
    ],
)
def test_what_stands_beside_the_error_decides(lines: str, cause: str) -> None:
    assert explained(AROUND.format(lines), failed=True).describe().causes[0].cause == cause
