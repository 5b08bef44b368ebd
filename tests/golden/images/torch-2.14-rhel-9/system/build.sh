#!/usr/bin/env bash
# What an image of AlmaLinux 9.6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# image.system: AlmaLinux 9.6 with Python 3.12
dnf install -y --setopt=install_weak_deps=False --nodocs python3.12 python3.12-pip gcc-c++ git ca-certificates procps-ng findutils diffutils tar xz zlib-devel

# setup.toolchain: what a build needs
dnf install -y --setopt=install_weak_deps=False --nodocs python3.12-devel
grep -q ' /var/cache/dnf ' /proc/self/mounts || rm -rf /var/cache/dnf/*
