"""docs/explain-examples.md: ten failures of threads that nothing was tuned to, and the screen that each gets."""

from __future__ import annotations

import os
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from logs import explained, signatures
from pages import CHECKOUT
from test_explain_threads import HELD_OUT, is_right
from xpusetup.commands import explain as command
from xpusetup.ui.console import Terminal
from xpusetup.ui.explain import show_explained

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

PAGE = CHECKOUT / "docs/explain-examples.md"
THREADS = (
    "intel/intel-graphics-compiler/issues/264",
    "moetayuko/intel-gpu-i915-backports/issues/27",
    "intel/compute-runtime/issues/987",
    "uxlfoundation/oneCCL/issues/106",
    "pytorch/vision/issues/2565",
    "pytorch/pytorch/issues/47281",
    "ggml-org/llama.cpp/issues/24928",
    "intel/intel-xpu-backend-for-triton/issues/4707",
    "HabanaAI/vllm-fork/issues/344",
    "vllm-project/vllm-ascend/issues/692",
)
"""One of each family: packages, kernel, GPU, communication, compiling, assembling, driver, Triton, Gaudi, Ascend."""
HEAD = """# Ten failures explained

Excerpts of public threads, and what `explain` says of each: on Ubuntu, unless the
lines tell of another system. Of the 46 whose causes were never tuned to
([how often it is right](measured.md)) these are ten that it has right, one of each family.
`XPUSETUP_TEST_UPDATE=1 pytest tests/test_explain_examples.py` writes this page.
"""


def chosen() -> list[dict[str, Any]]:
    by_source = {thread["source"].removeprefix("https://github.com/"): thread for thread in HELD_OUT}
    return [by_source[name] for name in THREADS]


def screen(folder: Path, log: str) -> str:
    """Give what `xpusetup explain post.log` prints in a folder, which is the current one."""
    (folder / "post.log").write_text(log)
    console = Terminal(width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True)
    show_explained(console, command.explain("post.log").data, verbose=False)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def indent(text: str) -> str:
    return "".join(f"    {line.rstrip()}".rstrip() + "\n" for line in text.strip("\n").splitlines())


def test_they_are_right() -> None:
    assert [thread["source"] for thread in chosen() if not is_right(thread)] == []


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "read_families", lambda: ("ubuntu", "debian"))
    monkeypatch.chdir(tmp_path)
    parts = [HEAD]
    for thread in chosen():
        log = thread["log"].strip("\n")
        name = thread["source"].removeprefix("https://github.com/").replace("/issues/", "#")
        said = indent(screen(tmp_path, log))
        title = f"## {thread['ids'][0]}\n\n[{name}]({thread['source']})\n"
        parts.append(
            f"{title}\n<!-- not run: a log -->\n\n{indent(log)}\n<!-- not run: what is said of it -->\n\n{said}"
        )
    text = "\n".join(parts)
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (r'File "D:\envs\awq\triton\runtime\build.py"', "where cl"),
        ("Linux 6.11.4-301.fc41.x86_64", "sudo dnf install gcc-c++"),
        ("Ubuntu 24.04", "sudo apt-get install g++"),
    ],
)
def test_commands_are_those_of_the_system_that_the_log_tells(line: str, command: str) -> None:
    said = "RuntimeError: Failed to find C compiler. Please specify via CC environment variable."
    assert explained(f"{line}\n{said}").describe(families=("debian",)).causes[0].commands == [command]


def test_what_debian_installs_is_installed_elsewhere_too() -> None:
    """But for what is dpkg's own affair."""
    without = [
        each.id for each in signatures() if any("apt-get" in word for word in each.commands) and "fedora" not in each.on
    ]
    assert without == []
