"""What end-to-end tests share: a clean caller, the program as a process, and a tiny project to build."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from json_schemas import hold_to_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet

make_environment: Any = importlib.import_module("make_environment")
CHECKOUT = Path(__file__).resolve().parents[2]
PASSED = ("PIP_", "UV_", "GIT_SSL_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "XPUSETUP_TEST_")
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def caller(home: Path, **more: str) -> dict[str, str]:
    """Give the environment of a newcomer: a home of its own, PATH, and how this place reaches its package index.

    The compiler cache is that of whoever runs the tests: what was compiled for one of them is found by the next. Their
    pip leaves byte code to the first import: that of PyTorch takes three quarters of its installation.
    """
    settings = home / ".config/pip/pip.conf"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[install]\nno-compile = no\n")  # pip reads the value as that of `compile`
    kept = {name: value for name, value in os.environ.items() if name.startswith(PASSED) or name in PROXIES}
    cache = os.environ.get("CCACHE_DIR") or str(Path.home() / ".cache/ccache")
    own = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "CCACHE_DIR": cache}
    return {**own, **kept, **more}


def make_venv(prefix: Path, python: Path | str = sys.executable) -> Path:
    """Make an environment with the pip of this Python, unpacked: `python -m venv` installs it in three seconds."""
    subprocess.run((str(python), "-m", "venv", "--without-pip", str(prefix)), check=True)
    make_environment.unpack(make_environment.bundled_pip(), prefix)
    return prefix


def by_name(*values: object) -> ParameterSet:
    """Give a case of a test that `make e2e-long` runs: in CI another one stands for it."""
    return pytest.param(*values, marks=pytest.mark.long)


@dataclass(frozen=True)
class Said:
    """What a run of the program said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        hold_to_schema(found)
        return found

    @property
    def result(self) -> dict[str, Any]:
        """The result of a command that went well."""
        document = self.document
        assert document["ok"], (document, self.err)
        found: dict[str, Any] = document["result"]
        return found


def command(*arguments: str) -> list[str]:
    """Give the command line of the program under test."""
    return [sys.executable, "-m", "xpusetup", *arguments]


def xpusetup(*arguments: str, env: dict[str, str], cwd: Path | None = None) -> Said:
    """Run the program to its end. Never a traceback: that holds for every call of every test."""
    done = subprocess.run(command(*arguments), check=False, capture_output=True, text=True, env=env, cwd=cwd)
    assert "Traceback" not in done.stderr, done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


def unpack(form: Path) -> Path:
    """Unpack the helpers of a form, as whoever runs a step of it alone does."""
    subprocess.run(("tar", "-xmf", "helpers.tar"), cwd=form, check=True)
    return form


def copy_checkout(to: Path) -> Path:
    """Copy what git would clone from here, changes that are not committed yet included."""
    listed = subprocess.run(
        ("git", "ls-files", "-co", "--exclude-standard", "-z"), cwd=CHECKOUT, check=True, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = CHECKOUT / name
        if source.is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    return to


SETUP = """
import os, time
from setuptools import Extension, setup
with open(os.environ.get("TINY_MARK", os.devnull), "a") as stream:
    stream.write("building\\n")
print("[1/2] sleeping", flush=True)
time.sleep(float(os.environ.get("TINY_SLEEP", "0")))
while os.path.exists(os.environ.get("TINY_HOLD", "")):
    time.sleep(0.1)
if "TINY_FAIL" in os.environ:
    raise SystemExit("tiny.c:1:1: error: " + os.environ["TINY_FAIL"])
setup(name="tiny", version=os.environ["TINY_VERSION"], ext_modules=[Extension("tiny", ["tiny.c"])])
"""
SOURCE = """
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny", __FILE__, -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&module); }
"""
PROFILE = """
schema = 1
name = "tiny"
summary = "a C extension of one file"
tier = "test"
tried = "in tests"
accelerator = "cpu"
python = ">=3.10"

[build_requirements]
pins = ["setuptools==80.10.2", "wheel==0.48.0", "packaging==26.3"]

[[components]]
kind = "source"
name = "tiny"
distribution = "tiny"
version = "1.0"
repo = "https://tiny.invalid/tiny"
tag = "v1.0"
rev = "{rev}"
source = "this test"
confidence = "confirmed"
frontend = "setup.py"
environment.TINY_VERSION = "1.0"
"""


@dataclass(frozen=True)
class Tiny:
    """A project that builds in a second, its profile, and a caller whose git finds it."""

    profile: Path
    repository: Path
    rev: str
    env: dict[str, str]

    def options(self, root: Path) -> tuple[str, ...]:
        """Give the options that build it in a root."""
        return ("--profile", str(self.profile), "--root", str(root))


def make_tiny(folder: Path, **files: str) -> Tiny:
    """Make the project as a git repository behind an address that only git's own settings resolve.

    `files` take the place of its own or come on top; a name's `_` before its ending stands for the dot.
    """
    repository = folder / "upstream"
    repository.mkdir(parents=True)
    for name, text in {"setup_py": SETUP, "tiny_c": SOURCE, **files}.items():
        (repository / ".".join(name.rsplit("_", 1))).write_text(text)
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "init.defaultBranch=main")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one"), ("tag", "v1.0")):
        subprocess.run((*git, *words), cwd=repository, check=True, capture_output=True)
    rev = subprocess.run(("git", "rev-parse", "HEAD"), cwd=repository, check=True, capture_output=True, text=True)
    profile = folder / "tiny.toml"
    profile.write_text(PROFILE.format(rev=rev.stdout.strip()))
    redirect = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://tiny.invalid/tiny",
        "GIT_CONFIG_KEY_1": "uploadpack.allowAnySHA1InWant",
        "GIT_CONFIG_VALUE_1": "true",
    }
    return Tiny(profile, repository, rev.stdout.strip(), caller(folder / "home", **redirect))


def wait_until(condition: Callable[[], bool], *, seconds: float = 300) -> None:
    """Wait for something that happens soon."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all it started, as a power cut would."""
    parent = psutil.Process(process.pid)
    for each in [parent, *parent.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
