"""explain: the line of a log that matters, why, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.result import Result
from xpusetup.effects.files import package_text
from xpusetup.effects.logs import STDIN, read_log, read_stdin
from xpusetup.explain.rank import BUILD
from xpusetup.explain.rank import explain as explain_chunks
from xpusetup.explain.signatures import parse_signatures

if TYPE_CHECKING:
    from xpusetup.explain.signatures import Signature


def explain(log: str) -> Result:
    """Explain a log; `-` and nothing mean stdin. Says so where it knows no cause; that too is a result."""
    chunks = read_log(Path(log)) if log not in {"", STDIN} else read_stdin()
    name = log if log not in {"", STDIN} else "stdin"
    return Result("explain", {"log": name, **explain_chunks(chunks, known_signatures()).document()})


def explain_log(path: Path, build: str = BUILD) -> dict[str, Any]:
    """Explain the log of a step that failed. `build`: the command that goes on with it."""
    return explain_chunks(read_log(path), known_signatures()).document(build)


def known_signatures() -> tuple[Signature, ...]:
    """Read the catalogue that the package brings."""
    return parse_signatures(package_text("data/signatures.toml"))
