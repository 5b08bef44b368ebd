"""Suites of tests: their parts, what journals and JUnit files count, baselines, and the published tables."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import hold_one
from xpusetup.base.document import to_json, to_table
from xpusetup.base.errors import UsageError
from xpusetup.base.text import hide_all
from xpusetup.commands.suites import AffectedOperator, OperatorTable, SuiteResult, SuiteSource, list_suites
from xpusetup.suites.known import (
    Against,
    ChangedPackage,
    Exclusion,
    HeardMessage,
    SuiteCounts,
    SuiteDifference,
    SuiteRow,
    Suites,
    SuiteVersions,
    affected_tests,
    compare_counts,
    compare_tests,
    make_operators,
    make_spec,
    parse_suites,
    render_results,
)
from xpusetup.ui.suites import show_suite_list, show_suites
from xpusetup.verify.fallbacks import parse_known

PACKAGE = Path(__file__).parents[1] / "xpusetup"
counts: Any = importlib.import_module("helperlib.suites.counts")
run_suite: Any = importlib.import_module("run_suite")
shards: Any = importlib.import_module("helperlib.suites.shards")

DATA = (PACKAGE / "data/suites.toml").read_text()
SEGMENT = """Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/home/me/tests/x/test_crash.py", line 5 in test_segv
  File "/home/me/venv/lib/python3.11/site-packages/_pytest/python.py", line 166 in pytest_pyfunc_call

