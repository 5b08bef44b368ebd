"""From trees to a lock: what the torch tree names decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from xpusetup.base.errors import UsageError
from xpusetup.base.model import FoundRef
from xpusetup.config.load import parse_profile
from xpusetup.config.lock import CommitFiles, check_names, files_to_read, make_lock, names_cloned, pins_in
from xpusetup.config.new_profile import render_profile
from xpusetup.config.profile import Profile, SourceComponent, WheelComponent

if TYPE_CHECKING:
    from xpusetup.config.lock import Lock

TORCH, OPS, TRITON, VISION, AUDIO, DNNL = ("a" * 40, "b" * 40, "c" * 40, "d" * 40, "e" * 40, "f" * 40)
FIND = "cmake/Modules/FindMKLDNN.cmake"
FILES = {
    "version.txt": "2.16.0a0\n",
    "third_party/xpu.txt": f"{OPS}\n",
    ".ci/docker/ci_commit_pins/triton-xpu.txt": f"{TRITON}\n",
    ".ci/docker/triton_xpu_version.txt": "3.9.0\n",
    ".github/ci_commit_pins/vision.txt": f"{VISION}\n",
    ".github/ci_commit_pins/audio.txt": None,
    FIND: f"ExternalProject_Add(p GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN GIT_TAG {DNNL})\n",
}
MAIN = CommitFiles(FoundRef(TORCH, "refs/heads/main"), "main", FILES)
OTHER = {"version.txt": "0.31.0a0\n"}
NEW_VISION = CommitFiles(FoundRef(VISION), VISION, OTHER)


def lock(torch: CommitFiles = MAIN, profile: str = "torch-2.14") -> Lock:
    base = shipped(profile)
    trees = {"torch": torch} | {
        name: CommitFiles(FoundRef(rev), rev, OTHER) for name, rev in pins_in(base, torch).items()
    }
    return make_lock(base, trees, "2026-11-21")


def source(found: Profile, name: str) -> SourceComponent:
    (part,) = (part for part in found.components if part.name == name)
    assert isinstance(part, SourceComponent)
    return part


def triton(found: Profile) -> WheelComponent:
    (part,) = (part for part in found.components if part.name == "triton")
    assert isinstance(part, WheelComponent)
    return part


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/tags/v2.14.0"])
def test_a_build_that_is_told_no_version_makes_what_its_tree_says(ref: str) -> None:
    """The extension in PyTorch's tree has a version of its own, whatever PyTorch's tag is."""
    base = shipped("openreg-2.13")
    (path,) = files_to_read(base, "openreg")
    found = {
        text: source(
            make_lock(base, {"openreg": CommitFiles(FoundRef(TORCH, ref), ref, {path: text})}, "x").profile, "openreg"
        )
        for text in ('[project]\nversion = "0.0.2.RC1"\n', '[project]\nversion = "next"\n', "")
    }
    assert [part.version for part in found.values()] == ["0.0.2rc1", "0.0.1", "0.0.1"]


def test_which_files_are_read() -> None:
    profile = shipped("torch-2.14")
    assert files_to_read(profile, "vision") == ("version.txt",)
    others = {"pyproject.toml", "requirements-build.txt", "requirements.txt"}
    assert set(FILES) | others == set(files_to_read(profile, "torch"))


def test_the_tree_of_any_component_names_what_is_vendored_in_it() -> None:
    """A Triton of another commit is locked with the translator that its own tree names, by a file of nothing else."""
    base, rev, path = shipped("torch-2.5"), "c" * 40, "lib/Target/SPIRV/spirv-llvm-translator.conf"
    assert path in files_to_read(base, "triton")
    tree = CommitFiles(FoundRef("d" * 40, "refs/heads/release/3.1.x"), "release/3.1.x", {path: f"{rev}\n"})
    triton = source(make_lock(base, {"triton": tree}, "x").profile, "triton")
    assert {item.name: item.rev for item in triton.vendored}["spirv-llvm-translator"] == rev
    assert (triton.rev, triton.version) == ("d" * 40, "3.1.0")


def test_a_branch_brings_its_own_parts() -> None:
    found = lock().profile
    torch, vision = source(found, "torch"), source(found, "vision")
    assert (torch.rev, torch.ref, torch.tag) == (TORCH, "refs/heads/main", "")
    assert torch.version == "2.16.0a0+xpu.gitaaaaaaaaa"
    assert (torch.confidence, torch.source) == ("confirmed", "main of https://github.com/pytorch/pytorch, 2026-11-21")
    assert (torch.vendored[0].rev, torch.vendored[0].confidence) == (OPS, "confirmed")
    assert (vision.rev, vision.version) == (VISION, "0.31.0a0+xpu.gitddddddddd")
    assert triton(found).version == "3.9.0+gitcccccccc"
    assert triton(found).index == "https://download.pytorch.org/whl/nightly/xpu"
    assert source(found, "audio") == source(shipped("torch-2.14"), "audio")
    assert (found.tier, found.tried, found.published) == ("moving", "never: locked 2026-11-21", None)


def test_what_is_said() -> None:
    found = lock()
    assert [(each.name, each.was, each.now) for each in found.changes] == [
        ("torch", "v2.14.1 5c4886908", "main aaaaaaaaa"),
        ("torch-xpu-ops", "as the file says", "bbbbbbbbb"),
        ("sycl-tla", "v0.9", "v0.9"),
        ("onednn", "6db5f1ba8", "fffffffff"),
        ("triton", "3.8.0", "3.9.0+gitcccccccc"),
        ("vision", "v0.29.1 1f1a920d6", "ddddddddd"),
    ]
    assert found.notes == (
        "audio stays at 2.11.0+xpu: the tree has no .github/ci_commit_pins/audio.txt",
        "torch is 2.16 there; toolkit, build requirements and run-time libraries are those of torch-2.14",
    )


@pytest.mark.parametrize(
    ("ref", "version", "triton_version", "index"),
    [
        ("refs/tags/v2.15.0", "2.15.0+xpu", "3.9.0", "https://download.pytorch.org/whl/xpu"),
        ("refs/tags/v2.15.0-rc3", "2.15.0rc3+xpu", "3.9.0", "https://download.pytorch.org/whl/test/xpu"),
        ("refs/heads/release/2.15", "2.16.0a0+xpu.gitaaaaaaaaa", "3.9.0", "https://download.pytorch.org/whl/test/xpu"),
        ("", "2.16.0a0+xpu.gitaaaaaaaaa", "3.9.0+gitcccccccc", "https://download.pytorch.org/whl/nightly/xpu"),
    ],
)
def test_releases_candidates_branches_and_commits(ref: str, version: str, triton_version: str, index: str) -> None:
    found = lock(replace(MAIN, found=FoundRef(TORCH, ref))).profile
    assert source(found, "torch").version == version
    assert (triton(found).version, triton(found).index) == (triton_version, index)


def test_the_profiles_own_release_keeps_what_was_released_with_it() -> None:
    found = lock(replace(MAIN, found=FoundRef(TORCH, "refs/tags/v2.14.1")))
    assert [each.name for each in found.changes] == ["torch", "torch-xpu-ops", "sycl-tla", "onednn"]
    assert source(found.profile, "torch").rev == TORCH
    assert found.profile.components[2:] == shipped("torch-2.14").components[2:]
    assert (
        found.notes
        == ("torch is 2.16 there; toolkit, build requirements and run-time libraries are those of torch-2.14",)[:0]
    )


NAMED = {**FILES, ".ci/docker/triton_xpu_version.txt": "3.9.1"}
RELEASED = CommitFiles(FoundRef(TORCH, "refs/tags/v2.15.0"), "v2.15.0", NAMED)


def test_a_guess_is_mended_by_the_tree_of_its_own_release() -> None:
    """And nothing else becomes another: not what was released together, nor what was published."""
    base, found = shipped("torch-2.15"), lock(RELEASED, "torch-2.15")
    assert (triton(base).version, bool(triton(base).reason)) == ("3.9.0", True)
    assert (triton(found.profile).version, triton(found.profile).reason) == ("3.9.1", "")
    assert [each.name for each in found.changes] == ["torch", "torch-xpu-ops", "sycl-tla", "onednn", "triton"]
    assert source(found.profile, "torch").vendored[0].rev == OPS
    assert found.profile.components[2:] == base.components[2:]
    assert (found.profile.tier, found.profile.published) == (base.tier, base.published)


def test_a_guess_that_the_tree_does_not_mend_is_said() -> None:
    silent = replace(RELEASED, files={**NAMED, ".ci/docker/triton_xpu_version.txt": None})
    found = lock(silent, "torch-2.15")
    assert triton(found.profile) == triton(shipped("torch-2.15"))
    assert found.notes == ("triton stays at 3.9.0: the tree has no .ci/docker/triton_xpu_version.txt",)


def test_one_part_alone() -> None:
    found = make_lock(shipped("torch-2.14"), {"vision": NEW_VISION}, "2026-11-21")
    assert [each.name for each in found.changes] == ["vision"]
    assert found.notes == ()


def test_requirements_of_the_tree() -> None:
    files = {
        **FILES,
        "version.txt": "2.14.2a0",
        ".github/ci_commit_pins/audio.txt": AUDIO,
        "pyproject.toml": """
            [build-system]
            requires = ["cmake>=4.1", "ninja", "nanobind>=2", "numpy; os_name == 'nt'"]
        """,
        "requirements.txt": "# comment\n-r requirements-build.txt\nlintrunner ; sys_platform == 'linux'\nsympy>=99\n",
    }
    notes = lock(replace(MAIN, files=files)).notes
    assert notes == (
        "pyproject.toml asks for cmake>=4.1, and the profile pins cmake==3.31.10",
        "pyproject.toml asks for nanobind>=2, and the profile pins nothing of that name",
        "requirements.txt asks for sympy>=99, and the profile pins sympy==1.14.0",
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch-xpu-ops", "--rev torch-xpu-ops would not last"),
        ("triton", "--rev triton: triton is taken as a ready wheel in torch-2.14"),
        ("torhc", "--rev torhc: torhc is no component in torch-2.14"),
    ],
)
def test_what_has_no_revision(name: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_names(shipped("torch-2.14"), {name: "main"})
    assert caught.value.message.startswith(message)


def test_a_lock_is_a_profile_file() -> None:
    found = lock().profile
    text = render_profile(found, "Locked 2026-11-21")
    assert parse_profile(text, "lock.toml") == found
    assert text.startswith("# Locked 2026-11-21\n")


@pytest.mark.parametrize(
    ("text", "tag", "rev", "confidence", "note"),
    [
        (f"GIT_TAG {DNNL}", "", DNNL, "confirmed", ""),
        ("GIT_TAG v3.13", "v3.13", AUDIO, "confirmed", ""),
        ("GIT_TAG v3.12.3", "v3.12.3", AUDIO, "confirmed", ""),
        ("GIT_TAG ${WHICH}", "v3.12.3", "", "likely", f"onednn stays at v3.12.3: {FIND} of the tree names no"),
        ("SOURCE_DIR here", "v3.12.3", "", "likely", f"onednn stays at v3.12.3: {FIND} of the tree names no"),
    ],
)
def test_what_the_build_clones_is_pinned_by_the_trees_own_file(
    text: str, tag: str, rev: str, confidence: str, note: str
) -> None:
    """A name is asked of its server before; what cannot be read stays as the profile has it, and that is said."""
    written = f"ExternalProject_Add(p GIT_REPOSITORY https://github.com/oneapi-src/oneDNN {text})"
    torch = replace(MAIN, files={**FILES, FIND: written})
    part = source(shipped("torch-2.14"), "torch")
    asked = names_cloned(part, torch.files)
    assert asked == ({"onednn": ("https://github.com/uxlfoundation/oneDNN", tag)} if rev == AUDIO else {})
    found = lock(replace(torch, named=dict.fromkeys(asked, AUDIO)))
    item = source(found.profile, "torch").vendored[-1]
    assert (item.name, item.tag, item.confidence) == ("onednn", tag, confidence)
    assert item.rev == (rev or part.vendored[-1].rev)
    assert any(said.startswith(note) for said in found.notes) if note else "onednn" not in " ".join(found.notes)


def test_what_the_build_clones_has_no_revision_of_its_own() -> None:
    with pytest.raises(UsageError, match="--rev onednn would not last: the torch tree names it, in cmake/Modules"):
        check_names(shipped("torch-2.14"), {"onednn": "v3.13"})
