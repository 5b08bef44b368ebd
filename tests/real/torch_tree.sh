#!/usr/bin/env bash
# In a Debian trixie with the build dependencies of its PyTorch: that source package as a bare git repository of one
# commit, which depends on the packages alone. Usage: torch_tree.sh VERSION WORK REPOSITORY [PATCH...]; prints the
# commit. PATCH is one more of Debian's that is left out.
#
# Debian's patches make the tree build with the distribution's libraries; three of them are left out, because they
# would put Debian's version, paths and interpreter into the wheel. Two of its settings serve libraries in /usr/lib and
# are put back to what upstream has: no SONAME with a version, and libraries that are found beside each other.
#
# Without 1030-use-system-dnnl.patch oneDNN is built from third_party/ideep/mkl-dnn as upstream does it; ideep, a folder
# of headers that Debian's archive of the source lacks too, is then the one that Debian has as a package.
set -euo pipefail
export LC_ALL=C TZ=UTC
version=$1 work=$2 repository=$3
shift 3
left_out=("$@" 2000-version.patch 2060-fix-wrong-shebang.patch 2080-fix-aten-config-cmake-path.patch)

rm -rf "$work"
mkdir -p "$work/tree"
cd "$work"
apt-get -q source --download-only "pytorch=$version" >&2
tar -C tree --strip-components=1 --no-same-owner -xf pytorch_*.orig.tar.*
tar -C tree --no-same-owner -xf pytorch_*.debian.tar.*

cd tree
grep -v '^#' debian/patches/series | while read -r name; do
  case " ${left_out[*]} " in *" $name "*) continue ;; esac
  patch -p1 -s --no-backup-if-mismatch -i "debian/patches/$name" >&2
done
cp -r /usr/src/googletest third_party/
case " ${left_out[*]} " in *" 1030-use-system-dnnl.patch "*)
  mkdir -p third_party/ideep/include
  cp -r /usr/include/ideep.hpp /usr/include/ideep_pin_singletons.hpp /usr/include/ideep third_party/ideep/include/
  ;;
esac
(cd torch/csrc/jit/serialization && flatc --cpp --gen-mutable --scoped-enums mobile_bytecode.fbs) # fits the flatbuffers here

upstream() { # FILE DEBIAN UPSTREAM
  grep -qF "$2" "$1" || { echo "torch_tree.sh: no $2 in $1" >&2 && exit 1; }
  sed -i "s|$2|$3|" "$1"
}
upstream CMakeLists.txt '"Whether to add SOVERSION to the shared objects" ON' '"Whether to add SOVERSION to the shared objects" OFF'
# shellcheck disable=SC2016  # CMake's variable, not ours
upstream cmake/Dependencies.cmake 'set(CMAKE_INSTALL_RPATH "")' 'set(CMAKE_INSTALL_RPATH "${_rpath_portable_origin}")'

who="xpusetup tests" mail=tests@xpusetup.invalid when=2025-01-29T00:00:00+0000
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_DEFAULT_HASH=sha1 GIT_DIR=$work/made.git
export GIT_AUTHOR_NAME=$who GIT_AUTHOR_EMAIL=$mail GIT_AUTHOR_DATE=$when
export GIT_COMMITTER_NAME=$who GIT_COMMITTER_EMAIL=$mail GIT_COMMITTER_DATE=$when
git init -q --bare --template= --initial-branch=main
git --work-tree=. add --all --force .
git --work-tree=. commit -q --message "Debian's PyTorch $version, prepared to give a wheel"
git tag "v${version%%+*}"
rm -rf "$repository"
mv "$GIT_DIR" "$repository" # last and at once: what is there is whole
GIT_DIR=$repository git rev-parse HEAD
