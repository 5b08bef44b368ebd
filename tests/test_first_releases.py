"""The first release of each part that serves a GPU: the table against the others, and what is looked up in it."""

from __future__ import annotations

import pytest

from data.texts import GPUS
from xpusetup.base.errors import UsageError
from xpusetup.machine.first_releases import FirstTable, parse_firsts
from xpusetup.recommend.machine import known

assert GPUS.firsts is not None
TABLE: FirstTable = GPUS.firsts
ENTRY = """
collected = 2026-11-23
[[family]]
families = ["bmg-g21"]
kernel = { first = "6.12", source = "https://example.org", confidence = "likely" }
"""


def test_the_families_are_those_of_the_gpus_each_once() -> None:
    named = [family for each in TABLE.family for family in each.families]
    assert sorted(named) == sorted(each.id for each in GPUS.families if each.accelerator == "xpu")


def test_platforms_say_the_same_of_releases() -> None:
    for platform in known().platforms.platform:
        for family in platform.families:
            release = TABLE.of_family(family, "torch")
            assert (release.first if release else None) == (platform.release.first if platform.release else None), (
                family
            )


def test_every_driver_has_its_build() -> None:
    assert all(each.driver is None or each.driver.build for each in TABLE.family)
    builds = [(pair.driver, pair.compiler) for pair in TABLE.pair]
    assert builds == sorted(builds)


def test_a_sycl_run_time_later_than_the_table_wants_the_last_driver_of_it() -> None:
    assert [
        found and found.build for found in (TABLE.driver_beside("2027.1.0", ""), TABLE.driver_beside("2024.1", ""))
    ] == [
        max(row.build for row in TABLE.sycl),
        None,
    ]


@pytest.mark.parametrize(
    ("families", "version", "newest"),
    [
        (["ubuntu", "debian"], "22.04", "6.8"),
        (["linuxmint", "ubuntu", "debian"], "21.3", "6.8"),
        (["proxmox", "debian"], "8.2", "6.14"),
        (["ubuntu"], "2", None),
        (["arch"], "", None),
    ],
)
def test_what_a_system_has(families: list[str], version: str, newest: str | None) -> None:
    found = TABLE.of_system(families, version)
    assert (found.newest if found else None) == newest


@pytest.mark.parametrize(
    ("image", "build"),
    [
        ("intel/oneapi-basekit:2023.2.1-devel-ubuntu22.04", 27191),
        ("docker.io/intel/oneapi-basekit:2024.1.0", 30508),
        ("intel/oneapi-basekit:2025.0.1", None),
        ("intel/oneapi-basekit:latest", None),
        ("somebody/else:1.0", None),
        ("", None),
    ],
)
def test_what_an_image_holds(image: str, build: int | None) -> None:
    found = TABLE.of_image(image)
    assert (found.build if found else None) == build


@pytest.mark.parametrize(
    ("build", "compiler"), [(30871, None), (31739, "1.0.17791"), (31740, "2.1"), (33578, "2.10"), (39122, "2.20")]
)
def test_the_compiler_that_a_driver_wants(build: int, compiler: str | None) -> None:
    found = TABLE.compiler_for(build)
    assert (found.compiler if found else None) == compiler


@pytest.mark.parametrize(("old", "new"), [('"6.12"', '"six"'), ('"likely"', '"sure"'), ("kernel =", "colour =")])
def test_a_wrong_table_is_refused(old: str, new: str) -> None:
    assert parse_firsts(ENTRY)
    with pytest.raises(UsageError):
        parse_firsts(ENTRY.replace(old, new))
