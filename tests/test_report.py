"""The report of a build: from what lies in a root to one page."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from golden import hold_one
from xpusetup.base.document import to_json
from xpusetup.base.model import Target, Toolkit, parse_journal_line
from xpusetup.commands.report import read_report
from xpusetup.report.contents import (
    IDLE,
    POINTS,
    CompileTotals,
    Edge,
    Material,
    Scale,
    Span,
    average_jobs,
    last_parts,
    make_page,
    make_report,
    parse_ninja_log,
    thin,
)
from xpusetup.report.contents import parse_spans as spans_of
from xpusetup.report.passes import find_heaviest, parse_passes, sum_passes
from xpusetup.run.root import Root
from xpusetup.system.files import package_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

GIB = 1 << 30
START = 1_795_000_000.0
TEMPLATE = package_text("data/report.html.j2")
LOADED = {"load": [14, 41 * GIB, 9 * GIB], "cached": [3, 7], "edges": 7561}


def parse_spans(records: Iterable[dict[str, Any]]) -> tuple[Span, ...]:
    lines = (parse_journal_line(json.dumps(each)) for each in records)
    return spans_of(line for line in lines if line)


def record(step: str, began: float, seconds: float, **more: Any) -> dict[str, Any]:
    known = {"key": f"key of {step}", "state": "ran", "lane": "work", "load": None, "edges": 0, "cached": None}
    return {"step": step, "time": START + began + seconds, "seconds": seconds, **known, **more}


RECORDS = (
    record("venv", 0, 2),
    record("torch.fetch", 2, 72, lane="network", edges=13456),
    record("torch.configure", 74, 51, load=[14, 0, 1 << 20]),
    record("torch.build", 125, 3600, **{**LOADED, "state": "short"}),
    record("vision.fetch", 126, 9, lane="network"),
    record("torch.build", 3725, 5000, **{**LOADED, "load": [7, 30 * GIB, 9 * GIB]}),
    record("verify.smoke", 90000, 40),
)
LOG = """# ninja log v7
0\t13480\t1795000126500000000\tCMakeFiles/a.dir/allocator.cpp.o\taaaa
0\t60000\t1795000126500000000\tCMakeFiles/a.dir/<script>alert(1).cpp.o\tbbbb
13480\t20000\t1795000139980000000\tlib/libone.so\tcccc
13480\t20000\t1795000139980000000\tlib/libone.so.1\tcccc
"""


def call(told: str, source: str, processor: float, memory: int, code: int = 0, process: int = 1) -> str:
    taken = {"process": process, "code": code, "seconds": 2 * processor, "processor": processor, "memory": memory}
    return json.dumps({"pass": told, "source": [source], **taken}) + "\n"


CALLS = "".join(
    (
        call("device", "/s/xpu/<b>Sorting.cpp", 99.0, 9 * GIB, process=0),
        call("device", "/s/xpu/<b>Sorting.cpp", 21.0, GIB),
        call("host", "/s/xpu/<b>Sorting.cpp", 43.0, 2 * GIB),
        call("device", "/s/xpu/Indexing.cpp", 90.0, 2 * GIB),
        call("host", "/s/xpu/Indexing.cpp", 246.0, 3 * GIB),
        call("host", "/s/xpu/Broken.cpp", 500.0, 8 * GIB, code=1),
        call("link", "/b/Indexing.cpp.o", 11.0, GIB),
        call("ocloc pvc,bmg", "/b/Indexing.cpp.o", 99.0, GIB, process=0),
        call("ocloc pvc", "/b/Indexing.cpp.o", 30.0, GIB),
        call("ocloc pvc,bmg", "/b/Indexing.cpp.o", 40.0, GIB),
    )
)
TARGET = Target(
    python="/usr/bin/python3.12",
    python_version="3.12",
    accelerator="xpu",
    arch=("pvc",),
    toolkit=Toolkit(provider="setvars", version="2024.1.4", compiler="icpx"),
)
MANIFEST = {
    "profile": "torch-2.5",
    "made_by": "build",
    "verified": True,
    "failed": None,
    "facts": {"system": {"name": "Ubuntu", "version": "24.04", "kernel": "6.8", "machine": "x86_64"}},
    "target": asdict(TARGET),
    "wheels": [{"name": "torch", "version": "2.5.1+xpu", "path": "/r/wheels/torch.whl", "sha256": "ab" * 32}],
    "pins": [
        {
            "name": "torch",
            "version": "2.5.1+xpu",
            "rev": "a8d6afb511a69687bbb2b7e88a3cf67917e1697e",
            "repo": "https://x/y",
        }
    ],
    "verification": {
        "device": "xpu:0",
        "checks": [
            {"id": "a", "title": "available", "level": "ok", "seen": "Max 1100", "seconds": 0.2},
            {"id": "b", "title": "numbers", "level": "fail", "seen": "1 > 0", "seconds": None},
        ],
    },
}


def material(**changes: Any) -> Material:
    samples = [(START + second, float(second % 41 * GIB)) for second in range(0, 8700, 5)]
    values: dict[str, Any] = {
        "root": "~/roots/torch-2.5",
        "manifest": MANIFEST,
        "spans": parse_spans(RECORDS),
        "edges": {"torch.build": parse_ninja_log(LOG)},
        "memory": samples,
        "memory_total": 64 * GIB,
        "sizes": {"/r/wheels/torch.whl": 812 << 20},
        "passes": parse_passes(CALLS),
    }
    return Material(**{**values, **changes})


class Page(HTMLParser):
    """Reads a page strictly enough to see what a browser would load, and what became an element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "href", "action", "data"}]

    def handle_data(self, data: str) -> None:
        self.text += data


