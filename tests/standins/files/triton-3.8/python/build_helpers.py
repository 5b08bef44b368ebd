"""Stand-in for python/build_helpers.py of Triton for XPU 3.7.1 to 3.8: what CMake lets it look for or download.

Written after intel/intel-xpu-backend-for-triton:python/build_helpers.py @ 1e2d42a0 (3.8.0). Nothing is ever downloaded.
"""

import argparse
import json
import shutil
import sys
import urllib.request
from pathlib import Path

BASE = Path(__file__).resolve().parents[1]
ON = ("ON", "1", "YES", "TRUE", "Y")
TOOLS = ("ptxas", "ptxas-blackwell", "cuobjdump", "nvdisasm", "crt", "cudart", "cupti")


def download(name: str) -> None:
    sys.stdout.write(f"downloading {name}:\n")
    sys.stdout.flush()
    urllib.request.urlopen(f"https://downloads.invalid/{name}", timeout=300)


def update_symlink(link: Path, target: Path) -> None:
    if link.is_symlink():
        link.unlink()
    elif link.exists():
        shutil.rmtree(link)
    link.absolute().parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target.absolute(), target_is_directory=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("offline", "cache", "llvm", "json", "output"):
        parser.add_argument(f"--{name}", default="")
    asked = parser.parse_args()
    offline = asked.offline.upper() in ON
    info = json.loads((BASE / "cmake/llvm-info.json").read_text())
    llvm = f"llvm-{info['llvm_hash'][:8]}-ubuntu-x64-{info['build_number']}.tar.gz"
    for variable, folder, file in (("LLVM_SYSPATH", asked.llvm, llvm), ("JSON_SYSPATH", asked.json, "include.zip")):
        if offline and not folder:
            raise RuntimeError(f"Requested an offline build but {variable} is not set")
        if not folder:
            download(file)
    update_symlink(Path(asked.cache).absolute() / "llvm/llvm-ubuntu-x64", Path(asked.llvm))
    lines = {"LLVM_INCLUDE_DIRS": f"{asked.llvm}/include", "LLVM_LIBRARY_DIR": f"{asked.llvm}/lib"}
    Path(asked.output).write_text("".join(f'set({name} "{value}")\n' for name, value in lines.items()))
    for tool in () if offline else TOOLS:
        download(f"cuda-{tool}.tar.xz")


main()
