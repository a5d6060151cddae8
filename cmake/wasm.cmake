# Toolchain file for wasm: the Emscripten that scripts/setup brought, else the one on PATH.

if(NOT DPCACHE_DEPS)
  if(DEFINED ENV{DPCACHE_DEPS})
    set(DPCACHE_DEPS $ENV{DPCACHE_DEPS})
  else()
    cmake_path(SET DPCACHE_DEPS NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../.deps)
  endif()
endif()

find_program(DPCACHE_EM_CONFIG em-config PATHS ${DPCACHE_DEPS}/emscripten NO_DEFAULT_PATH)
find_program(DPCACHE_EM_CONFIG em-config)
if(NOT DPCACHE_EM_CONFIG)
  message(FATAL_ERROR "Emscripten is missing: run scripts/setup")
endif()
execute_process(COMMAND ${DPCACHE_EM_CONFIG} EMSCRIPTEN_ROOT
  OUTPUT_VARIABLE EMSCRIPTEN_ROOT_PATH OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# Tests run under the Node.js that scripts/setup chose.
find_program(DPCACHE_NODE node PATHS ${DPCACHE_DEPS}/node/bin NO_DEFAULT_PATH)
find_program(DPCACHE_NODE node)
set(CMAKE_CROSSCOMPILING_EMULATOR ${DPCACHE_NODE})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DPCACHE_DEPS)

include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
