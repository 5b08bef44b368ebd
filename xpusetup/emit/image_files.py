"""What lies beside an image's recipe, and which step belongs to which part of the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.base.text import docker_string, markdown_text, render_command, render_word
from xpusetup.base.values import PACKAGED
from xpusetup.emit.image import PREFIX, notes_of
from xpusetup.emit.script import render_scripts, render_system
from xpusetup.machine.activation import render_activation
from xpusetup.plan.context import FOLDER as PATCHES
from xpusetup.plan.verify import describe_proof, verify_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xpusetup.base.model import Step, Toolkit
    from xpusetup.config.profile import SourceComponent
    from xpusetup.emit.image import Image
    from xpusetup.machine.platforms import Manager


# Labels of an image: what it is, what it was made from, and the pins of all that is in it.


BASE = "${BASE}"
"""The one variable: a build may name another base."""
OF_BASE = "org.opencontainers.image.base.name"


def label_values(image: Image) -> dict[str, str]:
    """Give the labels by name: those that all engines know, then ours."""
    torch = next(
        (part.version for part in image.profile.components if part.kind != "skip" and part.name == "torch"), ""
    )
    wanted = image.profile.toolkit if image.order.origin == "source" else None
    other = f"{wanted.kind} " if wanted and wanted.kind != "oneapi" else ""
    kit = f"{other}{wanted.preferred}" if wanted else ""
    found = {
        "org.opencontainers.image.title": image.profile.name,
        "org.opencontainers.image.description": image.profile.summary,
        "org.opencontainers.image.version": torch,
        OF_BASE: BASE,
        "xpusetup.profile": image.profile.name,
        "xpusetup.profile.sha256": image.digest,
        "xpusetup.from": image.order.origin,
        "xpusetup.target": image.order.target,
        "xpusetup.arch": ",".join(image.plan.target.arch),
        "xpusetup.toolkit": kit,
        "xpusetup.pins": " ".join(f"{name}={pin}" for name, pin in image.pins.items()),
    }
    return {name: value for name, value in found.items() if value}


def labels_of(image: Image) -> Iterator[str]:
    """Give them as lines of a Dockerfile."""
    values = label_values(image)
    quoted = {name: docker_string(value) for name, value in values.items()} | {OF_BASE: f'"{BASE}"'}
    lines = [f"{name}={value}" for name, value in quoted.items()]
    yield "LABEL " + " \\\n      ".join(lines)


# The README of an image's folder: how it is built, run, and fed with what a place has of its own.


SECRETS = """
A place that reaches its sources by mirrors, a package index or a CA of its own says so in files that are mounted while
something is fetched, and are in no layer: pip's settings, git's settings (`url.<mirror>.insteadOf`, `http.sslCAInfo`),
a CA file that both may name as `/run/secrets/ca.crt`.

    {build} --secret id=pip.conf,src=pip.conf --secret id=gitconfig,src=gitconfig --secret id=ca.crt,src=ca.crt .

Proxies are build arguments that every engine knows: `--build-arg https_proxy=http://proxy:3128`.
"""
OWN = "## What a place has of its own\n"
BASES = """Another base: `apptainer build --build-arg BASE=IMAGE {name} {file}`; for a file or folder that is one, also
`--build-arg BOOTSTRAP=localimage`.
"""
BINDS = """
    apptainer build --bind pip.conf:/etc/pip.conf,gitconfig:/etc/gitconfig,ca.crt:/run/secrets/ca.crt {name} {file}

pip's settings, git's settings (`url.<mirror>.insteadOf`, `http.sslCAInfo`), a CA file that both may name. In the image
they are empty files.
"""
DEVICES = """
    docker run --rm --device /dev/dri --group-add "$(stat -c %g /dev/dri/renderD128)" {tag}

The number of the group that owns the device differs from host to host, so no image can hold it. Without a device,
`verify` ends with 4 and says so.
"""


def render_readme(image: Image) -> str:
    """Give the README of a Dockerfile's folder."""
    engine = "docker build" if image.order.dialect == "buildkit" else "buildah bud --isolation chroot"
    tag = image.profile.name
    device = image.profile.accelerator == "xpu"
    run = DEVICES.format(tag=tag) if device else f"    docker run --rm {tag}\n"
    wheels = ["The wheels alone: `docker build --target wheels --output type=local,dest=wheels .`\n"]
    own = [SECRETS.format(build=engine), "Another base image of the same system: `--build-arg BASE=IMAGE`.\n"]
    parts = [f"    {engine} -t {tag} .", run, *_contents(image), *(wheels if image.order.origin == "source" else [])]
    return _join(image, [*parts, OWN, *own, *_worth_knowing(image)])


