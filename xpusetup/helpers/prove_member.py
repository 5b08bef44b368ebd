"""Proves a member of a stack: `fits` that its wheel fits the torch of this environment, `works` what was installed.

Before it is installed nothing is loaded: what inspect_fit.py reads is judged without doubt in its favour, so that of
each group of libraries one finds all that it asks for. Afterwards it is imported, its operators have to be registered,
and a call gives its known answer. The description is data (config/member.py): modules, operators as namespace::name,
the dotted name of a function. What nobody could prove here is said so: *built, not verified*.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from helperlib.elf.loader import FileReader
from helperlib.env.distributions import canonical, find_wheel, installed
from helperlib.output import count, fail, say_summary, words_of, write_json
from inspect_fit import examine, find_torch, parse_arguments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fits", "works"))
    parser.add_argument("--member", required=True)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--wheels", type=Path, help="fits: where the wheel lies")
    parser.add_argument("--version", default="")
    parser.add_argument("--binds", default="none")
    parser.add_argument("--otherwise", default="", help="how the member can be had else")
    parser.add_argument("--proof", type=json.loads, default={}, metavar="JSON", help="works: what is to be seen")
    parser.add_argument("--had", default="built", choices=("built", "installed"), help="how it came here")
    parser.add_argument("--device", default="cpu", help="where the call computes")
    options = parser.parse_args()
    {"fits": prove_fit, "works": prove_work}[options.what](options)


# Before it is installed: the wheel's files against torch's.


LOOSE = ("none", "triton", "sycl-major")
"""Bindings by which a member asks nothing of torch itself."""
FORMS = ("torch", "triton")
SHOWN = 3


def prove_fit(options: argparse.Namespace) -> None:
    """Judge the wheel, say why, and end with 1 where it is not proven to fit."""
    wheel = find_wheel(options.wheels, options.distribution, options.version)
    asked, disk = parse_arguments([str(wheel), "--prefix", sys.prefix]), FileReader("")
    torch = find_torch(asked, disk)
    if not torch.paths:
        fail(f"there is no torch in {sys.prefix}", "install it: the same command goes on there")
    seen = examine(wheel, torch, disk, asked)
    against = why_not(seen, options.binds)
    write_json(options.out, {"wheel": wheel.name, "fits": not against, "reason": against, "asks": asks(seen)})
    if against:
        fail(f"{wheel.name} is not proven to fit: {against}", options.otherwise or "leave it out of the stack")
    names = sum(one["torch"] + one["stable"] for one in seen["libraries"])
    needs = f"{count(names, 'name')} of torch" if names else "asks nothing of torch"
    say_summary("fits", needs if seen["compiled"] else "Python alone")


def asks(seen: dict[str, Any]) -> str:
    """Say to what of torch the libraries of a wheel are bound."""
    if any(one["torch"] for one in seen["libraries"]):
        return "torch-minor"
    return "torch-stable" if any(one["stable"] for one in seen["libraries"]) else "none"


def why_not(seen: dict[str, Any], binds: str) -> str:
    """Give the first thing that stands against a wheel; empty where nothing does."""
    if seen["troubles"]:
        return f"a library cannot be read: {seen['troubles'][0]}"
    owners = [name for name in seen["overwrites"] if name.partition(" ")[0].lower() in FORMS]
    if owners:
        return f"it would overwrite files of {', '.join(owners)}"
    asked = asks(seen)
    if (binds in LOOSE and asked != "none") or (binds == "torch-stable" and asked == "torch-minor"):
        return f"the stack says that it binds {binds}, and its libraries ask for {asked}"
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in seen["libraries"]:
        groups.setdefault(one["group"], []).append(one)
    loads = any(not one["problems"] for one in seen["libraries"])
    for those in groups.values():
        left_over = loads and all(one["foreign"] for one in those)
        if not left_over and all(one["problems"] for one in those):
            return describe(min(those, key=lambda one: len(one["problems"]))["problems"][0])
    return ""


def describe(problem: dict[str, Any]) -> str:
    """Say a problem in one line."""
    names = ", ".join(problem["names"][:SHOWN])
    more = f" and {problem['count'] - SHOWN} more" if problem["count"] > SHOWN else ""
    return f"{Path(problem['library']).name} needs {names}{more} ({problem['kind']})"


# Afterwards: what was installed.


def prove_work(options: argparse.Namespace) -> None:
    """Prove it step by step, and write down how far that came."""
    proof = options.proof
    lacking = list(unmet(options.distribution))
    found: dict[str, Any] = {"imports": [], "operators": [], "answer": None}
    found |= {"requires": lacking, "proven": None, "why": ""}
    if lacking:
        end(options, found, f"what it requires is not here: {'; '.join(lacking)}")
    for name in proof["imports"]:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - an extension may raise anything
            end(options, found, f"import {name}: {words_of(error)}")
        found["imports"].append(name)
    for name in proof["operators"]:
        import torch  # noqa: PLC0415 - what is proved may need none

        space, _, operator = name.partition("::")
        if not hasattr(getattr(torch.ops, space), operator):
            end(options, found, f"torch has no operator {name} after the import")
        found["operators"].append(name)
    if proof["call"] is None:
        found["why"] = "no call with a known answer is given"
    elif not has_device(options.device):
        found["why"] = f"there is no {options.device} here"
    else:
        compute(options, found)
    write_json(options.out, found)
    operators = f"{count(len(found['operators']), 'operator')} registered" if found["operators"] else ""
    number = f"gives {found['answer']}" if found["proven"] else f"{options.had}, not verified: {found['why']}"
    say_summary("imports", operators, number)


def end(options: argparse.Namespace, found: dict[str, Any], why: str) -> None:
    failed = options.out.with_suffix(".failed.json")
    write_json(failed, {**found, "proven": False, "why": why})
    fail(f"{options.member} is {options.had} and not right: {why}", f"look at {failed}")


def unmet(distribution: str) -> Iterable[str]:
    """Name what a distribution requires of this environment, and does not find there."""
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - where it is asked

    there = installed()
    for text in there[canonical(distribution)].requires if canonical(distribution) in there else ():
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            continue
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        found = there.get(canonical(wanted.name))
        if found is None or not wanted.specifier.contains(found.version, prereleases=True):
            yield f"{text} ({found.version if found else 'none'} is here)"


def has_device(device: str) -> bool:
    """Say whether torch can compute there."""
    import torch  # noqa: PLC0415 - what is proved may need none

    module = getattr(torch, device, None)
    return device == "cpu" or bool(module is not None and module.is_available())


def compute(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Call what is to be called, and hold its first result against the answer."""
    proof = options.proof
    try:
        arguments = [as_value(each, options.device) for each in proof["arguments"]]
        named = {name: as_value(each, options.device) for name, each in proof["options"].items()}
        given = as_plain(find_function(proof["call"])(*arguments, **named))
    except Exception as error:  # noqa: BLE001 - an extension may raise anything
        end(options, found, f"{proof['call']}: {words_of(error)}")
    if not is_near(given, proof["gives"], proof["within"]):
        end(options, found, f"{proof['call']} gives {given}, and {proof['gives']} is right")
    found["answer"], found["proven"] = given, True


