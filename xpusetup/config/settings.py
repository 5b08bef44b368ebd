"""What a place or a project has of its own: the site file, the project's xpusetup.toml, and which of them rules.

Precedence: option, variable, `xpusetup.toml` of the project, site file, profile.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from xpusetup.base.document import read_as
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Provider
from xpusetup.base.values import DeviceTarget, Limits, Operand, Strict, Text, ValueCheck, parse_toml, plain
from xpusetup.config.load import parse_data
from xpusetup.system.kept import keep

STALL_S = 120.0
"""Seconds under such pressure without a new result of ninja. Without swap a machine may stand still for longer than
this before its kernel kills anything; the largest files of PyTorch take as long, but not under pressure."""


Address = Annotated[Operand, Limits(pattern=r"^\S+$")]
"""An address or folder: pip and uv take lists of them in one variable, apart by spaces."""


MOST = 1 << 30
"""Of jobs, cores, GiB and seconds: nobody has more, and every sum with it stays a number."""
WORD = r"^[A-Za-z0-9][A-Za-z0-9_.:,/+@-]{0,199}$"
TIME = r"^(\d+(:\d\d?){0,2}|\d+-\d\d?(:\d\d?){0,2}|INFINITE|UNLIMITED)$"


def _slurm_word(text: str) -> str:
    if re.fullmatch(WORD, text) is None:
        raise ValueError("must be one word of letters, digits and _ . : , / + @ -")
    return text


def _slurm_time(text: str) -> str:
    if re.fullmatch(TIME, text) is None:
        raise ValueError("must be a time as Slurm has it: 12:00:00, 2-00:00:00, or minutes")
    return text


def _folder(text: str) -> str:
    if text and not text.startswith(("/", "~")):
        raise ValueError("must be a whole path, as /shared/xpusetup")
    return plain(text)


SlurmWord = Annotated[str, ValueCheck(_slurm_word, WORD)]
"""What stands in a line of a job's header."""
SlurmChoice = Annotated[str, ValueCheck(lambda text: text and _slurm_word(text))]
"""The same, or nothing: then it is not asked for."""
SlurmTime = Annotated[str, ValueCheck(_slurm_time, TIME)]
"""How long a job may take, as sbatch reads --time."""
Folder = Annotated[str, ValueCheck(_folder)]
"""A folder or file of this place, or nothing. A relative one would be another in each folder that a command runs in."""
FIND_MODULE = (
    "command -v module >/dev/null || for each in /etc/profile.d/*lmod*.sh /etc/profile.d/*modules*.sh;"
    ' do [ ! -f "$each" ] || source "$each"; done'
)
"""Gives a clean shell the command `module`, where the scripts of login shells bring it (Lmod, Environment Modules)."""


def lines_of_modules(modules: Sequence[object]) -> list[str]:
    """Give the lines of a prelude that load modules."""
    return [FIND_MODULE, f"module load {' '.join(map(str, modules))}"] if modules else []


def load_modules(values: object) -> object:
    """Read `modules` of [toolkit] as the prelude that loads them; either of them names the provider."""
    if not isinstance(values, dict) or not (values.get("modules") or values.get("prelude")):
        return values
    modules, prelude = values.get("modules") or [], values.get("prelude") or []
    if not (isinstance(modules, list) and isinstance(prelude, list)):
        return values
    if modules and FIND_MODULE not in prelude:
        prelude = [*prelude, *lines_of_modules(modules)]
    return {**values, "provider": values.get("provider") or "modules", "prelude": prelude}


@dataclass(frozen=True, kw_only=True)
class ToolkitSettings(Strict):
    """How the toolkit is provided here; `name`: which of a profile's, where it has one of that name.

    `modules` are loaded by the command `module`; what else switches the toolkit on is a line of `prelude`.
    """

    name: Text = ""
    provider: Provider | None = None
    root: Folder = ""
    modules: list[SlurmWord] = field(default_factory=list)
    prelude: list[Text] = field(default_factory=list)

    PREPARE = staticmethod(load_modules)


