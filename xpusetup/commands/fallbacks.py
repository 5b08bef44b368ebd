"""verify --fallbacks: which operators run on the CPU, as published, as a log tells, or as this device does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.result import Result
from xpusetup.errors import NoDeviceError, UsageError, WorkFailedError
from xpusetup.fallbacks.known import MEANING, parse_known
from xpusetup.fallbacks.messages import parse_patterns, scan
from xpusetup.fallbacks.tables import list_table, log_table, published_tables, run_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.commands.places import Where
    from xpusetup.fallbacks.known import Known
    from xpusetup.fallbacks.tables import Table

COMMAND = "verify --fallbacks"
HELPER = "helpers/collect_fallbacks.py"
RESULT = "results/fallbacks.json"
SECONDS = 900
NO_DEVICE = 4


@dataclass(frozen=True)
class Asked:
    """What to tell of: a release as published, logs, or else a run here, on the profile's device or another.

    `markdown`: on a terminal too; `whole`: with the built-in list.
    """

    device: str = ""
    release: str = ""
    logs: tuple[str, ...] = ()
    markdown: bool = False
    whole: bool = False


def read_known() -> Known:
    """Read what was published of operators that run on the CPU, and the lists of releases."""
    from xpusetup.effects.files import package_text  # noqa: PLC0415 - kept beside the other effects

    return parse_known(package_text("data/fallbacks.toml"))


def show_fallbacks(where: Where, asked: Asked) -> Result:
    """Give the tables that were asked for. Raises UsageError for a release that is not known."""
    known = read_known()
    if asked.release and asked.release not in known.releases:
        raise UsageError(f"no list is known of release {asked.release!r}", fix=f"--release {'|'.join(known.releases)}")
    if asked.logs:
        return _result(_of_logs(known, asked), asked)
    if asked.release:
        return _result(_of_release(known, asked), asked)
    document = _collect(where, asked.device)
    tables = run_tables(known, document)
    own = {"device": document["device"], "torch": document["torch"]}
    return _result(tables, asked, own, code=1 if any(table.errors for table in tables) else 0)


def _result(tables: Iterable[Table], asked: Asked, own: dict[str, Any] | None = None, code: int = 0) -> Result:
    rows = [asdict(table) for table in tables]
    words = {how: MEANING[how] for how in MEANING if any(one["how"] == how for row in rows for one in row["operators"])}
    data = {**(own or {}), "release": asked.release or None, "tables": rows, "words": words}
    return Result(COMMAND, {**data, "markdown": asked.markdown or bool(asked.release and not asked.logs)}, code=code)


def _of_release(known: Known, asked: Asked) -> Sequence[Table]:
    published = published_tables(known, asked.release)
    if published and not asked.whole:
        return published
    return (*published, list_table(known, asked.release))


def _of_logs(known: Known, asked: Asked) -> Sequence[Table]:
    from xpusetup.effects.files import package_text  # noqa: PLC0415 - kept beside the other effects
    from xpusetup.effects.logs import STDIN, read_log, read_stdin  # noqa: PLC0415 - seldom asked for

    patterns = parse_patterns(package_text("helpers/fallback_messages.json"))
    return [
        log_table(
            known,
            "stdin" if name == STDIN else name,
            scan(read_stdin() if name == STDIN else read_log(Path(name)), patterns),
            asked.release,
        )
        for name in asked.logs
    ]


def _collect(where: Where, device: str) -> dict[str, Any]:
    """Run the workloads with the built environment's python. Raises NoDeviceError, WorkFailedError."""
    from xpusetup.commands.default import open_built  # noqa: PLC0415 - published tables and logs need no root
    from xpusetup.commands.inspecting import find_built, run_environment  # noqa: PLC0415 - same
    from xpusetup.effects.files import package_file  # noqa: PLC0415 - same
    from xpusetup.effects.manifest import read_document  # noqa: PLC0415 - same
    from xpusetup.effects.process import run_process  # noqa: PLC0415 - same

    workspace = open_built(where)
    built = find_built(workspace)
    result = built.root / RESULT
    result.unlink(missing_ok=True)
    # The package's own helper: a root that an older version built has none.
    argv = (
        str(built.python),
        str(package_file(HELPER)),
        "--device",
        device or built.target.accelerator,
        "--out",
        str(result),
    )
    said = run_process(argv, seconds=SECONDS, env=run_environment(built))
    document = read_document(result)
    if said.code == NO_DEVICE and built.target.device_expected:
        raise WorkFailedError(
            f"the {workspace.device.title} cannot be used", fix=f"xpusetup verify {workspace.options}"
        )
    if said.code == NO_DEVICE:
        raise NoDeviceError(
            f"there is no {workspace.device.title} here to run operators on",
            fix="--release R tells what is known of a release, --log FILE what a log from a machine with one says",
        )
    if not document:
        words = (said.err.strip() or said.out.strip() or said.why).splitlines()[-1:]
        raise WorkFailedError(f"the run ended without a result: {' '.join(words)}", fix=f"try: {' '.join(argv)}")
    return document
