# replay_precompile(TARGET library|program|test): compiles TARGET with a precompiled header of its kind, that is with the standard
# headers and fmt (test: GoogleTest too) that most of our sources include. They save up to 1 s of CPU time a compiler run.
# Only in a unity build, so that `alone` finds a missing #include; not with ccache or LTO. nlohmann-json is left out: about as many
# sources lose by it as gain.
set(replay_precompiled_headers
  <algorithm> <array> <charconv> <chrono> <cmath> <cstddef> <cstdint> <deque> <filesystem> <fstream> <functional> <limits> <map>
  <memory> <numeric> <optional> <set> <span> <string> <string_view> <system_error> <tuple> <unordered_map> <utility> <variant>
  <vector> <fmt/core.h> <fmt/format.h> <fmt/ranges.h> "${CMAKE_CURRENT_LIST_DIR}/extern_templates.hpp")

# GCC wants the same options for the header as for what uses it: each kind has a target with the options of its kind.
function(replay_precompile target kind)
  if(NOT CMAKE_UNITY_BUILD OR REPLAY_CCACHE OR REPLAY_LTO)
    return()
  endif()
  set(owner replay_precompiled_${kind})
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled.cpp" CONTENT "")
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled.cpp")
    target_link_libraries(${owner} PRIVATE replay_warnings replay_sanitizer fmt::fmt)
    target_compile_features(${owner} PRIVATE cxx_std_20)
    target_precompile_headers(${owner} PRIVATE ${replay_precompiled_headers})
    if(NOT kind STREQUAL "library")
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE)
    endif()
    if(kind STREQUAL "test")
      target_link_libraries(${owner} PRIVATE GTest::gtest)
      target_compile_options(${owner} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
      target_precompile_headers(${owner} PRIVATE <gtest/gtest.h>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
