#!/usr/bin/env bash
# Guess: if pip and `pip check` accept torchaudio beside a torch for the CPU, `import torchaudio` works.
# Seen: torchaudio 2.11.1 of the package index asks for torch>=2.11 and for nothing of CUDA, yet its library is linked with
#   libtorch_cuda.so and libc10_cuda.so. Beside torch 2.13.0+cpu everything installs, `pip check` is content, the import is an OSError.
# Why it matters: a local version (+cpu, +xpu) satisfies any such requirement, so a plain `pip install torchaudio` breaks every torch
#   that is not for CUDA, and no resolver can see it.
# Seen with: torchaudio 2.11.1, torch 2.13.0+cpu, pip 26.2, Python 3.11, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
pip=("$work/env/bin/python" -m pip --disable-pip-version-check)
"${pip[@]}" install -q torch==2.13.0+cpu torchaudio==2.11.1 2>/dev/null
"${pip[@]}" check
said=$("$work/env/bin/python" -c 'import torchaudio' 2>&1) && { echo "changed: import torchaudio works"; exit 1; }
reason=$(grep -m 1 -oE 'lib(torch_cuda|c10_cuda|cudart)[^:]*: cannot open.*' <<<"$said") || { echo "changed: another reason: $said"; exit 1; }
echo "import torchaudio: $reason"
