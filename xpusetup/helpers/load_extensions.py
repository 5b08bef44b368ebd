"""Says what `import torch` loads by itself here and what that does to it, as one JSON document on stdout.

Runs with the interpreter of the environment in question. Listing imports nothing; with --check torch is imported in
children: alone, with each extension by itself, and with all of them. A child that dies or hangs is a finding.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from helperlib.env.distributions import AUTOLOAD, find_version
from helperlib.output import LONGEST, words_of

GROUP, COMPILERS = "torch.backends", "torch_dynamo_backends"
VALUES = ("0", "1", "2", "true", "")
"""Texts that people set the switch to."""
ASSIGNED = re.compile(r"^(\w+)\s*(?::[^=\n]*)?=\s*(?:'([^']*)'|\"([^\"]*)\")", re.MULTILINE)
FRAME = re.compile(r'File "([^"]+)", line (\d+)')
EARLIER = 0.5
"""Seconds before its end at which a child that hangs says where it is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="import torch and load the extensions, in children")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="for each child")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
        del sys.path[0]  # the folder of this file is not the environment's
    if options.child:
        load(options.child[0], Path(options.child[1]), options.patience)
        return
    seen: dict[str, Any] = {  # what is installed, read from metadata alone
        "python": sys.executable,
        "prefix": sys.prefix,
        "switch": os.environ.get(AUTOLOAD),
        "torch": look_at_torch(),
        "entries": [describe(entry) for entry in found(GROUP)],
        "compilers": [describe(entry) for entry in found(COMPILERS)],
    }
    loads = try_all(len(seen["entries"]), options.patience) if options.check and seen["torch"] else None
    print(json.dumps({**seen, "loads": loads}))


def look_at_torch() -> dict[str, Any] | None:
    """Give torch's version and what its version.py assigns, such as the toolkit it was built with; None without it."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        text = ""
    said = {name: single or double for name, single, double in ASSIGNED.findall(text)}
    return {"version": said.get("__version__") or find_version("torch"), "said": said, "place": spec.origin}


def found(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))


def describe(entry: EntryPoint) -> dict[str, Any]:
    """Say of an entry whose it is, which torch that asks for, and whether its module is there."""
    module = entry.value.partition(":")[0].strip()
    package = entry.dist
    asked = (package.requires or []) if package else []
    return {
        "name": entry.name,
        "value": entry.value,
        "distribution": (package.metadata["Name"] or "") if package else "",
        "version": (package.version or "") if package else "",
        "requires": [text for text in asked if re.match(r"torch\s*([\[(<>=!~;]|$)", text)],
        "found": is_there(module),
    }


def is_there(module: str) -> bool:
    """Look for the top package alone: to find a module below it, Python would import it."""
    top, dot, _ = module.partition(".")
    try:
        spec = find_spec(top)
    except ValueError:
        return False
    # A folder without an __init__.py, as an interrupted uninstallation leaves it, is a package without contents.
    return spec is not None and (spec.origin is not None or bool(dot))


def try_all(entries: int, patience: float) -> dict[str, Any]:
    """Import torch by itself, with each extension, and with all of them; where it fails alone, nothing else counts."""
    alone = try_one("torch", patience)
    if not alone["imported"]:
        return {"torch": alone, "each": [], "together": None}
    each = [try_one(str(index), patience) for index in range(entries)] if entries > 1 or not alone["switch"] else []
    together = try_one("all", patience) if entries else alone
    return {"torch": alone, "each": each or [together] * entries, "together": together}


def try_one(what: str, patience: float) -> dict[str, Any]:
    """Load in a child of its own, and give what it wrote down before it ended, whatever ended it."""
    own = {AUTOLOAD: "1" if what == "all" else "0"}  # each extension is loaded by hand, so that it is the only one
    command = (sys.executable, __file__, "--patience", str(patience), "--child", what)
    with tempfile.TemporaryDirectory() as folder:
        report, words = Path(folder, "report"), Path(folder, "words")
        began = time.monotonic()
        with words.open("wb") as stream:
            child = subprocess.Popen(
                (*command, str(report)),
                env={**os.environ, **own},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            code = wait(child, patience)
        lines = report.read_text().splitlines() if report.exists() else []
        said = words.read_text(errors="replace")
    seen: dict[str, Any] = {"imported": False, "error": "", "switch": None, "seconds": 0.0}
    for line in lines:
        seen.update(json.loads(line))
    seen["seconds"] = round(time.monotonic() - began, 3)
    if code != 0 and not seen["error"]:
        seen["error"] = describe_end(code, said, patience)
    return seen


def wait(child: subprocess.Popen[bytes], patience: float) -> int | None:
    """Wait for a child's end, None where it took too long; what it started ends with it."""
    try:
        return child.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def describe_end(code: int | None, said: str, patience: float) -> str:
    frame = FRAME.search(said)
    where = f", at {frame[1]}:{frame[2]}" if frame else ""
    if code is None:
        return f"no end within {patience:g} s{where}"
    if code < 0:
        return f"the process was ended by {signal.Signals(-code).name}{where}"
    last = next(reversed(said.strip().splitlines()), "")[:LONGEST]
    return f"the process ended with exit code {code}{f': {last}' if last else ''}"


def load(what: str, report: Path, patience: float) -> None:
    """Import torch and what was asked for, in the child; one line of JSON for each step that was reached."""
    import faulthandler  # noqa: PLC0415 - a listing needs none

    faulthandler.enable()
    faulthandler.dump_traceback_later(max(patience - EARLIER, EARLIER), exit=False)
    with report.open("w", encoding="utf-8", buffering=1) as steps:
        try:
            import torch  # noqa: PLC0415 - what it does is the question

            if what.isdecimal():
                found(GROUP)[int(what)].load()()
            steps.write(json.dumps({"imported": True, **switch_of(torch)}) + "\n")
            steps.write(json.dumps(accelerator_of(torch)) + "\n")
        except BaseException as error:  # noqa: BLE001 - an extension may raise anything, or exit
            steps.write(json.dumps({"error": words_of(error)}) + "\n")
    os._exit(0)  # a runtime's own end is another matter, and may hang


def switch_of(torch: Any) -> dict[str, Any]:
    """Ask this torch which texts of the switch turn autoloading on; None before 2.5, which had none."""
    ask = getattr(torch, "_is_device_backend_autoload_enabled", None)
    if ask is None:
        return {"version": str(torch.__version__), "switch": None}
    kept = os.environ.get(AUTOLOAD)
    enabling = []
    for value in dict.fromkeys((*VALUES, kept or "")):
        os.environ[AUTOLOAD] = value
        enabling += [value] if ask() else []
    os.environ.pop(AUTOLOAD)
    unset = bool(ask())
    if kept is not None:
        os.environ[AUTOLOAD] = kept
    return {"version": str(torch.__version__), "switch": {"enabling": enabling, "unset": unset}}


def accelerator_of(torch: Any) -> dict[str, Any]:
    """Give the name by which torch calls its accelerator, and how many are here."""
    module: Any = getattr(torch, "accelerator", None)
    device = module.current_accelerator() if module else None
    return {"accelerator": device.type, "count": int(module.device_count())} if device else {}


if __name__ == "__main__":
    main()
