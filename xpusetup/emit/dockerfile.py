"""The recipes of images: Dockerfiles, whose layers are the resume, and Apptainer definitions."""

from collections.abc import Iterator
from dataclasses import dataclass

from xpusetup.base.command import Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Step
from xpusetup.emit.image import PREFIX, DecidedImage
from xpusetup.emit.image_files import (
    CACHES,
    OF_BASE,
    USER,
    BuildSide,
    label_values,
    render_around,
    render_readme,
    split_stages,
)
from xpusetup.emit.template import render_template
from xpusetup.plan.context import FOLDER as PATCHES
from xpusetup.plan.requirements import ABOUT, FOLDER

# The Apptainer form: the same scripts in one definition of two stages, of which the second is what is kept.


FILE = "xpusetup.def"


def render_apptainer(image: DecidedImage) -> dict[str, str]:
    """Give the folder of an Apptainer image, but for helpers and the resolved profile.

    Raises UsageError for an image to compile in: a definition keeps its last stage alone.
    """
    if image.order.target == "devel":
        message = "an Apptainer image holds what runs, and nothing to compile with"
        fix = "leave --target out; what builds in any container: "
        raise UsageError(message, fix=fix, command=Command("xpusetup emit shell --out DIR", gaps=("DIR",)))
    parts = {"build": True, "driver": image.sides.driver, "toolkit": image.sides.toolkit}
    text = render_template(
        "image/xpusetup.def",
        what=f"{image.profile.name} on {image.system.name}",
        summary=image.profile.summary,
        base=image.base,
        prefix=PREFIX,
        kit=image.plan.target.toolkit is not None,
        toolkit=image.toolkit_stays,
        system=[name for name, steps in parts.items() if steps],
        python=image.plan.target.python,
        layers=[run_layer(image, step) for step in split_stages(image).all],
        closure=keep_closure(image),
        labels={name: value for name, value in label_values(image).items() if name != OF_BASE},
    )
    return {**render_around(image), "README.md": render_readme(image, apptainer=FILE), FILE: text}


def run_layer(image: DecidedImage, step: Step) -> tuple[str, ...]:
    """Give the command that runs a step while an image is built; what compiles is told what a job takes of memory."""
    memory = (str(round(image.profile.memory_per_job_gib * 1024)),) if "compiler" in step.needs else ()
    return "bash", "helpers/image_layer.sh", step.id, *memory


def keep_closure(image: DecidedImage) -> tuple[str, ...]:
    """Give the command that leaves nothing in the environment but what the image is for, and what that requires."""
    kept = (name for name in image.distributions if name != "numpy")
    return "venv/bin/python", "helpers/keep_closure.py", *kept, "--if-there", "numpy"


# The Dockerfile form: each step is a layer of its own stage, so that the layer cache is the resume.


