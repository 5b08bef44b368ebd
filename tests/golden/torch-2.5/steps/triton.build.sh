#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# triton.build: pytorch-triton-xpu 3.1.0 from source
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash triton.build.sh
set -eu
STEP=triton.build
AFTER='requirements triton.fetch'
NEEDS=compiler
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/pytorch_triton_xpu-3.1.0-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/triton log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export CC=gcc
export CFLAGS=-ffile-prefix-map="$ROOT"'/src/triton=triton -ffile-prefix-map='"$ROOT"/venv=venv
export CMAKE_BUILD_RPATH_USE_ORIGIN=ON
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CMAKE_PROJECT_TOP_LEVEL_INCLUDES="$ROOT"/src/triton.cmake
export CMAKE_TOOLCHAIN_FILE="$ROOT"/src/triton.cmake
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/triton=triton -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export CXXFLAGS=-ffile-prefix-map="$ROOT"'/src/triton=triton -ffile-prefix-map='"$ROOT"/venv=venv
export GIT_CONFIG_COUNT=4
export GIT_CONFIG_KEY_0=url."$ROOT"/src/triton/third_party/SPIRV-LLVM-Translator.insteadOf
export GIT_CONFIG_KEY_1=url."$ROOT"/src/triton/third_party/SPIRV-LLVM-Translator.insteadOf
export GIT_CONFIG_KEY_2=clone.rejectShallow
export GIT_CONFIG_KEY_3=protocol.file.allow
export GIT_CONFIG_VALUE_0=https://github.com/KhronosGroup/SPIRV-LLVM-Translator
export GIT_CONFIG_VALUE_1=https://github.com/KhronosGroup/SPIRV-LLVM-Translator.git
export GIT_CONFIG_VALUE_2=false
export GIT_CONFIG_VALUE_3=always
export LLVM_SYSPATH="$ROOT"/src/triton.llvm
export PYBIND11_SYSPATH="$ROOT"/src/triton.pybind11
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export TRITON_BUILD_PROTON=0
export TRITON_OFFLINE_BUILD=1
export TRITON_WHEEL_NAME=pytorch-triton-xpu
export USE_CUDA=0
cd "$ROOT"/src/triton/python
run rm -rf "$ROOT"/src/triton.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/triton/python/build --tools \
  "$ROOT"/src/triton.tools --compiler gcc --compiler g++
run "$ROOT"/venv/bin/python "$ROOT"/helpers/write_defines.py --define \
  LLVM_EXTERNAL_SPIRV_HEADERS_SOURCE_DIR="$ROOT"/src/triton/third_party/SPIRV-Headers --define \
  CCACHE_ALLOWED=OFF --into "$ROOT"/src/triton.cmake
run "$ROOT"/venv/bin/python "$ROOT"/helpers/refresh_clones.py --build "$ROOT"/src/triton/python/build --clones \
  https://github.com/KhronosGroup/SPIRV-LLVM-Translator
run "$ROOT"/venv/bin/python setup.py bdist_wheel --dist-dir "$ROOT"/src/triton.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/collect_wheel.py --from "$ROOT"/src/triton.wheel --distribution \
  pytorch-triton-xpu --version 3.1.0 --into "$ROOT"/wheels --component triton --tree "$ROOT"/src/triton \
  --archive "$ROOT"/src/triton.llvm --archive "$ROOT"/src/triton.pybind11 --tool gcc --tool g++
finish
