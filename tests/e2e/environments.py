"""Environments for the tests of conflicts: real wheels of the package index, and small libraries that are made here."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from e2e.support import CHECKOUT, caller

if TYPE_CHECKING:
    from pathlib import Path

HELPER = CHECKOUT / "xpusetup/helpers/environment_libraries.py"
elf_file: Any = importlib.import_module("helperlib.elf.file")
MATHS = ("_intel_", "__intel_", "__svml", "__libm", "__libirc", "__libimf")
LOAD = "import ctypes, sys\nfor path in sys.argv[1:]: ctypes.CDLL(path)\n"


@dataclass(frozen=True)
class Shop:
    """Wheels of the package index, fetched once, and a pip that installs them."""

    folder: Path

    @classmethod
    def open(cls, folder: Path, *names: str) -> Shop:
        """Fetch wheels without what they require."""
        shop = cls(folder)
        for name in names:  # several versions of one are no set that pip would fetch at once
            shop._pip("download", "-q", "--only-binary", ":all:", "--no-deps", "-d", str(folder / "wheels"), name)
        return shop

    def _pip(self, *words: str) -> None:
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", *words)
        done = subprocess.run(pip, check=False, capture_output=True, text=True, env=caller(self.folder / "home"))
        assert done.returncode == 0, done.stderr

    def install(self, into: Place, *names: str) -> Place:
        """Install wheels into an environment, without what they require."""
        local = ("--no-index", "--find-links", str(self.folder / "wheels"))
        self._pip("--python", str(into.python), "install", "-q", "--no-deps", *local, *names)
        return into


@dataclass(frozen=True)
class Place:
    """An environment, or what looks like one from outside."""

    prefix: Path

    @classmethod
    def make(cls, prefix: Path) -> Place:
        """Make an empty environment."""
        subprocess.run((sys.executable, "-m", "venv", "--without-pip", prefix), check=True)
        return cls(prefix)

    def copy(self, prefix: Path) -> Place:
        """Make another one of the same files: hard links, but for the program, which is a link."""
        shutil.copytree(self.prefix, prefix, symlinks=True, copy_function=os.link)
        return Place(prefix)

    @property
    def python(self) -> Path:
        return self.prefix / "bin/python"

    @property
    def lib(self) -> Path:
        return self.prefix / "lib"

    @property
    def packages(self) -> Path:
        return next(iter((self.prefix / "lib").glob("python3*/site-packages")))

    def module(self, package: str) -> Path:
        """Give where a package keeps its extension module."""
        return self.packages / package / "_C.abi3.so"

    def record(self, title: str, *paths: Path) -> None:
        """Write down files as those of a distribution: "name 1.0"."""
        name, _, version = title.partition(" ")
        info = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = [f"{os.path.relpath(path, self.packages)},{_digest(path)}," for path in paths]
        (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/RECORD,,"]) + "\n")

    def look(self, *options: str, variable: str = "") -> dict[str, Any]:
        """Say what the helper finds here."""
        words = (sys.executable, str(HELPER), "--prefix", str(self.prefix), "--library-path", variable, *options)
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def loads(self, *paths: str, variable: str = "", stubs: Path) -> str:
        """Load libraries into a real process, with all symbols looked up; what it died of, empty where it did not.

        `stubs` stand for the compiler's runtime, which is large and has no part in this.
        """
        make_stubs(stubs, sorted(self.lib.glob("libur_*.so.0")))
        env = {"LD_BIND_NOW": "1", "LD_LIBRARY_PATH": f"{variable}:{stubs}" if variable else str(stubs)}
        run = (str(self.python), "-I", "-c", LOAD, *paths)
        done = subprocess.run(run, check=False, capture_output=True, text=True, env=env)
        return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def make_stubs(folder: Path, libraries: list[Path]) -> None:
    """Make libraries of the compiler's runtime that have whatever these libraries ask of it."""
    elfs = (elf_file.Elf(path.read_bytes()) for path in libraries)
    asked = {one.name for elf in elfs for one in elf_file.read_asked(elf) if not one.version}
    text = "".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(asked) if name.startswith(MATHS))
    for name in ("libimf.so", "libsvml.so", "libirng.so", "libintlc.so.5"):
        link(folder / name, text, "-fno-builtin", "-w")


def _digest(path: Path) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()


def link(path: Path, text: str, *words: str | Path, node: str = "", compiler: str = "gcc") -> Path:
    """Compile and link a library; with `node` all of its own functions have that version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source, script = path.with_suffix(".c" if compiler == "gcc" else ".cpp"), path.with_suffix(".map")
    source.write_text(text)
    script.write_text(f"{node} {{ global: *; }};\n" if not node.endswith("}") else node)
    named = (f"-Wl,--version-script={script}",) if node else ()
    before = (compiler, "-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-Wl,--no-as-needed", *named)
    after = ("-Wl,--allow-shlib-undefined", "-Wl,--unresolved-symbols=ignore-all")
    done = subprocess.run((*before, "-o", path, source, *after, *words), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    source.unlink()
    script.unlink()
    return path
