# replay_test(NAME SOURCES ... DEPENDS ... [LABELS ...] [TIMEOUT s]): one GoogleTest program; ctest runs each TEST on its
# own. Tests labelled `mpi` start real ranks on all cores, so nothing else runs beside them.
find_package(GTest REQUIRED)
include(GoogleTest)
function(replay_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE replay_warnings replay_sanitizer ${T_DEPENDS} GTest::gtest GTest::gtest_main)
  set(serial FALSE)
  if("mpi" IN_LIST T_LABELS)
    set(serial TRUE)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}" RUN_SERIAL ${serial})
endfunction()
