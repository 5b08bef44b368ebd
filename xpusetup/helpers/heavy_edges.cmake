# Lets no more than a quarter of the jobs link at a time, and no more than that device code: such an edge takes several
# times the memory of a compile. CMake reads this file before a project's own (CMAKE_PROJECT_TOP_LEVEL_INCLUDES).
# How many follows from MAX_JOBS when the project is configured; without it nothing is changed.

if(NOT "$ENV{MAX_JOBS}" MATCHES "^[1-9][0-9]*$" OR NOT CMAKE_GENERATOR MATCHES "Ninja")
  return()
endif()
math(EXPR xpusetup_heavy "($ENV{MAX_JOBS} + 3) / 4")
set_property(GLOBAL APPEND PROPERTY JOB_POOLS "xpusetup_heavy=${xpusetup_heavy}")
if(NOT CMAKE_JOB_POOL_LINK)
  set(CMAKE_JOB_POOL_LINK xpusetup_heavy)
endif()

# torch-xpu-ops links device code by a custom command, which no variable of CMake puts into a pool. Only those are
# changed; the arguments of the others pass one by one, so that empty ones and semicolons stay as they are.
if(COMMAND _add_custom_command)
  return() # someone else stands before it already
endif()
function(add_custom_command)
  set(xpusetup_words "")
  set(xpusetup_pool "JOB_POOL xpusetup_heavy")
  set(xpusetup_links FALSE)
  math(EXPR xpusetup_last "${ARGC} - 1")
  foreach(xpusetup_place RANGE ${xpusetup_last})
    set(xpusetup_word "${ARGV${xpusetup_place}}")
    string(APPEND xpusetup_words " [==[${xpusetup_word}]==]")
    if(xpusetup_word MATCHES "^Building SYCL device link file ")
      set(xpusetup_links TRUE)
    elseif(xpusetup_word MATCHES "^(JOB_POOL|JOB_SERVER_AWARE|TARGET|APPEND)$")
      set(xpusetup_pool "") # it has one, or takes none
    endif()
  endforeach()
  if(NOT xpusetup_links)
    set(xpusetup_pool "")
  endif()
  cmake_language(EVAL CODE "_add_custom_command(${xpusetup_words} ${xpusetup_pool})")
endfunction()
