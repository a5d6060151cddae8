// The logarithm of a factorial, and what is left of it without its large part.
#ifndef DPCACHE_SRC_TRAIN_FACTORIAL_H_
#define DPCACHE_SRC_TRAIN_FACTORIAL_H_

#include <cstdint>

#include "train/numbers.h"

namespace dpcache {

inline constexpr std::uint64_t kStirlingFrom = 32;
inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// ln x! - (x ln x - x + ln(2 pi x) / 2) by Stirling's series; from kStirlingFrom on its next term
// is below 1e-17.
inline double stirling_series(double x) noexcept {
  const double r = 1.0 / x;
  const double s = r * r;
  return r * (1.0 / 12.0 + s * (-1.0 / 360.0 + s * (1.0 / 1260.0 - s / 1680.0)));
}

// ln n!, by its product or by Stirling's series.
inline double log_factorial(std::uint64_t n) noexcept {
  const auto x = static_cast<double>(n);
  if (n < kStirlingFrom) {
    double product = 1.0;
    for (double factor = 2.0; factor <= x; factor += 1.0) product *= factor;
    return logarithm(product);
  }
  return (x + 0.5) * logarithm(x) - x + kHalfLogTwoPi + stirling_series(x);
}

// ln n! - (n ln n - n): 0 for n = 0, below 20 for all n, and as exact for a large n as for a small.
inline double log_factorial_rest(std::uint64_t n) noexcept {
  if (n == 0) return 0.0;
  const auto x = static_cast<double>(n);
  if (n < kStirlingFrom) return log_factorial(n) - (x * logarithm(x) - x);
  return 0.5 * logarithm(x) + kHalfLogTwoPi + stirling_series(x);
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_TRAIN_FACTORIAL_H_
