"""How one component becomes an installed wheel: the steps of a source build, and those of a ready wheel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from xpusetup.model import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.model import Layout, Request, Target
    from xpusetup.profile import Profile, SourceComponent, Vendored, WheelComponent

PACKAGED = "package:"
"""A repository address that begins so is made from sources that travel with the helpers."""


@dataclass(frozen=True)
class Context:
    """What every recipe looks at."""

    profile: Profile
    request: Request
    target: Target
    layout: Layout

    def pip(self, *arguments: str) -> tuple[str, ...]:
        """Give a pip command of the built environment."""
        return (self.layout.python, "-m", "pip", "--disable-pip-version-check", *arguments)

    def helper(self, name: str, *arguments: str) -> tuple[str, ...]:
        """Give a helper's command with the built environment's python."""
        return (self.layout.python, f"{self.layout.helpers}/{name}", *arguments)

    def tree(self, part: SourceComponent) -> str:
        """Give the folder of a component's source."""
        return f"{self.layout.src}/{part.name}"

    def wheel(self, part: SourceComponent | WheelComponent) -> str:
        """Give the pattern that a component's wheel matches, and it alone."""
        return f"{self.layout.wheels}/{file_name(part.distribution)}-{part.version}-*.whl"

    def installed(self, part: SourceComponent | WheelComponent) -> str:
        """Give the file that lists what the installed component holds."""
        packages = f"{self.layout.venv}/lib/python{self.target.python_version}/site-packages"
        return f"{packages}/{file_name(part.distribution)}-{part.version}.dist-info/RECORD"


def file_name(distribution: str) -> str:
    """Give a distribution's name as it stands in the names of its files."""
    return canonicalize_name(distribution).replace("-", "_")


def make_component(
    context: Context, part: SourceComponent | WheelComponent, *, ready: tuple[str, ...], venv_last: str
) -> Iterator[Step]:
    """Give a component's steps; `ready` installs it builds on, `venv_last` last touched the environment."""
    if part.kind == "wheel":
        yield _make_wheel_fetch(context, part)
        yield _make_install(context, part, made_by=f"{part.name}.fetch", venv_last=venv_last)
        return
    before = tuple(dict.fromkeys(("requirements", *ready, f"{part.name}.fetch")))
    yield _make_fetch(context, part)
    if part.configure:
        yield _make_configure(context, part, before)
        before = (f"{part.name}.configure",)
    yield _make_build(context, part, before)
    yield _make_inspect(context, part)
    yield _make_install(context, part, made_by=f"{part.name}.inspect", venv_last=venv_last)


def _make_wheel_fetch(context: Context, part: WheelComponent) -> Step:
    index = ("--index", part.index) if part.index else ()
    options = ("--distribution", part.distribution, "--version", part.version, *index)
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.distribution} {part.version}, a ready wheel",
        run=(context.helper("fetch_wheel.py", *options, "--into", context.layout.wheels),),
        needs=("network",),
        after=("requirements",),
        makes=(context.wheel(part),),
        component=part.name,
    )


def _make_fetch(context: Context, part: SourceComponent) -> Step:
    tree = context.tree(part)
    commands = []
    repo = part.repo
    if repo.startswith(PACKAGED):
        name = repo.removeprefix(PACKAGED)
        repo = f"{context.layout.src}/{name}.git"
        commands.append(_system_helper(context, "make_repository.py", f"{context.layout.helpers}/{name}", repo))
    commands.append(_system_helper(context, "fetch_source.py", *_source(part, repo), "--into", tree))
    commands += [_vendored(context, tree, item) for item in part.vendored]
    places = [tree, *(f"{tree}/{item.path}" for item in part.vendored)]
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.name} {part.tag} {(part.rev or '')[:9]}".rstrip(),
        run=tuple(commands),
        needs=("network",),
        makes=tuple(f"{place}/.git/HEAD" for place in places),
        component=part.name,
    )


def _system_helper(context: Context, name: str, *arguments: str) -> tuple[str, ...]:
    return (context.target.python, f"{context.layout.helpers}/{name}", *arguments)


def _source(part: SourceComponent, repo: str) -> tuple[str, ...]:
    rev = ("--rev", part.rev) if part.rev else ()
    tag = ("--tag", part.tag) if part.tag else ()
    return ("--repo", repo, *rev, *tag, "--confidence", part.confidence)


def _vendored(context: Context, tree: str, item: Vendored) -> tuple[str, ...]:
    rev = ("--rev", item.rev) if item.rev else ()
    tag = ("--tag", item.tag) if item.tag else ()
    pin = ("--pin-file", f"{tree}/{item.pin_file}") if item.pin_file else ()
    place = ("--into", f"{tree}/{item.path}")
    return _system_helper(
        context, "fetch_source.py", "--repo", item.repo, *rev, *tag, *pin, "--confidence", item.confidence, *place
    )


