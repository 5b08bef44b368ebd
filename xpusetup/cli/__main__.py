"""python -m xpusetup.cli."""

from xpusetup.cli import main

main()
