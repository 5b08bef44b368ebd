"""Stand-ins for the upstream repositories of the torch profiles, each release with the layout and rules of its own.

Words: an *upstream* is a repository at its real URL; its *rev* is the pinned commit, which no branch points at.
`git_environment` makes git go to the local repositories wherever a real URL is written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from standins.releases import ON_REQUEST, RELEASES, Release, insisted, ours_of
from standins.repository import Source, Submodule, write_repository

GITHUB = "https://github.com/"
TORCH = f"{GITHUB}pytorch/pytorch"
TORCH_XPU_OPS = f"{GITHUB}intel/torch-xpu-ops"
VISION = f"{GITHUB}pytorch/vision"
AUDIO = f"{GITHUB}pytorch/audio"
TRITON = f"{GITHUB}intel/intel-xpu-backend-for-triton"
FMT = f"{GITHUB}fmtlib/fmt"
PYBIND11 = f"{GITHUB}pybind/pybind11"
FBGEMM = f"{GITHUB}pytorch/FBGEMM"
ASMJIT = f"{GITHUB}asmjit/asmjit"
SYCL_TLA = f"{GITHUB}intel/sycl-tla"
IDEEP = f"{GITHUB}intel/ideep"
MKL_DNN = f"{GITHUB}intel/mkl-dnn"
ONEDNN = f"{GITHUB}uxlfoundation/oneDNN"
TRANSLATOR = f"{GITHUB}KhronosGroup/SPIRV-LLVM-Translator"
SPIRV_HEADERS = f"{GITHUB}KhronosGroup/SPIRV-Headers"
IF_PROTON = 'if check_env_flag("TRITON_BUILD_PROTON", "ON"):  # Default ON'
PROFILER = 'packages += ["triton/profiler"]'
"""Lines of Triton's setup.py, which a patch of a profile names: 3.0 lists the profiler also where it was left out."""


@dataclass(frozen=True)
class Upstreams:
    """Real URL -> bare repository, component -> pinned commit, component -> tag of that commit.

    `store`: where fetched objects are kept, a folder beside the repositories unless it is said.
    """

    base: Path
    repos: Mapping[str, Path]
    revs: Mapping[str, str]
    tags: Mapping[str, str]
    refuse_sha: bool = False
    store: str = ""


def make_upstreams(base: Path, *, release: str, refuse_sha: bool = False) -> Upstreams:
    """All repositories of one release below `base`; `refuse_sha`: a server that hands out branches and tags alone."""
    rules = (RELEASES | ON_REQUEST)[release]
    repos: dict[str, Path] = {}
    revs: dict[str, str] = {}
    tags: dict[str, str] = {}

    def add(component: str, source: Source) -> None:
        repos[source.url] = base / f"{source.url.removeprefix(GITHUB)}.git"
        revs[component] = write_repository(repos[source.url], source, refuse_sha=refuse_sha)
        if source.tag:
            tags[component] = source.tag

    for component, source in _libraries(rules):
        add(component, source)
    add("fbgemm", Source(FBGEMM, ("fbgemm",), submodules=(Submodule("external/asmjit", ASMJIT, revs["asmjit"]),)))
    add("ideep", Source(IDEEP, ("ideep",), submodules=(Submodule("mkl-dnn", MKL_DNN, revs["mkl-dnn"]),)))
    if rules.llvm:
        add("SPIRV-Headers", Source(SPIRV_HEADERS, ("spirv-headers",)))
        tag = {"spirv-headers-tag.conf": f"{revs['SPIRV-Headers']}\n"}
        add("SPIRV-LLVM-Translator", Source(TRANSLATOR, ("spirv-llvm-translator",), files=tag))
    add("triton", _triton(rules, revs))
    add("torch", _torch(rules, revs))
    return Upstreams(base, repos, revs, tags, refuse_sha)


