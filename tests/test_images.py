"""Images: what is written for a profile on a system, what is refused and what would work instead."""

from __future__ import annotations

import os
import re
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

import pytest

from data.profiles import SHIPPED, shipped
from golden import hold, hold_changes, hold_one
from xpusetup.base.errors import UsageError
from xpusetup.commands.emit import KINDS, EmitOrder, Form, emit
from xpusetup.config.request import read_request
from xpusetup.emit.image_system import LEAN, Origin, Stage, image_table
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.machine.platforms import Manager

pytestmark = pytest.mark.usefixtures("no_server")
FIXED = [name for name in SHIPPED if name != "main" and shipped(name).tier != "other"]
"""A profile of what moves has to be locked first, which asks servers; of other makers' software no image is made."""
SYSTEMS = [each.id for each in image_table().system]


def form(kind: str, profile: str, *, python: str = "", arch: str = "auto", **told: Any) -> Form:
    request = read_request(only=None, until="", arch=arch, variables=None, verify="auto")
    options = {name.rstrip("_"): value for name, value in told.items()}
    return KINDS[kind].make(
        EmitOrder(places=(Where(profile=profile, python=python),), request=request, options=options)
    )


def dockerfile(profile: str, **told: Any) -> str:
    return form("dockerfile", profile, **told).files["Dockerfile"]


GOLDEN: dict[str, dict[str, Any]] = {
    "torch-2.5-ubuntu-24.04-runtime": {"profile": "torch-2.5"},
    "torch-2.5-ubuntu-24.04-wheels": {"profile": "torch-2.5", "from_": "wheels"},
    "torch-2.14-ubuntu-24.04-devel": {"profile": "torch-2.14", "target": "devel"},
    "torch-2.14-rhel-9": {"profile": "torch-2.14", "os": "rhel-9"},
    "torch-2.14-manylinux_2_28": {"profile": "torch-2.14", "os": "manylinux_2_28"},
    "stack-cpu-ubuntu-24.04": {"profile": "stack-cpu"},
    "stack-cpu-ubuntu-24.04-wheels": {"profile": "stack-cpu", "from_": "wheels"},
    "sim-debian-12-portable": {"profile": "sim", "os": "debian-12", "dialect": "portable"},
}
OWN = ("system/", "entry.sh", "toolkit.sh", "README.md", ".dockerignore", "Dockerfile", "xpusetup.def")


LIKE = {
    "torch-2.14-rhel-9": "torch-2.14-ubuntu-24.04-devel",
    "torch-2.14-manylinux_2_28": "torch-2.14-ubuntu-24.04-devel",
    "stack-cpu-ubuntu-24.04-wheels": "torch-2.5-ubuntu-24.04-wheels",
}
"""Which image one is most like: of these only what differs from that is kept."""


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str) -> None:
    if name in LIKE:
        hold_changes(f"images/{name}", own_files(name), own_files(LIKE[name]))
    else:
        hold(f"images/{name}", own_files(name))


def own_files(name: str) -> dict[str, str]:
    """Give what an image alone has. Scripts of steps and helpers are held elsewhere: it counts which ones it has."""
    files = form("dockerfile", **GOLDEN[name]).files
    own = {path: text for path, text in files.items() if path.startswith(OWN)}
    return {**own, "files": "".join(f"{path}\n" for path in sorted(files) if not path.startswith("helpers/"))}


def test_golden_apptainer() -> None:
    files = form("apptainer", "torch-2.14", os="sles-15").files
    hold("images/torch-2.14-sles-15-apptainer", {path: text for path, text in files.items() if path.startswith(OWN)})


def test_every_image_of_every_profile_is_written_or_refused_with_what_works() -> None:
    """What is refused names options; with the first of them it is written."""
    said = "".join(_written_or_refused(*each) for each in product(FIXED, SYSTEMS, get_args(Origin)))
    hold_one("images/refused.txt", said)


@pytest.mark.parametrize("origin", get_args(Origin))
def test_what_a_maker_installs_has_an_image_of_the_maker(origin: str) -> None:
    with pytest.raises(UsageError, match="its maker has an image of the same release") as refused:
        dockerfile("gaudi-1.22", from_=origin)
    assert refused.value.fix.startswith("docker pull vault.habana.ai/gaudi-docker/1.22.0/")


def test_without_the_maker_s_libraries_there_is_no_image() -> None:
    with pytest.raises(UsageError, match="nothing brings /usr/local/Ascend/"):
        dockerfile("ascend-2.12", from_="wheels")


def _written_or_refused(profile: str, system: str, origin: str) -> str:
    try:
        text = dockerfile(profile, os=system, from_=origin)
    except UsageError as error:
        _follow(error.fix, profile, system, origin)
        return f"{profile} {system} {origin}: {error.message.split(': ', 1)[1]}\n  {error.fix}\n"
    assert text.startswith("# ")
    return ""


