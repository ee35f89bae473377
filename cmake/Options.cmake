# Switches; the presets set them, a plain `cmake -B build` gets the defaults here.
option(REPLAY_BUILD_TESTS "Build the tests" ON)
option(REPLAY_WERROR "Treat warnings as errors" OFF)
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
