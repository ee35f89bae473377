# Compiler options of all our targets. -ffp-contract=off: one trace and one seed give one event log, byte for byte, on
# every machine; a fused multiply-add would round differently where the CPU has one. -Wshadow=local in a unity build:
# the names of one file are visible in the next one, so shadowing them means nothing. -fmacro-prefix-map: the message of
# a broken invariant names the file from the root of the tree, and a build is the same in every folder, so that ccache
# shares it between checkouts. ggc-min-heapsize: GCC collects garbage from 512 MB on, not from 128 MB: an eighth less
# time for a quarter more memory.
add_library(replay_warnings INTERFACE)
target_compile_options(replay_warnings INTERFACE
  -Wall -Wextra -Wpedantic $<IF:$<BOOL:${CMAKE_UNITY_BUILD}>,-Wshadow=local,-Wshadow> -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Wold-style-cast;-Woverloaded-virtual>
  -ffp-contract=off -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>
  $<$<BOOL:${REPLAY_WERROR}>:-Werror>)
target_include_directories(replay_warnings INTERFACE "${CMAKE_SOURCE_DIR}")
