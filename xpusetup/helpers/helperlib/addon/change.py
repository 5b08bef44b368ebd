"""The tree of torch-xpu-ops as it is compiled: a copy in which every file that is the same stays as it was.

So a source is compiled again where its bytes changed, whichever tree they come from; and a change that needs more than
the sources which a build has is refused before the copy is touched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helperlib.addon.generate import is_generated
from helperlib.addon.installed import AddonError
from helperlib.addon.operators import kernel_sources
from helperlib.output import count

if TYPE_CHECKING:
    from helperlib.addon.installed import BaseTorch
    from helperlib.addon.operators import Choice
    from helperlib.addon.source import Trees

RULES = ("cmake", "tools", "CMakeLists.txt")
PARTS = ("src", "yaml", *RULES)
"""What of the tree decides a build; the rest is tests and what people read."""
DONE = re.compile(r"\[\d+/\d+\] (\S+)")
SHOWN = 4


class Copy(NamedTuple):
    """The copy of a tree, and what the tree has another way, by name."""

    folder: Path
    tree: Path
    changed: list[str]

    def places(self, paths: list[Path]) -> list[Path]:
        """Give where files of the tree lie in the copy."""
        return [self.folder / path.relative_to(self.tree) for path in paths]

    def sync(self) -> None:
        """Make the copy as the tree is."""
        for name in self.changed:
            source, out = self.tree / name, self.folder / name
            out.unlink(missing_ok=True)
            if source.is_file():
                out.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, out)


def compare(tree: Path, folder: Path) -> Copy:
    """Compare a tree with its copy."""
    names = _files(tree) | _files(folder)
    return Copy(folder, tree, sorted(name for name in names if _read(tree / name) != _read(folder / name)))


def _files(tree: Path) -> set[str]:
    found = (path for part in PARTS for path in (tree / part, *(tree / part).rglob("*")) if path.is_file())
    return {str(path.relative_to(tree)) for path in found}


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def refuse(copy: Copy, trees: Trees, torch: BaseTorch, choice: Choice) -> None:
    """Raise AddonError where what has changed needs more than the sources of a build compiled again.

    `trees` and `choice` are those of the tree that is tried.
    """
    work = copy.folder.parent
    whole = "it needs the whole build: xpusetup build with --source torch-xpu-ops=DIR"
    if not (copy.folder.is_dir() and (work / "build.ninja").is_file()):
        raise AddonError("XPU was not built here yet, so that no change of it can be tried", "build it first")
    if rules := [name for name in copy.changed if name.startswith(RULES)]:
        raise AddonError(f"the change is one of how it is built: {_list(rules)}", "nothing here reads these files")
    if not is_generated(work, trees, torch, choice):
        raise AddonError("the change is one of the operators that XPU has, which are generated", whole)
    sources = {*choice.kernels, *choice.hosts, *(trees.ops / "src/ATen/xpu").glob("*.cpp")}
    compiled = {str(path.relative_to(trees.ops)) for path in sources}
    lacking = [name for name in copy.changed if name.endswith(".cpp") and name not in compiled]
    if lacking:
        why = f"the change needs {_list(lacking)}, which this build does not have"
    elif not copy.changed or compiled & set(copy.changed) or _included(work, copy):
        return
    else:
        why, lacking = f"nothing that is compiled here includes {_list(copy.changed)}", _including(copy)
    known = {str(path.relative_to(copy.tree)): stem for stem, path in kernel_sources(copy.tree).items()}
    kernels = [known[name] for name in lacking if name in known]
    more = f"build with more kernels first: --set xpu.SOURCES=SOURCES,{','.join(kernels)}"
    raise AddonError(why, more if kernels and len(kernels) == len(lacking) else whole)


def _list(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {count(more, 'more file')}" if more > 0 else "")


def _included(work: Path, copy: Copy) -> bool:
    """Say whether a source that was compiled includes one of the changed files."""
    done = subprocess.run(("ninja", "-C", str(work), "-t", "deps"), capture_output=True, text=True, check=False)
    there = {line.strip() for line in done.stdout.splitlines()}
    return any(str(copy.folder / name) in there for name in copy.changed)


def _including(copy: Copy) -> list[str]:
    """Give the sources with kernels that include one of the changed files themselves."""
    names = tuple(f"/{Path(name).name}>" for name in copy.changed)
    texts = {path: path.read_text(encoding="utf-8") for path in kernel_sources(copy.tree).values()}
    return [str(path.relative_to(copy.tree)) for path, text in texts.items() if any(name in text for name in names)]


def run_ninja(command: tuple[str, ...], copy: Copy) -> tuple[int, list[str]]:
    """Run ninja, and say what it says with the names of the user's tree; gives its exit code, and what was compiled."""
    compiled: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as child:
        for line in child.stdout or ():
            told = line.replace(str(copy.folder), str(copy.tree))
            print(told, end="", flush=True)
            if match := DONE.match(told):
                compiled.append(match[1])
    return child.returncode, compiled
