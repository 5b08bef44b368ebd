"""The recipes of images: Dockerfiles, whose layers are the resume, and Apptainer definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT
from xpusetup.base.text import apptainer_text, comment
from xpusetup.emit.image import PREFIX
from xpusetup.emit.image_files import (
    CACHES,
    IGNORED,
    OF_BASE,
    USER,
    Built,
    label_values,
    labels_of,
    render_around,
    render_definition_readme,
    render_readme,
    split_stages,
)
from xpusetup.plan.about import ABOUT
from xpusetup.plan.context import HELPER_KINDS, HELPER_LIBRARY
from xpusetup.plan.requirements import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xpusetup.base.model import Step
    from xpusetup.emit.image import Image


# The Apptainer form: the same scripts in one definition of two stages, of which the second is what is kept.


FILE = "xpusetup.def"
HEAD = """Bootstrap: {{{{ BOOTSTRAP }}}}
From: {{{{ BASE }}}}
Stage: {stage}
"""
ARGUMENTS = """
%arguments
    BOOTSTRAP=docker
    BASE={base}
"""
SETUP = """
%setup
    mkdir -p "$APPTAINER_ROOTFS/run/secrets"
    touch "$APPTAINER_ROOTFS/etc/pip.conf" "$APPTAINER_ROOTFS/etc/gitconfig" "$APPTAINER_ROOTFS/run/secrets/ca.crt"
"""
"""Files can be mounted only where there is one already, and a build mounts the same in both stages."""


def render_apptainer(image: Image) -> dict[str, str]:
    """Give the folder of an Apptainer image, but for helpers and the resolved profile.

    Raises UsageError for an image to compile in: a definition keeps its last stage alone.
    """
    if image.order.target == "devel":
        fix = "leave --target out; what builds in any container: xpusetup emit shell --out DIR"
        raise UsageError("an Apptainer image holds what runs, and nothing to compile with", fix=fix)
    text = "\n".join([*_build(image), *_definition_runtime(image)])
    return {**render_around(image), "README.md": render_definition_readme(image, FILE), FILE: f"{text}\n"}


def _build(image: Image) -> Iterator[str]:
    yield f"# {apptainer_text(f'{image.profile.name} on {image.system.name}')}. README.md says how to build and run it."
    yield HEAD.format(stage="build") + ARGUMENTS.format(base=image.base) + SETUP
    yield "%files"
    yield from (f"    {name} {PREFIX}/{name}" for name in ("steps", "helpers", "system"))
    if image.plan.target.toolkit is not None:
        yield f"    toolkit.sh {PREFIX}/toolkit.sh"
    yield f"\n%post -c /bin/bash\n    set -eu\n    cd {PREFIX}"
    parts = {"build": True, "driver": image.sides.driver, "toolkit": image.sides.toolkit}
    yield from (f"    bash system/{name}.sh" for name, steps in parts.items() if steps)
    memory = round(image.profile.memory_per_job_gib * 1024)
    for step in split_stages(image).all:
        yield f"    bash helpers/image_layer.sh {step.id}{f' {memory}' if 'compiler' in step.needs else ''}"
    kept = " ".join(name for name in image.distributions if name != "numpy")
    yield f"    venv/bin/python helpers/keep_closure.py {kept} --if-there numpy\n"


def _definition_runtime(image: Image) -> Iterator[str]:
    yield HEAD.format(stage="runtime") + ARGUMENTS.format(base=image.base) + SETUP
    yield "%files from build"
    copied = ["venv", "results", "helpers", "system", *(["toolkit.sh"] if image.plan.target.toolkit else [])]
    yield from (f"    {PREFIX}/{name} {PREFIX}/{name}" for name in copied)
    yield "\n%files"
    yield from (f"    {name} {PREFIX}/{name}" for name in ("entry.sh", "profile.lock.json"))
    yield f"\n%post -c /bin/bash\n    set -eu\n    cd {PREFIX}\n    bash system/runtime.sh"
    if image.toolkit_stays:
        yield "    bash system/toolkit.sh\n    bash system/libraries.sh"
    yield f'\n%environment\n    export PATH="{PREFIX}/venv/bin:$PATH"'
    yield f'\n%runscript\n    exec {PREFIX}/entry.sh "$@"'
    yield f'\n%test\n    {PREFIX}/venv/bin/python -c "import torch; print(torch.__version__)"'
    yield "\n%labels"
    yield from (f"    {name} {apptainer_text(text)}" for name, text in label_values(image).items() if name != OF_BASE)
    yield f"\n%help\n    {apptainer_text(image.profile.summary)}.\n    Without a command it verifies what is in it."


# The Dockerfile form: each step is a layer of its own stage, so that the layer cache is the resume.


CA = {"ca.crt": "/run/secrets/ca.crt"}
OF_PACKAGES = {"pip.conf": "/etc/pip.conf"}
OF_TREES = {"gitconfig": "/etc/gitconfig"}
"""What a place has of its own, mounted while a step fetches, so that no layer and no history holds it."""
PACKAGES = {"pip": "/root/.cache/pip"}
TREES = {"xpusetup-git": "/root/.cache/xpusetup"}
OF_A_SOURCE = ("src", "stamps", "steps")
"""What a build takes from a tree's stage: it states by which scripts the tree came."""
COMPILED = {"ccache": "/root/.cache/ccache"}
HELPERS = "\n".join(
    (
        f"COPY {' '.join(f'helpers/*{kind}' for kind in HELPER_KINDS)} helpers/",
        f"COPY helpers/{HELPER_LIBRARY}/ helpers/{HELPER_LIBRARY}/",
    )
)


