# Build options. The presets set them; a plain `cmake -B build` uses these defaults.
option(REPLAY_BUILD_TESTS "Build the tests" ON)
set(REPLAY_TESTS all CACHE STRING "all, or rest: without those of tests/CMakeLists.txt's REPLAY_CORE_TESTS")
set_property(CACHE REPLAY_TESTS PROPERTY STRINGS all rest)
option(REPLAY_RUNTIME "Build what starts real programs too; OFF: the simulator alone, without MPI, hwloc and libevent" ON)
option(REPLAY_WERROR "Treat warnings as errors" OFF)
option(REPLAY_LTO "Optimise replay as a whole when it is linked" OFF)
option(REPLAY_FUZZ "Build the fuzzers in place of the tests (clang)" OFF)
set(REPLAY_SANITIZE "" CACHE STRING "address (with undefined), thread, or empty")
set_property(CACHE REPLAY_SANITIZE PROPERTY STRINGS "" address thread)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(REPLAY_CCACHE ccache)
if(REPLAY_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${REPLAY_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${REPLAY_CCACHE}")
endif()

# Linking all programs of the preset dev takes 41 s of CPU time with GNU ld, and 15 to 20 s with mold. GNU ld links with LTO.
find_program(REPLAY_MOLD mold)
if(REPLAY_MOLD AND NOT REPLAY_LTO)
  add_link_options(-fuse-ld=mold)
endif()