def render_definition_readme(image: Image, file: str) -> str:
    """Give the README of an Apptainer definition's folder."""
    name = f"{image.profile.name}.sif"
    build = f"    apptainer build {name} {file}\n    apptainer run {name}\n    apptainer exec {name} python my.py\n"
    nodes = ["Apptainer passes the host's `/dev/dri` and the user's groups on by itself.\n"]
    bind = [BINDS.format(name=name, file=file), BASES.format(name=name, file=file)]
    return _join(image, [build, *nodes, *_contents(image), OWN, *bind, *_worth_knowing(image)])


def _join(image: Image, parts: list[str]) -> str:
    head = f"# {image.profile.name} on {image.system.name}\n"
    says = f"{markdown_text(image.profile.summary)}. Written by xpusetup; this folder is all that a build needs.\n"
    return "\n".join([head, says, *parts]).replace("\n\n\n", "\n\n") + "\n"


def _worth_knowing(image: Image) -> Iterator[str]:
    yield "## Worth knowing\n"
    yield from (f"- {markdown_text(note)}" for note in notes_of(image))
    yield "- every step of `steps/` is a script of its own that ends at once where it is done"
    yield "- `numpy` is kept because torch hands arrays over to it, though it does not require it"


def _contents(image: Image) -> Iterator[str]:
    yield "| in it | |\n|---|---|"
    yield from (f"| {markdown_text(name)} | {markdown_text(pin)} |" for name, pin in image.pins.items())
    kit = image.plan.target.toolkit
    if kit is not None:
        yield f"| {kit.product} | {kit.version}{'' if image.toolkit_stays else ', on the build side alone'} |"
    if image.plan.target.arch:
        yield f"| device targets | {markdown_text(', '.join(image.plan.target.arch))} |"
    yield f"| environment | {PREFIX}/venv, Python {image.order.python} |\n"
    if image.order.target == "devel" and kit is not None:
        yield "`toolkit COMMAND` as the container's command runs it with the toolkit switched on.\n"


# Which step belongs to which part of an image: the order of a plan, cut where layers can stand beside each
# other.


@dataclass(frozen=True, kw_only=True)
class Built:
    """The steps of the build side. `packaged` are folders of helpers that hold a component's source or patches."""

    environment: tuple[Step, ...]
    sources: Mapping[str, tuple[Step, ...]]
    packaged: Mapping[str, tuple[str, ...]]
    components: Mapping[str, tuple[Step, ...]]
    rest: tuple[Step, ...]

    @property
    def all(self) -> tuple[Step, ...]:
        """All of them, in the order of the plan as far as it matters."""
        parts = (self.environment, *self.sources.values(), *self.components.values(), self.rest)
        return tuple(step for part in parts for step in part)


def split_stages(image: Image) -> Built:
    """Cut a plan: what fetches a tree waits for nothing; what needs a device cannot run while an image is built.

    Where nothing is compiled, one part is all there is.
    """
    steps = tuple(step for step in image.plan.steps if "device" not in step.needs)
    if image.order.origin == "wheels":
        return Built(environment=(), sources={}, packaged={}, components={}, rest=steps)
    sources = {step.component: (step,) for step in steps if step.component and not step.after}
    placed = {step.id for part in sources.values() for step in part}
    named = list(dict.fromkeys(step.component for step in steps if step.component))
    left = [step for step in steps if step.id not in placed]
    first = next(number for number, step in enumerate(left) if step.component)
    last = max(number for number, step in enumerate(left) if step.component)
    return Built(
        environment=tuple(left[:first]),
        sources=sources,
        packaged=_packaged(image),
        components={name: tuple(step for step in left if step.component == name) for name in named},
        rest=tuple(left[last + 1 :]),
    )


def _packaged(image: Image) -> dict[str, tuple[str, ...]]:
    return {part.name: tuple(_folders(part)) for part in image.profile.components if part.kind == "source"}


def _folders(part: SourceComponent) -> Iterator[str]:
    if part.repo.startswith(PACKAGED):
        yield part.repo.removeprefix(PACKAGED)
    if part.patches or any(item.patches for item in part.vendored):
        yield PATCHES.rpartition("/")[2]


