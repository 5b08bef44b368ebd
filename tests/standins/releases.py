"""What differs between the releases that the stand-ins stand for: versions, and the rules of their builds.

What has to be sourced and exported is what the ledger says of the release.
"""

from dataclasses import dataclass, replace
from typing import Literal

from data.ledger import LEDGER_FILE, parse_ledger
from standins.oneapi import COMPONENTS

Era = Literal["setup.py", "scikit-build-core"]
LEDGER = parse_ledger(LEDGER_FILE.read_text())
SPOILING = ("USE_MPI", "BUILD_SOX", "USE_FFMPEG")
"""What upstream lets pass, and then links a library that nothing brings, or downloads: a stand-in refuses it."""


def ours_of(of: str, version: str, verb: str) -> list[str]:
    """Give what the ledger says after a verb about one release of a source."""
    release = version.rpartition(".")[0]
    ours = [each.partition(" ") for row in LEDGER if (row.of, row.release) == (of, release) for each in row.ours]
    return list(dict.fromkeys(rest for said, _, rest in ours if said == verb))


def insisted(of: str, version: str) -> str:
    """Give the variables with the values that a build must have been told, parted by spaces."""
    return " ".join(each for each in ours_of(of, version, "env") if each.partition("=")[0] in SPOILING)


@dataclass(frozen=True)
class Release:
    """One torch release: what belongs to it, and what its configure insists on.

    `oneapi` is the compiler it is tried with, `requirements` the file that names its build requirements, `setuptools`
    what that asks of it; `sycl_open`: dpclang is known. `onednn` is the tag that its build clones, of
    `onednn_owner`; empty where a submodule of a submodule is the source. `triton_named` is the version that the torch
    tree names, where that is not plainly `triton`. Where the profile builds it, `triton_read` is the commit whose files
    its stand-in was written after, `llvm` and `pybind11` are what these name; without `pybind11` it is taken as the
    environment has it.
    """

    torch: str
    vision: str
    audio: str
    triton: str
    oneapi: str
    triton_under: str = "python"
    triton_named: str = ""
    triton_read: str = ""
    triton_requires: tuple[str, ...] = ()
    triton_cmake: str = "3.18"
    llvm: str = ""
    pybind11: str = ""
    era: Era = "setup.py"
    new_abi: bool = False
    arch_source: str = "$ENV{TORCH_XPU_ARCH_LIST}"
    arch_default: str = "pvc,xe-lpg,ats-m150"
    pkg_resources: str = "import pkg_resources"
    sycl_tla: str = ""
    sycl_open: bool = False
    onednn: str = ""
    onednn_owner: str = "uxlfoundation"
    onednn_cpu: str = "THREADPOOL"
    gcc: str = "9.3"
    cmake: str = "3.18"
    standard: str = "17"
    requirements: str = "requirements.txt"
    setuptools: str = "setuptools"

    @property
    def needs(self) -> str:
        """The variables of the component scripts that have to be sourced, beside that of the compiler."""
        names = [name for name in ours_of("torch", self.torch, "sources") if name in COMPONENTS]
        return " ".join(COMPONENTS[name] for name in names if name != "compiler")

    @property
    def year(self) -> str:
        """The oneAPI's year and minor version, which its run-time libraries share."""
        return self.oneapi.rpartition(".")[0]