def _follow(fix: str, profile: str, system: str, origin: str) -> None:
    words = fix.replace("one of: ", "").split(",")[0].split()
    options = dict(zip(words[::2], words[1::2], strict=False)) if fix.startswith(("one of", "--")) else {}
    told = {"os": options.get("--os", system), "from_": options.get("--from", origin)}
    if options:
        assert form("dockerfile", profile, **told, python=options.get("--python", "")).files
    elif "--from source" in fix:
        assert form("dockerfile", profile, from_="source").files


@pytest.mark.parametrize(
    ("told", "message", "fix"),
    [
        (
            {"os": "ubuntu-23.04"},
            "nothing is known of images of 'ubuntu-23.04'; did you mean",
            "--os takes: ubuntu-24.04,",
        ),
        ({"os": "debian-13"}, "torch-2.5 on Debian 13: it has Python 3.13", "one of: --os ubuntu-24.04,"),
        ({"os": "ubuntu-26.04"}, "torch-2.5 on Ubuntu 26.04: it has Python 3.14", "--os ubuntu-22.04"),
        ({"python": "3.10"}, "its packages have Python 3.12, not 3.10", "--python 3.12"),
        ({"python": "3.13", "os": "debian-12"}, "and not 3.13", "name one of these: 3.10, 3.11, 3.12"),
        (
            {"python": "3.12", "os": "debian-12"},
            "not 3.12",
            "one of: --os ubuntu-24.04, --os ubuntu-22.04 --python 3.10,",
        ),
        ({"base": "ubuntu"}, "--base ubuntu names neither a tag nor a digest", "ubuntu:24.04"),
        ({"base": "Ubuntu 24"}, "--base 'Ubuntu 24' is no name of an image", "[HOST/]NAME:TAG"),
        ({"base": "ubuntu@sha256:12"}, "is no name of an image", "[HOST/]NAME:TAG"),
        ({"target": "slim"}, "--target cannot be 'slim'", "use one of: runtime, devel"),
        ({"dialect": "kaniko"}, "--dialect cannot be 'kaniko'", "use one of: buildkit, portable"),
        ({"from_": "conda"}, "--from cannot be 'conda'", "use one of: source, wheels"),
        ({"driver": "none"}, "--driver cannot be 'none'", "use one of: client, data-center"),
        (
            {"os": "ubuntu-26.04", "profile": "torch-2.14", "driver": "data-center"},
            "only of client",
            "--os ubuntu-24.04",
        ),
        ({"profile": "torch-2.9", "os": "ubuntu-26.04"}, "oneAPI 2025.2 is older than it", "--os ubuntu-24.04"),
        ({"profile": "sim", "from_": "wheels"}, "no wheels of it were published", "--from source"),
        ({"pin": ("gcc",)}, "--pin 'gcc' is not PACKAGE=VERSION", "as the package manager writes it"),
        ({"pin": ("nosuch=1.0",)}, "--pin nosuch: no such package", "intel-pti-dev-0.9"),
        ({"pin": ("g++=1;rm -rf /",)}, "is not PACKAGE=VERSION", "as the package manager"),
    ],
)
def test_refused(tmp_path: Path, told: dict[str, Any], message: str, fix: str) -> None:
    """Before anything is written."""
    options = {name.rstrip("_"): value for name, value in told.items() if name not in ("profile", "python")}
    where = Where(profile=told.get("profile", "torch-2.5"), python=told.get("python", ""))
    request = read_request(only=None, until="", arch="auto", variables=None, verify="auto")
    with pytest.raises(UsageError) as caught:
        emit("dockerfile", EmitOrder(places=(where,), request=request, options=options), str(tmp_path / "out"))
    assert message in caught.value.message
    assert fix in caught.value.fix
    assert not (tmp_path / "out").exists()


def test_a_digest_is_kept_and_a_tag_is_warned_of() -> None:
    digest = f"docker.io/library/ubuntu@sha256:{'a' * 64}"
    assert f"ARG BASE={digest}\n" in dockerfile("torch-2.14", base=digest)
    assert not any("tag" in note for note in form("dockerfile", "torch-2.14", base=digest).notes)
    assert any("moves" in note for note in form("dockerfile", "torch-2.14").notes)


def test_packages_of_the_toolkit_are_exact_where_a_source_says_them_or_a_pin() -> None:
    known = form("dockerfile", "torch-2.14")
    assert "intel-deep-learning-essentials-2026.1=2026.1.3-10\n" in known.files["system/toolkit.sh"]
    assert not any("repository chooses" in note for note in known.notes)
    free = form("dockerfile", "torch-2.5")
    assert any("intel-for-pytorch-gpu-dev-0.5, intel-pti-dev-0.9" in note for note in free.notes)
    pins = ("intel-for-pytorch-gpu-dev-0.5=0.5.3-49", "intel-pti-dev-0.9=0.9.0-33")
    held = form("dockerfile", "torch-2.5", pin=pins)
    assert " ".join(pins) in held.files["system/toolkit.sh"]
    assert not any("repository chooses" in note for note in held.notes)


