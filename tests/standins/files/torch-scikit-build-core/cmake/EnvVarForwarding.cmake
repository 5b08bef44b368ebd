# BUILD_*, USE_*, CMAKE_* and a few names more become cache entries; the environment wins over the cache.
# Python reads the environment, because CMake cannot list it.
set(_forwarding [==[
import os, re
wanted = re.compile(r"(BUILD_|USE_|CMAKE_)\w+|TORCH_XPU_ARCH_LIST")
for name, value in sorted(os.environ.items()):
    if wanted.fullmatch(name):
        print(f"set({name} [====[{value}]====] CACHE STRING [[From the environment]] FORCE)")
]==])
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "${_forwarding}"
  OUTPUT_VARIABLE _assignments
  RESULT_VARIABLE _rc)
if(NOT _rc EQUAL 0)
  message(FATAL_ERROR "EnvVarForwarding: the environment could not be read (exit ${_rc})")
endif()
cmake_language(EVAL CODE "${_assignments}")
