"""Climbs Level Zero as a program would: the loader, zeInit, drivers, devices. Prints one JSON line per rung.

The last line counts, so that a driver that crashes leaves what was reached before. Standard library alone.
"""

import ctypes as c
import json
import uuid
from pathlib import Path
from typing import Any

LOADER = "libze_loader.so.1"
DRIVER_PROPERTIES, DEVICE_PROPERTIES, MEMORY_PROPERTIES = 0x1, 0x3, 0x7
KINDS = {1: "gpu", 2: "cpu", 3: "fpga", 4: "mca", 5: "vpu"}
U32, U64 = c.c_uint32, c.c_uint64


class DriverProperties(c.Structure):
    """ze_driver_properties_t."""

    _fields_ = (("stype", U32), ("next", c.c_void_p), ("uuid", c.c_uint8 * 16), ("version", U32))


class ZeDeviceProperties(c.Structure):
    """ze_device_properties_t."""

    _fields_ = (
        *(("stype", U32), ("next", c.c_void_p), ("kind", U32), ("vendor", U32), ("device", U32), ("flags", U32)),
        *(("subdevice", U32), ("clock", U32), ("max_allocation", U64), ("contexts", U32), ("priority", U32)),
        *(("threads", U32), ("simd", U32), ("units", U32), ("subslices", U32), ("slices", U32)),
        *(("timer", U64), ("timestamp_bits", U32), ("kernel_timestamp_bits", U32)),
        *(("uuid", c.c_uint8 * 16), ("name", c.c_char * 256)),
    )


class MemoryProperties(c.Structure):
    """ze_device_memory_properties_t."""

    _fields_ = (
        *(("stype", U32), ("next", c.c_void_p), ("flags", U32), ("clock", U32), ("width", U32)),
        *(("size", U64), ("name", c.c_char * 256)),
    )


def main() -> None:
    seen: dict[str, Any] = {"loader": None, "error": "", "init": None, "drivers": None, "devices": []}
    try:
        loader = c.CDLL(LOADER)
    except OSError as error:
        tell({**seen, "error": str(error)})
        return
    seen["loader"] = path_of(LOADER)
    tell(seen)
    seen["init"] = loader.zeInit(0) & 0xFFFFFFFF
    tell(seen)
    if seen["init"] != 0:
        return
    drivers = handles(loader.zeDriverGet)
    seen["drivers"] = len(drivers)
    tell(seen)
    for driver in drivers:
        properties = DriverProperties(stype=DRIVER_PROPERTIES)
        is_told = loader.zeDriverGetProperties(driver, c.byref(properties)) == 0
        version = properties.version if is_told else None  # a number of the driver's own making
        for device in handles(lambda count, array, driver=driver: loader.zeDeviceGet(driver, count, array)):
            seen["devices"].append(look(loader, device, version))
            tell(seen)


def handles(call: Any) -> list[c.c_void_p]:
    """Ask how many there are, then for them; a call that fails gives none."""
    count = U32(0)
    if call(c.byref(count), None) != 0 or not count.value:
        return []
    array = (c.c_void_p * count.value)()
    return [c.c_void_p(each) for each in array[: count.value]] if call(c.byref(count), array) == 0 else []


def look(loader: Any, device: c.c_void_p, version: int | None) -> dict[str, Any]:
    """Give what a device says of itself."""
    seen = ZeDeviceProperties(stype=DEVICE_PROPERTIES)
    if loader.zeDeviceGetProperties(device, c.byref(seen)) != 0:
        return {"name": "", "driver_version": version}
    return {
        "name": seen.name.decode(errors="replace"),
        "uuid": str(uuid.UUID(bytes=bytes(seen.uuid))),
        "vendor": f"{seen.vendor & 0xFFFF:04x}",
        "device": f"{seen.device & 0xFFFF:04x}",
        "kind": KINDS.get(seen.kind, ""),
        "driver_version": version,
        "memory": memory_of(loader, device),
    }


def memory_of(loader: Any, device: c.c_void_p) -> int | None:
    """Give a device's memory in bytes, all its banks together."""
    count = U32(0)
    if loader.zeDeviceGetMemoryProperties(device, c.byref(count), None) != 0 or not count.value:
        return None
    banks = (MemoryProperties * count.value)(*(MemoryProperties(stype=MEMORY_PROPERTIES) for _ in range(count.value)))
    if loader.zeDeviceGetMemoryProperties(device, c.byref(count), banks) != 0:
        return None
    return sum(int(bank.size) for bank in banks)


def path_of(name: str) -> str:
    """Give where a loaded library lies."""
    stem = name.partition(".so")[0]
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        lines = [line.split(None, 5)[-1].strip() for line in maps if f"/{stem}.so" in line]
    return lines[0] if lines else name


def tell(seen: dict[str, Any]) -> None:
    """Print a rung at once: the next one may be the last."""
    print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main()
