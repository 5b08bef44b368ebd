"""The Apptainer form: the same scripts in one definition of two stages, of which the second is what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.image import PREFIX
from xpusetup.emit.image_files import render_around
from xpusetup.emit.image_labels import OF_BASE, label_values
from xpusetup.emit.image_readme import render_definition_readme
from xpusetup.emit.image_stages import split_stages
from xpusetup.emit.words import apptainer_text
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.emit.image import Image

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
    text = "\n".join([*_build(image), *_runtime(image)])
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


def _runtime(image: Image) -> Iterator[str]:
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