def find_function(name: str) -> Any:
    """Give what a dotted name means: as much of it as is a module is imported."""
    words = name.split(".")
    for count_of in range(len(words) - 1, 0, -1):
        try:
            here: Any = importlib.import_module(".".join(words[:count_of]))
        except ModuleNotFoundError:
            continue
        for word in words[count_of:]:
            here = getattr(here, word)
        return here
    raise ModuleNotFoundError(name)


def as_value(given: Any, device: str) -> Any:
    """Make tensors of lists of numbers; all else stays as it is."""
    if not isinstance(given, list) or not holds_numbers(given):
        return given
    import torch  # noqa: PLC0415 - what is proved may need none

    found = torch.tensor(given, device=device)
    return found.float() if found.is_floating_point() else found


def holds_numbers(given: Any) -> bool:
    return all(map(holds_numbers, given)) if isinstance(given, list) else isinstance(given, int | float)


def as_plain(given: Any) -> Any:
    """Give a result as JSON can hold it: of several the first, tensors as lists."""
    if isinstance(given, tuple) and given:
        return as_plain(given[0])
    if hasattr(given, "tolist"):
        return given.detach().cpu().tolist() if hasattr(given, "detach") else given.tolist()
    return given


def is_near(given: Any, wanted: Any, within: float) -> bool:
    """Hold numbers against numbers, in lists as deep as the answer's."""
    if isinstance(wanted, list):
        same = isinstance(given, list) and len(given) == len(wanted)
        return same and all(is_near(*pair, within) for pair in zip(given, wanted, strict=True))
    if isinstance(wanted, bool | str) or isinstance(given, bool | str):
        return type(given) is type(wanted) and bool(given == wanted)
    return isinstance(given, int | float) and abs(given - wanted) <= within * max(1.0, abs(wanted))


if __name__ == "__main__":
    main()
