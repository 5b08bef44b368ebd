"""fits: libraries for what is not there, those that a script or the package itself brings, and wheels with nothing."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from data.elf import make_elf
from standins.wheels import pack_wheel
from test_fit import CORE, DEF, TORCH, install
from xpusetup.base.document import read_as
from xpusetup.base.model import Misfit
from xpusetup.machine.companions import TorchThere
from xpusetup.machine.fit import FitTarget, FitTorch, judge_fit, mend_command
from xpusetup.machine.fit_read import Inspection

if TYPE_CHECKING:
    from pathlib import Path

inspect_fit: Any = importlib.import_module("inspect_fit")
rules: Any = importlib.import_module("helperlib.elf.conflicts")
TARGET = FitTarget(torch=FitTorch(version="2.13.0", where="/env", read=True, python="3.11"), tags=None, known={})


@pytest.fixture(autouse=True)
def _mangled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave c++filt alone, which is a process."""
    monkeypatch.setattr(inspect_fit.shutil, "which", lambda _: None)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Give the site-packages of an environment with torch."""
    found = tmp_path / "lib/python3.11/site-packages"
    install(found, "torch-2.13.0", {f"torch/lib/{name}.so": content for name, content in TORCH.items()})
    return found


def fitted(
    capsys: pytest.CaptureFixture[str], folder: Path, files: dict[str, bytes], requires: tuple[str, ...] = ()
) -> Any:
    """Give what is said of a wheel with these files beside the torch of that environment."""
    wheel = pack_wheel(folder / "wheels", "acme", "1.0", files, requires=list(requires))
    words = [str(wheel), "--prefix", str(folder), "--sysroot", str(folder / "nothing")]
    assert inspect_fit.main(words) == 0
    (one,) = read_as(Inspection, json.loads(capsys.readouterr().out)).wheels
    return judge_fit(one, TARGET)


MODULE = "acme/_C.cpython-311-x86_64-linux-gnu.so"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("needed", ["libtensorflow_framework.so.2", "libtorch_xpu.so"])
def test_a_plug_in_for_what_is_not_there_is_optional(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, needed: str
) -> None:
    files = {MODULE: make_elf(asked=(DEF,), needed=CORE), "acme/acme_ops.so": make_elf(needed=(needed,))}
    told = fitted(capsys, tmp_path, files)
    assert (told.answer, told.notes) == ("fits", [f"unused without {needed}: acme_ops.so"])


FOR_MPI = "acme/_far.cpython-311-x86_64-linux-gnu.so"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("path", "needed", "code", "answer"),
    [
        (FOR_MPI, "libmpi.so.12", b"from acme import _C\n", "fits"),
        (FOR_MPI, "libmpicxx.so.12", b"from acme import _C, _far_off\n", "fits"),
        (FOR_MPI, "libmpi.so.12", b"try:\n    from acme import _far\nexcept ImportError:\n    pass\n", "fits"),
        (FOR_MPI, "libmpi.so.12", b"from acme import _C, _far\n", "does_not_fit"),
        (FOR_MPI, "libmpi.so.12", b"importlib.import_module('acme._far')\n", "does_not_fit"),
        ("acme/_far.so", "libmpi.so.12", b"from acme import _C\n", "does_not_fit"),
        (FOR_MPI, "libusb-1.0.so.0", b"from acme import _C\n", "does_not_fit"),
    ],
)
def test_a_module_that_only_mpi_needs_is_unused_without_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, path: str, needed: str, code: bytes, answer: str
) -> None:
    """As daal4py's, which its other module imports for a distributed run, and no Python file."""
    files = {MODULE: make_elf(), path: make_elf(asked=("MPI_Send",), needed=(needed,)), "acme/__init__.py": code}
    told = fitted(capsys, tmp_path, files)
    name = path.rpartition("/")[2]
    assert (told.answer, told.notes) == (answer, [f"unused without {needed}: {name}"] if answer == "fits" else [])
    if answer != "fits":
        assert told.reason == f"{name} needs {needed}, which is found nowhere"
    assert fitted(capsys, tmp_path, {**files, MODULE: files[path]}).answer == "does_not_fit"


@pytest.mark.usefixtures("place")
def test_what_stops_the_package_itself_comes_before_a_plug_in(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = {MODULE: make_elf(needed=("libusb-1.0.so.0",)), "acme/acme_ops.so": make_elf(needed=("libtorch_xpu.so",))}
    told = fitted(capsys, tmp_path, files)
    assert (told.answer, told.reason) == (
        "does_not_fit",
        "_C.cpython-311-x86_64-linux-gnu.so needs libusb-1.0.so.0, which is found nowhere",
    )


@pytest.mark.usefixtures("place")
def test_what_a_requirement_may_still_bring_is_not_known(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = {MODULE: make_elf(needed=("libsvml.so",)), "acme/acme_ops.so": make_elf(needed=("libtorch_xpu.so",))}
    assert fitted(capsys, tmp_path, files, ("dpcpp-cpp-rt==2026.0.0",)).answer == "unknown"
    assert fitted(capsys, tmp_path, files, ("torch",)).answer == "does_not_fit"


@pytest.mark.usefixtures("place")
def test_a_run_time_that_a_script_switches_on_is_not_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = {MODULE: make_elf(asked=(DEF, "HcclReduce"), needed=(*CORE, "libhccl.so", "libascendcl.so"))}
    told = fitted(capsys, tmp_path, files)
    note = "libhccl.so and 1 more of CANN are not switched on in this shell: source /usr/local/Ascend/"
    assert (told.answer, [each[: len(note)] for each in told.notes]) == ("fits", [note])
    other = {MODULE: make_elf(asked=("_ZN2at4goneEv",), needed=(*CORE, "libhccl.so"))}
    assert fitted(capsys, tmp_path, other).reason.endswith("needs _ZN2at4goneEv, which that torch has not")


PRELOADS = b"""
import ctypes, os, sys
for name in ("libsvml.so", "libother.so"):
    ctypes.CDLL(os.path.join(sys.prefix, "lib", name), mode=ctypes.RTLD_GLOBAL)
"""


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("code", "answer"), [(PRELOADS, "fits"), (b"NAME = 'libsvml.so'\n", "does_not_fit")])
def test_what_the_package_opens_first_is_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, code: bytes, answer: str
) -> None:
    (tmp_path / "lib/libsvml.so").write_bytes(make_elf(soname="libsvml.so"))
    files = {"acme/libacme.so": make_elf(needed=("libsvml.so",)), "acme/__init__.py": code}
    assert fitted(capsys, tmp_path, files).answer == answer