def page(**changes: Any) -> Page:
    return Page(make_page(make_report(material(**changes)), TEMPLATE))


@pytest.mark.parametrize(
    "damage",
    [
        *({"time": value} for value in ("x", None, float("nan"), 10**400)),
        *({"seconds": float("inf")}, {"load": "abc"}, {"load": [1, 2]}, {"cached": [1]}, {"edges": "many"}),
    ],
)
def test_a_damaged_line_of_the_journal_counts_for_nothing(damage: dict[str, Any]) -> None:
    """It ended the report without a word."""
    whole, broken = RECORDS[0], {**RECORDS[3], **damage}
    assert [span.step for span in parse_spans([whole, broken])] == ["venv"]


def test_steps_that_took_no_time(tmp_path: Path) -> None:
    """All in one moment: widths are shares of nothing."""
    (tmp_path / "journal.jsonl").write_text(json.dumps(record("venv", 0, 0)) + "\n")
    found = read_report(Root(tmp_path))
    assert found
    assert "venv" in make_page(found, TEMPLATE)


def test_golden_document() -> None:
    report = make_report(material())
    thinned = replace(report, jobs=report.jobs[:6], memory=report.memory[:3])
    hold_one("report/document.json", json.dumps(to_json(thinned), indent=2) + "\n")


def test_golden_page() -> None:
    hold_one("report/page.html", make_page(make_report(material(memory=[], edges={})), TEMPLATE))


def test_a_page_stands_alone() -> None:
    seen = page()
    assert seen.loads == []
    assert "@import" not in seen.text
    assert "url(" not in seen.text


def test_nothing_is_wider_than_a_telephone() -> None:
    """What a browser shows at 390 pixels is looked at by name (`make e2e-report`); this is what it stands on."""
    text = make_page(make_report(material()), TEMPLATE)
    style = text[text.index("<style>") : text.index("</style>")]
    widths = [int(pixels) for pixels in re.findall(r"(?<!max-)width: ?(\d+)px", style)]
    assert max(widths) < 420
    assert "table, tbody, tr { display: block; }" in style[style.index("@media (max-width") :]
    assert re.findall(r'style="(?!width:[\d.]+%")', text) == []
    named = re.findall(r'<td class="n"(?! data-is="[\w ]+">)[^>]*>', text[: text.index("<h2>Verification")])
    assert named == []  # a number without its column's head says by itself what it is
    assert 'name="viewport" content="width=device-width' in text


def test_a_dark_screen_prints_light_and_nothing_folded() -> None:
    text = make_page(make_report(material()), TEMPLATE)
    assert "@media (prefers-color-scheme" not in text
    assert "color-scheme: only light" in text[text.index("@media print") :]
    assert "details::details-content { content-visibility: visible; }" in text


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    paths = ("vision/csrc/ops/cpu/nms_kernel.o", "ops/autograd/nms_kernel.o", "nms.o")
    assert [last_parts(path) for path in paths] == ["cpu/nms_kernel.o", "autograd/nms_kernel.o", "nms.o"]


def test_what_a_file_is_called_is_text() -> None:
    seen = page()
    assert "script" not in seen.tags
    assert "alert(1)" in seen.text


