"""Flags that somebody asks for: they come behind those of the plan, and advice on failures asks for them so."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from typing import get_args

import pytest

from data.targets import plan_for
from xpusetup.base.model import Request
from xpusetup.commands.build import WITHHELD
from xpusetup.doctor.question import parse_check_texts
from xpusetup.emit.script import ALWAYS, KEPT
from xpusetup.explain.finder import Phase, parse_signatures
from xpusetup.system import files

SIGNATURES = parse_signatures(files.package_texts("data/signatures"))
CHECKS = parse_check_texts(files.package_text("data/checks.toml"))
BUILDING = get_args(Phase)[: get_args(Phase).index("import")]
"""The phases of a build, whose steps begin with a clean environment."""
OTHERS_OWN = {"configure.xpurt_target", "configure.no_sycl_compiler", "configure.no_fsycl", "compile.cuda_unasked"}
"""A project that is built by its own commands, in a shell of its own."""
TO_SHELL = re.compile(r"^(?:export|unset|source)\b|^\. ")
BEFORE = re.compile(r"(?:^|\bexport )([A-Z_][A-Z0-9_]*)=\S+(?: \S+=\S+)* (?:<build>|xpusetup build)")
NAMES = re.compile(r"\bexport ((?:[A-Z_][A-Z0-9_]*=\S+ ?)+)")


def environment(name: str, *told: tuple[str, str, str]) -> dict[str, str]:
    plan = plan_for(name, Request(set=told))
    return dict(next(step for step in plan.steps if step.id == f"{told[0][0]}.build").env)


@pytest.mark.parametrize("name", ["torch-2.5", "torch-2.14"])
@pytest.mark.parametrize("variable", ["CFLAGS", "CXXFLAGS", "CPPFLAGS"])
def test_flags_that_were_asked_for_come_behind_ours(name: str, variable: str) -> None:
    ours = environment(name, ("torch", "A", ""))[variable]
    assert "-ffile-prefix-map=@ROOT@/src/torch=torch" in ours
    assert environment(name, ("torch", variable, "-O1 -g"))[variable] == f"{ours} -O1 -g"
    assert environment(name, ("torch", variable, ""))[variable] == ours


def test_flags_of_cmake_and_of_the_linker_too() -> None:
    ours = environment("torch-2.14", ("torch", "A", ""))
    assert "rpath" in ours["LDFLAGS"]
    assert environment("torch-2.14", ("torch", "LDFLAGS", "-s"))["LDFLAGS"] == f"{ours['LDFLAGS']} -s"
    for variable, mine in {"CMAKE_CXX_FLAGS": "CXXFLAGS", "CMAKE_C_FLAGS": "CFLAGS"}.items():
        told = environment("torch-2.14", ("torch", variable, "-O1"))
        assert told[variable] == f"{ours[mine]} -O1"
        assert told[mine] == ours[mine]


def test_what_has_no_flags_of_ours_is_taken_as_it_is() -> None:
    told = environment("torch-2.14", ("vision", "CXXFLAGS", "-O1"))
    assert told["CXXFLAGS"] == "-O1"
    assert environment("torch-2.14", ("torch", "USE_XCCL", "0"))["USE_XCCL"] == "0"


def reaches_steps(variable: str) -> bool:
    kept = " ".join((ALWAYS, *KEPT.values())).split()
    return any(fnmatch(variable, pattern) for pattern in kept)


def is_kept(command: str) -> bool:
    """Say whether all that a command gives to the shell is handed on to steps."""
    told = NAMES.search(command)
    return told is not None and all(reaches_steps(each.partition("=")[0]) for each in told[1].split())


def test_advice_on_a_failed_build_reaches_its_steps() -> None:
    for known in (each for each in SIGNATURES if each.phase in BUILDING):
        if known.id not in OTHERS_OWN:
            lost = [each for each in known.commands if TO_SHELL.search(each) and not is_kept(each)]
            assert not lost, f"{known.id}: steps begin with a clean environment"
        said = [name for each in (*known.commands, known.fix) for name in BEFORE.findall(each)]
        assert all(map(reaches_steps, said)), known.id


def test_advice_of_a_check_reaches_steps_or_says_for_whom_it_is() -> None:
    texts = CHECKS.values()
    for line in (line for text in texts for lines in ([text.say], *text.commands.values()) for line in lines):
        said = [pair.partition("=")[0] for found in NAMES.findall(line) for pair in found.split()]
        own = re.search(r"by hand|[Ff]or one shell|Before anything is imported", line)
        assert own or all(map(reaches_steps, said)), line
        assert all(map(reaches_steps, BEFORE.findall(line)))


def test_what_is_told_by_variables_of_the_shell_is_told_otherwise() -> None:
    assert not any(map(reaches_steps, WITHHELD))
    uninitialized = next(each for each in SIGNATURES if each.id == "compile.maybe_uninit")
    (command,) = uninitialized.commands
    flags = re.findall(r"--set (torch)\.(C(?:XX)?FLAGS)=(\S+)", command)
    assert [variable for _, variable, _ in flags] == ["CXXFLAGS", "CFLAGS"]
    for one in flags:
        assert environment("torch-2.14", one)[one[1]].endswith(" -Wno-error=maybe-uninitialized")
