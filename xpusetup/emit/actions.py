"""The text of the workflow. Words between @ are filled in; the actions are pinned by commit.

Each commit was read beside its version in several public repositories (2026-11-21).
"""

CHECKOUT = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"
PYTHON = "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0"
CACHE = "actions/cache@5a3ec84eff668545956fd18022155c47e93e2684 # v4.2.3"
UPLOAD = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"
DOWNLOAD = "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0"
ATTEST = "actions/attest-build-provenance@e8998f949152b193b063cb0ec769d69d929409be # v2.4.0"

HEAD = """# Written by xpusetup emit github, as are the folders in @FOLDER@: write them anew rather than edit them.
name: xpusetup

on:
  push:
  pull_request:
  workflow_dispatch:@SCHEDULE@

permissions:
  contents: read

concurrency:
  group: ${{ github.workflow }}-${{ github.ref }}
  cancel-in-progress: true # the next run goes on from the cache

jobs:
"""

OWN = """
    # Machines of one's own run nothing that strangers propose.
    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository"""

BUILD = """  build:
    name: ${{ matrix.cell }}@OWN@
    runs-on: @RUNS_ON@
    timeout-minutes: @MINUTES@
    permissions:
      contents: read
      id-token: write # for the attestation
      attestations: write
    strategy:
      fail-fast: false
      matrix:
        include:
@MATRIX@
    defaults:
      run:
        shell: bash
        working-directory: @FOLDER@${{ matrix.cell }}
    steps:
      - uses: @CHECKOUT@
        with:
          persist-credentials: false@CLEAN@

      - uses: @PYTHON@
        with:
          python-version: ${{ matrix.python }}
@RENEW@
      - name: Key of the build
        id: key
        run: |
          tools=$({ @CXX@ --version; python3 -VV; readlink -f "$(command -v python3)"; pwd; } | sha256sum | cut -c 1-16)
          echo "tools=$tools" >>"$GITHUB_OUTPUT"
          echo "steps=$(sha256sum <keys | cut -c 1-16)" >>"$GITHUB_OUTPUT"

      - name: What was built before
        id: cache
        uses: @CACHE_RESTORE@
        with:
          path: |
@CACHED@
          key: xpusetup-${{ matrix.cell }}-${{ steps.key.outputs.tools }}-${{ steps.key.outputs.steps }}
          restore-keys: |
            xpusetup-${{ matrix.cell }}-${{ steps.key.outputs.tools }}-

      - name: Fetch
        run: bash fetch.sh

      - name: Build
        run: |
          if launcher=$(command -v ccache); then
            export CCACHE_DIR=$PWD/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_MAXSIZE=2G
            export COMPILER_LAUNCHER=$launcher CMAKE_C_COMPILER_LAUNCHER=$launcher
            export CMAKE_CXX_COMPILER_LAUNCHER=$launcher CMAKE_SYCL_COMPILER_LAUNCHER=$launcher
          fi
          jobs=$(awk '/^MemTotal/ { print int($2 / 1024 / ${{ matrix.mib_per_job }}) }' /proc/meminfo)
          MAX_JOBS=$((jobs < 1 ? 1 : jobs < $(nproc) ? jobs : $(nproc))) bash compile.sh
@EXTENSION@
      - name: What can be gone on with
        if: always() && steps.key.outcome == 'success' && steps.cache.outputs.cache-hit != 'true'
        uses: @CACHE_SAVE@
        with:
          path: |
@CACHED@
          key: xpusetup-${{ matrix.cell }}-${{ steps.key.outputs.tools }}-${{ steps.key.outputs.steps }}

      - name: Hashes
        run: |
          shopt -s nullglob
          sha256sum wheels/*.whl published/*.whl dist/*.whl >SHA256SUMS

      - name: Wheels, with what they were built from
        uses: @UPLOAD@
        with:
          name: wheels-${{ matrix.cell }}
          if-no-files-found: error
          path: |
            @FOLDER@${{ matrix.cell }}/wheels/*.whl
            @FOLDER@${{ matrix.cell }}/published/*.whl
            @FOLDER@${{ matrix.cell }}/dist/*.whl
            @FOLDER@${{ matrix.cell }}/results/*.json
            @FOLDER@${{ matrix.cell }}/profile.lock.json
            @FOLDER@${{ matrix.cell }}/SHA256SUMS

      - name: Attestation
        if: github.event_name != 'pull_request'
        uses: @ATTEST@
        with:
          subject-checksums: @FOLDER@${{ matrix.cell }}/SHA256SUMS

      - name: Logs
        if: failure()
        uses: @UPLOAD@
        with:
          name: logs-${{ matrix.cell }}
          path: @FOLDER@${{ matrix.cell }}/logs
"""

RENEW = """
      - name: Revisions of today
        if: github.event_name == 'schedule' && vars.XPUSETUP != ''
        working-directory: .
        env:
          XPUSETUP: ${{ vars.XPUSETUP }} # what pip installs to get xpusetup
        run: |
          python3 -m pip install "$XPUSETUP"
          @AGAIN@
"""

VERIFY = """
  verify:
    name: ${{ matrix.cell }} on a device
    needs: build@OWN@
    runs-on: [self-hosted, @GPU@]
    timeout-minutes: 60
    strategy:
      fail-fast: false
      matrix:
        include:
@MATRIX@
    defaults:
      run:
        shell: bash
        working-directory: @FOLDER@${{ matrix.cell }}
    steps:
      - uses: @CHECKOUT@
        with:
          persist-credentials: false

      - uses: @DOWNLOAD@
        with:
          name: wheels-${{ matrix.cell }}
          path: @FOLDER@${{ matrix.cell }}

      - name: Verify the wheels
        run: |
          sha256sum --check --quiet SHA256SUMS
          bash check.sh

      - name: What was seen
        if: always()
        uses: @UPLOAD@
        with:
          name: verification-${{ matrix.cell }}
          path: @FOLDER@${{ matrix.cell }}/results/verify.json
"""
