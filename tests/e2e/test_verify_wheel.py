"""wheel check on stand-ins of torch, sound and wrong in one way each: what is wrong is refused by its reason."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("verify_wheel")]
PROFILE = "torch-2.14"
SECTION = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen"
SOURCE = f"""
#include <string>
__asm__(".section {SECTION},\\"a\\"\\n.balign 16\\n.incbin \\"images.bin\\"\\n.previous");
std::size_t size_of(const std::string& text) {{ return text.size(); }}
"""
GPUS = (
    "12.55.8",
    "12.56.5",
    "12.60.7",
    "12.70.4",
    "12.71.4",
    "12.74.4",
    "20.1.4",
    "20.2.0",
    "20.4.4",
    "30.0.4",
    "30.1.1",
)
RUNTIME = ("intel-sycl-rt==2026.1.0", "intel-cmplr-lib-rt==2026.1.0")


@dataclass(frozen=True, kw_only=True)
class Torch:
    """What a stand-in is made of."""

    version: str = "2.14.1+xpu"
    abi: int = 1
    gpus: tuple[str, ...] = GPUS
    compressed: bool = False
    rpath: str = "$ORIGIN"
    soname: str = "libtorch_xpu.so"
    requires: tuple[str, ...] = RUNTIME
    xpu: bool = True
    tampered: bool = False


def archive(gpus: tuple[str, ...]) -> bytes:
    """Make an image for several GPUs, as ocloc does: an archive with a member for each."""
    members = (f"{'64.' + gpu + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{4:<10}`\n".encode() + b"code" for gpu in gpus)
    return b"!<arch>\n" + b"".join(members)


def compile_torch(folder: Path, torch: Torch) -> dict[str, bytes]:
    """Compile libtorch_xpu.so and the module that needs it."""
    (folder / "xpu.cpp").write_text(SOURCE)
    (folder / "images.bin").write_bytes(archive(torch.gpus))
    if torch.compressed:
        packed = subprocess.run(("zstd", "-qc", "images.bin"), cwd=folder, check=True, capture_output=True).stdout
        (folder / "images.bin").write_bytes(packed + b"\0" * (-len(packed) % 16) + packed)
    xpu = ("-o", "libtorch_xpu.so", f"-Wl,-soname,{torch.soname}", f"-D_GLIBCXX_USE_CXX11_ABI={torch.abi}", "xpu.cpp")
    rpath = f"-Wl,-rpath,{torch.rpath}"
    for words in (
        ("-o", "libsycl.so", "-Wl,-soname,libsycl.so.9", "-x", "c++", "/dev/null"),
        (*xpu, "-L.", "-lsycl", rpath),
        ("-o", "_C.so", "-x", "c++", "/dev/null", "-x", "none", "-L.", "-ltorch_xpu", f"{rpath}/lib"),
    ):
        line = ("g++", "-shared", "-fPIC", "-Wl,--no-as-needed", *words)
        done = subprocess.run(line, cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    read = {name: (folder / name).read_bytes() for name in ("libtorch_xpu.so", "_C.so")}
    files = {"torch/lib/libtorch_xpu.so": read["libtorch_xpu.so"], "torch/_C.abi3.so": read["_C.so"]}
    return files if torch.xpu else {"torch/lib/libtorch_cpu.so": b"no library at all"}


def make_wheel(folder: Path, torch: Torch) -> Path:
    folder.mkdir()
    info, tag = f"torch-{torch.version}.dist-info", "cp311-cp311-linux_x86_64"
    head = f"Metadata-Version: 2.4\nName: torch\nVersion: {torch.version}\n"
    files = {
        **compile_torch(folder, torch),
        "torch/__init__.py": b"",
        f"{info}/METADATA": (head + "".join(f"Requires-Dist: {line}\n" for line in torch.requires)).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n".encode(),
    }
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(text).digest()) for name, text in files.items()}
    lines = [f"{name},sha256={digest.rstrip(b'=').decode()},\n" for name, digest in digests.items()]
    files["torch/__init__.py"] = b"import os\n" if torch.tampered else b""
    path = folder / f"torch-{torch.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in {**files, f"{info}/RECORD": "".join([*lines, f"{info}/RECORD,,\n"]).encode()}.items():
            wheel.writestr(name, content)
    return path


def verify(tmp_path: Path, wheel: Path, *options: str) -> tuple[int, dict[str, Any]]:
    said = xpusetup("wheel", "check", str(wheel), *options, "--json", env=caller(tmp_path / "home"))
    document = said.document
    assert document["command"] == "wheel check"
    return said.code, document


SOUND = Torch()


@pytest.mark.parametrize("torch", [SOUND, replace(SOUND, compressed=True)], ids=["plain", "compressed"])
def test_a_sound_wheel_is_what_its_profile_says(tmp_path: Path, torch: Torch) -> None:
    code, document = verify(tmp_path, make_wheel(tmp_path / "made", torch), "--profile", PROFILE)
    result = document["result"]
    assert (code, document["ok"], result["ok"], result["profile"]) == (0, True, True, PROFILE)
    levels = {check["id"]: check["level"] for check in result["checks"]}
    told = ("record", "version", "tags", "requires", "xpu", "arch", "abi", "rpath")
    assert {levels[f"wheel.{name}"] for name in told} == {"ok"}
    library = next(one for one in result["libraries"] if one["path"].endswith("libtorch_xpu.so"))
    assert {"pvc", "bmg-g21", "dg2-g10"} <= set(library["targets"])
    assert library["rpath"] == ["$ORIGIN"]


WRONG = {
    "without XPU": (replace(SOUND, xpu=False), "xpu", "no libtorch_xpu.so in it: built without XPU"),
    "other ABI": (replace(SOUND, abi=0), "abi", "C++ ABI 0: "),
    "other GPUs": (replace(SOUND, gpus=("12.60.7",)), "arch", "1 device images, for pvc; none for "),
    "foreign RPATH": (replace(SOUND, rpath="/home/builder/env/lib"), "rpath", "not found beside it: torch/_C.abi3.so"),
    "other version": (replace(SOUND, version="2.14.1+debian"), "version", "torch 2.14.1+debian"),
    "SONAME": (
        replace(SOUND, soname="libtorch_xpu.so.2.14"),
        "needed",
        "libtorch_xpu.so is needed as libtorch_xpu.so.2",
    ),
    "no search path": (replace(SOUND, rpath="$ORIGIN/none"), "rpath", "not found beside it: torch/_C.abi3.so"),
    "no runtime": (
        replace(SOUND, requires=("intel-pti==1.0.1",)),
        "requires",
        "not required: libtorch_xpu.so needs libsycl",
    ),
    "tampered": (replace(SOUND, tampered=True), "record", "changed: torch/__init__.py"),
}


@pytest.mark.parametrize(("torch", "check", "seen"), WRONG.values(), ids=WRONG)
def test_a_wrong_wheel_is_refused_by_reason(tmp_path: Path, torch: Torch, check: str, seen: str) -> None:
    code, document = verify(tmp_path, make_wheel(tmp_path / "made", torch), "--profile", PROFILE)
    failed = {one["id"]: one for one in document["result"]["checks"] if one["level"] == "fail"}
    assert (code, document["ok"]) == (1, False)
    assert failed[f"wheel.{check}"]["seen"].startswith(seen)
    assert failed[f"wheel.{check}"]["why"]
    assert failed[f"wheel.{check}"]["fix"]


def test_without_a_profile_it_reports(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "made", replace(SOUND, abi=0, version="2.14.1"))
    code, document = verify(tmp_path, wheel)
    assert (code, document["result"]["profile"]) == (0, None)
    assert verify(tmp_path, wheel, "--version", "2.14.1+xpu")[0] == 1
    assert verify(tmp_path, wheel, "--arch", "pvc,bmg")[0] == 0
    assert verify(tmp_path, wheel, "--forbid", str(tmp_path / "nothing"))[0] == 0


def test_what_is_no_wheel(tmp_path: Path) -> None:
    code, document = verify(tmp_path, tmp_path / "torch-1.0-py3-none-any.whl")
    assert (code, document["error"]["code"]) == (2, 2)
    broken = tmp_path / "torch-2.14.1+xpu-cp311-cp311-linux_x86_64.whl"
    broken.write_bytes(b"no archive")
    code, document = verify(tmp_path, broken, "--profile", PROFILE)
    assert (code, document["result"]["checks"][0]["level"]) == (1, "fail")
    broken = broken.rename(tmp_path / "acme-1.0-py3-none-any.whl")
    code, document = verify(tmp_path, broken, "--profile", PROFILE)
    assert code == 2
    assert "has no wheel of acme" in document["error"]["message"]


def test_the_step_and_the_command_say_the_same(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "made", SOUND)
    out = tmp_path / "step.json"
    helper = "xpusetup/helpers/inspect_wheel.py"
    named = ("--distribution", "torch", "--version", "2.14.1+xpu", "--any-python")
    options = ("--requires-xpu", "--abi", "1", *named, "--without", "cuda", "--without", "rocm")
    subprocess.run((sys.executable, helper, "--wheel", wheel, *options, "--out", out), check=True, capture_output=True)
    step = json.loads(out.read_text())
    told = verify(tmp_path, wheel, "--profile", PROFILE)[1]["result"]
    skipped = "wheel.arch"  # the profile's list of GPUs is the target's in a step
    assert [one for one in step["checks"] if one["id"] != skipped] == [
        one for one in told["checks"] if one["id"] != skipped
    ]
    assert step["libraries"] == told["libraries"]
