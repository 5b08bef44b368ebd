#!/usr/bin/env bash
# Guess: the members of a wheel's ahead-of-time device code (a Unix archive made by ocloc) are named by the version of the GPU,
#   64.12.60.7 for pvc, so a list of versions tells which GPUs have machine code.
# Seen: where the build asked for a family (bmg, dg2), the member is called 64.bmg or 64.dg2 and stands for all GPUs of it. Where it
#   asked for a version, the member is called by that. One archive holds both kinds of names. The ELF inside says which version it is.
# Why it matters: whoever reads the versions alone reports that Battlemage and Alchemist have no code in wheels that have it. The same
#   reader, held against `-device pvc,bmg,dg2`, ends a build after hours.
# Seen with: torchcodec-xpu 0.17.0, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
pip=("$work/env/bin/python" -m pip --disable-pip-version-check -q)
"${pip[@]}" install zstandard==0.25.0
"${pip[@]}" download --no-deps --only-binary :all: --python-version 3.11 --platform manylinux_2_24_x86_64 -d "$work" torchcodec-xpu==0.17.0
"$work/env/bin/python" - "$work"/*.whl <<'END'
import re, sys, zipfile
import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"  # images are compressed one by one
members = set()
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in [each for each in wheel.namelist() if "xpu_ops" in each and ".so" in each][:1]:
        data = wheel.read(name)
        for found in re.finditer(re.escape(MAGIC), data):
            try:
                image = zstandard.ZstdDecompressor().decompressobj().decompress(data[found.start() :])
            except zstandard.ZstdError:
                continue
            if image.startswith(b"!<arch>\n"):
                members |= {word.decode() for word in re.findall(rb"(?<![\w.])(?:64\.[a-z0-9.]+|generic_ir)(?=/)", image)}
print("members:", ", ".join(sorted(members)))
by_family = {each for each in members if re.fullmatch(r"64\.[a-z]+\d*", each)}
by_version = {each for each in members if re.fullmatch(r"64(\.\d+)+", each)}
sys.exit(0 if {"64.bmg", "64.dg2"} <= by_family and by_version else "changed: no mixture of names")
END
