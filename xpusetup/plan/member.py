"""Steps of a stack's members: the wheel is held against torch before it is installed, and proved afterwards."""

import json
from collections.abc import Iterator, Sequence

from xpusetup.base.document import to_table
from xpusetup.base.model import Step
from xpusetup.config.member import Loosened, Membership
from xpusetup.config.profile import SourceComponent, WheelComponent
from xpusetup.plan.context import Context


def fits_step(name: str) -> str:
    return f"{name}.fits"


def interface_step(name: str) -> str:
    """Give the id of the step that looks at what a member sees of torch. Keys know the ending (run/keys.py)."""
    return f"{name}.interface"


def looks(part: SourceComponent) -> bool:
    """Say whether a member's build follows from what it uses of torch, and not from the torch that is installed."""
    return part.member is not None and part.member.binds != "torch-exact" and "torch" in part.after


OF_TORCH = ("torch.install", "torch.ready", "runtime")
"""The steps that have torch ready."""


def make_interface(context: Context, part: SourceComponent, about: Membership, after: Sequence[str]) -> Step:
    """Give the step after which a member is built: its result changes with what the member uses of torch alone."""
    result = f"{context.layout.results}/{part.name}.interface.json"
    return Step(
        id=interface_step(part.name),
        title=f"what {part.distribution} uses of torch",
        run=(context.helper("torch_interface.py", "look", *_seen(context, part, about), "--out", result),),
        after=tuple(after),
        locks=("venv",),
        makes=(result,),
        component=part.name,
    )


def record_interface(context: Context, part: SourceComponent, tree: str) -> tuple[tuple[str, ...], ...]:
    """Give what writes down after a build what of torch it used."""
    if part.member is None or not looks(part):
        return ()
    options = (*_seen(context, part, part.member), "--tree", tree, *context.choice(part))
    return (context.helper("torch_interface.py", "record", *options),)


def _seen(context: Context, part: SourceComponent, about: Membership) -> tuple[str, ...]:
    left = (word for name in about.version_headers for word in ("--leave-out", name))
    lines = (f"--leave-lines={name}:{word}" for name, words in about.version_lines.items() for word in words)
    return ("--used", f"{context.layout.results}/{part.name}.used.json", *left, *lines)


def make_fits(
    context: Context, part: SourceComponent | WheelComponent, after: tuple[str, ...], *, folder: str = ""
) -> Iterator[Step]:
    """Give the step that proves from a member's wheel that torch has all that it asks for; `folder`: where it lies."""
    about = part.member
    if about is None:
        return
    result = f"{context.layout.results}/{part.name}.fits.json"
    other = _otherwise(part, about)
    options = (
        *context.choice(part, folder),
        *("--member", part.name, "--binds", about.binds),
        *(("--otherwise", other) if other else ()),
        *("--out", result),
    )
    yield Step(
        id=fits_step(part.name),
        title=f"does {part.distribution} fit this torch",
        run=(context.helper("prove_member.py", "fits", *options),),
        after=after,
        locks=("venv",),
        makes=(result,),
        component=part.name,
    )


def _otherwise(part: SourceComponent | WheelComponent, about: Membership) -> str:
    """Say how the member can be had in place of this wheel."""
    if part.kind == "wheel" and any(each.how == "source" for each in about.candidates):
        return f"build it: the same command with --take {part.name}=source"
    return f"leave it out: the same command with --take {part.name}=skip"


def make_proof(context: Context, part: SourceComponent | WheelComponent, after: Sequence[str]) -> Iterator[Step]:
    """Give the step that imports a member, looks for its operators and computes what is known."""
    if part.member is None or part.member.proof is None:
        return
    result = f"{context.layout.results}/{part.name}.proof.json"
    proof = to_table(part.member.proof)
    options = (
        *("--member", part.name, "--distribution", part.distribution),
        *("--had", "built" if part.kind == "source" else "installed"),
        f"--proof={json.dumps(proof, sort_keys=True)}",
        *("--device", context.target.accelerator, "--out", result),
    )
    yield Step(
        id=f"{part.name}.proof",
        title=f"{part.distribution} imports{' and gives the known answer' if part.member.proof.call else ''}",
        run=(context.helper("prove_member.py", "works", *options),),
        after=tuple(dict.fromkeys(after)),
        makes=(result,),
        component=part.name,
    )


def loosening(changes: Sequence[Loosened]) -> tuple[str, ...]:
    """Give the options that loosen a source's own pins; they stand in the script, and so in the key."""
    return tuple(f"--loosen={json.dumps([each.file, each.line, each.to])}" for each in changes)
