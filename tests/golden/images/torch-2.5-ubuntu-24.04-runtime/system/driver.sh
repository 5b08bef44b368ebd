#!/usr/bin/env bash
# What an image of Ubuntu 24.04 for torch-2.5 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update

# setup.repository: Intel's driver repository
apt-get install -y --no-install-recommends software-properties-common
add-apt-repository -y ppa:kobuk-team/intel-graphics
apt-get update

# setup.driver: Intel's offline compiler (ocloc)
apt-get install -y --no-install-recommends intel-ocloc libze-dev
grep -q ' /var/cache/apt ' /proc/self/mounts || rm -rf /var/cache/apt/*
grep -q ' /var/lib/apt/lists ' /proc/self/mounts || rm -rf /var/lib/apt/lists/*
