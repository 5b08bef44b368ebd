"""Which interpreter a version means, and what is said where there is none. Interpreters are what they print."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import distro
import pytest

from xpusetup.base.errors import NotReadyError
from xpusetup.machine import probe_python as module
from xpusetup.machine.probe_python import probe_adopted, probe_python
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOOK = {
    "prefix": "/opt/x",
    "version": "3.11.9",
    "kind": "conda",
    "refused": "",
    "fix": "",
    "pip": True,
    "headers": True,
    "installed": {"numpy": "2.1.0"},
    "notes": [],
}


class Machine:
    """Programs on PATH by name, and what each prints."""

    def __init__(self) -> None:
        self.path: dict[str, str] = {}
        self.said: dict[str, str] = {}
        self.asked: list[tuple[str, ...]] = []

    def python(self, path: str, version: str, *, name: str = "", free: int = 0) -> None:
        self.said[path] = f"{version}\n1\n1\n{free}\n"
        if name:
            self.path[name] = path

    def run(self, argv: Sequence[str], **_words: object) -> ProcessOutput:
        self.asked.append(tuple(argv))
        if argv[0] not in self.said:
            return ProcessOutput(127, "", "pyenv: command not found", "")
        return ProcessOutput(0, self.said[argv[0]], "")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    machine = Machine()
    monkeypatch.setattr(shutil, "which", machine.path.get)
    monkeypatch.setattr(module, "run_process", machine.run)
    monkeypatch.setattr(distro, "id", lambda: "ubuntu")
    monkeypatch.setattr(distro, "like", lambda: "debian")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return machine


def refused(wanted: str) -> tuple[str, str]:
    with pytest.raises(NotReadyError) as caught:
        probe_python(wanted)
    return caught.value.message, caught.value.fix


def test_on_path(here: Machine) -> None:
    here.python("/usr/bin/python3.12", "3.12.4", name="python3.12")
    found = probe_python("3.12")
    assert (found.executable, found.version, found.headers, found.venv) == ("/usr/bin/python3.12", "3.12.4", True, True)
    assert len(here.asked) == 1


def test_a_path(here: Machine) -> None:
    here.python("/sw/python", "3.13.1", name="/sw/python")
    assert probe_python("/sw/python").version == "3.13.1"
    assert refused("/sw/other") == ("there is no /sw/other here", "check the spelling")


def test_free_threaded(here: Machine) -> None:
    here.python("/usr/bin/python3.13t", "3.13.1", name="python3.13t", free=1)
    assert probe_python("3.13t").free_threaded


def test_of_uv(here: Machine) -> None:
    here.path["uv"] = "/bin/uv"
    here.said["/bin/uv"] = "/home/me/uv/cpython-3.12/bin/python3.12\n"
    here.python("/home/me/uv/cpython-3.12/bin/python3.12", "3.12.7")
    assert probe_python("3.12").executable == "/home/me/uv/cpython-3.12/bin/python3.12"
    assert {"--offline", "--no-python-downloads", "--system"} <= set(here.asked[0])


def pyenv(here: Machine, tmp_path: Path, *versions: str) -> None:
    for version in versions:
        path = tmp_path / "pyenv/versions" / version / "bin/python"
        path.parent.mkdir(parents=True)
        path.touch()
        here.python(str(path), version)


def test_of_pyenv_the_newest(here: Machine, tmp_path: Path) -> None:
    pyenv(here, tmp_path, "3.1.5", "3.12.1", "3.12.10", "3.12.9", "3.11.2")
    assert probe_python("3.12").version == "3.12.10"
    assert probe_python("3.12.9").version == "3.12.9"
    assert probe_python("3.1").version == "3.1.5"


def test_a_shim_that_does_not_run_is_passed_over(here: Machine, tmp_path: Path) -> None:
    here.path["python3.12"] = "/home/me/.pyenv/shims/python3.12"
    pyenv(here, tmp_path, "3.12.1")
    assert probe_python("3.12").version == "3.12.1"


def test_a_shim_alone(here: Machine) -> None:
    here.path["python3.12"] = "/home/me/.pyenv/shims/python3.12"
    message, fix = refused("3.12")
    assert message == "/home/me/.pyenv/shims/python3.12 does not run: pyenv: command not found"
    assert "python3.12-venv" in fix


@pytest.mark.parametrize(
    ("family", "packaged"),
    [
        ("debian", "sudo apt-get install -y python3.12 python3.12-venv python3.12-dev"),
        ("fedora", "sudo dnf install -y python3.12 python3.12-devel"),
        ("suse", "sudo zypper install -y python312 python312-devel"),
        ("arch", ""),
    ],
)
def test_none(here: Machine, monkeypatch: pytest.MonkeyPatch, family: str, packaged: str) -> None:
    assert here.path == {}
    monkeypatch.setattr(distro, "id", lambda: "other")
    monkeypatch.setattr(distro, "like", lambda: family)
    message, fix = refused("3.12")
    assert message == "there is no python3.12 here"
    last = [f"  {packaged}  # another way, where the packages of this system have it"] if packaged else []
    assert fix.splitlines() == [
        "python3 -m venv ~/uv && ~/uv/bin/pip install uv",
        '  export PATH="$PATH:$HOME/uv/bin"',
        "  uv python install 3.12",
        *last,
    ]
    here.path["uv"] = "/usr/bin/uv"
    assert refused("3.12")[1].splitlines() == ["uv python install 3.12", *last]


def look(here: Machine, **changes: Any) -> None:
    here.said["/opt/x/bin/python"] = json.dumps({**LOOK, **changes})


def test_adopted(here: Machine) -> None:
    look(here)
    found = probe_adopted("/opt/x/bin/python")
    assert (found.executable, found.version) == ("/opt/x/bin/python", "3.11.9")
    assert found.adopted is not None
    assert (found.adopted.kind, found.adopted.refused, found.adopted.installed) == ("conda", "", {"numpy": "2.1.0"})


def test_adopted_is_of_another_place(here: Machine) -> None:
    look(here, prefix="/usr")
    found = probe_adopted("/opt/x/bin/python").adopted
    assert found is not None
    assert (found.prefix, found.refused) == ("/opt/x", "its bin/python is that of /usr")


@pytest.mark.parametrize("said", ["", "[]", "{}", '{"prefix": "/opt/x"}', "no JSON"])
def test_adopted_says_nothing(here: Machine, said: str) -> None:
    here.said["/opt/x/bin/python"] = said
    with pytest.raises(NotReadyError, match="does not say what it is"):
        probe_adopted("/opt/x/bin/python")


def test_adopted_does_not_run(here: Machine) -> None:
    assert here.said == {}
    with pytest.raises(NotReadyError, match="does not run: pyenv: command not found"):
        probe_adopted("/opt/x/bin/python")
