"""Makes a virtual environment, anew if there was one of ours, and never in place of something else.

`python -m venv --clear` empties whatever folder it is given; a prefix that was named by mistake must survive that. So
a mark stays in the folder from the first moment on, also while it is emptied.

pip comes from the wheel that Python brings along, by itself and without byte code: `python -m venv` has all of it
compiled, which is two thirds of the time, for a pip that the requirements replace at once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
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
    python = str(options.into / "bin/python")
    unset = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    own = {**unset, "PIP_CONFIG_FILE": os.devnull}  # settings are for what is fetched, and this is not
    for command in ((sys.executable, "-m", "venv", "--without-pip", str(options.into)), (python, *pip_first())):
        if subprocess.run(command, env=own, check=False).returncode != 0:
            fix = "read the lines above; --python names another Python"
            fail(f"no environment could be made in {options.into}", fix)
    make_movable(options.into)


def pip_first() -> tuple[str, ...]:
    """Give the words with which a new environment's Python gets pip: from the wheel, else as venv itself does."""
    spec = find_spec("ensurepip")
    own = Path(spec.origin).parent / "_bundled" if spec and spec.origin else None
    places = [Path(place) for place in (sysconfig.get_config_var("WHEEL_PKG_DIR"), own) if place]
    wheel = next((wheel for place in places for wheel in sorted(place.glob("pip-*-py3-none-any.whl"))), None)
    if wheel is None:
        return ("-m", "ensurepip", "--default-pip")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-cache-dir")
    return (f"{wheel}/pip", "install", *quiet, "--no-index", "--no-compile", str(wheel))


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
