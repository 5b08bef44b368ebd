"""wheel check: what is in a wheel, held against a profile."""

from __future__ import annotations

import json
import sys
import tempfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from xpusetup.base.document import fields_of, read_as
from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError
from xpusetup.base.model import Level  # noqa: TC001 - named by a type that is read from JSON
from xpusetup.commands.result import Result
from xpusetup.config.shipped import load_profile
from xpusetup.machine.gpus import check_words
from xpusetup.machine.tables import target_table
from xpusetup.plan.component import inspect_options, left_out_options
from xpusetup.run.manifest import STATEMENT
from xpusetup.system import files
from xpusetup.system.environment import from_home
from xpusetup.system.process import run_process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zipfile import ZipFile, ZipInfo

    from xpusetup.verify.provenance import Evidence, Key


LIBRARY = "cryptography"
HELPER = "helpers/inspect_wheel.py"
SAYS = "xpusetup: "
"""How a helper begins the line that says why it ends; in the next one is what mends that."""
TIMEOUT_S = 900.0
"""Seconds for one wheel: a torch for Intel GPUs holds several GiB, all of which are hashed."""


@dataclass(frozen=True, kw_only=True)
class WheelOptions:
    """What is wanted of a wheel: what a profile says, the version and GPUs that were named, folders it may not name.

    `provenance`: it has to say from what it was built, in the file `statement` where that does not lie beside it, and
    signed by the public key in the file `key` where one is named.
    """

    profile: str = ""
    version: str = ""
    arch: str = ""
    forbidden: tuple[str, ...] = ()
    provenance: bool = False
    statement: str = ""
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class WheelLibrary:
    """A library in a wheel: its bytes, what it is linked with, where it looks for that (None: nowhere), its GPUs."""

    path: str
    size: int
    soname: str | None
    needed: list[str]
    rpath: list[str] | None
    targets: list[str]


@dataclass(frozen=True, kw_only=True)
class WheelCheck:
    """What a check of a wheel saw, what was wanted, and where that is not so, why it matters and what mends it."""

    id: str
    title: str
    level: Level
    seen: str
    limit: str | None = None
    why: str
    fix: str
    seconds: float | None = None
    caused_by: str | None = None


@dataclass(frozen=True, kw_only=True)
class InspectedWheel:
    """What helpers/inspect_wheel.py writes of a wheel: what is in it, and whether no check fails (`ok`).

    `size` is in bytes; name and version are None where it is no wheel.
    """

    wheel: str
    name: str | None
    version: str | None
    sha256: str
    size: int
    tags: list[str]
    requires: list[str]
    libraries: list[WheelLibrary]
    checks: list[WheelCheck]
    ok: bool


@dataclass(frozen=True, kw_only=True)
class WheelVerification(InspectedWheel):
    """What is in a wheel, held against a profile; None where none was named."""

    profile: str | None


def verify_wheel(wheel: str, asked: WheelOptions) -> Result[WheelVerification]:
    """Look into a wheel. Raises UsageError where there is none, or where the profile makes no such wheel."""
    path = files.find_wheel(wheel)
    if asked.arch:
        check_words(asked.arch.split(","), target_table())
    words = [*words_of_profile(path, asked), *(("--version", asked.version) if asked.version else ())]
    words += ["--arch", asked.arch] if asked.arch and not asked.profile else []
    words += [word for folder in asked.forbidden for word in ("--forbid-prefix", folder)]
    found = inspect_wheel(path, words)
    if asked.provenance or asked.statement or asked.key:
        found = _with_provenance(found, path, asked)
    told = WheelVerification(**fields_of(found), profile=asked.profile or None)
    return Result("wheel check", told, code=0 if found.ok else 1)


def _with_provenance(found: InspectedWheel, path: Path, asked: WheelOptions) -> InspectedWheel:
    """Add what is said of where a wheel is from; whatever is not as it has to be fails."""
    from xpusetup.verify.provenance import judge  # noqa: PLC0415 - most wheels are asked for less

    key = _read_key(asked.key) if asked.key else None
    rows = [WheelCheck(**row._asdict()) for row in judge(gather_evidence(found, path, asked.statement), key)]
    well = not any(row.level == "fail" for row in rows)
    return replace(found, checks=[*found.checks, *rows], ok=found.ok and well)


