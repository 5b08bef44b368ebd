"""Keeps of pip's report what was installed: names, versions and hashes.

Where it came from, by which pip and under which kernel would make two results of what is the same one; then another
mirror or a bundle would compile again what follows from it.
"""

import argparse
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from helperlib.env.pins import hash_file
from helperlib.output import write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    path: Path = parser.parse_args().report
    rows: list[dict[str, str]] = [
        {
            "name": item["metadata"]["name"],
            "version": item["metadata"]["version"],
            "sha256": hash_of(item["download_info"]),
        }
        for item in json.loads(path.read_text(encoding="utf-8"))["install"]
    ]
    write_json(path, sorted(rows, key=lambda row: row["name"].lower()), indent=1)


def hash_of(told: dict[str, Any]) -> str:
    """Give the hash of what was downloaded; pip before 23.1 tells none of a file on this disk."""
    found = str(told.get("archive_info", {}).get("hashes", {}).get("sha256", ""))
    path = Path(unquote(urlsplit(told.get("url", "")).path))
    here = not found and str(told.get("url", "")).startswith("file:") and path.is_file()
    return hash_file(path) if here else found


if __name__ == "__main__":
    main()
