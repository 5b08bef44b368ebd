#!/usr/bin/env bash
# What an image of manylinux_2_28 (AlmaLinux 8) for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# image.system: manylinux_2_28 (AlmaLinux 8) with Python 3.12
dnf install -y --setopt=install_weak_deps=False --nodocs git procps-ng zlib-devel
grep -q ' /var/cache/dnf ' /proc/self/mounts || rm -rf /var/cache/dnf/*
