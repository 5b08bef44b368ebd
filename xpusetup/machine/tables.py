"""The tables of GPUs and of what is known not to work, each read once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from xpusetup.system.files import package_text

if TYPE_CHECKING:
    from xpusetup.machine.gpus import GpuTable, TargetCosts, TargetTable
    from xpusetup.machine.known_bad import KnownBad


@cache
def gpu_table() -> GpuTable:
    from xpusetup.machine.first_releases import parse_firsts  # noqa: PLC0415 - same
    from xpusetup.machine.gpus import parse_gpus  # noqa: PLC0415 - a build that is done asks for no table

    table = parse_gpus(package_text("data/gpus.toml"))
    return replace(table, firsts=parse_firsts(package_text("data/first_releases.toml")))


@cache
def target_table() -> TargetTable:
    from xpusetup.machine.gpus import parse_targets  # noqa: PLC0415 - same

    return parse_targets(package_text("data/targets.toml"))


@cache
def target_costs() -> TargetCosts:
    from xpusetup.machine.gpus import parse_costs  # noqa: PLC0415 - only who asks what a target costs needs it

    return parse_costs(package_text("data/target_costs.toml"))


@cache
def known_bad() -> tuple[KnownBad, ...]:
    from xpusetup.machine.known_bad import parse_known_bad  # noqa: PLC0415 - only who judges a machine needs it

    return parse_known_bad(package_text("data/known_bad.toml"))
