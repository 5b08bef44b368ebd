"""What names belong to: rows of parts.toml and gone.toml, and the refinements that they become."""

from __future__ import annotations

import pytest

from logs import SMALLEST, explained, signatures
from xpusetup.base.errors import UsageError
from xpusetup.explain.explanation import explain
from xpusetup.explain.finder import Refinement, parse_signatures
from xpusetup.explain.gone import Came, Gone, refine_came, refine_gone
from xpusetup.explain.parts import Part, refine

PART = Part(
    what="libzap",
    headers=r"zap/\S+",
    libraries="zap",
    symbols="zap_",
    namespaces=["zap::core"],
    packages="Zap",
    flag="-lzap",
    dev={"debian": "libzap-dev", "fedora": "zap-devel", "conda": "zap"},
    run={"debian": "libzap1"},
)


def test_what_a_library_brings_at_run_time_is_less_than_what_a_compiler_needs() -> None:
    library, link = refine(PART, "library"), refine(PART, "link")
    assert library
    assert link
    assert library["commands"][0] == "sudo apt-get install libzap1"
    assert link["commands"][0] == "sudo apt-get install libzap-dev"
    assert "zap-devel (Fedora, RHEL)" in link["fix"]


def test_a_part_without_such_names_says_nothing() -> None:
    assert refine(Part(what="x", headers="x"), "library") is None
    assert refine(PART, "gone") is None


def test_names_in_cxx_are_found_mangled_too() -> None:
    told = refine(PART, "loaded")
    assert told
    assert "3zap4core" in told["patterns"][0]


def test_all_that_parts_and_releases_say_is_a_refinement() -> None:
    for told in (refine(PART, "header"), *refine_gone(Gone(what="x", since="2", names="old", modules="x"))):
        assert told
        assert Refinement(**told).confidence == "medium"


def test_what_a_release_brought_names_that_release() -> None:
    told = Refinement(**refine_came(Came(what="zap", since="3.1", names="shine", functions="glow")))
    assert told.cause == "<name> came with zap 3.1, and the zap here is older"
    assert len(told.patterns) == 1
    with pytest.raises(ValueError, match="modules or functions are missing"):
        Came(what="zap", since="3.1", names="shine")


@pytest.mark.parametrize("kind", ["parts", "told_first"])
def test_a_list_that_nothing_has_is_refused(kind: str) -> None:
    text = SMALLEST.replace('source = "', f'{kind} = ["nothing"]\nsource = "')
    with pytest.raises(UsageError, match="nothing"):
        parse_signatures(text)


def test_what_another_line_tells_is_only_likely() -> None:
    known = parse_signatures(SMALLEST)
    assert explain([b"two cats\nboom\n"], known).describe().causes[0].likely
    assert not explain([b"boom of cats\n"], known).describe().causes[0].likely


def test_no_failure_that_others_tell_says_less_than_it_did() -> None:
    """Each that takes parts has rows for them."""
    assert all(len(known.when) > 20 for known in signatures() if known.parts)


def test_the_number_of_a_frame_is_no_prefix_of_docker() -> None:
    log = "Segmentation fault (core dumped)\n#0  0x00007ffff1a13420 in zap () from /opt/lib/libzap.so.1\n"
    best = explained(log).describe().causes[0]
    assert "libzap.so.1" in best.cause
    assert best.decided
    assert best.decided.text.startswith("#0")
