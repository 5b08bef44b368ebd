"""xpusetup itself as a wheel, for places where none can be fetched: from its checkout, else from what is installed."""

import base64
import hashlib
import re
import zipfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xpusetup import __version__
from xpusetup.system.files import PACKAGE, make_folder, read_text, write_text
from xpusetup.system.git import read_tree

NAME = "xpusetup"
WRITTEN_BY_INSTALLERS = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"}
COMMIT = 12
DATE = (1980, 1, 1, 0, 0, 0)


def describe_version() -> str:
    """Give this program's version and the commit it was made from, as far as that is known."""
    tree = read_tree(PACKAGE.parent) if (PACKAGE.parent / "pyproject.toml").exists() else None
    own = f"{tree.rev[:COMMIT]}{' with changes' if tree.changed else ''}" if tree else ""
    commit = own or (read_text(PACKAGE / "_shipped/commit") or "").strip()
    return f"{__version__} ({commit})" if commit else __version__


def describe_program(folder: Path) -> tuple[str, str, str]:
    """Give this program's version, what pip makes its wheel from, and a file of the versions that it runs with here."""
    constraints = folder / "constraints.txt"
    write_text(constraints, "".join(f"{name}=={version}\n" for name, version in sorted(running_with().items())))
    checkout = PACKAGE.parent
    ours = f'name = "{NAME}"' in (read_text(checkout / "pyproject.toml") or "")
    source = checkout if ours else repack(metadata.distribution(NAME), folder / "own")
    return __version__, str(source), str(constraints)


def running_with() -> dict[str, str]:
    """Give the versions of what this program requires, as they are installed where it runs, however far."""
    found: dict[str, str] = {}
    wanted = [NAME]
    while wanted:
        try:
            distribution = metadata.distribution(wanted.pop())
        except metadata.PackageNotFoundError:  # run from a checkout that was not installed
            continue
        needs = [Requirement(text) for text in distribution.requires or ()]
        names = {canonicalize_name(need.name) for need in needs if need.marker is None or need.marker.evaluate()}
        wanted += sorted(names - {*found, NAME})
        found[canonicalize_name(distribution.name)] = distribution.version
    found.pop(NAME, None)
    return found


def repack(distribution: metadata.Distribution, to: Path) -> Path:
    """Make the wheel again that a distribution was installed from: the same files, but for what installers add."""
    make_folder(to)
    name = re.sub(r"[-_.]+", "_", distribution.name).lower()
    wheel = to / f"{name}-{distribution.version}-py3-none-any.whl"
    rows = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(distribution.files or (), key=str):
            if ".." in file.parts or file.suffix == ".pyc" or file.name in WRITTEN_BY_INSTALLERS:
                continue
            content = file.read_binary()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{file},sha256={digest},{len(content)}")
            archive.writestr(zipfile.ZipInfo(str(file), DATE), content)
        record = f"{name}-{distribution.version}.dist-info/RECORD"
        archive.writestr(zipfile.ZipInfo(record, DATE), "\n".join([*rows, f"{record},,", ""]))
    return wheel
