"""Pages whose code people copy: every block is run, on the CPU and on the simulated accelerator, and names exist."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from e2e.support import CHECKOUT, by_name

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]

PAGE = (CHECKOUT / "docs/from-cuda-to-xpu.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
ROWS = re.findall(r"^\| .*\| `(torch\.[\w.]+)\(.*\| ([^|]*) \|$", PAGE, re.MULTILINE)
ASK = """
import functools, json, sys
there = lambda name: functools.reduce(lambda at, part: getattr(at, part, None), name.split(".")[1:], torch) is not None
print(json.dumps({"device": device.type, "absent": [name for name in sys.argv[1:] if not there(name)]}))
"""


@pytest.mark.parametrize(("autoload", "device"), [by_name("0", "cpu"), ("1", "simxpu")])
def test_every_block_runs_and_the_table_offers_what_is_there(torch_python: str, autoload: str, device: str) -> None:
    names = [name for name, _since in ROWS]
    assert (len(BLOCKS) > 2, len(names) > 18) == (True, True)
    assert sum(block.count("assert ") for block in BLOCKS) > 3
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    words = (torch_python, "-c", "\n".join([*BLOCKS, ASK]), *names, "torch.accelerator.nothing")
    done = subprocess.run(words, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"device": device, "absent": ["torch.accelerator.nothing"]}
