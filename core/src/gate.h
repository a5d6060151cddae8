// The gate: whether an item is novel enough for a slot of its own [eq. 2], and what one judged
// decision makes of it.
#ifndef DPCACHE_SRC_GATE_H_
#define DPCACHE_SRC_GATE_H_

#include <algorithm>

#include "dpcache/config.h"
#include "numerics.h"

namespace dpcache {

// sigmoid(a (nov - b)).
inline float gate_probability(const Gate& gate, float novelty) noexcept {
  const double distance = static_cast<double>(novelty) - static_cast<double>(gate.b);
  return static_cast<float>(logistic(static_cast<double>(gate.a) * distance));
}

// The slopes of a gate that learns online.
inline constexpr float kLeastOnlineSlope = 1.0F;
inline constexpr float kLargestOnlineSlope = 1000.0F;

struct WideGate {
  double a;
  double b;
};

// One online step. `target`: 1 for two things that are different, 0 for the same. The gradient of
// the cross-entropy in b is a (target - g), in ln a it is a (nov - b) (g - target); b's is taken
// without its factor a, so that no step is longer than `rate`.
inline WideGate step(WideGate gate, double novelty, double target, double rate) noexcept {
  constexpr double kSlopeRate = 0.25;  // a settles more slowly than b, from more decisions
  const double distance = novelty - gate.b;
  const double error = logistic(gate.a * distance) - target;
  const double pull = gate.a * distance * error;
  const double factor = std::clamp(1.0 - kSlopeRate * rate * pull, 0.5, 2.0);
  return {std::clamp(gate.a * factor, static_cast<double>(kLeastOnlineSlope),
                     static_cast<double>(kLargestOnlineSlope)),
          std::clamp(gate.b + rate * error, 0.0, 2.0)};
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_GATE_H_
