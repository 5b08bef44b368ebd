"""GitHub Actions: a workflow over the builds of a matrix, which lie beside it and are run by the same scripts."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.base.model import ROOT, Step
from xpusetup.base.text import comment, markdown_text, render_long_command, render_word, workflow_command, yaml_string
from xpusetup.config.toolkit import begin
from xpusetup.emit.matrix import say_toolkits
from xpusetup.emit.script import memory_per_job, render_parts, render_script
from xpusetup.machine.activation import render_activation
from xpusetup.plan.install import INSTALL_STEP, published_wheels
from xpusetup.plan.requirements import has_tools, published_purposes, requirement_options, requirements_of
from xpusetup.plan.verify import verify_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.base.model import Plan
    from xpusetup.config.profile import Profile
    from xpusetup.emit.matrix import Cell


# The text of the workflow. Words between @ are filled in; the actions are pinned by commit.
#
# Each commit was read beside its version in several public repositories (2026-11-21).


CHECKOUT = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"
PYTHON = "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0"
CACHE = "actions/cache@5a3ec84eff668545956fd18022155c47e93e2684 # v4.2.3"
UPLOAD = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"
DOWNLOAD = "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0"
ATTEST = "actions/attest-build-provenance@e8998f949152b193b063cb0ec769d69d929409be # v2.4.0"

FILE_HEAD = """# Written by xpusetup emit github, as are the folders in @FOLDER@: write them anew rather than edit them.
name: xpusetup

on:
  push:
  pull_request:
  workflow_dispatch:@SCHEDULE@

permissions:
  contents: read

concurrency:
  group: ${{ github.workflow }}-${{ github.ref }}
  cancel-in-progress: true # the next run goes on from the cache

jobs:
"""

OWN = """
    # Machines of one's own run nothing that strangers propose.
    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository"""

BUILD = """  build:
    name: ${{ matrix.cell }}@OWN@
    runs-on: @RUNS_ON@
    timeout-minutes: @MINUTES@
    permissions:
      contents: read
      id-token: write # for the attestation
      attestations: write
    strategy:
      fail-fast: false
      matrix:
        include:
@MATRIX@
    defaults:
      run:
        shell: bash
        working-directory: @FOLDER@${{ matrix.cell }}
    steps:
      - uses: @CHECKOUT@
        with:
          persist-credentials: false@CLEAN@

      - uses: @PYTHON@
        with:
          python-version: ${{ matrix.python }}
@RENEW@
      - name: Key of the build
        id: key
        run: |
          tools=$({ @COMPILERS@; python3 -VV; readlink -f "$(command -v python3)"; pwd; } | sha256sum | cut -c 1-16)
          echo "tools=$tools" >>"$GITHUB_OUTPUT"
          echo "steps=$(sha256sum <keys | cut -c 1-16)" >>"$GITHUB_OUTPUT"

      - name: What was built before
        id: cache
        uses: @CACHE_RESTORE@
        with:
          path: |
@CACHED@
          key: xpusetup-${{ matrix.cell }}-${{ steps.key.outputs.tools }}-${{ steps.key.outputs.steps }}
          restore-keys: |
            xpusetup-${{ matrix.cell }}-${{ steps.key.outputs.tools }}-

      - name: Fetch
        run: bash fetch.sh

      - name: Build
        run: |
          if launcher=$(command -v ccache); then
            export CCACHE_DIR=$PWD/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_MAXSIZE=2G
            export COMPILER_LAUNCHER=$launcher CMAKE_C_COMPILER_LAUNCHER=$launcher
            export CMAKE_CXX_COMPILER_LAUNCHER=$launcher CMAKE_SYCL_COMPILER_LAUNCHER=$launcher
          fi
          jobs=$(awk '/^MemTotal/ { print int($2 / 1024 / ${{ matrix.mib_per_job }}) }' /proc/meminfo)
          MAX_JOBS=$((jobs < 1 ? 1 : jobs < $(nproc) ? jobs : $(nproc))) bash compile.sh
@EXTENSION@
      - name: What can be gone on with
        if: always() && steps.key.outcome == 'success' && steps.cache.outputs.cache-hit != 'true'
        uses: @CACHE_SAVE@
        with:
          path: |
