"""devices table: results of verify from many machines and builds, as one table of devices and checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.commands.result import Result
from xpusetup.device_table import make_table, place_in, render_page
from xpusetup.effects import files
from xpusetup.effects.root import find_roots
from xpusetup.errors import UsageError
from xpusetup.outcomes import SAVED, parse_proof

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.outcomes import Proof

IN_A_ROOT = ("manifest.json", "results/verify.json")
"""Where a root has its verification; the first also says of which profile and machine."""


def tabulate(results: Sequence[str], page: str = "") -> Result:
    """Make the table of saved results, of roots and of folders of roots; `page` is a file that shows it.

    Raises UsageError for what holds no verification.
    """
    proofs = [proof for name in results for proof in _read(Path(name).expanduser())]
    markdown = render_page(proofs)
    if page:
        path = Path(page).expanduser()
        files.write_text(path, place_in(files.read_input(path) or "", markdown, page))
    return Result("devices table", {**make_table(proofs), "markdown": markdown, "file": page or None})


def _read(path: Path) -> Iterator[Proof]:
    if not path.is_dir():
        text = files.read_input(path)
        if text is None:
            raise UsageError(f"there is no file {path} that can be read", fix=f"what can be shown: {SAVED}")
        yield parse_proof(text, str(path))
        return
    several = [root.path for root in find_roots(path)]
    found = [proof for each in several or [path] if (proof := _in_root(each))]
    if not found:
        fix = f"xpusetup verify --root {path}\nor name saved results: {SAVED}"
        raise UsageError(f"nothing in {path} was ever verified", fix=fix)
    yield from found


def _in_root(root: Path) -> Proof | None:
    for name in IN_A_ROOT:
        text = files.read_text(root / name)
        if text is None:
            continue
        try:
            return parse_proof(text, str(root / name))
        except UsageError:  # a manifest of a build that was not verified yet
            continue
    return None
