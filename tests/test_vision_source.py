"""The way to the real torchvision: what git says as values; once, for real, the way itself."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest

from real.apt_source import VERSION
from real.outside import UnavailableError, run
from real.vision_source import (
    FOLDER,
    RECORD,
    TAG,
    UPSTREAM_REV,
    VisionSource,
    parse_tag_hashes,
    unpack,
    vision_repository,
    write_repository,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_tag_hashes() -> None:
    others = "1111\trefs/tags/v0.21.0-rc1\n2222\trefs/heads/v0.21.0\n"
    tag = f"3333\trefs/tags/{TAG}\n{UPSTREAM_REV}\trefs/tags/{TAG}^{{}}\n"
    assert parse_tag_hashes(others + tag) == ["3333", UPSTREAM_REV]
    assert parse_tag_hashes(others) == []


def test_second_call_reads_the_record_alone(tmp_path: Path) -> None:
    source = {"url": "file:///elsewhere", "rev": "0" * 40, "origin": "debian", "tag": TAG}
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / RECORD).write_text(json.dumps(source))
    assert vision_repository(tmp_path) == VisionSource("file:///elsewhere", "0" * 40, "debian", TAG)


@pytest.mark.e2e
def test_archive_with_two_tops_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="2 folders at its top"):
        unpack(write_archive(tmp_path / "two.tar.gz", {"a/x": b"", "b/x": b""}), tmp_path / "tree")


def write_archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.e2e
def test_commit_depends_on_the_archive_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"top/.gitignore": b"*.log\n", "top/kept.log": b"ignored, kept\n", "top/dos.txt": b"a\r\nb\r\n"}
    archive = write_archive(tmp_path / "archive.tar.gz", content)
    plain = write_repository(archive, tmp_path / "plain.git")
    (tmp_path / ".gitconfig").write_text("[core]\nautocrlf = input\nfileMode = false\n[commit]\ngpgSign = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody")
    assert write_repository(archive, tmp_path / "odd.git") == plain
    assert git("-C", str(tmp_path / "odd.git"), "ls-tree", "--name-only", TAG).split() == sorted(
        name.removeprefix("top/") for name in content
    )


@pytest.mark.e2e
def test_what_does_not_answer_is_ended_and_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="`sleep 60` ended with 124: nothing said within 1 s"):
        run(("sleep", "60"), env={"PATH": "/usr/bin:/bin"}, seconds=1)
    with pytest.raises(UnavailableError, match="no-such-tool"):
        run(("no-such-tool",), env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path)


@pytest.mark.e2e
def test_the_real_source(tmp_path: Path) -> None:
    source = vision_repository(tmp_path / "with space")
    assert source == vision_repository(tmp_path / "with space")
    assert [path.name for path in (tmp_path / "with space").iterdir()] == [FOLDER]
    git("init", "--quiet", str(tmp_path / "tree"))
    git("-C", str(tmp_path / "tree"), "fetch", "--quiet", "--depth=1", source.url, source.rev)
    assert git("-C", str(tmp_path / "tree"), "show", "FETCH_HEAD:version.txt") == VERSION
    assert source.rev in git("ls-remote", source.url, f"refs/tags/{TAG}*")
