"""profiles new --release: what upstream's files say becomes a profile; releases that are known, made again."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from packaging.version import Version

from data.plans import plan_of
from data.profiles import SHIPPED, shipped
from data.upstream import REPLAYS
from golden import hold_one
from in_process import program  # noqa: F401 - a fixture
from xpusetup.base.errors import UsageError
from xpusetup.commands import new_release as command
from xpusetup.commands.new_release import readings_of
from xpusetup.config.load import parse_profile
from xpusetup.config.new_profile import render_profile
from xpusetup.config.new_release import (
    MadeRelease,
    check_tree,
    comment_of,
    make_diff,
    make_release,
    newest_tag,
    parse_release,
    release_before,
    weigh,
)
from xpusetup.config.upstream import (
    OPS,
    RULES,
    IndexWheel,
    Reading,
    paths_of_ops,
    paths_of_torch,
    places_lacking,
    read_matrix,
    read_onednn,
    read_partner,
    read_readme,
    read_targets,
    read_torch_wheel,
    read_tree,
    read_wheel_build,
)
from xpusetup.system.http import ToldWheels

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program
    from xpusetup.base.values import Confidence
    from xpusetup.config.profile import Profile

DAY = "2026-11-23"
RELEASES = [shipped(name) for name in SHIPPED if name.startswith("torch-")]


def before(release: str) -> list[Profile]:
    """Give the profiles that there were before a release."""
    return [each for each in RELEASES if Version(each.name.removeprefix("torch-")) < Version(release)]


def replay(release: str) -> MadeRelease:
    """Make a release again from its files and wheels, without its profile or any later one."""
    told = REPLAYS[release]
    base = release_before(release, before(release))
    readings = [*readings_of(told.wheels(), told.version), *read_tree(told.files(), f"v{told.version}")]
    return make_release(base, f"torch-{release}", told.version, readings, told.files(), DAY)


def pins_of(profile: Profile) -> dict[str, str]:
    """Give the pins of a profile by the names that a new release has for them; empty for one that it leaves open."""
    assert profile.toolkit
    assert profile.arch
    assert profile.runtime_requirements
    parts: dict[str, Any] = {part.name: part for part in profile.components}
    vendored = {item.name: item for item in parts["torch"].vendored}
    python = profile.python.split(",")
    found = {
        "torch.version": parts["torch"].version,
        "torch.rev": parts["torch"].rev,
        "torch.frontend": parts["torch"].frontend,
        "torch-xpu-ops.rev": vendored["torch-xpu-ops"].rev,
        "onednn.tag": vendored["onednn"].tag,
        "sycl-tla.tag": vendored["sycl-tla"].tag,
        "triton.version": parts["triton"].version,
        "toolkit.preferred": profile.toolkit.preferred,
        "toolkit.scripts": ", ".join(profile.toolkit.scripts),
        "arch.default": ", ".join(profile.arch.default),
        "cmake": profile.cmake,
        "gcc": profile.gcc,
        "python.from": next(each for each in python if each.startswith(">=")),
        "python.before": next(each for each in python if each.startswith("<")),
        "python.not": ",".join(each for each in python if each.startswith("!=")),
        **{f"torch.environment.{name}": value for name, value in parts["torch"].environment.items()},
        **{f"{name}.version": parts[name].version for name in ("vision", "audio")},
        **{f"{name}.rev": parts[name].rev for name in ("vision", "audio")},
        **{f"runtime.{pin.split('==')[0]}": pin.split("==")[1] for pin in profile.runtime_requirements.pins},
    }
    return {name: value or "" for name, value in found.items()}


def sure_pins(profile: Profile) -> set[str]:
    """Give the pins that a shipped profile calls confirmed."""
    sure = set()
    for part in (each for each in profile.components if each.kind != "skip"):
        if part.confidence == "confirmed":
            sure |= {f"{part.name}.version", *([f"{part.name}.rev"] if part.kind == "source" else [])}
        for item in part.vendored if part.kind == "source" else []:
            if item.confidence == "confirmed":
                sure |= {f"{item.name}.rev", f"{item.name}.tag"}
    if profile.arch and profile.arch.confidence == "confirmed":
        sure.add("arch.default")
    if profile.toolkit and profile.toolkit.confidence == "confirmed":
        sure |= {"toolkit.preferred", "toolkit.scripts"}
    table = profile.runtime_requirements
    if table and table.confidence == "confirmed":
        sure |= {f"runtime.{pin.split('==')[0]}" for pin in table.pins}
    return sure


@pytest.mark.parametrize("release", REPLAYS)
def test_a_release_that_is_known_is_made_again(release: str) -> None:
    """Confirmed pins alone are counted: 95 % of them are right, and none that is wrong is called confirmed."""
    made, known = replay(release), pins_of(shipped(f"torch-{release}"))
    called = {pin.pin: pin.now for pin in made.pins if pin.confidence == "confirmed"}
    judged = {pin: now for pin, now in called.items() if pin not in REPLAYS[release].not_named}
    wrong = {pin: (now, known.get(pin)) for pin, now in judged.items() if now != known.get(pin)}
    assert wrong == {}
    assert len(judged) >= 30, "the replay confirms too little to say anything"
    now = {pin.pin: pin.now for pin in made.pins}
    sure = sure_pins(shipped(f"torch-{release}")) & now.keys()
    right = [pin for pin in sure if now[pin] == known[pin]]
    assert len(right) >= 0.95 * len(sure), sorted(sure - {*right})


def test_what_no_file_told_is_not_confirmed() -> None:
    """Each file of a release is taken away in turn: its pins are as they were or left out, and never confirmed."""
    told = REPLAYS["2.14"]
    for rule in RULES:
        files = {path: text for path, text in told.files().items() if path not in rule.paths}
        lost = {each.pin for each in read_tree(told.files(), "")} - {each.pin for each in read_tree(files, "")}
        base = release_before("2.14", before("2.14"))
        made = make_release(base, "torch-2.14", told.version, list(read_tree(files, "v")), files, DAY)
        sure = {pin.pin for pin in made.pins if pin.confidence == "confirmed"}
        assert lost & sure == set(), rule.paths
        pins = pins_of(made.profile)
        if "third_party/xpu.txt" in rule.paths:
            assert pins["torch-xpu-ops.rev"] == ""


def test_the_profile_is_whole() -> None:
    made = replay("2.14")
    text = render_profile(made.profile, comment_of(made, "torch-2.13", DAY))
    assert parse_profile(text, "torch-2.14.toml") == made.profile
    assert made.profile.tier == "new"
    assert [step.id for step in plan_of(made.profile).steps if step.id.endswith(".build")][-1] == "audio.build"
    hold_one("profiles/torch-2.14-replayed.toml", text)
    hold_one("profiles/torch-2.14-replayed.diff", "\n".join(make_diff(shipped("torch-2.13"), made.profile)) + "\n")


def test_the_wheel_tells_how_it_was_built() -> None:
    wheel = IndexWheel(name="torch", version="2.15.0", file="w.whl", generator="scikit-build-core 1.1.1", gcc="11.3")
    told = {each.pin: each.value for each in read_torch_wheel(wheel)}
    assert told == {"torch.version": "2.15.0+xpu", "torch.frontend": "build", "gcc": ">=11.3"}


def test_whether_the_published_wheel_has_xccl() -> None:
    """As the build of the wheel says it, else nothing: what the release before had is no evidence."""
    for release, built in (("2.12", True), ("2.13", True), ("2.14", None)):
        published = replay(release).profile.published
        assert published
        assert (published.collectives.built if published.collectives else None) == built


def test_two_places_that_differ_confirm_nothing() -> None:
    one, two = Reading(pin="x", value="1", source="a:1"), Reading(pin="x", value="2", source="b:2")
    chosen, notes = weigh([one, two])
    assert chosen["x"].confidence == "unconfirmed"
    assert chosen["x"].source == "a:1; but b:2 says 2"
    assert notes == ["x: a:1 says 1, b:2 says 2"]
    sure, none = weigh([replace(one, confidence="likely"), two])
    assert (sure["x"], none) == (two, [])


def test_a_file_that_says_it_otherwise_now_gives_nothing() -> None:
    """Upstream changes its words: what a rule does not know it leaves out, and breaks at nothing."""
    for rule in RULES:
        for text in ("", "\0", "{", "x = (", "set(AOT_TARGETS)", "not what it was\n" * 3, "(" * 5000):
            assert list(rule.read(text)) == [], rule.paths


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ('set(AOT_TARGETS "pvc,bmg")', "pvc, bmg"),
        ('if(WIN32)\n set(AOT_TARGETS "mtl")\nelse()\n set(AOT_TARGETS "pvc")\nendif()', "pvc"),
        ('if(WIN32)\n if(A)\n set(AOT_TARGETS "mtl")\n endif()\nelseif(B)\n set(AOT_TARGETS "pvc")\nendif()', "pvc"),
        ('set(AOT_TARGETS "none")\nset(AOT_TARGETS "${LIST}")\nset(AOT_TARGETS "bmg")', "bmg"),
    ],
)
def test_device_targets(text: str, targets: str) -> None:
    assert [each.value for each in read_targets(text)] == [targets]


def test_what_a_build_exports_in_shell_and_in_python() -> None:
    python = 'CPU_BUILD_ENV = {"USE_XCCL": "9"}\nXPU_BUILD_ENV: dict[str, str] = {\n'
    python += '    "USE_XCCL": "0",\n    "USE_MPI": "0",\n}\n'
    told = {each.pin: (each.value, each.line) for each in read_wheel_build(python)}
    assert told == {"torch.environment.USE_XCCL": ("0", 3), "torch.environment.USE_MPI": ("0", 4)}
    shell = "  export USE_XCCL=1\nsource /opt/intel/oneapi/ccl/latest/env/vars.sh\n"
    found = {each.pin: (each.value, each.line) for each in read_wheel_build(shell)}
    assert found == {"torch.environment.USE_XCCL": ("1", 1), "toolkit.scripts": ("ccl/latest/env/vars.sh", 2)}


def test_requirements_of_linux_alone_with_their_lines() -> None:
    lines = (
        "PYTORCH_EXTRA_INSTALL_REQUIREMENTS: dict[str, str] = {",
        '  "12.6": ("umf==9"),',
        '  "xpu": (',
        '    "umf==1.0 | "',
        "    \"tbb==2; platform_system == 'Windows' | \"",
        '    "a>=1 | b==1.* | intel-sycl-rt==2026.2.1"',
        "  ),",
        "}",
    )
    text = "\n".join(lines)
    told = {each.pin: (each.value, each.line) for each in read_matrix(text)}
    assert told == {
        "runtime.umf": ("1.0", 4),
        "runtime.intel-sycl-rt": ("2026.2.1", 6),
        "toolkit.preferred": ("2026.2", 6),
    }


def test_onednn_by_tag_and_by_commit() -> None:
    words = "ExternalProject_Add(x GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN GIT_TAG {})"
    assert [each.pin for each in read_onednn(words.format("v3.13"))] == ["onednn.tag"]
    assert [each.pin for each in read_onednn(words.format("a" * 40))] == ["onednn.rev"]
    assert list(read_onednn(words.format("${TAG}"))) == []


def test_readme() -> None:
    assert [each.value for each in read_readme("- clang or gcc (gcc 11.3.0 or newer is required, on Linux)")] == [
        ">=11.3"
    ]


def test_a_wheel_for_xpu_says_what_it_requires() -> None:
    requires = ("triton-xpu==3.9.1", "intel-sycl-rt==2026.1.2", "sympy==1.14.0", 'tbb==9; sys_platform == "win32"')
    wheel = IndexWheel(
        name="torch", version="2.15.0+xpu", file="w.whl", sha256="a" * 64, requires=requires, commit="b" * 40
    )
    told = {each.pin: (each.value, each.confidence) for each in read_torch_wheel(wheel)}
    assert told == {
        "torch.version": ("2.15.0+xpu", "confirmed"),
        "torch.rev": ("b" * 40, "likely"),
        "triton.version": ("3.9.1", "confirmed"),
        "runtime.intel-sycl-rt": ("2026.1.2", "confirmed"),
        "toolkit.preferred": ("2026.1", "confirmed"),
    }
    other = {each.pin for each in read_torch_wheel(replace(wheel, version="2.15.0"))}
    assert other == {"torch.version", "torch.rev"}


def test_partners() -> None:
    wheels = REPLAYS["2.14"].wheels()
    vision = [each for each in wheels if each.name == "torchvision"]

    def chosen(torch: str) -> list[tuple[str, Confidence]]:
        return [(each.value, each.confidence) for each in read_partner("vision", vision, torch)][:1]

    assert chosen("2.14.0") == [("0.29.0+xpu", "confirmed")]
    assert chosen("2.14.1") == [("0.29.1+xpu", "likely")]
    assert chosen("2.12.1") == [("0.27.1+xpu", "confirmed")]
    assert chosen("2.11.0") == []


@pytest.mark.parametrize(
    ("text", "told"), [("2.15", ("2.15", "")), ("v2.15.1", ("2.15", "2.15.1")), ("2.15.0", ("2.15", "2.15.0"))]
)
def test_which_release(text: str, told: tuple[str, str]) -> None:
    assert parse_release(text) == told


@pytest.mark.parametrize("text", ["", "2", "2.15.0.1", "main", "2.15-rc1"])
def test_no_release(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no release of PyTorch"):
        parse_release(text)


def test_the_newest_point_release_is_taken() -> None:
    assert newest_tag("2.15", ["v2.15.0", "v2.15.10", "v2.15.9", "v2.15.11-rc1", "v2.150.0"]) == "v2.15.10"
    assert newest_tag("2.16", ["v2.15.0"]) == ""
    with pytest.raises(UsageError, match=r"no profile of a release before 2\.4 ships"):
        release_before("2.4", RELEASES)
    assert release_before("2.16", RELEASES).name == "torch-2.15"


def test_trees_that_are_refused() -> None:
    with pytest.raises(UsageError, match=r"here has no third_party/xpu.txt, which names the commit of torch-xpu-ops"):
        check_tree("2.15", {}, "here", "get it")
    with pytest.raises(UsageError, match=r"here is of 2\.14: its version.txt says 2\.14\.0a0"):
        check_tree("2.15", {"third_party/xpu.txt": "x", "version.txt": "2.14.0a0\n"}, "here", "get it")
    check_tree("2.15", {"third_party/xpu.txt": "x", "version.txt": "odd"}, "here", "get it")


def test_files_that_are_read() -> None:
    assert len({*paths_of_torch()}) == len(paths_of_torch())
    assert all(not path.startswith(OPS) for path in (*paths_of_torch(), *paths_of_ops()))
    assert ".ci/wheel/linux/build_env_setup.py" not in places_lacking({".ci/manywheel/build_xpu.sh": ""})


# The command.


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a place with the files of 2.14, whose release does not ship yet, and the index of that day."""
    told = REPLAYS["2.14"]
    for path, text in told.files().items():
        (tmp_path / "files" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / path).write_text(text)
    wheels = [{**vars(each), "requires": [*each.requires], "pythons": [*each.pythons]} for each in told.wheels()]
    monkeypatch.setattr(command, "read_wheels", lambda *_: ToldWheels(wheels))
    monkeypatch.setattr(command, "shipped", lambda: tuple(before("2.14")))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_folder(world: Path, program: Program) -> None:  # noqa: F811
    said = program("profiles new --release 2.14 --from files --json").document()
    told = said["result"]
    assert (told["from"], told["file"], told["release"]) == ("torch-2.13", "torch-2.14.toml", "2.14.1+xpu")
    assert told["unconfirmed"] == [pin["pin"] for pin in told["pins"] if pin["confidence"] != "confirmed"]
    assert "README.md is not there: curl -fL --create-dirs -o files/README.md" in " ".join(told["notes"])
    assert [each["argv"][:2] for each in told["next"]][1] == ["xpusetup", "plan"]
    profile = parse_profile((world / "torch-2.14.toml").read_text(), "torch-2.14.toml")
    assert profile.name == "torch-2.14"
    again = program("profiles new --release 2.14 --from files")
    assert (again.code, "torch-2.14.toml is there already" in again.err) == (2, True)
    assert program("profiles new --release 2.14 --from files --force").code == 0
    assert program("profiles check torch-2.14.toml").code == 0


