"""The published tables to the letter, the built-in lists beside them, and logs and runs in the same form."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from data.fallbacks import ASCEND, LOG, OTHER_RUN, XPU_RUN
from golden import hold, hold_one
from xpusetup.base.errors import UsageError
from xpusetup.commands import verify
from xpusetup.commands.verify import FallbackOptions, show_fallbacks
from xpusetup.run.workspace import Where
from xpusetup.ui import screens
from xpusetup.ui.console import Terminal
from xpusetup.verify.fallbacks import (
    LONGEST,
    FallbackRecord,
    ReadMessage,
    list_table,
    log_table,
    parse_known,
    parse_patterns,
    published_tables,
    render_markdown,
    run_tables,
    scan,
)

PACKAGE = Path(__file__).parents[1] / "xpusetup"
TEXT = (PACKAGE / "data/fallbacks.toml").read_text()
KNOWN = parse_known(TEXT)
PATTERNS = parse_patterns((PACKAGE / "helpers/helperlib/fallbacks/messages.json").read_text())
fallbacks_messages: Any = importlib.import_module("helperlib.fallbacks.messages")
PUBLISHED = {name: how for table in KNOWN.table for name, how in table.rows}


def test_golden_published_tables() -> None:
    hold("fallbacks", {f"{table.id}.md": table.markdown for table in KNOWN.table})


def test_no_row_of_a_published_table_is_lost() -> None:
    sizes = [(table.release, len(table.rows), table.markdown.count("\n") - 2) for table in KNOWN.table]
    assert sizes == [("2.5", 10, 10), ("2.4", 24, 24), ("2.4", 32, 32), ("2.4", 12, 12)]
    assert len(PUBLISHED) == 54


def test_the_lists_agree_with_the_published_tables() -> None:
    """The operators of all pages that are on the list of 2.5 are exactly the rows that were published for 2.5."""
    rows = [name for name, _how in KNOWN.table[0].rows]
    assert sorted(set(PUBLISHED) & set(KNOWN.names("2.5"))) == sorted(rows)
    listed = {name for name, how in PUBLISHED.items() if how == "Enabled"}
    assert listed <= {*KNOWN.names("2.4"), *KNOWN.names("2.5")}
    assert not (set(PUBLISHED) - listed) & set(KNOWN.names("2.4"))


def test_the_size_of_each_list() -> None:
    sizes = {release: len(KNOWN.names(release)) for release in KNOWN.releases}
    assert sizes == {
        "2.4": 303,
        "2.5": 141,
        "2.6": 39,
        "2.7": 33,
        "2.8": 28,
        "2.9": 31,
        "2.10": 34,
        "2.11": 32,
        "2.12": 30,
        "2.13": 29,
        "2.14": 29,
        "main": 24,
    }


def test_a_list_that_lost_an_operator_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the list of 2\.4 has 303 operators, the spans give 302"):
        parse_known(TEXT.replace('"_cdist_forward",', "", 1))


@pytest.mark.parametrize(
    ("name", "releases", "since"),
    [
        ("aten::take", ("2.4", "2.5"), "2.6"),
        ("aten::_fft_c2c", ("2.4", "2.5", "2.6"), "2.7"),
        ("aten::_fft_r2c", ("2.4", "2.5", "2.6", "2.7"), "2.8"),
        ("aten::_foreach_mul_.Tensor", ("2.4",), "2.6"),
        ("aten::nll_loss2d_forward", ("2.4",), "2.5"),
        ("aten::linalg_eig", KNOWN.releases, None),
        ("aten::hash_tensor.out", ("2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "main"), None),
        ("aten::mm", (), None),
    ],
)
def test_when_an_operator_runs_on_the_cpu(name: str, releases: tuple[str, ...], since: str | None) -> None:
    assert (KNOWN.releases_of(name), KNOWN.native_since(name)) == (releases, since)


def test_every_published_operator_is_native_by_now() -> None:
    later = {KNOWN.native_since(name) for name in PUBLISHED}
    assert later == {"2.5", "2.6", "2.7", "2.8"}


@pytest.mark.parametrize("release", ["2.4", "2.5"])
def test_a_release_with_tables_gives_them_and_no_more(release: str) -> None:
    tables = show_fallbacks(Where(), FallbackOptions(release=release)).data.tables
    assert [table.markdown for table in tables] == [one.markdown for one in KNOWN.table if one.release == release]
    assert {table.origin for table in tables} == {"published"}
    whole = show_fallbacks(Where(), FallbackOptions(release=release, whole=True)).data.tables
    assert whole[:-1] == tables
    assert len(whole[-1].operators) == len(KNOWN.names(release))


def test_other_releases_say_that_they_are_computed() -> None:
    table = list_table(KNOWN, "2.14")
    assert (table.origin, len(table.operators)) == ("built-in list", 29)
    assert "computed" in table.title
    assert "a4c530f07a68a526003c6867542b92e89fb1fd29" in table.source
    with pytest.raises(UsageError, match=r"2\.3") as caught:
        show_fallbacks(Where(), FallbackOptions(release="2.3"))
    assert "2.14|main" in caught.value.fix


def test_the_form_of_a_table_is_the_published_one() -> None:
    """A published table that nobody widened by hand is written again to the letter."""
    table = published_tables(KNOWN, "2.4")[2]
    assert render_markdown(table.operators) == table.markdown


@pytest.mark.parametrize("pattern", PATTERNS, ids=[f"{one.kind}-{number}" for number, one in enumerate(PATTERNS)])
def test_each_wording_is_found_by_its_pattern_alone(pattern: Any) -> None:
    for example in pattern.examples:
        assert [message.kind for message in scan([example.encode()], PATTERNS)] == [pattern.kind]


FOUND = {
    ("forced", "aten::add.out", ""): 1,
    ("announced", "aten::_fft_r2c", "xpu"): 2,
    ("announced", "aten::linalg_eig.out", "xpu"): 1,
    ("announced", "aten::add.out", "xpu"): 1,
    ("announced", "aten::bitwise_left_shift.Tensor_out", "xpu"): 1,
    ("announced", "aten::take", "xpu"): 1,
    ("once", "", "xpu"): 1,
    ("refused", "aten::nll_loss2d_forward", "xpu"): 1,
    ("mixed", "aten::index_copy.out", "xpu"): 1,
    ("native", "aten::geqrf", "xpu"): 1,
}


def test_all_wordings_in_one_log() -> None:
    assert scan([LOG.encode()], PATTERNS) == Counter({ReadMessage(*key): times for key, times in FOUND.items()})


@pytest.mark.parametrize("size", [1, 7, 100, LONGEST, LONGEST + 1])
def test_pieces_of_any_size(size: int) -> None:
    data = (LOG + "noise, operator\n" * 300 + LOG).encode()
    pieces = [data[begin : begin + size] for begin in range(0, len(data), size)]
    assert scan(pieces, PATTERNS) == Counter({ReadMessage(*key): 2 * times for key, times in FOUND.items()})


def test_helpers_find_what_the_program_finds() -> None:
    for text in (LOG, ASCEND, *(example for one in PATTERNS for example in one.examples)):
        assert Counter(fallbacks_messages.find_messages(text)) == scan([text.encode()], PATTERNS)


def test_a_log_as_a_table() -> None:
    table = log_table(KNOWN, "x.log", scan([LOG.encode()], PATTERNS))
    assert {(one.name, one.how): one.calls for one in table.operators} == {
        ("aten::_fft_r2c", "Enabled"): 2,
        ("aten::add.out", "Forced"): 1,
        ("aten::bitwise_left_shift.Tensor_out", "Enabled"): 1,
        ("aten::linalg_eig.out", "Enabled"): 1,
        ("aten::nll_loss2d_forward", "Manual"): 1,
        ("aten::take", "Enabled"): 1,
    }
    assert len(table.notes) == 3
    later = log_table(KNOWN, "x.log", scan([LOG.encode()], PATTERNS), "2.14")
    assert {one.how for one in later.operators if one.name in {"aten::take", "aten::_fft_r2c"}} == {"Manual"}


def test_another_vendor_s_log_is_not_judged_by_intel_s_lists() -> None:
    [one] = log_table(KNOWN, "x.log", scan([ASCEND.encode()], PATTERNS)).operators
    assert (one.name, one.how, one.releases) == ("aten::take", "Enabled", ())


def test_a_run_on_xpu_and_one_elsewhere() -> None:
    first, second, third = run_tables(KNOWN, XPU_RUN)
    assert [(one.name, one.how) for one in (*first.operators, *second.operators, *third.operators)] == [
        ("aten::add.out", "Forced"),
        ("aten::linalg_eig", "Enabled"),
        ("aten::newest", "Manual"),
        ("aten::take", "Manual"),
    ]
    assert second.operators[0].releases == KNOWN.releases
    [other] = run_tables(KNOWN, OTHER_RUN)
    assert [(one.how, one.releases) for one in other.operators] == [("Silent", ()), ("Enabled", ()), ("Missing", ())]
    assert "cannot tell silent fallbacks" in other.notes[0]


def test_the_first_release_says_nothing_of_its_list() -> None:
    run = replace(XPU_RUN, torch="2.4.1+xpu", forced=[])
    assert [(one.name, one.how, one.calls) for one in run_tables(KNOWN, run)[0].operators] == [
        ("aten::add.out", "Enabled", 12),
        ("aten::take", "Enabled", 4),
    ]


def screen(asked: FallbackOptions, *, terminal: bool) -> str:
    console = Terminal(
        width=100, no_color=True, force_terminal=terminal, file=StringIO(), highlight=False, soft_wrap=True, _environ={}
    )
    result = show_fallbacks(Where(), asked)
    screens.show_data(console, result.data, verbose=False)
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize("run", [XPU_RUN, OTHER_RUN], ids=["xpu", "simxpu"])
@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "piped"])
def test_golden_runs(monkeypatch: pytest.MonkeyPatch, run: FallbackRecord, terminal: bool) -> None:
    monkeypatch.setattr(verify, "_collect", lambda _where, _device: run)
    text = (
        screen(FallbackOptions(), terminal=terminal)
        .replace("\x1b[1m", "")
        .replace("\x1b[2m", "")
        .replace("\x1b[0m", "")
    )
    hold_one(f"screens/fallbacks-{run.device}-{'terminal' if terminal else 'piped'}.txt", text)


def test_an_error_in_a_workload_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_collect", lambda _where, _device: XPU_RUN)
    assert show_fallbacks(Where(), FallbackOptions()).code == 1
    monkeypatch.setattr(verify, "_collect", lambda _where, _device: OTHER_RUN)
    assert show_fallbacks(Where(), FallbackOptions()).code == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_published_tables_are_printed_to_the_letter(terminal: bool) -> None:
    for release in ("2.4", "2.5"):
        text = screen(FallbackOptions(release=release), terminal=terminal)
        for table in KNOWN.table:
            assert (f"\n\n{table.markdown}\n" in text) == (table.release == release)


def test_logs_by_name(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.log", "b.log")]
    for path, text in zip(paths, (LOG, ASCEND), strict=True):
        path.write_text(text)
    data = show_fallbacks(Where(), FallbackOptions(logs=tuple(map(str, paths)))).data
    assert [(table.title, len(table.operators)) for table in data.tables] == [(str(paths[0]), 6), (str(paths[1]), 1)]
    assert set(data.words) == {"Enabled", "Manual", "Forced"}
    with pytest.raises(UsageError, match=r"cannot read .*missing"):
        show_fallbacks(Where(), FallbackOptions(logs=(str(tmp_path / "missing"),)))
