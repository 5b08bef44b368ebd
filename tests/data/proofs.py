"""Saved verifications of several devices, in each of the forms in which they are saved."""

from __future__ import annotations

from typing import Any

TITLES = {"device.available": "available", "numbers.matmul": "matmul", "amp.dtype": "autocast", "suite.fp64": "float64"}


def check(name: str, level: str, seen: str, verdict: str | None = None) -> dict[str, Any]:
    return {"id": name, "title": TITLES[name], "level": level, "seen": seen, "seconds": 0.1, "verdict": verdict}


def verification(device: str, name: str, torch: str, *checks: dict[str, Any]) -> dict[str, Any]:
    verified = all(each["level"] not in ("fail", "crash") for each in checks)
    devices = [{"index": 0, "name": name}]
    return {
        "device": device,
        "devices": devices,
        "versions": {"torch": torch, "python": "3.11.7"},
        "checks": list(checks),
        "verified": verified,
    }


CPU = verification(
    "cpu",
    "x86_64",
    "2.14.1+xpu",
    check("device.available", "ok", "x86_64", "ok"),
    check("numbers.matmul", "ok", "relative difference 0.0e+00", "ok"),
    check("amp.dtype", "ok", "bfloat16", "ok"),
    check("suite.fp64", "ok", "float64", "ok"),
)
ARC = verification(
    "xpu:0",
    "Arc B580",
    "2.14.1+xpu",
    check("device.available", "ok", "Arc B580", "ok"),
    check("numbers.matmul", "warn", "relative difference 2.1e-07", "ok"),
    check("amp.dtype", "ok", "bfloat16", "ok"),
    check("suite.fp64", "skip", "no float64 | in this hardware; expected: none in the silicon", "unsupported"),
)
SIM = verification(
    "simxpu:0",
    "simulated accelerator",
    "2.13.0+cpu",
    check("device.available", "ok", "1 device"),
    check("numbers.matmul", "fail", "relative difference 3.1e-02 at float32, which is more than the limit"),
    check("amp.dtype", "skip", "not run"),
)
SIM["versions"] |= {"extensions": {"simxpu": "simxpu 1.0.0"}}
SIM["level"] = "quick"
FACTS = {
    "system": {"name": "Ubuntu 24.04.3 LTS", "version": "24.04", "kernel": "6.14.0-33-generic", "machine": "x86_64"}
}
ENVELOPE = {"schema": 1, "command": "verify", "ok": True, "result": CPU}
MANIFEST = {"schema": 1, "profile": "torch-2.14", "facts": FACTS, "verification": ARC, "wheels": []}
STATUS = {
    "schema": 1,
    "command": "status",
    "ok": True,
    "result": {"profile": "sim", "machine": "Debian 12 · Linux 6.18 · x86_64", "verification": SIM, "verified": False},
}
