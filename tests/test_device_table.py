"""The table of devices: as data, as Markdown, in a page, and from each thing that holds a verification."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import TOP
from data.proofs import CPU, ENVELOPE, MANIFEST, SIM, STATUS, check, verification
from golden import hold_one
from xpusetup.base.document import to_json
from xpusetup.base.errors import UsageError
from xpusetup.commands.devices import tabulate
from xpusetup.run.root import LOCKED
from xpusetup.ui import screens
from xpusetup.verify.outcomes import (
    BEGIN,
    END,
    SIGNS,
    VerificationRecord,
    make_table,
    parse_proof,
    place_in,
    render_page,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ALL = (ENVELOPE, MANIFEST, STATUS)


def proofs(*documents: Mapping[str, Any]) -> list[VerificationRecord]:
    return [parse_proof(json.dumps(document), "x.json") for document in documents]


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
    hold_one("results/devices.md", render_page(proofs(*ALL)))


def test_golden_data() -> None:
    table = to_json(make_table(proofs(*ALL)))
    hold_one("results/devices.json", json.dumps(table, indent=1, ensure_ascii=False) + "\n")


def test_each_state_of_each_device() -> None:
    table = make_table(proofs(*ALL))
    states = {row.id: row.states for row in table.checks}
    assert states["numbers.matmul"] == ["ok", "ok", "wrong"]
    assert states["suite.fp64"] == ["ok", "unsupported", "not run"]
    assert [sum(device.counts.values()) for device in table.devices] == [4, 4, 4]
    assert table.devices[2].extension == "simxpu 1.0.0"


def test_no_checks_at_all() -> None:
    page = render_page(proofs({"device": "cpu", "checks": []}))
    assert "1. **cpu**: no checks" in page


def test_what_was_seen_cannot_break_the_page() -> None:
    seen = "<b>|`x`* " + "y" * 400
    found = verification("acme:0", "Acme", "2.13", check("amp.dtype", "fail", seen))
    (line,) = [line for line in render_page(proofs(found)).splitlines() if line.startswith("- ")]
    assert line.startswith("- `amp.dtype`: \\<b\\>\\|\\`x\\`\\* yyy")
    assert line.endswith("y ...")
    assert len(line) < 200


def test_no_word_is_cut_in_what_was_seen() -> None:
    found = verification("acme:0", "Acme", "2.13", check("amp.dtype", "fail", "seventeen " * 20))
    (line,) = [line for line in render_page(proofs(found)).splitlines() if line.startswith("- ")]
    assert line == f"- `amp.dtype`: {'seventeen ' * 15}..."


def test_a_page_keeps_what_is_around_the_table() -> None:
    page = place_in(f"# Title\n\n{BEGIN}\nold\n{END}\nafter\n", "new\n", "x.md")
    assert page == f"# Title\n\n{BEGIN}\nnew\n{END}\nafter\n"
    assert place_in(page, "new\n", "x.md") == page
    assert place_in("", "new\n", "x.md") == f"{BEGIN}\nnew\n{END}\n"


@pytest.mark.parametrize("page", ["# Title\n", f"{BEGIN}\n", f"{END}\n", f"{END}\n{BEGIN}\n"])
def test_a_page_that_does_not_say_where(page: str) -> None:
    with pytest.raises(UsageError, match=r"x.md does not say where its table of devices is") as caught:
        place_in(page, "new", "x.md")
    assert BEGIN in caught.value.fix


def test_our_own_page_can_be_written_anew() -> None:
    page = (TOP / "docs/device-table.md").read_text()
    new = place_in(page, "new", "docs/device-table.md")
    assert new.startswith(page.partition(BEGIN)[0])
    assert f"\nnew\n{END}\n" in new
    states = [word for line in page.splitlines() if line.startswith("| `") for word in line.split(" | ")[1:]]
    assert {word.strip(" |") for word in states} <= {*SIGNS.values()}


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
    assert (result.command, result.code, result.data.file) == ("devices table", 0, None)


def test_what_holds_no_verification(tmp_path: Path) -> None:
    bare = make_root(tmp_path / "bare", {"manifest.json": {"profile": "sim"}})
    for name, message in ((bare, "was ever verified"), (str(tmp_path / "none.json"), "there is no file")):
        with pytest.raises(UsageError, match=message):
            tabulate([name])


def test_on_the_screen_and_in_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path / f"{number}.json", document) for number, document in enumerate(ALL)]
    screens.show_result(tabulate(files), verbose=False)
    hold_one("results/devices.md", capsys.readouterr().out)
    page = tmp_path / "page.md"
    screens.show_result(tabulate(files, str(page)), verbose=False)
    assert page.read_text() == place_in("", render_page(proofs(*ALL)), "")
    assert "4 checks on cpu, xpu:0, simxpu:0" in " ".join(capsys.readouterr().out.split())


def test_a_page_of_somebody_stays_as_it_is_around_the_table(tmp_path: Path) -> None:
    """Line ends became ours, a link became a file, and its mode was lost."""
    result, page, link = write(tmp_path / "a.json", ENVELOPE), tmp_path / "page.md", tmp_path / "link.md"
    page.write_bytes(f"# \ufeffA\r\n{BEGIN}\r\n{END}\r\nafter\r\n".encode())
    page.chmod(0o640)
    link.symlink_to(page)
    tabulate([result], str(link))
    lines = page.read_bytes().decode().split("\r\n")
    assert (lines[0], lines[1], lines[-3:]) == ("# \ufeffA", BEGIN, [END, "after", ""])
    assert not any("\n" in line for line in lines)
    assert (link.is_symlink(), page.stat().st_mode & 0o777) == (True, 0o640)


def test_a_page_that_is_not_in_utf8_is_left_alone(tmp_path: Path) -> None:
    """Its letters became marks of replacement for good."""
    result, page = write(tmp_path / "a.json", ENVELOPE), tmp_path / "page.md"
    page.write_bytes(f"Gr\xfc\xdfe\n{BEGIN}\n{END}\n".encode("latin1"))
    before = page.read_bytes()
    with pytest.raises(UsageError, match="is not in UTF-8") as caught:
        tabulate([result], str(page))
    assert caught.value.fix.startswith(f"iconv -f latin1 -t utf-8 -o NEW.md {page}")
    assert page.read_bytes() == before


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
