#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# audio.build: torchaudio 2.5.1+xpu from source
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash audio.build.sh
set -eu
STEP=audio.build
AFTER='requirements torch.install audio.fetch'
NEEDS='compiler toolkit'
KEEP='HOME PATH LANG TMPDIR TERM MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
TOOLKIT=/opt/intel/oneapi/pytorch-gpu-dev-0.5/bin/icpx
BUILD_PATH=/usr/local/src
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/torchaudio-2.5.1+xpu-*.whl')
begin

# the 2024.1.4 toolkit
for script in /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh /opt/intel/oneapi/pti/latest/env/vars.sh; do
  [ -f "$script" ] || fail "the toolkit has no $script" "install the part of the toolkit that brings it, or choose another toolkit: [toolkit] in the site file" 3
done
set +eu
set --
source /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh
source /opt/intel/oneapi/pti/latest/env/vars.sh
set -eu
[ -n "${CMPLR_ROOT-}" ] || fail "the toolkit did not set CMPLR_ROOT" "run it by hand and read what it says" 3
command -v icpx >/dev/null || fail "the toolkit has no icpx" "run it by hand and read what it says" 3
icpx --version | grep -qF -- 2024.1.4 || fail "the toolkit that was switched on is not 2024.1.4" "choose another one: [toolkit] in the site file" 3

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
SOURCE_DATE_EPOCH=$(git -C "$ROOT"/src/audio log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export BUILD_SOX=0
export BUILD_VERSION=2.5.1+xpu
export CC=gcc
export CFLAGS=-ffile-prefix-map="$ROOT"'/src/audio=audio -ffile-prefix-map='"$ROOT"/venv=venv
export CMAKE_BUILD_RPATH_USE_ORIGIN=ON
export CMAKE_PREFIX_PATH="$ROOT"/venv
export CPPFLAGS=-ffile-prefix-map="$ROOT"'/src/audio=audio -ffile-prefix-map='"$ROOT"/venv=venv
export CXX=g++
export CXXFLAGS=-ffile-prefix-map="$ROOT"'/src/audio=audio -ffile-prefix-map='"$ROOT"/venv=venv
export PYTORCH_VERSION=2.5.1
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
export USE_CUDA=0
export USE_FFMPEG=0
export USE_ROCM=0
cd "$ROOT"/src/audio
run rm -rf "$ROOT"/src/audio.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fresh_build.py --build "$ROOT"/src/audio/build --tools \
  "$ROOT"/src/audio.tools --compiler gcc --compiler g++ --compiler \
  /opt/intel/oneapi/pytorch-gpu-dev-0.5/bin/icpx
run "$ROOT"/venv/bin/python setup.py bdist_wheel --dist-dir "$ROOT"/src/audio.wheel
run "$ROOT"/venv/bin/python "$ROOT"/helpers/collect_wheel.py --from "$ROOT"/src/audio.wheel --distribution \
  torchaudio --version 2.5.1+xpu --into "$ROOT"/wheels --component audio --tree "$ROOT"/src/audio --tool gcc \
  --tool g++ --tool /opt/intel/oneapi/pytorch-gpu-dev-0.5/bin/icpx
finish
