# As in PyTorch: a tree with .git is taken as it is, but `git fetch` runs in it and the pin is checked out;
# without .git it is cloned here, in the middle of configure.
set(_ops_dir "${TORCH_ROOT}/third_party/torch-xpu-ops")
set(_ops_url "https://github.com/intel/torch-xpu-ops.git")
file(STRINGS "${TORCH_ROOT}/third_party/xpu.txt" _ops_commit LIMIT_COUNT 1)

function(_git_or_stop what dir)
  execute_process(COMMAND git ${ARGN} WORKING_DIRECTORY "${dir}" RESULT_VARIABLE _rc)
  if(NOT _rc EQUAL 0)
    message(FATAL_ERROR "Fail to ${what}")
  endif()
endfunction()

if(NOT EXISTS "${_ops_dir}/.git")
  message(STATUS "Cloning torch-xpu-ops from ${_ops_url}")
  _git_or_stop("clone ${_ops_url}" "${TORCH_ROOT}" clone --quiet "${_ops_url}" "${_ops_dir}")
endif()
_git_or_stop("fetch ${_ops_url}" "${_ops_dir}" fetch --quiet)
_git_or_stop("checkout ${_ops_url} to ${_ops_commit}" "${_ops_dir}" checkout --quiet "${_ops_commit}")
add_subdirectory("${_ops_dir}")
if(TARGET torch_xpu)
  target_link_libraries(_C PRIVATE torch_xpu)
  install(TARGETS torch_xpu LIBRARY DESTINATION "${TORCH_INSTALL_DIR}/lib")
endif()
