"""report: what the hours of a build went into, as one HTML page and as a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xpusetup.base.document import fields_of
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import ROOT, Layout
from xpusetup.base.text import hide_all
from xpusetup.commands.result import Result
from xpusetup.plan.compile import SYCL_LOG
from xpusetup.report.contents import BuildReport, Edge, Material, make_page, make_report, parse_ninja_log, parse_spans
from xpusetup.report.passes import parse_passes
from xpusetup.run.journal import read_records
from xpusetup.run.manifest import read_manifest, read_standing, read_verified
from xpusetup.run.root import Root, read_build_path, read_lock
from xpusetup.run.step_process import read_samples
from xpusetup.run.workspace import Where, open_built
from xpusetup.system import files
from xpusetup.system.environment import open_page, short_path

TEMPLATE = "data/report.html.j2"
LOGS = (".ninja_log", "build/.ninja_log", "build/*/.ninja_log")
"""Where CMake's build folder lies, and that of setuptools, below the sources."""


@dataclass(frozen=True, kw_only=True)
class WrittenReport(BuildReport):
    """A report and the file of its page. `opened`: a browser shows it; None where none was asked for."""

    file: str
    opened: bool | None


def report(where: Where, *, out: str, show: bool) -> Result[WrittenReport]:
    """Write the page, and give what it shows. `show`: open it in a browser too."""
    workspace = open_built(where, half=True)
    root = Root(workspace.root)
    found = hide_all(read_report(root))
    if found is None:
        raise NotReadyError(f"nothing ran in {root.path} yet", command=workspace.command("build"))
    path = Path(out) if out else files.note_place(root / "report.html", "--out FILE")
    if path.is_dir():
        raise UsageError(f"{path} is a folder", fix=f"name a file: -o {path / 'report.html'}")
    files.write_text(path, make_page(found, files.package_text(TEMPLATE)))
    opened = open_page(path) if show else None
    return Result("report", WrittenReport(**fields_of(found), file=str(path.absolute()), opened=opened))


def read_report(root: Root) -> BuildReport | None:
    """Gather what lies in a root; None where no step ended in it yet."""
    spans = parse_spans(read_records(root))
    if not spans:
        return None
    manifest, samples = read_manifest(root), read_samples(root)
    wheels = [Path(wheel["path"]) for wheel in manifest.get("wheels", [])]
    manifest["verified"] = read_verified(root, read_standing(root), manifest)
    return make_report(
        Material(
            root=short_path(str(root.path)),
            manifest={"profile": (read_lock(root) or {}).get("profile", {}).get("name", ""), **manifest},
            spans=spans,
            edges=_read_edges(root, manifest.get("own", {})),
            memory=[(time, float(used)) for time, used, _ in samples],
            memory_total=samples[-1][2] if samples else None,
            passes=parse_passes(files.read_text(root / f"results/{SYCL_LOG}") or ""),
            sizes={str(path): path.stat().st_size for path in wheels if path.is_file()},
        )
    )


def _read_edges(root: Root, own: Mapping[str, Any]) -> dict[str, tuple[Edge, ...]]:
    """Give ninja's commands by the step that ran them; `own` are the trees of the user's own."""
    lock, compiled = read_lock(root) or {}, read_build_path(root)
    layout = Layout(**lock["layout"]) if "layout" in lock else Layout()
    src = Path(layout.src.replace(ROOT, str(root.path)))
    trees = {f"{tree.name}.build": tree for tree in (sorted(src.iterdir()) if src.is_dir() else ())}
    for name, one in own.items():
        trees[f"{name}.install" if one.get("editable") else f"{name}.build"] = Path(one["folder"])
    found: dict[str, tuple[Edge, ...]] = {}
    for step, tree in trees.items():
        logs = (files.read_text(path) or "" for name in LOGS for path in sorted(tree.glob(name)))
        texts = (text.replace(f"\t{compiled}/", f"\t{root.path}/") for text in logs)
        if edges := tuple(edge for text in texts for edge in parse_ninja_log(text)):
            found[step] = edges
    return found
