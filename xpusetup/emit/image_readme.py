"""The README of an image's folder: how it is built, run, and fed with what a place has of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.image import PREFIX, notes_of
from xpusetup.emit.words import markdown_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.emit.image import Image

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
        yield f"| oneAPI | {kit.version}{'' if image.toolkit_stays else ', on the build side alone'} |"
    if image.plan.target.arch:
        yield f"| device targets | {markdown_text(', '.join(image.plan.target.arch))} |"
    yield f"| environment | {PREFIX}/venv, Python {image.order.python} |\n"
    if image.order.target == "devel" and kit is not None:
        yield "`toolkit COMMAND` as the container's command runs it with the toolkit switched on.\n"
