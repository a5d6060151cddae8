# Finds what dpcache is built from: what scripts/setup put into DPCACHE_DEPS, else this system's own.
# Sets DPCACHE_HIGHWAY_INCLUDE, DPCACHE_HIGHWAY_SOURCES or else DPCACHE_HIGHWAY_LIBRARY, and
# DPCACHE_HEADERS (xxhash.h, and for the command line and tests nlohmann/json).

if(DEFINED ENV{DPCACHE_DEPS})
  set(dpcache_deps_default $ENV{DPCACHE_DEPS})
else()
  set(dpcache_deps_default ${PROJECT_SOURCE_DIR}/.deps)
endif()
set(DPCACHE_DEPS ${dpcache_deps_default} CACHE PATH "Where scripts/setup puts what it brings")

# Highway is compiled into the library, so that those who use dpcache need not have it. A wasm build
# has one target, chosen when it is compiled, and needs the headers only.
if(EXISTS ${DPCACHE_DEPS}/highway/hwy/highway.h)
  set(DPCACHE_HIGHWAY_INCLUDE ${DPCACHE_DEPS}/highway)
  if(NOT EMSCRIPTEN)
    foreach(source abort aligned_allocator per_target targets)
      list(APPEND DPCACHE_HIGHWAY_SOURCES ${DPCACHE_DEPS}/highway/hwy/${source}.cc)
    endforeach()
  endif()
elseif(EMSCRIPTEN AND EXISTS ${DPCACHE_DEPS}/include/hwy/highway.h)
  set(DPCACHE_HIGHWAY_INCLUDE ${DPCACHE_DEPS}/include)
else()
  if(NOT EMSCRIPTEN)
    find_package(hwy 1.2 CONFIG QUIET)
  endif()
  if(NOT hwy_FOUND)
    message(FATAL_ERROR "Highway >= 1.2 is missing: run scripts/setup, or install libhwy-dev >= 1.2")
  endif()
  set(DPCACHE_HIGHWAY_LIBRARY hwy::hwy)
endif()

find_path(DPCACHE_HEADERS xxhash.h PATHS ${DPCACHE_DEPS}/include
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT EMSCRIPTEN)
  find_path(DPCACHE_HEADERS xxhash.h)
endif()
if(NOT DPCACHE_HEADERS)
  message(FATAL_ERROR "xxhash.h is missing: run scripts/setup, or install libxxhash-dev")
endif()
if((DPCACHE_BUILD_CLI OR DPCACHE_BUILD_SERVER OR DPCACHE_BUILD_TESTS OR DPCACHE_FUZZ
    OR DPCACHE_DEVICE_CHECK)
   AND NOT EXISTS ${DPCACHE_HEADERS}/nlohmann/json.hpp)
  message(FATAL_ERROR "nlohmann/json.hpp is missing: run scripts/setup, or install "
    "nlohmann-json3-dev")
endif()
mark_as_advanced(DPCACHE_HEADERS)
