"""What git says of a tree; fetching is a helper's work, because it travels with the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def read_tree(path: Path) -> dict[str, Any] | None:
    """Give the commit a tree is at and whether tracked files were changed; None where there is no tree, or no git."""
    if not (path / ".git").exists():
        return None
    try:
        import git  # noqa: PLC0415 - slow to import, and one command alone asks
    except ImportError:  # which is how GitPython says that there is no git on PATH
        return None
    try:
        repository = git.Repo(path)
        rev = repository.head.commit.hexsha
    except (git.InvalidGitRepositoryError, git.NoSuchPathError, ValueError):
        return None
    return {"rev": rev, "changed": repository.is_dirty(untracked_files=False, submodules=False)}
