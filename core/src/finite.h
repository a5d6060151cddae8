// Whether the numbers of a vector are numbers, and whether one of them is not 0.
#ifndef DPCACHE_SRC_FINITE_H_
#define DPCACHE_SRC_FINITE_H_

#include <span>

namespace dpcache {

struct Finite {
  bool all_finite = true;
  bool all_zero = true;
};

// One pass over the bits, which compilers turn into wide instructions.
Finite look_at(std::span<const float> x) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_FINITE_H_
