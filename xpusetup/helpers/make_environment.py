"""Makes a virtual environment, anew if there was one of ours, and never in place of something else.

`python -m venv --clear` empties whatever folder it is given; a prefix that was named by mistake must survive that. So
a mark stays in the folder from the first moment on, also while it is emptied.

pip is unpacked from the wheel that Python brings along: `python -m venv` lets that wheel install itself and has all of
it compiled, which is nearly all of the time, for a pip that the requirements replace at once.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

from helperlib.output import fail, write_text
from make_movable import MARK, make_movable

COMMAND = """#!{python}
import sys
from pip._internal.cli.main import main
if __name__ == "__main__":
    sys.exit(main())
"""


def main() -> None:
    """Look whose folder it is, then make the environment with the interpreter that runs this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    refuse_foreign(options.into)
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / MARK).touch()
    for path in options.into.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()
    wheel = bundled_pip()
    way = ("--without-pip",) if wheel else ()
    unset = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    own = {**unset, "PIP_CONFIG_FILE": os.devnull}  # settings are for what is fetched, and this is not
    if subprocess.run((sys.executable, "-m", "venv", *way, str(options.into)), env=own, check=False).returncode != 0:
        fix = "read the lines above; --python names another Python"
        fail(f"no environment could be made in {options.into}", fix)
    if wheel:
        unpack(wheel, options.into)
    make_movable(options.into)


def bundled_pip() -> Path | None:
    """Give the wheel of pip that this Python brings along, or None where venv has to find one by itself."""
    spec = find_spec("ensurepip")
    own = Path(spec.origin).parent / "_bundled" if spec and spec.origin else None
    places = [Path(place) for place in (sysconfig.get_config_var("WHEEL_PKG_DIR"), own) if place]
    return next((wheel for place in places for wheel in sorted(place.glob("pip-*-py3-none-any.whl"))), None)


def unpack(wheel: Path, prefix: Path) -> None:
    """Put pip and its commands into an environment, and all into RECORD, by which a newer pip takes it away."""
    site = Path(sysconfig.get_path("purelib", "posix_prefix", {"base": str(prefix), "platbase": str(prefix)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    commands = [prefix / "bin" / name for name in ("pip", "pip3", f"pip3.{sys.version_info.minor}")]
    for command in commands:
        write_text(command, COMMAND.format(python=prefix / "bin/python"))
        command.chmod(0o755)
    (about,) = site.glob("pip-*.dist-info")
    write_text(about / "INSTALLER", "pip\n")
    with (about / "RECORD").open("a", encoding="utf-8") as record:
        record.writelines(f"{os.path.relpath(path, site)},,\n" for path in (*commands, about / "INSTALLER"))


def refuse_foreign(folder: Path) -> None:
    """End when a folder holds something that this script did not put there."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        into = f"; to install into what is there: --into {folder}" if (folder / "bin/python").exists() else ""
        fix = f"name an empty or new folder: --prefix DIR{into}"
        fail(f"{folder} holds something that is not an environment of xpusetup", fix)


if __name__ == "__main__":
    main()
