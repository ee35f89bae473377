# What every target of ours compiles with. -ffp-contract=off: one trace and one seed give one event log, byte for byte,
# whatever the machine; a fused multiply-add would round differently where the CPU has one. In a unity build the names of
# one file are seen from the next, so that shadowing them means nothing.
add_library(replay_warnings INTERFACE)
target_compile_options(replay_warnings INTERFACE
  -Wall -Wextra -Wpedantic $<IF:$<BOOL:${CMAKE_UNITY_BUILD}>,-Wshadow=local,-Wshadow> -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Wold-style-cast;-Woverloaded-virtual>
  -ffp-contract=off
  $<$<BOOL:${REPLAY_WERROR}>:-Werror>)
target_include_directories(replay_warnings INTERFACE "${CMAKE_SOURCE_DIR}")
