# make demo   on a fresh clone: install xpusetup, build and verify the simulated accelerator
# make test   on a fresh clone: everything that must pass (CI runs only this)
# make clean  remove what the others left in this folder, and the demo
# make containers   write the files in containers/: what emit writes for the released profiles
# make site   docs/ as a searchable site in .site/, with a page for each command, check, failure and profile
# make pictures   redraw the pictures in README and docs/ from what the program prints now; needs the demo
# make lowest   the unit tests with the lowest version of each dependency that pyproject.toml allows, in .lowest/
# make fuzz EXAMPLES=10000 SECONDS=0 ONLY=profiles   many more random inputs than make test tries; SECONDS: limit for each kind, 0 for none
# make e2e-long   tests that take minutes and that a shorter one also covers; container images (buildah, crun, mmdebstrap)
# make e2e-onednn   a release's own FindMKLDNN.cmake builds oneDNN without a network (docs/real-pytorch.md)
# make e2e-published-wheels   wheel check on published wheels, by name and hash: 11 GB, resumes (docs/published-wheels.md)
# make e2e-fits   wheel fits against real imports, by name and hash: 10 GB, resumes (docs/fits.md)
# make e2e-torch   PyTorch 2.6.0 in a Debian root: hours, resumes (docs/real-pytorch.md)
# make e2e-torch-xpu   the same with USE_XPU=1, without device code; TORCH_XPU_QUICK=1 builds unoptimised (docs/real-xpu.md)
# make e2e-triton   Triton 3.7.0 in a Debian sid root, and kernels that it compiles for Intel GPUs; resumes (docs/real-triton.md)
# make e2e-report REPORT=report.html OUT=DIR   open a report in a browser at three widths, check that nothing is cut off, save pictures in DIR
# make e2e-site OUT=DIR   the same for a page of each kind of the site
# make e2e-sycl-sources   compile the SYCL sources of torch-xpu-ops for 2.13, 2.14 and 2.6, both passes (docs/real-xpu.md)
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
WORKERS ?= 2
E2E_WORKERS ?= 3# more than there are cores: they mostly wait
E2E_TESTS = tests/e2e $(shell grep -l 'mark\.e2e' tests/test_*.py)# listed, so that workers do not collect the others
EXAMPLES ?= 10000
SECONDS ?= 0
ONEDNN_WORK ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/xpusetup-e2e-onednn
FITS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/xpusetup-fits
PUBLISHED ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/xpusetup-published-wheels
TORCH_WORK ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/xpusetup-e2e-torch
TORCH_XPU_WORK ?= $(TORCH_WORK)-xpu
SHOWN ?= index.html start-developer.html build.html trouble.html commands.html commands/build.html checks/index.html checks/umd.older_than_gpu.html failures/index.html \
  failures/dkms.build.html releases/torch-2.14.html exit-codes.html profile-keys.html
TRITON_WORK ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/xpusetup-e2e-triton
SYCL_WORK ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/xpusetup-e2e-sycl-sources

.DEFAULT_GOAL := help
.PHONY: help demo test lint unit fuzz e2e e2e-long e2e-onednn e2e-fits e2e-published-wheels e2e-torch e2e-torch-xpu e2e-sycl-sources e2e-triton e2e-report e2e-site containers site pictures lowest bench clean

help:
	@sed -n 's/^# //p' Makefile

$(BIN)/xpusetup: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) install -e .
	@touch $@

.venv/dev: $(BIN)/xpusetup pyproject.toml
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --no-compile --group dev  # most of it is never imported
	@touch $@

# XPUSETUP_ROOT sets the folder for builds
demo: $(BIN)/xpusetup
	$(BIN)/xpusetup build sim
	$(BIN)/xpusetup status sim
	$(BIN)/xpusetup run sim -- python -c 'import torch; print(torch.ones(2, device="simxpu") + 1)'
	@printf '\nThis compiled a device for PyTorch, and its results equal those of the CPU.\n'
	@printf 'Next, on your own machine: %s\nTo remove the demo: %s\n' '$(BIN)/xpusetup' '$(BIN)/xpusetup remove sim'

test: .venv/dev
	$(MAKE) --no-print-directory -j 2 lint unit
	$(MAKE) --no-print-directory e2e

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd xpusetup/helpers && ../../$(BIN)/mypy --config-file= --strict --ignore-missing-imports --python-version 3.10 --explicit-package-bases *.py helperlib

