"""Pages whose code people copy: every block is run, on the CPU and on the simulated accelerator, and names exist."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from e2e.support import CHECKOUT

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]

PAGE = (CHECKOUT / "docs/from-cuda-to-xpu.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
ROWS = re.findall(r"^\| .*\| `(torch\.[\w.]+)\(.*\| ([^|]*) \|$", PAGE, re.MULTILINE)
ASK = """
import functools, json, sys, torch
there = lambda name: functools.reduce(lambda at, part: getattr(at, part, None), name.split(".")[1:], torch) is not None
print(json.dumps({name: there(name) for name in json.loads(sys.argv[1])}))
"""


def run(python: str, code: str, *arguments: str, autoload: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    return subprocess.run((python, "-c", code, *arguments), env=env, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(("autoload", "device"), [("0", "cpu"), ("1", "simxpu")])
def test_every_block_runs(torch_python: str, autoload: str, device: str) -> None:
    assert len(BLOCKS) > 4
    assert sum(block.count("assert ") for block in BLOCKS) > 6
    done = run(torch_python, "\n".join([*BLOCKS, "print(device.type)"]), autoload=autoload)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [device]


def test_what_the_table_offers_is_there(torch_python: str) -> None:
    names = [name for name, _since in ROWS]
    assert len(names) > 18
    found = json.loads(run(torch_python, ASK, json.dumps([*names, "torch.accelerator.nothing"]), autoload="0").stdout)
    assert [name for name, there in found.items() if not there] == ["torch.accelerator.nothing"]
