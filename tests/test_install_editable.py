"""An editable component of setuptools keeps what it compiled, as long as that is of this torch and these compilers."""

from __future__ import annotations

import configparser
import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def module(name: str) -> Any:
    """Give a helper."""
    return importlib.import_module(name)


SETUP = """
from tools import extension
class BuildWithoutRpath(BuildExtension):
    pass
setup(cmdclass={"build_ext": extension.CMakeBuild, 'develop': Develop})
"""


def test_each_class_that_compiles_is_told_where() -> None:
    """Setuptools asks for its options by the name of the class the second time."""
    settings = configparser.ConfigParser()
    settings.read_string(module("install_editable").keep_in("/a b/%x", SETUP))
    assert set(settings.sections()) >= {"build_ext", "BuildExtension", "BuildWithoutRpath", "CMakeBuild"}
    assert {settings[name]["build_temp"] for name in settings.sections()} == {"/a b/%x"}


def test_objects_of_another_torch_go(tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    keep_for = module("install_editable").keep_for
    keep_for(objects, "one")
    (objects / "a.o").touch()
    keep_for(objects, "one")
    assert (objects / "a.o").exists()
    keep_for(objects, "another")
    assert not (objects / "a.o").exists()
    assert objects.is_dir()


def test_a_compiler_is_the_same_behind_a_compiler_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program in its place is written anew by each step: all that was compiled went, each time."""
    identify = module("fresh_build").identify
    real, launcher = tmp_path / "bin", tmp_path / "root/launcher"
    for folder in (real, launcher):
        folder.mkdir(parents=True)
        (folder / "cc1x").write_text("#!/bin/sh\n")
        (folder / "cc1x").chmod(0o755)
    monkeypatch.setattr("subprocess.run", lambda *_words, **_more: type("Done", (), {"stdout": "cc1x 1.0\n"}))
    monkeypatch.setenv("PATH", str(real))
    alone = identify("cc1x")
    monkeypatch.setenv("PATH", f"{launcher}{os.pathsep}{real}")
    assert identify("cc1x") == alone
    assert str(real) in alone
