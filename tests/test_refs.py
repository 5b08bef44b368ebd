"""What people call a revision, and which commit it is."""

from __future__ import annotations

import pytest

from data.profiles import shipped
from xpusetup.base.errors import UsageError
from xpusetup.base.model import FoundRef
from xpusetup.config.request import choose, floating, names_to_ask, parse_revs, release_of, slug, unsure

A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)
SERVER = {
    "refs/heads/main": A,
    "refs/heads/release/2.15": B,
    "refs/tags/v2.15.0": C,
    "refs/tags/v2.15.0^{}": D,
    "refs/tags/light": B,
    "refs/pull/12/head": C,
}


@pytest.mark.parametrize(
    ("ref", "rev", "name"),
    [
        ("main", A, "refs/heads/main"),
        ("release/2.15", B, "refs/heads/release/2.15"),
        ("v2.15.0", D, "refs/tags/v2.15.0"),
        ("light", B, "refs/tags/light"),
        ("pr/12", C, "refs/pull/12/head"),
        ("#12", C, "refs/pull/12/head"),
        ("pull/12/head", C, "refs/pull/12/head"),
        ("refs/heads/main", A, "refs/heads/main"),
        ("e" * 40, "e" * 40, ""),
        ("aaaaaaa", A, ""),
    ],
)
def test_refs(ref: str, rev: str, name: str) -> None:
    assert choose(ref, "https://server/torch", SERVER) == FoundRef(rev, name)


def test_a_tag_comes_before_a_branch_of_its_name() -> None:
    both = {"refs/heads/x": A, "refs/tags/x": B}
    assert choose("x", "server", both) == FoundRef(B, "refs/tags/x")
    assert names_to_ask("x") == ("refs/tags/x", "refs/heads/x")
    assert names_to_ask(A) == ()


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("mian", "server has no tag or branch 'mian'; did you mean main?"),
        ("v2.15.1", "server has no tag or branch 'v2.15.1'; did you mean v2.15.0?"),
        ("pr/13", "server has no tag or branch 'pr/13'"),
        ("1234567", "'1234567' is part of a commit's name"),
    ],
)
def test_unknown_refs(ref: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose(ref, "server", SERVER)
    assert caught.value.message.startswith(message)
    assert caught.value.fix


def test_revs() -> None:
    assert parse_revs(["torch=main", "vision=#7"]) == {"torch": "main", "vision": "#7"}
    for bad in ("torch", "=main", "torch=", "torch=-x", "torch=a b", "torch=$(x)", "a/b=main", "a b=main"):
        with pytest.raises(UsageError, match="is not COMPONENT=REF"):
            parse_revs([bad])
    with pytest.raises(UsageError, match="twice"):
        parse_revs(["torch=a", "torch=b"])


@pytest.mark.parametrize(
    ("ref", "version"),
    [("v2.15.0", "2.15.0"), ("v2.15.0-rc3", "2.15.0rc3"), ("refs/tags/v0.30.0", "0.30.0"), ("main", ""), ("v2", "")],
)
def test_releases(ref: str, version: str) -> None:
    assert release_of(ref) == version


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        ("main", "main"),
        ("release/2.15", "release-2.15"),
        ("#12", "12"),
        ("refs/pull/12/head", "pull-12-head"),
        (A, "a" * 12),
    ],
)
def test_slugs(ref: str, text: str) -> None:
    assert slug(ref) == text


def test_what_moves_and_what_is_unsure() -> None:
    assert floating(shipped("torch-2.14")) == {}
    assert floating(shipped("torch-2.15")) == {"torch": "v2.15.0"}, "its tree names the Triton that is a guess here"
    assert floating(shipped("main")) == {"torch": "main"}, "the torch tree names vision and audio"
    assert unsure(shipped("torch-2.14")) == {"torch": "v2.14.1"}
    assert unsure(shipped("torch-2.5")) == {}
