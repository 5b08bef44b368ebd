"""A step as a script: what passes into it, what it activates, and that no value becomes a command."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest

from data.targets import NEW, OLD, SIM
from xpusetup.base.model import Layout, Plan, Step, Target
from xpusetup.emit.script import kept_patterns, render_script, render_scripts, render_shell

NETWORK = "PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME"
DEVICE = "ZE_* ONEAPI_DEVICE_SELECTOR SYCL_* HABANA_* ASCEND_* SIMXPU_*"
TUNING = "MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*"
NASTY = "'; touch /tmp/x; $(id) `id` \" \\"


def script(target: Target = SIM, **values: Any) -> str:
    step = Step(**{"id": "a.b", "title": "t", "run": (("true",),), **values})
    return render_script(step, Plan(profile="p", target=target, layout=Layout(), steps=(step,)))


def kept(target: Target, *needs: Any) -> str:
    return kept_patterns(Step(id="a", title="", run=(), needs=needs), target)


@pytest.mark.parametrize(
    ("needs", "patterns"),
    [
        ((), ""),
        (("network",), f" {NETWORK}"),
        (("device",), f" {DEVICE}"),
        (("compiler", "toolkit"), f" {TUNING}"),
        (("network", "device", "compiler"), f" {NETWORK} {DEVICE} {TUNING}"),
    ],
)
def test_what_passes_in(needs: tuple[str, ...], patterns: str) -> None:
    assert kept(NEW, *needs) == f"HOME PATH LANG TMPDIR TERM{patterns}"


def test_the_callers_environment_passes_where_it_is_the_toolkit() -> None:
    assert NEW.toolkit is not None
    target = replace(NEW, toolkit=replace(NEW.toolkit, provider="environment", scripts=()))
    assert "LD_LIBRARY_PATH" in kept(target, "compiler", "toolkit").split()
    assert "LD_LIBRARY_PATH" not in kept(target, "compiler").split()
    assert "\nsource" not in script(target, needs=("compiler", "toolkit"))


@pytest.mark.parametrize(
    ("target", "needs", "activated"),
    [
        (SIM, ("compiler", "toolkit", "device"), False),
        (NEW, ("compiler",), False),
        (NEW, ("compiler", "toolkit"), True),
        (NEW, ("device",), False),
        (OLD, ("device",), True),
        (OLD, ("network",), False),
    ],
)
def test_who_sees_the_toolkit(target: Target, needs: tuple[str, ...], activated: bool) -> None:
    text = script(target, needs=needs)
    assert ("source /opt/intel/oneapi" in text) is activated
    assert ("TOOLKIT=" in text) is activated


def test_a_need_that_the_target_has_not_is_left_out() -> None:
    assert "NEEDS=compiler\n" in script(SIM, needs=("compiler", "toolkit"))


def test_whole_script() -> None:
    text = script(
        run=(("echo", "@ROOT@/x"), ("true",)),
        env=(("A", "1"), ("B", "two words")),
        after=("venv",),
        makes=("@ROOT@/wheels/a-*.whl",),
        cwd="@ROOT@/src/a",
        source_date_from="@ROOT@/src/a",
    )
    head, body = text.split("begin\n")
    assert head.startswith("#!/usr/bin/env bash\n")
    assert "STEP=a.b\nAFTER=venv\nNEEDS=''\nKEEP='HOME PATH LANG TMPDIR TERM'\n" in head
    assert "MAKES=(\"$ROOT\"'/wheels/a-*.whl')\n" in head
    assert body == (
        '\nexport PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv\n'
        'SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/a log -1 --format=%ct)\nexport SOURCE_DATE_EPOCH\n'
        "export A=1\nexport B='two words'\n"
        'cd "$ROOT"/src/a\nrun echo "$ROOT"/x\nrun true\nfinish\n'
    )


def test_no_value_becomes_a_command() -> None:
    text = script(run=(("echo", NASTY),), env=(("A", NASTY),), cwd=f"/x{NASTY}", makes=(NASTY,), source_date_from=NASTY)
    body = text.split("begin\n")[1]
    assert shlex.split(body.split("\nrun ")[1].splitlines()[0]) == ["echo", NASTY]
    assert shlex.split(body.split("export A=")[1].splitlines()[0]) == [NASTY]
    assert shlex.split(body.split("\ncd ")[1].splitlines()[0]) == [f"/x{NASTY}"]


def test_the_shell_form() -> None:
    steps = (Step(id="a", title="it's $(id)", run=()), Step(id="b.c", title="second", run=(), after=("a",)))
    plan = Plan(profile="sim", target=SIM, layout=Layout(), steps=steps)
    texts = render_shell(plan)
    assert set(texts) == {"steps/a.sh", "steps/b.c.sh", "build.sh"}
    assert {name: texts[name] for name in texts if name != "build.sh"} == render_scripts(plan)
    calls = [line for line in texts["build.sh"].splitlines() if line.startswith("step ")]
    assert [shlex.split(line) for line in calls] == [["step", "a", "it's $(id)"], ["step", "b.c", "second"]]
    assert "@ROOT@" not in "".join(texts.values())


def test_a_shell_form_without_steps() -> None:
    assert set(render_shell(Plan(profile="sim", target=SIM, layout=Layout(), steps=()))) == {"build.sh"}