Extension modules: numpy
"""
LATE = """Timeout (0:00:04)!
Thread 0x00007e (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait

Thread 0x00007f (most recent call first):
  File "/home/me/tests/x/test_crash.py", line 8 in test_hang
"""


@pytest.fixture(scope="module")
def known() -> Suites:
    return parse_suites(DATA)


@pytest.mark.parametrize("release", ["2.4", "2.5"])
def test_golden_published_tables(known: Suites, release: str) -> None:
    published = known.fitting("transformers", "4.45.2", f"{release}.1+xpu", "xpu")
    assert published is not None
    rows = [SuiteRow(name=name, **vars(row)) for name, row in published.rows.items()]
    assert len(rows) == 7
    assert render_results(rows) == published.markdown
    hold_one(f"suites/{published.id}.md", render_results(rows))


def test_what_is_known_of_versions(known: Suites) -> None:
    suite = known.find("transformers")
    (excluded,) = known.excluded(suite, "4.45.2", "2.4.0", "xpu")
    assert excluded.places == [f"tests/models/{name}" for name in ("olmoe", "fastspeech2_conformer", "qwen2_moe")]
    assert [one.places for one in known.excluded(suite, "4.45.2", "2.5.1+xpu", "xpu")] == [["tests/models/levit"]]
    for version, torch, device in (("4.45.2", "2.5.1", "cpu"), ("5.23.0", "2.5.1", "xpu"), ("4.45.2", "2.45", "xpu")):
        assert known.excluded(suite, version, torch, device) == []
        assert known.fitting("transformers", version, torch, device) is None
    assert known.variables(known.find("pytorch"), "simxpu") == {"PYTORCH_TESTING_DEVICE_ONLY_FOR": "simxpu"}
    assert known.variables(suite, "xpu")["PYTORCH_ENABLE_XPU_FALLBACK"] == "1"
    with pytest.raises(UsageError, match="no suite 'transformer'") as raised:
        known.find("transformer")
    assert "did you mean transformers?" in raised.value.message


def test_the_list_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    from xpusetup.ui.console import make_console  # noqa: PLC0415 - after capsys has replaced stdout

    show_suite_list(make_console(), list_suites().data, verbose=True)
    said = capsys.readouterr().out
    assert "backbone, examples" in said
    assert "| `tests/models` | 113 | 32750 | 38540 |" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SEGMENT, "Segmentation fault, at x/test_crash.py:5 in test_segv"),
        (LATE, "no end in time, at x/test_crash.py:8 in test_hang"),
        ("Fatal Python error: Aborted\n", "Aborted"),
        ("", ""),
    ],
)
def test_how_a_process_ended(text: str, said: str) -> None:
    assert counts.describe_stacks(text) == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (134, "its process was ended: Aborted"),
        (3, "its process ended with exit code 3"),
        (255, "ended with exit code 255"),
    ],
)
def test_codes_of_processes(code: int, said: str) -> None:
    assert said in shards.describe_code(code)


JOURNAL = [
    ["collect", "tests/test_a.py", "gw0"],
    ["end", "tests/test_bad.py", ["error"]],
    ["start", "t::passed"],
    ["end", "t::passed", ["passed"]],
    ["start", "t::failed"],
    ["end", "t::failed", ["failed", "teardown error"]],
    ["start", "t::skipped"],
    ["end", "t::skipped", ["skipped"]],
    ["start", "t::setup"],
    ["end", "t::setup", ["setup error"]],
    ["start", "t::sub"],
    ["end", "t::sub", ["sub skipped", "sub passed", "passed"]],
    ["start", "t::sub_failed"],
    ["end", "t::sub_failed", ["sub failed", "sub passed", "passed"]],
    ["start", "t::crashed"],
    ["crash", "t::crashed", SEGMENT],
    ["heard", "t::passed", {"kind": "announced", "operator": "aten::take", "backend": "xpu"}, 3],
    ["start", "t::open"],
]
JUNIT = """<?xml version="1.0"?><testsuites><testsuite>
<testcase name="passed"/><testcase name="failed"><failure/></testcase><testcase name="failed"><error/></testcase>
<testcase name="skipped"><skipped/></testcase><testcase name="setup"><error/></testcase>
<testcase name="sub"><properties><property name="outcome" value="passed"/></properties><skipped/></testcase>
<testcase name="sub_failed"><failure/><failure/></testcase><testcase name="crashed"><error/></testcase>
<testcase name="bad"><error/></testcase></testsuite></testsuites>"""


def test_the_journal_counts_as_junit_does() -> None:
    told = counts.read_journal("\n".join(map(json.dumps, JOURNAL)) + '\n["end", "t::cut')
    assert counts.count_told(told) == Counter(passed=2, failed=2, skipped=1, errors=4)
    assert counts.count_junit(JUNIT) == counts.count_told(told)
    assert list(told.open) == ["t::open"]
    outcomes = counts.list_outcomes(told)
    assert [outcomes[f"t::{name}"] for name in ("failed", "sub", "sub_failed", "crashed")] == [
        "failed",
        "passed",
        "failed",
        "crashed",
    ]
    assert counts.count_junit(JUNIT[:-5]) is None


def test_a_lost_worker_names_the_module_that_it_was_importing() -> None:
    lines = [["collect", "a.py", "gw0"], ["collect", "b.py", "gw1"], ["lost", "gw1", ""]]
    told = counts.read_journal("\n".join(map(json.dumps, lines)))
    assert told.crashes == {"b.py": "its process ended"}
    assert told.ended == {"b.py"}


TREE = [
    "tests/test_top.py",
    "tests/generation/test_utils.py",
    *(f"tests/models/{name}/test_{kind}.py" for name in ("bert", "gpt2", "vit") for kind in ("model", "tokens")),
    "tests/models/auto/test_auto.py",
]


def test_shards_are_directories() -> None:
    found = shards.make_shards(TREE, ["tests"])
    assert [(one.row, one.name, one.paths) for one in found] == [
        ("tests/generation", "tests.generation", ("tests/generation",)),
        ("tests/models", "tests.models", ("tests/models",)),
        ("tests/*.py", "tests.files", ("tests/test_top.py",)),
    ]


@pytest.mark.parametrize("parts", [2, 3, 4, 99])
def test_a_large_directory_is_several_shards(parts: int) -> None:
    found = [one for one in shards.make_shards(TREE, ["tests/"], parts) if one.row == "tests/models"]
    assert len(found) == min(parts, 4)
    assert sorted(path for one in found for path in one.paths) == [
        f"tests/models/{name}" for name in ("auto", "bert", "gpt2", "vit")
    ]
    assert len({one.name for one in found}) == len(found)


def test_a_selected_file_or_folder_is_a_row() -> None:
    places = ["tests/models", "tests/test_top.py"]
    found = shards.make_shards(TREE[:1] + TREE[2:], places, 2, ["tests/models"])
    assert [(one.row, one.number, len(one.paths)) for one in found] == [
        ("tests/models", 1, 2),
        ("tests/models", 2, 2),
        ("tests/test_top.py", 1, 1),
    ]


def test_differences_by_test() -> None:
    there = {
        "d/a.py::1": "passed",
        "d/a.py::2": "failed",
        "d/a.py::3": "passed",
        "d/a.py::4": "error",
        "e/b.py::1": "passed",
    }
    here = {
        "d/a.py::1": "crashed",
        "d/a.py::2": "passed",
        "d/a.py::4": "failed",
        "d/a.py::5": "failed",
        "d/a.py::6": "passed",
    }
    against = compare_tests("x.json", there, here, frozenset({"d"}))
    assert against.better == (SuiteDifference("d/a.py::2", "failed", "passed"),)
    assert against.worse == (
        SuiteDifference("d/a.py::1", "passed", "crashed"),
        SuiteDifference("d/a.py::3", "passed", "not run"),
        SuiteDifference("d/a.py::5", "not there", "failed"),
    )
    direct = compare_tests("x.json", there, here, frozenset({"d/*.py"}))
    assert direct == against


def test_differences_by_row(known: Suites) -> None:
    published = known.fitting("transformers", "4.45.2", "2.5.0", "xpu")
    assert published is not None
    same = compare_counts("p", published.rows, published.rows)
    assert (same.better, same.worse) == ((), ())
    here = {
        "tests/models": SuiteCounts(failed=4, passed=32736, skipped=38838),
        "tests/trainer": SuiteCounts(failed=15, passed=196, skipped=48, errors=2),
        "tests/new": SuiteCounts(failed=5, passed=1, skipped=0),
    }
    found = compare_counts("p", published.rows, here)
    assert [one.name for one in found.better] == ["tests/models"]
    assert found.worse == (
        SuiteDifference("tests/trainer", "16 failed, 196 passed, 48 skipped", "17 failed, 196 passed, 48 skipped"),
    )
    fewer = compare_counts("p", published.rows, {"tests/utils": SuiteCounts(failed=0, passed=369, skipped=102)})
    assert [one.name for one in fewer.worse] == ["tests/utils"]


def test_errors_have_a_column_where_there_are_some() -> None:
    row = SuiteRow(name="tests/a", failed=1, passed=2, skipped=3, errors=4)
    assert render_results([row]).splitlines() == [
        "| Tests | Failed | Errors | Passed | Skipped |",
        "| --- | --- | --- | --- | --- |",
        "| `tests/a` | 1 | 4 | 2 | 3 |",
    ]


def test_operators_of_a_suite() -> None:
    fallbacks = parse_known((PACKAGE / "data/fallbacks.toml").read_text())
    heard = [
        HeardMessage(test=test, kind=kind, operator=name, backend="xpu", count=count)
        for test, kind, name, count in (
            ("t::1", "announced", "aten::take", 2),
            ("t::2", "announced", "aten::take", 1),
            ("t::2", "refused", "aten::nll_loss2d_forward", 1),
        )
    ]
    table = make_operators(fallbacks, "xpu", heard, "2.5")
    assert [(one.name, one.how, one.calls) for one in table.operators] == [
        ("aten::nll_loss2d_forward", "Manual", 1),
        ("aten::take", "Enabled", 3),
    ]
    assert affected_tests(heard) == {"aten::take": ["t::1", "t::2"], "aten::nll_loss2d_forward": ["t::2"]}


def test_the_device_file_has_a_bare_name() -> None:
    name, text = make_spec("simxpu")
    assert (name.count("."), "/" in name) == (1, False)
    compile(text, name, "exec")
    assert 'DEVICE_NAME = "simxpu"' in text


ROWS = [
    SuiteRow(name="tests/models", failed=1, passed=2, skipped=3, errors=1, notes=["a process was lost"]),
    SuiteRow(name="tests/utils", failed=0, passed=7, skipped=0),
]
LEFT_OUT = Exclusion(
    suite="transformers",
    version="4.45.2",
    torch="2.5",
    device="xpu",
    places=["tests/models/levit"],
    reason="some of them hang",
    source="issue 136007",
)
RESULT = SuiteResult(
    suite="transformers",
    device="xpu",
    environment="torch-2.5",
    versions=SuiteVersions(suite="4.45.2", torch="2.5.1+xpu", pytest="8.3.0", xdist=None),
    workers=0,
    suites=ROWS,
    markdown=render_results(ROWS),
    excluded=[LEFT_OUT],
    source=SuiteSource(
        folder="/t", version="4.45.2", notes=["the tests are of 4.45.2, installed is transformers 4.46.0"]
    ),
    broken=["tests/trainer: RuntimeError: no driver"],
    replaced=[ChangedPackage(name="torch", before="2.5.1+xpu abc", after="2.15.0 def")],
    crashed={"tests/models/a/test_a.py::test_x": "Aborted, at a/test_a.py:3 in test_x"},
    failed={"tests/models/a/test_a.py::test_x": "crashed", "tests/models/a/test_a.py::test_y[1]": "failed"},
    operators=[AffectedOperator("aten::take", "Enabled")],
    operator_table=OperatorTable(markdown="| Aten operation | CPU fallback |\n", notes=[]),
    against=None,
    seconds=3725.0,
    results="/r/results.json",
)
AGAINST = Against(
    "old.json",
    better=(SuiteDifference("t::b", "failed", "passed"),),
    worse=tuple(SuiteDifference(f"t::{number}[x]", "passed", "failed") for number in range(12)),
)


@pytest.mark.parametrize(("name", "against"), [("alone", None), ("against", AGAINST)])
def test_golden_screens(name: str, against: Against | None, capsys: pytest.CaptureFixture[str]) -> None:
    from xpusetup.ui.console import make_console  # noqa: PLC0415 - after capsys has replaced stdout

    show_suites(make_console(), replace(RESULT, against=against), verbose=False)
    hold_one(f"suites/{name}.txt", capsys.readouterr().out)


def test_a_suite_sees_its_entries_and_nothing_else_of_a_tree(tmp_path: Path) -> None:
    tests = ("test/test_a.py", "test/xpu/test_b.py", "third_party/ops/test/xpu/test_c.py")
    files = (*tests, "torch/version.py", "setup.py", "third_party/xpu.txt", "third_party/ops/src/a.cpp")
    for name in files:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).touch()

    def seen(*entries: str) -> set[str]:
        run_suite.link_tree(tmp_path / "tree", tmp_path / "work", list(entries))
        return {str(path.relative_to(tmp_path / "work")) for path in (tmp_path / "work").rglob("*") if path.is_file()}

    assert seen("test", "third_party/ops/test") == set(tests)
    assert seen("test", "setup.py") == {*tests[:2], "setup.py"}
    assert seen() == set(files)


def test_where_no_test_ran_none_is_said_to_have_passed(capsys: pytest.CaptureFixture[str]) -> None:
    from xpusetup.ui.console import make_console  # noqa: PLC0415 - after capsys has replaced stdout

    nothing: dict[str, Any] = {"suites": [], "broken": [], "replaced": [], "crashed": {}, "failed": {}}
    show_suites(make_console(), replace(RESULT, **nothing), verbose=False)
    assert " ✗ no test ran · 1:02:05" in capsys.readouterr().out


def test_a_result_with_a_strict_model_as_json_without_credentials() -> None:
    """What a file was read into stands in a result as it is."""
    address = "https://me:secret@example.org/x"
    told = hide_all(replace(RESULT, excluded=[replace(LEFT_OUT, source=address)]))
    document: Any = to_json(told)
    assert document["excluded"][0] == {**to_table(LEFT_OUT), "source": "https://***@example.org/x"}
    assert document["suites"][1]["errors"] == 0
