"""Where the program begins: Ctrl-C ends it without a traceback, also while it is still loading."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line. What is interrupted later says itself how it goes on."""
    try:
        from xpusetup.cli import main as run  # noqa: PLC0415 - to load it takes as long as many a command

        run()
    except KeyboardInterrupt:
        sys.stderr.write("\n ✗ interrupted: nothing was done\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
