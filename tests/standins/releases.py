"""What differs between the releases that the stand-ins stand for: versions, and the rules of their builds."""

from dataclasses import dataclass, replace
from typing import Literal

Era = Literal["setup.py", "scikit-build-core"]


@dataclass(frozen=True)
class Release:
    """One torch release: what belongs to it, and what its configure insists on.

    `oneapi` is the compiler it is tried with, `needs` are variables of the component scripts that have to be sourced,
    `requirements` the file that names its build requirements, `setuptools` what that asks of it.
    """

    torch: str
    vision: str
    audio: str
    triton: str
    oneapi: str
    triton_under: str = "python"
    era: Era = "setup.py"
    new_abi: bool = False
    arch_source: str = "$ENV{TORCH_XPU_ARCH_LIST}"
    arch_default: str = "pvc,xe-lpg,ats-m150"
    pkg_resources: str = "import pkg_resources"
    sycl_tla: str = ""
    gcc: str = "9.3"
    cmake: str = "3.18"
    standard: str = "17"
    needs: str = ""
    requirements: str = "requirements.txt"
    setuptools: str = "setuptools"

    @property
    def year(self) -> str:
        """The oneAPI's year and minor version, which its run-time libraries share."""
        return self.oneapi.rpartition(".")[0]


V2_5 = Release("2.5.1", "0.20.1", "2.5.1", "3.1.0", "2024.1.4")
V2_4 = replace(
    V2_5, torch="2.4.1", vision="0.19.1", audio="2.4.1", triton="3.0.0", new_abi=True, arch_default="pvc,xe-lpg"
)
V2_6 = replace(
    V2_5, torch="2.6.0", vision="0.21.0", audio="2.6.0", triton="3.2.0", oneapi="2025.0.2", needs="UMF_ROOT PTI_ROOT"
)
V2_7 = replace(
    V2_6,
    torch="2.7.1",
    vision="0.22.1",
    audio="2.7.1",
    triton="3.3.1",
    oneapi="2025.0.4",
    arch_default="pvc,bmg,dg2,arl-h,mtl-h,lnl-m",
    needs="UMF_ROOT PTI_ROOT CCL_ROOT I_MPI_ROOT MKLROOT",
)
V2_8 = replace(
    V2_7,
    torch="2.8.0",
    vision="0.23.0",
    audio="2.8.0",
    triton="3.4.0",
    triton_under="",
    oneapi="2025.1.1",
    arch_source="${TORCH_XPU_ARCH_LIST}",
    cmake="3.27",
    needs="UMF_ROOT PTI_ROOT CCL_ROOT I_MPI_ROOT",
    setuptools="setuptools>=62.3.0,<80.0",
)
V2_9 = replace(
    V2_8,
    torch="2.9.1",
    vision="0.24.1",
    audio="2.9.1",
    triton="3.5.0",
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
V2_12 = replace(V2_11, torch="2.12.1", vision="0.27.1", triton="3.7.1", sycl_tla="v0.8", gcc="11.3", standard="20")
V2_13 = replace(V2_12, torch="2.13.0", vision="0.28.0", triton="3.7.2", oneapi="2026.0.0", sycl_tla="v0.9")
V2_14 = replace(
    V2_13,
    torch="2.14.1",
    vision="0.29.1",
    triton="3.8.0",
    oneapi="2026.1.0",
    era="scikit-build-core",
    needs="UMF_ROOT PTI_ROOT TCM_ROOT CCL_ROOT I_MPI_ROOT",
)
RELEASES = {
    release.torch.rpartition(".")[0]: release
    for release in (V2_4, V2_5, V2_6, V2_7, V2_8, V2_9, V2_10, V2_11, V2_12, V2_13, V2_14)
}
