# orlop_room(): the one way to declare a room. ROOMS are its arrows (ARCHITECTURE.md, "Arrows").
# ASIO: the room's files include Asio or Beast, so they share the one precompiled header.

add_library(orlop_warnings INTERFACE)
target_compile_options(orlop_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)

# For every target: a precompiled header can be shared only between equal sets of definitions.
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)

add_library(orlop_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_precompile_headers(orlop_pch PRIVATE
  ${PROJECT_SOURCE_DIR}/base/asio.h <boost/beast/http.hpp> <string> <vector> <filesystem> <functional>)
target_include_directories(orlop_pch PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(orlop_pch PRIVATE Boost::headers Threads::Threads orlop_warnings)

function(orlop_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "ASIO" "" "HEADERS;SOURCES;ROOMS;PACKAGES;PUBLIC_PACKAGES")
  add_library(orlop_${name} STATIC ${room_SOURCES})
  target_sources(orlop_${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${room_HEADERS})
  list(TRANSFORM room_ROOMS PREPEND orlop_)
  target_link_libraries(orlop_${name}
    PUBLIC ${room_ROOMS} ${room_PUBLIC_PACKAGES}
    PRIVATE ${room_PACKAGES} orlop_warnings)
  if(room_ASIO)
    target_precompile_headers(orlop_${name} REUSE_FROM orlop_pch)
  endif()
endfunction()

# orlop_tests(<room> …): one Catch2 program a room, one ctest entry a program.
function(orlop_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 tests "ASIO" "" "SOURCES;ROOMS;PACKAGES")
  add_executable(${name}_tests ${tests_SOURCES})
  list(TRANSFORM tests_ROOMS PREPEND orlop_)
  target_link_libraries(${name}_tests PRIVATE
    ${tests_ROOMS} ${tests_PACKAGES} orlop_catch_main orlop_warnings)
  target_compile_definitions(${name}_tests PRIVATE
    ORLOP_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden" ORLOP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name}_tests)
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()
