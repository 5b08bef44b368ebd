"""GitHub Actions: a workflow over the builds of a matrix, which lie beside it and are run by the same scripts."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.emit.actions import ATTEST, BUILD, CACHE, CHECKOUT, DOWNLOAD, HEAD, OWN, PYTHON, RENEW, UPLOAD, VERIFY
from xpusetup.emit.check import render_check
from xpusetup.emit.extension import make_extension
from xpusetup.emit.parts import memory_per_job, render_parts
from xpusetup.emit.script import render_script
from xpusetup.emit.words import workflow_command, yaml_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.matrix import Cell
    from xpusetup.model import Plan

FOLDER = ".github/xpusetup/"
WORKFLOW = ".github/workflows/xpusetup.yml"
HOSTED = "ubuntu-24.04"
MADE = ("venv", "src", "wheels", "published", "stamps", "inputs", "results", "logs", "launcher", "wheelhouse", "dist")
CACHED = ("venv", "wheels", "published", "stamps", "inputs", "results", "ccache")
README = """# Builds of the workflow

Each folder is a whole build, written by `xpusetup emit github`; the workflow runs `fetch.sh`, `compile.sh` and, where
there is a device, `check.sh`. By hand they do the same. Write them anew rather than edit them:

    {again}
"""
NIGHTLY = "17 2 * * *"


@dataclass(frozen=True, kw_only=True)
class Runners:
    """Who runs what: the label of the machines that build, that of those with a device (empty: nobody verifies).

    `extension` is the module of a package that lies in the repository, and is built against each; `again` are the words
    that write these files anew.
    """

    label: str = HOSTED
    gpu_label: str = ""
    extension: str = ""
    again: tuple[str, ...] = ()


def render_github(cells: Sequence[Cell], runners: Runners) -> dict[str, str]:
    """Give the workflow and what it adds to each build's folder, by file name."""
    files = {f"{FOLDER}{cell.name}/{name}": text for cell in cells for name, text in _folder(cell, runners).items()}
    ignored = "".join(f"/*/{name}\n" for name in (*MADE, "ccache", "check", "failed", "fetched", "lock", "SHA256SUMS"))
    readme = README.format(again=workflow_command(runners.again))
    beside = {f"{FOLDER}.gitignore": ignored, f"{FOLDER}README.md": readme}
    return {**files, **beside, WORKFLOW: _workflow(cells, runners)}


def _folder(cell: Cell, runners: Runners) -> dict[str, str]:
    parts = {**render_parts(cell), "check.sh": render_check(cell), "keys": render_keys(cell.plan)}
    if not runners.extension:
        return parts
    step = make_extension(cell, runners.extension, up="../../..")
    return {**parts, f"steps/{step.id}.sh": render_script(step, cell.plan)}


def render_keys(plan: Plan) -> str:
    """Give a line for each step that needs no device: its id, and a hash of its script and of those before it."""
    keys: dict[str, str] = {}
    for step in plan.steps:
        text = "\n".join([render_script(step, plan), *(keys[name] for name in step.after)])
        keys[step.id] = hashlib.sha256(text.encode()).hexdigest()
    return "".join(f"{step.id} {keys[step.id]}\n" for step in plan.steps if "device" not in step.needs)


def _workflow(cells: Sequence[Cell], runners: Runners) -> str:
    nightly = any(cell.profile.tier == "moving" for cell in cells)
    hosted = runners.label == HOSTED
    words = {
        "OWN": OWN,
        "MINUTES": "360" if hosted else "1440",
        "CLEAN": "" if hosted else "\n          clean: false # what lies there from the last run is gone on with",
        "SCHEDULE": f'\n  schedule:\n    - cron: "{NIGHTLY}"' if nightly else "",
        "MATRIX": "\n".join(_matrix(cells)),
        "RUNS_ON": runners.label,
        "RENEW": RENEW.replace("@AGAIN@", workflow_command(runners.again)) if nightly else "",
        "EXTENSION": _extension(runners.extension),
        "CXX": workflow_command([cells[0].plan.target.cxx]),
        "CACHED": "\n".join(f"            {FOLDER}${{{{ matrix.cell }}}}/{name}" for name in CACHED),
        "GPU": runners.gpu_label,
        "FOLDER": FOLDER,
        "CHECKOUT": CHECKOUT,
        "PYTHON": PYTHON,
        "CACHE_RESTORE": CACHE.replace("cache@", "cache/restore@"),
        "CACHE_SAVE": CACHE.replace("cache@", "cache/save@"),
        "UPLOAD": UPLOAD,
        "DOWNLOAD": DOWNLOAD,
        "ATTEST": ATTEST,
    }
    text = HEAD + (BUILD.replace("@OWN@", "") if hosted else BUILD) + (VERIFY if runners.gpu_label else "")
    return re.sub(r"@([A-Z_]+)@", lambda found: words[found[1]], text)  # at once: a value is not read again


def _matrix(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells:
        yield f"          - cell: {yaml_string(cell.name)}"
        yield f"            python: {yaml_string(cell.plan.target.python_version)}"
        yield f"            mib_per_job: {memory_per_job(cell)}"


def _extension(name: str) -> str:
    if not name:
        return ""
    return """
      - name: The package of this repository
        run: XPUSETUP_FORCE=1 bash steps/extension.build.sh
"""
