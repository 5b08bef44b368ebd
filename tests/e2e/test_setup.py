"""The bare command and setup as processes: every command that setup could start is a stand-in that notes its words."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, command, xpusetup

if TYPE_CHECKING:
    from e2e.support import Said

pytestmark = pytest.mark.e2e
COMMANDS = ("sudo", "sh", "apt-get", "add-apt-repository", "wget", "curl", "dnf", "zypper", "rpm", "usermod")
STAND_IN = r"""#!/bin/bash
printf '%q ' "${0##*/}" "$@" >>"$STAND_IN_LOG"
echo >>"$STAND_IN_LOG"
echo "stand-in: $*"
case "$*" in ${STAND_IN_FAIL:-nothing}) echo "E: no space left on device" >&2; exit 100 ;; esac
"""
UBUNTU = 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\nNAME="Ubuntu"\n'


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    return make_machine(tmp_path)


def make_machine(tmp_path: Path) -> dict[str, str]:
    """Give a caller on Ubuntu with an Arc B580 that the kernel has, whose PATH holds stand-ins alone."""
    folder, root = tmp_path / "bin", tmp_path / "sysroot"
    folder.mkdir()
    for name in COMMANDS:
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    gpu = root / "sys/bus/pci/devices/0000:03:00.0"
    gpu.mkdir(parents=True)
    for name, text in {"vendor": "0x8086", "device": "0xe20b", "class": "0x030000"}.items():
        (gpu / name).write_text(f"{text}\n")
    (gpu / "driver").symlink_to("../../../../bus/pci/drivers/xe")
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text(UBUNTU)
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").write_text("")
    stand_ins = {"PATH": str(folder), "STAND_IN_LOG": str(tmp_path / "log"), "XPUSETUP_SYSROOT": str(root)}
    return caller(tmp_path / "home") | stand_ins


def said(place: dict[str, str]) -> list[list[str]]:
    """Give the commands that were started, without sudo, which a user needs and root does not."""
    log = Path(place["STAND_IN_LOG"])
    lines = [shlex.split(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [words[1:] if words[0] == "sudo" else words for words in lines]


def rows(said: Said) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = said.result["commands"]
    return found


def test_the_bare_command(place: dict[str, str]) -> None:
    shown = xpusetup(env=place)
    assert (shown.code, shown.err) == (0, "")
    assert "Arc B580 (Battlemage) · Ubuntu 24.04 LTS" in shown.out
    assert "xpusetup install" in shown.out
    result = xpusetup("--json", env=place).result
    assert result["way"]["route"] == "wheel"
    assert result["way"]["commands"][-1] == "xpusetup install"
    assert {each["profile"] for each in result["way"]["refusals"] if not each["firm"]} >= {"torch-2.5", "torch-2.6"}
    assert "Usage" in xpusetup("--help", env=place).out
    assert "Usage: xpusetup build " in xpusetup("build", "--help", env=place).out, "also as python -m xpusetup"
    assert said(place) == [], "looking at a machine starts none of its package managers"
    site = Path(place["HOME"]) / ".config/xpusetup/site.toml"
    site.parent.mkdir(parents=True)
    site.write_text("profile = 7\n")
    broken = xpusetup(env=place)
    assert broken.code == 0
    assert "site.toml:1: profile: must be text in quotes" in broken.out


def test_setup_shows_and_starts_nothing(place: dict[str, str]) -> None:
    shown = xpusetup("setup", "--json", env=place)
    assert [row["id"] for row in rows(shown)][-1] == "setup.driver"
    assert all(row["argv"] and row["title"] and "root" in row["needs"] for row in rows(shown))
    assert said(place) == []
    refused = xpusetup("setup", "--apply", env=place)
    assert (refused.code, said(place)) == (2, [])
    assert "xpusetup setup --apply --yes" in refused.err


def test_apply_runs_the_commands_that_it_showed(place: dict[str, str]) -> None:
    wanted = [
        row["argv"] for row in rows(xpusetup("setup", "--profile", "torch-2.14", "--for", "build", "--json", env=place))
    ]
    done = xpusetup("setup", "--profile", "torch-2.14", "--for", "build", "--apply", "--yes", "--json", env=place)
    assert done.code == 0, done.err
    assert done.result["ran"] == list(dict.fromkeys(row["id"] for row in rows(done)))
    assert said(place) == wanted
    assert ["add-apt-repository", "-y", "ppa:kobuk-team/intel-graphics"] in wanted
    assert wanted[-1] == ["apt-get", "install", "-y", "intel-deep-learning-essentials-2026.1"]


def test_a_command_that_fails_stops_it(place: dict[str, str]) -> None:
    failed = xpusetup("setup", "--apply", "--yes", env={**place, "STAND_IN_FAIL": "*-y?ppa:*"})
    assert failed.code == 1
    assert "add-apt-repository ended with 100" in failed.err
    assert "no space left" in failed.err, "what the command said reaches its caller"
    assert said(place)[-1][0] == "add-apt-repository"
    (Path(place["PATH"]) / "add-apt-repository").unlink()
    absent = xpusetup("setup", "--apply", "--yes", "--json", env=place)
    if os.getuid() == 0:
        assert (absent.code, absent.document["error"]["code"]) == (3, 3)
        assert "add-apt-repository is not there" in absent.document["error"]["message"]


def test_it_stops_at_a_restart_and_says_how_to_go_on(place: dict[str, str]) -> None:
    gpu = Path(place["XPUSETUP_SYSROOT"]) / "sys/bus/pci/devices/0000:03:00.0"
    (gpu / "device").write_text("0x0bd5\n")
    (gpu / "driver").unlink()
    stopped = xpusetup("setup", "--apply", "--yes", env=place)
    assert stopped.code == 3, stopped.err
    assert "restart this machine, then go on with: xpusetup setup --apply" in stopped.out
    assert "intel-i915-dkms" in said(place)[-1]
    (gpu / "driver").symlink_to("../../../../bus/pci/drivers/i915")
    assert xpusetup("setup", "--apply", "--yes", env=place).code == 3  # the device is still to be passed in
    assert "libze-intel-gpu1" in said(place)[-1]


def test_the_script_runs_the_same_commands(place: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "setup.sh"
    shown = xpusetup("setup", "--profile", "torch-2.14", "--for", "build", "--out", str(script), "--json", env=place)
    subprocess.run(("/bin/bash", str(script)), env=place, check=True, capture_output=True)
    assert said(place) == [row["argv"] for row in rows(shown)]
    shellcheck = shutil.which("shellcheck") or str(Path(sys.executable).parent / "shellcheck")
    subprocess.run((shellcheck, str(script)), check=True)


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt here to read its own sources")
def test_apt_itself_reads_the_sources(place: dict[str, str], tmp_path: Path) -> None:
    shown = rows(xpusetup("setup", "--profile", "torch-2.14", "--for", "build", "--json", env=place))
    lines = [row["argv"][2] for row in shown if row["argv"][0] == "sh" and "echo" in row["argv"][2]]
    assert len(lines) == 1
    source = tmp_path / "one.list"
    subprocess.run(("/bin/sh", "-c", f'{lines[0].rpartition(">")[0]} > "{source}"'), check=True)
    options = (f"-oDir::Etc::sourcelist={source}", "-oDir::Etc::sourceparts=/dev/null")
    update = ("apt-get", "update", "--print-uris", *options)
    listed = subprocess.run(update, check=True, capture_output=True, text=True)
    assert "'https://apt.repos.intel.com/oneapi/dists/all/InRelease'" in listed.stdout
    assert "[signed-by=/usr/share/keyrings/oneapi-archive-keyring.gpg]" in source.read_text()
    source.write_text(source.read_text().replace("]", ""))
    assert subprocess.run(update, check=False, capture_output=True).returncode != 0, "apt does read this file"


def test_without_root_nothing_is_asked_of_root(place: dict[str, str]) -> None:
    done = xpusetup(
        "setup", "--profile", "torch-2.10", "--for", "build", "--no-root", "--apply", "--yes", "--json", env=place
    )
    assert done.code == 0, done.err
    assert [words[0] for words in said(place)] == ["sh", "sh"]
    assert "2025.3.2.36_offline.sh" in said(place)[0][2]
    assert all(row["needs"] == ["network"] for row in rows(done))


def test_a_machine_that_was_seen_elsewhere(place: dict[str, str], tmp_path: Path) -> None:
    saved = tmp_path / "facts.json"
    xpusetup("doctor", "--save", str(saved), "--profile", "sim", env=place)
    elsewhere = {**place, "XPUSETUP_SYSROOT": str(tmp_path / "nothing")}
    shown = xpusetup("setup", "--facts", str(saved), env=elsewhere)
    assert "Arc B580 (Battlemage)" in shown.out
    refused = xpusetup("setup", "--facts", str(saved), "--apply", "--yes", env=place)
    assert (refused.code, said(place)) == (2, [])
    assert xpusetup("setup", "--facts", str(tmp_path / "none.json"), env=place).code == 2
    assert xpusetup("setup", "--for", "fun", env=place).code == 2


@pytest.mark.parametrize("answer", ["n", "y"])
def test_it_asks_first(place: dict[str, str], answer: str) -> None:
    here, there = pty.openpty()
    os.write(here, f"{answer}\n".encode())
    line = command("setup", "--apply")
    done = subprocess.run(line, stdin=there, check=False, capture_output=True, text=True, env=place)
    os.close(here)
    os.close(there)
    assert done.returncode == (3 if answer == "y" else 0), done.stderr
    assert "sudo add-apt-repository -y ppa:kobuk-team/intel-graphics" in done.stdout
    assert "Run these commands?" in done.stdout
    assert (said(place) != []) == (answer == "y")


def test_the_default_release_and_arch_come_from_the_gpu(place: dict[str, str]) -> None:
    plan = xpusetup("plan", "--json", env=place).result
    assert plan["profile"] == "torch-2.14"
    assert plan["chosen_by"]["profile"] == "the newest that fits Arc B580 (Battlemage)"
    assert plan["chosen_by"]["arch"] == "the GPUs here"
    lists = {step["env"]["TORCH_XPU_ARCH_LIST"] for step in plan["steps"] if "TORCH_XPU_ARCH_LIST" in step["env"]}
    assert lists == {"bmg"}
    old = xpusetup("plan", "--profile", "torch-2.5", "--json", env=place).result
    assert any("Arc B580 (Battlemage) is no target of torch-2.5" in note for note in old["notes"])
    asked = xpusetup("plan", "--arch", "pvc,bmg", "--json", env=place).result
    assert asked["chosen_by"]["arch"] == "--arch"
    assert "torch-2.14 (the newest that fits Arc B580 (Battlemage))" in xpusetup("plan", env=place).out
