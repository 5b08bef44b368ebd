"""What is read from apt's settings and indexes, as values; and what an archive that fails leads to."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from real.apt_source import (
    DEBIAN_PACKAGE,
    AptEntry,
    Archive,
    download_archive,
    parse_archives,
    parse_deb822_sources,
    parse_one_line_sources,
    pick_entries,
    render_apt_conf,
    render_apt_source,
    write_debian_archive,
)
from real.outside import UnavailableError

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


@pytest.mark.e2e
def test_debians_archive_where_no_entry_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.list").write_text(f"deb [trusted=yes] file:{tmp_path}/nothing bookworm main\n")
    monkeypatch.setattr("real.apt_source.APT_FOLDER", tmp_path)
    with pytest.raises(UnavailableError, match=r"file:.*/nothing: `apt-get .* update` ended with 100"):
        write_debian_archive(tmp_path / "work")


@pytest.mark.e2e
def test_the_hash_decides_where_apt_fails(tmp_path: Path) -> None:
    (tmp_path / "apt.conf").write_text(render_apt_conf(tmp_path))
    right = Archive("0.21.0-3", "archive.tar.gz", hashlib.sha256(b"content").hexdigest())
    with pytest.raises(UnavailableError, match=r"`apt-get .* source .*` ended with 100"):
        download_archive(tmp_path, right)
    (tmp_path / right.name).write_bytes(b"content")
    assert download_archive(tmp_path, right).read_bytes() == b"content"
    with pytest.raises(UnavailableError, match=r"archive\.tar\.gz has sha256 .* the Sources index says 0000"):
        download_archive(tmp_path, right._replace(sha256="0000"))
