"""What upstream's files and wheels said at a release, as far as somebody read it: what a new profile is replayed from.

The few lines of each file that a rule reads stand here in upstream's form, in our words; what they hold is a fact with
its source beside it, never our own profile. What nobody could read at a release is left out. The wheels are those of
the package index, read from their bytes: file, hash, what they require, the commit of their version file.
"""

from __future__ import annotations

from dataclasses import dataclass

from xpusetup.config.upstream import OPS, IndexWheel

FROM_3_10 = ("3.10", "3.11", "3.12", "3.13", "3.14")
PYTHON = ">=3.10,!=3.14.1"


def wheel(name: str, version: str, sha256: str, commit: str, requires: str = "", gcc: str = "") -> IndexWheel:
    """Give a wheel of the index as it was read on 2026-11-23."""
    return IndexWheel(
        name=name,
        version=version,
        file=f"{name}-{version}-cp314-cp314-manylinux_2_28_x86_64.whl",
        sha256=sha256,
        requires_python={"torch": ">=3.10", "torchvision": PYTHON}.get(name, ""),
        requires=(requires,) if requires else (),
        pythons=FROM_3_10,
        commit=commit,
        gcc=gcc,
    )


WHEELS = (
    wheel("torch", "2.12.0", "e2ad3eb85d39", "7661cd9c6b841b62b7f411aa52ec51f05457263b", gcc="11.3"),
    wheel("torch", "2.12.1", "c64ac4aac16b", "7269437d655783a26cba32aa88195b741ff496aa", gcc="11.3"),
    wheel("torch", "2.13.0", "49f1ea385c75", "cf30153c4c131c8164ee7798e5022d810682e2cb", gcc="11.3"),
    wheel("torch", "2.14.0", "b2cd92bce63d", "08187d9e0fba026dc8217405802ab5381dc88d90", gcc="11.3"),
    wheel("torch", "2.14.1", "1d4df07be733", "5c4886908584029761b579af026dcfb627c84070", gcc="11.3"),
    wheel("torchvision", "0.27.0", "91f61b986542", "78839c2b06c83c6cfb5c4da692ffb331bbd4c4cc", "torch (==2.12.0)"),
    wheel("torchvision", "0.27.1", "b44ef28ad196", "df56172e4d5a8d0cd51384273bc6c5747f5ab931", "torch (==2.12.1)"),
    wheel("torchvision", "0.28.0", "36beb0782976", "8fb87713a24951e639c494b0f2a8a81b5f8e33a6", "torch (==2.13.0)"),
    wheel("torchvision", "0.29.0", "e8fdf234d76d", "fc73f5a8567734ffa4c988b24d5432f0d3005974", "torch (==2.14.0)"),
    wheel("torchvision", "0.29.1", "7e525b2fb6ba", "1f1a920d685d46dfbe187934b785b7ecb7a182f2", "torch (>=2.14.0)"),
    wheel("torchaudio", "2.11.0", "00e9f71ab9c6", "34c52a67e8941bbd8e6adaca0eb0b9eabec11d78"),
)


@dataclass(frozen=True, kw_only=True)
class Read:
    """One release as its files say it; an empty text is what nobody could read there.

    `not_named` are pins of which no source names what the tag holds: what stands here is a candidate, and no verdict.
    """

    version: str
    ops: str
    triton: str
    sycl_tla: str
    onednn: str = ""
    oneapi: tuple[str, ...]
    runtime: tuple[str, ...]
    backend: str
    scripts: bool = True
    newest_vision: str
    not_named: tuple[str, ...] = ()

    def wheels(self) -> list[IndexWheel]:
        """Give the wheels that were in the index when this release was the newest."""
        newest = {"torch": self.version, "torchvision": self.newest_vision, "torchaudio": "2.11.0"}
        return [each for each in WHEELS if _key(each.version) <= _key(newest[each.name])]

    def files(self) -> dict[str, str]:
        """Give its files, by path, as a folder of them has them."""
        told = {
            "version.txt": f"{self.version}a0\n",
            "third_party/xpu.txt": f"{self.ops}\n",
            ".ci/docker/triton_xpu_version.txt": f"{self.triton}\n",
            ".ci/docker/common/install_xpu.sh": _installer(self.oneapi),
            ".github/scripts/generate_binary_build_matrix.py": _matrix(self.runtime),
            "cmake/Modules/FindMKLDNN.cmake": _onednn(self.onednn) if self.onednn else "",
            ".ci/manywheel/build_xpu.sh": SCRIPTS if self.scripts else "",
            "pyproject.toml": f'[build-system]\nbuild-backend = "{self.backend}"\n{PROJECT}',
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.27 FATAL_ERROR)\n",
            f"{OPS}/cmake/BuildFlags.cmake": TARGETS,
            f"{OPS}/cmake/SYCLTLA.cmake": _sycl_tla(self.sycl_tla),
        }
        return {path: text for path, text in told.items() if text}


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


