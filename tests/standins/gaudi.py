"""Stand-ins for Gaudi's software: Intel's installer, the bridge with its real entry points, hl-smi.

The bridge comes in two forms. The light one finds no device, beside a torch of a few lines. The other is the simulated
device under PyTorch's own key for Gaudi (HPU), for a real torch knows that device by name.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from standins.wheels import pack_wheel

SIMXPU = Path(__file__).parents[2] / "xpusetup/simxpu"
FILES = Path(__file__).parent / "files/gaudi"
PLUGIN, TORCH = "habana-torch-plugin", "2.7.1+hpu_1.22.0-740.git6dbe0a4"
ENTRY = b"[torch.backends]\ndevice_backend = habana_frameworks:__autoload\n"
INSTALLER = """\
#!/usr/bin/env bash
# A stand-in for habanalabs-installer.sh: it tells its release, and fills the environment that a variable names.
set -eu
if [ "$1" = -v ]; then echo '{told}'; exit 0; fi
echo "$@" >>'{folder}/asked'
if [ -e '{folder}/fails' ]; then echo 'E: Unable to locate package habanalabs-graph' >&2; exit 100; fi
[ -e '{folder}/idle' ] || "$HABANALABS_VIRTUAL_DIR/bin/python" -m pip install -q --no-index --no-deps '{folder}'/*.whl
"""
HL_SMI = """\
#!/usr/bin/env bash
# A stand-in for hl-smi, asked for index,name,driver_version,memory.used,memory.total as csv,noheader.
[ "$*" = '-Q index,name,driver_version,memory.used,memory.total -f csv,noheader' ] || exit 1
printf '%s\\n' '0, HL-225, {driver}, 768 MiB, 98304 MiB' '1, HL-225, {driver}, 768 MiB, 98304 MiB'
"""


def write_program(path: Path, text: str) -> None:
    """Write a script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def make_installer(folder: Path, *wheels: Path, told: str = "1.22.0-740") -> Path:
    """Make a folder for PATH that holds the installer, which brings these wheels."""
    folder.mkdir(parents=True, exist_ok=True)
    for wheel in wheels:
        if wheel.parent != folder:
            shutil.copy2(wheel, folder)
    write_program(folder / "bin/habanalabs-installer.sh", INSTALLER.format(folder=folder, told=told))
    return folder / "bin"


def pack_torch(folder: Path, version: str) -> Path:
    """Pack a torch of a few lines."""
    own = (FILES / "torch.py").read_text().replace("@VERSION@", version).encode()
    return pack_wheel(folder, "torch", version.replace("-", ".").replace("_", "."), {"torch/__init__.py": own})


def pack_light(
    folder: Path, *, release: str = "1.22.0.740", torch: str = TORCH, **libraries: bytes
) -> tuple[Path, ...]:
    """Pack the light bridge, and a torch of this version; `libraries` lie in the bridge, by name."""
    bridge = {
        "habana_frameworks/__init__.py": (FILES / "init.py").read_bytes(),
        "habana_frameworks/torch/__init__.py": (FILES / "light.py").read_bytes(),
        "@INFO@/entry_points.txt": ENTRY,
        **{f"habana_frameworks/torch/{name}.so": data for name, data in libraries.items()},
    }
    return (
        pack_torch(folder, torch),
        pack_wheel(folder, PLUGIN, release, bridge),
    )


KERNEL = "KERNEL_DIFFERENT_REDISPATCH_SIGNATURE"
DIFFERENT = f"#define DIFFERENT(...) {KERNEL}(c10::DeviceType::HPU, __VA_ARGS__)\n"
HOOKS = """\
struct Hooks final : at::HPUHooksInterface {
  explicit Hooks(at::HPUHooksArgs) {}
  void init() const override {}
  bool hasHPU() const override { return true; }
"""
REGISTERED = """\
using at::HPUHooksArgs;
using at::HPUHooksInterface;
using at::HPUHooksRegistry;
using at::RegistererHPUHooksRegistry;
using HPUHooks = Hooks;  // PyTorch asks for it by this name
REGISTER_HPU_HOOKS(HPUHooks)

using Clock ="""
RESIZE = "(const c10::Storage& storage, size_t bytes) const"
CPP = (
    (f"({KERNEL}_PRIVATEUSEONE)", "(DIFFERENT)"),
    ("KERNEL_PRIVATEUSEONE(", "KERNEL(c10::DeviceType::HPU, "),
    ("#define FP32(", f"{DIFFERENT}#define FP32("),
    (f"resizePrivateUse1Bytes{RESIZE} override", f"resize{RESIZE}"),
    ("(at::RegisterPrivateUse1HooksInterface(new Hooks), true)", "true"),
    ("struct Hooks final : at::PrivateUse1HooksInterface {\n", HOOKS),
    ("using Clock =", REGISTERED),
    ("PrivateUse1", "HPU"),
)
"""What makes the simulated device one of PyTorch's key for Gaudi, in this order."""
POINTS = """\
device_backend = "habana_frameworks:__autoload"

[project.entry-points.torch_dynamo_backends]
hpu_backend = "habana_frameworks.torch.dynamo:hpu_backend\""""
SEEDED = """\
def _lazy_init() -> None:
    pass


def _seed_too(seed: int, _of_cpu=torch.manual_seed) -> torch.Generator:
    manual_seed(int(seed))
    return _of_cpu(seed)


torch.manual_seed = torch.random.manual_seed = _seed_too  # PyTorch seeds no hpu by itself


"""
PYTHON = (
    ('torch.utils.rename_privateuse1_backend("simxpu")\n', ""),
    ("torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)\n", ""),
    ("def _is_in_bad_fork", f"{SEEDED}def _is_in_bad_fork"),
    ("src/simxpu", "src/habana_frameworks/torch"),
    ("simxpu import", "habana_frameworks.torch import"),
    ("simxpu.faults", "habana_frameworks.torch.faults"),
    ("simxpu._C", "habana_frameworks.torch._C"),
    ('"simccl"', '"hccl"'),
    ('"1.0.0"', '"1.22.0.740"'),
    ('name = "simxpu"', f'name = "{PLUGIN}"'),
    ('simxpu = "simxpu:_autoload"', POINTS),
    ('packages = ["simxpu"]', 'packages = ["habana_frameworks", "habana_frameworks.torch", "habana_dataloader"]'),
    ('"simxpu"', '"hpu"'),
)


def make_device_source(to: Path) -> Path:
    """Write the source of the bridge with a device that computes; a wheel of it is built without isolation."""
    shutil.copytree(SIMXPU, to, ignore=shutil.ignore_patterns("__pycache__"))
    (to / "src/habana_frameworks").mkdir()
    (to / "src/simxpu").rename(to / "src/habana_frameworks/torch")
    for path in to.rglob("*.*"):
        rules = CPP if path.suffix in (".cpp", ".h") else PYTHON if path.suffix in (".py", ".toml") else ()
        for old, new in rules:
            path.write_text(path.read_text().replace(old, new))
    package = to / "src/habana_frameworks"
    shutil.copy2(FILES / "init.py", package / "__init__.py")
    shutil.copy2(FILES / "dynamo.py", package / "torch/dynamo.py")
    (to / "src/habana_dataloader").mkdir()
    shutil.copy2(FILES / "dataloader.py", to / "src/habana_dataloader/__init__.py")
    return to
