"""Fetches an archive that a component's build takes ready made (Triton's LLVM), holds it to its hash, and unpacks it.

It is taken from the folder that XPUSETUP_ARCHIVES names (of a bundle, or a mirror's), else fetched. Where nobody
published its hash, that of first use is written down, and no other one is unpacked after that.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from helperlib.env.pins import Download, hash_file, write_sums
from helperlib.output import fail, render_size, whole, write_text
from make_environment import bundled_pip

PLACE = "XPUSETUP_ARCHIVES"
INDEX = "index:"
"""Begins an address, index:NAME/FILE, of which pip's own indexes know where the file lies."""
COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
DIGITS = 8
"""How many of a commit's stand in the names of archives that were made of it."""
STAMP = ".archive"
"""The file in the unpacked folder that holds the archive's hash."""


def main() -> None:
    """Find or fetch the archive, hold it to its hash, unpack it unless this very one lies there unpacked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", type=Path, required=True, help="where archives lie as they came")
    parser.add_argument("--record", type=Path, required=True, help="where the hashes of first use lie")
    parser.add_argument("--sha256", default="", help="the one that was published")
    parser.add_argument("--into", type=Path, help="the folder that it becomes; without one it stays as it came")
    parser.add_argument("--setting", default="", help="by which a user names a folder of their own instead")
    parser.add_argument("--pin-file", type=Path, help="the file of the tree that names the commit which it was made of")
    options = parser.parse_args()
    if options.pin_file:
        refuse_another(options.pin_file, options.url, options.setting)
    name = options.url.rpartition("/")[2]
    archive = find(options.url, options.store / name, options.sha256)
    record = options.record / "archives" / name
    digest = hold(archive, options.sha256, record)
    if options.into and not is_unpacked(options.into / STAMP, digest):
        unpack(archive, options.into, digest)
    if not options.sha256 and not record.exists():
        write_sums(record, [(digest, name)])
    origin = "" if options.sha256 else ", of unverified origin: held to this first use"
    place = f", is unpacked in {options.into}" if options.into else ""
    print(f"{name}, {render_size(archive.stat().st_size)}{origin}{place}")


def refuse_another(file: Path, url: str, setting: str) -> None:
    """End where the tree was made for an archive of another commit: a build with this one would fail hours later."""
    try:
        named = COMMIT.search(file.read_text(encoding="utf-8"))
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}", "the tree is another one than the profile was made for")
    if named is None:
        fail(f"{file} names no commit", "the tree is another one than the profile was made for")
    if named[0][:DIGITS] not in url:
        fail(
            f"{file} names {named[0]}, and the profile's archive is of another commit: {url}",
            f"build or find one of that commit, and name its folder: --set {setting}=DIR",
        )


def find(url: str, path: Path, wanted: str) -> Path:
    """Give the archive in the store, brought there from the place of a bundle or from its address.

    One that is there with another hash than the published one is fetched anew.
    """
    if path.exists() and wanted in ("", hash_file(path)):
        return path
    place = os.environ.get(PLACE, "")
    if place and not (Path(place) / path.name).exists():
        fail(f"{place} has no {path.name}", f"put it there, from {url}, or unset {PLACE}")
    try:
        with whole(path) as draft:
            if place:
                shutil.copyfile(Path(place) / path.name, draft)
            else:
                print(f"fetching {url}", flush=True)
                (fetch_by_pip if url.startswith(INDEX) else fetch)(url, draft)
    except OSError as error:
        fail(
            f"{url} cannot be fetched: {error}",
            f"fetch it elsewhere, put it into a folder and name that: export {PLACE}=DIR",
        )
    return path


def fetch_by_pip(url: str, draft: Path) -> None:
    """Fetch a file of the package index as pip would: with its settings, mirrors, credentials and certificates."""
    wanted = url.removeprefix(INDEX)
    wheel = None if find_spec("pip") else bundled_pip()
    env = {**os.environ, **({"PYTHONPATH": str(wheel)} if wheel else {})}
    words = (sys.executable, str(Path(__file__).with_name("ask_index.py")), "--to", str(draft), "file", wanted)
    done = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode or not json.loads(done.stdout):
        raise OSError(f"the package index that pip is told of has no {wanted.rpartition('/')[2]}")


def fetch(url: str, draft: Path) -> None:
    Download(url, draft).bring()


def hold(archive: Path, wanted: str, record: Path) -> str:
    """Give the hash of an archive: the published one, else that of its first use."""
    found = hash_file(archive)
    if wanted and found != wanted:
        archive.unlink()
        fail(
            f"{archive.name} has another hash than was published: {found}, not {wanted}. It was removed",
            "the same command again; if that goes on, the address serves another file than the profile was made for",
        )
    if not wanted and record.exists() and record.read_text(encoding="utf-8").split()[:1] != [found]:
        fail(
            f"{archive} is not the archive that was used at first: its hash differs. It was not unpacked",
            f"if you trust the new one: rm '{record}'",
        )
    return found


def is_unpacked(stamp: Path, digest: str) -> bool:
    return stamp.exists() and stamp.read_text(encoding="utf-8").strip() == digest


def unpack(archive: Path, into: Path, digest: str) -> None:
    """Unpack beside, then move: what is there is whole. One folder that holds all the rest is left out."""
    draft = into.with_name(f".{into.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        with tarfile.open(archive) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.14 does it unasked
            tar.extractall(draft, members=safe(tar, archive))  # noqa: S202 - each name was looked at
    except (tarfile.TarError, EOFError, OSError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        fail(f"{archive} cannot be unpacked: {error}", f"if it is damaged: rm '{archive}'; else look at the space")
    inside = list(draft.iterdir())
    top = inside[0] if len(inside) == 1 and inside[0].is_dir() else draft
    write_text(top / STAMP, f"{digest}\n")
    shutil.rmtree(into, ignore_errors=True)
    top.rename(into)
    shutil.rmtree(draft, ignore_errors=True)


def safe(tar: tarfile.TarFile, archive: Path) -> list[tarfile.TarInfo]:
    """Give the members without rights of their own; end where one would lie, or lead, outside of the folder.

    Python has a filter for this from 3.10.12, 3.11.4 and 3.12 on; Debian 12 has 3.11.2.
    """
    members = tar.getmembers()
    links = {PurePosixPath(member.name) for member in members if member.issym()}
    for member in members:
        member.mode = member.mode & 0o755 | (0o700 if member.isdir() else 0o600)
        name = PurePosixPath(member.name)
        link = name.parent / member.linkname if member.issym() else PurePosixPath(member.linkname)
        paths = [name, *([link] if member.issym() or member.islnk() else [])]
        out = any(path.is_absolute() or os.path.normpath(path).startswith("..") for path in paths)
        if out or links.intersection(name.parents) or re.search(r"[^./]/+\.\.(?:/|$)", member.linkname):
            fail(f"{archive} holds {member.name}, which leads out of its folder", "it is no archive to be trusted")
        if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
            fail(f"{archive} holds {member.name}, which is neither file nor folder", "it is no archive to be trusted")
    return members


if __name__ == "__main__":
    main()
