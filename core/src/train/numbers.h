// Logarithm and random numbers that have the same bits everywhere: from +, -, x, / and square roots
// alone, like the exponential of numerics.h.
#ifndef DPCACHE_SRC_TRAIN_NUMBERS_H_
#define DPCACHE_SRC_TRAIN_NUMBERS_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "numerics.h"

namespace dpcache {

// (artanh t / t - 1) / t^2 by its series, at s = t^2: 1/3 + s/5 + ... For |t| < .172 the next term
// is below 2^-57 of artanh t.
inline double artanh_rest(double s) noexcept {
  double p = 1.0 / 21.0;
  p = p * s + 1.0 / 19.0;
  p = p * s + 1.0 / 17.0;
  p = p * s + 1.0 / 15.0;
  p = p * s + 1.0 / 13.0;
  p = p * s + 1.0 / 11.0;
  p = p * s + 1.0 / 9.0;
  p = p * s + 1.0 / 7.0;
  p = p * s + 1.0 / 5.0;
  return p * s + 1.0 / 3.0;
}

// ln x for a positive normal x, to within 2 units in the last place of max(1, |ln x|).
inline double logarithm(double x) noexcept {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // The mantissa in [sqrt(1/2), sqrt(2)), so that the series below is short on both sides of 1.
  constexpr std::uint64_t kOne = 0x3FF0000000000000ULL;
  constexpr std::uint64_t kFraction = 0x000FFFFFFFFFFFFFULL;
  double mantissa = std::bit_cast<double>((bits & kFraction) | kOne);
  auto exponent = static_cast<std::int64_t>(bits >> 52U) - 1023;
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh t, t = (m - 1) / (m + 1), |t| < .172.
  const double t = (mantissa - 1.0) / (mantissa + 1.0);
  const double s = t * t;
  const double n = static_cast<double>(exponent);
  return n * kLn2High + (n * kLn2Low + (2.0 * t + 2.0 * t * (s * artanh_rest(s))));
}

// ln(1 + x) for x >= 0. Below 2^-10 by its series, which is exact there and quick.
inline double logarithm_of_one_plus(double x) noexcept {
  if (x >= 0x1p-10) return logarithm(1.0 + x);
  return x * (1.0 + x * (-1.0 / 2.0 + x * (1.0 / 3.0 + x * (-1.0 / 4.0 + x * (1.0 / 5.0)))));
}

// e^x for x up to 708.
inline double exponential(double x) noexcept {
  return x > 0.0 ? 1.0 / exp_nonpositive(-x) : exp_nonpositive(x);
}

// SplitMix64 (Steele, Lea & Flood 2014) over a state of the caller's.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t& state) noexcept : state_(state) {}

  static std::uint64_t start(std::uint64_t seed) noexcept { return mix64(seed); }

  double uniform() noexcept {  // [0, 1), in steps of 2^-53
    const std::uint64_t bits = mix64(state_);
    state_ += 0x9E3779B97F4A7C15ULL;
    return static_cast<double>(bits >> 11U) * 0x1p-53;
  }
  std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(uniform() * static_cast<double>(n));
  }
  // Two at a time by the polar method (Marsaglia & Bray 1964): it needs no sine.
  void gaussians(double& one, double& other) noexcept {
    for (;;) {
      const double x = 2.0 * uniform() - 1.0;
      const double y = 2.0 * uniform() - 1.0;
      const double square = x * x + y * y;
      if (square >= 1.0 || square == 0.0) continue;
      const double scale = std::sqrt(-2.0 * logarithm(square) / square);
      one = x * scale;
      other = y * scale;
      return;
    }
  }

 private:
  std::uint64_t& state_;
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_TRAIN_NUMBERS_H_
