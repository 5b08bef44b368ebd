"""profiles new --device: from a device file to a profile that builds, autoloads and verifies that device."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.begin import VERSION_FILES, Asked, Source, extension_of, make_device_profile, repo_of, version_in
from xpusetup.commands.accelerators import is_device_file, read_device, shipped_device
from xpusetup.commands.knowledge import load_profile
from xpusetup.commands.profiles import SCHEMA_FILE, new_file
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_settings
from xpusetup.effects import files
from xpusetup.effects.clock import today
from xpusetup.effects.environment import variables
from xpusetup.effects.git import list_refs, read_files
from xpusetup.emit.profile import render_profile
from xpusetup.refs import Found, choose, names_to_ask
from xpusetup.settings import make_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.devices import Device

BASE = "sim"
"""The shipped profile that has a ready torch and what an extension needs beside it."""
HEAD = "HEAD"


def new_for_device(name: str, file: str, asked: Asked, *, base: str, out: str, say: Callable[[str], None]) -> Result:
    """Write the profile of a device that has a file. Raises UsageError, and NotReadyError for a server that is away."""
    path = new_file(name, out)
    device = read_device(file) if is_device_file(file) else shipped_device(file)
    extension_of(device, file)
    source = _find(device, asked, file, say)
    named = _from(path, file) if is_device_file(file) else ""
    profile = make_device_profile(name, load_profile(base or BASE), device, named, source)
    head = f"#:schema ./{SCHEMA_FILE}\n"
    files.write_text(path, head + render_profile(profile, "Begun for a device. Check it: xpusetup profiles check FILE"))
    return Result("profiles new", {"profile": name, "from": f"{file} and {base or BASE}", "file": str(path)})


def _from(path: Path, file: str) -> str:
    """Give a file as a profile beside it says it: from its own folder, so that both can be moved together."""
    return os.path.relpath(Path(file).expanduser().absolute(), path.parent.absolute())


def _find(device: Device, asked: Asked, file: str, say: Callable[[str], None]) -> Source:
    """Pin the commit that was asked for, else the one that the device file names, else the newest."""
    known = device.component
    repo = repo_of(device, asked, file)
    ref = asked.rev or (known.rev or known.ref if known and repo == known.repo else "") or HEAD
    env = make_network(load_settings().network, variables())
    names = (HEAD,) if ref == HEAD else names_to_ask(ref)
    say(f"asking {repo} for {ref}")
    told = list_refs(repo, names, env) if names else {}
    found = Found(told[HEAD]) if ref == HEAD and HEAD in told else choose(ref, repo, told)
    directory = known.directory if known else "."
    prefix = "" if directory == "." else f"{directory}/"
    read = read_files(repo, found, [prefix + each for each in VERSION_FILES], env) if not asked.version else {}
    texts = {path.removeprefix(prefix): text for path, text in read.items()}
    return Source(
        repo=repo,
        found=found,
        version=version_in(texts, known, asked),
        known=known,
        when=f"{'' if ref == HEAD else f'{ref}, '}{today()}",
    )