@dataclass(frozen=True)
class Writer:
    """How one dialect writes what differs: cache mounts that may be shared, and layers without a network."""

    image: Image

    @property
    def buildkit(self) -> bool:
        """Whether this is for BuildKit; buildah 1.28 knows less."""
        return self.image.order.dialect == "buildkit"

    def root(self, script: str) -> str:
        """Give the layer that runs a script for root."""
        system = self.image.system
        mounts = {f"{system.id}{target.replace('/', '-')}": target for target in CACHES[system.manager]}
        return self._run(self._caches(mounts, locked=True), f"bash system/{script}.sh")

    def step(self, step: Step) -> str:
        """Give the layer of a step."""
        compiles, fetches = "compiler" in step.needs, "network" in step.needs
        cached, told = (TREES, OF_TREES) if fetches and not step.after else (PACKAGES, OF_PACKAGES)
        if any(word.startswith("index:") for argv in step.run for word in argv):
            told = {**told, **OF_PACKAGES}
        mounts = [*self._caches(COMPILED if compiles else {}), *self._caches(cached if fetches else {})]
        secrets = [f"--mount=type=secret,id={name},target={target}" for name, target in {**told, **CA}.items()]
        memory = f" {round(self.image.profile.memory_per_job_gib * 1024)}" if compiles else ""
        words = [*mounts, *(secrets if fetches else self.offline())]
        named = (word for argv in step.run for word in argv if word.startswith(f"{ROOT}/{FOLDER}/"))
        listed = [f"COPY {name.removeprefix(f'{ROOT}/')} {FOLDER}/" for name in dict.fromkeys(named)]
        states = any(word == f"{ROOT}/helpers/collect_wheel.py" for argv in step.run for word in argv)
        about = (
            [f"COPY {ABOUT} helpers/"] if states else []
        )  # here alone: it changes with addresses, and no other reads it
        copied = "\n".join((f"COPY steps/{step.id}.sh steps/", *listed, *about))
        return f"{copied}\n{self._run(words, f'bash helpers/image_layer.sh {step.id}{memory}')}"

    def offline(self) -> list[str]:
        """Give the option that takes the network away, where the dialect has one."""
        return ["--network=none"] if self.buildkit else []

    def _caches(self, mounts: dict[str, str], *, locked: bool = False) -> list[str]:
        sharing = ",sharing=locked" if locked and self.buildkit else ""
        return [f"--mount=type=cache,id={name},target={target}{sharing}" for name, target in mounts.items()]

    @staticmethod
    def _run(options: Iterable[str], command: str) -> str:
        return " \\\n    ".join([" ".join(["RUN", *list(options)[:1]]), *list(options)[1:], command])


def render_dockerfile(image: Image) -> dict[str, str]:
    """Give the folder of an image: the Dockerfile, and what it copies, but for helpers and the resolved profile."""
    text = "\n".join(_lines(image, Writer(image)))
    around = {".dockerignore": IGNORED, "README.md": render_readme(image)}
    return {**render_around(image), **around, "Dockerfile": f"{text}\n"}


def _lines(image: Image, writer: Writer) -> Iterator[str]:
    # The first line decides: below one that is no directive, BuildKit takes none (`# syntax=`) any more.
    what = comment(f"{image.profile.name} on {image.system.name}")
    yield f"# Written by xpusetup: {what}. README.md says how to build and run it."
    yield f"# {comment(image.profile.summary)}"
    yield f"ARG BASE={image.base}"
    built = split_stages(image)
    yield from _system_stages(image, writer)
    yield from _source_stages(writer, built)
    yield from _build_stages(image, writer, built)
    yield from _wheels(image)
    yield from _last(image, writer)


