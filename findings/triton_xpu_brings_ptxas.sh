#!/usr/bin/env bash
# Guess: the wheel of Triton for Intel GPUs brings ocloc, or no program at all; nothing of NVIDIA's.
# Seen on 2026-11-29, triton-xpu 3.3.0b1 for Python 3.12, x86_64: it brings NVIDIA's ptxas twice (29 and 30 MB), with
# cuobjdump and nvdisasm, and no ocloc.
# Why it matters: an image for Intel GPUs carries 70 MB of tools that nothing calls there, and who looks at files alone
# takes the environment for one of CUDA.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.12 --platform manylinux_2_27_x86_64 \
    --dest "$work" triton-xpu==3.3.0b1
files=$(python3 -m zipfile --list "$work"/triton_xpu-*.whl)
grep -E 'ptxas|cuobjdump|nvdisasm|ocloc' <<<"$files" || true

ptxas=$(grep -cE '/ptxas(-blackwell)? ' <<<"$files" || true)
ocloc=$(grep -cE '/ocloc ' <<<"$files" || true)
[ "$ptxas" = 2 ] && [ "$ocloc" = 0 ] || { echo "changed: $ptxas times ptxas, $ocloc times ocloc"; exit 1; }
echo "ptxas twice, no ocloc"
