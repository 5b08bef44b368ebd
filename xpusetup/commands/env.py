"""env and run: the environment of a build, for a shell and for a command; and which one a command means."""

from dataclasses import dataclass

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Target
from xpusetup.commands.build_result import evaluate
from xpusetup.commands.result import Result, Say
from xpusetup.commands.status import BuiltRoot, find_built
from xpusetup.config.settings import make_network
from xpusetup.doctor.variables import ending_names
from xpusetup.machine.probe_devices import active_python, find_python
from xpusetup.machine.probe_tools import ActivationChange, capture, capture_scripts, holds_runtime
from xpusetup.plan.environment import constraints_file
from xpusetup.plan.verify import parse_variables
from xpusetup.run.workspace import Where, open_built
from xpusetup.system.environment import from_home, variable, variables
from xpusetup.system.process import SHELLS, Language, calling_language


@dataclass(frozen=True)
class ShellEnvironment:
    """What a shell sets and unsets. `shell` is the language that it is printed in."""

    set_: dict[str, str]
    unset: list[str]
    shell: Language = "sh"


def env(where: Where, *, build: bool, shell: str = "", say: Say | None = None) -> Result[ShellEnvironment]:
    """Give what to set for using the result, or what a build step sees, and say whose where none was named.

    Raises UsageError for what csh has no words for.
    """
    language, workspace = _language(shell), open_built(where)
    if say is not None and not shell and (here := calling_language()) != language:
        say(f"this is the language of sh; for this shell: {evaluate(workspace.options, here)}")
    change = _change(find_built(workspace), build=build)
    network = make_network(workspace.settings.network, variables()) if build else {}
    sets = {**change.sets, **network}
    odd = [name for name, value in sets.items() if not value.isprintable()]
    if language == "csh" and odd:
        message = f"csh has no words for what {odd[0]} holds"
        raise UsageError(message, fix="begin a shell in it: ", command=workspace.command("run", "--", "tcsh"))
    return Result("env", ShellEnvironment(sets, list(change.unsets), language))


def _language(shell: str) -> Language:
    """Give the language of a shell, by its name or path; none named: sh. Raises UsageError."""
    found = SHELLS.get(shell.rpartition("/")[2] or "sh")
    if found is None:
        raise UsageError(f"the language of {shell!r} is not known here", fix="name one: --shell sh, fish or csh")
    return found


@dataclass(frozen=True)
class ChosenPython:
    """The interpreter of the environment that is meant, why it is that one, and the device file that belongs to it."""

    python: str
    by: str
    file: str = ""


def choose_python(where: Where) -> ChosenPython:
    """Choose that of --into, that of the build which is named, else the active one; empty where none is active.

    Raises UsageError where --into names no environment, NotReadyError where nothing is built.
    """
    if where.into:
        place = from_home(where.into).absolute()
        python = find_python(place)
        if not python:
            raise UsageError(f"{place} is no environment: it has no bin/python", fix="name a venv, or an interpreter")
        return ChosenPython(python, "--into")
    if where.profile or where.root or where.name:
        workspace = open_built(where)
        return ChosenPython(str(find_built(workspace).python), "the build that is named", workspace.profile.device)
    return ChosenPython(*active_python())


def _change(built: BuiltRoot, *, build: bool) -> ActivationChange:
    venv, kit = built.venv, built.target.toolkit and built.target.toolkit.below(str(built.root))
    change = capture(kit) if kit is not None and (build or kit.at_run_time) else _of_device(built.target, build=build)
    path = f"{venv}/bin:{change.sets.get('PATH', variable('PATH'))}"
    # other SYCL runtimes and torches go off the caller's library path: two of them must not meet in a process
    folders = [each for each in variable("LD_LIBRARY_PATH").split(":") if each and not holds_runtime(each)]
    own = {"PYTHONHOME": "", "PYTHONPATH": "", "LD_LIBRARY_PATH": ":".join(folders)}
    mark = "CONDA_PREFIX" if (venv / "conda-meta").is_dir() else "VIRTUAL_ENV"
    wanted = {**own, **change.sets, **({} if build else _guarded(built)), mark: str(venv), "PATH": path}
    sets = {name: value for name, value in wanted.items() if value and value != variable(name)}
    gone = (name for name in own if not wanted[name] and variable(name))
    return ActivationChange(sets, (*change.unsets, *gone, *ending_names(variables())))


def _of_device(target: Target, *, build: bool) -> ActivationChange:
    """Give what the device's libraries need where they run, in its usual mode."""
    if build:
        return ActivationChange({}, ())
    change = capture_scripts(target.scripts)
    usual = (pair for mode in target.modes[:1] for pair in mode.variables)
    return ActivationChange({**change.sets, **dict(parse_variables((*target.variables, *usual)))}, change.unsets)


def _guarded(built: BuiltRoot) -> dict[str, str]:
    """Give uv the constraints of the environment: it reads no pip.conf."""
    ours = built.place(constraints_file(built.layout))
    told = [name for name in variable("UV_CONSTRAINT").split() if name != str(ours)]
    return {"UV_CONSTRAINT": " ".join((*told, str(ours)))} if ours.exists() else {}


def run_environment(built: BuiltRoot) -> dict[str, str]:
    """Give the variables that a command in the built environment sees."""
    change = _change(built, build=False)
    kept = {name: value for name, value in variables().items() if name not in change.unsets}
    return {**kept, **change.sets}
