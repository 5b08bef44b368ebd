"""The integration header: what the device pass tells the host pass, and us, of the kernels.

Its form is that of intel/llvm, clang/lib/Sema/SemaSYCL.cpp (SYCLIntegrationHeader::emit).
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.sycl.diagnose import map_paths

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = re.compile(r"kernel_names\[\] = \{(.*?)\n\};", re.DOTALL)
NAME = re.compile(r'^\s*"([^"]+)",$', re.MULTILINE)
KERNEL = re.compile(
    r'getName\(\) \{ return "([^"]+)"; \}.*?getFileName\(\).*?return "((?:[^"\\]|\\.)*)";'
    r".*?getLineNumber\(\).*?return (\d+);.*?getColumnNumber\(\).*?return (\d+);",
    re.DOTALL,
)
SYSTEM = "#pragma GCC system_header\n"
MAP = re.compile(r"-f(?:file|macro)-prefix-map=(.*)=([^=]*)")


def kernel_names(header: str) -> list[str]:
    """Give the kernels that the host pass will ask for."""
    found = NAMES.search(header)
    return NAME.findall(found[1]) if found else []


def kernel_places(header: str, home: Path, maps: Iterable[str]) -> dict[str, dict[str, str]]:
    """Give where each kernel is written, and a hash that is the same where file and place have the same text."""
    found = {}
    for name, file, line, column in KERNEL.findall(header):
        path = map_paths(file, home)
        try:
            text = Path(path).read_bytes()
        except OSError:
            text = path.encode()
        mark = sha256(text + f":{line}:{column}".encode()).hexdigest()[:16]
        found[name] = {"at": f"{map_file(path, maps)}:{line}", "text": mark}
    return found


def map_header(header: str, maps: Iterable[str]) -> str:
    """Give the header with the names of files as -ffile-prefix-map asks for them; clang leaves them as they are.

    It is a system header: for each kernel without linkage, as in an unnamed namespace, g++ warns of what stands in it.
    """
    told = tuple(maps)
    return SYSTEM + re.sub(
        r'(#ifndef NDEBUG\n\s*return ")([^"]*)(";)',
        lambda found: found[1] + map_file(found[2], told) + found[3],
        header,
    )


def map_file(path: str, maps: Iterable[str]) -> str:
    """Give the name of a file as the last option that fits makes it."""
    for word in reversed(tuple(maps)):
        found = MAP.fullmatch(word)
        if found and path.startswith(found[1]):
            return found[2] + path[len(found[1]) :]
    return path
