#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# audio.build: torchaudio 2.11.0+xpu from source
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash audio.build.sh
set -eu
STEP=audio.build
AFTER='requirements runtime audio.fetch'
NEEDS=compiler
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/torchaudio-2.11.0+xpu-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/audio log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export BUILD_VERSION=2.11.0+xpu
export CC=gcc
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/audio=audio -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export USE_CUDA=0
export USE_ROCM=0
launch_compilers
cd "$ROOT"/src/audio
run rm -rf "$ROOT"/src/audio.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/audio/build --tools \
  "$ROOT"/src/audio.tools --compiler gcc --compiler g++
run "$ROOT"/venv/bin/python setup.py bdist_wheel --dist-dir "$ROOT"/src/audio.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/collect_wheel.py --from "$ROOT"/src/audio.wheel --distribution \
  torchaudio --version 2.11.0+xpu --into "$ROOT"/wheels --component audio --tree "$ROOT"/src/audio --tool gcc \
  --tool g++
finish
