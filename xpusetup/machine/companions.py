"""What belongs beside a torch, and the commands that install it so that this torch stays. Pure.

torchvision, torchaudio and torchcodec of the package index are built for CUDA, and their metadata fits any torch of the
release: pip takes them beside a torch for XPU, and their import fails. So each is named with its version, its build and
the index of that build, and without its requirements.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from xpusetup.base.command import Command
from xpusetup.machine.pairs import NEWEST, own_release

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.machine.environments import InstalledTorch

INDEX = "https://download.pytorch.org/whl"
"""PyTorch's index: a folder for each local version that LOCAL takes."""
OF_INTEL = "https://pytorch-extension.intel.com/release-whl/stable/xpu/us/"
"""Intel's index of the releases that its extension was made for (+cxx11.abi)."""
LOCAL = re.compile(r"cpu|xpu|cu\d+|rocm[\d.]+")
"""Local versions for which PyTorch's index has a folder."""
PIP = "python -m pip"
TRITONS = ("triton", "triton-xpu", "pytorch-triton-xpu", "pytorch-triton", "triton-ascend")
COMPANIONS = ("torchvision", "torchaudio", "torchcodec", "torchao", "torch-npu")
FAMILY = frozenset((*COMPANIONS, *TRITONS))
"""What is made for one torch, or writes into a folder that another one of these has."""
TRITON_XPU = (2, 10)
"""The release from which on Triton for XPU is called triton-xpu."""
CODECS = dict(enumerate(("0.1.*", "0.2.*", "0.5.*", "0.7.*", "0.9.*", "0.10.*", "0.15.0", "0.15.0", "0.15.0"), start=5))
"""The torchcodec of each torch 2.x; 0.15 serves 2.11 and later ones (stable interface)."""
NEWEST_CODEC = "0.17.0"
MAJOR = 2
IN_PACKAGE_INDEX = ("torchao", "torch-npu", "triton-ascend")
ANY_VERSION = ("torchao", "triton-ascend")
"""What requires no torch of one release."""

Make = Literal["xpu", "cpu", "cuda", "intel", "vendor", "index"]
"""For what a torch was made: `intel` is of Intel's index, `vendor` of no public one, `index` of the package index."""


@dataclass(frozen=True)
class TorchThere:
    """A torch that commands leave as it is.

    `version`: with its local part. `known`: versions that belong beside it, by name. `for_xpu`: it is built for XPU,
    whatever its version says. `npu`: torch_npu is beside it.
    """

    version: str
    known: Mapping[str, str] = field(default_factory=dict)
    for_xpu: bool = False
    npu: bool = False

    @property
    def pin(self) -> str:
        return f"torch=={self.version}"

    @property
    def local(self) -> str:
        return self.version.partition("+")[2]

    @property
    def release(self) -> tuple[int, int, int]:
        """Give its release; 0 for a number that is not there."""
        found = [int(each) for each in re.findall(r"\d+", re.split(r"[a-z+]", self.version)[0])[:3]]
        major, minor, patch = (*found, 0, 0, 0)[:3]
        return major, minor, patch

    @property
    def is_nightly(self) -> bool:
        """Say whether it is a nightly of PyTorch's index."""
        return re.search(r"\.dev\d{8}\+", self.version) is not None

    @property
    def make(self) -> Make:
        """Say for what it was made, by its version."""
        if LOCAL.fullmatch(self.local):
            return "xpu" if self.local == "xpu" else "cpu" if self.local == "cpu" else "cuda"
        if self.local == "cxx11.abi":
            return "intel"
        if self.local or re.search(r"\da0", self.version):
            return "vendor"
        return "xpu" if self.for_xpu else "index"

    @property
    def build(self) -> str:
        """Give the local version of the builds that go with it; a vendor's torch takes those for the CPU."""
        if self.make == "vendor":
            return "xpu" if self.for_xpu else "cpu"
        return "xpu" if self.make == "xpu" else self.local

    @property
    def index(self) -> str:
        """Give the index of that build; empty where it is the package index."""
        return index_of(self.build, nightly=self.is_nightly)


def index_of(build: str, *, nightly: bool = False) -> str:
    """Give the index that has builds of a local version; empty where that is the package index."""
    if build == "cxx11.abi":
        return OF_INTEL
    return f"{INDEX}/{'nightly/' if nightly else ''}{build}" if LOCAL.fullmatch(build) else ""


