"""status --diff: this build's verification beside another one, or several results as one table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.inspecting import status
from xpusetup.commands.result import Result
from xpusetup.effects import files
from xpusetup.errors import NotReadyError, UsageError
from xpusetup.outcomes import Proof, compare, identity_rows, make_proof, parse_proof, render_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.commands.places import Where


def diff(where: Where, others: Sequence[str]) -> Result:
    """Compare this build with one saved result, or several saved results with each other, for which nothing is built.

    Raises UsageError for a file that holds no verification, NotReadyError where this build was never verified.
    """
    saved = [_read(name) for name in others]
    proofs = [_here(where), *saved] if len(saved) == 1 else saved
    data: dict[str, Any] = {
        "results": [{key: value for key, value in asdict(proof).items() if key != "checks"} for proof in proofs],
        "identity": [{"label": label, "values": values} for label, values in identity_rows(proofs)],
        "rows": compare(proofs),
        "markdown": render_table(proofs),
        "here": len(saved) == 1,
    }
    return Result("status diff", data)


def _read(name: str) -> Proof:
    text = files.read_input(Path(name).expanduser())
    if text is None:
        raise UsageError(
            f"there is no file {name} that can be read", fix="save a result: xpusetup verify --json > FILE"
        )
    return parse_proof(text, name)


def _here(where: Where) -> Proof:
    built = status(where).data
    proof = make_proof(built)
    if proof is None:
        fix = "xpusetup verify\nor compare saved results alone: xpusetup status --diff A.json --diff B.json"
        raise NotReadyError(f"{built['profile']} in {built['root']} was never verified", fix=fix)
    return proof
