"""Which compiler cache stands before the compilers, what it is told, and what it says of itself."""

from __future__ import annotations

import json

import pytest

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.run import compiler_caches
from xpusetup.run.compiler_caches import (
    Counts,
    Launcher,
    choose_launcher,
    find_closed,
    parse_sccache_stats,
    parse_stats_log,
    render_launcher,
)
from xpusetup.system.process import ProcessOutput

CCACHE, SCCACHE = Launcher("ccache", "/usr/bin/ccache"), Launcher("sccache", "/opt/sccache")
HERE = {one.name: one.path for one in (CCACHE, SCCACHE)}


@pytest.mark.parametrize(
    ("choice", "here", "found"),
    [
        ("auto", HERE, CCACHE),
        ("auto", {"sccache": "/opt/sccache"}, SCCACHE),
        ("auto", {}, None),
        ("none", HERE, None),
        ("sccache", HERE, SCCACHE),
    ],
)
def test_choice(choice: str, here: dict[str, str], found: Launcher | None) -> None:
    assert choose_launcher(choice, lambda name: here.get(name)) == found  # noqa: PLW0108 - mypy takes no overloaded one


def test_what_is_asked_for_and_not_here() -> None:
    with pytest.raises(NotReadyError, match="ccache is not on PATH"):
        choose_launcher("ccache", lambda _name: None)
    with pytest.raises(UsageError, match="--launcher cannot be 'icecc'"):
        choose_launcher("icecc", lambda _name: None)


@pytest.mark.parametrize(("name", "closed"), [("ccache", "/ro/cache"), ("sccache", "")])
def test_a_cache_that_cannot_be_written(name: str, closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the steps see it: they keep no XDG_CACHE_HOME of the caller."""

    def answer(argv: tuple[str, ...], *, env: dict[str, str], **_words: object) -> ProcessOutput:
        assert env == {"HOME": "/ro", "CCACHE_X": "1"}
        return ProcessOutput(0, "/ro/cache\n" if argv[2] == "cache_dir" else "/ro/cache/tmp\n", "")

    monkeypatch.setattr(compiler_caches, "run_process", answer)
    monkeypatch.setattr(compiler_caches, "_may_write", lambda place: not place.is_relative_to("/ro"))
    told = {"HOME": "/ro", "XDG_CACHE_HOME": "/rw", "CCACHE_X": "1"}
    assert find_closed(Launcher(name, f"/usr/bin/{name}"), told) == closed


def test_variables() -> None:
    told = render_launcher(CCACHE, "/r", {})
    assert told["CMAKE_CXX_COMPILER_LAUNCHER"] == told["COMPILER_LAUNCHER"] == "/usr/bin/ccache"
    assert "CMAKE_SYCL_COMPILER_LAUNCHER" not in told  # its key would show one of the two passes
    assert (told["CCACHE_BASEDIR"], told["CCACHE_NOHASHDIR"], told["CCACHE_DEPEND"]) == ("/r", "1", "1")
    assert set(render_launcher(SCCACHE, "/r", {})) == {name for name in told if not name.startswith("CCACHE")}
    assert render_launcher(None, "/r", {}) == {}


def test_the_caller_goes_before() -> None:
    told = render_launcher(CCACHE, "/r", {"CCACHE_BASEDIR": "/", "CMAKE_CXX_COMPILER_LAUNCHER": "distcc"})
    assert {"CCACHE_BASEDIR", "CMAKE_CXX_COMPILER_LAUNCHER"}.isdisjoint(told)
    contrary = render_launcher(CCACHE, "/r", {"CCACHE_NODEPEND": "1", "CCACHE_HASHDIR": "1"})
    assert {name for name in contrary if name.startswith("CCACHE")} == {"CCACHE_BASEDIR"}


LOG = """# a.cpp
cache_miss
direct_cache_miss
local_storage_miss
preprocessed_cache_miss
# b.cpp
direct_cache_hit
local_storage_hit
# c.cpp
direct_cache_miss
preprocessed_cache_hit
# -E
called_for_preprocessing
# a.o
called_for_link
"""


def test_statistics_of_ccache() -> None:
    assert parse_stats_log(LOG) == Counts(2, 1)
    assert str(parse_stats_log(LOG)) == "2 of 3 compiles"
    assert parse_stats_log("") == Counts(0, 0)


def test_what_storage_says_counts_once() -> None:
    log = "# a.c\ndirect_cache_hit\nlocal_storage_miss\nremote_storage_hit\nremote_storage_read_hit\n"
    counts = parse_stats_log(
        f"{log}# b.c\ndirect_cache_hit\nlocal_storage_hit\n# c.c\ncache_miss\nremote_storage_miss\n"
    )
    assert counts == Counts(2, 1)
    assert str(counts) == "2 of 3 compiles"


def test_statistics_of_sccache() -> None:
    stats = {"cache_hits": {"counts": {"C/C++": 3, "CUDA": 1}}, "cache_misses": {"counts": {}}}
    assert parse_sccache_stats(json.dumps({"stats": stats})) == Counts(4, 0)
    for text in ("", "{}", '{"stats": {"cache_hits": 1}}', "[]"):
        with pytest.raises(ValueError, match=r"statistics of sccache|Expecting value"):
            parse_sccache_stats(text)
