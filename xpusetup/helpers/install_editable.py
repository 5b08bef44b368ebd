"""Installs a source tree as it lies into the environment of the interpreter that runs this, and looks that it is so.

setuptools compiles what is editable in a folder that it removes, so that each build compiled all. A setting of its
build_ext names a folder that stays: PyTorch's BuildExtension leaves to ninja what has changed there.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from build_tree import find_setup, read_setup
from helperlib.env.distributions import canonical, installed
from helperlib.output import fail, say_summary, write_text
from make_movable import make_movable

PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--no-build-isolation", "--no-deps", "--verbose")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--component", required=True, help="as --source names it")
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--objects", type=Path, help="where what setuptools compiles stays")
    parser.add_argument("settings", nargs="*", help="what the build back end is told")
    options = parser.parse_args()
    folder = find_setup(options.tree)
    command = (sys.executable, *PIP, *options.settings, "--editable", str(folder))
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as place:
        env = dict(os.environ)
        if options.objects:
            keep_for(options.objects, torch_here())
            config = Path(place) / "setup.cfg"
            config.write_text(keep_in(options.objects, read_setup(folder / "setup.py")), encoding="utf-8")
            env["DIST_EXTRA_CONFIG"] = str(config)
        done = subprocess.run(command, check=False, env=env)
    if done.returncode:
        raise SystemExit(done.returncode)
    make_movable(Path(sys.prefix))
    there = installed()
    found = there.get(canonical(options.distribution))
    of_tree = sorted(
        one.name for one in there.values() if one.source and Path(one.source).resolve() == folder.resolve()
    )
    if of_tree and not (found and found.source):
        refuse_other(options, of_tree)
    if found is None or not found.source:
        fail(f"{options.distribution} is not editable after all", "read the log above")
    say_summary(found.version, "editable")


COMMAND = re.compile(r"""^class (\w+)\(|["']build_ext["']\s*:\s*(?:\w+\.)*(\w+)""", re.MULTILINE)
OF_TORCH = {"build_ext", "BuildExtension", "cls_with_options"}
"""The last is what BuildExtension.with_options gives."""


def keep_in(objects: Path, setup: str) -> str:
    """Give the settings of setuptools by which a setup compiles in a folder that stays.

    An editable build asks for the options of build_ext twice, the second time by the name of its class (seen with
    setuptools 80.10): so each class of the setup is named.
    """
    names = OF_TORCH | {name for found in COMMAND.findall(setup) for name in found if name}
    place = str(objects).replace("%", "%%")
    return "".join(f"[{name}]\nbuild_temp = {place}\n" for name in sorted(names))


def torch_here() -> str:
    """Give what tells the torch of this environment from any other one: its list of files."""
    try:
        return hashlib.sha256((metadata.distribution("torch").read_text("RECORD") or "").encode()).hexdigest()
    except metadata.PackageNotFoundError:
        return ""


def keep_for(objects: Path, torch: str) -> None:
    """Remove objects that were compiled against another torch: its headers may be older than they are."""
    mark = objects / ".torch"
    if objects.exists() and (not mark.exists() or mark.read_text(encoding="utf-8") != torch):
        print(f"{objects} was compiled against another torch: it goes", flush=True)
        shutil.rmtree(objects)
    objects.mkdir(parents=True, exist_ok=True)
    write_text(mark, torch)


def refuse_other(options: argparse.Namespace, names: list[str]) -> NoReturn:
    """Take out what came in place of the distribution that was to come, and end: the tree is of something else."""
    subprocess.run((sys.executable, *PIP[:3], "uninstall", "--yes", *names), check=False)
    fix = f"name the tree of {options.distribution}: --source {options.component}=DIR:editable"
    fail(f"{options.tree} installs {', '.join(names)}, and not {options.distribution}; it was taken out again", fix)


if __name__ == "__main__":
    main()
