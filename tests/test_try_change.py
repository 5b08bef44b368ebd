"""try: what it asks of a build, and what it tells."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from data import screens
from xpusetup.base.command import Advice, Command, name_gaps
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Request
from xpusetup.commands import try_change
from xpusetup.commands.build import BuildOptions
from xpusetup.commands.result import Result
from xpusetup.run.workspace import Where
from xpusetup.system.files import write_text

ASKED = Request(only=("xpu",), device="processor", set=(("xpu", "SOURCES", "AbsKernel"),))
DONE = (
    '{"torch_xpu_ops": "a", "changed": ["src/A.h"], "compiled": ["/o/A.cpp"], "replaced": ["libtorch_xpu.so"],'
    ' "seconds": {"link": 1.5}}'
)


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Give a build of XPU beside a torch in /env, whose runs are noted."""

    def command(verb: str, *words: str) -> Command:
        return Command(" ".join(("xpusetup", verb, "--into /env", *words)))

    write_text(tmp_path / "results/xpu.json", DONE)
    place = SimpleNamespace(root=tmp_path, layout=SimpleNamespace(venv="/env"), command=command, known={}, takes={})
    place.python, place.asked, place.result = "", [], Result("build", screens.BUILT)

    def run(_workspace: object, request: Request, *_: object) -> Result[Any]:
        place.asked.append(request)
        result: Result[Any] = place.result
        return result

    monkeypatch.setattr(try_change, "_find_build", lambda _: (place, ASKED))
    monkeypatch.setattr(try_change, "_find_tree", lambda *_: Path("/mine"))
    monkeypatch.setattr(try_change, "run_purpose", run)
    return place


def test_it_asks_for_the_same_build_of_another_tree_and_tells_what_was_done(build: SimpleNamespace) -> None:
    told = try_change.try_change(Where(), "torch-xpu-ops=pr/7", BuildOptions()).data
    assert build.asked == [replace(ASKED, set=(*ASKED.set, ("xpu", "TRIED", "/mine")), verify="off")]
    assert isinstance(told, try_change.TriedChange)
    assert (told.tree, told.compiled, told.replaced) == ("/mine", ["/o/A.cpp"], ["libtorch_xpu.so"])
    assert told.back == "xpusetup build --into /env --only xpu --set xpu.SOURCES=AbsKernel --device processor"


def test_after_a_failure_the_same_change_is_tried_again(build: SimpleNamespace) -> None:
    build.result = Result("build", screens.FAILED, code=1)
    result = try_change.try_change(Where(), "torch-xpu-ops=/mine", BuildOptions(jobs=2))
    assert result.code == 1
    assert not isinstance(result.data, try_change.TriedChange)
    assert result.data.failure is not None
    assert result.data.failure.go_on.command == "xpusetup try --into /env torch-xpu-ops=/mine --jobs 2"


@pytest.mark.parametrize("change", ["torch-xpu-ops", "torch-xpu-ops=", "torch=/t", "=x"])
def test_what_is_no_change_of_the_kernels_is_refused(change: str) -> None:
    with pytest.raises(UsageError, match="is no change of torch-xpu-ops"):
        try_change.try_change(Where(), change, BuildOptions())


def test_a_root_without_xpu_beside_a_torch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadyError, match=f"{tmp_path} has no XPU beside a torch") as caught:
        try_change.try_change(Where(profile="torch-2.6", root=str(tmp_path)), "torch-xpu-ops=pr/7", BuildOptions())
    assert name_gaps(Advice(caught.value.fix).parts)


@pytest.mark.parametrize("of_another", [False, True])
def test_an_environment_without_it_is_named_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_another: bool
) -> None:
    """Any build that was here stood for the environment that has none: its folder was named, and the word ENV."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for name in ("mine", "other"):
        write_text(tmp_path / name / "bin/python", "")
    if of_another:
        layout = {"venv": str(tmp_path / "other"), "adopted": True}
        lock = {"schema": 1, "profile": {"name": "torch-2.6"}, "named": "torch-2.6", "layout": layout}
        root = tmp_path / "xpusetup/torch-2.6"
        write_text(root / "profile.lock.json", json.dumps({**lock, "words": ["--only", "xpu"]}))
        write_text(root / "results/xpu.json", DONE)
    env = tmp_path / "mine"
    with pytest.raises(NotReadyError, match=f"no XPU was built beside the torch in {env}") as caught:
        try_change.try_change(Where(into=str(env)), "torch-xpu-ops=pr/7", BuildOptions())
    assert caught.value.fix == f"build it first: xpusetup build 2.6 --into {env} --only xpu --device processor"
    assert not name_gaps(Advice(caught.value.fix).parts)
