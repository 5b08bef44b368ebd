"""doctor --paste: what people say in words, and when a sentence tells nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import CHECKS, examine, root_causes
from xpusetup.machine.probe import TOLD
from xpusetup.paste.commands import installs_torch, variables_of, whole_commands
from xpusetup.paste.facts import facts_from_paste
from xpusetup.paste.prose import what_is_said
from xpusetup.run.tables import known_bad, sayings

if TYPE_CHECKING:
    from xpusetup.machine.facts import Facts


def read(text: str) -> Facts:
    return facts_from_paste([text], "2026-11-23", GPUS, TOLD, sayings())[0]


def causes(text: str) -> list[str]:
    question = Question(read(text), shipped("torch-2.14"), device("xpu"), "run", GPUS, known_bad())
    return list(root_causes(examine(question, TEXTS)))


def said(text: str) -> set[str]:
    return set(what_is_said([text], sayings())) - {"fails"}


def test_what_sentences_tell_are_checks() -> None:
    there = {check.id for check in CHECKS}
    assert {each.tells for each in sayings()} <= {*there, "fails", "hangs"}
    assert len({each.id for each in sayings()}) == len(sayings())


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("It only works as root on this machine.", "perm.render_group"),
        ("It is never listed for my normal user, whatever I do.", "perm.render_group"),
        ("clinfo shows the GPU when I use sudo, else nothing.", "perm.render_group"),
        ("As a regular user I get 0 platforms.", "perm.render_group"),
        ("My user isn't in the render group on that node.", "perm.render_group"),
        ("As soon as someone signs in at the GNOME desktop it works.", "perm.render_group"),
        ("I added myself to the render group but have not logged out yet.", "perm.session"),
        ("The board has no Resizable BAR option at all.", "hw.small_bar"),
        ("Resizable BAR is disabled in the BIOS here.", "hw.small_bar"),
        ("When I unset ONEAPI_DEVICE_SELECTOR it works again.", "umd.device_filter_env"),
        ("Without sourcing setvars.sh it works fine.", "setvars.with_wheel"),
        ("There is no /dev/dri inside the container at all.", "container.no_device"),
        ("I installed it with pip install torch torchvision yesterday.", "torch.is_xpu_build"),
        ("I have not installed the compute-runtime yet, only the kernel.", "umd.ze_intel_gpu"),
    ],
)
def test_a_sentence_and_what_follows(text: str, check: str) -> None:
    assert check in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "It works without sudo and my user is in the render group.",
        "Does it only work as root?",
        "Check whether your user is in the render group.",
        "Maybe my user is not in the render group.",
        "Resizable BAR is enabled and Above 4G Decoding is on.",
        "If Resizable BAR is disabled the card is slow.",
        "Without sourcing setvars.sh it doesn't work.",
        "I did not use pip install torch, I built it.",
        "I ran pip install torch --index-url https://download.pytorch.org/whl/xpu here.",
        "You should never run it as root only.",
        "Why does Level Zero not work when the compute-runtime package is installed?",
    ],
)
def test_a_sentence_that_tells_nothing(text: str) -> None:
    assert said(text) == set()


def test_what_was_seen_stands_before_what_was_said() -> None:
    words = "It only works as root, so I think it is about rights.\n"
    assert causes(words) == ["perm.render_group"]
    assert causes(f"{words}$ python -c 'import torch; print(torch.xpu.is_available())'\nTrue\n") == []


def test_a_kernel_that_is_named_in_words() -> None:
    facts = read("I run Ubuntu 22.04 with kernel 5.15 and a B580 here.\n")
    assert facts.kernel is not None
    assert facts.kernel.release == "5.15"
    assert read("It needs at least kernel 6.12 for a B580, they say.\n").kernel is None
    assert causes("I run kernel 5.15 and a B580 here.\n") == []
    assert causes("I run kernel 5.15 and a B580 here. The card is not detected.\n") == ["kmd.force_probe"]
    assert causes("Debian 12, uname -r says 6.1.0-28-amd64. My B570 does not show up.\n") == ["kmd.force_probe"]
    assert causes("I run kernel 6.14 and a B580 here. The card is not detected.\n") == []


@pytest.mark.parametrize(
    ("command", "which"),
    [
        ("pip install torch", "other"),
        ("pip3 install --pre torch torchvision", "other"),
        ("pip install torch --index-url https://download.pytorch.org/whl/xpu", "xpu"),
        ("pip install torchsde", ""),
        ("conda install pytorch -c pytorch", "other"),
        ("pip install -r requirements.txt", ""),
    ],
)
def test_which_torch_a_command_installs(command: str, which: str) -> None:
    assert installs_torch(command) == which


def test_variables_and_commands_on_several_lines() -> None:
    assert variables_of("docker run -e ZE_AFFINITY_MASK=3 it") == {"ZE_AFFINITY_MASK": "3"}
    assert list(whole_commands(["docker run \\", "  --rm it", "next"])) == ["docker run --rm it", "next"]


def test_a_container_that_is_started_without_the_device() -> None:
    run = "$ docker run --rm {}it python -c 'import torch; print(torch.xpu.is_available())'\n{}\n"
    assert causes(run.format("", "False")) == ["container.no_device"]
    assert causes(run.format("", "True")) == []
    assert "container.no_device" not in causes(run.format("--device /dev/dri ", "False"))


@pytest.mark.parametrize("text", ["/dev/dri", "/dev/dxg"])
def test_a_file_that_is_not_there_in_another_language(text: str) -> None:
    assert causes(f"ls: Zugriff auf '{text}' nicht möglich: Datei oder Verzeichnis nicht gefunden\n")
