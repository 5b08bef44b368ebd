"""What names belong to: rows of parts.toml, and the refinements that they become."""

from __future__ import annotations

import pytest

from logs import SMALLEST
from xpusetup.base.errors import UsageError
from xpusetup.explain.explanation import explain
from xpusetup.explain.finder import parse_signatures
from xpusetup.explain.parts import Part, refine

PART = Part(
    what="libzap",
    headers=r"zap/\S+",
    libraries="zap",
    symbols="zap_",
    namespaces=["zap::core"],
    dev={"debian": "libzap-dev", "fedora": "zap-devel", "conda": "zap"},
    run={"debian": "libzap1"},
)


def test_what_a_library_brings_at_run_time_is_less_than_what_a_compiler_needs() -> None:
    library, header = refine(PART, "library"), refine(PART, "header")
    assert library
    assert header
    assert library["commands"][0] == "sudo apt-get install libzap1"
    assert header["commands"][0] == "sudo apt-get install libzap-dev"
    assert "zap-devel (Fedora, RHEL)" in header["fix"]


def test_a_part_without_such_names_says_nothing() -> None:
    assert refine(Part(what="x", headers="x"), "library") is None


def test_names_in_cxx_are_found_mangled_too() -> None:
    told = refine(PART, "loaded")
    assert told
    assert "3zap4core" in told["patterns"][0]


def test_a_kind_that_nothing_has_is_refused() -> None:
    text = SMALLEST.replace('source = "', 'parts = ["nothing"]\nsource = "')
    with pytest.raises(UsageError, match="nothing"):
        parse_signatures(text)


def test_what_another_line_tells_is_only_likely() -> None:
    known = parse_signatures(SMALLEST)
    assert explain([b"two cats\nboom\n"], known).describe().causes[0].likely
    assert not explain([b"boom of cats\n"], known).describe().causes[0].likely


def test_the_number_of_a_frame_is_no_prefix_of_docker() -> None:
    log = b"boom\n#0  0x00007ffff1a13420 in cats () from /opt/lib/libzap.so.1\n"
    best = explain([log], parse_signatures(SMALLEST)).describe().causes[0]
    assert best.decided
    assert best.decided.text.startswith("#0")
