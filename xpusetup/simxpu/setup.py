"""What pyproject.toml cannot say: the C++ extension, and a version that the builder may set."""

from __future__ import annotations

import os

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

SOURCES = ("allocator", "autocast", "device", "kernels", "module", "pinned")


class BuildWithoutRpath(BuildExtension):
    """Some Pythons (pyenv's) hand their own -rpath to every extension; a wheel must not name its builder's folder."""

    def build_extensions(self) -> None:
        for linker in ("linker_so", "linker_so_cxx"):
            flags = getattr(self.compiler, linker, None) or []
            self.compiler.set_executable(linker, [flag for flag in flags if not flag.startswith("-Wl,-rpath")])
        super().build_extensions()


setup(
    version=os.environ.get("BUILD_VERSION") or "1.0.0",
    ext_modules=[
        CppExtension(
            "simxpu._C",
            [f"src/simxpu/csrc/{name}.cpp" for name in SOURCES],
            depends=["src/simxpu/csrc/simxpu.h"],
            # -g0: most of a PyTorch extension is debug information, which nobody reads here.
            # -DNDEBUG: CFLAGS of the caller replaces Python's own, and assert() in Python.h holds that folder's name.
            extra_compile_args=["-O2", "-g0", "-DNDEBUG"],
        ),
    ],
    cmdclass={"build_ext": BuildWithoutRpath},
)
