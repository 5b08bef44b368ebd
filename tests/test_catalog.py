"""The catalogue of checks and the checks themselves name the same things."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.base.values import parse_toml
from xpusetup.doctor.question import parse_check_texts
from xpusetup.doctor.registry import CHECKS

TEXT = (Path(__file__).parents[1] / "xpusetup/data/checks.toml").read_text()
TEXTS = parse_check_texts(TEXT)
IDS = [check.id for check in CHECKS]
GAPS = {
    *("driver", "bundle", "create"),
    *(
        "user",
        "toolkit",
        "apt",
        "apt_source",
        "rpm",
        "rpm_source",
        "key",
        "page",
        "gcc",
        "python",
        "minor",
        "own",
        "mend",
        "served",
        "instead",
    ),
    *(
        "collected",
        "looked",
        "means",
        "node",
        "happens",
        "workaround",
        "thread",
        "kernel",
        "device",
        "module",
        "address",
        "gid",
        "start",
        "packages",
        "kept",
        "profile",
        "names",
        "targets",
        "others",
        "why",
        "flags",
        "prefix",
        "cmake",
    ),
    *("tree", "distribution", "script", "torch", "version", "wanted", "newer", "asked"),
}
PROSE = {"base", "user"}
"""Stand for what a reader fills in."""


def test_ids_are_the_same_and_stand_once() -> None:
    written = [entry["id"] for entry in parse_toml(TEXT)["check"]]
    assert len(written) == len(set(written))
    assert written == IDS


def test_a_check_follows_earlier_ones() -> None:
    late = {text.id: set(text.follows) - set(IDS[: IDS.index(text.id)]) for text in TEXTS.values()}
    assert {name: after for name, after in late.items() if after} == {}


def test_every_text_can_be_acted_on() -> None:
    for text in TEXTS.values():
        assert text.say or text.commands, text.id
        assert text.why.endswith("."), text.id
        assert text.source.startswith("https://"), text.id
        words = " ".join((text.why, text.say, *(line for lines in text.commands.values() for line in lines)))
        assert set(re.findall(r"<([a-z_]+)>", words)) <= GAPS | PROSE, text.id


def test_gaps_are_filled() -> None:
    words = {"minor": "3.11", "python": ">=3.10"}
    fix = TEXTS["py.headers"].fix(words)
    assert fix.commands_for(("ubuntu", "debian")) == ("sudo apt-get install -y python3.11-dev",)
    assert TEXTS["py.version"].reason({"means": "This release supports 3.11"}) == "This release supports 3.11."


@pytest.mark.parametrize(
    ("families", "command"),
    [
        (("ubuntu", "debian"), "sudo apt-get install -y g++"),
        (("debian",), "sudo apt-get install -y g++"),
        (("rocky", "rhel", "centos", "fedora"), "sudo dnf install -y gcc-c++"),
        (("fedora",), "sudo dnf install -y gcc-c++"),
        (("opensuse-leap", "suse", "opensuse"), "sudo zypper install -y gcc-c++"),
        (("arch",), "sudo pacman -Syu --needed gcc"),
    ],
)
def test_commands_by_distribution(families: tuple[str, ...], command: str) -> None:
    assert TEXTS["cc.gcc"].fix({}).commands_for(families) == (command,)


def test_commands_of_an_unknown_distribution() -> None:
    assert TEXTS["cc.gcc"].fix({}).commands_for(("nixos",)) == ()
    assert TEXTS["perm.render_group"].fix({"user": "me"}).commands_for(("nixos",)) == (
        "sudo usermod -aG render,video me",
    )


def test_a_text_is_strict() -> None:
    with pytest.raises(UsageError, match="follow"):
        parse_check_texts(TEXT.replace("follows =", "follow =", 1))