def test_all_parts_are_there() -> None:
    seen = page()
    for words in (
        "Timeline",
        "Steps",
        "What took the compiler longest",
        "Wheels",
        "Verification on xpu:0",
        "Built from",
    ):
        assert words in seen.text
    assert (seen.tags.count("rect"), seen.tags.count("path")) == (len(RECORDS), 2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verified": None}, "built, not verified"),
        ({"verified": None, "made_by": "install"}, "installed, not verified"),
        ({"verified": False}, "verification failed"),
        ({"verified": False, "failed": "torch.build"}, "torch.build failed"),
        ({"verification": None, "wheels": []}, "none yet"),
        ({"target": {}, "facts": None, "pins": []}, "Built from"),
        ({"own": {"torch": {"folder": "/home/me/torch", "archive": "cd" * 32}}}, f"sha256 {'cd' * 6} of the tree"),
        ({"own": {"torch": {"folder": "/home/me/torch", "rev": "ef" * 20, "changed": True}}}, "/torch, with changes"),
    ],
)
def test_states(changes: dict[str, Any], words: str) -> None:
    assert words in page(manifest={**MANIFEST, **changes}).text


def test_of_a_manifest_that_was_never_written() -> None:
    assert "Steps" in page(manifest={"profile": "x"}, memory_total=None, memory=[], edges={}).text


def test_ten_thousand_commands_are_a_small_page() -> None:
    lines = [
        f"{n * 500}\t{n * 500 + 900}\t{int((START + 125 + n / 2) * 1e9)}\tout/{n:05}.o\t{n:x}" for n in range(10_000)
    ]
    edges = parse_ninja_log("\n".join(["# ninja log v7", *lines]))
    report = make_report(material(edges={"torch.build": edges}))
    assert report.compiles == CompileTotals(10_000, 9000.0)
    assert len(make_page(report, TEMPLATE)) < 200_000
    assert len(json.dumps(to_json(report))) < 200_000


def test_a_ninja_log() -> None:
    allocator, _, library = parse_ninja_log(LOG)
    assert allocator == Edge(output="CMakeFiles/a.dir/allocator.cpp.o", began=START + 126.5, seconds=13.48)
    assert (library.output, library.seconds) == ("lib/libone.so.1", 6.52)  # one command made two files


@pytest.mark.parametrize("text", ["", "# ninja log v7\n", "# ninja log v7\n1\t2\n", "# ninja log v7\nx\ty\tz\ta\tb\n"])
def test_nothing_in_a_log(text: str) -> None:
    assert parse_ninja_log(text) == ()


def test_the_last_time_counts() -> None:
    assert [edge.seconds for edge in parse_ninja_log("# ninja log v7\n0\t9000\t1\ta.o\tk\n0\t2000\t2\ta.o\tk\n")] == [
        2.0
    ]


def test_what_an_earlier_build_compiled_is_left_out() -> None:
    """Ninja's log holds all builds of a tree: the report named a compile of the one before."""
    early = Edge(output="early.o", began=START - 86400, seconds=999)
    undated = Edge(output="undated.o", began=0, seconds=1)
    made = make_report(material(edges={"torch.build": (early, undated, *parse_ninja_log(LOG))}))
    assert {"early.o", "undated.o"} & {one.output for one in made.longest} == {"undated.o"}
    assert made.compiles.count == len(parse_ninja_log(LOG)) + 1


def test_old_logs_date_nothing() -> None:
    (edge,) = parse_ninja_log("# ninja log v5\n0\t9000\t1795000126500000000\ta.o\tk\n")
    assert (edge.began, edge.seconds) == (0.0, 9.0)
    assert average_jobs([edge], START, START + 10, 5) == []


def test_jobs_on_average() -> None:
    edges = [Edge(output="a", began=10.0, seconds=20.0), Edge(output="b", began=20.0, seconds=15.0)]
    assert average_jobs(edges, 0.0, 40.0, 4) == [(0.0, 0.0), (10.0, 1.0), (20.0, 2.0), (30.0, 0.5)]
    assert average_jobs([Edge(output="c", began=35.0, seconds=90.0)], 0.0, 40.0, 4)[-1] == (30.0, 0.5)
    assert average_jobs([Edge(output="c", began=99.0, seconds=9.0)], 0.0, 40.0, 4) == []


def test_every_run_of_a_step_stays() -> None:
    """Builds that succeeded were left out as soon as another one of the same step followed."""
    old = [record("venv", -99, 1), record("venv", -9, 1, key="another", state="failed")]
    began = record("torch.build", 125, 0, state="began")
    spans = parse_spans([*old, began, *RECORDS, {"step": "cut off"}])
    assert [(span.step, span.state) for span in spans if span.step in {"torch.build", "venv"}] == [
        ("venv", "ran"),
        ("venv", "failed"),
        ("venv", "ran"),
        ("torch.build", "short"),
        ("torch.build", "ran"),
    ]


