"""The table of accelerators: what is in it, what it is found by, and what its reader refuses."""

from __future__ import annotations

import pytest
from packaging.version import Version

from data.profiles import SHIPPED, shipped
from xpusetup.base.errors import UsageError
from xpusetup.machine.gpus import parse_gpus
from xpusetup.machine.tables import gpu_table
from xpusetup.recommend.machine import known

FAMILY = """\
collected = 2026-11-21
[[family]]
id = "one"
name = "One"
vendor = "8086"
accelerator = "xpu"
architecture = "Xe"
discrete = true
unnamed = ["0001"]
source = "made up"
confidence = "confirmed"
"""


@pytest.mark.parametrize(
    ("vendor", "device", "title", "family"),
    [
        ("8086", "e20b", "Arc B580 (Battlemage)", "bmg-g21"),
        ("8086", "e223", "Arc Pro B70 (Battlemage)", "bmg-g31"),
        ("8086", "0bd5", "Data Center GPU Max 1550 (Ponte Vecchio)", "pvc"),
        ("8086", "6420", "Intel Graphics (Lunar Lake)", "lnl-m"),
        ("8086", "e202", "Intel GPU (Battlemage)", "bmg-g21"),
        ("8086", "b080", "Arc B390 (Panther Lake-H)", "ptl-h"),
        ("1da3", "1020", "Gaudi2", "gaudi2"),
        ("19e5", "d802", "Ascend 910B", "ascend-910"),
    ],
)
def test_titles(vendor: str, device: str, title: str, family: str) -> None:
    found = gpu_table().find(vendor, device)
    assert found is not None
    assert (found.title(), found.family.id) == (title, family)


def test_what_is_not_there() -> None:
    assert gpu_table().find("8086", "ffff") is None
    assert gpu_table().find("10de", "e20b") is None


def test_native_fp64_is_never_guessed() -> None:
    found = {family.id: family.native_fp64 for family in gpu_table().families}
    assert (found["pvc"], found["dg2-g10"], found["ptl-h"]) == (True, False, None)


def test_every_target_of_a_release_is_the_name_of_a_family() -> None:
    spellings = {target for family in gpu_table().families for target in family.targets}
    for profile in map(shipped, SHIPPED):
        assert set(profile.arch.default if profile.arch else ()) <= spellings, profile.name


