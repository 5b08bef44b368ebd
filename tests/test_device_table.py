"""The table of devices: as data, as Markdown, in a page, and from each thing that holds a verification."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from data.proofs import CPU, ENVELOPE, MANIFEST, SIM, STATUS, check, verification
from golden import hold_one
from xpusetup.base.document import to_json
from xpusetup.base.errors import UsageError
from xpusetup.commands.devices import tabulate
from xpusetup.run.root import LOCKED
from xpusetup.ui import screens
from xpusetup.verify.outcomes import (
    CheckTable,
    VerificationRecord,
    make_table,
    parse_proof,
    render_page,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ALL = (ENVELOPE, MANIFEST, STATUS)


def proofs(*documents: Mapping[str, Any]) -> list[VerificationRecord]:
    return [parse_proof(json.dumps(document), "x.json") for document in documents]


def table_of(*documents: Mapping[str, Any]) -> CheckTable:
    return make_table(proofs(*documents))


def write(path: Path, document: Mapping[str, Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return str(path)


def make_root(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> str:
    """Make what a root is known by, and these documents in it."""
    folder.mkdir(parents=True)
    (folder / LOCKED).write_text("{}")
    for name, document in files.items():
        write(folder / name, document)
    return str(folder)


def test_golden_page() -> None:
    hold_one("results/devices.md", render_page(table_of(*ALL)))


def test_golden_data() -> None:
    table = to_json(table_of(*ALL))
    hold_one("results/devices.json", json.dumps(table, indent=1, ensure_ascii=False) + "\n")


def test_each_state_of_each_device() -> None:
    table = table_of(*ALL)
    states = {row.id: row.states for row in table.checks}
    assert states["numbers.matmul"] == ["ok", "ok", "wrong"]
    assert states["suite.fp64"] == ["ok", "unsupported", "not run"]
    assert [sum(device.counts.values()) for device in table.devices] == [4, 4, 4]
    assert table.devices[2].extension == "simxpu 1.0.0"


def test_no_checks_at_all() -> None:
    page = render_page(table_of({"device": "cpu", "checks": []}))
    assert "1. **cpu**: no checks" in page


def test_what_was_seen_cannot_break_the_page() -> None:
    seen = "<b>|`x`* " + "y" * 400
    found = verification("acme:0", "Acme", "2.13", check("amp.dtype", "fail", seen))
    (line,) = [line for line in render_page(table_of(found)).splitlines() if line.startswith("- ")]
    assert line.startswith("- `amp.dtype`: \\<b\\>\\|\\`x\\`\\* yyy")
    assert line.endswith("y ...")
    assert len(line) < 200


def test_no_word_is_cut_in_what_was_seen() -> None:
    found = verification("acme:0", "Acme", "2.13", check("amp.dtype", "fail", "seventeen " * 20))
    (line,) = [line for line in render_page(table_of(found)).splitlines() if line.startswith("- ")]
    assert line == f"- `amp.dtype`: {'seventeen ' * 15}..."


def test_files_roots_and_folders_of_roots(tmp_path: Path) -> None:
    """A root that was built and not verified has a manifest without one; its last verify may have written beside it."""
    file = write(tmp_path / "cpu.json", ENVELOPE)
    one = make_root(tmp_path / "one", {"manifest.json": MANIFEST})
    many = tmp_path / "many"
    make_root(many / "a", {"manifest.json": {"profile": "sim"}, "results/verify.json": SIM})
    make_root(many / "b", {"manifest.json": {"profile": "sim", "verification": None}})
    make_root(many / "c", {"results/verify.json": CPU})
    result = tabulate([file, one, str(many)])
    assert [device.device for device in result.data.devices] == ["cpu", "xpu:0", "simxpu:0", "cpu"]
    assert (result.command, result.code) == ("devices table", 0)


def test_what_holds_no_verification(tmp_path: Path) -> None:
    bare = make_root(tmp_path / "bare", {"manifest.json": {"profile": "sim"}})
    for name, message in ((bare, "was ever verified"), (str(tmp_path / "none.json"), "there is no file")):
        with pytest.raises(UsageError, match=message):
            tabulate([name])


def test_on_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path / f"{number}.json", document) for number, document in enumerate(ALL)]
    screens.show_result(tabulate(files), verbose=False)
    hold_one("results/devices.md", capsys.readouterr().out)


def test_a_folder_of_saved_results_is_no_root(tmp_path: Path) -> None:
    """The advice was to verify it."""
    write(tmp_path / "a.json", ENVELOPE)
    with pytest.raises(UsageError, match="was ever verified") as caught:
        tabulate([str(tmp_path)])
    assert caught.value.fix.startswith("name saved results: ")
    (tmp_path / "profile.lock.json").write_text("{}")
    with pytest.raises(UsageError) as caught:
        tabulate([str(tmp_path)])
    assert caught.value.fix.startswith(f"xpusetup verify --root {tmp_path}\nor name saved results: ")