# What lies beside an image's recipe: the scripts for root, the entry point, and what git and docker need to
# know.


USER = 1001
"""The number of the user in an image: engines that forbid root look at the number, not at a name."""
CACHES: dict[Manager, tuple[str, ...]] = {
    "apt": ("/var/cache/apt", "/var/lib/apt/lists"),
    "dnf": ("/var/cache/dnf",),
    "zypper": ("/var/cache/zypp",),
}
"""Where package managers keep what they fetched."""
LIBRARIES = f"""#!/usr/bin/env bash
# Tells the dynamic linker where the toolkit's libraries lie, so that nothing has to be switched on at run time.
set -euo pipefail
bash -c '. {PREFIX}/toolkit.sh && printf "%s" "$LD_LIBRARY_PATH"' | tr ':' '\\n' >/etc/ld.so.conf.d/xpusetup.conf
ldconfig
"""
ENTRY = """#!/usr/bin/env bash
# verify [OPTIONS]   {proof}; exit 4 where there is no device
{more}# anything else      is run as it is, in the built environment
set -eu
[ -w "${{TMPDIR:-/tmp}}" ] || export TMPDIR=/tmp  # an engine may hand in the variables of outside
case ${{1-verify}} in
  verify)
    [ "$#" -eq 0 ] || shift
    exec {prefix}/venv/bin/python {prefix}/helpers/verify_device.py {options} \\
      --out "${{TMPDIR:-/tmp}}/verify.json" "$@"
    ;;
{cases}esac
exec "$@"
"""
TOOLKIT_SAYS = "# toolkit COMMAND   is run with the toolkit switched on, for compiling against it\n"
TOOLKIT_CASE = f"""  toolkit)
    shift
    command=("$@") # the toolkit's scripts must see no argument
    # shellcheck disable=SC1091  # it lies in the image
    . {PREFIX}/toolkit.sh
    exec "${{command[@]}}"
    ;;
"""
ACTIVATION = """# shellcheck shell=bash disable=SC1090,SC1091
# Switches the toolkit on, in the shell that reads this.
fail() {{ printf 'xpusetup: %s\\n  %s\\n' "$1" "$2" >&2; exit "${{3:-1}}"; }}
{body}
export CC={cc} CXX={cxx}
"""
IGNORED = """# Only what the Dockerfile copies is sent to the engine.
*
!entry.sh
!toolkit.sh
!profile.lock.json
!steps
!helpers
!system
"""


def render_around(image: Image) -> dict[str, str]:
    """Give all that an image's recipe copies, but for the helpers and the resolved profile."""
    found = {**render_scripts(image.plan), **_system(image), "entry.sh": render_entry(image)}
    kit = image.plan.target.toolkit
    return {**found, "toolkit.sh": _activation(image, kit)} if kit else found


def _system(image: Image) -> dict[str, str]:
    """Give the scripts for root, by side."""
    sides, manager, kit = image.sides, image.system.manager, image.plan.target.toolkit
    parts = {"build": sides.build, "driver": sides.driver, "toolkit": sides.toolkit, "runtime": sides.run}
    found = {
        f"system/{name}.sh": render_system(
            steps,
            f"an image of {image.system.name} for {image.profile.name}",
            keep=manager == "apt" and name == "build",
            refresh=manager == "apt",  # lists of packages are in no layer, so every script gets them
            user=USER if name == "runtime" else 0,
            caches=CACHES[manager],
        )
        for name, steps in parts.items()
        if steps or name in {"build", "runtime"}
    }
    return {**found, "system/libraries.sh": LIBRARIES} if kit and kit.at_run_time else found


def _activation(image: Image, kit: Toolkit) -> str:
    target = image.plan.target
    return ACTIVATION.format(body=render_activation(kit), cc=render_word(target.cc), cxx=render_word(target.cxx))


def render_entry(image: Image) -> str:
    """Give the script that an image begins with."""
    compiles = image.order.target == "devel" and image.plan.target.toolkit is not None
    options = (*verify_options(image.plan.target, image.profile), "--level", image.profile.verify_level)
    return ENTRY.format(
        proof=describe_proof(image.plan.target.accelerator),
        prefix=PREFIX,
        options=render_command(options),
        more=TOOLKIT_SAYS if compiles else "",
        cases=TOOLKIT_CASE if compiles else "",
    )