def test_an_image_for_servers_has_the_packages_for_servers() -> None:
    server = form("dockerfile", "torch-2.14", arch="pvc").files["system/runtime.sh"]
    client = form("dockerfile", "torch-2.14").files["system/runtime.sh"]
    assert "noble/lts/2523 unified" in server
    assert "ppa:kobuk-team/intel-graphics" in client
    assert 'xpusetup.arch="pvc"' in dockerfile("torch-2.14", arch="pvc")


@pytest.mark.parametrize("stage", get_args(Stage))
@pytest.mark.parametrize("profile", FIXED)
def test_what_runs_compiles_nothing(profile: str, stage: str) -> None:
    """No setvars and no name: numbers, labels, and the toolkit only where the wheels bring no runtime of their own."""
    text = dockerfile(profile, target=stage)
    last = text[text.index(f" AS {stage}") :]
    assert "\nUSER 1001\n" in last
    assert "setvars" not in last
    assert 'ENTRYPOINT ["/opt/xpusetup/entry.sh"]' in last
    assert "groupadd" not in "".join(form("dockerfile", profile, target=stage).files.values())
    at_run_time = shipped(profile).toolkit is not None and shipped(profile).toolkit.runtime == "toolkit"  # type: ignore[union-attr]
    assert ("system/toolkit.sh" in last) == (stage == "runtime" and at_run_time)


def test_steps_that_fetch_have_the_secrets_and_no_other_has_the_network() -> None:
    layers = [
        layer for layer in dockerfile("torch-2.14").split("\nCOPY ") if "image_layer.sh" in layer and "RUN" in layer
    ]
    runs = [layer for layer in layers if "bash helpers/image_layer.sh" in layer]
    assert len(runs) > 10
    for layer in runs:
        assert ("type=secret" in layer) != ("--network=none" in layer)
    portable = dockerfile("torch-2.14", dialect="portable")
    assert "--network" not in portable
    assert "sharing=" not in portable


@pytest.mark.parametrize("kind", ["dockerfile", "apptainer"])
def test_nothing_of_the_caller_is_in_it(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    token = "hunter2-token"  # noqa: S105 - planted
    before = dict(form(kind, "torch-2.14").files)
    home = tmp_path / "config/xpusetup"
    home.mkdir(parents=True)
    (home / "site.toml").write_text('[network]\npip_index = "https://index.invalid/simple"\n')
    for name in ("PIP_INDEX_URL", "https_proxy", "GIT_CONFIG_VALUE_0", "HF_TOKEN", "GITHUB_TOKEN", "HTTP_PROXY"):
        monkeypatch.setenv(name, f"https://me:{token}@proxy.invalid")
    after = form(kind, "torch-2.14").files
    assert after == before
    assert not [name for name, text in after.items() if token in text or os.getcwd() in text]  # noqa: PTH109


def test_packages_come_without_what_is_recommended() -> None:
    for system in SYSTEMS:
        profile = "sim" if system.startswith("debian") else "torch-2.14"
        if system == "ubuntu-22.04":
            profile = "torch-2.13"
        files = form("dockerfile", profile, os=system).files
        manager: Manager = image_table().find(system).manager
        installs = [
            line
            for name, text in files.items()
            if name.startswith("system/")
            for line in text.splitlines()
            if " install " in line
        ]
        assert installs
        assert all(LEAN[manager][0] in line for line in installs), (system, installs)


@pytest.mark.parametrize("part", [{"only": ["torch"]}, {"until": "requirements"}])
def test_a_part_of_a_plan_is_no_image(part: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"only": None, "until": "", "arch": "auto", "variables": None, "verify": "auto", **part}
    order = EmitOrder(places=(Where(profile="torch-2.14"),), request=read_request(**asked))
    with pytest.raises(UsageError, match="the whole of a profile"):
        KINDS["dockerfile"].make(order)


def test_an_apptainer_image_has_nothing_to_compile_with() -> None:
    with pytest.raises(UsageError, match="nothing to compile with"):
        form("apptainer", "torch-2.14", target="devel")


@pytest.mark.parametrize("profile", FIXED)
def test_each_step_of_an_image_has_the_files_that_it_names(profile: str) -> None:
    """Every stage begins empty: what a script of the folder names is copied before the script runs."""
    files = form("dockerfile", profile).files
    lines = files["Dockerfile"].splitlines()
    copied = {word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]}
    steps = {word for word in copied if word.startswith("steps/")}
    named = {found for step in steps for found in re.findall(r"helpers/\w+/[\w.-]+\.txt", files[step])}
    assert named
    assert named <= copied
    assert named <= set(files)


def test_what_a_step_states_of_its_wheel_is_there() -> None:
    """Each step that collects a wheel reads what is known of the profile: its layer holds that file, and no other."""
    layers = re.split(r"^COPY steps/(\S+)\.sh steps/$", dockerfile("torch-2.14"), flags=re.MULTILINE)
    stated = [
        name for name, layer in zip(layers[1::2], layers[2::2], strict=True) if "COPY helpers/about.json" in layer
    ]
    assert stated == ["torch.build", "vision.build", "audio.build"]


def test_the_system_that_is_meant_by_its_digits() -> None:
    with pytest.raises(UsageError, match="did you mean ubuntu-24"):
        image_table().find("ubuntu24")
