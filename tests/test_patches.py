"""The patches that a profile brings: where they go, and how they travel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Patch, Request
from xpusetup.commands.emit import KINDS, EmitOrder
from xpusetup.config.load import parse_profile, read_patches
from xpusetup.config.new_profile import render_profile
from xpusetup.plan.context import left_out, patch_texts, patches_of
from xpusetup.run.root import helper_files
from xpusetup.run.workspace import Where
from xpusetup.system import files

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.config.profile import Profile

TORCH, OPS = ("torch", "/home/me/pytorch"), ("torch-xpu-ops", "/home/me/torch-xpu-ops")
PATCH = Patch(source="torch-xpu-ops", file="/home/me/fix flash.patch", text="--- a\n")


def patched_profile(file: str = "fix.patch") -> Profile:
    """Give torch-2.14 with two patches, one of them in a vendored source."""
    return parse_profile(patched_text(file), "x.toml")


def patched_text(file: str) -> str:
    """Give the same as its file would say it."""
    text = (files.package_file("profiles") / "torch-2.14.toml").read_text()
    named = f'patches = [{{ file = "{file}", source = "a pull request", confidence = "likely" }}]\n'
    lines = [f"{line}\n{named}" if line in PATCHED else line for line in text.splitlines()]
    return "\n".join(lines)


PATCHED = ('name = "torch-xpu-ops"', 'distribution = "torch"')


def test_a_profile_brings_patches(tmp_path: Path) -> None:
    (tmp_path / "fix.patch").write_text("--- a\n+++ b\n")
    profile = read_patches(patched_profile(), tmp_path)
    found = patches_of(profile, Request(patches=(PATCH,)))
    assert [patch.source for patch in found] == ["torch", "torch-xpu-ops", "torch-xpu-ops"]
    assert found[0].text == "--- a\n+++ b\n"
    assert (
        set(patch_texts(found[:2]))
        == {f"helpers/patches/{patch.name}" for patch in found[:2]}
        <= set(helper_files(profile))
    )
    for own, names in ((TORCH, []), (OPS, ["torch"])):
        request = Request(sources=(own,))
        assert [patch.source for patch in patches_of(profile, request)] == names
        assert len(left_out(profile, request)) == 2 - len(names)
    assert left_out(profile, Request()) == ()


def test_the_text_of_a_patch_travels_in_the_profile(tmp_path: Path) -> None:
    (tmp_path / "fix.patch").write_text("--- a\r\n+++ 'b'\r\n\n")
    profile = read_patches(patched_profile(), tmp_path)
    again = parse_profile(render_profile(profile, "again"), "x.toml")
    assert again == profile
    assert read_patches(again, tmp_path / "nowhere") == profile


def test_an_image_has_the_patches_that_its_fetch_puts_on(tmp_path: Path) -> None:
    (tmp_path / "fix.patch").write_text("--- a\n+++ b\n")
    (tmp_path / "torch-2.14.toml").write_text(patched_text("fix.patch"))
    where = Where(profile=str(tmp_path / "torch-2.14.toml"))
    found = KINDS["dockerfile"].make(EmitOrder(places=(where,), request=Request(), options={})).files
    stage = found["Dockerfile"].partition(" AS source-torch\n")[2].partition("\nFROM ")[0]
    assert "COPY helpers/patches/ helpers/patches/" in stage
    assert found["Dockerfile"].count("helpers/patches/ ") == 1
    copied = {name.rpartition("/")[2] for name in found if name.startswith("helpers/patches/")}
    assert len(copied) == 2
    assert all(name in found["steps/torch.fetch.sh"] for name in copied)


@pytest.mark.parametrize(
    "text", ["machine example.org password secret\n", "--- a\nb\n", "+++ b\n", "not --- a\n+++ b\n"]
)
def test_a_file_that_is_no_patch_goes_nowhere(tmp_path: Path, text: str) -> None:
    """A profile of someone else could name any file of a home, whose text would be in each bundle and form."""
    (tmp_path / "fix.patch").write_text(text)
    with pytest.raises(UsageError, match=r"fix\.patch is no patch") as caught:
        read_patches(patched_profile("fix.patch"), tmp_path)
    assert "secret" not in caught.value.message + caught.value.fix


@pytest.mark.parametrize("text", ["a word before\n--- a\r\n+++ b\r\n", "diff --git a/x b/x\nold mode 100644\n"])
def test_what_git_and_diff_write_is_a_patch(tmp_path: Path, text: str) -> None:
    (tmp_path / "fix.patch").write_bytes(text.encode())
    read_patches(patched_profile("fix.patch"), tmp_path)


def test_a_patch_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no patch .*/nosuch\.patch"):
        read_patches(patched_profile("nosuch.patch"), tmp_path)
