"""adopt: what stays, what becomes of a project's files, and that all of it is taken back."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import tomli

from xpusetup.adopt import pip, uv
from xpusetup.adopt.keeping import NEVER, InstalledVersion, Keep, Keeping, keep_torch
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands import adopt
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from pathlib import Path

TORCH = Keep("torch", "2.14.1+xpu", "wheel", "/wheels/torch-2.14.1+xpu-cp311-cp311-linux_x86_64.whl")
TRITON = Keep("triton-xpu", "3.8.0", "index", "https://download.pytorch.org/whl/xpu")
KEEPING = Keeping((TORCH, TRITON), ("triton", "pytorch-triton"))
NOTHING = f"triton ; {NEVER}"
BARE = '[project]\nname = "p"  # a comment\nversion = "0"\ndependencies = ["acme"]\n'
OVERRIDES = """[tool.uv]
override-dependencies = [
    # numpy 2 breaks our pickles
    "numpy<2",  # until March
    "torch==2.12.0 ; sys_platform == 'win32'",  # others have none
]
package = false
"""
SOURCES = """[tool.uv.sources]
# which one
torch = [
    { index = "cpu", extra = "cpu" },
    { index = "cu128", extra = "cu128" },  # the big one
] # these two

[[tool.uv.index]]
name = "cpu"
url = "https://a.example/cpu"
"""
PROJECTS = {
    "bare": BARE,
    "other tables": f"{BARE}\n[tool.ruff]\nline-length = 120\n",
    "a uv table": f"{BARE}\n[tool.uv]\n# mine\npackage = false\n\n[tool.ruff]\nline-length = 120\n",
    "overrides of its own": f'{BARE}\n[tool.uv]\noverride-dependencies = [\n  "numpy<3",  # a\n  "torch==2.9.0",\n]\n',
    "sources of its own": f'{BARE}\n[tool.uv.sources]\nTorch = {{ index = "mine" }}\nacme = {{ path = "../acme" }}\n',
    "indexes of its own": f'{BARE}\n[[tool.uv.index]]\nname = "mine"\nurl = "https://a.example"\n\n[tool.x]\ny = 1\n',
    "without an end": BARE.rstrip(),
    "an empty uv table": f"{BARE}\n[tool.uv]\n# nothing yet\n",
    "overrides with words": f"{BARE}\n{OVERRIDES}",
    "overrides in a line": f'{BARE}\n[tool.uv]\noverride-dependencies = ["numpy<3"] # all\n',
    "a list of sources": f"{BARE}\n{SOURCES}",
    "tables of sources": f'{BARE}\n[[tool.uv.sources.torch]]\nindex = "a"\nextra = "cpu"\n\n[tool.x]\ny = 1\n',
    "sources in a line": f'{BARE}\n[tool.uv]\nsources = {{ torch = {{ index = "a" }} }}\n',
}


def origin(path: str) -> str:
    return json.dumps({"url": f"file://{path.replace('+', '%2B')}", "archive_info": {}})


@pytest.mark.parametrize(
    ("version", "told", "kind", "source"),
    [
        ("2.14.1+xpu", origin(TORCH.source), "wheel", TORCH.source),
        ("2.14.1+xpu", origin("/gone/torch-2.14.1.whl"), "outside", ""),
        ("2.14.1+xpu", '{"url": "file:///src/torch", "dir_info": {"editable": true}}', "outside", ""),
        ("2.14.1+xpu", "not JSON", "outside", ""),
        ("2.14.1+xpu", "[]", "outside", ""),
        ("2.14.1+xpu", "", "index", "https://download.pytorch.org/whl/xpu"),
        ("2.14.1+cu128", "", "index", "https://download.pytorch.org/whl/cu128"),
        ("2.14.1", "", "default", ""),
        ("2.14.1+site.7", "", "outside", ""),
    ],
)
def test_where_an_installer_has_it_from(version: str, told: str, kind: str, source: str) -> None:
    found = keep_torch({"torch": InstalledVersion(version, told)}, lambda path: path == TORCH.source, outside=False)
    (one,) = found.keeps
    assert (one.kind, one.source, one.pin) == (kind, source, f"torch=={version}")


def test_all_of_the_family_comes_from_one_side() -> None:
    there = {"torch": InstalledVersion("2.14.1+site.7"), "torchvision": InstalledVersion("0.29.1+xpu")}
    assert {one.kind for one in keep_torch(there, lambda _: True, outside=False).keeps} == {"outside"}
    there = {"torch": InstalledVersion("2.14.1+xpu")}
    assert keep_torch(there, lambda _: True, outside=True).keeps[0].kind == "outside"


@pytest.mark.parametrize(
    ("there", "never"),
    [
        ({"torch": "2.14.1+xpu", "triton-xpu": "3.8.0"}, ("triton", "pytorch-triton-xpu", "pytorch-triton")),
        ({"torch": "2.14.1+xpu"}, ("triton", "triton-xpu", "pytorch-triton-xpu", "pytorch-triton")),
        ({"torch": "2.14.1", "triton": "3.8.0"}, ("triton-xpu", "pytorch-triton-xpu", "pytorch-triton")),
        ({"torch": "2.14.1+cpu"}, ()),
    ],
)
def test_no_second_triton(there: dict[str, str], never: tuple[str, ...]) -> None:
    installed = {name: InstalledVersion(version) for name, version in there.items()}
    assert keep_torch(installed, lambda _: True, outside=False).never == never


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_of_uv(name: str) -> None:
    text = PROJECTS[name]
    adopted = tomli.loads(uv.adopt_uv(text, KEEPING))["tool"]["uv"]
    overrides = adopted["override-dependencies"]
    assert overrides[-4:] == ["torch==2.14.1+xpu", "triton-xpu==3.8.0", NOTHING, f"pytorch-triton ; {NEVER}"]
    assert "torch==2.9.0" not in overrides
    assert adopted["sources"]["torch"] == {"path": TORCH.source}
    assert adopted["sources"]["triton-xpu"] == {"index": "xpusetup-torch"}
    assert "Torch" not in adopted["sources"]
    assert adopted["index"][-1] == {"name": "xpusetup-torch", "url": TRITON.source, "explicit": True}
    rest = tomli.loads(text)
    assert {key: value for key, value in tomli.loads(uv.adopt_uv(text, KEEPING)).items() if key != "tool"} == {
        key: value for key, value in rest.items() if key != "tool"
    }


@pytest.mark.parametrize("name", PROJECTS)
def test_what_was_changed_since_stays_when_it_is_taken_back(name: str) -> None:
    text = PROJECTS[name]
    later = uv.adopt_uv(text, KEEPING).replace('name = "p"', 'name = "q"')
    assert tomli.loads(uv.leave_uv(later, text, KEEPING)) == tomli.loads(text.replace('name = "p"', 'name = "q"'))
    assert uv.leave_uv(f"{later}# the last word\n", text, KEEPING).endswith("# the last word\n")


@pytest.mark.parametrize("part", [OVERRIDES, SOURCES])
def test_what_is_said_beside_stays_and_comes_back(part: str) -> None:
    text = f"{BARE}\n{part}"
    adopted = uv.adopt_uv(text, KEEPING)
    assert [word for word in ("# numpy 2 breaks", '"numpy<2",  # until March', "# which one") if word in part] == [
        word for word in ("# numpy 2 breaks", '"numpy<2",  # until March', "# which one") if word in adopted
    ]
    later = uv.leave_uv(f"{adopted}\n[tool.mine]\nx = 1\n", text, KEEPING)
    assert sorted(filter(None, later.splitlines())) == sorted(
        filter(None, [*text.splitlines(), "[tool.mine]", "x = 1"])
    )


@pytest.mark.parametrize("name", PROJECTS)
def test_to_adopt_twice_is_to_adopt_once(name: str) -> None:
    once = tomli.loads(uv.adopt_uv(PROJECTS[name], KEEPING))
    assert tomli.loads(uv.adopt_uv(uv.adopt_uv(PROJECTS[name], KEEPING), KEEPING)) == once


ODD = {
    "dotted keys": "tool.uv.package = false\n",
    "one line": '[tool]\nuv = { index = [{ name = "a", url = "b" }] }\n',
    "one line for all": 'tool = { uv = { sources = { torch = { index = "a" } } } }\n',
    "a text": '[tool]\nuv = "x"\n',
    "a list": "[tool]\nuv = [1]\n",
    "tables": "[[tool.uv]]\nx = 1\n",
    "tables above": "[[tool]]\nuv = {}\n",
    "overrides in tables": '[tool.uv]\noverride-dependencies = [{ name = "torch" }]\n',
    "a text for an index": '[tool.uv]\nindex = "x"\n',
    "a text for sources": '[tool.uv]\nsources = "x"\n',
}


@pytest.mark.parametrize("name", ODD)
def test_a_form_in_which_it_cannot_be_taken_back_is_refused(name: str) -> None:
    text = f'{ODD[name]}[project]\nname = "p"\n'
    with pytest.raises(UsageError, match="cannot be edited safely"):
        uv.adopt_uv(text, KEEPING)
    with suppress(UsageError):  # nor a traceback where the file was brought into it since
        uv.leave_uv(text, BARE, KEEPING)


@pytest.mark.parametrize("name", PROJECTS)
def test_line_ends_stay_of_one_kind(name: str) -> None:
    adopted = uv.adopt_uv(PROJECTS[name].replace("\n", "\r\n"), KEEPING)
    assert "\n" not in adopted.replace("\r\n", "")


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("torch==2.13.0", ["torch==2.13.0"]),
        ("torch >= 2.9 ; python_version >= '3'  # why", []),
        ("Torch==2.14.1 --hash=sha256:aa", []),
        ("torch==2.9.0 \\", ["torch==2.9.0"]),
        ("torch<2 ; sys_platform == 'never'", []),
        ("triton", ["triton"]),
        ("-r more.txt", []),
        ("acme<0", []),
    ],
)
def test_what_pip_will_refuse(line: str, refused: list[str]) -> None:
    assert pip.find_refused(f"# c\n{line}\n", KEEPING) == refused


def test_what_is_outside_is_never_installed() -> None:
    keeping = Keeping((Keep("torch", "2.14.1", "outside"),), ())
    adopted = tomli.loads(uv.adopt_uv(BARE, keeping))["tool"]["uv"]
    assert adopted == {"override-dependencies": [f"torch ; {NEVER}"]}


def test_what_is_no_project_of_uv() -> None:
    assert not uv.is_project('[tool.poetry]\nname = "p"\n')
    with pytest.raises(UsageError, match="is no TOML"):
        uv.is_project("[project")


@pytest.mark.parametrize("text", ["", "acme\n", "acme", "# c\r\nacme\r\n"])
def test_requirements(text: str) -> None:
    adopted = pip.adopt_requirements(text, KEEPING)
    lines = [line.partition("  #")[0] for line in adopted.splitlines()]
    assert lines[:3] == [
        *("-c xpusetup-constraints.txt", "--find-links /wheels"),
        "--extra-index-url https://download.pytorch.org/whl/xpu",
    ]
    assert adopted.endswith(text)
    assert pip.leave_requirements(f"{adopted}") == text


@pytest.mark.parametrize(
    ("text", "constraint", "others"),
    [
        ("", "/c.txt", []),
        ("", "/o.txt /c.txt", ["/o.txt"]),
        ("[global]\ntimeout = 9", "/c.txt", []),
        ("[install]\nno-deps = no\n", "/o.txt /c.txt", ["/o.txt"]),
        ("[install]\n# mine\nconstraint = /a.txt\nuser = no\n", "/a.txt /c.txt", ["/a.txt"]),
        ("[install]\nconstraint =\n  /a.txt\n", "/c.txt /a.txt", ["/a.txt"]),
        ("[install]", "/c.txt", []),
        ("[install] ; mine\nuser = no\n", "/c.txt", []),
        ("[install]  # mine\n# why\nuser = no ; x\n", "/o.txt /c.txt", ["/o.txt"]),
        ("  [install]\n  # why\n  user = no\n", "/c.txt", []),
        ("[global]\r\ntimeout = 9\r\n[install]\r\nuser = no\r\n", "/c.txt", []),
        ("[install]\n--constraint = /a.txt\n", "/a.txt /c.txt", ["/a.txt"]),
        ("[install]\nConstraint: /a.txt\n", "/a.txt /c.txt", ["/a.txt"]),
    ],
)
def test_settings_of_pip(text: str, constraint: str, others: list[str]) -> None:
    adopted = pip.adopt_settings(text, "/c.txt", others, "/pip.conf")
    assert pip.read_constraints(adopted)["install"] == constraint.split()
    left = pip.leave_settings(f"{adopted}[freeze]\n", "/c.txt", text, adopted)
    assert left.replace("\r\n", "\n").rstrip() == f"{text}{'' if text.endswith(chr(10)) else chr(10)}[freeze]".replace(
        "\r\n", "\n"
    ).strip("\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("timeout = 9\n", "pip cannot read /pip.conf: File contains no section headers"),
        ("\ufeff[install]\nuser = no\n", "pip cannot read /pip.conf"),
        ("[install]\nuser = no\n[install]\n", "section 'install' already exists"),
        ("[global]\nx = 1\n [install]\nuser = no\n", "cannot be edited safely"),
    ],
)
def test_settings_that_pip_would_read_otherwise_are_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why.replace("[", ".")):
        pip.adopt_settings(text, "/c.txt", [], "/pip.conf")


def test_a_folder_with_a_blank_in_its_name() -> None:
    """Pip parts the words of its settings at each blank."""
    adopted = pip.adopt_settings("", "/my project/xpusetup-constraints.txt", [], "/pip.conf")
    assert pip.read_constraints(adopted)["install"] == ["file:///my%20project/xpusetup-constraints.txt"]
    assert pip.leave_settings(adopted, pip.find_ours(adopted), "", adopted) == ""
    keeping = Keeping((replace(TORCH, source="/my wheels/torch-2.14.1+xpu-cp311-cp311-linux_x86_64.whl"),), ())
    assert "--find-links file:///my%20wheels  #" in pip.adopt_requirements("", keeping)


def test_settings_that_cannot_be_read_name_nothing() -> None:
    assert pip.read_constraints("constraint = no section") == {}


# The command.


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """Give an environment whose torch came from a wheel that is still there."""
    place = tmp_path / "env/lib/python3.11/site-packages"
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").touch()
    (tmp_path / "env/pyvenv.cfg").write_text("home = /usr/bin\n")
    wheel = tmp_path / "torch-2.14.1+xpu-py3-none-any.whl"
    wheel.touch()
    (place / "torch-2.14.1+xpu.dist-info").mkdir(parents=True)
    (place / "torch-2.14.1+xpu.dist-info/direct_url.json").write_text(origin(str(wheel)))
    return tmp_path / "env"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project of uv that has requirements too."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    place = tmp_path / "project"
    place.mkdir()
    (place / "pyproject.toml").write_bytes(BARE.replace("\n", "\r\n").encode())
    (place / "requirements.txt").write_bytes(b"acme\r\n# c")
    return place


def written(*places: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for place in places for path in sorted(place.rglob("*")) if path.is_file()}


def test_all_is_taken_back_byte_for_byte(project: Path, venv: Path) -> None:
    before = written(project, venv)
    found = adopt.look(str(project), Where(into=str(venv)))
    assert written(project, venv) == before
    assert [change.path.rpartition("/")[2] for change in found.data.changes] == [
        *("pyproject.toml", "requirements.txt", "xpusetup-constraints.txt", "pip.conf")
    ]
    assert adopt.apply(found).data.written
    assert written(project, venv).keys() - before.keys() == {
        *(f"{project}/xpusetup-constraints.txt", f"{project}/.xpusetup-adopt.json", f"{venv}/pip.conf")
    }
    assert adopt.look(str(project), Where(into=str(venv))).data.changes == []
    assert adopt.apply(adopt.look_back(str(project))).data.undone
    assert written(project, venv) == before


def test_what_was_changed_since_is_told(project: Path, venv: Path) -> None:
    adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    (project / "requirements.txt").write_bytes((project / "requirements.txt").read_bytes() + b"\r\nmore\r\n")
    found = adopt.look_back(str(project))
    assert found.data.notes == ["requirements.txt was changed since: of it ours alone is taken out"]
    adopt.apply(found)
    assert (project / "requirements.txt").read_bytes() == b"acme\r\n# c\r\nmore\r\n"


def test_an_environment_above_another_is_left_without_torch(
    project: Path, venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on top of a cluster's module, which brings torch by PYTHONPATH."""
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/python").touch()
    assert [one.kind for one in adopt.look(str(project), Where(into=str(venv))).data.kept] == ["wheel"]
    monkeypatch.setenv("PYTHONPATH", f"{venv}/lib/python3.11/site-packages")
    found = adopt.look(str(project), Where(into=str(venv))).data
    assert ([one.kind for one in found.kept], found.notes) == (["outside"], [])


