// The binomial distribution's tail.
#ifndef DPCACHE_SRC_TRAIN_BINOMIAL_H_
#define DPCACHE_SRC_TRAIN_BINOMIAL_H_

#include <cstdint>

namespace dpcache {

// P(at most k of n), each with probability p in [0, 1]. To about 1e-16 n ln n. Takes as many
// additions as there are terms that count: a few times sqrt(n).
double binomial_at_most(std::uint64_t k, std::uint64_t n, double p) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_TRAIN_BINOMIAL_H_
