"""Makes a virtual environment, anew if there was one of ours, and never in place of something else.

`python -m venv --clear` empties whatever folder it is given; a prefix that was named by mistake must survive that. So
a mark stays in the folder from the first moment on, also while it is emptied.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from helperlib.output import fail
from make_movable import MARK, make_movable


def main() -> None:
    """Look whose folder it is, then make the environment with the interpreter that runs this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    refuse_foreign(options.into)
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / MARK).touch()
    empty(options.into)
    done = subprocess.run((sys.executable, "-m", "venv", str(options.into)), check=False)
    if done.returncode != 0:
        fail(f"no environment could be made in {options.into}", "read the lines above; --python names another Python")
    make_movable(options.into)


def refuse_foreign(folder: Path) -> None:
    """End when a folder holds something that this script did not put there."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        into = f"; to install into what is there: --into {folder}" if (folder / "bin/python").exists() else ""
        fix = f"name an empty or new folder: --prefix DIR{into}"
        fail(f"{folder} holds something that is not an environment of xpusetup", fix)


def empty(folder: Path) -> None:
    """Remove all but the mark."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()


if __name__ == "__main__":
    main()
