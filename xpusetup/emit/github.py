"""GitHub Actions: a workflow over the builds of a matrix, which lie beside it and are run by the same scripts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from xpusetup.base.model import ROOT, Plan, Step
from xpusetup.config.profile import Profile
from xpusetup.config.toolkit import begin
from xpusetup.emit.matrix import Cell, say_toolkits
from xpusetup.emit.script import memory_per_job, render_parts, render_script
from xpusetup.emit.template import render_template
from xpusetup.machine.activation import render_activation, render_first
from xpusetup.plan.context import OF_PLAN
from xpusetup.plan.install import INSTALL_STEP, published_wheels
from xpusetup.plan.requirements import published_purposes, requirement_options, requirements_of
from xpusetup.plan.verify import verify_options

# A script that verifies finished wheels on a machine that did not build them: in a new environment, from hashes up.


CHECK_PYTHON = f"{ROOT}/check/bin/python"


def render_check(cell: Cell) -> str:
    """Give the script. Exit codes are those of verify: 4 where there is no device."""
    target, profile = cell.plan.target, cell.profile
    built = not any(step.id == INSTALL_STEP for step in cell.plan.steps)  # from ready wheels alone too
    verify = (CHECK_PYTHON, f"{ROOT}/helpers/verify_device.py", *verify_options(target, profile))
    return render_template(
        "github/check.sh",
        name=cell.name,
        python=target.python,
        built=built,
        install=_pinned(profile) if built else _published(profile),
        toolkit=render_activation(target.toolkit) if target.toolkit and target.toolkit.at_run_time else "",
        first=render_first(target.scripts),
        verify=(*verify, "--level", profile.verify_level, "--out", f"{ROOT}/results/verify.json"),
    )


def _pinned(profile: Profile) -> tuple[str, ...]:
    """Install what the profile pins, by its hashes: it holds all that its wheels require."""
    purposes = [name for name in ("build", "runtime") if name in requirements_of(profile)]
    helper = (CHECK_PYTHON, f"{ROOT}/helpers/pinned_wheels.py", "install")
    return (*helper, *requirement_options(profile, *purposes)) if purposes else ()


def _published(profile: Profile) -> tuple[str, ...]:
    """Install published wheels as `install` does, which holds what they require to hashes too."""
    helper = (CHECK_PYTHON, f"{ROOT}/helpers/install_published.py", "--wheels", f"{ROOT}/published")
    named = (word for pin in published_wheels(profile).values() for word in ("--wheel", "==".join(pin)))
    index = ("--index", profile.published.index) if profile.published else ()
    required = requirement_options(profile, *published_purposes(profile))
    return (*helper, *named, *index, *required, "--out", f"{ROOT}/results/check.json")


# A package of someone's own as one more component: built against each PyTorch of a matrix, from where it lies.


INSTALL = 'exec "$0" -m pip install --no-deps --no-index --force-reinstall "$1"/*.whl'
OWN_BUILD = 'mkdir -p "$0" && printf "[build]\\nbuild_base = %s/build\\n" "${0//%/%%}" >"$0/setup.cfg"'
"""setuptools compiles into the tree, where it would take what was compiled against another torch for its own."""


def make_extension(cell: Cell, module: str, *, up: str) -> Step:
    """Give the step that builds, installs and imports it; its sources lie `up` from the root.

    Its sources are no part of the step's key: whoever calls it says that it has to be done (XPUSETUP_FORCE=1).
    """
    layout, target = cell.plan.layout, cell.plan.target
    pip = (layout.python, "-m", "pip", "--disable-pip-version-check")
    dist, work, tree = f"{ROOT}/dist", f"{ROOT}/extension", f"{ROOT}/{up}"
    needs = (layout.python, f"{layout.helpers}/install_suite_needs.py")
    published = any(step.id == INSTALL_STEP for step in cell.plan.steps)
    return Step(
        id="extension.build",
        title=f"{module}, from where it lies",
        run=(
            ("rm", "-rf", dist, work),
            ("bash", "-c", OWN_BUILD, work),
            *((_tools(cell),) if published and "tools" in requirements_of(cell.profile) else ()),
            (*needs, "--build-of", tree),
            (*pip, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", dist, tree),
            ("bash", "-c", INSTALL, layout.python, dist),
            (*needs, "--wheels", dist),
            (layout.python, "-I", "-c", f"import {module}"),
        ),
        env=(("CC", target.cc), ("CXX", target.cxx), ("DIST_EXTRA_CONFIG", f"{work}/setup.cfg")),
        needs=("network", "compiler", *(("toolkit",) if target.toolkit else ())),
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
BESIDE = (
    "origins",
    "build-path",
    "extension",
    "ccache",
    "check",
    "failed",
    "unfinished",
    "fetched",
    "lock",
    "SHA256SUMS",
)
"""What else lies in a build's folder when it has run."""
KEPT = "!*"
"""What the repository's own .gitignore leaves out, as that of Python projects `env/` and `lib/`, belongs to a build."""
AS_IT_IS = "* -text -filter linguist-generated\n"
"""Scripts and patches are known by their hashes: git changes no end of a line in them, and takes none elsewhere."""
CACHED = ("venv", "wheels", "published", "stamps", "inputs", "results", "ccache")


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
    files = {f"{FOLDER}{cell.name}/{name}": text for cell in cells for name, text in _folder(cell, runners).items()}
    left, unpacked = (*MADE, *BESIDE), ("/*/helpers/*", *(f"!/*/{name}" for name in OF_PLAN))
    ignored = "".join(f"{line}\n" for line in (KEPT, *unpacked, "__pycache__/", *(f"/*/{name}" for name in left)))
    needs = [begin(told) for told in say_toolkits(cells)]
    readme = render_template("github/README.md", again=runners.again, needs=needs)
    beside = {f"{FOLDER}.gitignore": ignored, f"{FOLDER}.gitattributes": AS_IT_IS, f"{FOLDER}README.md": readme}
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
    """Give the workflow. Another compiler builds anew, and what it built has to be kept under a name of its own."""
    hosted = runners.label == HOSTED
    kits = (kit.compiler for cell in cells if (kit := cell.plan.target.toolkit) and not kit.made)
    return render_template(
        "github/workflow.yml",
        folder=FOLDER,
        nightly=any(cell.profile.tier == "moving" for cell in cells),
        hosted=hosted,
        label=runners.label,
        minutes=360 if hosted else 1440,
        gpu_label=runners.gpu_label,
        cells=[
            {"name": cell.name, "python": cell.plan.target.python_version, "memory": memory_per_job(cell)}
            for cell in cells
        ],
        again=runners.again,
        cxx=[cells[0].plan.target.cxx],
        compilers=[[compiler] for compiler in dict.fromkeys(kits)],
        cached=CACHED,
        extension=bool(runners.extension),
    )