unit: .venv/dev
	$(BIN)/pytest -q -m 'not e2e' --ignore tests/e2e -n $(WORKERS)

fuzz: .venv/dev
	XPUSETUP_TEST_FUZZ=$(EXAMPLES) XPUSETUP_TEST_FUZZ_SECONDS=$(SECONDS) $(BIN)/pytest -q -n $(WORKERS) $(if $(ONLY),-k $(ONLY)) \
	  tests/test_fuzz.py tests/test_quoting.py tests/test_paste.py tests/test_console.py tests/test_credentials.py tests/e2e/test_canaries.py

e2e: .venv/dev
	$(BIN)/pytest -q -m 'e2e and not long' -n $(E2E_WORKERS) --dist loadgroup --no-loadscope-reorder $(E2E_TESTS)

e2e-long: .venv/dev
	$(BIN)/pytest -q -m long -n $(WORKERS) --dist loadgroup --no-loadscope-reorder $(E2E_TESTS)

e2e-published-wheels: .venv/dev
	cd tests && ../$(BIN)/python -m real.published_wheels $(abspath $(PUBLISHED))

e2e-fits: .venv/dev
	cd tests && ../$(BIN)/python -m real.fits $(abspath $(FITS)) --tidy

e2e-torch: .venv/dev
	cd tests && ../$(BIN)/python -m real.torch_build $(abspath $(TORCH_WORK))

e2e-torch-xpu: .venv/dev
	cd tests && ../$(BIN)/python -m real.xpu_build $(abspath $(TORCH_XPU_WORK))

e2e-sycl-sources: .venv/dev
	cd tests && ../$(BIN)/python -m real.sycl_sources $(abspath $(SYCL_WORK)) --ops $(or $(TORCH_XPU_OPS),https://github.com/intel/torch-xpu-ops) --tree '$(TORCH_TREE)'
	$(if $(OCLOC_FOR),cd tests && ../$(BIN)/python -m real.sycl_ahead $(abspath $(SYCL_WORK)) $(OCLOC_FOR:%=--gpu %))

e2e-triton: .venv/dev
	cd tests && ../$(BIN)/python -m real.triton_build $(abspath $(TRITON_WORK))

e2e-report: .venv/dev
	cd tests && ../$(BIN)/python -m real.page_widths $(abspath $(REPORT)) $(abspath $(or $(OUT),.page-widths))

e2e-site: site
	cd tests && ../$(BIN)/python -m real.page_widths $(SHOWN:%=$(abspath .site)/%) $(abspath $(or $(OUT),.page-widths))

e2e-onednn: .venv/dev
	cd tests && ../$(BIN)/python -m real.onednn_build $(abspath $(ONEDNN_WORK))

pictures: .venv/dev
	$(BIN)/python docs/draw_pictures.py

site: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -q

lowest:
	rm -rf .lowest && $(PYTHON) -m venv .lowest && .lowest/bin/python -m pip -q --disable-pip-version-check install uv
	.lowest/bin/uv pip install -q --python .lowest/bin/python --resolution lowest-direct -e .
	.lowest/bin/uv pip freeze -q --python .lowest/bin/python | grep -v '^-e' > .lowest/versions.txt
	.lowest/bin/uv pip install -q --python .lowest/bin/python --group dev -c .lowest/versions.txt
	.lowest/bin/python -m pytest -q -m 'not e2e' -n $(WORKERS) -p no:cacheprovider

containers: .venv/dev
	XPUSETUP_TEST_UPDATE=1 $(BIN)/pytest -q tests/test_containers.py

bench: .venv/dev
	$(BIN)/python -m benchmarks $(ONLY)

# with what make demo left; XPUSETUP_ROOT as there
clean:
	@if [ -x $(BIN)/xpusetup ]; then \
	  said=$$($(BIN)/xpusetup remove sim --yes 2>&1); code=$$?; \
	  case "$$code $$said" in 3*"nothing is built"*) ;; *) echo "$$said" ;; esac; \
	  [ $$code -eq 0 ] || [ $$code -eq 3 ]; \
	fi
	rm -rf .venv .site .lowest .mypy_cache .ruff_cache .pytest_cache
