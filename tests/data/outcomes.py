"""What has to be said of each machine of data.ailing: a table to hold against what a good engineer would say.

Columns: what ails a build here, what ails running here (root causes, in order), the way and a part of its reason.
`told` are findings that are no causes and still what the machine is about.
`kept`: its PyTorch stays. An empty `why` is the usual one: wheels are published, or what is here serves.
`asked`: a release that was named; otherwise the newest that fits.
"""

from __future__ import annotations

from dataclasses import dataclass

KIT = ("oneapi.compiler",)
OTHERS = "no accelerator is on the PCI bus"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What doctor and the bare command have to say."""

    build: tuple[str, ...] | None = ()
    run: tuple[str, ...] = ()
    way: tuple[str, str]
    why: str = ""
    told: tuple[str, ...] = ()
    kept: bool = False
    asked: str = ""


def _kept(run: str = "", *, release: str = "torch-2.14", build: tuple[str, ...] = (), **more: str) -> Outcome:
    """Give what is said where the PyTorch that is here stays, once one thing is mended."""
    causes = (run,) if run else ()
    told = (more["told"],) if "told" in more else ()
    return Outcome(build=build, run=causes, way=("wheel", release), told=told, kept=True)


def _none(run: str, why: str) -> Outcome:
    return Outcome(build=KIT, run=(run,), way=("none", "torch-2.14"), why=why)


OUTCOMES: dict[str, Outcome] = {
    # well, or nearly so
    "max1550-ubuntu-22.04": _kept(release="torch-2.12"),
    "max1550-sles-15": _kept(release="torch-2.12"),
    "max1550-asked-for-2.14": Outcome(
        build=("oneapi.version_vs_torch",),
        way=("wheel", "torch-2.14"),
        why="2025.3 is the line of oneAPI that is kept up for these GPUs",
        asked="torch-2.14",
    ),
    "cluster-modules": _kept(release="torch-2.12"),
    "b580-ubuntu-24.04": _kept(),
    "b580-without-oneapi": _kept(build=KIT),
    "b580-asked-for-2.5": Outcome(
        build=("oneapi.version_vs_torch",),
        way=("wheel", "torch-2.5"),
        why="torch-2.5 is not advised: no bmg in its targets",
        told=("hw.release_has_code",),
        asked="torch-2.5",
    ),
    "b580-asked-for-2.6": Outcome(
        build=KIT,
        way=("wheel", "torch-2.6"),
        why="torch-2.6 is not advised: no bmg in its targets",
        told=("hw.release_has_code",),
        asked="torch-2.6",
    ),
    "a770-ubuntu-24.04": _kept(told="hw.no_native_fp64"),
    "four-b60": _kept(),
    "igpu-and-b580": _kept(told="umd.igpu_dgpu_mix"),
    "lunar-lake": _kept(build=KIT),
    "meteor-lake": _kept(build=KIT),
    "panther-lake": _kept(build=KIT),
    "wsl2": _kept(build=KIT, told="wsl.alloc_limit"),
    "gcc-16": _kept(),
    # kernel and hardware
    "b580-kernel-6.8": Outcome(
        build=KIT,
        run=("kmd.force_probe", "umd.ze_intel_gpu"),
        way=("wheel", "torch-2.14"),
    ),
    "b580-small-bar": _kept("hw.small_bar"),
    "a770-small-bar": _kept(told="hw.small_bar"),
    "i915-blacklisted": _kept("kmd.blacklisted"),
    "force-probe-missing": Outcome(
        build=KIT,
        run=("kmd.force_probe",),
        way=("wheel", "torch-2.14"),
        kept=True,
    ),
    "max1550-without-dkms": _kept("kmd.pvc_needs_backports", release="torch-2.12"),
    "firmware-missing": _kept("fw.guc_missing"),
    "guc-fails": _kept("fw.gpu_wedged"),
    "wedged-and-closed": Outcome(run=("fw.gpu_wedged", "perm.render_group"), way=("wheel", "torch-2.14"), kept=True),
    "arch-driver-of-2023": _kept("umd.older_than_gpu"),
    "selector-without-devices": _kept("umd.device_filter_env"),
    "loader-of-another-release": _kept("runtime.ur_mixed"),
    "program-aborts": _kept("umd.ze_init"),
    "gpu-given-to-a-guest": _kept("kmd.bound"),
    "coffee-lake": _none("hw.legacy_gpu", "is older than Tiger Lake, and no PyTorch has code for it"),
    "tiger-lake": Outcome(
        build=KIT,
        way=("wheel", "torch-2.14"),
        why="no release was ever compiled for it",
        told=("hw.release_has_code",),
    ),
    # access, WSL2 and the user-mode driver
    "container-without-node": _kept("container.no_device"),
    "container-wrong-gid": _kept("perm.container_gid"),
    "render-group-missing": _kept("perm.render_group"),
    "session-older": _kept("perm.session"),
    "wsl2-without-dxg": Outcome(build=KIT, run=("wsl.dxg",), way=("wheel", "torch-2.14"), kept=True),
    "wsl2-old-driver": Outcome(
        build=KIT,
        run=("wsl.neo_old",),
        way=("wheel", "torch-2.14"),
        kept=True,
    ),
    "driver-mixed": _kept("umd.mixed_driver_packages"),
    "stock-driver": Outcome(
        run=("umd.stock_ubuntu_too_old",),
        way=("wheel", "torch-2.14"),
        kept=True,
    ),
    "zeinit-fails": _kept("umd.ze_init"),
    "only-opencl": Outcome(
        run=("umd.ze_intel_gpu",),
        way=("wheel", "torch-2.14"),
        kept=True,
    ),
    "filter-hides-it": _kept("umd.device_filter_env"),
    # the environment and what is in it
    "setvars-beside-wheels": _kept("runtime.ur_mixed"),
    "two-sycl-runtimes": _kept("runtime.ur_mixed"),
    "two-oneapi-on-the-path": Outcome(way=("wheel", "torch-2.14"), told=("setvars.ld_duplicates",)),
    "conda-libstdcxx": _kept("setvars.conda_libstdcxx"),
    "cpu-torch": Outcome(run=("torch.is_xpu_build",), way=("wheel", "torch-2.14")),
    "cuda-torch": Outcome(run=("torch.is_xpu_build",), way=("wheel", "torch-2.14")),
    "two-tritons": _kept("triton.package"),
    "broken-autoload": _kept("autoload.entry_points"),
    "torch-npu-beside": _kept("npu.two_accelerators"),
    "ipex-left-over": _kept(told="torch.ipex"),
    "old-fallback-variable": _kept("torch.fallback_env"),
    "runtime-updated-alone": _kept("torch.pip_sycl_wheels"),
    # what compiles
    "toolkit-too-old": Outcome(build=("oneapi.version_vs_torch",), way=("wheel", "torch-2.14")),
    "toolkit-too-new": Outcome(build=("oneapi.version_vs_torch",), way=("wheel", "torch-2.14")),
    "gcc-missing": _kept(build=("cc.gcc",)),
    "gcc-too-old": Outcome(build=("cc.gcc_version",), way=("wheel", "torch-2.14")),
    "cxx-icpx": Outcome(way=("wheel", "torch-2.14"), told=("cc.libstdcxx_dev",)),
    "python-3.9": Outcome(build=("py.version",), run=("py.version",), way=("wheel", "torch-2.14")),
    "no-venv-module": Outcome(build=("py.venv",), run=("py.venv",), way=("wheel", "torch-2.14")),
    "stale-cmake-cache": _kept(told="cmake.stale_cache"),
    "tarball-checkout": _kept(told="net.tarball_checkout"),
    # places
    "cgroup-4-gib": _kept(told="res.memory_jobs"),
    "disk-full": _kept(build=("res.disk",)),
    "quota-full": _kept(release="torch-2.12", build=("res.disk",)),
    "proxy-with-password": _kept(told="net.credentials"),
    "offline": Outcome(build=(*KIT, "net.git_reach"), run=("net.wheels_reach",), way=("wheel", "torch-2.14")),
    "no-gpu-debian-12": _none("hw.intel_gpu_present", OTHERS),
    "no-gpu-rhel-9": _none("hw.intel_gpu_present", OTHERS),
    "no-gpu-arch-linux": _none("hw.intel_gpu_present", OTHERS),
    "nvidia-and-its-torch": _none("hw.intel_gpu_present", "NVIDIA GPU 10de:2684 is served by PyTorch's own wheels"),
    "nvidia-only": _none("hw.intel_gpu_present", "NVIDIA GPU 10de:2684 is served by PyTorch's own wheels"),
    "amd-only": _none("hw.intel_gpu_present", "AMD GPU 1002:744c is served by PyTorch's own wheels"),
    # other accelerators: whether to build for Intel GPUs is no question there
    "gaudi2": Outcome(
        build=None, way=("image", ""), why="Gaudi runs a PyTorch of its own", kept=True, told=("hpu.present",)
    ),
    "gaudi2-old-driver": Outcome(
        build=None,
        run=("hpu.release",),
        way=("image", ""),
        kept=True,
        why="driver, firmware and image must be of one release",
    ),
    "gaudi2-without-module": Outcome(
        build=None, run=("hpu.modules",), way=("image", ""), why="Gaudi runs a PyTorch of its own"
    ),
    "gaudi2-asked-for-1.22": Outcome(
        run=("hpu.release",), way=("wheel", "gaudi-1.22"), why="nothing is compiled", asked="gaudi-1.22"
    ),
    "intel-npu-asked-for-gaudi": Outcome(
        run=("hw.intel_gpu_present",), way=("wheel", "gaudi-1.24.1"), why="nothing is compiled", asked="gaudi-1.24.1"
    ),
    "ascend-910b": Outcome(
        build=None, way=("wheel", ""), why="torch-npu wants exactly its own release", kept=True, told=("npu.present",)
    ),
    "ascend-without-cann": Outcome(
        build=None,
        run=("npu.cann_env",),
        way=("wheel", ""),
        kept=True,
        why="CANN's set_env.sh",
    ),
}