def test_what_uv_would_take_out_is_told(project: Path, venv: Path, tmp_path: Path) -> None:
    (tmp_path / "torch-2.14.1+xpu-py3-none-any.whl").unlink()
    (note,) = adopt.look(str(project), Where(into=str(venv))).data.notes
    assert f"UV_PROJECT_ENVIRONMENT={venv}" in note
    (venv / "pyvenv.cfg").unlink()
    (note,) = adopt.look(str(project), Where(into=str(venv))).data.notes
    assert f"uv venv --clear --system-site-packages --python {venv}/bin/python" in note
    venv.rename(project / ".venv")
    (note,) = adopt.look(str(project), Where()).data.notes
    assert "uv sync --inexact" in note


def test_a_project_that_was_moved_is_given_back_where_it_is(project: Path, venv: Path) -> None:
    before, own = written(project), written(venv)
    adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    moved = project.rename(project.with_name("moved"))
    adopt.apply(adopt.look_back(str(moved)))
    assert {name.replace("/moved/", "/project/"): data for name, data in written(moved).items()} == before
    assert written(venv) == own
    assert not project.exists()


@pytest.mark.parametrize("settings", ["", "[install]\nuser = no\nconstraint = /mine.txt\n"])
def test_settings_whose_constraints_were_cleaned_away_are_written_anew(
    project: Path, venv: Path, settings: str
) -> None:
    """`git clean` takes the constraints and our record, and pip.conf names what is gone: no pip install works there."""
    if settings:
        (venv / "pip.conf").write_text(settings)
    adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    for name in (".xpusetup-adopt.json", "xpusetup-constraints.txt"):
        (project / name).unlink()
    adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    named = pip.read_constraints((venv / "pip.conf").read_text())["install"]
    assert named == [*(["/mine.txt"] if settings else []), str(project / "xpusetup-constraints.txt")]
    assert (project / "xpusetup-constraints.txt").exists()
    adopt.apply(adopt.look_back(str(project)))
    assert (written(venv).get(f"{venv}/pip.conf") or b"").decode() == settings


