#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.configure: configure torch, and read what CMake decided
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.configure.sh
set -eu
STEP=torch.configure
AFTER='requirements torch.fetch toolkit'
NEEDS='compiler toolkit'
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
TOOLKIT="$ROOT"/toolkit/bin/icpx
MAKES=("$ROOT"/results/torch.configure.json)
begin

# the 2026.1.0 toolkit
for script in "$ROOT"/toolkit/env.sh; do
  [ -f "$script" ] || fail "the toolkit has no $script" "install the part of the toolkit that brings it, or choose another toolkit: [toolkit] in the site file" 3
done
set +eu
set --
source "$ROOT"/toolkit/env.sh
set -eu
[ -n "${CMPLR_ROOT-}" ] || fail "the toolkit did not set CMPLR_ROOT" "run it by hand and read what it says" 3
command -v icpx >/dev/null || fail "the toolkit has no icpx" "run it by hand and read what it says" 3

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/torch log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export BUILD_TEST=0
export CC=gcc
export CFLAGS=-ffile-prefix-map="$ROOT"'/src/torch=torch -ffile-prefix-map='"$ROOT"/venv=venv
export CMAKE_BUILD_RPATH_USE_ORIGIN=ON
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/torch=torch -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export CXXFLAGS=-ffile-prefix-map="$ROOT"'/src/torch=torch -ffile-prefix-map='"$ROOT"/venv=venv
export GIT_CONFIG_COUNT=6
export GIT_CONFIG_KEY_0=url."$ROOT"/src/torch/third_party/onednn.insteadOf
export GIT_CONFIG_KEY_1=url."$ROOT"/src/torch/third_party/onednn.insteadOf
export GIT_CONFIG_KEY_2=url."$ROOT"/src/torch/third_party/onednn.insteadOf
export GIT_CONFIG_KEY_3=url."$ROOT"/src/torch/third_party/onednn.insteadOf
export GIT_CONFIG_KEY_4=clone.rejectShallow
export GIT_CONFIG_KEY_5=protocol.file.allow
export GIT_CONFIG_VALUE_0=https://github.com/uxlfoundation/oneDNN
export GIT_CONFIG_VALUE_1=https://github.com/uxlfoundation/oneDNN.git
export GIT_CONFIG_VALUE_2=https://github.com/oneapi-src/oneDNN
export GIT_CONFIG_VALUE_3=https://github.com/oneapi-src/oneDNN.git
export GIT_CONFIG_VALUE_4=false
export GIT_CONFIG_VALUE_5=always
export LDFLAGS='-Wl,-rpath,'"'"'$ORIGIN/../../../..'"'"''
export PYTORCH_BUILD_NUMBER=1
export PYTORCH_BUILD_VERSION=2.14.1+xpu
export PYTORCH_EXTRA_INSTALL_REQUIREMENTS='dpcpp-cpp-rt==2026.1.0 | intel-cmplr-lib-rt==2026.1.0 | intel-cmplr-lib-ur==2026.1.0 | intel-cmplr-lic-rt==2026.1.0 | intel-opencl-rt==2026.1.0 | intel-openmp==2026.1.0 | intel-sycl-rt==2026.1.0 | pyzes==0.1.2 | tbb==2023.1.0 | tcmlib==1.5.0 | umf==1.1.0 | triton-xpu==3.8.0'
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export TORCH_XPU_ARCH_LIST=pvc,bmg,dg2,arl-h,mtl-h,lnl-m,ptl-h,ptl-u
export USE_CUDA=0
export USE_KINETO=0
export USE_MPI=0
export USE_ONEMKL_XPU=0
export USE_ROCM=0
export USE_STATIC_MKL=1
export USE_XCCL=0
export USE_XPU=1
export XPUSETUP_SYCL_LOG="$ROOT"/results/sycl.jsonl
cd "$ROOT"/src/torch
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_sycl_toolkit.py --into "$ROOT"/toolkit
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/torch/build --tools \
  "$ROOT"/src/torch.tools --compiler gcc --compiler g++ --compiler "$ROOT"/toolkit/bin/icpx
run rm -rf "$ROOT"/src/torch/build/CMakeCache.txt "$ROOT"/src/torch.configured
run "$ROOT"/venv/bin/python -m build --wheel --no-isolation --outdir "$ROOT"/src/torch.configured \
  -Ccmake.define.FETCHCONTENT_SOURCE_DIR_REPO-SYCL-TLA="$ROOT"/src/torch/third_party/sycl-tla \
  -Ccmake.define.CMAKE_PROJECT_TOP_LEVEL_INCLUDES="$ROOT"/helpers/heavy_edges.cmake -Cbuild.targets=help \
  -Cinstall.components=nothing '-Cwheel.exclude=**'
run "$ROOT"/venv/bin/python "$ROOT"/helpers/check_configure.py --build "$ROOT"/src/torch/build --off USE_CUDA --off \
  USE_KINETO --off USE_MPI --off USE_ONEMKL_XPU --off USE_ROCM --on USE_STATIC_MKL --off USE_XCCL --on USE_XPU \
  --out "$ROOT"/results/torch.configure.json
finish
