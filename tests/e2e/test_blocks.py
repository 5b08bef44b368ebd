"""Every code block of README and the pages that is not marked is run, page by page, as who reads it copies the lines.

What a page means by words in capitals stands in MEANS, the files that a reader of it has in HAVE. Questions may be
answered with no: `doctor` ends with 1 where something is missing here.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from data.machines import LAPTOP, WORKSTATION
from pages import ALL, CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]

RUN = sorted({block.page for block in ALL if not block.kind})
BY_NAME = (
    "docs/build.md",
    "docs/containers.md",
    "docs/devices.md",
    "docs/trouble.md",
    "docs/verify.md",
    "docs/wheels.md",
)
"""Pages whose lines take a minute each: `make e2e-long` runs them."""
QUESTIONS = ("doctor", "wheel", "verify", "devices", "status", "explain", "setup", "env")
MEANS = {
    "FOLDER-OF-ROOTS": "{root}/..",
    "ROOT": "{root}",
    "ENV": "{root}/venv",
    "WHEEL": "{root}/wheels/torch-*.whl",
    "FILE": "written",
    "DIR": "out-{line}",
}
"""What is put in place of a word; `line` tells the lines of a page apart."""
WORD = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, MEANS)) + r")(?![\w-])")
EITHER = re.compile(r"(?<=\S)\|[\w|]+")
MAYBE = re.compile(r" \[[^\]]*\]")
LOG = "[1/2] cc -c a.c\na.c:1:1: error: unknown type name 'foo'\nninja: build stopped: subcommand failed.\n"
HAVE = {
    "build.log": LOG,
    "post.txt": "$ sycl-ls\n[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) [1.6.33578]\n",
    "train.log": LOG,
    "yesterday.log": "[1/2] cc -c a.c\n[2/2] cc -c b.c\n",
    "Makefile": "all:\n\t@cat build.log; false\n",
    "acme/pyproject.toml": '[project]\nname = "acme"\nversion = "1"\n',
}
FACTS = {"docs/trouble.md": ("a.json", "b.json"), "docs/setup.md": ("machine.json",)}


def meant(line: str, number: int, root: Path) -> str:
    """Give a line of a page as its reader would type it."""
    text = EITHER.sub("", MAYBE.sub("", line)) if " | " not in line else line
    return WORD.sub(lambda found: MEANS[found[1]].format(root=root, line=number), text)


def prepare(page: str, folder: Path, demo: Demo) -> dict[str, str]:
    """Write what the reader has, and give their environment: the demo is the only build there."""
    for name, text in HAVE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for number, name in enumerate(FACTS.get(page, ())):
        (folder / name).write_text(json.dumps((LAPTOP, WORKSTATION)[number]))
    bring = (CHECKOUT / "docs/bring-your-own-accelerator.md").read_text()
    (folder / "acme.toml").write_text(
        re.findall(r'^```toml\n(name = "acme".*?)^```$', bring, re.DOTALL | re.MULTILINE)[0]
    )
    (folder / "bin").mkdir()
    (folder / "bin/xpusetup").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m xpusetup "$@"\n')
    (folder / "bin/xpusetup").chmod(0o755)
    here = {"VIRTUAL_ENV": str(demo.root / "venv"), "XPUSETUP_VERIFY_LEVEL": "quick"}  # a level that is not named
    return {**demo.env, **here, "PATH": f"{folder}/bin:{demo.env['PATH']}"}


def test_there_is_something_to_run() -> None:
    assert len(RUN) > 9


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] if page in BY_NAME else []) for page in RUN]
)
def test_what_is_not_marked_runs(page: str, demo: Demo, tmp_path: Path) -> None:
    env = prepare(page, tmp_path, demo)
    ran = [
        (block.line + at, line)
        for block in ALL
        if (block.page, block.kind) == (page, "")
        for at, line in enumerate(block.commands())
    ]
    for number, line in ran:
        text = meant(line, number, demo.root)
        words = ("bash", "-uc", text)
        done = subprocess.run(
            words, cwd=tmp_path, env=env, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        verb = "".join(re.findall(r"\bxpusetup ([\w-]+)", text)[-1:])
        allowed = (0, 1) if verb in QUESTIONS else (0,)
        assert done.returncode in allowed, f"{page}:{number} {text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert "Traceback" not in done.stderr, done.stderr