def git_environment(upstreams: Upstreams) -> dict[str, str]:
    """GIT_CONFIG_* that send the real URLs to the local repositories, and every other one of the host nowhere."""
    settings = [("protocol.file.allow", "always"), ("xpusetup.store", upstreams.store or f"{upstreams.base}/store")]
    settings += [
        (f"url.file://{path}.insteadOf", url + ending)
        for url, path in upstreams.repos.items()
        for ending in ("", ".git")
    ]
    settings.append((f"url.file://{upstreams.base}/absent/.insteadOf", GITHUB))
    if upstreams.refuse_sha:
        settings.append(("protocol.version", "0"))  # protocol 2 hands out any commit, whatever the server's settings
    numbered = {
        f"GIT_CONFIG_{part}_{number}": value
        for number, setting in enumerate(settings)
        for part, value in zip(("KEY", "VALUE"), setting, strict=True)
    }
    return {"GIT_CONFIG_COUNT": str(len(settings)), **numbered}


def _libraries(release: Release) -> tuple[tuple[str, Source], ...]:
    ops = {
        "XPU_ARCH_SOURCE": release.arch_source,
        "XPU_ARCH_DEFAULT": release.arch_default,
        "SYCL_TLA_TAG": release.sycl_tla,
    }
    tla = Source(SYCL_TLA, (), files={"include/cute/config.hpp": "#pragma once\n"}, tag=release.sycl_tla)
    return (
        ("fmt", Source(FMT, ("fmt",))),
        ("pybind11", Source(PYBIND11, ("pybind11",))),
        ("asmjit", Source(ASMJIT, ("asmjit",))),
        ("torch-xpu-ops", Source(TORCH_XPU_OPS, ("torch-xpu-ops",), words=ops)),
        *((("sycl-tla", tla),) if release.sycl_tla else ()),
        ("mkl-dnn", _onednn(release, MKL_DNN)),
        *((("oneDNN", _onednn(release, ONEDNN)),) if release.onednn else ()),
        ("torchvision", _extension(release, VISION)),
        ("torchaudio", _extension(release, AUDIO)),
    )


def _onednn_source(release: Release) -> str:
    """Give where the build has oneDNN from, as FindMKLDNN.cmake of that release says it."""
    if not release.onednn:
        return "SOURCE_DIR ${PROJECT_SOURCE_DIR}/third_party/ideep/mkl-dnn"
    return f"GIT_REPOSITORY {GITHUB}{release.onednn_owner}/oneDNN\n  GIT_TAG {release.onednn}"


def _onednn(release: Release, url: str) -> Source:
    """Give oneDNN under one of its names: the submodule of ideep has the CPU's, which up to 2.6 was the XPU's too."""
    words = {"ONEDNN_VERSION": release.onednn.removeprefix("v") or "3.5.3", "ONEDNN_CPU_RUNTIME": release.onednn_cpu}
    return Source(url, ("onednn",), words=words, tag=release.onednn if url == ONEDNN else "")


def _extension(release: Release, url: str) -> Source:
    vision = url == VISION
    version = release.vision if vision else release.audio
    words = {
        "NAME": "torchvision" if vision else "torchaudio",
        "EXTENSION": "_C" if vision else "_torchaudio",
        "SOURCE_DIR": "" if vision else "src/",
        "SOURCES": "torchvision/csrc/vision.cpp" if vision else "src/libtorchaudio/audio.cpp",
        "IMPORT_PKG_RESOURCES": release.pkg_resources,
        "INSISTED": "" if vision else insisted("audio", version),
        "SYCL_ROOTS": "SYCL_ROOT CMPLR_ROOT" if not vision and "SYCL_ROOT" in ours_of("audio", version, "env") else "",
    }
    templates = ("extension", "vision" if vision else "audio")
    return Source(url, templates, words=words, files={"version.txt": f"{version}a0\n"}, tag=f"v{version}")


def _triton(release: Release, revs: Mapping[str, str]) -> Source:
    """Give Triton: where the profile builds it, with all that its real build asks for."""
    words = {"TRITON_VERSION": release.triton}
    if not release.llvm:
        return Source(TRITON, ("triton",), release.triton_under, words, tag=f"v{release.triton}")
    if not release.pybind11:
        return _triton_on_request(release, revs)
    words |= {
        "TRITON_READ": release.triton_read,
        "TRITON_OFFLINE": "" if release.triton == "3.0.0" else "1",
        "TRITON_EXTERNAL": "NO" if release.triton == "3.0.0" else "YES",
        "TRITON_PROFILER": f"    {PROFILER}" if release.triton == "3.0.0" else f"    {IF_PROTON}\n        {PROFILER}",
        "TRITON_REQUIRES": ", ".join(f'"{name}"' for name in release.triton_requires),
    }
    files = {
        "cmake/llvm-hash.txt": f"{release.llvm}\n",
        "cmake/pybind11-version.txt": release.pybind11,
        "lib/Target/SPIRV/spirv-llvm-translator.conf": f"{revs['SPIRV-LLVM-Translator']}\n",
    }
    return Source(TRITON, ("triton-cmake",), "", words, files, tag=f"v{release.triton}")


