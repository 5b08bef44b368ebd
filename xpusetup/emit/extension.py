"""A package of someone's own as one more component: built against each PyTorch of a matrix, from where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from xpusetup.model import ROOT, Step
from xpusetup.plan.install import INSTALL as INSTALLED

if TYPE_CHECKING:
    from xpusetup.matrix import Cell

TOOLS = ("setuptools", "wheel", "ninja", "packaging", "scikit-build-core", "pathspec", "pybind11", "cmake")
"""What builds take from the environment; published wheels bring none of it."""
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
            *([(*pip, "install", "--no-deps", *_tools(cell))] if published else []),
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


def _tools(cell: Cell) -> list[str]:
    """Give the tools in the versions of the release. The libraries among its pins are those of the wheels already."""
    return [pin for pin in cell.profile.build_requirements.pins if Requirement(pin).name in TOOLS]