@pytest.mark.usefixtures("place")
def test_another_major_beside_it_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "lib/libsycl.so.9").write_bytes(make_elf(soname="libsycl.so.9"))
    told = fitted(capsys, tmp_path, {"acme/libacme.so": make_elf(needed=("libsycl.so.8",))})
    assert told.reason == "libacme.so needs libsycl.so.8, which is found nowhere; libsycl.so.9 is here"
    (tmp_path / "lib/libsvml.so").write_bytes(make_elf(soname="libsvml.so"))
    told = fitted(capsys, tmp_path, {"acme/libacme.so": make_elf(needed=("libsvml.so",))})
    assert told.reason == "libacme.so needs libsvml.so, which lies in the environment, and no search path leads to it"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("files", "requires", "answer", "reason"),
    [
        ({}, ("torchcodec-xpu", "x; extra == 'y'"), "unknown", "it has no file of its own, what it requires decides: "),
        ({}, (), "unknown", "it has no file of its own, and it requires nothing"),
        ({"dummy.py": b'"""Later."""\n__version__ = "0"\ndef f():\n    pass\n'}, (), "unknown", "it is a placeholder"),
        ({"acme.py": b"import os\n"}, (), "fits", "it is Python alone"),
        ({"acme/weights.bin": b"1"}, (), "fits", "it is Python alone"),
        ({"acme.py": b"def f(: pass\n"}, (), "fits", "it is Python alone"),
    ],
)
def test_nothing_is_promised_of_a_wheel_with_nothing(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    files: dict[str, bytes],
    requires: tuple[str, ...],
    answer: str,
    reason: str,
) -> None:
    told = fitted(capsys, tmp_path, files, requires)
    assert (told.answer, told.reason[: len(reason)]) == (answer, reason)


@pytest.mark.parametrize(
    ("code", "answer"), [(b"import os\nimport dpctl\n", "fits"), (b"import os  # not dpctl\n", "does_not_fit")]
)
def test_what_an_imported_package_holds_is_loaded_before(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, place: Path, code: bytes, answer: str
) -> None:
    """As dpnp, whose modules need a library of dpctl to which no search path leads."""
    install(place, "dpctl-0.22.1", {"dpctl/libDPCTL.so": make_elf(soname="libDPCTL.so")})
    told = fitted(capsys, tmp_path, {MODULE: make_elf(needed=("libDPCTL.so",)), "acme/__init__.py": code})
    assert told.answer == answer, told.reason


@pytest.mark.usefixtures("place")
def test_what_lies_in_the_data_of_a_wheel_lies_in_the_environment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As scikit-learn-intelex: its modules are in .data/data, and look for libraries in ENV/lib."""
    data = "acme-1.0.data/data/lib"
    files = {
        f"{data}/python3.11/site-packages/{MODULE}": make_elf(needed=("libacme.so",), runpath="$ORIGIN/../../.."),
        f"{data}/libacme.so": make_elf(soname="libacme.so"),
    }
    assert fitted(capsys, tmp_path, files).answer == "fits"


@pytest.mark.parametrize(
    ("lacks", "command"),
    [
        ("libusb-1.0.so.0", "# install this system's package with libusb-1.0.so.0: apt-file search libusb-1.0.so.0, "),
        ("libsycl.so.8", "python -m pip uninstall --yes acme"),
        ("libtorch_xpu.so", "python -m pip uninstall --yes acme"),
    ],
)
def test_a_package_stays_where_the_system_lacks_one(lacks: str, command: str) -> None:
    bad = Misfit("acme", "1.0", f"cannot be loaded here: _C.so needs {lacks}, which is found nowhere")
    assert mend_command(bad, "python", TorchThere("2.13.0+cpu"))[: len(command)] == command


@pytest.mark.usefixtures("place")
def test_a_name_that_another_library_of_the_wheel_has_is_its_hosts_affair(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As onnxruntime's providers: its module opens the shared part for all before; it was said not to fit."""
    files = {MODULE: make_elf(), "acme/libplug.so": make_elf(asked=("Provider_GetHost",))}
    assert fitted(capsys, tmp_path, files).answer == "does_not_fit"
    shared = {"acme/libshared.so": make_elf(("Provider_GetHost",))}
    assert fitted(capsys, tmp_path, {**files, **shared}).answer == "fits"
