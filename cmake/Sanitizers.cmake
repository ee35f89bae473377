# REPLAY_SANITIZE=address: address and undefined behaviour. REPLAY_SANITIZE=thread: data races.
# Benchmarks and vmlib are never instrumented: they run in MPI processes, which bring their own runtime
# (vmlib/CMakeLists.txt has the one exception, for a test).
add_library(replay_sanitizer INTERFACE)
if(REPLAY_SANITIZE STREQUAL "address")
  target_compile_options(replay_sanitizer INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false warnings of GCC 12 about libstdc++
  target_link_options(replay_sanitizer INTERFACE -fsanitize=address,undefined)
elseif(REPLAY_SANITIZE STREQUAL "thread")
  target_compile_options(replay_sanitizer INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(replay_sanitizer INTERFACE -fsanitize=thread)
elseif(NOT REPLAY_SANITIZE STREQUAL "")
  message(FATAL_ERROR "REPLAY_SANITIZE is '${REPLAY_SANITIZE}': expected address, thread or nothing")
endif()

# Instruments our code so that fuzzers see which branches an input takes.
if(REPLAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "REPLAY_FUZZ needs clang, which has libFuzzer; use the preset fuzz")
  endif()
  target_compile_options(replay_sanitizer INTERFACE -fsanitize=fuzzer-no-link)
  target_compile_definitions(replay_sanitizer INTERFACE FMT_HEADER_ONLY=1)  # libfmt 9 built by GCC lacks a symbol
endif()
