"""What a word stands for that names a profile or a build: `2.14`, `torch-2.14`, `mine.toml`, `sim`."""

from dataclasses import dataclass
from typing import Any, TypeVar

from xpusetup.base.command import Command
from xpusetup.base.errors import UsageError
from xpusetup.base.text import nearest
from xpusetup.config.shipped import full_name, is_path, load_profile, profile_names, stack_names
from xpusetup.run.root import Root, find_roots, read_lock
from xpusetup.run.workspace import load_settings, roots_folder

Names = TypeVar("Names", str, list[str])


def full_names(given: Names) -> Names:
    return full_name(given) if isinstance(given, str) else [full_name(each) for each in given]


@dataclass(frozen=True, kw_only=True)
class Named:
    """The word, whether the command is about a build (else a profile is meant first), and what its options say."""

    word: str
    build: bool
    profile: str = ""
    name: str = ""
    root: str = ""

    @property
    def _profile(self) -> str:
        whole = full_name(self.word)
        return whole if is_path(whole) or whole in (*profile_names(), *stack_names()) else ""

    @property
    def _lock(self) -> dict[str, Any]:
        if "/" in self.word or self.word in {".", ".."}:
            return {}
        for word in dict.fromkeys((self.word, self._profile)):
            if word and (lock := read_lock(Root(roots_folder(load_settings()) / word))):
                return {"is": word, **lock}
        return {}

    def is_known(self) -> bool:
        return bool(self._lock or self._profile)

    def place(self) -> dict[str, str]:
        """Give the options that it is short for. Raises UsageError where it names nothing, or options say otherwise."""
        lock, profile = self._lock, self._profile
        if self.build and self.root:
            raise self._contradiction("builds", f"--root {self.root}")
        if profile and not (self.build and lock):
            if self.profile and self.profile != profile:
                raise self._contradiction("profiles", f"--profile {self.profile}")
            if self.build and self.name and self.name != profile:
                raise self._contradiction("builds", f"--name {self.name}")
            return {"profile": profile}
        if not lock:
            raise self._unknown()
        if self.name and self.name != lock["is"]:
            raise self._contradiction("builds", f"--name {self.name}")
        if self.root:
            raise self._contradiction("builds", f"--root {self.root}")
        of_build = {lock["is"], lock.get("named"), (lock.get("profile") or {}).get("name")}
        if self.profile and self.profile not in of_build:
            raise self._contradiction("builds", f"--profile {self.profile}")
        return {"name": lock["is"]}

    def _contradiction(self, what: str, option: str) -> UsageError:
        return UsageError(f"two {what} are named: {self.word}, and {option}", fix=f"leave {option} or {self.word} out")

    def _unknown(self) -> UsageError:
        there = [root.path.name for root in find_roots(roots_folder(load_settings()))]
        if close := nearest(self.word, there):
            line = Command(f"the same command with {close}", again=(self.word, close))
            return UsageError(f"there is no build {self.word!r}; did you mean {close}?", command=line)
        if self.build:
            return UsageError(f"there is no build {self.word!r}", command="xpusetup list")
        try:
            load_profile(self.word)
        except UsageError as error:
            return error
        raise AssertionError(self.word)