PROJECT = '[project]\nrequires-python = ">=3.10"\n'
SCRIPTS = """\
export TH_BINARY_BUILD=1
export USE_CUDA=0
source /opt/intel/oneapi/compiler/latest/env/vars.sh
source /opt/intel/oneapi/pti/latest/env/vars.sh
source /opt/intel/oneapi/umf/latest/env/vars.sh
source /opt/intel/oneapi/ccl/latest/env/vars.sh
source /opt/intel/oneapi/mpi/latest/env/vars.sh
export USE_STATIC_MKL=1
export USE_ONEMKL=1
export USE_XCCL=1
export USE_MPI=0
"""
"""A stored copy of .ci/manywheel/build_xpu.sh, and .ci/wheel/linux/build_env_setup.py at 01f1846e, which came later."""
TARGETS = """\
if(REPLACE_FLAGS_FOR_SYCLTLA)
  set(SYCL_OFFLINE_COMPILER_AOT_OPTIONS "-device pvc,bmg")
else()
  if(WIN32)
    set(AOT_TARGETS "mtl,mtl-h,bmg,dg2,arl-h,lnl-m,ptl")
  else()
    set(AOT_TARGETS "pvc,bmg,dg2,arl-h,mtl-h,lnl-m,ptl-h,ptl-u")
  endif()
  if(TORCH_XPU_ARCH_LIST)
    set(AOT_TARGETS "${TORCH_XPU_ARCH_LIST}")
  endif()
endif()
"""
"""torch-xpu-ops at 62b793fe, bc294243 and b5086210, which all say the same."""


def _installer(versions: tuple[str, ...]) -> str:
    """Give install_xpu.sh: the default and the one that XPU_VERSION may name, in upstream's form of February 2026."""
    lines = [
        f'XPU_PACKAGES_URL="https://intel.invalid/intel-deep-learning-essentials-{each}_offline.sh"'
        for each in versions
    ]
    return 'if [[ "$XPU_VERSION" == "new" ]]; then\n    ' + "\nelse\n    ".join(lines) + "\nfi\n"


def _matrix(pins: tuple[str, ...]) -> str:
    """Give generate_binary_build_matrix.py: what the wheel for Intel GPUs requires, beside that for CUDA."""
    linux = "; platform_system == 'Linux' and platform_machine == 'x86_64'"
    lines = "\n".join(f'        "{pin}{linux if pin.startswith("oneccl") else ""} | "' for pin in pins[:-1])
    windows = "intel-pti==9.9.9; platform_system == 'Windows' | "
    return (
        'PYTORCH_EXTRA_INSTALL_REQUIREMENTS = {\n    "12.6": ("nvidia-cublas-cu12==12.6.4.1"),\n'
        f'    "xpu": (\n{lines}\n        "{windows}"\n        "{pins[-1]}"\n    ),\n}}\n'
    )


def _onednn(tag: str) -> str:
    return (
        "ExternalProject_Add(xpu_mkldnn_proj\n  GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN\n"
        f"  GIT_TAG {tag}\n  BUILD_IN_SOURCE 0)\n"
    )


