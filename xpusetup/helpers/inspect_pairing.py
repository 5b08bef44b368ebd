"""Looks whether torch and a device's extension belong together: versions, whose PyTorch it is, one C++ ABI.

The ABI of torch is asked of torch itself; that of every other library which calls torch follows from the symbols
that it asks for, so that nothing has to be loaded that might break.
"""

import argparse
import mmap
import os
import re
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from helperlib.elf.conflicts import NEW_STRINGS, OF_TORCH, OLD_STRINGS, TORCH
from helperlib.elf.file import NEEDED, Elf, NotElfError, read_asked
from helperlib.env.distributions import find_version, libraries_of, read_distributions
from helperlib.output import count, fail, say_summary, write_json
from makers_installer import begins

PUBLIC = re.compile(r"(?:cpu|cu\d+|xpu|rocm[\d.]+)?")
"""What stands after the + in the versions of PyTorch's own wheels. A fork's says its maker or its commit."""
ASK = "import torch; print(int(torch.compiled_with_cxx11_abi()))"
SHOWN = 4


class PairingRow(NamedTuple):
    """One thing that was looked at. `fix` mends what fails."""

    id: str
    level: str
    seen: str
    limit: str
    fix: str = ""


class Caller(NamedTuple):
    """A library that calls torch, with the ABI that it was compiled for; None where its symbols do not tell."""

    path: Path
    abi: int | None


def judge_versions(wanted: dict[str, str]) -> Iterator[PairingRow]:
    for name, start in wanted.items():
        found = find_version(name)
        good = found is not None and begins(found, start)
        fix = "install it again: the same command goes on there"
        yield PairingRow(f"pairing.{name}", "ok" if good else "fail", f"{name} {found or 'is not there'}", start, fix)


def judge_kind(version: str, wanted: str) -> PairingRow:
    """Say whose PyTorch is there."""
    found = "public" if PUBLIC.fullmatch(version.partition("+")[2]) and "a0" not in version else "fork"
    level = "info" if wanted == "any" else "ok" if found == wanted else "fail"
    fix = "pip has put another torch in its place: the same command installs the right one again"
    return PairingRow("pairing.pytorch", level, f"torch {version}: {found}", wanted, fix)


def judge_abi(torch: int | None, callers: Iterable[Caller], owners: dict[str, str]) -> PairingRow:
    """Hold the ABI of each library that calls torch against torch's own, and name those of the other one."""
    known = [one for one in callers if one.abi is not None]
    if torch is None:
        return PairingRow(
            "pairing.abi", "warn", "torch cannot be imported, so that its C++ ABI is not known", "one C++ ABI"
        )
    other = [one for one in known if one.abi != torch]
    if not other:
        seen = f"C++ ABI {torch}: torch and {count(len(known), 'library')} that call it"
        return PairingRow("pairing.abi", "ok", seen, f"{torch}, as torch")
    names = [f"{one.path.name} of {owners.get(str(one.path), 'no package')}" for one in other[:SHOWN]]
    more = f" and {len(other) - SHOWN} more" if len(other) > SHOWN else ""
    packages = sorted({owners.get(str(one.path), "").partition(" ")[0] for one in other} - {""})
    remove = f", or remove them: pip uninstall {' '.join(packages)}" if packages else ""
    fix = f"compile them again with _GLIBCXX_USE_CXX11_ABI={torch}{remove}"
    seen = f"C++ ABI {1 - torch} in {', '.join(names)}{more}, and torch has {torch}"
    return PairingRow("pairing.abi", "fail", seen, str(torch), fix)


def ask_abi() -> int | None:
    """Ask torch, without its extensions; None where it cannot be imported."""
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = (sys.executable, "-c", ASK)
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return int(said.stdout) if said.returncode == 0 and said.stdout.strip() in ("0", "1") else None


def read_caller(path: Path) -> Caller | None:
    """Read a library; None for what is none, or does not need torch."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            elf = Elf(data)
            if not any(TORCH.match(name) for name in elf.texts(NEEDED)):
                return None
            asked = [one.name for one in read_asked(elf)]
    except (NotElfError, ValueError, struct.error):
        return None
    # The ABI shows in torch's functions that are asked for and that take a std::string.
    ours = [name for name in asked if OF_TORCH.match(name)]
    new = sum(bool(NEW_STRINGS.search(name)) for name in ours)
    old = sum(bool(OLD_STRINGS.search(name)) for name in ours)
    return Caller(path, None if new == old else int(new > old))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wants", action="append", required=True, metavar="NAME=VERSION", help="beginning of it")
    parser.add_argument("--pytorch", choices=("fork", "public", "any"), required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    packages = Path(sysconfig.get_path("platlib"))
    libraries = (path for path in sorted(packages.rglob("*.so*")) if path.is_file() and not path.is_symlink())
    others = (path for path in libraries if path.relative_to(packages).parts[0] != "torch")
    callers = list(filter(None, map(read_caller, others)))
    rows = [
        *judge_versions(dict(pair.split("=", 1) for pair in options.wants)),
        judge_kind(find_version("torch") or "", options.pytorch),
        judge_abi(ask_abi(), callers, libraries_of(read_distributions([str(packages)]))),
    ]
    for row in rows:
        print(f"{row.level:5} {row.seen}", flush=True)
    told = [{name: value for name, value in row._asdict().items() if value} for row in rows]
    write_json(options.out, {"checks": told})
    bad = [row for row in rows if row.level == "fail"]
    if bad:
        fail("; ".join(f"{row.seen}, and wanted is {row.limit}" for row in bad), bad[0].fix)
    say_summary(rows[-2].seen, rows[-1].seen)


if __name__ == "__main__":
    main()
