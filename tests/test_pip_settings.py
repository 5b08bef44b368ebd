"""Which constraints pip heeds, and how ours is added to them; how uv is told what pip's variables say."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

env_installers: Any = importlib.import_module("helperlib.env.installers")
env_distributions: Any = importlib.import_module("helperlib.env.distributions")
install_published: Any = importlib.import_module("install_published")
OURS = "/env/xpusetup-constraints.txt"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep pip's settings of this machine out."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    files = [tmp_path / "system.conf", tmp_path / "user.conf"]
    monkeypatch.setattr(env_installers, "settings_files", lambda: [*files, env_installers.site_file()])
    for name in ("PIP_CONSTRAINT", "UV_CONSTRAINT", "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_STRATEGY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("system", "user", "site", "kept"),
    [
        ("", "", "", ""),
        ("", "", f"[install]\nconstraint = {OURS}\n", ""),
        ("", "", f"[install]\nconstraint = a.txt {OURS}\n", "a.txt"),
        ("[global]\nconstraint = s.txt\n", "", "", "s.txt"),
        ("[global]\nconstraint = s.txt\n", "[global]\nconstraint = u.txt\n", "", "u.txt"),
        ("[install]\nconstraint = s.txt\n", "[global]\nconstraint = u.txt\n", "", "s.txt"),
        ("[global]\nconstraint = s.txt\n", "", f"[install]\nconstraint =\n  s.txt\n  {OURS}\n", "s.txt"),
        ("[download]\nconstraint = d.txt\n", "", "", ""),
    ],
)
def test_constraints_are_added_to_those_in_force(place: Path, system: str, user: str, site: str, kept: str) -> None:
    for name, text in {"system.conf": system, "user.conf": user, "pip.conf": site}.items():
        if text:
            (place / name).write_text(text)
    assert env_installers.constraints_in_force(OURS) == kept.split()
    for _ in range(2):
        assert env_installers.write_constraint(OURS) == place / "pip.conf"
        settings = env_installers.read(place / "pip.conf")
        assert settings.get("install", "constraint").split() == [*kept.split(), OURS]


def test_other_settings_stay(place: Path) -> None:
    (place / "pip.conf").write_text("[global]\nindex-url = https://a%20b.invalid\n")
    env_installers.write_constraint(OURS)
    assert env_installers.read(place / "pip.conf").get("global", "index-url") == "https://a%20b.invalid"


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("# our mirror\n[global]\nindex-url = https://a.invalid\n# the end", f"\n[install]\nconstraint = {OURS}\n"),
        ("[install] ; mine\n# why\nno-deps = no\n", f"constraint = {OURS}\n"),
        ("[install]\n# numpy 2 breaks us\nconstraint =\n    /a.txt\n    # and this\n    /b.txt\n", f" {OURS}"),
        ("[install]", f"\nconstraint = {OURS}\n"),
    ],
)
def test_what_stands_beside_it_stays_as_it_is_written(place: Path, text: str, added: str) -> None:
    """An environment of someone's own lost the comments of its pip.conf."""
    (place / "pip.conf").write_text(text)
    env_installers.write_constraint(OURS)
    now = (place / "pip.conf").read_text()
    assert (OURS in env_installers.constraints_in_force(""), now.replace(added, "", 1)) == (True, text)
    env_installers.write_constraint(OURS)
    assert (place / "pip.conf").read_text() == now


def test_settings_of_an_odd_form_are_written_anew(place: Path) -> None:
    (place / "pip.conf").write_text("  [install]\n  # why\n  user = no\n")
    env_installers.write_constraint(OURS)
    assert dict(env_installers.read(place / "pip.conf").items("install")) == {"user": "no", "constraint": OURS}


def test_settings_that_cannot_be_read_are_named(place: Path) -> None:
    (place / "user.conf").write_text("no section\n")
    with pytest.raises(ValueError, match=r"user\.conf cannot be read as pip's settings"):
        env_installers.write_constraint(OURS)
    assert not (place / "pip.conf").exists()


@pytest.mark.parametrize(
    ("variable", "settings", "wanted"),
    [("", "", "/dev/null"), (f"a.txt {OURS}", "", "a.txt"), ("", f"[install]\nconstraint = b.txt {OURS}\n", "b.txt")],
)
def test_pip_is_bound_by_all_but_our_own(
    place: Path, monkeypatch: pytest.MonkeyPatch, variable: str, settings: str, wanted: str
) -> None:
    monkeypatch.setenv("PIP_CONSTRAINT", variable)
    (place / "pip.conf").write_text(settings)
    way = env_installers.EnvironmentInstaller("pip", (), (), ())
    assert env_installers.environment(way, OURS)["PIP_CONSTRAINT"] == wanted


def test_uv_is_told_what_pip_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.invalid/simple")
    monkeypatch.setenv("UV_CONSTRAINT", f"a.txt {OURS}")
    way = env_installers.EnvironmentInstaller("uv", (), (), ())
    told = env_installers.environment(way, OURS)
    assert told["UV_DEFAULT_INDEX"] == "https://mirror.invalid/simple"
    assert told["UV_CONSTRAINT"] == "a.txt"
    assert told["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://own.invalid")
    assert env_installers.environment(way, OURS)["UV_DEFAULT_INDEX"] == "https://own.invalid"


