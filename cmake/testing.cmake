# How a test is made: GoogleTest, dpcache_test and dpcache_fuzzer.

option(DPCACHE_ONLY_THREAD_TESTS "Build only the tests that carry THREADS" OFF)
set(DPCACHE_FUZZ_SECONDS 20 CACHE STRING "How long ctest lets each fuzz target run")
set(DPCACHE_GOOGLETEST /usr/src/googletest/googletest CACHE PATH "GoogleTest's source")

# Built here, so that it has the same sanitizers as the tests, and in wasm too.
if(DPCACHE_BUILD_TESTS)
  if(NOT EXISTS ${DPCACHE_GOOGLETEST}/src/gtest-all.cc)
    message(FATAL_ERROR "GoogleTest's source is missing: run scripts/setup, or install googletest")
  endif()
  add_library(dpcache_gtest STATIC
    ${DPCACHE_GOOGLETEST}/src/gtest-all.cc ${DPCACHE_GOOGLETEST}/src/gtest_main.cc)
  target_compile_features(dpcache_gtest PUBLIC cxx_std_20)
  target_include_directories(dpcache_gtest SYSTEM PUBLIC ${DPCACHE_GOOGLETEST}/include)
  target_include_directories(dpcache_gtest PRIVATE ${DPCACHE_GOOGLETEST})
  if(EMSCRIPTEN)
    target_compile_definitions(dpcache_gtest PUBLIC GTEST_HAS_PTHREAD=0)
  else()
    find_package(Threads REQUIRED)
    target_link_libraries(dpcache_gtest PUBLIC Threads::Threads)
  endif()
endif()

# Clang's -Wconversion says more than g++'s, and size_t has 32 bits in wasm: the library minds both,
# its tests need not.
function(dpcache_own_test target)
  dpcache_own(${target})
  dpcache_see_inside(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  dpcache_see_studies(${target})
  target_include_directories(${target} SYSTEM PRIVATE ${DPCACHE_HEADERS})
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion;-Wno-shorten-64-to-32>)
endfunction()

# A wasm program for Node.js that reads the files of this machine and hands on its exit code.
# -O1 links in 1 s instead of 14: the code is optimised already, wasm-opt would polish it.
function(dpcache_run_in_node target)
  target_link_options(${target} PRIVATE -O1 -sENVIRONMENT=node -sNODERAWFS=1 -sEXIT_RUNTIME=1
    -sALLOW_MEMORY_GROWTH=1 -sSTACK_SIZE=1MB)
endfunction()

# dpcache_test(NAME SOURCES file... [WASM [SCALAR]] [THREADS] [LONG] [LIBRARIES library...])
# One test program from files of tests/. WASM: is built and run in wasm too; SCALAR: also in wasm
# without SIMD, for what it tests depends on kernels. THREADS: runs under the thread sanitizer too.
# LONG: only scripts/test --all runs it. A test sees the library's insides (core/src), nlohmann/json
# and xxhash.h, and the folders DPCACHE_TEST_DATA (tests/vectors) and DPCACHE_SHARED_DATA (data that
# is not part of this repository and may be absent).
function(dpcache_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WASM;SCALAR;THREADS;LONG" "" "SOURCES;LIBRARIES")
  if(NOT DPCACHE_BUILD_TESTS OR (EMSCRIPTEN AND NOT arg_WASM)
     OR (EMSCRIPTEN AND NOT arg_SCALAR AND NOT CMAKE_CXX_FLAGS MATCHES "-msimd128")
     OR (DPCACHE_ONLY_THREAD_TESTS AND NOT arg_THREADS))
    return()
  endif()
  set(target ${name}_test)
  add_executable(${target} ${arg_SOURCES})
  dpcache_own_test(${target})
  target_compile_definitions(${target} PRIVATE
    DPCACHE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/vectors"
    DPCACHE_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data")
  target_link_libraries(${target} PRIVATE dpcache::dpcache dpcache_gtest ${arg_LIBRARIES})
  set(properties TIMEOUT 600)
  if(arg_LONG)
    set(properties TIMEOUT 3600 LABELS long)
  endif()
  if(EMSCRIPTEN)
    dpcache_run_in_node(${target})
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    include(GoogleTest)
    gtest_discover_tests(${target} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  endif()
endfunction()

# dpcache_fuzzer(NAME file [LIBRARIES library...]): a libFuzzer target; ctest runs it for
# DPCACHE_FUZZ_SECONDS. What it finds interesting is kept in the build tree; files in
# fuzz/corpus/NAME, where there are any, are its start, and fuzz/NAME.dict has words for it.
function(dpcache_fuzzer name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
  if(NOT DPCACHE_FUZZ)
    return()
  endif()
  set(target ${name}_fuzz)
  add_executable(${target} ${source})
  dpcache_own_test(${target})
  target_link_libraries(${target} PRIVATE dpcache::dpcache ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/corpus/${name})
  file(MAKE_DIRECTORY ${corpus})
  set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
  if(NOT EXISTS ${seeds})
    set(seeds "")
  endif()
  set(words ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.dict)
  set(dictionary "")
  if(EXISTS ${words})
    set(dictionary -dict=${words})
  endif()
  add_test(NAME fuzz.${name} COMMAND ${target}
    -max_total_time=${DPCACHE_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=4096
    -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/${name}- ${dictionary} ${corpus} ${seeds})
  math(EXPR limit "${DPCACHE_FUZZ_SECONDS} + 120")
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT ${limit})
endfunction()