CA = {"ca.crt": "/run/secrets/ca.crt"}
OF_PACKAGES = {"pip.conf": "/etc/pip.conf"}
OF_TREES = {"gitconfig": "/etc/gitconfig"}
"""What a place has of its own, mounted while a step fetches, so that no layer and no history holds it."""
PACKAGES = {"pip": "/root/.cache/pip"}
TREES = {"xpusetup-git": "/root/.cache/xpusetup"}
COMPILED = {"ccache": "/root/.cache/ccache"}


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer of an image: files that are copied for it, each with its folder, and a command with options of RUN."""

    copied: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...]
    command: tuple[str, ...]


@dataclass(frozen=True)
class Writer:
    """How one dialect writes what differs: cache mounts that may be shared, and layers without a network."""

    image: DecidedImage

    @property
    def buildkit(self) -> bool:
        """Whether this is for BuildKit; buildah 1.28 knows less."""
        return self.image.order.dialect == "buildkit"

    def root(self, script: str) -> Layer:
        system = self.image.system
        mounts = {f"{system.id}{target.replace('/', '-')}": target for target in CACHES[system.manager]}
        file = f"system/{script}.sh"
        return Layer(copied=((file, "system"),), options=self._caches(mounts, locked=True), command=("bash", file))

    def step(self, step: Step) -> Layer:
        compiles, fetches = "compiler" in step.needs, "network" in step.needs
        cached, told = (TREES, OF_TREES) if fetches and not step.after else (PACKAGES, OF_PACKAGES)
        words = [word for argv in step.run for word in argv]
        if any(word.startswith("index:") for word in words):
            told = {**told, **OF_PACKAGES}
        mounts = (*self._caches(COMPILED if compiles else {}), *self._caches(cached if fetches else {}))
        secrets = tuple(f"--mount=type=secret,id={name},target={target}" for name, target in {**told, **CA}.items())
        listed = dict.fromkeys(word.removeprefix(f"{ROOT}/") for word in words if word.startswith(f"{ROOT}/{FOLDER}/"))
        # what states origins: here alone, it changes with addresses, and no other reads it
        about = ((ABOUT, "helpers"),) if f"{ROOT}/helpers/collect_wheel.py" in words else ()
        return Layer(
            copied=((f"steps/{step.id}.sh", "steps"), *((name, FOLDER) for name in listed), *about),
            options=(*mounts, *(secrets if fetches else self.offline())),
            command=run_layer(self.image, step),
        )

    def offline(self) -> tuple[str, ...]:
        """Give the option that takes the network away, where the dialect has one."""
        return ("--network=none",) if self.buildkit else ()

    def _caches(self, mounts: dict[str, str], *, locked: bool = False) -> tuple[str, ...]:
        sharing = ",sharing=locked" if locked and self.buildkit else ""
        return tuple(f"--mount=type=cache,id={name},target={target}{sharing}" for name, target in mounts.items())


def render_dockerfile(image: DecidedImage) -> dict[str, str]:
    """Give the folder of an image: the Dockerfile, and what it copies, but for helpers and the resolved profile."""
    around = {".dockerignore": render_template("image/dockerignore"), "README.md": render_readme(image)}
    return {**render_around(image), **around, "Dockerfile": _recipe(image, Writer(image))}


def _recipe(image: DecidedImage, writer: Writer) -> str:
    kit, built = image.plan.target.toolkit, split_stages(image)
    host = {"driver": image.sides.driver, "toolkit": image.sides.toolkit}
    return render_template(
        "image/Dockerfile",
        what=f"{image.profile.name} on {image.system.name}",
        summary=image.profile.summary,
        base=image.base,
        prefix=PREFIX,
        user=USER,
        patches=PATCHES,
        build=writer.root("build"),
        host=[writer.root(name) for name, steps in host.items() if steps],
        sources=[
            {"name": name, "patched": name in built.patched, "layers": [*map(writer.step, steps)]}
            for name, steps in built.sources.items()
        ],
        environment=[*map(writer.step, built.environment)],
        components=list(_components(image, writer, built)),
        rest=[*map(writer.step, built.rest)],
        compiled=image.order.origin == "source",
        devel=image.order.target == "devel",
        closure=Layer(options=writer.offline(), command=keep_closure(image)),
        runtime=writer.root("runtime"),
        toolkit=writer.root("toolkit") if image.toolkit_stays else None,
        linked=kit is not None and kit.at_run_time,
        labels=label_values(image),
        of_base=OF_BASE,
    )


def _components(image: DecidedImage, writer: Writer, built: BuildSide) -> Iterator[dict[str, object]]:
    """Give the stage of each component, after that of the one before it."""
    before = "toolkit" if image.sides.driver or image.sides.toolkit else "environment"
    for number, (name, steps) in enumerate(built.components.items()):
        layers = [*map(writer.step, steps)]
        fetched = name in built.sources
        yield {"name": name, "before": before, "first": number == 0, "fetched": fetched, "layers": layers}
        before = f"build-{name}"
