"""The plans of torch-2.5 and torch-2.14, re-pinned to stand-ins, run to wheels from a shell full of traps."""

import sys
from pathlib import Path

import pytest

from standins.eras import SITES, Eras, run, runtime_of, triton_of
from standins.oneapi import NOTE

pytestmark = pytest.mark.e2e
OLD = pytest.param("torch-2.5", marks=pytest.mark.xdist_group("eras-2.5"))
NEW = pytest.param("torch-2.14", marks=pytest.mark.xdist_group("eras-2.14"))
old, new = pytest.mark.parametrize("name", [OLD]), pytest.mark.parametrize("name", [NEW])
both = pytest.mark.parametrize("name", [OLD, pytest.param(*NEW.values, marks=(*NEW.marks, pytest.mark.long))])

VERSIONS = {
    "torch-2.5": {
        "torch": "2.5.1+xpu",
        "pytorch-triton-xpu": "3.1.0",
        "torchvision": "0.20.1+xpu",
        "torchaudio": "2.5.1+xpu",
    },
    "torch-2.14": {
        "torch": "2.14.1+xpu",
        "triton-xpu": triton_of("torch-2.14"),
        "torchvision": "0.29.1+xpu",
        "torchaudio": "2.11.0+xpu",
    },
}
LOADED = """
import torch, torchvision, torchaudio
names = [line.split()[-1] for line in open("/proc/self/maps") if "libsycl.so" in line]
print(torch.__version__, torchvision.describe(), torchaudio.describe(), names[0], len(set(names)))
"""


@both
def test_a_profile_becomes_wheels_of_exact_versions(eras: Eras, name: str) -> None:
    built = eras.built(name)
    wheels = built.result["wheels"]
    assert {wheel["name"]: wheel["version"] for wheel in wheels} == VERSIONS[name]
    made = {path.name for path in (built.root / "wheels").glob("*.whl")}
    assert {Path(wheel["path"]).name for wheel in wheels} == made
    assert built.result["verified"] is None
    manifest = built.read("manifest.json")
    assert manifest["verified"] is None
    assert manifest["wheels"] == wheels


@both
def test_inspection_saw_xpu_and_its_libraries(eras: Eras, name: str) -> None:
    found = eras.built(name).read("results/torch.inspect.json")
    levels = {check["id"]: check["level"] for check in found["checks"]}
    assert {levels[f"wheel.{check}"] for check in ("version", "tags", "xpu", "abi", "rpath", "paths")} == {"ok"}
    (xpu,) = (library for library in found["libraries"] if library["path"].endswith("libtorch_xpu.so"))
    soname, rpath, requires = {
        "torch-2.5": ("libsycl.so.7", ["$ORIGIN"], set[str]()),
        "torch-2.14": (
            "libsycl.so.9",
            ["$ORIGIN/../../../..", "$ORIGIN"],
            {f"intel-sycl-rt=={runtime_of(name)}", f"triton-xpu=={triton_of(name)}"},
        ),
    }[name]
    assert soname in xpu["needed"]
    assert xpu["rpath"] == rpath
    assert set(found["requires"]) - {"typing-extensions>=4.8.0", "typing-extensions>=4.10.0"} == requires


@both
def test_vision_and_audio_imported_the_torch_that_was_built(eras: Eras, name: str) -> None:
    for component in ("vision", "audio"):
        log = (eras.built(name).root / f"logs/{component}.build.log").read_text()
        assert f"torch {VERSIONS[name]['torch']}, XPU compiled: True" in log


@both
def test_the_second_build_does_nothing(eras: Eras, name: str) -> None:
    root = eras.built(name).root
    again = eras.stand(name).build(root, site=SITES.get(name, "")).result
    assert (again["ran"], again["verified"]) == ([], None)
    assert again["wheels"] == eras.built(name).result["wheels"]
    said = eras.stand(name).call("build", "--root", root, site=SITES.get(name, ""))
    assert said.returncode == 0, said.stderr
    assert "built, not verified" in said.stdout


@both
def test_a_required_verification_ends_with_4(eras: Eras, name: str) -> None:
    built = eras.stand(name).build(eras.built(name).root, "--verify", "require", site=SITES.get(name, ""))
    assert built.code == 4
    assert "no Intel GPU here" in built.document["error"]["message"]


@both
def test_a_command_runs_in_the_built_environment(eras: Eras, name: str) -> None:
    root, stand = eras.built(name).root, eras.stand(name)
    done = stand.call("run", "--root", root, "--", "python", "-c", LOADED, LD_LIBRARY_PATH="")
    assert done.returncode == 0, done.stderr
    library = {
        "torch-2.5": stand.oneapi / "compiler/2024.1/lib/libsycl.so.7",
        "torch-2.14": root.resolve() / "venv/lib/libsycl.so.9",
    }[name]
    assert done.stdout == f"{VERSIONS[name]['torch']} torchvision:3 torchaudio:3 {library} 1\n"


def evaluated(eras: Eras, name: str, *options: str) -> dict[str, str]:
    """Give the environment of a bash that evaluated what `env` prints."""
    said = eras.stand(name).call("env", "--root", eras.built(name).root, *options)
    assert said.returncode == 0, said.stderr
    command = ("bash", "-c", 'set -eu; eval "$1"; env -0', "bash", said.stdout)
    done = run(command, {"PATH": "/usr/bin:/bin", "PYTHONPATH": "/nowhere"}, eras.built(name).root)
    assert done.returncode == 0, done.stderr
    return dict(entry.partition("=")[::2] for entry in done.stdout.split("\0") if entry)


@old
@pytest.mark.parametrize("options", [(), ("--build",)])
def test_the_old_era_needs_the_toolkit_at_run_time(eras: Eras, name: str, options: tuple[str, ...]) -> None:
    seen = evaluated(eras, name, *options)
    assert seen[NOTE] == "first line\nsecond line = with 'quotes' and $signs"
    assert seen["CMPLR_ROOT"] == f"{eras.stand(name).oneapi}/compiler/2024.1"
    assert seen["PATH"].startswith(f"{eras.built(name).root.resolve()}/venv/bin:")
    assert "PYTHONPATH" not in seen


@pytest.mark.long
@new
def test_the_new_era_needs_wheels_alone(eras: Eras, name: str) -> None:
    seen = evaluated(eras, name)
    assert seen["PATH"].startswith(f"{eras.built(name).root.resolve()}/venv/bin:")
    assert not {"LD_LIBRARY_PATH", "CMPLR_ROOT", "ONEAPI_ROOT"} & set(seen)
    assert evaluated(eras, name, "--build")["CMPLR_ROOT"] == f"{eras.stand(name).oneapi}/compiler/2026.1"


@pytest.mark.long
@pytest.mark.parametrize("name", [OLD, NEW])
def test_bash_alone_makes_the_same_bytes_elsewhere(eras: Eras, name: str, tmp_path: Path) -> None:
    stand, folder = eras.stand(name), tmp_path / "a-folder-with-a-longer-name"
    expected = {Path(wheel["path"]).name: wheel["sha256"] for wheel in eras.built(name).result["wheels"]}
    assert stand.call("emit shell", "--out", folder, site=SITES.get(name, "")).returncode == 0
    path = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    done = run(("bash", f"{folder}/build.sh"), stand.environment(PATH=path), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "built, not verified" in done.stdout
    sums = run(("sh", "-c", "sha256sum *.whl"), {"PATH": "/usr/bin:/bin"}, folder / "wheels").stdout
    assert {line.split()[1]: line.split()[0] for line in sums.splitlines()} == expected
