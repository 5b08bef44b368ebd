"""What every recipe looks at, the names that follow from it, and the patches of a plan."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from packaging.utils import canonicalize_name

from xpusetup.base.model import ROOT, Layout, Patch, Request, Target
from xpusetup.config.profile import BuildArchive, PatchFile, Profile, SourceComponent, WheelComponent, names_commit
from xpusetup.plan.requirements import ABOUT, requirement_options
from xpusetup.plan.requirements import FOLDER as REQUIREMENTS

# The patches of a plan: those that a profile brings, then those that were asked for.


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


OWN = "own"
"""Repository and tag of what the profile takes as a ready wheel and the user builds from a tree of their own."""
OF_PLAN = (ABOUT, f"{REQUIREMENTS}/", f"{FOLDER}/")
"""What lies among the helpers and is the plan's own: people read it, and layers of images follow from it."""


@dataclass(frozen=True)
class Context:
    """What every recipe looks at."""

    profile: Profile
    request: Request
    target: Target
    layout: Layout

    @property
    def prepared(self) -> str:
        """The step after which wheels can be fetched: where nothing is compiled there are no build requirements."""
        return "requirements" if self.profile.build_requirements.pins else "venv"

    @property
    def reports(self) -> str:
        """The folder of pip's reports: in the environment, because they end with it."""
        return f"{self.layout.venv}/share/xpusetup" if self.layout.adopted else self.layout.venv

    def pip(self, *arguments: str) -> tuple[str, ...]:
        return (self.layout.python, "-m", "pip", "--disable-pip-version-check", *arguments)

    def pinned(self, *purposes: str) -> tuple[str, ...]:
        """Give the options that name what of the profile is held to which hashes, and where those of first use lie."""
        return requirement_options(self.profile, *purposes)

    def movable(self) -> tuple[tuple[str, ...], ...]:
        """Give what follows an installation into an environment of our own, so that it can be moved."""
        return () if self.layout.adopted else (self.helper("make_movable.py"),)

    def helper(self, name: str, *arguments: str) -> tuple[str, ...]:
        return (self.layout.python, f"{self.layout.helpers}/{name}", *arguments)

    def own(self, name: str) -> str:
        """Give the folder of the user's own that stands for a source; empty where it is fetched."""
        return dict(self.request.sources).get(name, "")

    def tree(self, part: SourceComponent) -> str:
        return self.own(part.name) or self.beside(part)

    def source_date_from(self, part: SourceComponent) -> str:
        """Give what dates a component's build: its git tree, or the file with the date of an unpacked archive."""
        return self.date_file(part) if part.name in self.request.archives else self.tree(part)

    def date_file(self, part: SourceComponent) -> str:
        """Give the file in which the date of an unpacked archive stands."""
        return f"{self.layout.results}/{part.name}.source.date"

    def beside(self, part: SourceComponent) -> str:
        """Give what the folders begin with that are made beside a component's source."""
        return f"{self.layout.src}/{part.name}"

    def archives(self, part: SourceComponent) -> dict[str, BuildArchive]:
        """Give the archives that a component's build takes by the folders that they become; none that a user has."""
        told = {key for name, key, _value in self.request.set if name == part.name}
        return {f"{self.beside(part)}.{each.name}": each for each in part.archives if each.variable not in told}

    def protected_trees(self, part: SourceComponent) -> tuple[str, ...]:
        """Give the folders of the user's own that a component's build works in."""
        names = (part.name, *(item.name for item in part.vendored))
        return tuple(folder for name in names if (folder := self.own(name)))

    def patch_files(self, name: str) -> tuple[str, ...]:
        """Give the patches of a source, in their order."""
        return self._patches.get(name, ())

    @cached_property
    def _patches(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for patch in patches_of(self.profile, self.request):
            found[patch.source] = (*found.get(patch.source, ()), f"{ROOT}/{FOLDER}/{patch.name}")
        return found

    @cached_property
    def _published(self) -> frozenset[str]:
        return frozenset(part.name for part in self.profile.components if part.kind == "wheel")

    def version(self, part: SourceComponent | WheelComponent) -> str:
        """Give the version that a component's wheel has to have; empty where a tree that no profile pins decides."""
        decides = part.name in self._published or names_commit(part.version)
        return "" if decides and self.own(part.name) else part.version

    def wheel(self, part: SourceComponent | WheelComponent) -> str:
        """Give the pattern that a component's wheel matches, and it alone."""
        return f"{self.layout.wheels}/{file_name(part.distribution)}-{self.version(part) or '*'}-*.whl"

    def choice(self, part: SourceComponent | WheelComponent, folder: str = "") -> tuple[str, ...]:
        """Give the options that name a component's wheel to a helper; `folder`: where it lies, if not as usual."""
        named = ("--distribution", part.distribution, "--version", self.version(part))
        return ("--wheels", folder or self.layout.wheels, *named)

    def installed(self, part: SourceComponent | WheelComponent) -> str:
        """Give the file that lists what the installed component holds."""
        return self.record(part.distribution, self.version(part) or "*")

    def record(self, distribution: str, version: str = "*") -> str:
        """Give the file that lists what an installed distribution holds."""
        packages = f"{self.layout.venv}/lib/python{self.target.python_version}/site-packages"
        return f"{packages}/{file_name(distribution)}-{version}.dist-info/RECORD"


def file_name(distribution: str) -> str:
    return canonicalize_name(distribution).replace("-", "_")
