"""No command that is advised brings another torch, or a companion for CUDA, beside a torch that is not CUDA's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli
from packaging.utils import canonicalize_name

from standins.wheels import pack_wheel
from xpusetup.commands.explain import known_signatures
from xpusetup.doctor.question import check_texts
from xpusetup.explain.explanation import fill_commands
from xpusetup.machine.companions import INDEX, TorchThere
from xpusetup.machine.installs import keep_torch, parse_install

pytestmark = pytest.mark.e2e

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DATA = Path(__file__).parents[1] / "data"
WHEELS: dict[str, dict[str, list[str]]] = tomli.loads((DATA / "torch_indexes.toml").read_text())
BESIDE: dict[str, dict[str, list[str]]] = tomli.loads((DATA / "adopt.toml").read_text())
DRIVER = """
import json, sys
from pathlib import Path
sys.path[:] = [sys.argv[1], *(each for each in sys.path[1:] if "site-packages" not in each), sys.argv[2]]
from pip._internal.cli.main import main
said = Path(sys.argv[1]) / "report.json"
plain = ["--dry-run", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--ignore-requires-python"]
for line in sys.stdin:
    said.unlink(missing_ok=True)
    code = main([*json.loads(line), *plain, "--report", str(said)])
    done = json.loads(said.read_text())["install"] if said.exists() else []
    found = {each["metadata"]["name"]: each["metadata"]["version"] for each in done}
    print(json.dumps([code, found]), file=sys.stdout, flush=True)
"""
"""The real pip, asked many times in one process, of the environment in a folder alone; it installs nothing."""

XPU = TorchThere("2.13.0+xpu", {"triton-xpu": "3.7.2"}, for_xpu=True)
CPU = TorchThere("2.13.0+cpu")
VENDOR = TorchThere("2.11.0a0+git009b5f6")
TORCHES = (XPU, CPU, VENDOR)
THERE: dict[str, dict[str, list[str]]] = {
    XPU.version: {"torch==2.13.0+xpu": ["triton-xpu==3.7.2"], "triton-xpu==3.7.2": []},
    CPU.version: {"torch==2.13.0+cpu": []},
    VENDOR.version: {
        "torch==2.11.0a0+git009b5f6": [],
        "habana-torch-plugin==1.24.1": ["torch==2.11.0a0+git009b5f6"],
    },
}
FILLED = ("torchvision", "torchaudio", "triton", "easyocr")
"""What stands in the gaps of commands: companions, and packages that require some."""


class Indexes:
    """PyTorch's indexes and the package index on this disk, and pip at work against them in an environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for index, wheels in WHEELS.items():
            for each, requires in wheels.items():
                self._add(index, each, requires)
        for each, requires in {**BESIDE["requires"], **BESIDE["beside"]}.items():
            if not each.startswith("torchvision"):
                self._add("simple", each, requires)

    def _add(self, index: str, what: str, requires: Iterable[str] = ()) -> None:
        name, _, version = what.partition("==")
        place = self.folder / index / canonicalize_name(name)
        pack_wheel(place, name, version, {f"{name.replace('-', '_')}.py": b""}, list(requires))
        links = "".join(f'<a href="{each.name}">{each.name}</a>\n' for each in sorted(place.glob("*.whl")))
        (place / "index.html").write_text(links)

    def offer(self, names: Iterable[str]) -> None:
        """Let the package index have a version of each of these, which require nothing."""
        for name in names:
            if not (self.folder / "simple" / canonicalize_name(name)).exists():
                self._add("simple", f"{name}==1.0")

    def environment(self, torch: TorchThere) -> Path:
        place = self.folder / torch.version
        for each, requires in THERE[torch.version].items():
            name, _, version = each.partition("==")
            info = place / f"{name.replace('-', '_')}-{version}.dist-info"
            info.mkdir(parents=True)
            needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
            (info / "RECORD").write_text("")
            (info / "INSTALLER").write_text("pip\n")
        return place

    def words(self, command: str) -> list[str]:
        """Give what pip is asked: without paths, and with the indexes here in the place of the real ones."""
        call = parse_install(command)
        assert call is not None, command
        options = []
        for option in call.options:
            name, _, value = option[0].partition("=")
            value = " ".join(option[1:]) or value
            if name in AS_IT_IS:
                options.append(AS_IT_IS[name])
            elif name in INDEXES and value.startswith(INDEX):
                options += [INDEXES[name], value.replace(INDEX, f"file://{self.folder}/whl")]
            elif name == "--torch-backend":
                options += ["--extra-index-url", f"file://{self.folder}/whl/{value}"]
        if "--index-url" not in options:
            options += ["--index-url", f"file://{self.folder}/simple"]
        asked = [word for word, name in zip(call.asked, call.names, strict=True) if name]
        return ["install", *options, *asked]

    def ask(self, torch: TorchThere, commands: Iterable[str]) -> dict[str, tuple[int, dict[str, str]]]:
        """Give how pip ends for each command, and what it would install; of those that ask for the same, once."""
        asked = {tuple(self.words(each)): each for each in commands}
        self.offer({name for each in asked.values() if (call := parse_install(each)) for name in call.names if name})
        pip = next(each for each in sys.path if each.endswith("site-packages") and (Path(each) / "pip").is_dir())
        lines = "".join(f"{json.dumps(words)}\n" for words in asked)
        driver = (sys.executable, "-I", "-c", DRIVER, str(self.environment(torch)), pip)
        alone = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "HOME": str(self.folder)}
        done = subprocess.run(driver, input=lines, capture_output=True, text=True, check=True, env=alone)
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        assert len(answers) == len(asked), done.stderr
        return {each: (code, found) for each, (code, found) in zip(asked.values(), answers, strict=True)}


