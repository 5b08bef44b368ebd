"""What compilers say of their versions, and what is read from it."""

from __future__ import annotations

import shutil

import pytest

from data.machines import machine, with_gcc
from data.profiles import device, shipped
from xpusetup.config.settings import merge_settings
from xpusetup.doctor.question import CheckAnswer, Question, parse_check_texts
from xpusetup.doctor.registry import CHECKS
from xpusetup.doctor.toolkit import gcc_version
from xpusetup.emit.image import _cannot_compile
from xpusetup.emit.image_system import image_table
from xpusetup.machine import probe_tools
from xpusetup.machine.parsers import parse_compiler_version
from xpusetup.system import files


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


def fault(release: str, version: str, name: str = "cc.gcc_fault", goal: str = "build") -> CheckAnswer | None:
    facts = machine(tools=with_gcc(f"g++ (GCC) {version}"))
    check = next(each for each in CHECKS if each.id == name)
    return check.ask(Question(facts, shipped(release), device("xpu"), goal))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("release", "version", "level", "why"),
    [
        ("torch-2.4", "12.2.0", "", ""),  # it has no such kernel
        ("torch-2.5", "12.2.0", "fail", "internal error (in extract_insn) at std::signbit"),
        ("torch-2.6", "12.3.0", "fail", "internal error"),
        ("torch-2.7", "12.5.0", "fail", "internal error"),
        ("torch-2.7", "11.4.0", "", ""),
        ("torch-2.7", "13.3.0", "", ""),
        ("torch-2.8", "12.2.0", "", ""),  # sycl::signbit
        ("torch-2.8", "15.2.0", "warn", "nobody is known"),
        ("torch-2.12", "14.2.0", "", ""),
        ("torch-2.13", "13.3.0", "", ""),
        ("torch-2.13", "12.2.0", "", ""),
        ("torch-2.13", "14.2.0", "warn", "takes every warning of GCC for an error"),
        ("torch-2.14", "14.2.0", "", ""),  # the flag is gone
        ("torch-2.14", "15.2.0", "", ""),
        ("main", "16.1.1", "warn", "nobody is known"),
    ],
)
def test_versions_that_fail_or_may(release: str, version: str, level: str, why: str) -> None:
    answer = fault(release, version)
    assert (answer.level if answer else "") == level
    if answer:
        assert why in answer.words["why"]
    assert fault(release, version, goal="run") is None


@pytest.mark.parametrize(
    ("release", "version"), [("torch-2.4", "12.2.0"), ("torch-2.6", "14.2.0"), ("torch-2.8", "12.2.0")]
)
def test_where_flags_help_the_command_has_them(release: str, version: str) -> None:
    answer = fault(release, version, "cc.gcc_warning")
    assert answer is not None
    assert answer.level == "warn"
    fix = parse_check_texts(files.package_text("data/checks.toml"))["cc.gcc_warning"].fix(answer.words)
    flags = "-Wno-error=maybe-uninitialized"
    assert fix.commands_for(("debian",)) == (
        f"xpusetup build {release} --set torch.CXXFLAGS={flags} --set torch.CFLAGS={flags}",
    )
    assert fault("torch-2.9", version, "cc.gcc_warning") is None


def test_the_other_compiler_of_the_fix_is_a_settings_file_that_can_be_read() -> None:
    fix = parse_check_texts(files.package_text("data/checks.toml"))["cc.gcc_fault"].fix({"why": "x"})
    for family in ("debian", "rhel", "suse"):
        (line,) = (each for each in fix.commands_for((family,)) if "printf" in each)
        written = line.partition("printf '")[2].partition("'")[0].replace("\\n", "\n").replace("%s", "13")
        settings = merge_settings([("xpusetup.toml", written)])
        assert settings.compilers.cxx.endswith(("g++-13", "13"))


def test_the_compilers_of_the_site_are_those_that_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(probe_tools, "_first_line", lambda path: path)
    seen = {tool.name: tool.path for tool in probe_tools.probe_programs({"gcc": "gcc-11", "g++": "g++-11"})}
    assert (seen["gcc"], seen["g++"], seen["git"]) == ("/usr/bin/gcc-11", "/usr/bin/g++-11", "/usr/bin/git")


def test_an_image_with_a_gcc_that_fails_is_refused() -> None:
    texts = {name: {"profile": shipped(name)} for name in ("torch-2.6", "torch-2.8")}
    systems = image_table()
    with_12 = [system for system in systems.system if system.gcc.startswith("12.")]
    assert with_12
    for name, words in texts.items():
        said = list(_cannot_compile(words["profile"], with_12[0]))
        assert any("internal error" in each for each in said) == (name == "torch-2.6")
