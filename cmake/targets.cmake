# How every target of this project is compiled. Nothing here reaches those who link the library.

# Same bits everywhere: no fused multiply-add, for tests and tools too, as they compare bits.
# Warnings are errors for those who work on dpcache, not for those who build it into something else.
function(dpcache_own target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
      # g++ 12 sees overlapping copies in std::string where there are none (GCC bug 105651).
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  endif()
endfunction()

# For the library itself and its tests: core/src by quoted includes only, so that no file there ever
# stands in for a system header.
function(dpcache_see_inside target)
  target_compile_options(${target} PRIVATE "SHELL:-iquote ${PROJECT_SOURCE_DIR}/core/src")
endfunction()

# For tests and measurements: what both need, as "studies/NAME.h".
function(dpcache_see_studies target)
  target_compile_options(${target} PRIVATE "SHELL:-iquote ${PROJECT_SOURCE_DIR}")
endfunction()
