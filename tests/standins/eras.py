"""The shipped profiles of every torch release, re-pinned to the stand-ins, and xpusetup run on them as by a user.

Words: a *stand* is one re-pinned profile with all that its build reaches: upstreams, oneAPI, a folder of wheels.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w
from packaging.requirements import Requirement

from standins.archives import make_archives
from standins.hashes import hash_of, with_hashes
from standins.oneapi import make_oneapi, make_runtime_wheel
from standins.releases import ON_REQUEST, RELEASES, Release
from standins.repository import write_text
from standins.upstreams import Upstreams, git_environment, make_upstreams
from standins.wheels import pack_wheel
from xpusetup.base.document import to_told
from xpusetup.bundle import without_network
from xpusetup.config.load import parse_profile
from xpusetup.config.take import ORIGIN, parse_ways, take_parts

PROFILES = Path(__file__).resolve().parents[2] / "profiles"
SITES = {"torch-2.5": '[toolkit]\nprovider = "setvars"\n'}
KEPT = {
    *("pip", "build", "cmake", "ninja", "packaging", "pathspec", "pyproject-hooks", "pyyaml"),
    *("pybind11", "scikit-build-core", "setuptools", "typing-extensions", "wheel"),
    *("exceptiongroup", "importlib-metadata", "tomli", "zipp"),
}
"""Build requirements of the shipped profiles that the stand-ins need too; the others are hundreds of megabytes."""
LEAKS = {
    **dict.fromkeys(("CC", "CXX"), "clang"),
    **dict.fromkeys(("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_ARGS"), "--leaked-from-the-caller"),
    **dict.fromkeys(("PYTORCH_BUILD_VERSION", "BUILD_VERSION"), "9.9.9"),
    "USE_XPU": "0",
    "USE_CUDA": "1",
    "TORCH_XPU_ARCH_LIST": "none",
    "CMAKE_GENERATOR": "Unix Makefiles",
    "SOURCE_DATE_EPOCH": "1",
}
"""What of a user's shell would ruin a build that it leaked into."""
WITHOUT = (sys.executable, "-I", str(without_network.__file__))
BASH = """#!/bin/bash -p
# A bash that takes the network away from a step which has none, so that the kernel counts what it asks for.
if [ -z "${{XPUSETUP_CLEAN-}}" ] && [[ "${{1-}}" == */steps/*.sh ]] && ! grep -q "^NEEDS=.*network" "$1"; then
  exec {without} /bin/bash "$@"
fi
exec /bin/bash "$@"
"""
Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Stand:
    """One re-pinned profile and all that its build reaches."""

    base: Path
    profile: Path
    upstreams: Upstreams
    oneapi: Path

    def environment(self, *, site: str = "", **more: str) -> dict[str, str]:
        """Give a user's environment, hostile to builds; `site` is the text of a site file.

        Steps that have no network are held to it wherever that can be done.
        """
        config = self.base / "config" / (str(abs(hash(site))) if site else "none")
        write_text(config / "xpusetup/site.toml", site)
        links = f"{self.base}/links {os.environ.get('PIP_FIND_LINKS', '')}".strip()
        place = {
            "XDG_CONFIG_HOME": str(config),
            "PIP_FIND_LINKS": links,
            "ONEAPI_ROOT": str(self.oneapi),
            "XPUSETUP_ARCHIVES": f"{self.base}/archives",
        }
        given = os.environ | LEAKS | _traps(self.base / "traps") | git_environment(self.upstreams) | place | more
        return given | _held(self.base / "held", given["PATH"])

    def call(self, *args: str | Path, site: str = "", **more: str) -> Done:
        """Run xpusetup with this profile; `args` are a command and its arguments."""
        first, *rest = map(str, args)
        command = (xpusetup(), *first.split(), "--profile", str(self.profile), *rest)
        return run(command, self.environment(site=site, **more), self.base)

    def build(self, root: Path, *args: str, site: str = "", **more: str) -> "Built":
        """Build in a root."""
        done = self.call("build", "--root", root, "--json", *args, site=site, **more)
        assert done.stdout, done.stderr
        return Built(root, done.returncode, json.loads(done.stdout), done.stderr)


