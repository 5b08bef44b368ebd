"""The wheel of an add-on: the libraries, the package that loads them, and for which torch they are."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helperlib.addon import loader
from helperlib.output import whole

if TYPE_CHECKING:
    from helperlib.addon.graph import Work
    from helperlib.addon.libraries import Libraries

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


def _metadata(work: Work, version: str) -> str:
    wanted = [f"torch=={work.torch.release}", *(f"{name}=={pin}" for name, pin in work.home.wheels.items())]
    lines = (f"Requires-Dist: {each}\n" for each in wanted)
    what = {"gpu": "Intel GPUs", "processor": "this machine's processor, as a device of SYCL"}[work.device]
    head = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n"
    return f"{head}Summary: XPU for torch {work.torch.version}: {what}\n{''.join(lines)}"


def _hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.rstrip(b'=').decode()}"
