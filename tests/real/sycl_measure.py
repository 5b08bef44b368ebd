"""icpx of a toolkit, whose passes are measured: `sycl_measure.py TOOLKIT FILE NAME WORD...`.

It runs the toolkit's own driver. What each process of a compile took is a line of FILE: which pass, of which source
(of a device link: of which first object), seconds on the clock and of processors, and the most memory that it or a
child of it held at once, in bytes.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

KIB = 1024


def main(toolkit: Path, file: Path, name: str, words: list[str]) -> int:
    """Compile as the toolkit's own launcher does."""
    sys.path.insert(0, str(toolkit / "libexec/xpusetup"))
    driver: Any = importlib.import_module("helperlib.sycl.driver")
    measured = subprocess.Popen
    sources = [word for word in words if word.endswith((".cpp", ".sycl"))]
    sources = sources or [word for word in words if word.endswith(".cpp.o")]

    class Popen(measured):  # type: ignore[valid-type, misc]
        """A process that says at its end what it took."""

        def __init__(self, args: Any, *more: Any, **named: Any) -> None:
            self.begun, self.told = time.monotonic(), _pass_of(args)
            super().__init__(args, *more, **named)

        def _try_wait(self, flags: int) -> tuple[int, int]:
            try:
                pid, status, usage = os.wait4(self.pid, flags)
            except ChildProcessError:
                return self.pid, 0
            if pid == self.pid:
                line = {"pass": self.told, "source": sources[:1], "code": os.waitstatus_to_exitcode(status)}
                line["seconds"] = round(time.monotonic() - self.begun, 2)
                line["processor"] = round(usage.ru_utime + usage.ru_stime, 2)
                line["memory"] = usage.ru_maxrss * KIB
                with file.open("a") as log:
                    _write(log, line)
            return pid, status

    subprocess.Popen = Popen  # type: ignore[misc]
    return int(driver.main(name, toolkit, words))


def _pass_of(command: list[str]) -> str:
    """Tell the pass by the command: the child of the driver, g++ on the source, or what else there is to do."""
    if "device-pass" in command:
        request = json.loads(Path(command[-1]).read_text())
        return "preprocess" if request["only_hash"] else "device"
    if "-spirv_input" in command:
        return f"ocloc {command[command.index('-device') + 1]}"
    return "host" if "-include" in command else "join"


def _write(log: IO[str], line: dict[str, Any]) -> None:
    log.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:]))