@dataclass(frozen=True)
class Built:
    """What a build left, and what it said."""

    root: Path
    code: int
    document: Mapping[str, Any]
    progress: str

    @property
    def result(self) -> dict[str, Any]:
        """Give the result of a build that ended well; no step asked for a network that it does not have."""
        assert self.code == 0, f"{self.progress}\n{json.dumps(self.document, indent=1)}"
        assert self.document["result"]["reached_out"] == []
        return dict(self.document["result"])

    @property
    def failure(self) -> str:
        """Give what the failed step said last."""
        assert self.code == 1, self.document
        return " ".join(self.document["result"]["failure"]["last_lines"])

    def read(self, name: str) -> Any:
        """Read a JSON document of the root."""
        return json.loads((self.root / name).read_text())


def xpusetup() -> str:
    """Give the program that is installed beside the interpreter of the tests."""
    return str(Path(sys.executable).with_name("xpusetup"))


def run(command: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> Done:
    """Run to the end, output and errors apart."""
    return subprocess.run(command, check=False, cwd=cwd, env=dict(env), capture_output=True, text=True)


def rules_of(name: str) -> Release:
    """Give what is known of the release of a profile."""
    return (RELEASES | ON_REQUEST)[name.removeprefix("torch-")]


def runtime_of(name: str) -> str:
    """Give the version of the run-time libraries: none of Intel's, so that pip cannot take that of an index."""
    return f"{rules_of(name).year}.99"


def triton_of(name: str) -> str:
    """Give the version of Triton: a ready wheel's is one that no index has either."""
    rules = rules_of(name)
    return rules.triton if rules.llvm else f"{rules.triton}+standin"


class Eras:
    """The stands, and the root of each that is built whole; everything is made when it is first asked for."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._stands: dict[str, Stand] = {}
        self._built: dict[str, Built] = {}

    def stand(self, name: str) -> Stand:
        if name not in self._stands:
            upstreams = make_upstreams(self._base / f"{name}-upstreams", release=name.removeprefix("torch-"))
            self._stands[name] = make_stand(self._base / f"{name}-stand", name, upstreams)
        return self._stands[name]

    def built(self, name: str) -> Built:
        """Build the profile whole, once."""
        if name not in self._built:
            self._built[name] = self.stand(name).build(self._base / name, site=SITES.get(name, ""))
        return self._built[name]

    def trial(self, name: str) -> Path:
        """Give a root in which torch alone is built, this way and that; each test judges nothing but its own run."""
        return self._base / f"{name}-trial"


def make_stand(base: Path, name: str, upstreams: Upstreams) -> Stand:
    """Write the re-pinned profile, a rude oneAPI of its release, and the wheels that an index would have."""
    base.mkdir(parents=True, exist_ok=True)
    make_runtime_wheel(base / "links", version=runtime_of(name))
    for distribution in ("triton-xpu", "pytorch-triton-xpu"):
        pack_wheel(base / "links", distribution, triton_of(name), {"triton/__init__.py": b"backend = 'xpu'\n"})
    text = repin(profile_text(name), name, upstreams)
    for archive, path in make_archives(base / "archives", rules_of(name)).items():
        text = re.sub(rf'(name = "{archive}"\n(?:\w.*\n|#.*\n)*?sha256 = ")\w+', rf"\g<1>{hash_of(path)}", text)
    write_text(base / f"{name}.toml", with_hashes(text, base / "links"))
    return Stand(base, base / f"{name}.toml", upstreams, make_oneapi(base / "oneapi", version=rules_of(name).oneapi))


def profile_text(name: str) -> str:
    """Give a shipped profile; one whose Triton is built on request says how, as the program knows it."""
    text = (PROFILES / f"{name.removesuffix('-source')}.toml").read_text()
    if not name.endswith("-source"):
        return text
    ways = parse_ways((PROFILES.parent / "xpusetup" / ORIGIN).read_text())
    made = take_parts(parse_profile(text, "shipped"), {"triton": "source"}, ways).profile
    (part,) = (part for part in made.components if part.name == "triton")
    how = to_told(part) | {"kind": "source"}
    table = tomli_w.dumps({"components": [{"from_source": how}]}).removeprefix("[[components]]\n")
    before, wheel, after = text.partition('kind = "wheel"\nname = "triton"\n')
    said, between, others = after.partition("\n[[components]]\n")
    return f"{before}{wheel}{said}{table}{between}{others}"


def repin(text: str, name: str, upstreams: Upstreams) -> str:
    """Give a shipped profile with nothing but its pins replaced.

    Faults of compilers and of old sources go too: the stand-ins have none of those sources, the machine has any GCC.
    """
    every = parse_profile(text, "shipped").components
    parts = [part for part in every if part.kind == "source"]
    parts += [part.from_source for part in every if part.kind == "wheel" and part.from_source]
    pins = [(part.rev, part.repo) for part in parts]
    pins += [(item.rev, item.repo) for part in parts for item in part.vendored]
    for rev, repo in pins:
        if rev is not None:
            text = text.replace(rev, _rev(repo, upstreams)).replace(
                f"+git{rev[:8]}", f"+git{_rev(repo, upstreams)[:8]}"
            )
    if not rules_of(name).llvm:
        text = text.replace(f'version = "{rules_of(name).triton}"', f'version = "{triton_of(name)}"')
    runtime = re.compile(r"(?<=\[runtime_requirements\])(.*?pins = \[).*?\]", re.DOTALL)
    text = runtime.sub(rf'\1"intel-sycl-rt=={runtime_of(name)}"]', text)
    text = re.sub(r"\[\[gcc_faults\]\]\n(?:\w.*\n)+\n", "", text).replace("plain_path = true\n", "")
    text = re.sub(r"\[cost\]\n(?:\w.*\n)+\n", "", text)
    return "".join(_lines(text))


def _rev(url: str, upstreams: Upstreams) -> str:
    """Give the pinned commit of a stand-in by its real address."""
    component = {
        "pytorch/vision": "torchvision",
        "pytorch/audio": "torchaudio",
        "pytorch/pytorch": "torch",
        "intel/intel-xpu-backend-for-triton": "triton",
    }
    name = url.split("/", 3)[3].removesuffix(".git")
    return upstreams.revs[component.get(name, name.rpartition("/")[2])]


def _lines(text: str) -> Iterator[str]:
    """Leave out the build requirements that the stand-ins have no use for."""
    table = ""
    for line in text.splitlines(keepends=True):
        table = line.strip() if line.startswith("[") else table
        pin = re.fullmatch(r'  "(.+==.+)",\n', line) if table == "[build_requirements]" else None
        if pin is None or Requirement(pin[1]).name in KEPT:
            yield line


@cache
def can_be_taken_away() -> bool:
    """Say whether this machine lets a process be without a network."""
    return subprocess.run((*WITHOUT, "true"), check=False, capture_output=True).returncode == 0


def _held(folder: Path, path: str) -> dict[str, str]:
    """Give the search path with a bash before it that runs steps without a network."""
    if not can_be_taken_away():
        return {}
    if not (folder / "bash").exists():
        write_text(folder / "bash", BASH.format(without=shlex.join(WITHOUT)))
        (folder / "bash").chmod(0o755)
    return {"PATH": f"{folder}:{path}"}


def _traps(folder: Path) -> dict[str, str]:
    """Give search paths in which a build would find nonsense, if they leaked into it."""
    for module in ("torch", "setuptools", "pkg_resources"):
        write_text(folder / f"python/{module}.py", "raise SystemExit('PYTHONPATH leaked from the caller')\n")
    for library in ("libc10.so", "libsycl.so.7", "libsycl.so.9"):
        write_text(folder / f"lib/{library}", "LD_LIBRARY_PATH leaked from the caller\n")
    write_text(folder / "bash_env", "export CFLAGS=--leaked-from-bash-env\n")
    return {
        "PYTHONPATH": f"{folder}/python",
        "LD_LIBRARY_PATH": f"{folder}/lib",
        "BASH_ENV": f"{folder}/bash_env",
        "CMAKE_PREFIX_PATH": str(folder),
    }