def torch_there(torch: InstalledTorch | None, known: Mapping[str, str] | None = None) -> TorchThere | None:
    """Give the torch of an environment as commands have to leave it; None where there is none that is known.

    Of its own pins none is older than what is `known` of its release.
    """
    if torch is None or not re.match(r"\d", torch.version or ""):
        return None
    pins = dict(pin.split("==", 1) for pin in torch.requires if pin.count("==") == 1)
    for_xpu = bool(torch.xpu) or bool(torch.report and torch.report.compiled)
    npu = "torch-npu" in torch.distributions
    return TorchThere(torch.version or "", {**(known or {}), **pins}, for_xpu, npu)


def version_beside(name: str, torch: TorchThere) -> str:
    """Give the version, with its build, that belongs to a torch; empty where it is not known, or any does."""
    version = torch.known.get(name, "").partition("+")[0] or _pair(name, torch)
    build = _build(name, torch) if name in COMPANIONS else ""
    return f"{version}+{build}" if version and build and "*" not in version else version


def _pair(name: str, torch: TorchThere) -> str:
    """Give the version that goes with a release of torch 2, as the projects number theirs; empty where not known."""
    major, minor, patch = torch.release
    if major != MAJOR or torch.is_nightly:
        return ""
    if name in NEWEST:
        return own_release(name, torch.release)
    if name == "torch-npu":
        return f"{major}.{minor}.{patch}.*"
    return CODECS.get(minor, NEWEST_CODEC) if name == "torchcodec" else ""


def _build(name: str, torch: TorchThere) -> str:
    """Give the build of a companion: torchcodec has none for XPU, and what is in IN_PACKAGE_INDEX has one for all."""
    if name in IN_PACKAGE_INDEX:
        return ""
    return "cpu" if name == "torchcodec" and torch.build == "xpu" else torch.build


def triton_of(torch: TorchThere) -> str:
    """Give the Triton of a torch; empty where it has none."""
    if torch.npu:
        return "triton-ascend"
    if torch.build == "xpu":
        return "triton-xpu" if torch.release[:2] >= TRITON_XPU else "pytorch-triton-xpu"
    return "triton" if torch.make in ("cuda", "index") else ""


def index_beside(name: str, torch: TorchThere) -> str:
    """Give the index that has a companion or Triton for a torch; empty where that is the package index."""
    if name in TRITONS:
        return torch.index if "xpu" in name else ""
    return index_of(_build(name, torch), nightly=torch.is_nightly)


def install_beside(
    names: Sequence[str],
    torch: TorchThere | None,
    installer: str = PIP,
    options: Sequence[str] = (),
    build: str = "LOCAL",
) -> list[Command]:
    """Give the commands that install companions and Tritons beside a torch, which stays; nothing for what it has not.

    Where the torch is not known, what has to be filled in stands in capitals: no installer takes such a command.
    `options` go before all others; `build` is the local version that is meant then.
    """
    if torch is None:
        ask = Command("python -c 'import torch; print(torch.__version__)'")
        return [ask, *_unfilled(names, installer, options, build)]
    wanted = dict.fromkeys(triton_of(torch) if name in TRITONS else name for name in names)
    calls: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for name in filter(None, wanted):
        before, word, after = _call(name, torch)
        own = tuple(each for each in before if each not in options)
        calls.setdefault(((*options, *own), after), []).append(word)
    told = ((*before, *words, *after) for (before, after), words in calls.items())
    return [Command(f"{installer} install {shlex.join(words)}") for words in told]


def _unfilled(names: Sequence[str], installer: str, options: Sequence[str], build: str) -> Iterator[Command]:
    """Give commands that nobody can run before they are filled in."""
    for index in ("", f"{INDEX}/{build}"):
        those = [f"{name}==VERSION" for name in names if (name in IN_PACKAGE_INDEX) != bool(index)]
        words = (*options, "--no-deps", *those, *(("--index-url", index) if index else ()))
        if those:
            yield Command(f"{installer} install {shlex.join(words)}", gaps=("VERSION",))


def _call(name: str, torch: TorchThere) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Give a companion with its version, and the options that an installer takes before and after it.

    Where that is not known, torch stands beside it as it is, so that the installer finds the one that requires it. Any
    version of a series is there already, perhaps of another build: only `--force-reinstall` replaces that.
    """
    version = version_beside(name, torch)
    index = index_beside(name, torch)
    after = ("--extra-index-url" if index == OF_INTEL else "--index-url", index) if index else ()
    if version or name in ANY_VERSION:
        again = ("--force-reinstall",) if "*" in version else ()
        return (*again, "--no-deps"), f"{name}=={version}" if version else name, after
    return ("--pre",) if torch.is_nightly else (), name, (torch.pin, *after)
