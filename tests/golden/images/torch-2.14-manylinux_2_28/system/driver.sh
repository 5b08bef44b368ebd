#!/usr/bin/env bash
# What an image of manylinux_2_28 (AlmaLinux 8) for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# setup.repository: Intel's driver repository
dnf install -y --setopt=install_weak_deps=False --nodocs 'dnf-command(config-manager)'
dnf config-manager --add-repo https://repositories.intel.com/gpu/rhel/8.10/unified/intel-gpu-8.10.repo

# setup.driver: Intel's offline compiler (ocloc)
dnf install -y --setopt=install_weak_deps=False --nodocs intel-ocloc level-zero-devel
grep -q ' /var/cache/dnf ' /proc/self/mounts || rm -rf /var/cache/dnf/*
