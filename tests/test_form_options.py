"""No option of `emit` is passed over in silence: a form says that it does not know it, or its files differ."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import small_text
from data.well import well
from xpusetup.base.errors import UsageError, XpuError
from xpusetup.base.model import Request
from xpusetup.commands.emit import KINDS, SOME, EmitOrder, check_options, emit
from xpusetup.config.load import parse_profile
from xpusetup.run.root import ARCHIVE
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from in_process import Program

pytestmark = pytest.mark.usefixtures("no_server")
USUAL = {"github": {"from": "source", "label": "big", "gpu_label": "arc"}}
"""What a form needs for a build from source."""
OTHER: Mapping[str, Any] = {
    "from": "wheels",
    "os": "ubuntu-22.04",
    "target": "devel",
    "dialect": "portable",
    "base": f"base@sha256:{'0' * 64}",
    "driver": "data-center",
    "pin": ("git=1",),
    "label": "small",
    "gpu_label": "other",
    "extension": "acme",
}
REQUESTS = {
    "only": Request(only=("torch",)),
    "until": Request(until="torch.fetch"),
    "set": Request(set=(("torch", "USE_XCCL", "0"),)),
    "verify off": Request(verify="off"),
    "verify require": Request(verify="require"),
    "arch": Request(arch=("pvc",)),
}


@pytest.fixture(scope="module", autouse=True)
def _machine() -> Iterator[None]:
    """Stand in for the machine: what a form is made from may ask it nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xpusetup.machine.probe.probe", lambda *_about: well())
        patch.setattr("xpusetup.machine.probe_tools.with_toolkit_of_shell", lambda facts, *_about: facts)
        patch.setattr("xpusetup.run.prepare.read_identities", lambda *_: {})
        yield


def files(kind: str, request: Request, told: Mapping[str, Any], profile: str = "torch-2.14") -> dict[str, str]:
    where = Where(profile=profile, root="/out")
    options = {**USUAL.get(kind, {}), **told, "archs": list(request.arch)}
    order = EmitOrder(places=(where,), request=request, options=options)
    check_options(kind, KINDS, order)
    return dict(KINDS[kind].make(order).files)


