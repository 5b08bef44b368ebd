#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# spline-conv.build: torch-spline-conv 1.2.2 from source
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash spline-conv.build.sh
set -eu
STEP=spline-conv.build
AFTER='requirements spline-conv.interface spline-conv.fetch'
NEEDS=compiler
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/torch_spline_conv-1.2.2-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/spline-conv log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export CC=gcc
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/spline-conv=spline-conv -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export FORCE_ONLY_CPU=1
export SETUPTOOLS_SCM_PRETEND_VERSION=1.2.2
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export USE_CUDA=0
export USE_ROCM=0
export USE_XPU=0
launch_compilers
cd "$ROOT"/src/spline-conv
run rm -rf "$ROOT"/src/spline-conv.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/spline-conv/build --tools \
  "$ROOT"/src/spline-conv.tools --compiler gcc --compiler g++
run "$ROOT"/venv/bin/python setup.py bdist_wheel --dist-dir "$ROOT"/src/spline-conv.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/collect_wheel.py --from "$ROOT"/src/spline-conv.wheel --distribution \
  torch-spline-conv --version 1.2.2 --into "$ROOT"/wheels --component spline-conv --tree \
  "$ROOT"/src/spline-conv --tool gcc --tool g++
run "$ROOT"/venv/bin/python "$ROOT"/helpers/torch_interface.py record --used "$ROOT"/results/spline-conv.used.json \
  --leave-out torch/csrc/api/include/torch/version.h --leave-out torch/headeronly/version.h \
  --leave-lines=caffe2/core/macros.h:TORCH_VERSION --leave-lines=caffe2/core/macros.h:COMMIT_SHA --tree \
  "$ROOT"/src/spline-conv --wheels "$ROOT"/wheels --distribution torch-spline-conv --version 1.2.2
finish
