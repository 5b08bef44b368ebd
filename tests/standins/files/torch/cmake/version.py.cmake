__version__ = "@TORCH_BUILD_VERSION@"
git_version = "@TORCH_GIT_VERSION@"
debug = False
cuda = None
hip = None
xpu = "@SYCL_VERSION@" or None
