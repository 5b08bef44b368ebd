"""The one rendering of how a toolkit is switched on; step scripts and the capture of its variables share it."""

from xpusetup.base.model import Toolkit
from xpusetup.base.text import bash_sentence, render_word

LEFT_BY_ENVIRONMENT = (
    "LD_LIBRARY_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH "
    "NLSPATH FI_PROVIDER_PATH OCL_ICD_FILENAMES CLASSPATH *ROOT *_DIR SYCL_* I_MPI_*"
)
"""What passes into a clean environment where the toolkit is the caller's environment as it is."""


ABSENT = (
    '  [ -f "$script" ] || fail "the toolkit has no $script"'
    ' "install the part of the toolkit that brings it, or choose another toolkit: [toolkit] in the site file" 3'
)
"""Without it `source` says one line, the step goes on, and CMake leaves out what the script would have shown it."""


def render_activation(toolkit: Toolkit) -> str:
    """Give the lines that switch the toolkit on, in a shell of which nothing is left to chance.

    Intel's setvars.sh parses the caller's arguments, reads unset variables and ends a shell under `set -e`
    (seen with 2022's): so no arguments, neither flag, and then a look at what it set.
    """
    sourced = [f"source {render_word(script)}" for script in toolkit.scripts]
    body = ["set +eu", "set --", *toolkit.prelude, *sourced, "set -eu"] if toolkit.prelude or sourced else []
    there = [f"for script in {' '.join(map(render_word, toolkit.scripts))}; do", ABSENT, "done"] if sourced else []
    return "\n".join([*there, *body, *_checks(toolkit)])


def render_first(scripts: tuple[str, ...]) -> str:
    """Give the lines that source the first of these scripts that is there, in a shell as above.

    Where none is, the device's software is not here, and so there is no device to work with.
    """
    tests = [f"if [ -f {render_word(script)} ]; then source {render_word(script)}" for script in scripts]
    return (
        "\n".join(["set +eu", "set --", *"\nel".join(tests).splitlines(), *_without(scripts), "fi", "set -eu"])
        if tests
        else ""
    )


def _without(scripts: tuple[str, ...]) -> tuple[str, str]:
    fix = "install the device's software, or name its script in a device file"
    return "else", f'  fail {bash_sentence(f"there is no {scripts[0]}")} "{fix}" 4'


def _checks(toolkit: Toolkit) -> list[str]:
    on_path = toolkit.provider == "scripts" and not (toolkit.scripts or toolkit.prelude)
    fix = "put it on PATH, or name its folder: [toolkit] root" if on_path else "run it by hand and read what it says"
    lines = [f'[ -n "${{{each}-}}" ] || fail "the toolkit did not set {each}" "{fix}" 3' for each in toolkit.sets]
    name = toolkit.compiler.rsplit("/", 1)[-1]
    compiler = render_word(name)
    there = f'command -v {compiler} >/dev/null || fail {bash_sentence(f"the toolkit has no {name}")} "{fix}" 3'
    return [*lines, there, *(() if toolkit.made else _version_check(compiler, toolkit.version))]


def _version_check(compiler: str, version: str) -> list[str]:
    """Hold what was switched on against what was chosen: setvars.sh takes the newest of several."""
    if not version:
        return []
    other = bash_sentence(f"the toolkit that was switched on is not {version}")
    wrong = f'fail {other} "choose another one: [toolkit] in the site file" 3'
    return [f"{compiler} --version | grep -qF -- {render_word(version)} || {wrong}"]
