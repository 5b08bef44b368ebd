"""Lets an environment of our own be moved, and be read-only afterwards: nothing in it says where it was made.

pip writes the interpreter's place into the first line of every console script, venv writes its own into `activate`.
Both get to compute it. Everything else in an environment is relative already. An environment that someone else made is
left alone. pip's RECORD still has the hashes of what pip wrote: neither `pip check` nor an uninstall looks at those.
"""

import re
import sys
from pathlib import Path

from helperlib.output import whole

MARK = ".xpusetup"
"""The file that says whose environment it is."""
SCRIPT = b"""#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")"/%s%s "$0" "$@"
' '''
"""
COMPUTED = "# The place of this file is computed, so that the environment can be moved.\n"
BASH = """_venv_file=
if [ -n "${{BASH_VERSION:-}}" ]; then
    _venv_file=${{BASH_SOURCE:-}}
elif [ -n "${{ZSH_VERSION:-}}" ]; then
    eval '_venv_file=${{(%):-%x}}'
fi
_venv_place='{place}'  # for shells that cannot say which file they read
if [ -n "$_venv_file" ]; then
    _venv_place=$(CDPATH='' cd -- "$(dirname -- "$_venv_file")/.." >/dev/null && pwd -P)
fi
if [ ! -x "$_venv_place/bin/python" ]; then
    echo "the environment is no longer at $_venv_place: activate it from bash, or put its bin on PATH" >&2
    unset _venv_file _venv_place
    return 1
fi
"""
BASH_END = "unset _venv_file _venv_place\n"
CSH = """set _venv_place="{place}"
set _venv_file=(`readlink -f /proc/$$/fd/* | grep /bin/activate.csh`)
if ($#_venv_file > 0) set _venv_place="$_venv_file[1]:h:h"
"""
CSH_END = "unset _venv_place _venv_file\n"
ACTIVATE = {
    "activate": ('"$_venv_place"', BASH, BASH_END),
    "activate.csh": ('"$_venv_place"', CSH, CSH_END),
    "activate.fish": ("(realpath (dirname (status filename))/..)", "", ""),
}
"""By file: what stands for the place, and the lines before and after that compute and forget it."""


def main() -> None:
    make_movable(Path(sys.prefix))


def make_movable(prefix: Path) -> None:
    """Let the environment compute its place; what does so already is left as it is."""
    if not (prefix / MARK).exists():
        return
    for path in sorted((prefix / "bin").iterdir()):
        if path.is_symlink() or not path.is_file():
            continue
        text = path.read_bytes()
        moved = activation(path.name, text, str(prefix)) if path.name in ACTIVATE else script(text, str(prefix))
        if moved != text:
            with whole(path) as draft:
                draft.write_bytes(moved)
                draft.chmod(path.stat().st_mode)


def script(text: bytes, place: str) -> bytes:
    """Give a console script with an interpreter that is found beside it; anything else as it is."""
    python = re.escape(place).encode() + rb"/bin/(python[\w.]*)"
    short = rb"\A#!" + python + rb"([^\n]*)\n"
    long = rb"\A#!/bin/sh\n'''exec' \"?" + python + rb"\"?([^\n]*?) \"\$0\" \"\$@\"\n' '''\n"
    found = re.match(short, text) or re.match(long, text)
    return SCRIPT % (found[1], found[2]) + text[found.end() :] if found else text


def activation(name: str, text: bytes, place: str) -> bytes:
    """Give a script of activation that computes its place."""
    there, before, after = ACTIVATE[name]
    if text.startswith(COMPUTED.encode()):
        return text
    quoted = re.compile("([\"']?)" + re.escape(place) + r"\1(?=[\s;)]|$)")
    body = quoted.sub(lambda _match: there, text.decode())
    return (COMPUTED + before.format(place=place) + body + after).encode()


if __name__ == "__main__":
    main()