def _make_configure(context: Context, part: SourceComponent, before: tuple[str, ...]) -> Step:
    tree, result = context.tree(part), f"{context.layout.results}/{part.name}.configure.json"
    xpu = ("--xpu",) if part.inspect.xpu else ()
    return Step(
        id=f"{part.name}.configure",
        title=f"configure {part.name}, and read what CMake decided",
        run=(
            CONFIGURE[part.frontend](context),
            context.helper("check_configure.py", "--build", f"{tree}/build", *xpu, "--out", result),
        ),
        cwd=_folder(context, part),
        env=_environment(context, part),
        needs=("compiler", "toolkit"),
        after=before,
        makes=(result,),
        dated_by=tree,
        component=part.name,
    )


def _setup_configure(context: Context) -> tuple[str, ...]:
    return (context.layout.python, "setup.py", "build", "--cmake-only")


def _cmake_configure(context: Context) -> tuple[str, ...]:
    return ("cmake", "-S", ".", "-B", "build", "-G", "Ninja")


CONFIGURE = {"setup.py": _setup_configure, "build": _cmake_configure}


def _make_build(context: Context, part: SourceComponent, before: tuple[str, ...]) -> Step:
    tree = context.tree(part)
    out = f"{tree}.wheel"
    collect = ("--from", out, "--distribution", part.distribution, "--version", part.version)
    return Step(
        id=f"{part.name}.build",
        title=f"{part.distribution} {part.version} from source",
        run=(
            ("rm", "-rf", out),
            FRONTENDS[part.frontend](context, out),
            context.helper("collect_wheel.py", *collect, "--into", context.layout.wheels),
        ),
        cwd=_folder(context, part),
        env=_environment(context, part),
        needs=("compiler", "toolkit"),
        after=before,
        makes=(context.wheel(part),),
        dated_by=tree,
        component=part.name,
    )


def _setup_wheel(context: Context, out: str) -> tuple[str, ...]:
    return (context.layout.python, "setup.py", "bdist_wheel", "--dist-dir", out)


def _build_wheel(context: Context, out: str) -> tuple[str, ...]:
    return (context.layout.python, "-m", "build", "--wheel", "--no-isolation", "--outdir", out)


FRONTENDS = {"setup.py": _setup_wheel, "build": _build_wheel}


def _make_inspect(context: Context, part: SourceComponent) -> Step:
    result = f"{context.layout.results}/{part.name}.inspect.json"
    wheel = ("--wheels", context.layout.wheels, "--distribution", part.distribution, "--version", part.version)
    xpu = ("--requires-xpu",) if part.inspect.xpu else ()
    abi = ("--abi", str(part.inspect.abi)) if part.inspect.abi is not None else ()
    foreign = ("--forbid-prefix", context.layout.src, "--forbid-prefix", context.layout.venv)
    return Step(
        id=f"{part.name}.inspect",
        title=f"what is in the {part.distribution} wheel",
        run=(context.helper("inspect_wheel.py", *wheel, *xpu, *abi, *foreign, "--out", result),),
        after=(f"{part.name}.build",),
        makes=(result,),
        component=part.name,
    )


def _make_install(context: Context, part: SourceComponent | WheelComponent, *, made_by: str, venv_last: str) -> Step:
    wheel = ("--wheels", context.layout.wheels, "--distribution", part.distribution, "--version", part.version)
    return Step(
        id=f"{part.name}.install",
        title=f"install {part.distribution} {part.version}",
        run=(context.helper("install_wheel.py", *wheel),),
        after=tuple(dict.fromkeys((made_by, venv_last))),
        locks=("venv",),
        makes=(context.installed(part),),
        component=part.name,
    )


def _folder(context: Context, part: SourceComponent) -> str:
    tree = context.tree(part)
    return tree if part.directory == "." else f"{tree}/{part.directory}"


def _environment(context: Context, part: SourceComponent) -> tuple[tuple[str, str], ...]:
    """Give the variables of a compiling step, in the order of their names.

    CMake ignores CPPFLAGS; setuptools (80 and later) lets CFLAGS and CXXFLAGS replace Python's own `-O3`.
    """
    target, profile = context.target, context.profile
    maps = f"-ffile-prefix-map={context.tree(part)}={part.name} -ffile-prefix-map={context.layout.venv}=venv"
    found = {
        "CC": target.cc,
        "CXX": target.cxx,
        "CPPFLAGS": maps,
        **(dict.fromkeys(("CFLAGS", "CXXFLAGS"), maps) if part.cmake else {}),
        "CMAKE_PREFIX_PATH": context.layout.venv,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    if profile.arch is not None and target.arch:
        found[profile.arch.variable] = ",".join(target.arch)
    asked = {key: value for name, key, value in context.request.set if name == part.name}
    return tuple(sorted({**found, **profile.environment, **part.environment, **asked}.items()))
