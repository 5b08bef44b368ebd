"""The folder that is made from Intel's run-time wheels, with small made-up ones: layout, links, refusals, env.sh."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from helper_modules import HELPERS, closure_files

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e  # pip and shells do it

folder: Any = importlib.import_module("helperlib.sycl.folder")
helper: Any = importlib.import_module("make_sycl_toolkit")
SYCL = {
    "lib/libsycl.so": b"run time",
    "lib/libsycl.so.9": b"run time",
    "lib/libsycl.so.9.0.0": b"run time",
    "lib/libsycl.so.9.0.0-gdb.py": b"run time",  # the same bytes, and no library of that name
    "lib/libsycl-preview.so": b"another",
    "lib/libsycl-jit.so": b"compiler",
    "lib/libsycl-jit.so.22.1": b"compiler",
    "include/sycl/sycl.hpp": b"// SYCL",
}
OPENCL = {
    "lib/libintelocl.so": b"processor",
    "etc/OpenCL/vendors/intel-cpu.icd": b"/opt/nowhere/libintelocl.so",
    "bin/.post-link.sh": b"exit 1",
    "lib/icx-lto.so": b"plug-in",
}


def wheel(where: Path, name: str, version: str, files: dict[str, bytes]) -> Path:
    """Pack a wheel as Intel's are: all of it below the prefix of the environment, and a licence."""
    where.mkdir(parents=True, exist_ok=True)
    path, stem = where / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}"
    about = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "LICENSE.txt": "terms"}
    about["WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in files.items():
            archive.writestr(f"{stem}.data/data/{member}", data)
        for member, text in about.items():
            archive.writestr(f"{stem}.dist-info/{member}", text)
    return path


class Place:
    """Wheels to fetch, their requirements, and the folder that is made."""

    def __init__(self, where: Path) -> None:
        self.where, self.wheels, self.into = where, where / "wheels", where / "home"
        self.listed = where / "requirements.txt"
        self.pack("2026.1.2")

    def pack(self, version: str, sycl: dict[str, bytes] = SYCL, opencl: dict[str, bytes] = OPENCL) -> None:
        """Pack the two wheels of a version, and require them by their hashes."""
        made = {
            "intel-sycl-rt": wheel(self.wheels, "intel_sycl_rt", version, sycl),
            "intel-opencl-rt": wheel(self.wheels, "intel_opencl_rt", version, opencl),
        }
        lines = (
            f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
            for name, path in made.items()
        )
        self.listed.write_text("".join(lines))

    def make(self, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the helper as a step does; pip finds the wheels in their folder alone."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        own = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull, **variables}
        asked = options or ("--requirements", str(self.listed), "--record", str(self.where / "origins"))
        out = ("--into", str(self.into), "--out", str(self.where / "out.json"))
        argv = (sys.executable, str(HELPERS / "make_sycl_toolkit.py"), *asked, *out)
        return subprocess.run(argv, env={**kept, **own}, capture_output=True, text=True, check=False)

    def state(self, *options: str) -> str:
        """Run it, and give what it did."""
        ended = self.make(*options)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return str(json.loads((self.where / "out.json").read_text())["state"])

    def left(self) -> list[str]:
        """List what lies beside the folder that nobody asked for."""
        return [path.name for path in self.where.iterdir() if path.name.startswith(".")]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_it_is_laid_out_as_oneapi(place: Place) -> None:
    ended = place.make()
    assert ended.returncode == 0, ended.stderr
    home = place.into
    told = json.loads((home / "toolkit.json").read_text())
    assert told == {
        "schema": 1,
        "version": "2026.1.2",
        "jit": "lib/libsycl-jit.so.22.1",
        "wheels": {"intel-opencl-rt": "2026.1.2", "intel-sycl-rt": "2026.1.2"},
    }
    there = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert {"include/sycl/sycl.hpp", "lib/libintelocl.so", "bin/icx", "bin/icpx", "env.sh"} <= there
    assert not {"bin/.post-link.sh", "etc/OpenCL/vendors/intel-cpu.icd", "lib/icx-lto.so"} & there
    assert {"licensing/intel_sycl_rt/LICENSE.txt", "licensing/intel_opencl_rt/LICENSE.txt"} <= there
    assert "Intel End User License Agreement" in ended.stdout
    assert os.access(home / "bin/icpx", os.X_OK)
    assert place.left() == []


def test_copies_of_a_library_are_one_file(place: Place) -> None:
    place.make()
    lib = place.into / "lib"
    names = ("libsycl.so", "libsycl.so.9", "libsycl.so.9.0.0")
    assert len({(lib / name).stat().st_ino for name in names}) == 1
    assert [str((lib / name).readlink()) for name in names[:2]] == ["libsycl.so.9", "libsycl.so.9.0.0"]
    assert not (lib / "libsycl.so.9.0.0").is_symlink()
    assert not (lib / "libsycl-preview.so").is_symlink(), "no copy of it is there"
    assert str((lib / "libsycl-jit.so").readlink()) == "libsycl-jit.so.22.1"


def test_a_name_of_other_bytes_is_no_link(tmp_path: Path) -> None:
    path = wheel(tmp_path, "intel_sycl_rt", "1", {**SYCL, "lib/libsycl.so": b"INPUT(libsycl.so.9)"})
    contents = folder.read_contents([path])
    assert "lib/libsycl.so" not in contents.links
    assert contents.links["lib/libsycl.so.9"] == "libsycl.so.9.0.0"


def test_two_wheels_with_one_file_must_agree(tmp_path: Path) -> None:
    same = [wheel(tmp_path, name, "1", {"share/a": b"x"}) for name in ("one", "two")]
    assert [entry.path for entry in folder.read_contents(same).files].count("share/a") == 1
    other = wheel(tmp_path, "three", "1", {"share/a": b"y"})
    with pytest.raises(ValueError, match="different files share/a"):
        folder.read_contents([*same, other])


def test_what_leads_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leads out of the folder"):
        folder.read_contents([wheel(tmp_path, "one", "1", {"../../x": b""})])


def test_done_once_it_is_left(place: Place) -> None:
    assert place.state() == "made"
    before = (place.into / "bin/icpx").stat().st_mtime_ns
    shutil.rmtree(place.wheels)
    assert place.state() == "unchanged", "nothing is fetched"
    assert (place.into / "bin/icpx").stat().st_mtime_ns == before


def test_a_newer_driver_comes_alone(place: Place) -> None:
    place.state()
    driver = place.into / "libexec/xpusetup/sycl_driver.py"
    before = (place.into / "bin/icpx").stat().st_mtime_ns
    driver.write_text("raise SystemExit(9)\n")
    shutil.rmtree(place.wheels)
    assert place.state("--into", str(place.into)) == "updated", "as a compile step asks, without requirements"
    assert driver.read_bytes() == (HELPERS / "sycl_driver.py").read_bytes()
    assert (place.into / "bin/icpx").stat().st_mtime_ns == before, "by which a build knows its compiler"
    assert place.left() == []


def test_other_wheels_make_it_anew(place: Place) -> None:
    place.state()
    (place.into / "lib/mine.txt").write_text("gone with the folder")
    place.pack("2026.2.0", {**SYCL, "include/sycl/new.hpp": b""})
    assert place.state() == "made"
    assert json.loads((place.into / "toolkit.json").read_text())["version"] == "2026.2.0"
    assert (place.into / "include/sycl/new.hpp").exists()
    assert not (place.into / "lib/mine.txt").exists()
    assert place.left() == []


def test_what_a_killed_run_left_goes(place: Place) -> None:
    (place.where / ".home.xpusetup-abc/home").mkdir(parents=True)
    place.state()
    assert place.left() == []


@pytest.mark.parametrize("file", ["notes.txt", "toolkit.json"])
def test_a_folder_of_somebody_is_refused(place: Place, file: str) -> None:
    place.into.mkdir()
    (place.into / file).write_text("{}")
    ended = place.make()
    assert ended.returncode == 2
    assert "holds something that is no SYCL tool chain of xpusetup" in ended.stderr
    assert [path.name for path in place.into.iterdir()] == [file]


def test_a_file_in_its_place_is_refused(place: Place) -> None:
    place.into.write_text("")
    ended = place.make()
    assert (ended.returncode, "cannot be used: Not a directory" in ended.stderr) == (2, True)


def test_an_empty_folder_is_taken(place: Place) -> None:
    place.into.mkdir()
    assert place.state() == "made"


def test_wheels_with_other_bytes_are_refused(place: Place) -> None:
    wheel(place.wheels, "intel_sycl_rt", "2026.1.2", {**SYCL, "lib/more": b""})
    ended = place.make()
    assert ended.returncode == 1
    assert "its hash differs" in ended.stderr
    assert not place.into.exists()
    assert place.left() == []


def test_wheels_without_a_compiler_are_refused(place: Place) -> None:
    place.pack("2025.1.0", {name: data for name, data in SYCL.items() if "jit" not in name})
    ended = place.make()
    assert "hold no compiler (libsycl-jit.so)" in ended.stderr
    assert not place.into.exists()


def test_too_little_space_is_said_before(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    contents = folder.read_contents(sorted(place.wheels.iterdir()))
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(SystemExit) as ended:
        helper.refuse_small(contents, place.into)
    assert ended.value.code == 3
    assert "has 1 B free, and the folder takes 64 MiB" in capsys.readouterr().err


def test_all_that_the_driver_imports_goes_along() -> None:
    wanted = {path for path in closure_files("sycl_driver") if path.suffix == ".py"} | {HELPERS / "sycl_driver.py"}
    assert set(helper.driver_files()) == wanted


# env.sh: in each shell, under set -eu, twice, and where the folder was moved to.


SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh") if shutil.which(shell)]
SAID = 'printf "%s\\n" "$PATH" "$SYCL_ROOT" "$CMPLR_ROOT" "$LD_LIBRARY_PATH" "$OCL_ICD_FILENAMES"'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a folder without the driver, made without pip."""
    made = tmp_path / "home"
    made.mkdir()
    folder.unpack(folder.read_contents([wheel(tmp_path, "intel_opencl_rt", "1", OPENCL)]), made)
    folder.write_commands(made, sys.executable, made)
    return made


def sourced(shell: str, home: Path, **variables: str) -> list[str]:
    """Source it twice, and give what it set."""
    script = f". '{home}/env.sh'\n" * 2 + SAID
    env = {"PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run((shell, "-euc", script), env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_env_switches_it_on_once(home: Path, shell: str) -> None:
    place = str(home)
    others = {"LD_LIBRARY_PATH": f"/a:{place}/lib:/b", "OCL_ICD_FILENAMES": "/x/libother.so"}
    found = sourced(shell, home, **others)
    assert found[0] == f"{place}/bin:/usr/bin:/bin"
    assert found[1:3] == [place, place]
    assert found[3] == f"{place}/lib:/a:/b"
    assert found[4] == f"{place}/lib/libintelocl.so:/x/libother.so"


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell in ("bash", "zsh")])
def test_env_finds_a_folder_that_was_moved(home: Path, shell: str) -> None:
    moved = home.with_name("elsewhere")
    home.rename(moved)
    assert sourced(shell, moved)[1] == str(moved)


def test_env_says_where_a_plain_shell_cannot_find_it(home: Path) -> None:
    moved = home.with_name("elsewhere")
    home.rename(moved)
    shell = next(shell for shell in ("dash", "sh") if shutil.which(shell))
    done = subprocess.run((shell, "-c", f". '{moved}/env.sh'"), capture_output=True, text=True, check=False)
    if "BASH_VERSION" not in subprocess.run((shell, "-c", "set"), capture_output=True, text=True, check=False).stdout:
        assert done.returncode == 1
        assert "is no longer in" in done.stderr


def test_a_command_starts_the_driver_beside_it_through_a_link(home: Path) -> None:
    (home / "libexec/xpusetup").mkdir(parents=True)
    (home / "libexec/xpusetup/sycl_driver.py").write_text("import sys; print(sys.argv[1:], sys.flags.isolated)\n")
    link = home.with_name("icpx")
    link.symlink_to(home / "bin/icpx")
    done = subprocess.run((link, "-c", "a b.cpp"), capture_output=True, text=True, check=True)
    assert done.stdout == "['icpx', '-c', 'a b.cpp'] 1\n"
