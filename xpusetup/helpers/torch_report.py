"""Says what `import torch` does here. Runs with the interpreter of the environment in question; one JSON line.

Each step adds to the report, so that a step that fails or ends the process leaves what was seen before it.
"""

import json
import sys
import time
import warnings
from typing import Any

from helperlib.output import LONGEST, words_of

MESSAGES = 8
PROCESSOR = " (processor)"


def main() -> None:
    """Import torch and ask it about its accelerator, its last word printed as one line."""
    began = time.perf_counter()
    seen: dict[str, Any] = {"error": "", "messages": [], "seconds": 0.0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            import torch  # noqa: PLC0415 - what it does is the question

            seen["version"] = torch.__version__
            seen["xpu"], seen["cuda"] = (getattr(torch.version, name, None) for name in ("xpu", "cuda"))
            seen["cxx11_abi"] = bool(torch.compiled_with_cxx11_abi())
            if (device := getattr(torch, "xpu", None)) is not None:  # what needs a device last
                seen["compiled"] = bool(getattr(device, "_is_compiled", lambda: None)())
                seen["available"], seen["count"] = bool(device.is_available()), int(device.device_count())
                seen["devices"] = [name_device(device, index) for index in range(seen["count"])]
        except BaseException as error:  # noqa: BLE001 - an extension may raise anything, or exit
            seen["error"] = words_of(error)
    seen["messages"] = list(dict.fromkeys(str(each.message)[:LONGEST] for each in caught))[:MESSAGES]
    seen["seconds"] = round(time.perf_counter() - began, 3)
    sys.stdout.write(json.dumps(seen) + "\n")


def name_device(device: Any, index: int) -> str:
    """Give the name of a device; what is no GPU, as XPU may be that was built for the processor, says so."""
    kind = getattr(device.get_device_properties(index), "type", None)
    return f"{device.get_device_name(index)}{PROCESSOR if kind == 'cpu' else ''}"


if __name__ == "__main__":
    main()