def _system_stages(image: Image, writer: Writer) -> Iterator[str]:
    yield "\nFROM ${BASE} AS os"
    yield f"WORKDIR {PREFIX}"
    yield "COPY system/build.sh system/"
    yield writer.root("build")
    if image.sides.driver or image.sides.toolkit:
        yield "\nFROM os AS toolkit"
        for name, steps in {"driver": image.sides.driver, "toolkit": image.sides.toolkit}.items():
            if steps:
                yield f"COPY system/{name}.sh system/\n{writer.root(name)}"


def _source_stages(writer: Writer, built: Built) -> Iterator[str]:
    """Give one stage for each tree: they wait for nothing but the system, and fetch beside each other."""
    for name, steps in built.sources.items():
        yield f"\nFROM os AS source-{name}"
        yield HELPERS
        yield from (f"COPY helpers/{folder}/ helpers/{folder}/" for folder in built.packaged.get(name, ()))
        yield from map(writer.step, steps)


def _build_stages(image: Image, writer: Writer, built: Built) -> Iterator[str]:
    if not built.environment:
        yield f"\nFROM os AS built\n{HELPERS}"
        yield from map(writer.step, built.rest)
        return
    yield f"\nFROM os AS environment\n{HELPERS}"
    yield from map(writer.step, built.environment)
    with_toolkit = bool(image.sides.driver or image.sides.toolkit)
    before = "toolkit" if with_toolkit else "environment"
    for number, (name, steps) in enumerate(built.components.items()):
        yield f"\nFROM {before} AS build-{name}"
        if with_toolkit and number == 0:
            yield f"COPY --from=environment {PREFIX}/ ./"
        if name in built.sources:
            yield from (f"COPY --from=source-{name} {PREFIX}/{folder}/ {folder}/" for folder in OF_A_SOURCE)
        yield from map(writer.step, steps)
        before = f"build-{name}"
    yield f"\nFROM {before} AS built"
    yield from map(writer.step, built.rest)


def _wheels(image: Image) -> Iterator[str]:
    """Give the stage that is nothing but the wheels: `--target wheels --output DIR` takes them out."""
    if image.order.origin == "source":
        yield f"\nFROM scratch AS wheels\nCOPY --from=built {PREFIX}/wheels/ /"


def _last(image: Image, writer: Writer) -> Iterator[str]:
    if image.order.target == "devel":
        yield from _devel(image, writer)
    else:
        yield from _runtime(image, writer)
    yield "COPY entry.sh profile.lock.json ./"
    yield f"ENV PATH={PREFIX}/venv/bin:${{PATH}} HOME=/home/xpu LOGNAME=xpu"
    yield "ARG BASE"
    yield from labels_of(image)
    yield f"USER {USER}"
    yield "WORKDIR /home/xpu"
    yield f'ENTRYPOINT ["{PREFIX}/entry.sh"]'
    yield f'CMD ["{"bash" if image.order.target == "devel" else "verify"}"]'


def _runtime(image: Image, writer: Writer) -> Iterator[str]:
    """Give the image that people run: the base, the driver's libraries, the wheels and what they require."""
    yield "\nFROM built AS closure"
    kept = " ".join(name for name in image.distributions if name != "numpy")
    clean = f"venv/bin/python helpers/keep_closure.py {kept} --if-there numpy"
    yield " \\\n    ".join([" ".join(["RUN", *writer.offline()]), clean])
    yield "\nFROM ${BASE} AS runtime"
    yield f"WORKDIR {PREFIX}"
    yield f"COPY system/runtime.sh system/\n{writer.root('runtime')}"
    if image.toolkit_stays:
        yield f"COPY system/toolkit.sh system/\n{writer.root('toolkit')}"
        yield from _libraries(image)
    yield f"COPY --from=closure {PREFIX}/venv/ venv/\nCOPY --from=closure {PREFIX}/results/ results/"
    yield HELPERS


def _devel(image: Image, writer: Writer) -> Iterator[str]:
    """Give the image for who compiles extensions: all that the build had, but for the sources."""
    kit = image.sides.driver or image.sides.toolkit
    yield f"\nFROM {'toolkit' if kit else 'os'} AS devel"
    yield f"COPY system/runtime.sh system/\n{writer.root('runtime')}"
    for folder in ("venv", "wheels", "results"):
        yield f"COPY --from=built {PREFIX}/{folder}/ {folder}/"
    yield HELPERS
    yield from _libraries(image)


def _libraries(image: Image) -> Iterator[str]:
    """Give what activates the toolkit; where the wheels bring no runtime, the linker learns where its libraries lie."""
    kit = image.plan.target.toolkit
    if kit is not None:
        yield "COPY toolkit.sh ./"
    if kit is not None and kit.at_run_time:
        yield "COPY system/libraries.sh system/\nRUN bash system/libraries.sh"