def test_a_member_of_a_workspace_is_led_to_its_root(project: Path, venv: Path) -> None:
    (project / "pyproject.toml").write_text(
        f'{BARE}\n[tool.uv.workspace]\nmembers = ["./packages/*"]\nexclude = ["packages/old"]\n'
    )
    for name in ("packages/new", "packages/old"):
        (project / name).mkdir(parents=True)
        (project / name / "pyproject.toml").write_text(BARE)
    with pytest.raises(UsageError, match="is a member of the workspace") as refused:
        adopt.look(str(project / "packages/new"), Where(into=str(venv)))
    assert refused.value.fix == f"xpusetup adopt {project} --into {venv}"
    assert adopt.look(str(project / "packages/old"), Where(into=str(venv))).texts


def test_what_replaces_torch_all_the_same_is_told(project: Path, venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, lock = project / "xpusetup-constraints.txt", '[[package]]\nname = "torch"\nversion = "2.15.0"\n'
    (project / "pyproject.toml").write_text(f'{BARE}\n[tool.uv]\nconstraint-dependencies = ["torch<2.12", "numpy<3"]\n')
    (project / "uv.lock").write_text(lock)
    (project / "uv.toml").touch()
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.13.9\n")
    monkeypatch.setenv("PIP_CONSTRAINT", "/a.txt")
    notes = adopt.look(str(project), Where(into=str(venv))).data.notes
    assert [note.partition(",")[0] for note in notes[:1]] == ["pyproject.toml constrains torch<2.12"]
    assert [note.partition("\n")[2] for note in notes[1:]] == [
        f"export PIP_CONSTRAINT='/a.txt {ours}'",
        f"export UV_CONSTRAINT={ours}",
        f"uv lock --project {project}",
    ]
    (project / "uv.lock").write_text(lock.replace("2.15.0", "2.14.1+xpu"))
    (project / "uv.toml").unlink()
    monkeypatch.setenv("PIP_CONSTRAINT", f"/a.txt {ours}")
    assert adopt.look(str(project), Where(into=str(venv))).data.notes[1:] == []


def test_an_environment_of_conda_is_guarded_too(project: Path, venv: Path) -> None:
    (venv / "pyvenv.cfg").unlink()
    assert f"{venv}/pip.conf" not in {str(path) for path in adopt.look(str(project), Where(into=str(venv))).texts}
    (venv / "conda-meta").mkdir()
    (project / "poetry.lock").touch()
    found = adopt.look(str(project), Where(into=str(venv)))
    assert venv / "pip.conf" in found.texts
    assert found.data.notes == [
        "Poetry, whose poetry.lock is here, heeds none of this: what it installs can replace torch"
    ]


def test_links_and_modes_stay(project: Path, venv: Path) -> None:
    """A file of requirements may hold the password of an index, and may be a link into another folder."""
    real, private = project / "real.txt", project / "requirements-dev.txt"
    (project / "requirements.txt").rename(real)
    (project / "requirements.txt").symlink_to("real.txt")
    private.write_text("--index-url https://me:secret@host.invalid/\n")
    private.chmod(0o600)
    before = written(project)
    adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    assert (project / "requirements.txt").is_symlink()
    assert b"-c xpusetup-constraints.txt" in real.read_bytes()
    for path in (private, project / adopt.RECORD):
        assert path.stat().st_mode & 0o777 == 0o600
    adopt.apply(adopt.look_back(str(project)))
    assert (project / "requirements.txt").is_symlink()
    assert written(project) == before


def test_a_byte_order_mark_stays_the_first(project: Path, venv: Path) -> None:
    names = ("requirements.txt", "pyproject.toml")
    for name in names:
        (project / name).write_bytes(b"\xef\xbb\xbf" + (project / name).read_bytes())
    before = written(project)
    adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    for name in names:
        data = (project / name).read_bytes()
        assert (data[:3], data.count(b"\xef\xbb\xbf")) == (b"\xef\xbb\xbf", 1)
        (project / name).write_bytes(data + b"# more\r\n")
    adopt.apply(adopt.look_back(str(project)))
    for name, data in written(project).items():
        assert data.replace(b"\r\n\r\n", b"\r\n") == before[name] + b"# more\r\n"


def test_all_or_nothing_is_written(project: Path, venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written(project, venv)
    monkeypatch.setattr("os.access", lambda path, _mode: not str(path).endswith("requirements.txt"))
    with pytest.raises(NotReadyError, match="cannot write ") as caught:
        adopt.apply(adopt.look(str(project), Where(into=str(venv))))
    assert caught.value.fix.endswith(f"chmod u+w {project}/requirements.txt")
    assert written(project, venv) == before


def test_a_torch_that_the_project_pins_itself_is_told(project: Path, venv: Path) -> None:
    (project / "requirements.txt").write_text("torch==2.9.0\n")
    assert adopt.look(str(project), Where(into=str(venv))).data.notes == [
        "requirements.txt asks for torch==2.9.0, which pip will refuse beside this torch: change it there"
    ]


def test_what_cannot_be_adopted(project: Path, venv: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="there is no folder"):
        adopt.look(str(tmp_path / "none"), Where())
    with pytest.raises(UsageError, match="nothing is adopted"):
        adopt.look_back(str(project))
    (tmp_path / "bare/bin").mkdir(parents=True)
    (tmp_path / "bare/bin/python").touch()
    with pytest.raises(NotReadyError, match="there is no torch"):
        adopt.look(str(project), Where(into=str(tmp_path / "bare")))
    (venv / "pyvenv.cfg").unlink()
    with pytest.raises(UsageError, match="holds no pyproject"):
        adopt.look(str(tmp_path / "empty"), Where(into=str(venv)))
    (project / "requirements.txt").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is no text"):
        adopt.look(str(project), Where(into=str(venv)))
    (project / adopt.RECORD).write_text("no")
    with pytest.raises(UsageError, match="cannot be read"):
        adopt.look_back(str(project))


def test_the_record_of_another_version_is_refused(project: Path) -> None:
    told: dict[str, Any] = {"environment": "x", "keeping": {}, "files": 1}
    (project / adopt.RECORD).write_text(json.dumps(told))
    with pytest.raises(UsageError, match="cannot be read"):
        adopt.look_back(str(project))
