"""verify --codegen: kernels compiled for the GPUs of a profile by an environment's Triton and ocloc; none is run."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xpusetup.base.document import read_as
from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError
from xpusetup.base.model import NONE
from xpusetup.commands.env import choose_python, run_environment
from xpusetup.commands.result import Result
from xpusetup.commands.status import find_whole
from xpusetup.run.manifest import read_document
from xpusetup.run.workspace import Where, open_built
from xpusetup.system.environment import variables
from xpusetup.system.files import package_file
from xpusetup.system.process import run_process
from xpusetup.verify.codegen import CodegenRecord, GeneratedTarget, explain_words, is_failed, judge

COMMAND = "verify --codegen"
HELPER = "helpers/generate_kernels.py"
SECONDS_PER_TARGET = 900


@dataclass(frozen=True, kw_only=True)
class GeneratedCode:
    """Kernels that were generated, not run: `verified` is null, because no device computed anything.

    `profile` names the targets, `environment` has the Triton; `ocloc` is the version of `program`, `words` say what the
    states of targets mean.
    """

    profile: str
    environment: str
    triton: str
    ocloc: str
    program: str
    failed: bool
    targets: list[GeneratedTarget]
    words: dict[str, str]
    verified: bool | None = None


def generate_code(where: Where) -> Result[GeneratedCode]:
    """Compile kernels for each target.

    Raises NotReadyError where Triton or ocloc is not there, UsageError where the profile has no targets.
    """
    workspace = open_built(where)
    targets = tuple(workspace.profile.arch.default) if workspace.profile.arch else ()
    if where.into:
        python, env, environment = choose_python(where).python, variables(), where.into
    else:
        built = find_whole(workspace)
        targets = tuple(name for name in built.target.arch if name != NONE) or targets
        python, env, environment = str(built.python), run_environment(built), str(built.root)
    if not targets:
        raise UsageError(f"{workspace.profile.name} has no list of device targets", fix="name a profile that has one")
    record = _collect(python, env, targets)
    if not record.triton:
        line = workspace.command("build", "--only", "triton")
        raise NotReadyError(f"there is no Triton in {environment}", command=line)
    if not record.program:
        fix = (
            "Ubuntu: intel-ocloc; Debian sid: intel-ocloc and libigc2; Debian 12 and 13 have none."
            " oneAPI: its setvars.sh puts one there"
        )
        raise NotReadyError("ocloc, Intel's offline compiler, is not on PATH", fix=fix)
    found = make_result(record, workspace.profile.name, environment)
    return Result(COMMAND, found, code=1 if found.failed else 0)


def make_result(record: CodegenRecord, profile: str, environment: str) -> GeneratedCode:
    targets = judge(record)
    return GeneratedCode(
        profile=profile,
        environment=environment,
        triton=record.triton,
        ocloc=record.ocloc,
        program=record.program,
        failed=is_failed(targets),
        targets=targets,
        words=explain_words(targets),
    )


def _collect(python: str, env: Mapping[str, str], targets: Sequence[str]) -> CodegenRecord:
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        out = Path(folder) / "found.json"
        argv = (python, str(package_file(HELPER)), "--targets", ",".join(targets), "--out", str(out))
        said = run_process(argv, seconds=SECONDS_PER_TARGET * len(targets), env=env)
        document = read_document(out)
    if not document:
        words = (said.err.strip() or said.out.strip() or said.why).splitlines()[-1:]
        raise WorkFailedError(f"the compile ended without a result: {' '.join(words)}", fix=f"try: {' '.join(argv)}")
    return read_as(CodegenRecord, document)
