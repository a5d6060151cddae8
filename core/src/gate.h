// The gate: whether an item is novel enough for a slot of its own [eq. 2].
#ifndef DPCACHE_SRC_GATE_H_
#define DPCACHE_SRC_GATE_H_

#include "dpcache/config.h"
#include "numerics.h"

namespace dpcache {

// sigmoid(a (nov - b)), in double, by the one exponential that is the same everywhere.
inline float gate_probability(const Gate& gate, float novelty) noexcept {
  const double distance = static_cast<double>(novelty) - static_cast<double>(gate.b);
  const double x = static_cast<double>(gate.a) * distance;
  const double e = exp_nonpositive(x < 0.0 ? x : -x);
  return static_cast<float>((x < 0.0 ? e : 1.0) / (1.0 + e));
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_GATE_H_
