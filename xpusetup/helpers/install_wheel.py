"""Installs one wheel by its exact path into the environment of the interpreter that runs this, and nothing else."""

import argparse
import subprocess
import sys
from pathlib import Path

from forget_cut_off import forget_cut_off
from helperlib.env.distributions import find_wheel
from make_movable import make_movable

PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps", "--force-reinstall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    wheel = find_wheel(options.wheels, options.distribution, options.version)
    forget_cut_off()
    sys.stdout.flush()
    done = subprocess.run((sys.executable, *PIP, str(wheel)), check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    make_movable(Path(sys.prefix))


if __name__ == "__main__":
    main()
