"""A stand-in of torch, compiled with SYCL from the true wheels by the true driver, where no oneAPI is."""

import zipfile
from pathlib import Path

import pytest

from standins.eras import Eras

pytestmark = pytest.mark.e2e
NEW = pytest.param("torch-2.14", marks=pytest.mark.xdist_group("eras-2.14"))


@pytest.mark.long
@pytest.mark.parametrize("name", [NEW])
def test_a_build_without_oneapi(eras: Eras, name: str, tmp_path: Path) -> None:
    stand, root = eras.stand(name), tmp_path / "root"
    words = ("--only", "torch", "--toolkit", "wheels", "--arch", "none")
    built = stand.build(root, *words, ONEAPI_ROOT="")
    assert {"toolkit", "torch.configure", "torch.build"} <= {*built.result["ran"]}
    checks = built.read("results/torch.inspect.json")["checks"]
    assert ("wheel.xpu", "ok") in [(check["id"], check["level"]) for check in checks]
    home = root / "toolkit"
    lib = home / "lib"
    assert len({(lib / each).stat().st_ino for each in ("libsycl.so", "libsycl.so.9", "libsycl.so.9.0.0")}) == 1
    taken = sum(path.lstat().st_size for path in home.rglob("*") if not path.is_symlink() and path.is_file())
    assert taken < 800 << 20, "each library is there once"
    log = (root / "logs/torch.configure.log").read_text()
    assert f"{home}/bin/ic" in log
    (wheel,) = (each for each in built.result["wheels"] if each["name"] == "torch")
    with zipfile.ZipFile(wheel["path"]) as archive:
        metadata = next(archive.read(each).decode() for each in archive.namelist() if each.endswith("/METADATA"))
    assert "intel-sycl-rt" in metadata

    driver = home / "libexec/xpusetup/sycl_driver.py"
    driver.write_text("raise SystemExit(9)\n")  # as if a defect had been mended since
    again = stand.build(root, *words, ONEAPI_ROOT="")
    assert again.result["ran"] == [], "no key sees the driver, as none sees a helper"
    said = stand.call("env", "--build", "--root", root, ONEAPI_ROOT="").stdout
    assert f"export SYCL_ROOT={home}" in said
    forced = stand.build(root, *words, "--set", "torch.NOTHING=1", ONEAPI_ROOT="")
    assert "toolkit" not in forced.result["ran"]
    assert "torch.build" in forced.result["ran"], "by a driver that is whole again"
