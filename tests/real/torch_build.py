"""The real PyTorch through the product: from nothing to a verified wheel, killed in the middle, then again from ccache.

`make e2e-torch` calls it. It takes hours, so it goes on where it stopped: what is done has a measure in the work
folder. There lie the Debian root, what was measured, and at the end `figures.json` and `figures.md`. *Cold* begins with
an empty ccache; *warm* is the same root emptied, *elsewhere* a root of another name, both with what ccache has by then.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from e2e.support import CHECKOUT, copy_checkout
from real.debian_root import VERSION, why_not, write_root
from real.outside import UnavailableError
from real.torch_attempts import PROFILE, Work, build, read_built, say
from real.torch_figures import make_figures, render_figures

TREE = CHECKOUT / "tests/real/torch_tree.sh"
REV = re.compile(r'(?m)^rev = "[0-9a-f]{40}"$')
KILL_AT = (0.2, 0.4)
HERE, ELSEWHERE = "torch", "another-torch"
PROGRAM = """
import json, torch
layers = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(), torch.nn.Linear(7200, 10)
model = torch.nn.Sequential(*layers)
loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 3, 32, 32)), torch.tensor([1, 2, 3, 4]))
loss.backward()
grads = all(bool(p.grad.isfinite().all()) for p in model.parameters())
print(json.dumps({"version": torch.__version__, "abi": torch.compiled_with_cxx11_abi(), "grads": grads}))
"""


def prepare(work: Work) -> dict[str, float]:
    """Make the root, the repository and the profile that names its commit, and install this checkout.

    Gives the seconds of what was made: kept, because most of it is made once.
    """
    kept = work.folder / "measures/prepared.json"
    seconds: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}
    for title, make in (
        ("a Debian root with the build dependencies", partial(write_root, work.root)),
        ("the source as a git repository", partial(write_repository, work)),
        ("xpusetup in the root", partial(install, work)),
    ):
        say(title)
        began = time.monotonic()
        make()
        seconds[title] = max(round(time.monotonic() - began, 1), seconds.get(title, 0))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(seconds))
    return seconds


def write_repository(work: Work) -> None:
    """Make the repository, and the profile with its commit."""
    rev = work.root / "opt/rev"
    if not rev.is_file():
        (work.root / "opt" / TREE.name).write_bytes(TREE.read_bytes())
        rev.write_text(
            work.inside("bash", f"/opt/{TREE.name}", VERSION, "/opt/pytorch", "/opt/pytorch.git").split()[-1]
        )
    profile = (CHECKOUT / "tests/profiles" / PROFILE).read_text()
    (work.root / "opt" / PROFILE).write_text(REV.sub(f'rev = "{rev.read_text()}"', profile, count=1))


def install(work: Work) -> None:
    """Install this checkout, changes that are not committed yet included."""
    copy_checkout(work.root / "opt/checkout")
    work.inside("python3", "-m", "venv", "/opt/xpusetup")
    for more in ((), ("--force-reinstall", "--no-deps")):
        work.inside("/opt/xpusetup/bin/pip", "install", "-q", *more, "/opt/checkout")


def use(work: Work) -> dict[str, Any]:
    """Train one step with what was built; another build has nothing to do, and the seconds of that count too."""
    path = work.folder / "measures/used.json"
    if not path.exists():
        computed = work.inside(*work.xpusetup("run", HERE, "--", "python", "-c", PROGRAM))
        began = time.monotonic()
        again = json.loads(work.inside(*work.xpusetup("build", HERE, "--launcher", "ccache", "--json")))
        seconds = time.monotonic() - began
        if ran := again["result"]["ran"]:
            raise UnavailableError(f"a second build ran {', '.join(ran)}")
        path.write_text(json.dumps({"used": json.loads(computed), "noop": seconds}))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def look_at(work: Work) -> dict[str, Any]:
    """Say what it all ran on."""
    model = re.search(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text())
    tools = (("gcc", "-dumpfullversion"), ("cmake", "--version"), ("ninja", "--version"), ("ccache", "--version"))
    versions = {argv[0]: re.findall(r"\d[\d.]+", work.inside(*argv))[0] for argv in tools}
    versions["python"] = work.inside("python3", "-c", "import platform; print(platform.python_version())").strip()
    memory = psutil.virtual_memory().total
    return {"model": model[1] if model else "", "cpus": psutil.cpu_count(), "memory": memory, "versions": versions}


def main() -> None:
    """Do what is not done yet, then write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="the folder that keeps everything; about 10 GB")
    work = Work(parser.parse_args().work.expanduser().resolve())
    if why := why_not():
        say(f"left out: {why}")
        return
    try:
        prepared = prepare(work)
        build(work, "cold", HERE, KILL_AT)
        used = use(work)
        build(work, "warm", HERE)
        build(work, "elsewhere", ELSEWHERE)
        builds = {name: read_built(work, name) for name in ("cold", "warm", "elsewhere")}
        figures = make_figures(builds, {**used, "prepared": prepared, "machine": look_at(work)})
    except UnavailableError as error:
        sys.exit(f"e2e-torch: {error}")
    (work.folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    (work.folder / "figures.md").write_text(render_figures(figures))
    say(f"done: {work.folder / 'figures.md'}")


if __name__ == "__main__":
    main()
