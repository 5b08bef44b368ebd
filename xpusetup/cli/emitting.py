"""emit, dockerfile: the steps of a build as files for elsewhere."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import complete, options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import request as make_request
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.commands.result import Result


Kind = Annotated[
    str,
    typer.Argument(
        help="The form: shell, dockerfile, apptainer, slurm, module, github.", autocompletion=complete.forms
    ),
]
Label = Annotated[str, typer.Option("--label", help="github: the runners that build.")]
GpuLabel = Annotated[str, typer.Option("--gpu-label", help="github: the runners that have a device.")]
Extension = Annotated[str, typer.Option("--extension", help="github: your package, built against each.")]


def emit(
    kind: Kind,
    out: options.OutFolder,
    profile: options.Profiles = None,
    python: options.Pythons = None,
    rev: options.Rev = None,
    into: options.Into = "",
    only: options.Only = None,
    until: options.Until = "",
    arch: options.Archs = None,
    variables: options.Set = None,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    origin: options.From = "",
    system: options.ImageOs = "",
    target: options.ImageTarget = "",
    dialect: options.ImageDialect = "",
    base: options.ImageBase = "",
    driver: options.ImageDriver = "",
    pin: options.ImagePin = None,
    label: Label = "",
    gpu_label: GpuLabel = "",
    extension: Extension = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the same steps as files that need no xpusetup; several profiles, Pythons or lists of targets: a matrix."""
    profiles, pythons, archs = profile or [], python or [], arch or []
    told = _told(system, target, dialect, base, driver, pin) | {"profiles": profiles, "pythons": pythons}
    told |= {"archs": archs, "from": origin, "label": label, "gpu_label": gpu_label, "extension": extension}
    more: dict[str, Any] = {"until": until, "verify": verify, "require_hashes": require_hashes}

    def work() -> Result:
        from xpusetup.commands import emitting, forms

        request = make_request(only=only, arch=(archs or ["auto"])[0], variables=variables, **more)
        places = [make_where(profile=name, python=of, root=out, into=into, rev=rev) for name, of, _ in _matrix(told)]
        return emitting.emit(kind, forms.Order(places=tuple(places), request=request, options=told), out)

    finish("emit", work, json=json, quiet=quiet)


def _matrix(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    return product(*(told[name] or [""] for name in ("profiles", "pythons", "archs")))


def _told(system: str, target: str, dialect: str, base: str, driver: str, pin: list[str] | None) -> dict[str, Any]:
    """Give what was said of an image."""
    return {
        "os": system,
        "target": target,
        "dialect": dialect,
        "base": base,
        "driver": driver,
        "pin": tuple(pin or ()),
    }


def dockerfile(
    out: options.OutFolder,
    profile: options.Profile = "",
    python: options.Python = "",
    rev: options.Rev = None,
    arch: options.Arch = "auto",
    variables: options.Set = None,
    system: options.ImageOs = "",
    target: options.ImageTarget = "",
    origin: options.From = "",
    dialect: options.ImageDialect = "",
    base: options.ImageBase = "",
    driver: options.ImageDriver = "",
    pin: options.ImagePin = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a container image's recipe with all that it copies: the same as emit dockerfile."""
    about = {"system": system, "target": target, "origin": origin, "dialect": dialect, "base": base, "driver": driver}
    places: dict[str, Any] = {"profile": [profile] if profile else None, "python": [python] if python else None}
    archs = None if arch == "auto" else [arch]
    asked: dict[str, Any] = {**places, **about, "arch": archs, "rev": rev, "variables": variables, "pin": pin}
    emit("dockerfile", out, **asked, json=json, quiet=quiet)
