"""Two examples of each command, for the end of its --help; a test parses them as the program does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES: dict[str, tuple[str, str]] = {
    "build": ("xpusetup build --profile torch-2.14", "xpusetup build --profile sim --jobs 4 --until simxpu.build"),
    "install": ("xpusetup install --dry-run", "xpusetup install --profile torch-2.14 --into ~/ml --python 3.12"),
    "plan": ("xpusetup plan --profile torch-2.14 -v", "xpusetup plan --profile sim --explain"),
    "setup": ("xpusetup setup --for build", "xpusetup setup --apply"),
    "run": ("xpusetup run -- python train.py", "xpusetup run --profile sim -- python -c 'import torch'"),
    "env": ('eval "$(xpusetup env)"', "xpusetup env --shell fish | source"),
    "list": ("xpusetup list", "xpusetup list -v"),
    "status": ("xpusetup status --check", "xpusetup status --log torch.build -f"),
    "report": ("xpusetup report --open", "xpusetup report --profile sim -o report.html"),
    "adopt": ("xpusetup adopt ~/project", "xpusetup adopt --into ~/ml --yes"),
    "remove": ("xpusetup remove --name torch-2.13", "xpusetup remove --root DIR --yes"),
    "toolkit": ("xpusetup toolkit ~/sycl", "xpusetup toolkit ~/sycl --profile torch-2.13"),
    "verify": ("xpusetup verify --level quick", "xpusetup verify --into ~/ml --device cpu"),
    "test": ("xpusetup test", "xpusetup test transformers --install --select tests/trainer"),
    "verify-wheel": ("xpusetup verify-wheel WHEEL", "xpusetup verify-wheel WHEEL --provenance --key pub.pem"),
    "fits": (
        "xpusetup fits WHEEL --into ~/ml",
        "xpusetup fits WHEEL --torch torch-2.13.0-cp311-cp311-linux_x86_64.whl",
    ),
    "rebuild": ("xpusetup rebuild --check", "xpusetup rebuild --check --name torch-2.13 --at /scratch/again"),
    "sign": ("xpusetup sign WHEEL --key key.pem", "xpusetup sign wheels/torch.whl wheels/triton.whl --key key.pem"),
    "emit": (
        "xpusetup emit shell --profile torch-2.14 -o DIR",
        "xpusetup emit slurm --profile torch-2.14 --python 3.11 --python 3.12 -o DIR",
    ),
    "dockerfile": (
        "xpusetup dockerfile --profile torch-2.14 --from wheels -o DIR",
        "xpusetup dockerfile --profile torch-2.14 --os debian-12 -o DIR",
    ),
    "doctor": ("xpusetup doctor --for run", "xpusetup doctor --paste post.txt"),
    "explain": ("xpusetup explain build.log", "make 2>&1 | xpusetup explain"),
    "bisect": (
        "xpusetup bisect --profile main --good v2.13.0 --bad main -- python t.py",
        "xpusetup bisect --profile main --good 2026-05-01 --bad 2026-06-10 -- python t.py",
    ),
    "skill": ("xpusetup skill > SKILL.md", "xpusetup skill --json"),
    "profiles list": ("xpusetup profiles list", "xpusetup profiles list --json"),
    "profiles show": ("xpusetup profiles show torch-2.14", "xpusetup profiles show sim -v"),
    "profiles check": ("xpusetup profiles check mine.toml", "xpusetup profiles check sim"),
    "profiles new": (
        "xpusetup profiles new mine --from torch-2.14",
        "xpusetup profiles new --release 2.15 --source ~/pytorch",
    ),
    "profiles lock": (
        "xpusetup profiles lock --profile torch-2.14 --rev torch=main",
        "xpusetup profiles lock --profile torch-2.14 -o mine.toml",
    ),
    "profiles trust": ("xpusetup profiles trust mine.toml", "xpusetup profiles trust mine.toml acme.toml"),
    "profiles schema": ("xpusetup profiles schema > profile.schema.json", "xpusetup profiles schema --json"),
    "devices list": ("xpusetup devices list -v", "xpusetup devices list --device acme.toml"),
    "devices check": ("xpusetup devices check --into ~/ml", "xpusetup devices check --profile sim"),
    "devices table": ("xpusetup devices table a.json b.json", "xpusetup devices table a.json b.json --page README.md"),
    "bundle create": (
        "xpusetup bundle create torch.tar --profile torch-2.14",
        "xpusetup bundle create wheels.tar --stack stack-cpu --from wheels",
    ),
    "bundle verify": ("xpusetup bundle verify torch.tar", "xpusetup bundle verify torch.tar -v"),
    "self": ("xpusetup self", "xpusetup self --json"),
    "cache size": ("xpusetup cache size", "xpusetup cache size -v"),
    "cache prune": ("xpusetup cache prune", "xpusetup cache prune --all"),
}


COMMON = {"--json", "--quiet", "--verbose", "--root"}
"""Options with one variable for all commands; that of --root names the folder that holds the roots."""
AS_IT_STANDS = "\b\n"
"""What keeps help from filling the lines of a paragraph anew."""


def explain_end(name: str, options: Iterable[str]) -> str:
    """Give the end of a command's --help: examples, and how its options, in their order, are called as variables."""
    examples = AS_IT_STANDS + "\n".join(EXAMPLES[name])
    own = next((each for each in options if each not in COMMON), "")
    variable = f"xpusetup_{name}{own.removeprefix('-')}".upper().replace(" ", "_").replace("-", "_")
    said = f"Each option is a variable too: {variable} for {own}, and so on; " if own else ""
    return "\n\n".join(("Examples:", examples, f"{said}XPUSETUP_JSON, _QUIET and _VERBOSE hold for all commands."))
