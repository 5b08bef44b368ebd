"""emit, dockerfile: the steps of a build as files for elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import request as make_request
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import Result


def emit(
    kind: Annotated[str, typer.Argument(help="The form: shell, dockerfile, apptainer.")],
    out: options.OutFolder,
    profile: options.Profile = "",
    python: options.Python = "",
    rev: options.Rev = None,
    into: options.Into = "",
    only: options.Only = None,
    until: options.Until = "",
    arch: options.Arch = "auto",
    variables: options.Set = None,
    verify: options.Verify = "auto",
    system: options.ImageOs = "",
    target: options.ImageTarget = "",
    origin: options.ImageFrom = "",
    dialect: options.ImageDialect = "",
    base: options.ImageBase = "",
    driver: options.ImageDriver = "",
    pin: options.ImagePin = None,
    json: options.Json = False,
) -> None:
    """Write the same steps as files that need no xpusetup."""

    def work() -> Result:
        from xpusetup.commands.emitting import emit as make
        from xpusetup.commands.forms import Order

        request = make_request(only=only, until=until, arch=arch, variables=variables, verify=verify)
        where = make_where(profile=profile, root=out, python=python, into=into, rev=rev)
        told: dict[str, Any] = {"os": system, "target": target, "from": origin, "dialect": dialect}
        told |= {"base": base, "driver": driver, "pin": tuple(pin or ())}
        return make(kind, Order(places=(where,), request=request, options=told), out)

    finish("emit", work, json=json)


def dockerfile(
    out: options.OutFolder,
    profile: options.Profile = "",
    python: options.Python = "",
    rev: options.Rev = None,
    arch: options.Arch = "auto",
    variables: options.Set = None,
    system: options.ImageOs = "",
    target: options.ImageTarget = "",
    origin: options.ImageFrom = "",
    dialect: options.ImageDialect = "",
    base: options.ImageBase = "",
    driver: options.ImageDriver = "",
    pin: options.ImagePin = None,
    json: options.Json = False,
) -> None:
    """Write a container image's recipe with all that it copies: the same as emit dockerfile."""
    about = {"system": system, "target": target, "origin": origin, "dialect": dialect, "base": base, "driver": driver}
    where = {"profile": profile, "python": python, "rev": rev}
    emit("dockerfile", out, **where, arch=arch, variables=variables, **about, pin=pin, json=json)  # type: ignore[arg-type]
