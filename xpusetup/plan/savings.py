"""Less to build: what a plan leaves out or need not do again, what that saves, and what it gives up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.targets import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.launcher import Launcher
    from xpusetup.model import Target
    from xpusetup.profile import Profile

LINKERS = ("mold", "lld")
CACHED = "a rebuild of torch-xpu-ops went from 983 to 348 s (torch-xpu-ops#5154)"


@dataclass(frozen=True, kw_only=True)
class Saving:
    """One way to build less. `on`: this plan does so; else `how` says what to ask for. `saves`: as far as known."""

    id: str
    on: bool
    what: str
    saves: str
    gives_up: str
    how: str = ""


def make_savings(
    profile: Profile, target: Target, *, launcher: Launcher | None, linkers: Sequence[str], compiles: bool
) -> tuple[Saving, ...]:
    """List the ways that matter to this plan; `linkers` are those on PATH, `compiles`: something is to compile yet."""
    if not compiles:
        return ()
    found = [*_targets(profile, target), *_tests(profile), _cache(launcher), *_linker(target, linkers)]
    return tuple(found)


def _targets(profile: Profile, target: Target) -> Iterator[Saving]:
    whole = len(profile.arch.default) if profile.arch else 0
    if whole < 2:  # noqa: PLR2004 - of one there is nothing to leave out
        return
    some, names = len(target.arch) < whole, ",".join(target.arch)
    what = f"device code for {names} alone, of {whole} targets" if some else f"device code for all {whole} targets"
    if target.arch == (NONE,):
        what = "no device code: every GPU compiles what it uses first"
    yield Saving(
        id="arch",
        on=some,
        what=what,
        saves="the device compiler runs once for each target; nobody has published minutes",
        gives_up="other GPUs compile it when it is first used, or cannot use it",
        how="" if some else "--arch TARGET, or --arch auto on the machine with the GPU",
    )


def _tests(profile: Profile) -> Iterator[Saving]:
    variables = [profile.environment, *(part.environment for part in profile.components if part.kind == "source")]
    if any(told.get("BUILD_TEST") == "0" for told in variables):
        yield Saving(
            id="tests",
            on=True,
            what="PyTorch's own C++ tests and benchmarks are left out",
            saves="some hundred programs that nobody installs",
            gives_up="build/bin/test_*, for those who change PyTorch: --set torch.BUILD_TEST=1",
        )


def _cache(launcher: Launcher | None) -> Saving:
    return Saving(
        id="cache",
        on=launcher is not None,
        what=f"{launcher.name} before each compile" if launcher else "no compiler cache is on PATH",
        saves=f"what was compiled once, in any root: {CACHED}",
        gives_up="room for its files: some GiB for PyTorch",
        how="" if launcher else "install ccache",
    )


def _linker(target: Target, linkers: Sequence[str]) -> Iterator[Saving]:
    name = target.linker or next(iter(linkers), "")
    if name:
        yield Saving(
            id="linker",
            on=bool(target.linker),
            what=f"{name} links" if target.linker else f"{name} is here and not used",
            saves="a part of each link; not tried with oneAPI",
            gives_up="the same bytes as a build with the usual linker",
            how="" if target.linker else f'[compilers] linker = "{name}" in the site file',
        )