def test_a_pause_takes_little_room() -> None:
    scale = Scale(parse_spans(RECORDS))
    assert scale.seconds == 8725 + 40
    (pause,) = scale.pauses
    before, after = scale.place(START + 8725), scale.place(START + 90000)
    assert before is not None
    assert after is not None
    assert before < pause < after
    assert after - before < 0.02
    assert scale.place(START + 50000) is None
    assert (scale.place(START), scale.place(START + 90040)) == (0.0, 1.0)


def test_many_pauses_leave_room_for_the_work() -> None:
    """A hundred builds of one tree: their pauses took more than the whole width."""
    scale = Scale(parse_spans([record("a.build", 1000 * number, 30) for number in range(100)]))
    moments = (START + 1000 * number + at for number in range(100) for at in (0, 30))
    places = [place for moment in moments if (place := scale.place(moment)) is not None]
    assert places == sorted(places)
    assert (len(places), places[0], round(places[-1], 9), len(scale.pauses)) == (200, 0.0, 1.0, 99)


def test_ticks_are_round() -> None:
    times = [time for time, _ in Scale(parse_spans(RECORDS)).ticks()]
    assert times == [1200 * number for number in range(8)]


def test_a_build_of_no_time() -> None:
    scale = Scale([Span(step="a", lane="work", state="ran", began=5.0, seconds=0.0)])
    assert (scale.seconds, scale.place(5.0), scale.share(9)) == (0, 0.0, ())


def test_near_steps_are_one_piece() -> None:
    spans = [Span(step=name, lane="work", state="ran", began=at, seconds=1.0) for name, at in (("a", 0.0), ("b", IDLE))]
    assert len(Scale(spans).pieces) == 1


def test_thin_keeps_the_greatest() -> None:
    points = [(float(second), float(second % 10)) for second in range(100)]
    seen = thin(points, 0.0, 99.0, 10)
    assert len(seen) == 10
    assert {value for _, value in seen} == {9.0}
    assert len(make_report(material()).memory) <= POINTS + 2


def test_passes_are_summed_up_and_the_last_call_of_each_source_counts() -> None:
    passes = {each.name: (each.count, each.processor, each.memory // GIB) for each in sum_passes(parse_passes(CALLS))}
    assert passes == {"device": (2, 111.0, 2), "host": (2, 289.0, 3), "ocloc": (2, 70.0, 1), "link": (1, 11.0, 1)}
    found = find_heaviest(parse_passes(CALLS))
    assert [(each.name, each.processor) for each in found] == [
        ("/s/xpu/Indexing.cpp", {"device": 90.0, "host": 246.0}),
        ("/b/Indexing.cpp.o", {"ocloc": 70.0, "link": 11.0}),
        ("/s/xpu/<b>Sorting.cpp", {"device": 21.0, "host": 43.0}),
    ]
    many = "".join(call("host", f"/s/{number}.cpp", number, GIB) for number in range(30))
    assert [each.name for each in find_heaviest(parse_passes(many))] == [f"/s/{29 - each}.cpp" for each in range(10)]


@pytest.mark.parametrize("line", ["", "{", "[]", "7", '{"pass": "host"}', CALLS.splitlines()[0].replace("99.0", '"x"')])
def test_a_damaged_line_of_passes_counts_for_nothing(line: str) -> None:
    assert parse_passes(f"{line}\n") == []


def test_the_log_of_a_tree_of_ones_own_is_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch/build").mkdir(parents=True)
    (tmp_path / "pytorch/build/.ninja_log").write_text(LOG)
    (tmp_path / "root/src/torch.configured").mkdir(parents=True)
    (tmp_path / "root/journal.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in RECORDS))
    own = {"torch": {"folder": str(tmp_path / "pytorch")}}
    (tmp_path / "root/manifest.json").write_text(json.dumps({**MANIFEST, "own": own, "wheels": []}))
    report = read_report(Root(tmp_path / "root"))
    assert report is not None
    assert report.compiles.count == len(parse_ninja_log(LOG))
    assert report.own == own


def test_what_another_version_wrote_is_left_out_or_taken_as_it_can_be() -> None:
    """A manifest of another version of this program may hold more keys, fewer, or other ones."""
    odd = {**MANIFEST, "target": {"of": "tomorrow"}, "verification": {"device": 1}, "pins": [{"name": "a", "new": 1}]}
    report = make_report(material(manifest=odd))
    assert (report.target, report.verification, [pin["name"] for pin in report.pins]) == (None, None, ["a"])
    assert "Built from" in make_page(report, TEMPLATE)
