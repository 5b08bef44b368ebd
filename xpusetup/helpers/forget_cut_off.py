"""Forgets what an installer that was killed left half done, so that the next one installs it whole.

pip and uv write the list of a distribution's files (RECORD) last. Before that its metadata may stand there already:
the next installer would take it for whole, or refuse to replace what it cannot uninstall.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from helperlib.env.distributions import cut_off
from helperlib.output import fail


def main() -> None:
    """Forget, and put back the pip that Python brings along where replacing it was cut off."""
    forget_cut_off()
    for place in places():
        if (place / "pip").is_dir() and not list(place.glob("pip-*.*-info")):  # its code is there, and no metadata
            print("pip: replacing it was cut off; the one that Python brings along takes its place", flush=True)
            shutil.rmtree(place / "pip")
            if subprocess.run((sys.executable, "-m", "ensurepip", "--default-pip"), check=False).returncode != 0:
                fail("pip could not be put back", f"uv pip install --python {sys.prefix} pip; then the same again")


def places() -> list[Path]:
    """Give the folders into which distributions are installed here."""
    return sorted({Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")})


def forget_cut_off() -> None:
    """Remove the metadata of what was cut off; its files stay until they are overwritten."""
    for folder in [folder for place in places() for folder in sorted(place.glob("*.dist-info"))]:
        if cut_off(folder):
            print(f"{folder.stem}: an installation of it was cut off; it counts as not installed", flush=True)
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
