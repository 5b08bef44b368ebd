"""What lies beside an image's recipe, and which step belongs to which part of the image."""

from collections.abc import Mapping
from dataclasses import dataclass

from xpusetup.base.model import Step
from xpusetup.config.profile import SourceComponent
from xpusetup.emit.image import PREFIX, DecidedImage, notes_of
from xpusetup.emit.image_system import Dialect
from xpusetup.emit.script import render_scripts, render_system
from xpusetup.emit.template import render_template
from xpusetup.machine.activation import render_activation
from xpusetup.machine.platforms import Manager
from xpusetup.plan.verify import describe_proof, verify_options

# Labels of an image: what it is, what it was made from, and the pins of all that is in it.


BASE = "${BASE}"
"""The one variable: a build may name another base."""
OF_BASE = "org.opencontainers.image.base.name"


def label_values(image: DecidedImage) -> dict[str, str]:
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


# The README of an image's folder: how it is built, run, and fed with what a place has of its own.


ENGINES: dict[Dialect, tuple[str, ...]] = {
    "buildkit": ("docker", "build"),
    "portable": ("buildah", "bud", "--isolation", "chroot"),
}


def render_readme(image: DecidedImage, *, apptainer: str = "") -> str:
    """Give the README of a Dockerfile's folder, or of the one of an Apptainer definition, by its file's name."""
    kit, arch = image.plan.target.toolkit, image.plan.target.arch
    contents = [*image.pins.items()]
    if kit is not None:
        contents.append((kit.product, f"{kit.version}{'' if image.toolkit_stays else ', on the build side alone'}"))
    contents += [("device targets", ", ".join(arch))] if arch else []
    contents.append(("environment", f"{PREFIX}/venv, Python {image.order.python}"))
    return render_template(
        "image/README.md",
        name=image.profile.name,
        system=image.system.name,
        summary=image.profile.summary,
        apptainer=apptainer,
        engine=ENGINES[image.order.dialect],
        device=image.profile.accelerator == "xpu",
        contents=contents,
        commands=image.order.target == "devel" and kit is not None,
        compiled=image.order.origin == "source",
        notes=notes_of(image),
    )


# Which step belongs to which part of an image: the order of a plan, cut where layers can stand beside each other.


@dataclass(frozen=True, kw_only=True)
class BuildSide:
    """The steps of the build side. `patched` are the components whose tree gets patches."""

    environment: tuple[Step, ...]
    sources: Mapping[str, tuple[Step, ...]]
    patched: frozenset[str]
    components: Mapping[str, tuple[Step, ...]]
    rest: tuple[Step, ...]

    @property
    def all(self) -> tuple[Step, ...]:
        """All of them, in the order of the plan as far as it matters."""
        parts = (self.environment, *self.sources.values(), *self.components.values(), self.rest)
        return tuple(step for part in parts for step in part)


def split_stages(image: DecidedImage) -> BuildSide:
    """Cut a plan: what fetches a tree waits for nothing; what needs a device cannot run while an image is built.

    Where nothing is compiled, one part is all there is.
    """
    steps = tuple(step for step in image.plan.steps if "device" not in step.needs)
    if image.order.origin == "wheels":
        return BuildSide(environment=(), sources={}, patched=frozenset(), components={}, rest=steps)
    sources = {step.component: (step,) for step in steps if step.component and not step.after}
    placed = {step.id for part in sources.values() for step in part}
    named = list(dict.fromkeys(step.component for step in steps if step.component))
    left = [step for step in steps if step.id not in placed]
    first = next(number for number, step in enumerate(left) if step.component)
    last = max(number for number, step in enumerate(left) if step.component)
    return BuildSide(
        environment=tuple(left[:first]),
        sources=sources,
        patched=frozenset(part.name for part in image.profile.components if part.kind == "source" and _patches(part)),
        components={name: tuple(step for step in left if step.component == name) for name in named},
        rest=tuple(left[last + 1 :]),
    )


def _patches(part: SourceComponent) -> bool:
    return bool(part.patches) or any(item.patches for item in part.vendored)


# What lies beside an image's recipe: the scripts for root, the entry point, and what git and docker need to know.


USER = 1001
"""The number of the user in an image: engines that forbid root look at the number, not at a name."""
CACHES: dict[Manager, tuple[str, ...]] = {
    "apt": ("/var/cache/apt", "/var/lib/apt/lists"),
    "dnf": ("/var/cache/dnf",),
    "zypper": ("/var/cache/zypp",),
}
"""Where package managers keep what they fetched."""


def render_around(image: DecidedImage) -> dict[str, str]:
    """Give all that an image's recipe copies, but for the helpers and the resolved profile."""
    found = {**render_scripts(image.plan), **_system(image), "entry.sh": render_entry(image)}
    target = image.plan.target
    if target.toolkit and not target.toolkit.made:
        toolkit = render_activation(target.toolkit)
        found["toolkit.sh"] = render_template("image/toolkit.sh", toolkit=toolkit, cc=target.cc, cxx=target.cxx)
    return found


def _system(image: DecidedImage) -> dict[str, str]:
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
    if kit and kit.at_run_time:
        found["system/libraries.sh"] = render_template("image/libraries.sh", prefix=PREFIX)
    return found


def render_entry(image: DecidedImage) -> str:
    """Give the script that an image begins with."""
    compiles = image.order.target == "devel" and image.plan.target.toolkit is not None
    options = (*verify_options(image.plan.target, image.profile), "--level", image.profile.verify_level)
    return render_template(
        "image/entry.sh",
        proof=describe_proof(image.plan.target.accelerator),
        prefix=PREFIX,
        options=options,
        compiles=compiles,
    )
