"""What an environment needs to be moved: scripts that find their interpreter beside them, activation by place."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

make_movable: Any = importlib.import_module("make_movable")

PLACE = "/opt/torch"
HEAD = b'#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")"/%s "$0" "$@"\n\' \'\'\'\n'
LONG = b"#!/bin/sh\n'''exec' %s \"$0\" \"$@\"\n' '''\nimport re\n"


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        (b"#!/opt/torch/bin/python\nimport re\n", HEAD % b"python" + b"import re\n"),
        (b"#!/opt/torch/bin/python3.11\nimport re\n", HEAD % b"python3.11" + b"import re\n"),
        (b"#!/opt/torch/bin/python -E\n", HEAD % b"python -E"),
        (LONG % b"/opt/torch/bin/python3", HEAD % b"python3" + b"import re\n"),
        (LONG % b'"/opt/torch/bin/python3"', HEAD % b"python3" + b"import re\n"),
        (b"#!/opt/torch2/bin/python\n", None),
        (b"#!/usr/bin/python3\n", None),
        (b"#!/bin/sh\nexec /opt/torch/bin/python\n", None),
        (b"\x7fELF\x02/opt/torch/bin/python\n", None),
        (b"", None),
    ],
)
def test_scripts(text: bytes, moved: bytes | None) -> None:
    found = make_movable.script(text, PLACE)
    assert found == (text if moved is None else moved)
    assert make_movable.script(found, PLACE) == found


def test_a_moved_script_is_python_too() -> None:
    compile(make_movable.script(b"#!/opt/torch/bin/python\nimport re\n", PLACE), "script", "exec")


@pytest.mark.parametrize(
    ("name", "line", "moved"),
    [
        ("activate", 'VIRTUAL_ENV="/opt/torch"', 'VIRTUAL_ENV="$_venv_place"'),
        ("activate", "    export VIRTUAL_ENV=/opt/torch", '    export VIRTUAL_ENV="$_venv_place"'),
        ("activate", "VIRTUAL_ENV=$(cygpath /opt/torch)", 'VIRTUAL_ENV=$(cygpath "$_venv_place")'),
        ("activate", "VIRTUAL_ENV='/opt/torch-2'", "VIRTUAL_ENV='/opt/torch-2'"),
        ("activate.csh", 'setenv VIRTUAL_ENV "/opt/torch"', 'setenv VIRTUAL_ENV "$_venv_place"'),
        (
            "activate.fish",
            "set -gx VIRTUAL_ENV '/opt/torch'",
            "set -gx VIRTUAL_ENV (realpath (dirname (status filename))/..)",
        ),
    ],
)
def test_activation(name: str, line: str, moved: str) -> None:
    text = f"# first\n{line}\n# last\n".encode()
    found = make_movable.activation(name, text, PLACE)
    assert f"# first\n{moved}\n# last\n" in found.decode()
    assert make_movable.activation(name, found, PLACE) == found


@pytest.mark.parametrize("own", [True, False])
def test_only_an_environment_of_our_own(tmp_path: Path, own: bool) -> None:
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin/tool"
    path.write_text(f"#!{tmp_path}/bin/python\n")
    path.chmod(0o755)
    (tmp_path / "bin/python").symlink_to("/usr/bin/python3")
    if own:
        (tmp_path / make_movable.MARK).touch()
    make_movable.make_movable(tmp_path)
    assert path.read_text().startswith("#!/bin/sh\n" if own else f"#!{tmp_path}/bin/python\n")
    assert path.stat().st_mode & 0o777 == 0o755
