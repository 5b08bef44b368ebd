"""Keeps of pip's report what was installed: names, versions and hashes.

Where it came from, by which pip and under which kernel would make two results of what is the same one; then another
mirror or a bundle would compile again what follows from it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from helperlib.output import write_json


def main() -> None:
    """Read the report and write what is left of it in its place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    path: Path = parser.parse_args().report
    rows: list[dict[str, str]] = [
        {
            "name": item["metadata"]["name"],
            "version": item["metadata"]["version"],
            "sha256": item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", ""),
        }
        for item in json.loads(path.read_text(encoding="utf-8"))["install"]
    ]
    write_json(path, sorted(rows, key=lambda row: row["name"].lower()), indent=1)


if __name__ == "__main__":
    main()
