"""The real build of Triton: how it differs from the product's own, and the profile where a source is a commit anew."""

from __future__ import annotations

import re

import tomli

from real.triton_build import CMAKE, FILES, MOVED, PATCHES, describe, words_of_build
from real.triton_sources import PROFILE, VARIABLES, Copied, derive, pinned
from xpusetup.config.load import parse_profile

ANEW = {name: Copied(digit * 40) for name, digit in zip(VARIABLES, "123", strict=True)}


def upstream() -> dict[str, Copied]:
    part = pinned()
    return {"triton": Copied(str(part.rev)), **{each.name: Copied(str(each.rev)) for each in part.vendored}}


def test_every_difference_has_its_reason_and_reaches_the_build() -> None:
    told = " ".join(words_of_build(2))
    for one in (*PATCHES, *CMAKE, MOVED):
        assert one.why
        assert one.what in told
    assert {path.name for path in FILES.glob("*.patch")} == {one.what for one in PATCHES}
    assert re.search(r"--take triton=source .*LLVM_SYSPATH=/usr/lib/llvm-22 ", told)


def test_with_upstreams_commits_the_profile_stays() -> None:
    text = PROFILE.read_text()
    assert derive(text, upstream()) == text


def test_with_commits_made_anew_nothing_else_differs() -> None:
    made = derive(PROFILE.read_text(), ANEW)
    profile = parse_profile(made, "made")
    (wheel,) = profile.components
    assert wheel.kind == "wheel"
    assert wheel.from_source is not None
    assert wheel.from_source.version == f"3.7.0+git{'1' * 8}"
    revs = {each.name: each.rev for each in wheel.from_source.vendored}
    assert (wheel.from_source.rev, revs) == ("1" * 40, {name: ANEW[name].rev for name in revs})
    before, after = tomli.loads(PROFILE.read_text()), tomli.loads(made)
    del after["components"][0]["from_source"]
    assert before == after


def test_a_target_in_few_words() -> None:
    kernel = {"name": "add", "half": "", "error": "", "versions": ["12.60"], "matrix": False}
    kernel |= {"image_bytes": 9, "seconds": 0.54}
    refused = {**kernel, "name": "matmul", "half": "bf16", "error": "no", "versions": [], "image_bytes": 0}
    found = describe("pvc", "", [kernel, refused])
    assert (found["why"], found["versions"], found["bytes"]) == ("matmul bf16: no", ["12.60"], [9, 0])
    assert (found["half"], found["seconds"]) == (["bf16"], 1.1)