@dataclass(frozen=True, kw_only=True)
class Compilers(Strict):
    """The host compilers of this place, and a linker instead of their own."""

    cc: Operand = "gcc"
    cxx: Operand = "g++"
    linker: Literal["", "mold", "lld", "gold"] = ""


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(Strict):
    """How this place reaches sources and packages: mirrors by the address that they stand for, indexes, a CA file.

    `git_fallback`: mirrors that are asked where the address itself fails; `git_store`: where fetched git objects are
    kept, looked at before the user's own, or "off" for nowhere.
    """

    git: dict[Address, Address] = field(default_factory=dict)
    git_fallback: dict[Address, Address] = field(default_factory=dict)
    git_store: Text = ""
    pip_index: Operand = ""
    pip_extra_index: list[Address] = field(default_factory=list)
    find_links: list[Address] = field(default_factory=list)
    ca_bundle: Folder = ""


NAME = "[A-Za-z_][A-Za-z0-9_]*"
SCRATCH = rf"^([A-Za-z0-9_./-]|\${NAME}|\$\{{{NAME}\}})*$"


def _scratch(text: str) -> str:
    if re.fullmatch(SCRATCH, text) is None:
        raise ValueError("must be a path of letters, digits and _ . / -, in which $VARIABLES may stand")
    return text


ONE_GPU = "gpu:1"


@dataclass(frozen=True, kw_only=True)
class Scheduler(Strict):
    """What Slurm's jobs ask for here.

    `scratch`: a folder on the node's own disk, in which `$VARIABLES` of the job may stand; `gres`: what a verification
    asks for, without it one GPU unless the device is part of its software; without `memory_gib` a build asks for what
    its compile jobs take. `nodes`: on how many collectives are verified, with a rank for each device of `gres`; 1: not
    at all. `verify_cpus` and `verify_memory_gib` are for each device: the largest process of a verification of `sim`
    takes 1.8 GiB, and a real device's compiler and models more.
    """

    account: SlurmChoice = ""
    qos: SlurmChoice = ""
    partition: SlurmChoice = ""
    gpu_partition: SlurmChoice = ""
    gres: SlurmChoice | None = None
    nodes: Annotated[int, Limits(ge=1, le=MOST)] = 2
    cpus: Annotated[int, Limits(ge=1, le=MOST)] = 16
    memory_gib: Annotated[int | None, Limits(ge=1, le=MOST)] = None
    time: SlurmTime = "12:00:00"
    verify_time: SlurmTime = "00:30:00"
    verify_cpus: Annotated[int, Limits(ge=1, le=MOST)] = 4
    verify_memory_gib: Annotated[int, Limits(ge=1, le=MOST)] = 16
    modules: list[SlurmWord] = field(default_factory=list)
    scratch: Annotated[str, ValueCheck(_scratch, SCRATCH)] = ""

    def on_gpu(self, command: str) -> str:
        """Give the line that runs a command on a node of the partition that has GPUs."""
        gres = ONE_GPU if self.gres is None else self.gres
        options = {"account": self.account, "qos": self.qos, "partition": self.gpu_partition, "gres": gres}
        return shlex.join(["srun", *(f"--{name}={value}" for name, value in options.items() if value)]) + f" {command}"


