"""What helpers write appears whole or not at all: nobody reads half a result of a step that was killed."""

from __future__ import annotations

import ast
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

output: Any = importlib.import_module("helperlib.output")
HELPERS = Path(output.__file__).parents[1]
IN_PLACE = {
    ("helperlib/verify/bench", "PROCESS / 'clear_refs'"),  # the kernel's
    ("helperlib/namespaces", "Path('/proc/self/setgroups')"),
    ("helperlib/namespaces", "Path('/proc/self/uid_map')"),
    ("helperlib/namespaces", "Path('/proc/self/gid_map')"),
    ("run_suite", "work / name"),  # a folder of links that is made anew for each run
    ("helperlib/suites/shards", "attempt.file('done')"),  # read by the process that is begun next
    ("install_suite_needs", "constraints"),  # in a temporary folder
    ("install_editable", "config"),  # same
    ("generate_kernels", "source"),  # same
    ("helperlib/codegen/inductor", "folder / f'{name}.py'"),  # same
    # in the temporary folder of one call of the compiler
    *(("helperlib/sycl/compile", name) for name in ("both", "text")),
    *(("helperlib/sycl/device_pass", name) for name in ("path", "request", "work.header")),
    *(("helperlib/sycl/device", name) for name in ("file", "request_file.parent / 'answer.json'")),
    ("helperlib/sycl/ahead", "source"),
    ("helperlib/sycl/rename", "path"),
    # in a folder that is renamed when it is whole
    *(("helperlib/sycl/folder", name) for name in ("into / 'env.sh'", "path")),
}
"""What nobody else reads, or that has no other name."""


def written_in_place() -> set[tuple[str, str]]:
    """Give what is written under its own name: by write_text and write_bytes."""
    return {
        (path.relative_to(HELPERS).with_suffix("").as_posix(), ast.unparse(node.func.value))
        for path in HELPERS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in {"write_text", "write_bytes"} and ast.unparse(node.func.value) != "draft"
    }


def test_no_helper_writes_a_file_that_others_read_in_place() -> None:
    assert written_in_place() == IN_PLACE


def test_it_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    output.write_json(tmp_path / "a/x.json", {"b": 1})
    assert json.loads((tmp_path / "a/x.json").read_text()) == {"b": 1}
    output.write_text(tmp_path / "a/x.json", "other")
    assert [(path.name, path.read_text()) for path in (tmp_path / "a").iterdir()] == [("x.json", "other")]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_goes_wrong_leaves_the_old_file_alone(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(type(error)), output.whole(path) as draft:  # noqa: PT012 - the work within is what fails
        draft.write_text("ne")
        raise error
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("x", "old")]
