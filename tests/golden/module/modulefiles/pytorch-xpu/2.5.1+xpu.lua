help([[torch 2.5.1+xpu, made by xpusetup for Python 3.11 and pvc, xe-lpg, ats-m150.

Packages of your own, on top of it (any venv of Python 3.11; `pip install` keeps this torch):

    python -m venv ~/mine && source ~/mine/bin/activate && pip install transformers

Console scripts of this module do not see such a venv: python -m torch.distributed.run instead of torchrun.]])
whatis("Name: pytorch-xpu")
whatis("Version: 2.5.1+xpu")
whatis("Description: torch 2.5.1+xpu")

-- Computed from this file's own place, so that the folder can be moved.
local top = myFileName():gsub("/+[^/]+/+[^/]+/+[^/]+$", "")
local root = pathJoin(top, "software/torch-2.5")
local venv = pathJoin(root, "venv")
local constraints = pathJoin(venv, "xpusetup-constraints.txt")

-- It is written when all is installed; of a step that fails build.sh leaves `failed`, of one that is cut off `unfinished`.
if not isFile(constraints) or isFile(pathJoin(root, "failed")) or isFile(pathJoin(root, "unfinished")) then
  LmodError("pytorch-xpu/2.5.1+xpu is not built yet: bash " .. pathJoin(root, "build.sh"))
end
family("pytorch")

conflict("anaconda", "cuda", "rocm", "cann")
depends_on("gcc/13.2")
-- These wheels need the runtime of oneAPI 2024.1.4 itself.
source_sh("bash", "/opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh")
source_sh("bash", "/opt/intel/oneapi/pti/latest/env/vars.sh")
prepend_path("PATH", pathJoin(venv, "bin"))
-- A venv on top finds the packages here after its own.
prepend_path("PYTHONPATH", pathJoin(root, "layer"))
-- pip and uv keep what was built.
setenv("PIP_CONSTRAINT", constraints)
setenv("UV_CONSTRAINT", constraints)
setenv("XPUSETUP_PREFIX", venv)
