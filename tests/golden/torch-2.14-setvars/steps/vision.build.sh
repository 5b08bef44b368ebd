#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# vision.build: torchvision 0.29.1+xpu from source
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash vision.build.sh
set -eu
STEP=vision.build
AFTER='requirements runtime vision.fetch'
NEEDS=compiler
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/torchvision-0.29.1+xpu-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/vision log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export BUILD_VERSION=0.29.1+xpu
export CC=gcc
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/vision=vision -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export FORCE_CUDA=0
export PYTORCH_VERSION=2.14.1
export TORCHVISION_USE_FFMPEG=0
export TORCHVISION_USE_JPEG=0
export TORCHVISION_USE_NVJPEG=0
export TORCHVISION_USE_PNG=0
export TORCHVISION_USE_VIDEO_CODEC=0
export TORCHVISION_USE_WEBP=0
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export USE_CUDA=0
export USE_ROCM=0
launch_compilers
cd "$ROOT"/src/vision
run rm -rf "$ROOT"/src/vision.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/vision/build --tools \
  "$ROOT"/src/vision.tools --compiler gcc --compiler g++
run "$ROOT"/venv/bin/python setup.py bdist_wheel --dist-dir "$ROOT"/src/vision.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/collect_wheel.py --from "$ROOT"/src/vision.wheel --distribution \
  torchvision --version 0.29.1+xpu --into "$ROOT"/wheels --component vision --tree "$ROOT"/src/vision --tool \
  gcc --tool g++
finish
