"""The real torchaudio 2.6.0: from an unpacked source archive, by one command, on a torch that is there already.

The archive is upstream's of v2.6.0, as Debian keeps it; the torch is 2.13.0+cpu, of another release than upstream's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.support import Said, caller, xpusetup
from real.apt_source import AUDIO, write_debian_archive
from real.vision_source import unpack

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("audio")]
PROFILE = Path(__file__).parents[1] / "profiles/audio-2.6.toml"
PROGRAM = """
import json, torch, torchaudio
assert torchaudio._extension._IS_ALIGN_AVAILABLE and torchaudio._extension._IS_RIR_AVAILABLE
wave = torch.sin(torch.arange(16000) / 16000 * 440 * 2 * torch.pi).unsqueeze(0)
low = torchaudio.functional.lowpass_biquad(wave, 16000, 100.0)  # lfilter of libtorchaudio.so
probabilities = torch.full((1, 5, 3), 0.1).log()
probabilities[0, torch.arange(5), torch.tensor([1, 1, 0, 2, 2])] = torch.tensor(0.8).log()
path, _ = torchaudio.functional.forced_align(probabilities, torch.tensor([[1, 2]], dtype=torch.int32), blank=0)
quiet = bool(low.abs()[0, 8000:].max() < 0.1 * wave.abs().max())
print(json.dumps({"version": torchaudio.__version__, "quiet": quiet, "path": path[0].tolist()}))
"""


def build(work: Path, tree: Path, *more: str) -> Said:
    """One command: audio alone, from the archive, into the environment that has torch."""
    own = ("--only", "audio", "--source", f"audio={tree}", "--into", str(work / "env"))
    words = ("--profile", str(PROFILE), "--root", str(work / "root"), *own, "--json", *more)
    return xpusetup("build", *words, env=caller(work / "home"))


def test_torchaudio_from_an_archive_on_a_ready_torch(tmp_path: Path) -> None:
    (tmp_path / "apt").mkdir()
    tree = unpack(write_debian_archive(tmp_path / "apt", AUDIO), tmp_path / "unpacked")
    subprocess.run((sys.executable, "-m", "venv", str(tmp_path / "env")), check=True)
    python = str(tmp_path / "env/bin/python")
    subprocess.run((python, "-m", "pip", "install", "--quiet", "torch==2.13.0+cpu"), check=True)
    built = build(tmp_path, tree).result
    assert {name.partition(".")[0] for name in built["ran"]} == {"venv", "requirements", "torch", "audio"}
    assert [name for name in built["ran"] if name.startswith("torch")] == ["torch.ready"]
    assert [(wheel["name"], wheel["version"]) for wheel in built["wheels"]] == [("torchaudio", "2.6.0+cpu")]
    inspected = json.loads((tmp_path / "root/results/audio.inspect.json").read_text())
    assert inspected["ok"], inspected
    search = next(check for check in inspected["checks"] if check["id"] == "wheel.rpath")
    assert "_torchaudio.so needs libtorchaudio.so, which torchaudio/_extension/__init__.py" in search["seen"]
    done = subprocess.run((python, "-c", PROGRAM), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"version": "2.6.0+cpu", "quiet": True, "path": [1, 1, 0, 2, 2]}
    assert set(build(tmp_path, tree).result["ran"]) == {"torch.ready", "audio.fetch", "audio.build"}
