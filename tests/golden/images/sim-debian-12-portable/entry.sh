#!/usr/bin/env bash
# verify [OPTIONS]   numbers on simxpu against the CPU; exit 4 where there is no device
# anything else      is run as it is, in the built environment
set -eu
[ -w "${TMPDIR:-/tmp}" ] || export TMPDIR=/tmp  # an engine may hand in the variables of outside
case ${1-verify} in
  verify)
    [ "$#" -eq 0 ] || shift
    exec /opt/xpusetup/venv/bin/python /opt/xpusetup/helpers/verify_device.py --device simxpu --expected --compile-backend aot_eager --collectives simccl --gap 'training.placement=accelerate knows no simxpu, and places every model on the CPU' --level quick \
      --out "${TMPDIR:-/tmp}/verify.json" "$@"
    ;;
esac
exec "$@"
