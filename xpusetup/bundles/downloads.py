"""What a source tree may download while it is configured or built: read from its files, running nothing of them.

It may: whether a download happens depends on options and on what is installed. What cannot be seen in such a file, as a
download that a program of the tree makes, is found where it happens: a build from a bundle has no network.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from xpusetup.bundles.cmake import scan_cmake
from xpusetup.bundles.setup_files import scan_python
from xpusetup.values import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable

PYTHON_FILES = re.compile(r"(setup|build|install|configure|download|fetch)\w*\.py")
HELPERS = {"setup_helpers", "cmake"}
LLVM = {"llvm-hash.txt", "llvm-info.json"}
"""Where Triton's trees name the LLVM that their setup downloads."""
COMMIT = re.compile(r"\b[0-9a-f]{40}\b")


class Download(Strict):
    """A place in a tree from which something may be downloaded. `how` names the command or function."""

    file: str
    line: int
    how: str
    what: str


def is_scanned(name: str) -> bool:
    """Say whether a file of a tree is one that is read for downloads."""
    path = PurePosixPath(name)
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake" or path.name in LLVM:
        return True
    named = PYTHON_FILES.fullmatch(path.name) is not None
    return named or (path.suffix == ".py" and not HELPERS.isdisjoint(path.parts))


def scan_file(name: str, text: str) -> list[Download]:
    """Give what one file may download, in the order of its lines; nothing for one that cannot be read as what it is."""
    path = PurePosixPath(name)
    if path.name in LLVM:
        found = COMMIT.search(text)
        return [Download(file=name, line=1, how="LLVM of Triton", what=found[0])] if found else []
    scan = scan_python if path.suffix == ".py" else scan_cmake
    return [Download(file=name, line=line, how=how, what=what) for line, how, what in scan(text)]


def order_downloads(found: Iterable[Download]) -> list[Download]:
    """Give each once, those of the tree itself before those of what lies deep in it."""
    once = {(item.file, item.line, item.how): item for item in found}
    return sorted(once.values(), key=lambda item: (item.file.count("/"), item.file, item.line))
