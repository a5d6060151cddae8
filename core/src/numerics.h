// Small exact building blocks: an exponential from + and x alone, counts that decay without a pass,
// integer mixing, and the snap of similarities that are equal up to rounding.
#ifndef DPCACHE_SRC_NUMERICS_H_
#define DPCACHE_SRC_NUMERICS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

static_assert(std::endian::native == std::endian::little, "dpcache stores little-endian bytes");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

namespace dpcache {

// Rows are padded with zeros to a multiple of this many floats: the lanes of the canonical sum.
inline constexpr std::size_t kLanes = 16;
// Rows begin at multiples of this many bytes.
inline constexpr std::size_t kAlignment = 64;

constexpr std::size_t padded(std::size_t dimension) noexcept {
  return (dimension + kLanes - 1) / kLanes * kLanes;
}

// e^x for x <= 0, to within 2 units in the last place; 0 below -708. Only +, - and x, in one order,
// so that every platform has the same bits; libm's exp differs between them.
inline double exp_nonpositive(double x) noexcept {
  if (!(x > -708.0)) return 0.0;
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High =
      6.93147180369123816490e-01;  // ln 2 in two parts, so that n x High is exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRound = 6755399441055744.0;  // 1.5 x 2^52: adding it rounds to an integer
  const double shifted = x * kLog2E + kRound;
  const double n = shifted - kRound;
  const double high = x - n * kLn2High;
  const double r = high - n * kLn2Low;  // |r| <= ln 2 / 2
  // Taylor to r^13; the next term is below 2^-60.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023);
  return p * std::bit_cast<double>(exponent << 52U);
}

// 1 / (1 + e^-x).
inline double logistic(double x) noexcept {
  const double e = exp_nonpositive(x < 0.0 ? x : -x);
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// A positive number mantissa x 2^exponent with a mantissa in [1, 2), or zero. Its exponent never
// overflows, which is what lets usage inflate instead of decay: see Usage.
struct WideNumber {
  double mantissa = 0.0;
  std::int64_t exponent = 0;

  static WideNumber of(double value) noexcept { return WideNumber{value, 0}.normal(); }

  WideNumber times(double factor) const noexcept {
    return WideNumber{mantissa * factor, exponent}.normal();
  }

  WideNumber plus(WideNumber other) const noexcept {
    if (mantissa == 0.0) return other;
    if (other.mantissa == 0.0) return *this;
    const WideNumber& big = exponent >= other.exponent ? *this : other;
    const WideNumber& small = exponent >= other.exponent ? other : *this;
    const std::int64_t gap = big.exponent - small.exponent;
    if (gap > 60) return big;  // below half a unit in the last place
    const double scaled = small.mantissa * power_of_two(-gap);
    return WideNumber{big.mantissa + scaled, big.exponent}.normal();
  }

  // this / other, for other > 0; 0 where the quotient is too small for a double.
  double over(WideNumber other) const noexcept {
    const std::int64_t gap = exponent - other.exponent;
    if (mantissa == 0.0 || gap < -1100) return 0.0;
    if (gap > 1000) return std::numeric_limits<double>::max();
    // In two steps, because 2^-1100 is no double; only the second can round.
    const std::int64_t half = gap / 2;
    return mantissa / other.mantissa * power_of_two(half) * power_of_two(gap - half);
  }

  bool operator==(const WideNumber&) const = default;
  bool operator<(const WideNumber& other) const noexcept {
    if (mantissa == 0.0 || other.mantissa == 0.0) return mantissa < other.mantissa;
    if (exponent != other.exponent) return exponent < other.exponent;
    return mantissa < other.mantissa;
  }

  static double power_of_two(std::int64_t n) noexcept {  // |n| <= 1022
    return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U);
  }

 private:
  // Moves the mantissa into [1, 2). Exact, for the mantissas that sums and products give.
  WideNumber normal() const noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(mantissa);
    const auto raised = static_cast<std::int64_t>((bits >> 52U) & 0x7FFU) - 1023;
    if (raised == -1023) return {};  // zero
    return {mantissa * power_of_two(-raised), exponent + raised};
  }
};

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64 bits that mixes well.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// The distance from 1 (or -1) within which a canonical score counts as 1 (or -1): a float32 unit
// vector's score with itself misses 1 by up to this much, and an exact repeat has novelty 0.
// (padded / 16 + 8) 2^-23; exact in float.
constexpr float snap_margin(std::size_t padded_dimension) noexcept {
  return static_cast<float>(padded_dimension / kLanes + 8) * 0x1p-23F;
}

// How much the square of a vector's length may miss 1 for the vector to count as of unit length: as
// exactly as float32 and another's arithmetic make it.
inline constexpr double kUnitError = 0x1p-21;

// A canonical score, which is a float sum of products of vectors that are rounded themselves,
// misses their cosine by at most half of the margin: (length / 16 + 5) roundings of the sum, 2 of
// the lengths; or by a little more where others have rounded the lengths.
constexpr double score_error(float margin) noexcept {
  return 0.5 * static_cast<double>(margin) + kUnitError;
}

constexpr float snap(float score, float margin) noexcept {
  if (score >= 1.0F - margin) return 1.0F;
  if (score <= margin - 1.0F) return -1.0F;
  return score;
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_NUMERICS_H_