@pytest.mark.parametrize(
    ("requirement", "name", "pinned"),
    [
        ("intel-sycl-rt==2026.1.0", "intel-sycl-rt", True),
        ("Intel_SYCL.rt (==2026.1.0)", "intel-sycl-rt", True),
        ('triton==3.5.0; platform_system == "Linux"', "triton", True),
        ("sympy>=1.13.3", "sympy", False),
        ("torch===2.1", "torch", False),
        ('jinja2; extra == "x==1"', "jinja2", False),
        ("numpy", "numpy", False),
    ],
)
def test_names_of_requirements(requirement: str, name: str, pinned: bool) -> None:
    assert env_distributions.names_of((requirement,)) == {name}
    assert env_distributions.names_of((requirement,), pinned=True) == ({name} if pinned else set())


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["ERROR: No matching distribution found for pyzes==0.1.2"], "nowhere is there pyzes==0.1.2"),
        (["  ╰─▶ Because there are no versions of pyzes and torch"], "nowhere is there pyzes"),
        (["ERROR: no such option: --dry-run"], "ERROR: no such option: --dry-run"),
        ([], "no installer said why"),
    ],
)
def test_what_is_missing_is_named(lines: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        install_published.refuse_incomplete(lines)
    assert f"{words}. The environment was not touched" in capsys.readouterr().err


def test_libraries_that_are_still_needed_are_no_orphans() -> None:
    def found(*requires: str) -> Any:
        return env_distributions.Found("x", "1", "pip", owned=True, source="", requires=requires)

    there = {"nvidia-cublas": found(), "cuda-pathfinder": found(), "cupy": found("cuda-pathfinder"), "torch": found()}
    assert install_published.orphans(there) == ["nvidia-cublas"]


def test_a_file_that_a_variable_names_is_the_strongest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "named.conf"))
    for name, text in {"pip.conf": "site.txt", "named.conf": "named.txt"}.items():
        (tmp_path / name).write_text(f"[install]\nconstraint = {text} {OURS}\n")
    assert env_installers.constraints_in_force(OURS) == ["named.txt"]


@pytest.fixture
def uv(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of uv's own settings, in a machine that has none beside them."""
    for name in ("UV_NO_CONFIG", "UV_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "own"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(place / "shared"))
    monkeypatch.setattr(env_installers.shutil, "which", lambda _name: "/bin/uv")
    (place / "work/deep").mkdir(parents=True)
    monkeypatch.chdir(place / "work/deep")
    return place


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own/uv/uv.toml", '[pip]\ntarget = "/elsewhere"\n'),
        ("own/uv/uv.toml", '[ "pip" ]\nprefix="/elsewhere"\n'),
        ("own/uv/uv.toml", 'offline = true\npip.prefix = "/elsewhere"\n'),
        ("shared/uv/uv.toml", 'pip = { strict = true, target = "/elsewhere" }\n'),
        ("work/uv.toml", '[pip]\ntarget = "/elsewhere"\n'),
        ("work/deep/pyproject.toml", '[tool.uv.pip]\ntarget = "/elsewhere"\n'),
        ("work/deep/pyproject.toml", '[tool.uv]\npip.target = "/elsewhere"\n'),
    ],
)
def test_a_uv_whose_settings_lead_elsewhere_is_left_out(
    uv: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [way.name for way in env_installers.ways()] == ["uv", "pip"]
    write(uv / name, text)
    assert [way.name for way in env_installers.ways()] == ["pip"]
    assert f"goes elsewhere: {uv / name} says " in capsys.readouterr().out
    monkeypatch.setattr(env_installers.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SystemExit):
        list(env_installers.ways())
    assert "export UV_NO_CONFIG=1" in capsys.readouterr().err
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    assert env_installers.find_led() == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own/uv/uv.toml", '[pip]\nindex-url = "https://target.example/prefix"\n# target = "/x"\n'),
        ("own/uv/uv.toml", '[publish]\ntarget = "/x"\n'),
        ("work/deep/pyproject.toml", '[tool.other.pip]\ntarget = "/x"\n'),
        ("work/pyproject.toml", '[tool.uv.pip]\ntarget = "/farther"\n'),
    ],
)
def test_settings_of_uv_that_lead_nowhere_else(uv: Path, name: str, text: str) -> None:
    write(uv / "work/deep/uv.toml" if name == "work/pyproject.toml" else uv / name, "offline = true\n")
    write(uv / name, text)
    assert env_installers.find_led() == ""


def test_the_file_that_a_variable_names_stands_for_all_others(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(uv / "own/uv/uv.toml", '[pip]\ntarget = "/elsewhere"\n')
    write(uv / "named.toml", "offline = true\n")
    monkeypatch.setenv("UV_CONFIG_FILE", str(uv / "named.toml"))
    assert env_installers.find_led() == ""