def rename_requires(values: object) -> object:
    """Read `requires` of [module] by its newer name."""
    if not isinstance(values, dict) or "requires" not in values or "modules" in values:
        return values
    return {("modules" if key == "requires" else key): value for key, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class ModuleSettings(Strict):
    """What a modulefile knows of the other modules here: which it cannot stand beside, which it loads first."""

    conflicts: list[SlurmWord] = field(default_factory=list)
    modules: list[SlurmWord] = field(default_factory=list)

    PREPARE = staticmethod(rename_requires)


@dataclass(frozen=True, kw_only=True)
class SettingsFile(Strict):
    """What one settings file may say."""

    profile: Text = ""
    root: Folder = ""
    build_dir: Folder = ""
    prefix: Folder = ""
    jobs: Annotated[int | None, Limits(ge=1, le=MOST)] = None
    stall_seconds: Annotated[float, Limits(gt=0, le=MOST)] = STALL_S
    arch: list[DeviceTarget] = field(default_factory=list)
    devices: list[Text] = field(default_factory=list)
    toolkit: ToolkitSettings = ToolkitSettings()
    compilers: Compilers = Compilers()
    network: NetworkSettings = NetworkSettings()
    scheduler: Scheduler = Scheduler()
    module: ModuleSettings = ModuleSettings()


@dataclass(frozen=True, kw_only=True)
class Settings(SettingsFile):
    """Settings files merged. `origins` says for each value (as in toolkit.root) which file it came from."""

    origins: dict[str, str] = field(default_factory=dict)


def merge_settings(files: list[tuple[str, str]]) -> Settings:
    """Merge settings files, (name, text) from the weakest to the strongest. Raises UsageError for a bad one."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, text in files:
        for key, value in _parse(name, text).items():
            table = isinstance(value, dict)
            merged[key] = {**merged.get(key, {}), **value} if table else value
            origins.update(dict.fromkeys([f"{key}.{inner}" for inner in value] if table else [key], name))
    told = {**merged, "origins": origins}
    return keep(Settings, json.dumps(told), lambda: read_as(Settings, told)) if files else Settings()


def _parse(name: str, text: str) -> dict[str, Any]:
    parse_data(text, SettingsFile, name)
    values = parse_toml(text)
    _refuse_unused(name, values.get("toolkit") or {})
    return values


def _refuse_unused(name: str, toolkit: Mapping[str, Any]) -> None:
    """Refuse what would say how to switch a toolkit on, and does nothing. Raises UsageError."""
    provider = toolkit.get("provider") or "modules"
    unused = next((key for key in ("modules", "prelude") if toolkit.get(key)), "")
    if unused and provider != "modules":
        fix = f'correct {name}: leave {unused} out, or provider = "{provider}"'
        raise UsageError(f"{name}: [toolkit] {unused} is not used: provider is {provider}", fix=fix)


def make_network(network: NetworkSettings, given: Mapping[str, str]) -> dict[str, str]:
    """Give the variables by which git, pip and uv learn of this place; one that the caller has set already rules.

    git's are a numbered list, to which these are added.
    """
    wanted = {
        **dict.fromkeys(("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), network.pip_index),
        **dict.fromkeys(("PIP_EXTRA_INDEX_URL", "UV_INDEX"), " ".join(network.pip_extra_index)),
        "PIP_FIND_LINKS": " ".join(network.find_links),
        "UV_FIND_LINKS": ",".join(network.find_links),
        **dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"), network.ca_bundle),
    }
    count = given.get("GIT_CONFIG_COUNT", "")
    pairs = [(f"url.{mirror}.insteadOf", address) for address, mirror in network.git.items()]
    pairs += [(f"xpusetup.{mirror}.fallbackOf", address) for address, mirror in network.git_fallback.items()]
    pairs += [("xpusetup.store", network.git_store)] if network.git_store else []
    of_git = number_git(pairs, first=int(count) if count.isdigit() else 0) if pairs else {}
    return {**{name: text for name, text in wanted.items() if text and not given.get(name)}, **of_git}


def number_git(pairs: Sequence[tuple[str, str]], *, first: int = 0) -> dict[str, str]:
    """Give the variables by which git takes settings, each a key and its value, numbered from `first` on."""
    found = {"GIT_CONFIG_COUNT": str(first + len(pairs))}
    for number, (key, value) in enumerate(pairs, start=first):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found
