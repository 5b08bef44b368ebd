"""Looks at this machine and writes down Facts, only the sections that are asked for, all at the same time."""

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from xpusetup.base.errors import XpuError
from xpusetup.machine import (
    probe_hardware,
    probe_places,
    probe_python,
    probe_system,
    probe_tools,
    probe_torch,
    probe_userland,
)
from xpusetup.machine.facts import Facts, Held, Section
from xpusetup.system.files import Sysroot
from xpusetup.system.process import Notes

EVERYTHING: tuple[Section, ...] = get_args(Section)
WORKERS = 8
TOLD = (
    *("SETVARS_COMPLETED", "ONEAPI_ROOT", "CMPLR_ROOT", "SYCL_ROOT", "MKLROOT", "PTI_ROOT", "DNNLROOT", "CCL_ROOT"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LD_LIBRARY_PATH"),
    *("LD_PRELOAD", "LIBRARY_PATH", "CPATH", "PYTHONPATH", "PYTHONHOME", "CMAKE_PREFIX_PATH", "CMAKE_ARGS"),
    *("MAX_JOBS", "USE_XPU", "USE_CUDA", "TORCH_XPU_ARCH_LIST", "TORCH_DEVICE_BACKEND_AUTOLOAD", "TMPDIR"),
    *(
        "OCL_ICD_VENDORS",
        "OCL_ICD_FILENAMES",
        "CCL_ALLREDUCE",
        "CCL_ENABLE_SYCL_KERNELS",
        "CCL_TOPO_P2P_ACCESS",
        "ForceZeDeviceCanAccessPerReturnValue",
        "DIFFUSERS_ATTN_BACKEND",
    ),
    *("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY"),
    *(
        "SYCL_PI_TRACE",
        "SYCL_DUMP_IMAGES",
        "SYCL_CACHE_PERSISTENT",
        "SYCL_DEVICE_ALLOWLIST",
        "SYCL_PRINT_EXECUTION_GRAPH",
        "SYCL_USE_KERNEL_SPV",
        "UR_ADAPTERS_FORCE_LOAD",
        "NEO_CACHE_DIR",
        "NEO_CACHE_PERSISTENT",
        "TRITON_CACHE_DIR",
        "ZE_PATH",
        "ZE_ENABLE_NULL_DRIVER",
        "ZE_ENABLE_ALT_DRIVERS",
    ),
    *("LEVEL_ZERO_V1_SDK_PATH", "PYTORCH_ENABLE_XPU_FALLBACK", "PYTORCH_DEBUG_XPU_FALLBACK"),
    *("PYTORCH_XPU_FALLBACK_OP", "_GLIBCXX_USE_CXX11_ABI", "PT_HPU_LAZY_MODE", "PT_ENABLE_INT64_SUPPORT"),
    *("PT_HPU_ENABLE_LAZY_COLLECTIVES", "HABANA_VISIBLE_DEVICES", "GC_KERNEL_PATH", "ASCEND_HOME_PATH"),
    *("ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_RT_VISIBLE_DEVICES", "LOADEDMODULES", "SHELLOPTS"),
)
"""Variables that decide builds and runs; no other is written down."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What a probe is about.

    `places` are folders that a build writes to with what each holds, `toolkit` one more place to look in.
    `adopted`: `python` is the interpreter of an environment into which a build installs. `environments` are prefixes
    that may hold a torch, looked at before those that are active; `imports`: it may be imported, which takes seconds.
    `hosts` are those whose answer is asked for, `network` the variables by which a site's mirrors reach git and pip,
    `compilers` what a site has instead of gcc and g++.
    """

    places: Mapping[Path, Sequence[Held]] = field(default_factory=dict)
    python: str = ""
    toolkit: str = ""
    adopted: bool = False
    environments: tuple[str, ...] = ()
    imports: bool = True
    hosts: tuple[str, ...] = ()
    network: Mapping[str, str] = field(default_factory=dict)
    compilers: Mapping[str, str] = field(default_factory=dict)


def probe(sections: Iterable[Section] = EVERYTHING, about: Ask | None = None) -> Facts:
    """Probe this machine. Raises what a section raises for its user; a probe that breaks otherwise is a note."""
    notes: Notes = {}
    probes = _probes(Sysroot.from_environment(), about or Ask(), notes)
    with ThreadPoolExecutor(WORKERS) as pool:
        tasks = {section: pool.submit(_guarded, section, probes, notes) for section in sections}
        seen = {section: task.result() for section, task in tasks.items()}
    taken = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    found: dict[str, Any] = {str(section): told for section, told in seen.items()}
    return Facts(taken=taken, **found, notes=dict(sorted(notes.items())))


def _probes(sysroot: Sysroot, about: Ask, notes: Notes) -> Mapping[Section, Callable[[], object]]:
    adopt = probe_python.probe_adopted if about.adopted else probe_python.probe_python
    return {
        "system": lambda: probe_system.probe_system(sysroot),
        "resources": lambda: probe_system.probe_resources(sysroot, about.places),
        "hardware": lambda: probe_hardware.probe_hardware(sysroot),
        "kernel": lambda: probe_hardware.probe_kernel(sysroot, notes),
        "userland": lambda: probe_userland.probe_userland(sysroot, notes),
        "container": lambda: probe_places.probe_container(sysroot),
        "network": lambda: probe_places.probe_network(sysroot, about.hosts, notes, about.network),
        "toolkits": lambda: probe_tools.probe_toolkits(sysroot, about.toolkit, notes),
        "tools": lambda: probe_tools.probe_programs(about.compilers),
        "python": lambda: adopt(about.python),
        "torch": lambda: probe_torch.probe_torch(about.environments, sysroot, notes, imports=about.imports),
        "tree": probe_places.probe_tree,
        "caches": probe_places.probe_caches,
        "gaudi": lambda: probe_hardware.probe_gaudi(sysroot, notes),
        "ascend": lambda: probe_hardware.probe_ascend(sysroot, notes),
        "environment": lambda: {name: os.environ[name] for name in TOLD if name in os.environ},
    }


def _guarded(section: Section, probes: Mapping[Section, Callable[[], object]], notes: Notes) -> object:
    try:
        return probes[section]()
    except XpuError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a machine holds, the other sections are still worth having
        notes[section] = f"the probe itself failed: {type(error).__name__}: {error}"
        return None
