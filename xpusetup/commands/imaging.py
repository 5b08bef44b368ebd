"""Images of a plan: from the options of `emit` to a decided image, and the files of its form."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from xpusetup.commands.forms import FOLDER, Form
from xpusetup.commands.knowledge import image_table, known, target_table
from xpusetup.commands.locking import ensure_locked
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects.root import helper_files, lock_document
from xpusetup.emit.apptainer import FILE, render_apptainer
from xpusetup.emit.dockerfile import render_dockerfile
from xpusetup.emit.image import Image, make_image, notes_of
from xpusetup.emit.image_system import Described, ImageOrder
from xpusetup.errors import UsageError
from xpusetup.images import Dialect, Origin, Stage, parse_package_pins
from xpusetup.platforms import Line
from xpusetup.targets import check_targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.forms import Order

CHOICES: Mapping[str, tuple[str, ...]] = {
    "target": get_args(Stage),
    "from": get_args(Origin),
    "dialect": get_args(Dialect),
    "driver": ("", *get_args(Line)),
}
"""The words that an option takes, by its name."""


def emit_dockerfile(order: Order) -> Form:
    """Give a Dockerfile with all that it copies."""
    image = decide_image(order)
    engine = "docker build" if image.order.dialect == "buildkit" else "buildah bud --isolation chroot"
    return _form(image, render_dockerfile(image), f"{engine} -t {image.profile.name} {FOLDER}")


def emit_apptainer(order: Order) -> Form:
    """Give an Apptainer definition with all that it copies."""
    image = decide_image(order)
    name = f"{image.profile.name}.sif"
    return _form(image, render_apptainer(image), f"cd {FOLDER} && apptainer build {name} {FILE}")


def _form(image: Image, texts: Mapping[str, str], start: str) -> Form:
    """Add what travels with every form."""
    around = {
        **helper_files(image.profile),
        "profile.lock.json": lock_document(image.profile, image.plan.target, image.plan.layout, {}),
    }
    return Form(files={**around, **texts}, start=start, notes=notes_of(image))


def decide_image(order: Order) -> Image:
    """Decide what image is meant. Raises UsageError for one that cannot be."""
    if order.request.only or order.request.until:
        raise UsageError("an image holds the whole of a profile", fix="leave --only and --until out")
    workspace = ensure_locked(open_workspace(order.only_place), lambda _text: None)
    if workspace.layout.adopted:
        raise UsageError("an image has an environment of its own", fix="leave --into out")
    check_targets(workspace.profile, order.request.arch, workspace.settings, target_table())
    about = Described(known=known(), images=image_table(), device=workspace.device)
    return make_image(workspace.profile, order.request, make_image_order(order), about)


def make_image_order(order: Order) -> ImageOrder:
    """Read the options of an image. Raises UsageError for a word that means nothing."""
    told = {name: value for name, value in order.options.items() if value}
    for name, words in CHOICES.items():
        if (word := told.get(name, words[0])) not in words:
            raise UsageError(f"--{name} {word!r} means nothing", fix=f"one of {', '.join(filter(None, words))}")
    return ImageOrder(
        system=told.get("os", ImageOrder.system),
        target=told.get("target", ImageOrder.target),
        origin=told.get("from", ImageOrder.origin),
        dialect=told.get("dialect", ImageOrder.dialect),
        base=told.get("base", ""),
        python=order.only_place.python,
        line=told.get("driver"),
        pins=parse_package_pins(told.get("pin", ())),
    )
