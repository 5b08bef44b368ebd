"""A package of someone's own as one more component: built against each PyTorch of a matrix, from where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import ROOT, Step
from xpusetup.plan.install import INSTALL as INSTALLED
from xpusetup.plan.requirements import has_tools, requirement_options

if TYPE_CHECKING:
    from xpusetup.matrix import Cell

INSTALL = 'exec "$0" -m pip install --no-deps --no-index --force-reinstall "$1"/*.whl'


def make_extension(cell: Cell, module: str, *, up: str) -> Step:
    """Give the step that builds, installs and imports it; its sources lie `up` from the root.

    Its sources are no part of the step's key: whoever calls it says that it has to be done (XPUSETUP_FORCE=1).
    """
    layout, target = cell.plan.layout, cell.plan.target
    pip = (layout.python, "-m", "pip", "--disable-pip-version-check")
    dist = f"{ROOT}/dist"
    published = any(step.id == INSTALLED for step in cell.plan.steps)
    return Step(
        id="extension.build",
        title=f"{module}, from where it lies",
        run=(
            ("rm", "-rf", dist),
            *((_tools(cell),) if published and has_tools(cell.profile) else ()),
            (*pip, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", dist, f"{ROOT}/{up}"),
            ("bash", "-c", INSTALL, layout.python, dist),
            (layout.python, "-I", "-c", f"import {module}"),
        ),
        env=(("CC", target.cc), ("CXX", target.cxx)),
        needs=(*(("network",) if published else ()), "compiler", *(("toolkit",) if target.toolkit else ())),
        after=("guard",),
        locks=("venv",),
        makes=(f"{dist}/*.whl",),
        launched=True,
    )


def _tools(cell: Cell) -> tuple[str, ...]:
    """Install the tools in the versions of the release. The libraries among its pins came with the wheels."""
    layout = cell.plan.layout
    helper = (layout.python, f"{layout.helpers}/pinned_wheels.py", "install")
    return (*helper, *requirement_options(cell.profile, "tools"))
