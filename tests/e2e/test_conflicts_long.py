"""All of Intel's runtime from the package index, in the versions of several releases: hundreds of MiB, not for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.environments import Place, Shop

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("conflicts_long")]
RUNTIMES = ("2025.3.1", "2026.0.0", "2026.1.0", "2026.2.0")
OLDER = ("2025.0.4", "2025.2.1")
OTHERS = ("umf==1.0.2", "umf==1.2.0", "tcmlib==1.6.0", "dpctl==0.22.1", "bitsandbytes==0.50.2")
LOADERS = (*RUNTIMES, *OLDER)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    sycl = (f"intel-sycl-rt=={version}" for version in RUNTIMES)
    loaders = (f"intel-cmplr-lib-ur=={version}" for version in LOADERS)
    return Shop.open(tmp_path_factory.mktemp("shop"), *sycl, *loaders, "intel-cmplr-lib-rt==2026.2.0", *OTHERS)


def make(shop: Shop, folder: Path, sycl: str, loader: str, *more: str) -> Place:
    place = Place.make(folder)
    return shop.install(place, f"intel-sycl-rt=={sycl}", f"intel-cmplr-lib-ur=={loader}", *more)


@pytest.mark.parametrize(
    ("sycl", "loader", "more"),
    [
        ("2025.3.1", "2025.3.1", ("umf==1.0.2",)),
        ("2026.0.0", "2026.0.0", ()),
        ("2026.1.0", "2026.1.0", ()),
        ("2026.2.0", "2026.2.0", ("umf==1.2.0", "tcmlib==1.6.0", "intel-cmplr-lib-rt==2026.2.0")),
        ("2026.2.0", "2026.2.0", ("dpctl==0.22.1", "intel-cmplr-lib-rt==2026.2.0")),
        ("2026.0.0", "2026.0.0", ("bitsandbytes==0.50.2",)),
        ("2025.3.1", "2025.3.1", ("bitsandbytes==0.50.2",)),
    ],
)
def test_what_belongs_together_is_not_told_of(
    shop: Shop, tmp_path: Path, sycl: str, loader: str, more: tuple[str, ...]
) -> None:
    assert make(shop, tmp_path / "env", sycl, loader, *more).look()["conflicts"] == []


@pytest.mark.parametrize("loader", ["2025.0.4", "2025.2.1", "2025.3.1"])
@pytest.mark.parametrize("sycl", ["2026.0.0", "2026.1.0"])
def test_an_older_loader_in_the_environment(shop: Shop, tmp_path: Path, sycl: str, loader: str) -> None:
    found = make(shop, tmp_path / "env", sycl, loader).look()["conflicts"]
    told = [one for one in found if one["library"].endswith("/libsycl.so.9")]
    kind, name = ("version", "LIBUR_LOADER_0.12") if loader == "2025.0.4" else ("symbol", "urDeviceWaitExp")
    assert [(one["kind"], one["level"]) for one in told] == [(kind, "fail")]
    assert name in told[0]["names"]
    assert told[0]["owners"] == {"library": f"intel-sycl-rt {sycl}", "first": f"intel-cmplr-lib-ur {loader}"}


@pytest.mark.parametrize("loader", ["2025.2.1", "2025.3.1"])
def test_an_older_loader_on_the_library_path(shop: Shop, tmp_path: Path, loader: str) -> None:
    place = make(shop, tmp_path / "env", "2026.1.0", "2026.1.0")
    other = shop.install(Place.make(tmp_path / "other"), f"intel-cmplr-lib-ur=={loader}")
    found = place.look(variable=str(other.lib))["conflicts"]
    told = next(one for one in found if one["library"].endswith("/libsycl.so.9"))
    assert (told["kind"], told["first"]) == ("symbol", f"{other.lib}/libur_loader.so.0")
    assert told["has"] == f"{place.lib}/libur_loader.so.0"


def test_a_runtime_with_the_loader_inside_does_not_mind(shop: Shop, tmp_path: Path) -> None:
    """Put an older loader before a libsycl that needs none: from 2026.2.0 on it has the loader inside."""
    place = make(shop, tmp_path / "env", "2026.2.0", "2026.2.0")
    other = shop.install(Place.make(tmp_path / "other"), "intel-cmplr-lib-ur==2025.3.1")
    found = place.look(variable=str(other.lib))["conflicts"]
    assert {(one["kind"], one["level"]) for one in found} == {("hidden", "warn")}


def test_the_other_major(shop: Shop, tmp_path: Path) -> None:
    place = make(shop, tmp_path / "env", "2025.3.1", "2025.3.1", "dpctl==0.22.1")
    found = place.look()["conflicts"]
    assert {(one["kind"], one["owners"]["library"], tuple(one["names"])) for one in found} == {
        ("majors", "dpctl 0.22.1", ("libsycl.so.9",))
    }
    other = make(shop, tmp_path / "other", "2026.0.0", "2026.0.0")
    offered = place.look(variable=str(other.lib))["conflicts"]
    assert ("offered", ["libsycl.so.9"]) in [(one["kind"], one["names"]) for one in offered]
