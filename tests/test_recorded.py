"""What a verification by itself writes into a root: under its lock, about what it saw, or not at all."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from data.targets import SIM
from xpusetup.base.model import Layout, Request
from xpusetup.commands.build_result import describe_proof
from xpusetup.run.lock import describe_process
from xpusetup.run.manifest import (
    RootOrigin,
    find_missing_proof,
    read_failed,
    read_manifest,
    read_proof,
    read_standing,
    read_verified,
    record_verification,
    still_verified,
    write_manifest,
)
from xpusetup.run.root import Root, lock_document
from xpusetup.run.runner import RunOutcome
from xpusetup.system import files
from xpusetup.verify.outcomes import CheckResult, Verification

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROVEN = Verification(device="cpu", checks=[], verified=True)
FAILED = replace(PROVEN, verified=False)
ORIGIN = RootOrigin(target=SIM, facts=None, made_by="build", request=Request())


@pytest.fixture
def root(tmp_path: Path) -> Root:
    files.write_text(tmp_path / "stamps/torch.build", "")
    files.write_text(tmp_path / "stamps/verify.smoke", "")
    files.write_text(tmp_path / "manifest.json", json.dumps({"profile": "sim", "verified": None}))
    return Root(tmp_path)


@pytest.fixture
def at_work(root: Root) -> Iterator[None]:
    """Hold the root as another build does."""
    handle = os.open(root / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.write(handle, describe_process(os.getpid()).encode())
    yield
    os.close(handle)


def record(root: Root, verification: Verification, proof: dict[str, list[str]] | None = None) -> str:
    return record_verification(root, verification, read_proof(root) if proof is None else proof, lambda _text: None)


def test_it_is_written_under_the_lock(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []
    write = files.write_text

    def look(path: Path, text: str, **words: bool) -> None:
        held.append((root / "lock").read_text().strip())
        write(path, text, **words)

    monkeypatch.setattr(files, "write_text", look)
    assert record(root, PROVEN) == ""
    assert held == [describe_process(os.getpid())]
    assert read_manifest(root)["profile"] == "sim"
    assert read_manifest(root)["verification"]["device"] == "cpu"
    assert still_verified(root, read_manifest(root)) is True


def test_one_that_failed_is_repeated_by_the_next_build(root: Root) -> None:
    assert record(root, FAILED) == ""
    assert not (root / "stamps/verify.smoke").exists()


@pytest.mark.usefixtures("at_work")
def test_nothing_is_changed_while_a_build_is_at_work(root: Root) -> None:
    assert f"another xpusetup (process {os.getpid()}) is at work" in record(root, FAILED)
    assert (root / "stamps/verify.smoke").exists()
    assert read_manifest(root) == {"profile": "sim", "verified": None}


def test_what_was_replaced_meanwhile_is_not_called_verified(root: Root) -> None:
    assert record(root, PROVEN, {"torch.build": ["other"]}) == "what is installed changed while it was verified"
    assert read_manifest(root)["verified"] is None


def test_the_last_verification_counts_whoever_asks(root: Root) -> None:
    """What the build's own verification left, or one that failed since, does not outlast one that went well."""
    files.write_text(root / "results/verify.json", '{"verified": true, "device": "old", "checks": []}')
    files.write_text(root / "failed", "verify.smoke\n")
    for verification in (FAILED, PROVEN, FAILED, PROVEN):
        assert record(root, verification) == ""
        manifest, standing = read_manifest(root), read_standing(root)
        assert read_verified(root, standing, manifest) is verification.verified
        assert (read_failed(root, manifest), describe_proof(root).device) == ("", "cpu")
        write_manifest(root, shipped("sim"), RunOutcome(), ORIGIN)
        assert read_verified(root, standing, read_manifest(root)) is verification.verified


@pytest.mark.parametrize(
    ("words", "seen", "told"),
    [
        ([], {}, ""),
        (["--jobs", "2", "--verify", "off"], {}, "off"),
        ([], {"verified": None, "checks": []}, "no device"),
        (["--verify", "off"], {"verified": True}, "off"),
    ],
)
def test_no_device_is_blamed_only_where_one_was_looked_for(
    root: Root, words: list[str], seen: dict[str, object], told: str
) -> None:
    files.write_text(root / "profile.lock.json", lock_document(shipped("sim"), SIM, Layout(), {}, words=words))
    files.write_text(root / "manifest.json", json.dumps({"verified": None, "verification": seen or None}))
    assert find_missing_proof(root, read_standing(root)) == told


def test_what_failed_is_named(root: Root) -> None:
    bad = CheckResult(id="numbers.matmul", title="matmul", level="fail", seen="wrong")
    assert record(root, replace(FAILED, checks=[bad, replace(bad, id="numbers.model", caused_by=bad.id)])) == ""
    assert describe_proof(root).failing == ["numbers.matmul"]
