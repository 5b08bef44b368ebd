"""wheel sign: the statement of a wheel, signed by a key of the user's own, once it was held against the wheel."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xpusetup.base.errors import UsageError, WorkFailedError
from xpusetup.commands.result import Result
from xpusetup.commands.wheel_check import gather_evidence, inspect_wheel, must_have_library
from xpusetup.run.guard import ReplacedPackage, list_replaced
from xpusetup.run.manifest import STATEMENT
from xpusetup.run.root import Root
from xpusetup.system import files
from xpusetup.system.environment import from_home


@dataclass(frozen=True, kw_only=True)
class SignedWheel:
    """A wheel, its hash, and the file with its signed statement."""

    wheel: str
    sha256: str
    file: str


@dataclass(frozen=True, kw_only=True)
class SignedWheels:
    """The wheels whose statements were signed, and the id of the key: the sha256 of its public half in DER.

    `replaced`: what in the environment of their root is not as it was installed from wheels.
    """

    wheels: list[SignedWheel]
    key: str
    replaced: list[ReplacedPackage]


def sign_wheels(names: Sequence[str], key: str) -> Result[SignedWheels]:
    """Sign the statement of each wheel. None is signed where one of them is not as its statement says."""
    must_have_library()
    paths = [files.find_wheel(name) for name in dict.fromkeys(names)]
    private = files.read_input_bytes(from_home(key))
    made = [_sign(path, private, key) for path in paths]
    for (signed, _), text in made:
        copy = "a folder that can be written, with copies of the wheel and its statement"
        files.write_text(files.note_place(Path(signed.file), copy), text)
    roots = {path.absolute().parents[1] for path in paths}
    replaced = [row for root in sorted(roots) for row in list_replaced(Root(root))]
    wheels = [each for (each, _), _ in made]
    return Result("wheel sign", SignedWheels(wheels=wheels, key=made[0][0][1], replaced=replaced))


def _sign(path: Path, private: bytes, name: str) -> tuple[tuple[SignedWheel, str], str]:
    from xpusetup.verify.provenance import AGAIN, ENVELOPE_ENDING, judge  # noqa: PLC0415 - most wheels are not signed
    from xpusetup.verify.signing import sign  # noqa: PLC0415 - same

    if not Path(f"{path}{STATEMENT}").is_file():
        raise UsageError(
            f"there is no {path}{STATEMENT}, which says what it was built from: it is what is signed", fix=AGAIN
        )
    found = inspect_wheel(path)
    seen = gather_evidence(found, path, f"{path}{STATEMENT}")
    bad = [row for row in judge(seen, None) if row.level == "fail"]
    broken = [row.seen for row in found.checks if row.id == "wheel.record" and row.level == "fail"]
    if bad or broken or seen.statement is None:
        why = "; ".join((*broken, *(row.seen for row in bad)))
        raise WorkFailedError(f"{path.name} was not signed: {why}", fix="build it again, and sign what came of that")
    text, key = sign(seen.statement, private, name)
    signed = SignedWheel(wheel=str(path), sha256=found.sha256, file=f"{path}{ENVELOPE_ENDING}")
    return (signed, key), text