AS_IT_IS = {
    "--reinstall": "--force-reinstall",
    **{each: each for each in ("--force-reinstall", "--no-deps", "--pre", "-U", "--upgrade")},
}
INDEXES = {
    "-i": "--index-url",
    "--default-index": "--index-url",
    "--index": "--extra-index-url",
    **{each: each for each in ("--index-url", "--extra-index-url")},
}
"""Options on which it depends what comes, as pip has them."""


def advised() -> Iterator[str]:
    """Give every command that a check, a line or a signature can print."""
    for text in check_texts().values():
        for wanted in ("--force-reinstall torch", "--upgrade bitsandbytes", "triton", "'numpy<2'"):
            words = {"python": "python", "wanted": wanted, "torch": "torch==2.13.0", "version": "2.13.0", "mend": ""}
            yield from (line for _, lines in text.fix(words).commands for line in lines)
    for name in FILLED:
        names = dict.fromkeys(("module", "package", "wanted", "asker", "name", "other", "one", "two"), name)
        names |= {"tag": "xpu", "release": "2.13", "asked": "2.13.0", "python": "python"}
        for one in known_signatures():
            advice = (one.commands, *(each.commands for each in one.when), *(each.commands for each in one.on.values()))
            for lines in advice:
                yield from fill_commands(lines, names)


def installs(commands: Iterable[str]) -> list[str]:
    """Give the calls of installers among them, each once."""
    parts = (part for line in commands for part in line.split(" && "))
    calls = ((part, parse_install(part)) for part in dict.fromkeys(parts))
    return [part for part, call in calls if call and {*call.names} & REQUIRE and not call.has("-r", "--platform")]


REQUIRE = {
    canonicalize_name(each.partition("==")[0]) for rows in (*WHEELS.values(), BESIDE["requires"]) for each in rows
}
"""What may bring something: of all else the index here has a version that requires nothing."""


def harm(torch: TorchThere, command: str, found: dict[str, str]) -> str:
    """Say what a command would do to a torch that it has to leave; nothing where it does no harm.

    Another torch is asked for by name: one for XPU in the place of one for XPU or the CPU. No vendor's has another.
    """
    call = parse_install(command)
    new = found.get("torch", torch.version)
    asked = call is not None and "torch" in call.names and torch.make != "vendor"
    if new != torch.version and not (asked and new.endswith("+xpu")):
        return f"torch {new}"
    for name, version in found.items():
        plain = canonicalize_name(name)
        if plain.startswith(("nvidia-", "cuda-")) or plain in ("triton", "pytorch-triton"):
            return f"{name} {version}"
        if plain in ("torchvision", "torchaudio", "torchcodec") and "+" not in version:
            return f"{name} {version}"
    return ""


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Indexes:
    return Indexes(tmp_path_factory.mktemp("indexes"))


PLAIN = ("pip install torchvision", "pip install torchaudio", "pip install --force-reinstall torch")
"""Commands as people give them, each of which does harm."""


@pytest.mark.parametrize("torch", TORCHES, ids=lambda each: each.version)
def test_no_command_that_is_advised_harms_a_torch(torch: TorchThere, indexes: Indexes) -> None:
    kept = installs(line for command in (*dict.fromkeys(advised()), *PLAIN) for line in keep_torch(command, torch))
    answers = indexes.ask(torch, [*kept, *PLAIN])
    told = {line: harm(torch, line, found) for line, (_, found) in answers.items()}
    assert {line for line, each in told.items() if each} == set(PLAIN), told
    beside = [line for line, (code, _) in answers.items() if "--no-deps" in line and code]
    assert beside == []
