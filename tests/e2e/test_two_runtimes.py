"""A toolkit's Unified Runtime before an environment's own: real libraries, made by gcc."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("doctor")]
FUNCTION = "int {0}(void) {{ return 0; }}\n"


def link(path: Path, text: str, *words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    source.write_text(text)
    script.write_text("LIBUR_LOADER_0.12 { global: ur*; local: *; };\n")
    subprocess.run(("gcc", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-o", path, source, *words), check=True)


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Make what an XPU environment looks like from outside, its libsycl linked against its own loader."""
    prefix = tmp_path / "venv"
    torch = prefix / "lib/python3.11/site-packages/torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "version.py").write_text("__version__ = '2.14.1+xpu'\nxpu = '20260100'\ncuda = None\n")
    (torch / "lib/libc10_xpu.so").write_bytes(b"\0libsycl.so.9\0")
    (prefix / "pyvenv.cfg").write_text("")
    (prefix / "bin").mkdir()
    (prefix / "bin/python3").symlink_to("/bin/true")
    own = prefix / "lib/libur_loader.so.0"
    named = f"-Wl,--version-script={own.with_suffix('.map')}"
    link(own, FUNCTION.format("urDeviceGet") + FUNCTION.format("urDeviceWaitExp"), named)
    known = "int urDeviceGet(void); int urDeviceWaitExp(void);\n"
    calls = f"{known}int go(void) {{ return urDeviceGet() + urDeviceWaitExp(); }}\n"
    link(prefix / "lib/libsycl.so.9", calls, str(own))
    return prefix


def runtime_finding(tmp_path: Path, environment: Path, first: Path) -> dict[str, Any] | None:
    env = caller(tmp_path / "home", VIRTUAL_ENV=str(environment), LD_LIBRARY_PATH=str(first))
    result = xpusetup("doctor", "-p", "torch-2.14", "--for", "run", "--json", env=env).document["result"]
    return next((one for one in result["findings"] if one["id"] == "runtime.ur_mixed"), None)


def test_an_older_loader_hides_the_own_one(tmp_path: Path, environment: Path) -> None:
    older = tmp_path / "oneapi/lib/libur_loader.so.0"
    link(older, FUNCTION.format("urDeviceGet"))
    found = runtime_finding(tmp_path, environment, older.parent)
    assert found is not None
    assert found["level"] == "fail"
    own = environment / "lib/libur_loader.so.0"
    assert found["seen"].splitlines() == [
        "libsycl.so.9 needs urDeviceWaitExp",
        f"found first: {older}, which lacks it",
        f"exported by: {own}",
    ]
    assert "unset LD_LIBRARY_PATH" in found["fix"]["commands"]


def test_saved_facts_say_the_same(tmp_path: Path, environment: Path) -> None:
    older = tmp_path / "oneapi/lib/libur_loader.so.0"
    link(older, FUNCTION.format("urDeviceGet"))
    env = caller(tmp_path / "home", VIRTUAL_ENV=str(environment), LD_LIBRARY_PATH=str(older.parent))
    common = ("doctor", "-p", "torch-2.14", "--for", "run", "--only", "runtime.ur_mixed", "--json")
    facts = str(tmp_path / "facts.json")
    live = xpusetup(*common, "--save", facts, env=env)
    replayed = xpusetup(*common, "--facts", facts, env=caller(tmp_path / "elsewhere"))
    assert (live.code, replayed.code) == (1, 1)
    assert replayed.document["result"]["findings"][0]["seen"] == live.document["result"]["findings"][0]["seen"]


def test_one_of_the_same_version_that_lacks_a_function(tmp_path: Path, environment: Path) -> None:
    older = tmp_path / "oneapi/lib/libur_loader.so.0"
    link(older, FUNCTION.format("urDeviceGet"), f"-Wl,--version-script={older.with_suffix('.map')}")
    found = runtime_finding(tmp_path, environment, older.parent)
    assert found is not None
    assert found["level"] == "fail"
    assert found["seen"].splitlines()[:2] == [
        "libsycl.so.9 needs urDeviceWaitExp",
        f"found first: {older}, which lacks it",
    ]


def test_the_own_loader_first_is_nothing_to_say(tmp_path: Path, environment: Path) -> None:
    found = runtime_finding(tmp_path, environment, environment / "lib")
    assert found is not None
    assert found["level"] == "ok"
