"""What compilers say of their versions, and what is read from it."""

from __future__ import annotations

import pytest

from xpusetup.checks.toolchain import gcc_version
from xpusetup.outputs.tools import parse_compiler_version


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
        ("g++ (Debian 15-20250101-1) 15.0.0 20250101 (experimental) [master r15-6470]", "15.0.0"),
        ("g++ (Ubuntu 11.4.0-1ubuntu1~22.04.2) 11.4.0", "11.4.0"),
        ("g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", "13.3.0"),
        ("g++-14 (Ubuntu 14.2.0-4ubuntu2~24.04) 14.2.0", "14.2.0"),
        ("g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-22)", "8.5.0"),
        ("g++ (GCC) 11.5.0 20240719 (Red Hat 11.5.0-5)", "11.5.0"),
        ("g++ (GCC) 13.3.1 20240611 (Red Hat 13.3.1-2)", "13.3.1"),
        ("g++ (GCC) 14.2.1 20240912 (Red Hat 14.2.1-3)", "14.2.1"),
        ("g++ (SUSE Linux) 7.5.0", "7.5.0"),
        ("g++-13 (SUSE Linux) 13.2.1 20230912 [revision b96e66fd4ef3e36983969fb8cdd1956f551a074b]", "13.2.1"),
        ("x86_64-conda-linux-gnu-c++ (conda-forge gcc 13.3.0-1) 13.3.0", "13.3.0"),
        ("x86_64-conda-linux-gnu-c++ (Anaconda gcc) 11.2.0", "11.2.0"),
        ("c++ (Spack GCC) 12.3.0", "12.3.0"),
        ("g++ (crosstool-NG 1.25.0.90_cf9beb1) 12.2.0", "12.2.0"),
        ("g++ (GCC) 15.1.1 20250425", "15.1.1"),
        ("g++ (Gentoo 14.2.1_p20241221 p7) 14.2.1 20241221", "14.2.1"),
        ("g++ (GCC) 9.3", "9.3"),
        ("", None),
        ("g++ of my own", None),
    ],
)
def test_gcc_version(line: str, version: str | None) -> None:
    assert gcc_version(line) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Intel(R) oneAPI DPC++/C++ Compiler 2026.1.0 (2026.1.0.20260615)\nTarget: x86_64", "2026.1.0"),
        ("Intel(R) oneAPI DPC++/C++ Compiler 2024.1.4 (2024.1.4.20240802)", "2024.1.4"),
        ("Intel(R) oneAPI DPC++/C++ Compiler 2025.3 (2025.3.0)", "2025.3"),
        ("icpx: warning: old\nIntel(R) oneAPI DPC++/C++ Compiler 2025.0.1 (2025.0.1.20241113)", "2025.0.1"),
        ("clang version 19.0.0", None),
        ("", None),
    ],
)
def test_parse_compiler_version(text: str, version: str | None) -> None:
    assert parse_compiler_version(text) == version