def test_the_screen_shows_the_diff_and_what_is_not_confirmed(world: Path, program: Program) -> None:  # noqa: F811
    out = program("profiles new mine --release 2.14 --from files -o x.toml").out
    assert '-version = "2.13.0+xpu"' in out
    assert '+version = "2.14.1+xpu"' in out
    assert "toolkit.scripts" in out
    assert re.search(r"\d+ of \d+ pins are confirmed", out)
    assert (world / "x.toml").read_text().startswith("# Begun from torch-2.13 and upstream's files, ")


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        ("--release 2.14 --from nowhere", "there is no folder nowhere", "git clone --depth 1 --branch v2.14.0"),
        (
            "--release 2.14 --from empty",
            "empty has no third_party/xpu.txt",
            "curl -fL --create-dirs -o empty/third_party",
        ),
        ("--release 2.13 --from files", "files is of 2.14", "or say --release 2.14"),
        ("--release 2.14 --from files --source x", "both say where the files are", "give one of them"),
        ("--release 2.14 --device cpu", "--release goes with none of", "leave them out"),
        ("mine --source x", "--source is for a release", "--release 2.15"),
        ("", "a new profile needs a name", "xpusetup profiles new mine"),
    ],
)
def test_refusals(words: str, message: str, fix: str, world: Path, program: Program) -> None:  # noqa: F811
    (world / "empty").mkdir()
    ran = program(f"profiles new {words}")
    assert ran.code == 2
    assert message in " ".join(ran.err.split())
    assert fix in " ".join(ran.err.split())
    assert [path.name for path in world.glob("*.toml")] == []
