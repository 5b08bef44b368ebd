#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# simxpu.build: simxpu 1.0.0 from source
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash simxpu.build.sh
set -eu
STEP=simxpu.build
AFTER='requirements torch.install simxpu.fetch'
NEEDS=compiler
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/simxpu-1.0.0-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/simxpu log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export CC=gcc
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/simxpu=simxpu -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export USE_CUDA=0
export USE_ROCM=0
export USE_XPU=0
launch_compilers
cd "$ROOT"/src/simxpu
run rm -rf "$ROOT"/src/simxpu.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/simxpu/build --tools \
  "$ROOT"/src/simxpu.tools --compiler gcc --compiler g++
run "$ROOT"/venv/bin/python setup.py bdist_wheel --dist-dir "$ROOT"/src/simxpu.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/collect_wheel.py --from "$ROOT"/src/simxpu.wheel --distribution simxpu \
  --version 1.0.0 --into "$ROOT"/wheels --component simxpu --tree "$ROOT"/src/simxpu --tool gcc --tool g++
finish
