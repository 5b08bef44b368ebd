"""Looks into a wheel, compares it with what was wanted of it, and writes both as one JSON document."""

from __future__ import annotations

import argparse
import platform
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summary import count, say_summary
from wheel_checks import CHECKS
from wheel_contents import Finding, NotAWheelError, Wanted, Wheel, hash_file, read_wheel
from wheel_files import find_wheel
from wheel_images import names_of
from wheel_libraries import arch_spellings
from wheel_python import find_opened
from wheel_runtime import wrong_names
from wheel_search import find_lost
from whole_file import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wheel_checks import Check
    from wheel_elf import Library


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--wheel", type=Path, help="the file")
    where.add_argument("--wheels", type=Path, metavar="DIR", help="the folder that holds it, and no other like it")
    parser.add_argument("--distribution")
    parser.add_argument("--version")
    parser.add_argument("--requires-xpu", action="store_true")
    parser.add_argument("--host-alone", action="store_true", help="it was built without a device compiler, on purpose")
    parser.add_argument("--abi", type=int, choices=(0, 1), help="C++ ABI, as _GLIBCXX_USE_CXX11_ABI")
    parser.add_argument("--arch", metavar="LIST", help="GPUs that it was built for, as TORCH_XPU_ARCH_LIST")
    parser.add_argument("--any-python", action="store_true", help="it may be for another interpreter than this one")
    parser.add_argument(
        "--forbid-prefix", nargs="+", action="extend", default=[], metavar="PATH", help="may not be named"
    )
    parser.add_argument("--build-folder", action="append", default=[], metavar="PATH", help="should not be named")
    parser.add_argument("--needed", nargs="+", action="extend", default=[], metavar="LIB", help="a name or pattern")
    parser.add_argument("--out", type=Path, help="where the JSON document goes")
    options = parser.parse_args(arguments)
    if options.wheels and not (options.distribution and options.version is not None):
        parser.error("--wheels needs --distribution and --version")
    if options.wheel and not options.wheel.is_file():
        parser.error(f"--wheel {options.wheel}: there is no such file")
    folders = [*options.forbid_prefix, *options.build_folder]
    if short := [path for path in folders if len(Path(path).parts) < 2]:  # noqa: PLR2004, / and a name
        parser.error(f"{short[0]!r} is not the whole path of a folder")
    return options


def make_wanted(options: argparse.Namespace) -> Wanted:
    return Wanted(
        distribution=options.distribution,
        version=options.version,
        xpu=options.requires_xpu,
        host_alone=options.host_alone,
        abi=options.abi,
        arch=options.arch,
        forbidden=spellings(options.forbid_prefix),
        build_folders=spellings(options.build_folder),
        interpreter=sysconfig.get_config_var("LIBDIR") or "",
        needed=tuple(options.needed),
        python=sys.version_info[:2],
        abi_flags="t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "",
        machine=platform.machine(),
        any_python=options.any_python,
    )


def spellings(paths: Sequence[str]) -> tuple[str, ...]:
    """Give folders as they were named and as a compiler may have seen them, behind symbolic links."""
    return tuple(dict.fromkeys(name for path in paths for name in (path.rstrip("/"), str(Path(path).resolve()))))


def inspect(path: Path, wanted: Wanted) -> dict[str, Any]:
    texts = (*wanted.folders, *(arch_spellings(wanted.arch) if wanted.arch else ()))
    try:
        wheel = read_wheel(path, texts)
    except NotAWheelError as error:
        return describe_broken(path, str(error))
    if any(find_lost(wheel)) or any(wrong_names(wheel)):
        wheel = replace(wheel, opened=find_opened(path))
    checks = [make_row(check, check.run(wheel, wanted)) for check in CHECKS]
    return {"wheel": str(path), **describe(wheel), "checks": checks, "ok": is_ok(checks)}


def make_row(check: Check, finding: Finding) -> dict[str, Any]:
    told = finding.level in {"warn", "fail"}
    words = {"why": check.why if told else "", "fix": check.fix if told else ""}
    return {"id": check.id, "title": check.title, **finding._asdict(), **words, "seconds": None, "caused_by": None}


def is_ok(checks: list[dict[str, Any]]) -> bool:
    return not any(check["level"] in {"fail", "crash"} for check in checks)


def describe(wheel: Wheel) -> dict[str, Any]:
    rows = [describe_library(one) for one in wheel.libraries]
    return {
        "name": wheel.name,
        "version": wheel.version,
        "sha256": wheel.sha256,
        "size": wheel.size,
        "tags": wheel.tags,
        "requires": wheel.requires,
        "libraries": rows,
    }


def describe_library(one: Library) -> dict[str, Any]:
    return {
        "path": one.path,
        "size": one.size,
        "soname": one.soname,
        "needed": one.needed,
        "rpath": one.runpath or one.rpath,
        "targets": names_of(one.targets.versions),
    }


def summarise(document: dict[str, Any]) -> tuple[str, str]:
    bad = [check for check in document["checks"] if check["level"] in {"fail", "crash"}]
    checks = count(len(document["checks"]), "check")
    return count(len(document["libraries"]), "library"), f"{len(bad)} of {checks} failed" if bad else checks


def describe_broken(path: Path, reason: str) -> dict[str, Any]:
    checks = [make_row(CHECKS[0], Finding("fail", reason))]
    nothing = {"name": None, "version": None, "sha256": hash_file(path), "size": path.stat().st_size}
    return {"wheel": str(path), **nothing, "tags": [], "requires": [], "libraries": [], "checks": checks, "ok": False}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    path = options.wheel or find_wheel(options.wheels, options.distribution, options.version)
    document = inspect(path, make_wanted(options))
    for check in document["checks"]:
        print(
            f"{check['level']:5} {check['title']}: {check['seen'][:200]}".encode("ascii", "backslashreplace").decode()
        )
    if options.out:
        write_json(options.out, document)
    say_summary(*summarise(document))
    return 0 if document["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
