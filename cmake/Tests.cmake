# replay_test(NAME SOURCES ... DEPENDS ... [OPTIMISED] [LABEL l] [QUIET pattern] [TIMEOUT s]): adds one GoogleTest program; ctest runs each
# TEST on its own. In the presets dev, asan and tsan a test's own code is compiled without optimisation, in two thirds of the
# time; the libraries that it tests are the same as ever. OPTIMISED is for tests that compute much themselves. Labels:
#   mpi        starts real MPI programs
#   mpi-cores  on all cores: one of them at a time, beside other tests
#   mpi-quiet  and measures what other programs on the cores change: alone, in `./dev test` without a build beside it
#   browser    opens pages of runs in Chromium; skips aloud without it, Node.js or npm (tests/CMakeLists.txt)
#   long       takes minutes: alone, only with `./dev test --all`
# Under a sanitizer a program takes a fifth of a second to start and end. There ctest runs each program of REPLAY_CORE_TESTS
# in four parts, not each of their 800 tests on its own; they wait about half of the time.
# Tests of `mpi` mostly wait for their jobs. So `./dev` gives ctest three slots a core, of which such a test takes one and
# any other test the three of a core. Where ctest has not measured them yet, it starts those of a high COST first.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)
find_program(REPLAY_GOLD ld.gold)  # of Debian's binutils: links these programs in half of the time of ld
function(replay_test name)
  cmake_parse_arguments(T "OPTIMISED" "TIMEOUT;LABEL;QUIET" "SOURCES;DEPENDS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE replay_warnings replay_sanitizer ${T_DEPENDS} fmt::fmt GTest::gtest
                                        GTest::gtest_main)
  target_link_options(${name} PRIVATE $<$<BOOL:${REPLAY_GOLD}>:-fuse-ld=gold>)
  if(T_OPTIMISED)
    replay_precompile(${name} program)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
    replay_precompile(${name} test)
  endif()
  if(REPLAY_TESTS STREQUAL "rest" AND name IN_LIST REPLAY_CORE_TESTS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  if(REPLAY_SANITIZE AND name IN_LIST REPLAY_CORE_TESTS)
    foreach(part RANGE 3)
      add_test(NAME ${name}.${part} COMMAND ${name})
      set_tests_properties(${name}.${part} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${part}"
                                                      TIMEOUT 600 PROCESSORS 2)
    endforeach()
    return()
  endif()
  set(properties TIMEOUT ${T_TIMEOUT})
  if(T_LABEL STREQUAL "mpi")
    list(APPEND properties PROCESSORS 1 COST 10)
  else()
    list(APPEND properties PROCESSORS 3)
  endif()
  if(T_LABEL)
    list(APPEND properties LABELS ${T_LABEL})
  endif()
  if(T_LABEL MATCHES "^(long|mpi-quiet)$")
    list(APPEND properties RUN_SERIAL TRUE)
  elseif(T_LABEL STREQUAL "mpi-cores")
    list(APPEND properties RESOURCE_LOCK cores COST 20)
  endif()
  if(T_QUIET)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "${T_QUIET}" TEST_LIST ${name}_quiet
                         PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS mpi-quiet PROCESSORS 3 RUN_SERIAL TRUE)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "-${T_QUIET}" PROPERTIES ${properties})
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
