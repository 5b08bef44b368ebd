help([[torch 2.13.0+cpu with safetensors 0.8.0, einops 0.8.2, bitsandbytes 0.50.2, torchao 0.18.0, torch-scatter 2.1.2, torch-sparse 0.6.18, torch-cluster 1.6.3, torch-spline-conv 1.2.2, made by xpusetup for Python 3.11.

Packages of your own, on top of it (any venv of Python 3.11; `pip install` keeps this torch):

    python -m venv ~/mine && source ~/mine/bin/activate && pip install transformers

Console scripts of this module do not see such a venv: python -m torch.distributed.run instead of torchrun.]])
whatis("Name: stack-cpu")
whatis("Version: 2.13.0+cpu")
whatis("Description: torch 2.13.0+cpu with safetensors 0.8.0, einops 0.8.2, bitsandbytes 0.50.2, torchao 0.18.0, torch-scatter 2.1.2, torch-sparse 0.6.18, torch-cluster 1.6.3, torch-spline-conv 1.2.2")

-- Computed from this file's own place, so that the folder can be moved.
local top = myFileName():gsub("/+[^/]+/+[^/]+/+[^/]+$", "")
local root = pathJoin(top, "software/stack-cpu")
local venv = pathJoin(root, "venv")
local constraints = pathJoin(venv, "xpusetup-constraints.txt")

-- It is written when all is installed; of a step that fails build.sh leaves `failed`, of one that is cut off `unfinished`.
if not isFile(constraints) or isFile(pathJoin(root, "failed")) or isFile(pathJoin(root, "unfinished")) then
  LmodError("stack-cpu/2.13.0+cpu is not built yet: bash " .. pathJoin(root, "build.sh"))
end
family("pytorch")

conflict("anaconda", "cuda", "rocm", "cann")
depends_on("gcc/13.2")
prepend_path("PATH", pathJoin(venv, "bin"))
-- A venv on top finds the packages here after its own.
prepend_path("PYTHONPATH", pathJoin(root, "layer"))
-- pip and uv keep what was built.
setenv("PIP_CONSTRAINT", constraints)
setenv("UV_CONSTRAINT", constraints)
setenv("XPUSETUP_PREFIX", venv)
