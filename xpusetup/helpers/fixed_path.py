"""Lets a command see its root at one fixed path, so that it compiles the same bytes wherever the root lies.

Usage: python fixed_path.py ROOT PATH TOOL COMMAND...   (from step.sh, for steps that compile; TOOL may be empty)

PATH becomes a bind mount of ROOT, in a mount namespace that the command alone lives in; who is not root enters a user
namespace for it, in which everybody stays who they are. The process stays the same one, so that locks, signals and exit
codes are those of the command. Where it cannot be, the command sees ROOT where it lies, and it is said why.

ROOT/build-path keeps which of the two it was: what was compiled at one path is not gone on with at the other.
XPUSETUP_BUILD_PATH=real asks for the real path. The command is told by XPUSETUP_SEEN_AT where it sees its root.
"""

import errno
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import NoReturn

from helperlib.namespaces import NEW_MOUNTS, become, bind, keep_mounts, unmount, unshare
from helperlib.output import NOT_READY, fail, write_text

VARIABLE, SEEN_AT = "XPUSETUP_BUILD_PATH", "XPUSETUP_SEEN_AT"
KEPT = "build-path"
LONGEST = 1000
FOLDERS = ("HOME", "TMPDIR", "CCACHE_DIR", "CCACHE_CONFIGPATH", "CCACHE_TEMPDIR")
"""Variables that name what a compile reads and writes beside its root."""


def main() -> None:
    root, path, tool, *command = sys.argv[1:]
    os.environ[SEEN_AT] = root
    before = read_kept(root)
    if why := why_real():
        if before != root:
            tell(root, path, why)
        keep(root, root)
    elif root != path and before in ("", path):
        why = why_not(root, path, tool)
        if why and before:
            fail(
                f"{root} was compiled as {path}, which it cannot be now: {why}",
                f"go on where it began; or compile anew at its real path, this one time with: export {VARIABLE}=real",
                NOT_READY,
            )
        if not before:
            keep(root, root if why else path)
            tell(root, path, why)
        if not why:
            enter(root, path)
            os.environ[SEEN_AT] = path
    os.execvp(command[0], command)  # noqa: S606 - the script of a step


def why_real() -> str:
    """Say why the caller wants the real path, whatever was before; empty where nobody does."""
    if os.environ.pop(VARIABLE, "") == "real":
        return f"{VARIABLE} asks for that"
    if os.path.basename(os.environ.get("COMPILER_LAUNCHER", "")) == "sccache":  # noqa: PTH119 - a word, no path
        return "sccache compiles in a server of its own, which does not see it"
    return ""


def read_kept(root: str) -> str:
    """Give the path at which this root has compiled so far; empty where it has not."""
    kept = Path(root, KEPT)
    return kept.read_text().strip() if kept.is_file() else ""


def keep(root: str, path: str) -> None:
    """Write down the path at which this root compiles."""
    if read_kept(root) == path:
        return
    try:
        write_text(Path(root, KEPT), f"{path}\n")
    except OSError as error:
        fail(f"{root}/{KEPT} cannot be written: {error.strerror}", f"df -h {shlex.quote(root)}", NOT_READY)


def tell(root: str, path: str, why: str) -> None:
    """Say once for a root what becomes of its path, and what it costs where that is its own."""
    if why:
        print(
            f"note: it compiles at its real path, not at {path}: {why}. So the same build in another folder gives"
            " other bytes where a compiler keeps its flags, and a compiler cache finds less",
            flush=True,
        )
    else:
        print(f"{root} compiles as {path}, a bind mount that nobody else sees", flush=True)


def why_not(root: str, path: str, tool: str) -> str:
    """Say why a root cannot be seen at a path; empty where it can."""
    return why_not_place(path) or why_not_free(root, path, tool) or why_not_mount(root, path)


def why_not_place(path: str) -> str:
    """Say why a folder is none to mount on: whoever else may remove it could put another one in its place."""
    try:
        seen = Path(path).lstat()
    except OSError as error:
        return f"{path}: {error.strerror}"
    if not stat.S_ISDIR(seen.st_mode):
        return f"{path} is no folder"
    if seen.st_uid != Path("/usr").stat().st_uid or seen.st_mode & stat.S_IWOTH:
        return f"others than root may change {path}"
    return ""


def why_not_free(root: str, path: str, tool: str) -> str:
    """Say what a compile reads or writes that the mount would hide."""
    folders = [root, sys.base_prefix, tool, *(os.environ.get(name, "") for name in FOLDERS)]
    folders += os.environ.get("PATH", "").split(":")
    for folder in filter(None, folders):
        if any(f"{name}/".startswith(f"{path}/") for name in (folder, os.path.realpath(folder))):
            return f"{folder} lies in it"
    return ""


def why_not_mount(root: str, path: str) -> str:
    """Try it in a process of its own: one that cannot mount in a namespace cannot leave it again either.

    It waits until we have looked whether its mount is seen here too.
    """
    (told, tell), (asked, ask) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ask)
        _try(root, path, tell, asked)
    os.close(tell)
    os.close(asked)
    said = os.read(told, LONGEST).decode()
    seen = not said.strip() and Path(path).samefile(root)
    os.close(ask)
    os.waitpid(child, 0)
    os.close(told)
    return "others here would see the mount" if seen else said.strip()


def _try(root: str, path: str, tell: int, asked: int) -> NoReturn:
    """Enter, say how that went, and leave nothing mounted once nobody asks any more."""
    said = " "
    try:
        enter(root, path)
    except OSError as error:
        said = f"this machine does not allow it ({error.strerror})"
    os.write(tell, said.encode())
    if said == " ":
        os.read(asked, 1)
        unmount(path)
    os._exit(0)


def enter(root: str, path: str) -> None:
    """Move into namespaces of our own and mount the root there. Raises OSError."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        unshare(NEW_MOUNTS)  # in a user namespace root would lose the files of others
    else:
        become(user, group, NEW_MOUNTS)
    try:
        keep_mounts()
    except OSError as error:
        if error.errno != errno.EINVAL:  # the root of a chroot is no mount: who sees what was settled outside
            raise
    bind(root, path)


if __name__ == "__main__":
    main()