def test_every_family_has_a_platform_or_a_way_of_its_own() -> None:
    table = known().platforms
    lost = [each.id for each in gpu_table().families if not (table.of_family(each.id) or table.elsewhere_for(each.id))]
    assert not lost
    families = {family.id for family in gpu_table().families}
    named = [name for each in table.platform for name in each.families]
    named += [name for each in table.elsewhere for name in each.families]
    assert set(named) <= families
    assert len(named) == len(set(named)), "a family stands in two places"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("discrete", "discreet", "family.One.discrete: is missing"),
        ('"0001"', '"1"', "family.One.unnamed.0: must be four"),
        ("2026-11-21", '"yesterday"', "collected: must be a valid date"),
        ("[[family]]", "[[family", "gpus.toml is not TOML"),
        ('"0001"', '"0001", "0001"', "gpus.toml: 8086:0001 stands in one and in one"),
    ],
)
def test_a_table_that_is_wrong(old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gpus(FAMILY.replace(old, new))
    assert message in caught.value.message


def test_a_platform_may_be_of_ids_within_a_family() -> None:
    table = known().platforms
    flex, arc = table.of_device("56c0", "dg2-g10"), table.of_device("56a0", "dg2-g10")
    assert flex is not None
    assert arc is not None
    assert (flex.name, flex.line, flex.drivers) == ("Data Center GPU Flex", "data-center", ["i915"])
    assert (arc.name, arc.line) == ("Arc A series", "client")
    firsts = gpu_table().firsts
    big = firsts.of_family("bmg-g31", "kernel") if firsts else None
    assert big is not None
    assert Version(big.first) > Version("6.12")


@pytest.mark.parametrize(
    ("families", "version", "name", "lines"),
    [
        (["arch"], None, "arch", {"client"}),
        (["debian"], None, "debian-sid", {"client"}),
        (["debian"], "13", "debian-13", set()),
        (["rhel", "fedora"], "8.10", "rhel-8", {"data-center"}),
        (["almalinux", "rhel"], "10.0", "rhel-10", {"data-center"}),
        (["ubuntu", "debian"], "26.04", "ubuntu-26.04", {"client"}),
        (["ubuntu", "debian"], "25.04", "ubuntu-25.10", {"client"}),
        (["fedora"], "44", "fedora", {"client"}),
        (["opensuse-leap", "suse", "opensuse"], "16.0", "opensuse-leap-16", {"client"}),
        (["opensuse-leap", "suse", "opensuse"], "15.6", "opensuse-leap-15", set()),
        (["opensuse-tumbleweed", "opensuse", "suse"], "20261101", "opensuse-tumbleweed", {"client"}),
        # numbers of their own: by name, or by what only rolls
        (["linuxmint", "ubuntu", "debian"], "21.3", "ubuntu-22.04", {"client", "data-center"}),
        (["linuxmint", "ubuntu", "debian"], "22.2", "ubuntu-24.04", {"client", "data-center"}),
        (["linuxmint", "debian"], "7", "debian-13", set()),
        (["zorin", "ubuntu", "debian"], "17.3", "ubuntu-22.04", {"client", "data-center"}),
        (["pop", "ubuntu", "debian"], "24.04", "ubuntu-24.04", {"client", "data-center"}),
        (["manjaro", "arch"], "25.0.10", "arch", {"client"}),
        (["endeavouros", "arch"], "2025.11.24", "arch", {"client"}),
        (["arch"], "rolling", "arch", {"client"}),
    ],
)
def test_where_a_distribution_has_drivers_from(
    families: list[str], version: str | None, name: str, lines: set[str]
) -> None:
    found = known().distributions.find(families, version)
    assert found is not None
    assert (found.id, set(found.drivers)) == (name, lines)


@pytest.mark.parametrize(
    ("families", "version"),
    [
        (["amzn", "fedora"], "2023"),  # made from Fedora, and its archive has none of these packages
        (["ol", "fedora"], "9.6"),
        (["rhel", "fedora"], "7.9"),
        (["ubuntu", "debian"], "18.04"),
        (["alpine"], "3.22.2"),
        (["kali", "debian"], "2026.3"),
        ([], None),
    ],
)
def test_a_distribution_whose_packages_are_not_known(families: list[str], version: str | None) -> None:
    assert known().distributions.find(families, version) is None


def test_both_tables_tell_of_the_same_kernels() -> None:
    firsts = gpu_table().firsts
    assert firsts is not None
    for each in known().distributions.distribution:
        system = firsts.of_system([each.family], each.version)
        if each.kernel and system and system.newest:
            assert (each.id, each.kernel.version) == (each.id, system.newest)


def test_what_a_distribution_has_itself_needs_no_repository() -> None:
    table = known().distributions
    own = {each.id for each in table.distribution for line in each.drivers.values() if not line.prepare}
    suse = {"opensuse-leap-16", "opensuse-tumbleweed"}
    assert own == {"ubuntu-26.04", "debian-sid", "arch", "fedora", *suse}
    sles = next(each for each in table.distribution if each.id == "sles-15")
    assert "15.7" not in sles.drivers["client"].releases
    assert "15.7" in sles.releases


@pytest.mark.parametrize(
    ("device", "words"),
    [("7d45", {"mtl-m", "mtl-s"}), ("7dd5", {"mtl-p", "mtl-m"}), ("7d67", {"mtl-s"}), ("7d41", {"mtl-m"})],
)
def test_meteor_lake_by_all_its_names(device: str, words: set[str]) -> None:
    """Ocloc 26.27 has them for the same versions as mtl-u and mtl-h (`ocloc query SUPPORTED_DEVICES -concat`)."""
    product = gpu_table().find("8086", device)
    assert product is not None
    assert words <= set(product.family.targets)
