#!/usr/bin/env bash
# Guess: pyzes, which torch's XPU wheels require since 2.13, finds the Level Zero loader as every program does, by the dynamic linker.
# Seen: it opens one absolute path of Debian's, and nothing else. On a system of another layout `import pyzes` is an OSError although
#   the loader is installed and the linker finds it.
# Why it matters: torch counts XPU devices with it before XPU is initialised. On Fedora, RHEL, SUSE, Arch and in conda the loader lies
#   elsewhere, and advice to install the loader does not help.
# Seen with: pyzes 0.1.3, Python 3.11, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install --no-deps pyzes==0.1.3 2>/dev/null
cat >"$work/look.py" <<'END'
import ctypes, sys

asked, real = [], ctypes.CDLL.__init__

def watch(self, name=None, *rest, **words):
    asked.append(name)
    raise OSError(f"{name}: not on this system")

ctypes.CDLL.__init__ = watch
try:
    import pyzes
except OSError as error:
    print("import pyzes:", error)
print("opened:", asked)
sys.exit(0 if asked == ["/usr/lib/x86_64-linux-gnu/libze_loader.so.1"] else "changed: it looks elsewhere too")
END
"$work/env/bin/python" "$work/look.py"