def _sycl_tla(tag: str) -> str:
    return (
        "FetchContent_Declare(\n  repo-sycl-tla\n  GIT_REPOSITORY https://github.com/intel/sycl-tla.git\n"
        f"  GIT_TAG        {tag}\n  GIT_SHALLOW    OFF\n)\n"
    )


def _runtime(versions: str, *more: str) -> tuple[str, ...]:
    """Give what the wheel requires: the compiler's libraries have one version, oneMKL's another.

    `versions` are those of the compiler, oneCCL, MPI, oneMKL, TBB, TCM, UMF and PTI.
    """
    year, ccl, mpi, mkl, tbb, tcm, umf, pti = versions.split()
    compiler = ("dpcpp-cpp-rt", "intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "intel-cmplr-lic-rt", "intel-opencl-rt")
    math = ("mkl", "onemkl-license", *(f"onemkl-sycl-{each}" for each in ("blas", "dft", "lapack", "rng", "sparse")))
    others = {
        "oneccl": ccl,
        "oneccl-devel": ccl,
        "impi-rt": mpi,
        "tbb": tbb,
        "tcmlib": tcm,
        "umf": umf,
        "intel-pti": pti,
    }
    return (
        *(f"{name}=={year}" for name in (*compiler, "intel-openmp", "intel-sycl-rt")),
        *(f"{name}=={mkl}" for name in math),
        *(f"{name}=={version}" for name, version in others.items()),
        *more,
    )


REPLAYS = {
    "2.12": Read(
        version="2.12.1",
        ops="62b793fed8e0a708551d451712af635b6255b322",  # third-party notes on v2.12.0's third_party/xpu.txt; hf-nix
        triton="3.7.1",  # lists of what pip installed with 2.12.0+xpu
        sycl_tla="v0.8",  # torch-xpu-ops at that commit
        oneapi=("2025.3.2.36", "2025.2.1.24"),  # install_xpu.sh of the branch's time; pytorch PR 173199
        runtime=_runtime("2025.3.2 2021.17.2 2021.17.2 2025.3.1 2022.3.1 1.4.1 1.0.3 0.16.0"),
        backend="setuptools.build_meta",  # the WHEEL file of the published wheel
        newest_vision="0.27.1",
    ),
    "2.13": Read(
        version="2.13.0",
        ops="bc294243807debb350dca694049ba7a806dfdceb",  # a third-party note; base of torch-xpu-ops release/2.13
        triton="3.7.2",  # helion PR 3449
        sycl_tla="v0.9",  # torch-xpu-ops at that commit
        oneapi=("2026.0.0.624", "2025.3.2.36"),  # pytorch PR 182003
        # pytorch PR 185969, and lists of what pip installed
        runtime=_runtime("2026.0.0 2022.0.0 2021.18.0 2026.0.0 2023.0.0 1.5.0 1.1.0 0.17.0", "pyzes==0.1.1"),
        backend="setuptools.build_meta",  # the WHEEL file of the published wheel
        newest_vision="0.28.0",
    ),
    "2.14": Read(
        version="2.14.1",
        ops="b50862106999fe99730bf07e06ce67a9ba6784f5",  # a candidate: base of torch-xpu-ops release/2.14
        not_named=("torch-xpu-ops.rev",),
        triton="3.8.0",  # lock files of third parties for 2.14.0+xpu
        sycl_tla="v0.9",  # torch-xpu-ops at both candidates
        onednn="v3.12.3",  # a copy of FindMKLDNN.cmake of that time; pytorch PR 188785
        oneapi=("2026.1.1.11", "2026.0.0.624"),  # pytorch PR 189593
        # pytorch PRs 189651 and 195128, and lock files of third parties for 2.14.0+xpu
        runtime=_runtime("2026.1.0 2022.1.1 2021.18.1 2026.1.0 2023.1.0 1.5.0 1.1.0 1.0.1", "pyzes==0.1.2"),
        backend="scikit_build_core.build",  # the WHEEL file of the published wheel
        scripts=False,
        newest_vision="0.29.1",
    ),
}
