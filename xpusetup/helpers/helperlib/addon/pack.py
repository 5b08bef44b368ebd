"""The wheel of an add-on: the libraries, the package that loads them, and for which torch they are."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helperlib.addon import loader
from helperlib.addon.installed import AddonError
from helperlib.output import whole, write_text

if TYPE_CHECKING:
    from helperlib.addon.graph import Libraries, Work

NAME = "xpusetup-torch-xpu"
PACKAGE = NAME.replace("-", "_")
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""What every file of the wheel is dated: the same libraries make the same wheel."""


def version_of(work: Work) -> str:
    """Give the version: torch's own, and for which device the libraries are."""
    return f"{work.torch.release}+{work.device}"


def pack(work: Work, libraries: Libraries, about: dict[str, Any], outdir: Path) -> Path:
    """Write the wheel. Its name says the release of torch, the device, the Python and the platform."""
    version = version_of(work)
    tag = f"{work.torch.python}-{work.torch.python}-{work.torch.platform}"
    info = f"{PACKAGE}-{version}.dist-info"
    files = {
        f"{PACKAGE}/__init__.py": Path(loader.__file__).read_bytes(),
        f"{PACKAGE}/about.json": json.dumps(about, indent=2).encode(),
        f"{PACKAGE}/{libraries.bindings.name}": libraries.bindings.read_bytes(),
        **{f"{PACKAGE}/{path.name}": path.read_bytes() for path in (libraries.c10, libraries.torch)},
        f"{info}/METADATA": _metadata(work, version).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: xpusetup\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        f"{info}/entry_points.txt": f"[torch.backends]\n{PACKAGE} = {PACKAGE}:load\n".encode(),
    }
    rows = [f"{name},{_hash(data)},{len(data)}\n" for name, data in files.items()]
    record = f"{info}/RECORD"
    files[record] = "".join((*rows, f"{record},,\n")).encode()
    wheel = outdir / f"{PACKAGE}-{version}-{tag}.whl"
    with whole(wheel) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return wheel


KEPT = ".wheel"
"""How the name of a file of the wheel ends that stands beside the one in its place."""


def replace_installed(work: Work, libraries: Libraries, about: dict[str, Any]) -> list[str]:
    """Put what was linked in the place of what is installed, and keep the wheel's own; give the names of what changed.

    RECORD gets their hashes first: by it others see that what is installed is not the wheel. Raises AddonError where
    this add-on is not installed beside this torch.
    """
    site, version = work.torch.folder.parent, version_of(work)
    info = f"{PACKAGE}-{version}.dist-info"
    record, there = site / info / "RECORD", site / PACKAGE / "about.json"
    if not record.is_file() or json.loads(there.read_bytes())["torch_git"] != about["torch_git"]:
        why = f"{NAME} {version} is not installed for this torch, so that nothing of it can be replaced"
        raise AddonError(why, "build and install it first:\n    xpusetup build")
    built = {path.name: path.read_bytes() for path in (libraries.c10, libraries.torch, libraries.bindings)}
    built[there.name] = json.dumps(about, indent=2).encode()
    news = {name: data for name, data in built.items() if data != (site / PACKAGE / name).read_bytes()}
    for name in news:
        if not (site / PACKAGE / f"{name}{KEPT}").exists():
            os.link(site / PACKAGE / name, site / PACKAGE / f"{name}{KEPT}")
    if news:
        kept = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in there.parent.glob(f"*{KEPT}")}
        changed = {f"{PACKAGE}/{name}": data for name, data in news.items()} | {f"{info}/INSTALLER": b"xpusetup\n"}
        _list_anew(record, {**kept, **changed})
        for name, data in changed.items():
            with whole(site / name) as draft:
                draft.write_bytes(data)
    return list(news)


def _list_anew(record: Path, files: dict[str, bytes]) -> None:
    """Give files of a list of files, or new ones, the hash that they get."""
    rows = (row for row in record.read_text(encoding="utf-8").splitlines() if row.split(",")[0] not in files)
    news = (f"{name},{_hash(data)},{len(data)}" for name, data in files.items())
    write_text(record, "\n".join((*rows, *news, "")))


def _metadata(work: Work, version: str) -> str:
    wanted = [f"torch=={work.torch.release}", *(f"{name}=={pin}" for name, pin in work.home.wheels.items())]
    lines = (f"Requires-Dist: {each}\n" for each in wanted)
    what = {"gpu": "Intel GPUs", "processor": "this machine's processor, as a device of SYCL"}[work.device]
    head = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n"
    return f"{head}Summary: XPU for torch {work.torch.version}: {what}\n{''.join(lines)}"


def _hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.rstrip(b'=').decode()}"