def _read_key(name: str) -> Key:
    must_have_library()
    from xpusetup.verify.signing import read_public  # noqa: PLC0415 - most wheels are asked for less

    return read_public(files.read_input_bytes(Path(name).expanduser()), name)


def must_have_library() -> None:
    """Stop where the extra that keys want is not there, with the command that puts it beside this very program.

    Raises NotReadyError.
    """
    from importlib.util import find_spec  # noqa: PLC0415 - asked for by few

    if find_spec(LIBRARY) is None:
        from xpusetup.commands.self import add_line  # noqa: PLC0415 - same

        raise NotReadyError(f"signatures need the Python package {LIBRARY}, which is not here", fix=add_line(LIBRARY))


def gather_evidence(found: InspectedWheel, path: Path, statement: str = "") -> Evidence:
    """Read what lies beside a wheel, or in the one file that was named, and its bill of materials."""
    from xpusetup.verify.provenance import ENVELOPE_ENDING, Evidence  # noqa: PLC0415

    named = from_home(statement) if statement else None
    places: tuple[Path | None, Path | None] = (Path(f"{path}{STATEMENT}"), Path(f"{path}{ENVELOPE_ENDING}"))
    if named:
        places = (None, named) if named.name.endswith(ENVELOPE_ENDING) else (named, None)
    beside, signed = places
    return Evidence(
        file=path.name,
        sha256=found.sha256,
        name=found.name,
        version=found.version,
        boms=_read_bills(path),
        statement=_read(beside, must=bool(named)),
        envelope=_read(signed, must=bool(named)),
    )


def _read(file: Path | None, *, must: bool) -> bytes | None:
    return files.read_input_bytes(file) if file and (must or file.exists()) else None


def _read_bills(path: Path) -> tuple[bytes, ...]:
    """Give the bills of ours that a wheel holds, each no further than one has to be read to see that it is too long."""
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - most wheels are asked for less

    from xpusetup.verify.provenance import LARGEST, SBOM  # noqa: PLC0415

    try:
        with ZipFile(path) as archive:
            named = [info for info in archive.infolist() if info.filename.endswith(f".dist-info/{SBOM}")]
            return tuple(_read_member(archive, info, LARGEST + 1) for info in named)
    except (BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError, zlib.error):
        return ()  # the first check has said that it is no wheel


def _read_member(archive: ZipFile, info: ZipInfo, most: int) -> bytes:
    with archive.open(info) as stream:
        return stream.read(most)


def words_of_profile(path: Path, asked: WheelOptions) -> list[str]:
    """Give what a profile wants of a wheel, as options of the helper. Raises UsageError where it makes none such."""
    if not asked.profile:
        return []
    profile = load_profile(asked.profile)
    parts = [part for part in profile.components if part.kind != "skip"]
    stem = canonicalize_name(path.name.partition("-")[0])
    part = next((each for each in parts if canonicalize_name(each.distribution) == stem), None)
    if part is None:
        known = ", ".join(part.distribution for part in parts)
        raise UsageError(f"{profile.name} has no wheel of {stem}", fix=f"one of: {known}; or leave --profile out")
    own = ["--distribution", part.distribution, *([] if asked.version else ["--version", part.version])]
    arch = asked.arch.split(",") if asked.arch else profile.arch.default if profile.arch else []
    if part.kind != "source":
        return own
    ours = bool(_read_bills(path))
    return [*own, *inspect_options(part, arch), *left_out_options(profile, part, ours=ours)]


def inspect_wheel(path: Path, words: Sequence[str] = ()) -> InspectedWheel:
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        out = Path(folder) / "wheel.json"
        helper = (sys.executable, "-B", str(files.package_file(HELPER)))
        argv = (*helper, "--wheel", str(path), "--any-python", *words, "--out", str(out))
        output = run_process(argv, seconds=TIMEOUT_S)
        text = files.read_text(out)
    lines = output.err.strip().splitlines()
    last = lines[-1] if lines else output.why
    if output.code == UsageError.code:
        raise UsageError(last, command="xpusetup wheel check --help")
    if text is None and len(lines) > 1 and lines[-2].startswith(SAYS):
        raise WorkFailedError(lines[-2].removeprefix(SAYS), fix=last.strip())
    if text is None:
        raise WorkFailedError(f"{path.name} was not looked at to its end: {last or 'it says nothing'}", fix="try again")
    return read_as(InspectedWheel, json.loads(text))
