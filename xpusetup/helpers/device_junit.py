"""A verification as JUnit XML, the form that CI servers show."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, not even escaped."""
TAGS = {"fail": "failure", "crash": "error", "skip": "skipped"}


def render_junit(document: dict[str, Any]) -> str:
    """Give the document of verify_device.py as one test suite: a test case a check, its area as the class."""
    checks = document["checks"]
    levels = [check["level"] for check in checks]
    suite = ET.Element(
        "testsuite",
        name=f"xpusetup verify {document['device']}",
        tests=str(len(checks)),
        failures=str(levels.count("fail")),
        errors=str(levels.count("crash")),
        skipped=str(levels.count("skip")),
        time=f"{sum(check['seconds'] or 0 for check in checks):.3f}",
    )
    add_properties(suite, document)
    for check in checks:
        add_case(suite, check)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def add_properties(suite: ET.Element, document: dict[str, Any]) -> None:
    names = [str(device.get("name")) for device in document["devices"][:1]]
    known = {"device": document["device"], "name": "".join(names), "torch": document["versions"].get("torch")}
    properties = ET.SubElement(suite, "properties")
    for name, value in known.items():
        ET.SubElement(properties, "property", name=name, value=clean(value or ""))


def add_case(suite: ET.Element, check: dict[str, Any]) -> None:
    area = check["id"].partition(".")[0]
    seconds = f"{check['seconds'] or 0:.3f}"
    case = ET.SubElement(suite, "testcase", classname=f"verify.{area}", name=check["id"], time=seconds)
    caused = f" (follows from {check['caused_by']})" if check["caused_by"] else ""
    tag = TAGS.get(check["level"])
    if tag is None:
        ET.SubElement(case, "system-out").text = clean(check["seen"])
        return
    trouble = ET.SubElement(case, tag, message=clean(check["seen"] + caused))
    lines = [f"limit: {check['limit']}"] if check["limit"] else []
    trouble.text = clean("\n".join([*lines, *check.get("stack", ())])) or None


def clean(text: str) -> str:
    return UNPRINTABLE.sub("?", text)