V2_5 = Release(
    "2.5.1",
    "0.20.1",
    "2.5.1",
    "3.1.0",
    "2024.1.4",
    triton_read="91b14bf5593cf58a8541f3e6b9125600a867d4ef",
    triton_requires=("packaging",),
    llvm="ce80c80dca45c7b4636a3e143973e2c6cbdb2884",
    pybind11="2.13.1",
)
V2_4 = replace(
    V2_5,
    torch="2.4.1",
    vision="0.19.1",
    audio="2.4.1",
    triton="3.0.0",
    new_abi=True,
    arch_default="pvc,xe-lpg",
    triton_read="1b2f15840e0d70eec50d84c7a0575cb835524def",
    triton_requires=("filelock", "llnl-hatchet"),
    llvm="10dc3a8e916d73291269e5e2b82dd22681489aa1",
    pybind11="2.11.1",
)
V2_6 = replace(
    V2_5,
    torch="2.6.0",
    vision="0.21.0",
    audio="2.6.0",
    triton="3.2.0",
    oneapi="2025.0.2",
    triton_read="",
    llvm="",
    pybind11="",
)
V2_7 = replace(
    V2_6,
    torch="2.7.1",
    vision="0.22.1",
    audio="2.7.1",
    triton="3.3.1",
    onednn="v3.7.1",
    onednn_owner="oneapi-src",
    oneapi="2025.0.4",
    arch_default="pvc,bmg,dg2,arl-h,mtl-h,lnl-m",
)
V2_8 = replace(
    V2_7,
    torch="2.8.0",
    vision="0.23.0",
    audio="2.8.0",
    triton="3.4.0",
    onednn="v3.8.1",
    triton_under="",
    oneapi="2025.1.1",
    arch_source="${TORCH_XPU_ARCH_LIST}",
    cmake="3.27",
    setuptools="setuptools>=62.3.0,<80.0",
)
V2_9 = replace(
    V2_8,
    torch="2.9.1",
    vision="0.24.1",
    audio="2.9.1",
    triton="3.5.0",
    onednn="v3.9.1",
    onednn_owner="uxlfoundation",
    oneapi="2025.2.1",
    requirements="requirements-build.txt",
    setuptools="setuptools>=70.1.0,<80.0",
)
V2_10 = replace(
    V2_9,
    torch="2.10.0",
    vision="0.25.0",
    audio="2.10.0",
    triton="3.6.0",
    onednn="v3.10.2",
    oneapi="2025.3.1",
    arch_default="pvc,bmg,dg2,arl-h,mtl-h,lnl-m,ptl-h,ptl-u",
    sycl_tla="v0.6",
    setuptools="setuptools>=70.1.0,<82",
)
V2_11 = replace(
    V2_10,
    torch="2.11.0",
    vision="0.26.0",
    audio="2.11.0",
    triton="3.7.0",
    oneapi="2025.3.2",
    pkg_resources="import packaging.version",
)
V2_12 = replace(
    V2_11,
    torch="2.12.1",
    vision="0.27.1",
    triton="3.7.1",
    sycl_tla="v0.8",
    onednn="v3.11.2",
    gcc="11.3",
    standard="20",
)
V2_13 = replace(
    V2_12,
    torch="2.13.0",
    vision="0.28.0",
    triton="3.7.2",
    oneapi="2026.0.0",
    sycl_tla="v0.9",
    onednn="v3.12",
    sycl_open=True,
)
V2_14 = replace(
    V2_13,
    torch="2.14.1",
    vision="0.29.1",
    triton="3.8.0",
    onednn="v3.12.3",
    onednn_cpu="NONE",
    oneapi="2026.1.0",
    era="scikit-build-core",
)
# Of 2.15.0 its wheel could be read, no build file of its tag: the rules are 2.14's (the ledger marks them elsewhere).
V2_15 = replace(V2_14, torch="2.15.0", vision="0.29.2", triton="3.9.1", triton_named="3.9.1+standin", oneapi="2026.1.2")
RELEASES = {
    release.torch.rpartition(".")[0]: release
    for release in (V2_4, V2_5, V2_6, V2_7, V2_8, V2_9, V2_10, V2_11, V2_12, V2_13, V2_14, V2_15)
}
ON_REQUEST = {
    "2.7-source": replace(
        V2_7,
        triton_read="b0e26b7359c147b8aa0af686c20510fb9b15990a",
        llvm="1188b1ff7b956cb65d8ddda5f1e56c432f1a57c7",
    ),
    "2.14-source": replace(
        V2_14,
        triton_read="1e2d42a0b9effcf91f035761fa7a6cd635213f3f",
        triton_cmake="3.20",
        llvm="62b7cf9623fc310525f39ed69aaecc318a909731",
    ),
}
"""Releases that take a wheel of Triton, and build it where that is asked for: with a profile that says how."""
