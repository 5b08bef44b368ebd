"""A stand-in oneAPI folder: activation scripts with the manners of Intel's, a compiler driver that calls g++.

Words: a *component* is a folder with `<version>/env/vars.sh` and a `latest` link; the *release* is the compiler's full
version (2025.3.1), the *version* its folder's name (2025.3).
"""

import re
import shutil
import subprocess
from pathlib import Path

from standins.repository import FILES, write_text
from standins.wheels import pack_wheel

NOTE = "ONEAPI_STANDIN_NOTE"  # a value of two lines
ARGS = "ONEAPI_STANDIN_ARGS"  # what of the caller's arguments was passed on
UNSET = "ONEAPI_STANDIN_UNSET"  # what activation takes away
FUNCTION = "BASH_FUNC_intel_standin_function%%"  # an environment name that no shell variable can have

COMPONENTS = {
    "compiler": "CMPLR_ROOT",
    "pti": "PTI_ROOT",
    "umf": "UMF_ROOT",
    "tcm": "TCM_ROOT",
    "ccl": "CCL_ROOT",
    "mpi": "I_MPI_ROOT",
    "mkl": "MKLROOT",
}
COMPILER_MORE = """\
export NLSPATH="$CMPLR_ROOT/lib/compiler/locale/%l_%t/%N${NLSPATH:+:$NLSPATH}"
export OCL_ICD_FILENAMES="$CMPLR_ROOT/lib/libintelocl.so${OCL_ICD_FILENAMES:+:$OCL_ICD_FILENAMES}\""""
BUNDLE = "pytorch-gpu-dev-0.5"


def make_oneapi(root: Path, *, version: str = "2025.3", rude: bool = True) -> Path:
    """Write the folder; `version` is that of the compiler, with or without its patch level."""
    folder = ".".join(version.split(".")[:2])
    for component, variable in COMPONENTS.items():
        _write_component(root / component, folder, component, variable)
    compiler = root / "compiler" / folder
    for name, host in (("icpx", "g++"), ("icx", "gcc")):
        _write_driver(compiler / "bin" / name, release_of(version), host)
    write_text(compiler / "bin/ocloc", _template("oneapi/ocloc"))
    (compiler / "bin/ocloc").chmod(0o755)
    write_text(compiler / "include/sycl/sycl.hpp", _template("oneapi/sycl/sycl.hpp"))
    build_library(compiler / "lib", "libsycl.so", sycl_soname(version))
    build_library(compiler / "lib", "libOpenCL.so", "libOpenCL.so.1")
    for name, target in (("setvars.sh", root), ("oneapi-vars.sh", root / BUNDLE)):
        text = _template(f"oneapi/{name}")
        write_text(target / name, text if rude else _polite(text))
    return root


def make_dpclang(root: Path, *, version: str = "7.0.0") -> Path:
    """Write an open DPC++ in a folder of its own, as torch-xpu-ops' CI unpacks one (_linux_build.yml at ab84f925)."""
    year, minor, patch = version.split(".")
    like = f"{2019 + int(year)}.{minor}.{patch}"  # as PyTorch's FindSYCLToolkit.cmake counts it
    for name, host in (("dpclang++", "g++"), ("dpclang", "gcc")):
        _write_driver(root / "bin" / name, version, host)
        text = (root / "bin" / name).read_text()
        banner = f'echo "DPC++ compiler {version} (https://github.com/intel/llvm)"'
        text = re.sub(r'echo "Intel\(R\).*"', banner, text).replace("-D__INTEL_LLVM_COMPILER", "-DSTANDIN_DPCLANG")
        text = text.replace(
            "-fsycl-link*)", "-fcolor-diagnostics) ;; # Clang's, which gcc does not know\n    -fsycl-link*)"
        )
        write_text(root / "bin" / name, text)
        (root / "bin" / name).chmod(0o755)
    write_text(root / "bin/ocloc", _template("oneapi/ocloc"))
    (root / "bin/ocloc").chmod(0o755)
    write_text(root / "include/sycl/sycl.hpp", _template("oneapi/sycl/sycl.hpp"))
    build_library(root / "lib", "libsycl.so", sycl_soname(like))
    module = f"Name: sycl\nDescription: SYCL\nVersion: {version}\nLibs: -L{root}/lib -lsycl\nCflags: -I{root}/include\n"
    write_text(root / f"lib/pkgconfig/sycl-dpcpp-{year}.pc", module)
    return root


def release_of(version: str) -> str:
    """Complete a version: 2025.3 is 2025.3.1, as Intel shipped it."""
    return version if version.count(".") > 1 else f"{version}.1"


def sycl_soname(version: str) -> str:
    """libsycl.so.7 in 2024, .8 in 2025, .9 in 2026."""
    return f"libsycl.so.{int(version.partition('.')[0]) - 2017}"


def build_library(folder: Path, link: str, soname: str) -> Path:
    """Compile a tiny shared object under its soname, with the name that linkers look for."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ("gcc", "-shared", "-fPIC", "-O1", f"-Wl,-soname,{soname}", "-o", soname, str(FILES / "oneapi/sycl.c"))
    subprocess.run(command, cwd=folder, check=True)
    (folder / link).symlink_to(soname)
    return folder / soname


def make_runtime_wheel(folder: Path, *, version: str = "2025.3") -> Path:
    """Pack a wheel intel-sycl-rt that puts libsycl into the environment's lib/, as Intel's own on the index does."""
    release, soname = release_of(version), sycl_soname(version)
    library = build_library(folder / f"lib-{release}", "libsycl.so", soname)
    wheel = pack_wheel(folder, "intel-sycl-rt", release, {f"@DATA@/data/lib/{soname}": library.read_bytes()})
    shutil.rmtree(library.parent)
    return wheel


def _write_component(home: Path, folder: str, component: str, variable: str) -> None:
    words = {"COMPONENT": component, "VARIABLE": variable, "MORE": COMPILER_MORE if component == "compiler" else ""}
    write_text(home / folder / "env/vars.sh", _template("oneapi-component/vars.sh", words).rstrip() + "\n")
    for name in ("bin", "lib", "include"):
        (home / folder / name).mkdir()
    (home / "latest").symlink_to(folder)


def _write_driver(path: Path, release: str, host: str) -> None:
    year, minor, patch = release.split(".")
    words = {"RELEASE": release, "DATE": f"{year}1023", "HOST": host, "NUMBER": f"{year}{minor:0>2}{patch:0>2}"}
    write_text(path, _template("oneapi/icpx", words))
    path.chmod(0o755)


def _template(name: str, words: dict[str, str] | None = None) -> str:
    text = (FILES / name).read_text(encoding="utf-8")
    for word, value in (words or {}).items():
        text = text.replace(f"@{word}@", value)
    return text


def _polite(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "# rude" not in line)