@CACHED@
          key: xpusetup-${{ matrix.cell }}-${{ steps.key.outputs.tools }}-${{ steps.key.outputs.steps }}

      - name: Hashes
        run: |
          shopt -s nullglob
          sha256sum wheels/*.whl published/*.whl dist/*.whl >SHA256SUMS

      - name: Wheels, with what they were built from
        uses: @UPLOAD@
        with:
          name: wheels-${{ matrix.cell }}
          if-no-files-found: error
          path: |
            @FOLDER@${{ matrix.cell }}/wheels/*.whl
            @FOLDER@${{ matrix.cell }}/wheels/*.whl.provenance.json
            @FOLDER@${{ matrix.cell }}/published/*.whl
            @FOLDER@${{ matrix.cell }}/dist/*.whl
            @FOLDER@${{ matrix.cell }}/results/*.json
            @FOLDER@${{ matrix.cell }}/profile.lock.json
            @FOLDER@${{ matrix.cell }}/SHA256SUMS

      - name: Attestation
        if: github.event_name != 'pull_request'
        uses: @ATTEST@
        with:
          subject-checksums: @FOLDER@${{ matrix.cell }}/SHA256SUMS

      - name: Logs
        if: failure()
        uses: @UPLOAD@
        with:
          name: logs-${{ matrix.cell }}
          path: @FOLDER@${{ matrix.cell }}/logs
"""

RENEW = """
      - name: Revisions of today
        if: github.event_name == 'schedule' && vars.XPUSETUP != ''
        working-directory: .
        env:
          XPUSETUP: ${{ vars.XPUSETUP }} # what pip installs to get xpusetup
        run: |
          python3 -m pip install "$XPUSETUP"
          @AGAIN@
"""

VERIFY = """
  verify:
    name: ${{ matrix.cell }} on a device
    needs: build@OWN@
    runs-on: [self-hosted, @GPU@]
    timeout-minutes: 60
    strategy:
      fail-fast: false
      matrix:
        include:
@MATRIX@
    defaults:
      run:
        shell: bash
        working-directory: @FOLDER@${{ matrix.cell }}
    steps:
      - uses: @CHECKOUT@
        with:
          persist-credentials: false

      - uses: @DOWNLOAD@
        with:
          name: wheels-${{ matrix.cell }}
          path: @FOLDER@${{ matrix.cell }}

      - name: Verify the wheels
        run: |
          sha256sum --check --quiet SHA256SUMS
          bash check.sh

      - name: What was seen
        if: always()
        uses: @UPLOAD@
        with:
          name: verification-${{ matrix.cell }}
          path: @FOLDER@${{ matrix.cell }}/results/verify.json
"""


# A script that verifies finished wheels on a machine that did not build them: in a new environment, from hashes
# up.


CHECK_PYTHON = f"{ROOT}/check/bin/python"
QUIET = "--disable-pip-version-check install --quiet"
CHECK_OWN = f"""own=(dist/*.whl)
[ "${{#own[@]}}" -eq 0 ] || {render_word(CHECK_PYTHON)} -m pip {QUIET} "${{own[@]}}\""""
"""A package of someone's own; what it requires beside torch is its own affair, and no profile pins it."""
CHECK_HEAD = """#!/usr/bin/env bash
# Installs the wheels of {name} into an environment of their own and computes with them on the device of this machine.
# shellcheck disable=SC1090,SC1091
set -eu
cd "$(dirname "${{BASH_SOURCE[0]}}")"
ROOT=$PWD
fail() {{ # MESSAGE FIX CODE
  printf '%s\\n  %s\\n' "$1" "$2" >&2
  exit "$3"
}}
shopt -s nullglob
wheels=(wheels/*.whl published/*.whl dist/*.whl)
[ "${{#wheels[@]}}" -gt 0 ] || fail "there are no wheels in $ROOT" "build them, or copy them here" 3
mkdir -p results
rm -rf check
"""


def render_check(cell: Cell) -> str:
    """Give the script. Exit codes are those of verify: 4 where there is no device."""
    return "\n".join([CHECK_HEAD.format(name=comment(cell.name)), *_lines(cell)]) + "\n"


def _lines(cell: Cell) -> Iterator[str]:
    target, profile = cell.plan.target, cell.profile
    yield f"{render_word(target.python)} -m venv check"
    compiled = any("compiler" in step.needs for step in cell.plan.steps)
    yield from _install_built(profile) if compiled else _install_published(profile)
    yield CHECK_OWN
    if target.toolkit and target.toolkit.at_run_time:
        yield render_activation(target.toolkit)
    verify = (CHECK_PYTHON, f"{ROOT}/helpers/verify_device.py", *verify_options(target, profile))
    yield render_long_command((*verify, "--level", profile.verify_level, "--out", f"{ROOT}/results/verify.json"))


def _install_built(profile: Profile) -> Iterator[str]:
    """Install what the profile pins, by its hashes: it holds all that its wheels require; then the wheels."""
    helper = (CHECK_PYTHON, f"{ROOT}/helpers/pinned_wheels.py", "install")
    purposes = [name for name in ("build", "runtime") if name in requirements_of(profile)]
    yield render_long_command((*helper, *requirement_options(profile, *purposes))) if purposes else ":"
    yield f"{render_word(CHECK_PYTHON)} -m pip {QUIET} --no-deps --no-index wheels/*.whl"


def _install_published(profile: Profile) -> Iterator[str]:
    """Install published wheels as `install` does, which holds what they require to hashes too."""
    helper = (CHECK_PYTHON, f"{ROOT}/helpers/install_published.py", "--wheels", f"{ROOT}/published")
    named = (word for pin in published_wheels(profile).values() for word in ("--wheel", "==".join(pin)))
    index = ("--index", profile.published.index) if profile.published else ()
    places = (
        *index,
        *requirement_options(profile, *published_purposes(profile)),
        "--out",
        f"{ROOT}/results/check.json",
    )
    yield render_long_command((*helper, *named, *places))


# A package of someone's own as one more component: built against each PyTorch of a matrix, from where it lies.


INSTALL = 'exec "$0" -m pip install --no-deps --no-index --force-reinstall "$1"/*.whl'


def make_extension(cell: Cell, module: str, *, up: str) -> Step:
    """Give the step that builds, installs and imports it; its sources lie `up` from the root.

    Its sources are no part of the step's key: whoever calls it says that it has to be done (XPUSETUP_FORCE=1).
    """
    layout, target = cell.plan.layout, cell.plan.target
    pip = (layout.python, "-m", "pip", "--disable-pip-version-check")
    dist = f"{ROOT}/dist"
    published = any(step.id == INSTALL_STEP for step in cell.plan.steps)
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
        wrap_compilers=True,
    )


def _tools(cell: Cell) -> tuple[str, ...]:
    """Install the tools in the versions of the release. The libraries among its pins came with the wheels."""
    layout = cell.plan.layout
    helper = (layout.python, f"{layout.helpers}/pinned_wheels.py", "install")
    return (*helper, *requirement_options(cell.profile, "tools"))


FOLDER = ".github/xpusetup/"
WORKFLOW = ".github/workflows/xpusetup.yml"
HOSTED = "ubuntu-24.04"
MADE = ("venv", "src", "wheels", "published", "stamps", "inputs", "results", "logs", "launcher", "wheelhouse", "dist")
CACHED = ("venv", "wheels", "published", "stamps", "inputs", "results", "ccache")
README = """# Builds of the workflow

Each folder is a whole build, written by `xpusetup emit github`; the workflow runs `fetch.sh`, `compile.sh` and, where
there is a device, `check.sh`. By hand they do the same. Write them anew rather than edit them:

    {again}
{needs}"""
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
    needs = "".join(f"\n{begin(markdown_text(told))}.\n" for told in say_toolkits(cells))
    readme = README.format(again=workflow_command(runners.again), needs=needs)
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
        "COMPILERS": "; ".join(_compilers(cells)),
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
    text = FILE_HEAD + (BUILD.replace("@OWN@", "") if hosted else BUILD) + (VERIFY if runners.gpu_label else "")
    return re.sub(r"@([A-Z_]+)@", lambda found: words[found[1]], text)  # at once: a value is not read again


def _compilers(cells: Sequence[Cell]) -> Iterator[str]:
    """Ask what compiles: another one builds anew, and what it built has to be kept under a name of its own."""
    yield f"{workflow_command([cells[0].plan.target.cxx])} --version"
    kits = (kit.compiler for cell in cells if (kit := cell.plan.target.toolkit))
    yield from (f"{workflow_command([compiler])} --version || :" for compiler in dict.fromkeys(kits))


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
