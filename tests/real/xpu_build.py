"""The real PyTorch for XPU through the product, in a Debian root: everything is true but device code.

`make e2e-torch-xpu` calls it. It takes hours, so it goes on where it stopped. Sources that no archive has come from
checkouts that variables name: TORCH_XPU_OPS and ONEDNN, each a git repository with all its commits.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli
import tomli_w

from e2e.support import CHECKOUT
from real.apt_source import AUDIO, VISION, Package, write_debian_archive
from real.debian_root import VERSION, why_not, write_root
from real.outside import UnavailableError, outer_environment, run
from real.toolkit import write_toolkit
from real.torch_attempts import Work, list_attempts, read_lines, run_attempt, say
from real.torch_build import TREE, install
from real.vision_source import write_repository
from real.xpu_figures import make_figures, render_figures
from real.xpu_profile import ONEDNN, SHIPPED, derive
from real.xpu_stages import PLACE, build_offline, edit_a_kernel, once, use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROFILE = "torch-2.6-xpu.toml"
PACKAGES = ("opencl-c-headers", "opencl-clhpp-headers", "ocl-icd-opencl-dev")
"""Intel's compiler has OpenCL's headers and its loader, its wheels have not."""
OWN_DNNL = "1030-use-system-dnnl.patch"
BUILDS = {"torch": ("--only", "torch"), "all": ()}
"""torch first: it takes hours, and the others' sources need not be there."""
STAGES = {"use": use, "offline": build_offline, "inner": edit_a_kernel}
MIRRORED = {
    "https://github.com/pytorch/pytorch": "pytorch",
    "https://github.com/pytorch/vision": "pytorch-vision",
    "https://github.com/pytorch/audio": "pytorch-audio",
    "https://github.com/intel/torch-xpu-ops": "torch-xpu-ops",
    ONEDNN["repo"]: "onednn",
}
ARCHIVES = {"vision": VISION, "audio": AUDIO}
"""Components whose source is Debian's, by the name of its package: the original archive, without Debian's patches."""
QUICK = """\
#!/bin/sh
case " $* " in *" -mavx"*) echo "{name}: left out: $*" >&2; exit 1 ;; esac
exec /usr/bin/{name} "$@" -O0
"""
CHECKOUTS = {"torch-xpu-ops": "TORCH_XPU_OPS", "onednn": "ONEDNN"}


def prepare(work: Work) -> None:
    """Make the root with the toolkit and the sources, and the profile that names their commits."""
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("a Debian root with the build dependencies", partial(write_root, work.root, PACKAGES)),
        ("oneAPI in it", partial(write_toolkit, work.root, work.folder / "wheels")),
        ("the sources as git repositories", partial(write_sources, work)),
        ("xpusetup in the root", partial(install, work)),
    )
    if os.environ.get("TORCH_XPU_QUICK"):
        steps = (*steps, ("compilers that do not optimise", partial(write_quick, work.root)))
    for title, make in steps:
        say(title)
        make()
    (work.root / "build").mkdir(exist_ok=True)
    write_profile(work)


def write_quick(root: Path) -> None:
    """Put compilers before gcc's that leave optimisation out, and know no wide vectors, which kernels are made for.

    The same sources are compiled and linked by the same rules, in a fraction of the time; what they make is slow.
    A compiler that is there stays: ccache knows one by its time, and would find nothing that the one before made.
    """
    for name in ("gcc", "g++"):
        path, text = root / "usr/local/bin" / name, QUICK.format(name=name)
        if path.is_file() and path.read_text() == text:
            continue
        path.write_text(text)
        path.chmod(0o755)


