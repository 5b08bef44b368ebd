"""The README of an image's folder: how it is built, run, and fed with what a place has of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.image import PREFIX, notes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.emit.image import Image

SECRETS = """
A place that reaches its sources by mirrors, a package index or a CA of its own says so in files that are mounted while
something is fetched, and are in no layer: pip's settings, git's settings (`url.<mirror>.insteadOf`, `http.sslCAInfo`), a
CA file that both may name as `/run/secrets/ca.crt`.

    {build} --secret id=pip.conf,src=pip.conf --secret id=gitconfig,src=gitconfig --secret id=ca.crt,src=ca.crt .

Proxies are build arguments that every engine knows: `--build-arg https_proxy=http://proxy:3128`.
"""
DEVICES = """
    docker run --rm --device /dev/dri --group-add "$(stat -c %g /dev/dri/renderD128)" {tag}

The number of the group that owns the device differs from host to host, so no image can hold it. Without a device,
`verify` ends with 4 and says so.
"""


def render_readme(image: Image) -> str:
    """Give the README of a Dockerfile's folder."""
    return "\n".join(_lines(image)).replace("\n\n\n", "\n\n") + "\n"


def _lines(image: Image) -> Iterator[str]:
    profile, tag = image.profile, image.profile.name
    engine = "docker build" if image.order.dialect == "buildkit" else "buildah bud --isolation chroot"
    yield f"# {profile.name} on {image.system.name}\n"
    yield f"{profile.summary}. Written by xpusetup; this folder is all that a build needs.\n"
    yield f"    {engine} -t {tag} ."
    yield DEVICES.format(tag=tag) if profile.accelerator == "xpu" else f"    docker run --rm {tag}\n"
    yield from _contents(image)
    yield "## What a place has of its own"
    yield SECRETS.format(build=engine)
    yield "Another base image of the same system: `--build-arg BASE=registry.example/ubuntu:24.04`.\n"
    yield "## Worth knowing\n"
    yield from (f"- {note}" for note in notes_of(image))
    yield "- steps that compile, as in `steps/`, are layers: a build that failed goes on at the layer that failed"
    yield "- `numpy` is kept because torch hands arrays over to it, though it does not require it"


def _contents(image: Image) -> Iterator[str]:
    yield "| in it | |\n|---|---|"
    yield from (f"| {name} | {pin} |" for name, pin in image.pins.items())
    kit = image.plan.target.toolkit
    if kit is not None:
        yield f"| oneAPI | {kit.version}{'' if image.toolkit_stays else ', on the build side alone'} |"
    if image.plan.target.arch:
        yield f"| device targets | {', '.join(image.plan.target.arch)} |"
    yield f"| environment | {PREFIX}/venv, Python {image.order.python} |\n"
    if image.order.origin == "source":
        out = "docker build --target wheels --output type=local,dest=wheels ."
        yield f"The wheels alone: `{out}`\n"
    if image.order.target == "devel" and kit is not None:
        yield "`toolkit COMMAND` as the container's command runs it with the toolkit switched on.\n"