def _triton_on_request(release: Release, revs: Mapping[str, str]) -> Source:
    """Give Triton as it is from 3.3 on; from 3.4 on setup.py is in the root, later LLVM's hash is in a file of JSON."""
    new = release.triton_under == ""
    words = {
        "TRITON_VERSION": release.triton,
        "TRITON_READ": release.triton_read,
        "TRITON_CMAKE": release.triton_cmake,
        "TRITON_HELPED": "YES" if new else "NO",
        "TRITON_LLVM": release.llvm,
        "TRITON_PATCHES": "3122.patch" if new else "",
    }
    info = {"llvm_hash": release.llvm, "build_number": 2, "sha256sum": {"almalinux-x64": "0" * 64}}
    named = {"cmake/llvm-info.json": json.dumps(info)} if new else {"cmake/llvm-hash.txt": f"{release.llvm}\n"}
    conf = {"third_party/intel/lib/Target/SPIRV/spirv-llvm-translator.conf": f"{revs['SPIRV-LLVM-Translator']}\n"}
    templates = ("triton-cmake", "triton-3.3", *(("triton-3.8",) if new else ()))
    return Source(TRITON, templates, "", words, {**named, **conf}, tag=f"v{release.triton}")


def _torch(release: Release, revs: Mapping[str, str]) -> Source:
    files = {
        **_requirements(release),
        "version.txt": f"{release.torch.rpartition('.')[0]}.0a0\n",
        "third_party/xpu.txt": revs["torch-xpu-ops"] + "\n",
        ".ci/docker/ci_commit_pins/triton-xpu.txt": revs["triton"] + "\n",
        ".ci/docker/triton_xpu_version.txt": (release.triton_named or release.triton) + "\n",
        ".github/ci_commit_pins/vision.txt": revs["torchvision"] + "\n",
        ".github/ci_commit_pins/audio.txt": revs["torchaudio"] + "\n",
    }
    submodules = (
        Submodule("third_party/fbgemm", FBGEMM, revs["fbgemm"]),
        Submodule("third_party/fmt", f"{FMT}.git", revs["fmt"]),
        Submodule("third_party/ideep", IDEEP, revs["ideep"]),
        Submodule("third_party/pybind11", f"{PYBIND11}.git", revs["pybind11"]),
    )
    words = {
        "CMAKE_MINIMUM": release.cmake,
        "GCC_MINIMUM": release.gcc,
        "CXX_STANDARD": release.standard,
        "NEW_ABI_ALONE": "ON" if release.new_abi else "OFF",
        "NEEDED_VARIABLES": release.needs,
        "INSISTED": insisted("torch", release.torch),
        "SYCL_OPEN": "ON" if release.sycl_open else "OFF",
        "REQUIREMENTS": release.requirements,
        "ONEDNN_SOURCE": _onednn_source(release),
        "ONEDNN_CPU_RUNTIME": release.onednn_cpu,
    }
    templates = ("torch", f"torch-{release.era}")
    return Source(TORCH, templates, "", words, files, submodules, tag=f"v{release.torch}", annotated=True)


def _requirements(release: Release) -> dict[str, str]:
    """Name what a build needs: to 2.8 in the file that holds all else too, then in one of its own."""
    build = (release.setuptools, "ninja", "packaging", "pyyaml", "typing-extensions>=4.8.0")
    texts = {release.requirements: "".join(f"{line}\n" for line in build)}
    if release.requirements != "requirements.txt":
        texts["requirements.txt"] = f"-r {release.requirements}\nexpecttest>=0.3.0\nhypothesis\n"
    return texts
