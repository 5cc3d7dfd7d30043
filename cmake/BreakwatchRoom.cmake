include(GoogleTest)
# Warnings, sanitizers, and the two functions that define every library and every test in the same form.
add_library(breakwatch_flags INTERFACE)
target_compile_options(breakwatch_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
                                                  -Wno-sign-conversion -Werror=return-type)
if(BREAKWATCH_SANITIZER)
  target_compile_options(breakwatch_flags INTERFACE -fsanitize=${BREAKWATCH_SANITIZER} -fno-omit-frame-pointer)
  target_link_options(breakwatch_flags INTERFACE -fsanitize=${BREAKWATCH_SANITIZER})
endif()

# Tests are compiled once and run once: in the release preset the time of the compiler matters.
add_library(breakwatch_test_flags INTERFACE)
target_compile_options(breakwatch_test_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-O0;-g0>)

# The headers that most files include are precompiled, once for the libraries and once for the tests, which have other
# flags. The dev preset does not precompile, so its build finds files that lack an include.
add_library(breakwatch_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
target_link_libraries(breakwatch_headers PRIVATE breakwatch_flags nlohmann_json::nlohmann_json)
target_precompile_headers(breakwatch_headers PRIVATE
  <algorithm> <array> <chrono> <cstdint> <deque> <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span>
  <string> <string_view> <utility> <variant> <vector> <nlohmann/json.hpp>)

add_library(breakwatch_test_headers OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
target_link_libraries(breakwatch_test_headers PRIVATE breakwatch_flags breakwatch_test_flags nlohmann_json::nlohmann_json)
if(BREAKWATCH_TESTS)
  target_link_libraries(breakwatch_test_headers PRIVATE GTest::gmock)
  target_precompile_headers(breakwatch_test_headers PRIVATE
    <algorithm> <array> <chrono> <cstdint> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional>
    <set> <span> <string> <string_view> <thread> <utility> <variant> <vector> <gmock/gmock.h> <gtest/gtest.h>
    <nlohmann/json.hpp>)
endif()

# breakwatch_room(core SOURCES a.cc b.cc PUBLIC targets... PRIVATE targets...)
# A static library breakwatch_<name> with the alias breakwatch::<name>; include/ is public, src/ private.
function(breakwatch_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(breakwatch_${name} STATIC ${ROOM_SOURCES})
  add_library(breakwatch::${name} ALIAS breakwatch_${name})
  target_include_directories(breakwatch_${name} PUBLIC include PRIVATE src)
  target_link_libraries(breakwatch_${name} PUBLIC ${ROOM_PUBLIC} PRIVATE breakwatch_flags ${ROOM_PRIVATE})
  target_precompile_headers(breakwatch_${name} REUSE_FROM breakwatch_headers)
  # Tests may include private headers; no other target can.
  add_library(breakwatch_${name}_internal INTERFACE)
  target_include_directories(breakwatch_${name}_internal INTERFACE src)
  target_link_libraries(breakwatch_${name}_internal INTERFACE breakwatch_${name})
endfunction()

# breakwatch_test(core SOURCES status_test.cc ... LINK targets...): one program for each library, labelled with its
# name.
function(breakwatch_test room)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${room}_test ${TEST_SOURCES})
  target_link_libraries(${room}_test PRIVATE breakwatch_flags breakwatch_test_flags GTest::gmock_main ${TEST_LINK})
  target_precompile_headers(${room}_test REUSE_FROM breakwatch_test_headers)
  target_include_directories(${room}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${room}_test PRIVATE BREAKWATCH_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                  BREAKWATCH_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  gtest_discover_tests(${room}_test PROPERTIES LABELS ${room} TIMEOUT 120 DISCOVERY_TIMEOUT 60)
endfunction()
