"""The way to the real torchvision: what is read from apt and git as values; once, for real, the way itself."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from real.vision_source import (
    DEBIAN_PACKAGE,
    FOLDER,
    RECORD,
    TAG,
    UPSTREAM_REV,
    VERSION,
    AptEntry,
    Archive,
    VisionSource,
    VisionUnavailableError,
    download_archive,
    parse_archives,
    parse_deb822_sources,
    parse_one_line_sources,
    parse_tag_hashes,
    pick_entries,
    render_apt_conf,
    render_apt_source,
    run,
    unpack,
    vision_repository,
    write_debian_archive,
    write_repository,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DEB822 = """\
Types: deb
# a comment inside the paragraph
URIs: http://one.invalid/debian http://two.invalid/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/one.gpg

Types: deb
URIs: http://off.invalid/debian
Suites: bookworm
Components: main
Enabled: No
 \t
types: deb deb-src
uris: http://inline.invalid/debian
suites: sid
components: main
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc:def
 -----END PGP PUBLIC KEY BLOCK-----
"""

ONE_LINE = """\
# deb http://comment.invalid/debian bookworm main
deb cdrom:[Debian 12 _Bookworm_]/ bookworm main
deb [ arch=amd64 Signed-By=/k/one.gpg,/k/two.gpg trusted=yes ] http://one.invalid/debian bookworm main contrib # why
deb-src http://two.invalid/debian   bookworm\tmain
deb http://flat.invalid ./
not an entry
"""

INDEX = f"""\
Package: {DEBIAN_PACKAGE}
Binary: python3-torchvision
Version: 0.21.0-3
Files:
 0000 2529 pytorch-vision_0.21.0-3.dsc
 1111 13149842 pytorch-vision_0.21.0.orig.tar.gz
Checksums-Sha256:
 aaaa 2529 pytorch-vision_0.21.0-3.dsc
 bbbb 13149842 pytorch-vision_0.21.0.orig.tar.gz
 cccc 4596 pytorch-vision_0.21.0-3.debian.tar.xz
Package-List:
 python3-torchvision deb science optional arch=any

Package: {DEBIAN_PACKAGE}
Version: 0.22.0-1
Checksums-Sha256:
 dddd 13149842 pytorch-vision_0.22.0.orig.tar.gz

Package: another
Version: 0.21.0-1
Checksums-Sha256:
 eeee 1 pytorch-vision_0.21.0.orig.tar.gz
"""


def test_deb822_entries() -> None:
    key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc:def\n -----END PGP PUBLIC KEY BLOCK-----"
    trust = "Signed-By: /usr/share/keyrings/one.gpg\n"
    assert parse_deb822_sources(DEB822) == [
        AptEntry("http://one.invalid/debian", "bookworm", ("main", "contrib"), trust),
        AptEntry("http://one.invalid/debian", "bookworm-updates", ("main", "contrib"), trust),
        AptEntry("http://two.invalid/debian", "bookworm", ("main", "contrib"), trust),
        AptEntry("http://two.invalid/debian", "bookworm-updates", ("main", "contrib"), trust),
        AptEntry("http://inline.invalid/debian", "sid", ("main",), f"Signed-By: {key}\n"),
    ]


def test_one_line_entries() -> None:
    trust = "Signed-By: /k/one.gpg /k/two.gpg\nTrusted: yes\n"
    cdrom, first, second, flat = parse_one_line_sources(ONE_LINE)
    assert cdrom.uri.startswith("cdrom:")
    assert first == AptEntry("http://one.invalid/debian", "bookworm", ("main", "contrib"), trust)
    assert second == AptEntry("http://two.invalid/debian", "bookworm", ("main",))
    assert flat == AptEntry("http://flat.invalid", "./", ())


@pytest.mark.parametrize("parse", [parse_deb822_sources, parse_one_line_sources])
@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_no_entries(parse: Callable[[str], list[AptEntry]], text: str) -> None:
    assert parse(text) == []


def test_the_distributions_own_archive_is_asked_first_and_each_once() -> None:
    entries = [
        AptEntry("http://third.invalid", "stable", ("main",)),
        AptEntry("cdrom:[Debian", "bookworm", ("main",)),
        AptEntry("http://one.invalid", "bookworm-updates", ("main",)),
        AptEntry("http://one.invalid", "bookworm", ("main", "contrib")),
        AptEntry("http://two.invalid", "bookworm", ("contrib",)),
    ]
    assert pick_entries(entries, "bookworm") == [
        AptEntry("http://one.invalid", "trixie", ("main",)),
        AptEntry("http://third.invalid", "trixie", ("main",)),
    ]


def test_our_entry_reads_as_it_was_written() -> None:
    entry = pick_entries(parse_deb822_sources(DEB822), "sid")[0]
    assert entry.uri == "http://inline.invalid/debian"
    assert parse_deb822_sources(render_apt_source(entry)) == [entry]
    assert render_apt_source(entry).startswith("Types: deb-src\nURIs: http://inline.invalid/debian\nSuites: trixie\n")


def test_apt_keeps_to_the_folder() -> None:
    places = [line for line in render_apt_conf(Path("/w")).splitlines() if line.startswith("Dir::")]
    assert places == [
        'Dir::State "/w/state";',
        'Dir::Cache "/w/cache";',
        'Dir::Etc::sourcelist "/w/private.sources";',
        'Dir::Etc::sourceparts "/dev/null";',
    ]


def test_original_archive_of_our_release_alone() -> None:
    assert parse_archives(INDEX) == [Archive("0.21.0-3", "pytorch-vision_0.21.0.orig.tar.gz", "bbbb")]
    assert parse_archives("") == []


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
    with pytest.raises(VisionUnavailableError, match="2 folders at its top"):
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
    with pytest.raises(VisionUnavailableError, match="`sleep 60` ended with 124: nothing said within 1 s"):
        run(("sleep", "60"), env={"PATH": "/usr/bin:/bin"}, seconds=1)
    with pytest.raises(VisionUnavailableError, match="no-such-tool"):
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


@pytest.mark.e2e
def test_debians_archive_where_no_entry_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.list").write_text(f"deb [trusted=yes] file:{tmp_path}/nothing bookworm main\n")
    monkeypatch.setattr("real.vision_source.APT_FOLDER", tmp_path)
    with pytest.raises(VisionUnavailableError, match=r"file:.*/nothing: `apt-get .* update` ended with 100"):
        write_debian_archive(tmp_path / "work")


@pytest.mark.e2e
def test_the_hash_decides_where_apt_fails(tmp_path: Path) -> None:
    (tmp_path / "apt.conf").write_text(render_apt_conf(tmp_path))
    right = Archive("0.21.0-3", "archive.tar.gz", hashlib.sha256(b"content").hexdigest())
    with pytest.raises(VisionUnavailableError, match=r"`apt-get .* source .*` ended with 100"):
        download_archive(tmp_path, right)
    (tmp_path / right.name).write_bytes(b"content")
    assert download_archive(tmp_path, right).read_bytes() == b"content"
    with pytest.raises(VisionUnavailableError, match=r"archive\.tar\.gz has sha256 .* the Sources index says 0000"):
        download_archive(tmp_path, right._replace(sha256="0000"))
