"""What the tests take from the real world: sources that nobody made for a test."""

import sys
from pathlib import Path

# make starts these modules without pytest, which has the path from pyproject.toml
sys.path.append(str(Path(__file__).resolve().parents[2] / "xpusetup/helpers"))
