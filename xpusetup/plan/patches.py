"""The patches of a plan: those that a profile brings, then those that were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Patch, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xpusetup.profile import PatchFile, Profile

FOLDER = "helpers/patches"
"""Where patches lie below a root: with the helpers, so that they travel with every form."""


def patches_of(profile: Profile, request: Request) -> tuple[Patch, ...]:
    """Give the patches that are put on, in their order. A tree of the user's own has none, nor what lies in it."""
    own = [name for name, _folder in request.sources]
    return (*_of_profile(profile, own), *request.patches)


def left_out(profile: Profile, request: Request) -> tuple[str, ...]:
    """Say which patches of the profile are left out, because a tree of the user's own stands for what they patch."""
    every, put_on = patches_of(profile, Request()), patches_of(profile, request)
    return tuple(
        f"{patch.file} of {profile.name} is not put on {patch.source}: that is in a tree of your own"
        for patch in every
        if patch not in put_on
    )


def patch_texts(patches: Iterable[Patch]) -> dict[str, str]:
    """Give the files of patches, by name below a root."""
    return {f"{FOLDER}/{patch.name}": patch.text for patch in patches}


def _of_profile(profile: Profile, own: Iterable[str]) -> Iterator[Patch]:
    for part in profile.components:
        if part.kind != "source" or part.name in own:
            continue
        yield from _of(part.name, part.patches)
        for item in part.vendored:
            yield from _of(item.name, item.patches if item.name not in own else [])


def _of(source: str, patches: Iterable[PatchFile]) -> Iterator[Patch]:
    return (Patch(source=source, file=patch.file, text=patch.text) for patch in patches)
