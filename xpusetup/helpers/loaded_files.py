"""The libraries that an environment really loads, as a list with sizes and owners."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from environment_files import Environment
    from file_owners import Owners
    from loader_model import Process

MODULE = re.compile(r"\.(?:cpython-[\w-]+|abi3)\.so$|/torch/_C\.[\w.-]*so$")


def make_closure(environment: Environment, runs: Sequence[Process], owners: Owners) -> dict[str, Any]:
    """List all libraries by path, and the packages that they are of.

    `why` of a library: "module" (Python imports it), "linked" (another one needs it) or "opened": nobody names it, so
    that it is opened by name at run time, or not used. `missing` are libraries that are needed and nowhere.
    """
    own = {each.identity for each in environment.libraries}
    linked = {need for run in runs for one in run.order for need in one.library.needed}
    found = {one.library.identity: one for run in runs for one in run.order if one.library is not environment.program}
    rows = []
    for one in found.values():
        library, names = one.library, {*one.names, one.library.soname}
        why = "module" if MODULE.search(library.path) else "linked" if names & linked else "opened"
        rows.append(
            {
                "name": library.soname or library.path.rpartition("/")[2],
                "path": library.path,
                "size": library.size,
                "owner": owners.of(library.path),
                "own": library.identity in own,
                "why": why,
            }
        )
    there = {name for each in environment.libraries for name in (each.soname, each.path.rpartition("/")[2])}
    missing = sorted({name for run in runs for name, _ in run.missing} - there)
    rows.sort(key=lambda row: str(row["path"]))
    return {"libraries": rows, "packages": _packages(rows), "missing": missing}


def _packages(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum the libraries up by their owners, the largest first."""
    sums: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for row in rows:
        sums.setdefault((row["owner"], row["own"]), []).append(row)
    found = [
        {
            "owner": owner,
            "own": own,
            "libraries": len(those),
            "size": sum(row["size"] for row in those),
            "linked": sum(row["size"] for row in those if row["why"] != "opened"),
        }
        for (owner, own), those in sums.items()
    ]
    return sorted(found, key=lambda row: (-row["size"], row["owner"]))