def write_sources(work: Work) -> None:
    """Make the repositories in the root, and let git find them under upstream's addresses."""
    sources = work.root / "opt/sources"
    sources.mkdir(parents=True, exist_ok=True)
    for name, variable in CHECKOUTS.items():
        if not (sources / f"{name}.git").exists():
            clone(variable, sources / f"{name}.git")
    rev = work.root / "opt/rev"
    if not rev.is_file():
        (work.root / "opt" / TREE.name).write_bytes(TREE.read_bytes())
        places = (VERSION, "/opt/pytorch", "/opt/sources/pytorch.git", OWN_DNNL)
        rev.write_text(work.inside("bash", f"/opt/{TREE.name}", *places).split()[-1])
    for name, package in ARCHIVES.items():
        if not (work.root / f"opt/rev.{name}").is_file():
            write_archive(work, name, package)
    lines = (f'[url "file:///opt/sources/{name}.git"]\n\tinsteadOf = {url}\n' for url, name in MIRRORED.items())
    (work.root / "etc/gitconfig").write_text("".join(lines))


def write_archive(work: Work, name: str, package: Package) -> None:
    """Make a repository of one commit of the original archive that a Debian source package holds."""
    repository = work.root / f"opt/sources/{package.name}.git"
    shutil.rmtree(repository, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        archive = write_debian_archive(Path(folder), package)
        rev = write_repository(archive, repository, f"{package.name} {package.version}", f"v{package.version}")
    (work.root / f"opt/rev.{name}").write_text(rev)


def clone(variable: str, into: Path) -> None:
    """Copy the repository that a variable names."""
    given = os.environ.get(variable, "")
    if not given:
        raise UnavailableError(f"{variable} is to name a git repository of {into.stem} with all its commits")
    part = into.with_suffix(".part")
    words = ("git", "-c", "safe.directory=*", "clone", "-q", "--mirror", "--no-hardlinks", given, str(part))
    run(words, env=outer_environment(), seconds=900)
    part.rename(into)


def write_profile(work: Work) -> None:
    """Write the profile with the commits of the sources as they are here."""
    shipped = tomli.loads((CHECKOUT / SHIPPED).read_text())
    revs = {name: (work.root / f"opt/rev.{name}").read_text() for name in ARCHIVES}
    revs["torch"] = (work.root / "opt/rev").read_text()
    (work.root / "opt" / work.profile).write_text(tomli_w.dumps(derive(shipped, revs)))


def build(work: Work, name: str, *more: str) -> None:
    """Build in as many attempts as it takes. Raises UnavailableError where it fails: the next call goes on there."""
    attempts = list_attempts(work, name)
    if any(one.code == 0 for one in attempts):
        return
    title = f"{name}.{len(attempts) + 1}"
    attempt = run_attempt(work, [one.name for one in attempts], title, PLACE, 0, more)
    if attempt.code != 0:
        log = (work.folder / f"measures/{title}.err").read_text()
        raise UnavailableError(f"the build ended with {attempt.code}: {log[-2000:]}")
    result = json.loads((work.folder / f"measures/{title}.out").read_text())["result"]
    if result["verified"] is not None:
        raise UnavailableError(f"it says verified: {result['verified']}, and there is no device")


def write_figures(work: Work, stages: Mapping[str, Any]) -> None:
    """Gather all that was measured."""
    attempts = {name: list_attempts(work, name) for name in BUILDS}
    events = {name: [read_lines(work.events(one.name)) for one in runs] for name, runs in attempts.items()}
    results = work.place(PLACE).glob("results/*.inspect.json")
    inspected = {path.name.partition(".")[0]: json.loads(path.read_text()) for path in sorted(results)}
    figures = make_figures(attempts, events, inspected, stages)
    (work.folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    (work.folder / "figures.md").write_text(render_figures(figures))


def main() -> None:
    """Do what is not done yet, then write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="the folder that keeps everything; about 25 GB")
    work = Work(parser.parse_args().work.expanduser().resolve(), PROFILE, "/")
    if why := why_not():
        say(f"left out: {why}")
        return
    try:
        prepare(work)
        for name, more in BUILDS.items():
            build(work, name, *more)
        made = {name: partial(once, work, name, stage) for name, stage in STAGES.items()}
        write_figures(work, {name: stage() for name, stage in made.items()})
    except UnavailableError as error:
        sys.exit(f"e2e-torch-xpu: {error}")
    say(f"done: {work.folder / 'figures.md'}")


if __name__ == "__main__":
    main()