def outcome(kind: str, request: Request, told: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Give why a form is refused, or its files."""
    try:
        return "", files(kind, request, told)
    except UsageError as error:
        return str(error), {}


def test_options_that_some_forms_know_are_all_here() -> None:
    assert {name.replace("_", "-") for name in OTHER} | {"verify"} == set(SOME)
    assert set.union(*(set(kind.options) for kind in KINDS.values())) == set(SOME)


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_option_is_refused_or_changes_something(kind: str) -> None:
    plain = files(kind, Request(), {})  # what the form writes without any option
    for option in (*OTHER, *REQUESTS):
        told = {option: OTHER[option]} if option in OTHER else {}
        name = option.replace("_", "-").split()[0]
        said, found = outcome(kind, REQUESTS.get(option, Request()), told)
        refused = f"--{name} " in f"{said} " or (name in KINDS[kind].options and bool(said))
        assert refused or found not in ({}, plain), option


@pytest.mark.parametrize(
    ("kind", "option", "forms"),
    [
        ("shell", "os", "dockerfile, apptainer"),
        ("shell", "pin", "dockerfile, apptainer"),
        ("apptainer", "dialect", "dockerfile"),
        ("dockerfile", "gpu_label", "github"),
        ("slurm", "label", "github"),
    ],
)
def test_it_says_which_forms_know_it(tmp_path: Path, kind: str, option: str, forms: str) -> None:
    order = EmitOrder(places=(Where(profile="sim"),), request=Request(), options={option: OTHER[option]})
    with pytest.raises(UsageError) as caught:
        emit(kind, order, str(tmp_path / "out"))
    assert caught.value.message == f"--{option.replace('_', '-')} is not an option of the form {kind}"
    assert caught.value.fix == f"leave it out; the forms that know it: {forms}"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("shell", "build.sh"), ("shell", "helpers.tar"), ("dockerfile", "README.md")),
        *(("slurm", "submit.sh"), ("module", "README.md")),
    ],
)
def test_files_of_somebody_else_are_not_written_over(tmp_path: Path, kind: str, name: str) -> None:
    order = EmitOrder(places=(Where(profile="sim"),), request=Request(), options={})
    (tmp_path / name).write_text("mine")
    (tmp_path / "notes").write_text("mine too")
    with pytest.raises(UsageError) as caught:
        emit(kind, order, str(tmp_path))
    assert caught.value.message == f"{tmp_path} has files of its own that this would write over: {name}"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "notes"])
    (tmp_path / name).unlink()
    assert emit(kind, order, str(tmp_path)).code == 0
    (tmp_path / name).write_text("an older form of xpusetup")
    told = emit(kind, order, str(tmp_path)).data.notes
    assert f"a form was there; what differed was written anew: {name}" in told
    assert (tmp_path / name).read_text(errors="replace") != "an older form of xpusetup"


def test_a_readme_of_the_users_own_stays_also_beside_a_form(tmp_path: Path) -> None:
    order = EmitOrder(places=(Where(profile="sim"),), request=Request(), options={})
    emit("shell", order, str(tmp_path))
    assert "bash build.sh" in (tmp_path / "README.md").read_text()
    (tmp_path / "README.md").write_text("# mine\n")
    with pytest.raises(UsageError, match=r"files of its own that this would write over: README\.md"):
        emit("dockerfile", order, str(tmp_path))
    assert (tmp_path / "README.md").read_text() == "# mine\n"


@pytest.mark.parametrize("name", ["set", "only", "until", "rev"])
@pytest.mark.parametrize("kind", ["dockerfile", "slurm", "github"])
def test_wheels_are_taken_as_they_were_published(kind: str, name: str) -> None:
    where = Where(profile="torch-2.14", rev=("torch=main",) if name == "rev" else ())
    told = {"from": "" if kind == "github" else "wheels"}
    order = EmitOrder(places=(where,), request=REQUESTS.get(name, Request()), options=told)
    with pytest.raises(UsageError, match=f"--{name} does nothing here: published wheels are installed") as caught:
        check_options(kind, KINDS, order)
    label = " --label LABEL" if kind == "github" else ""
    assert caught.value.fix == f"leave --{name} out, or: the same command with --from source{label}"


@pytest.mark.parametrize("kind", ["dockerfile", "apptainer"])
def test_intels_driver_is_for_intels_devices(kind: str) -> None:
    with pytest.raises(UsageError, match="--driver chooses Intel's packages, and sim computes on simxpu"):
        files(kind, Request(), {"driver": "client"}, "sim")


@pytest.mark.parametrize(("verify", "strict"), [("auto", False), ("require", True)])
def test_a_device_that_is_required_is_required_of_the_shell_too(verify: Any, strict: bool) -> None:
    text = files("shell", Request(verify=verify), {}, "sim")["build.sh"]
    assert ("built, not verified" not in text) is strict


@pytest.mark.parametrize("kind", KINDS)
def test_few_files_are_written(kind: str, tmp_path: Path) -> None:
    """Each root holds its helpers as one archive, the same bytes each time, and plain what is the plan's own."""
    options = {**USUAL.get(kind, {}), "archs": [], "profiles": ["sim"]}
    order = EmitOrder(places=(Where(root=str(tmp_path), profile="sim"),), request=Request(), options=options)
    told = emit(kind, order, str(tmp_path)).data.files
    written = {str(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*") if path.is_file()}
    assert sorted(told) == sorted(map(str, written.values()))
    (archive,) = (path for path in written.values() if path.name == ARCHIVE)
    with tarfile.open(archive) as tar:
        members = {str((archive.parent / each.name).relative_to(tmp_path)): each for each in tar if each.isfile()}
        packed = {name: tar.extractfile(each).read().decode() for name, each in members.items()}  # type: ignore[union-attr]
    plain = {name: path.read_text() for name, path in written.items() if path != archive}
    assert {**packed, **plain} == KINDS[kind].make(order).files
    assert {*packed} & {*plain} == set()
    assert len(packed) > 130
    assert len(plain) < 35
    assert {name.rpartition("helpers/")[2].partition("/")[0] for name in plain if "helpers/" in name} == {
        *("about.json", "requirements")
    }
    assert {(each.mtime, each.uid, each.gid, each.uname) for each in members.values()} == {(0, 0, 0, "")}
    assert {each.mode for name, each in members.items() if name.endswith(".sh")} == {0o755}
    before = archive.read_bytes()
    archive.unlink()
    emit(kind, order, str(tmp_path))
    assert archive.read_bytes() == before


OF_EACH_KIND = ("torch-2.15", "torch-2.5", "cpu-2.13", "sim", "openreg-2.13", "gaudi-1.24.1", "stack-cpu")
"""Profiles of each kind of accelerator, front end and toolkit, and a stack."""


@pytest.mark.parametrize("profile", OF_EACH_KIND)
@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_a_profile_is_written_or_refused_in_words(kind: str, profile: str) -> None:
    try:
        made = files(kind, Request(), {}, profile)
    except XpuError as error:
        made = {"mended by": error.fix}
    assert all(made)
    assert any(made.values())


@pytest.mark.parametrize("kind", ["shell", "dockerfile", "apptainer", "slurm", "module", "github"])
def test_what_is_of_someone_else_is_not_written_over(kind: str, tmp_path: Path) -> None:
    """A form that was written there before is, whichever profiles it was of."""

    def write(profile: str) -> None:
        place = Where(root=str(tmp_path), profile=profile)
        options = {**USUAL.get(kind, {}), "archs": [], "profiles": [profile]}
        emit(kind, EmitOrder(places=(place,), request=Request(), options=options), str(tmp_path))

    name = {"shell": "build.sh", "github": ".github/workflows/xpusetup.yml"}.get(kind, "README.md")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"has files of its own that this would write over: {name}") as caught:
        write("sim")
    assert caught.value.fix == "name a folder that is empty or not there yet: --out DIR"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]
    (tmp_path / name).unlink()
    write("sim")
    write("torch-2.14")
    write("sim")


@pytest.mark.parametrize("kind", ["shell", "slurm", "module", "github"])
def test_the_python_of_a_form_fits_its_profile(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where this machine has none that does; the one that is named need not be here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.toml").write_text(small_text(('python = ">=3.10"', 'python = ">=3.14"')))
    options: dict[str, Any] = {**USUAL.get(kind, {}), "archs": [], "pythons": [], "profiles": ["new.toml"]}
    place = Where(root=str(tmp_path), profile="new.toml")
    request = Request(verify="off")
    with pytest.raises(UsageError, match=r"small cannot be built for this machine's Python 3\.\d+") as caught:
        KINDS[kind].make(EmitOrder(places=(place,), request=request, options=options))
    assert caught.value.fix == "name one that those machines have: --python 3.14"
    told = replace(place, python="3.14")
    made = KINDS[kind].make(EmitOrder(places=(told,), request=request, options={**options, "pythons": ["3.14"]})).files
    (venv,) = (text for name, text in made.items() if name.endswith("steps/venv.sh"))
    assert "\nrun python3.14 " in venv


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "apptainer"])
def test_the_file_that_a_site_names_as_its_profile(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a profile of its name ships with the program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(small_text(('name = "small"', 'name = "sim"')))
    (tmp_path / "xpusetup.toml").write_text('profile = "own.toml"\n')
    options = {**USUAL.get(kind, {}), "archs": []}
    order = EmitOrder(places=(Where(root=str(tmp_path)),), request=Request(verify="off"), options=options)
    made = KINDS[kind].make(order).files
    (lock,) = (json.loads(text) for name, text in made.items() if name.endswith("profile.lock.json"))
    assert lock["profile"]["summary"] == parse_profile(small_text(), "x").summary
    if kind == "github":
        assert " --profile own.toml " in made[".github/xpusetup/README.md"]


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("--profile sim", "compile it: xpusetup emit github --profile sim -o d --from source --label LABEL"),
        ("--profile sim --label big", "compile it: xpusetup emit github --profile sim --label big -o d --from source"),
        (
            "--profile sim --from source",
            "name a runner that has them: xpusetup emit github --profile sim --from source -o d --label LABEL",
        ),
        (
            "--profile torch-2.14 --from source",
            (
                "name a runner that has them:"
                " xpusetup emit github --profile torch-2.14 --from source -o d --label LABEL;"
                " or take the wheels: xpusetup emit github --profile torch-2.14 -o d --from wheels"
            ),
        ),
        (
            "--profile torch-2.14 --arch pvc",
            (
                "leave --arch out, or:"
                " xpusetup emit github --profile torch-2.14 --arch pvc -o d --from source --label LABEL"
            ),
        ),
    ],
)
def test_a_refused_workflow_names_whole_commands(
    words: str, fix: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sim the two refusals named each other's command."""
    monkeypatch.chdir(tmp_path)
    ran = program(f"emit github {words} -o d --json")
    assert ran.code == 2
    assert ran.document()["error"]["fix"].partition("\n")[0] == fix
