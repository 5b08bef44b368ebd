"""What lies beside an image's recipe: the scripts for root, the entry point, and what git and docker need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.activation import render_activation
from xpusetup.emit.image import PREFIX
from xpusetup.emit.script import render_scripts
from xpusetup.emit.system import render_system
from xpusetup.emit.words import render_command, render_word
from xpusetup.plan.verify import describe_proof, verify_options

if TYPE_CHECKING:
    from xpusetup.emit.image import Image
    from xpusetup.model import Step, Toolkit
    from xpusetup.platforms import Manager

USER = 1001
"""The number of the user in an image: engines that forbid root look at the number, not at a name."""
CACHES: dict[Manager, tuple[str, ...]] = {
    "apt": ("/var/cache/apt", "/var/lib/apt/lists"),
    "dnf": ("/var/cache/dnf",),
    "zypper": ("/var/cache/zypp",),
}
"""Where package managers keep what they fetched."""
KEEP_PACKAGES = "rm -f /etc/apt/apt.conf.d/docker-clean # it empties the cache that a build mounts\n"
REFRESH: dict[Manager, str] = {"apt": "apt-get update\n", "dnf": "", "zypper": ""}
"""Lists of packages are in no layer, so every script gets them."""
CLEAN = "grep -q ' {0} ' /proc/self/mounts || rm -rf {0}/*\n"
ADD_USER = f"getent passwd {USER} >/dev/null || useradd --create-home --uid {USER} xpu\n"
LIBRARIES = f"""#!/usr/bin/env bash
# Tells the dynamic linker where the toolkit's libraries lie, so that nothing has to be switched on at run time.
set -euo pipefail
bash -c '. {PREFIX}/toolkit.sh && printf "%s" "$LD_LIBRARY_PATH"' | tr ':' '\\n' >/etc/ld.so.conf.d/xpusetup.conf
ldconfig
"""
ENTRY = """#!/usr/bin/env bash
# verify [OPTIONS]   {proof}; exit 4 where there is no device
{more}# anything else      is run as it is, in the built environment
set -eu
[ -w "${{TMPDIR:-/tmp}}" ] || export TMPDIR=/tmp  # an engine may hand in the variables of outside
case ${{1-verify}} in
  verify)
    [ "$#" -eq 0 ] || shift
    exec {prefix}/venv/bin/python {prefix}/helpers/verify_device.py {options} \\
      --out "${{TMPDIR:-/tmp}}/verify.json" "$@"
    ;;
{cases}esac
exec "$@"
"""
TOOLKIT_SAYS = "# toolkit COMMAND   is run with the toolkit switched on, for compiling against it\n"
TOOLKIT_CASE = f"""  toolkit)
    shift
    command=("$@") # the toolkit's scripts must see no argument
    # shellcheck disable=SC1091  # it lies in the image
    . {PREFIX}/toolkit.sh
    exec "${{command[@]}}"
    ;;
"""
ACTIVATION = """# shellcheck shell=bash disable=SC1090,SC1091
# Switches the toolkit on, in the shell that reads this.
fail() {{ printf 'xpusetup: %s\\n  %s\\n' "$1" "$2" >&2; exit "${{3:-1}}"; }}
{body}
export CC={cc} CXX={cxx}
"""
IGNORED = """# Only what the Dockerfile copies is sent to the engine.
*
!entry.sh
!toolkit.sh
!profile.lock.json
!steps
!helpers
!system
"""


def render_around(image: Image) -> dict[str, str]:
    """Give all that an image's recipe copies, but for the helpers and the resolved profile."""
    found = {**render_scripts(image.plan), **_system(image), "entry.sh": render_entry(image)}
    kit = image.plan.target.toolkit
    return {**found, "toolkit.sh": _activation(image, kit)} if kit else found


def _system(image: Image) -> dict[str, str]:
    """Give the scripts for root, by side."""
    sides, manager, kit = image.sides, image.system.manager, image.plan.target.toolkit
    begin = KEEP_PACKAGES if manager == "apt" else ""
    texts = {
        "build": _begin_with(begin, _render(image, sides.build)),
        "runtime": f"{_render(image, sides.run)}{ADD_USER}",
    }
    parts = {"driver": sides.driver, "toolkit": sides.toolkit}
    texts |= {name: _render(image, steps) for name, steps in parts.items() if steps}
    found = {
        f"system/{name}.sh": f"{_begin_with(REFRESH[manager], text)}{_clean(manager)}" for name, text in texts.items()
    }
    return {**found, "system/libraries.sh": LIBRARIES} if kit and kit.at_run_time else found


def _begin_with(line: str, script: str) -> str:
    """Put a line before the first step of a script."""
    head, gap, steps = script.partition("\n\n")
    return f"{head}\n{line}{gap[1:]}{steps}"


def _render(image: Image, steps: tuple[Step, ...]) -> str:
    return render_system(steps, f"an image of {image.system.name} for {image.profile.name}")


def _clean(manager: Manager) -> str:
    return "".join(CLEAN.format(folder) for folder in CACHES[manager])


def _activation(image: Image, kit: Toolkit) -> str:
    target = image.plan.target
    return ACTIVATION.format(body=render_activation(kit), cc=render_word(target.cc), cxx=render_word(target.cxx))


def render_entry(image: Image) -> str:
    """Give the script that an image begins with."""
    compiles = image.order.target == "devel" and image.plan.target.toolkit is not None
    return ENTRY.format(
        proof=describe_proof(image.plan.target.accelerator),
        prefix=PREFIX,
        options=render_command((*verify_options(image.plan.target), "--level", image.profile.verify_level)),
        more=TOOLKIT_SAYS if compiles else "",
        cases=TOOLKIT_CASE if compiles else "",
    )
