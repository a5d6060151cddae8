// The binomial distribution's tail: its nearest term by logarithms, the others by their ratios.
#include "train/binomial.h"

#include "dpcache/train.h"
#include "train/factorial.h"
#include "train/numbers.h"

namespace dpcache {

namespace {

// P(exactly k of n).
double term(std::uint64_t k, std::uint64_t n, double p) noexcept {
  const double ways = log_factorial(n) - log_factorial(k) - log_factorial(n - k);
  const double log = ways + static_cast<double>(k) * logarithm(p) +
                     static_cast<double>(n - k) * logarithm(1.0 - p);
  return exp_nonpositive(log < 0.0 ? log : 0.0);
}

constexpr double kNegligible = 0x1p-60;

}  // namespace

double binomial_at_most(std::uint64_t k, std::uint64_t n, double p) noexcept {
  constexpr double kLeast = 0x1p-1000;  // a rate below this never shows
  if (k >= n || p < kLeast) return 1.0;
  if (p >= 1.0) return 0.0;
  const double odds = p / (1.0 - p);
  const auto size = static_cast<double>(n);
  const auto edge = static_cast<double>(k);
  // From the edge away from the mean, where the terms fall.
  if (edge < size * p) {
    const double first = term(k, n, p);
    double sum = 1.0;
    double part = 1.0;
    for (double i = edge; i > 0.0 && part > kNegligible * sum; i -= 1.0) {
      part *= i / ((size - i + 1.0) * odds);
      sum += part;
    }
    return first * sum;
  }
  const double first = term(k + 1, n, p);
  double sum = 1.0;
  double part = 1.0;
  for (double i = edge + 1.0; i < size && part > kNegligible * sum; i += 1.0) {
    part *= (size - i) * odds / (i + 1.0);
    sum += part;
  }
  const double above = first * sum;
  return above < 1.0 ? 1.0 - above : 0.0;
}

double clopper_pearson_upper(std::uint64_t k, std::uint64_t n, double confidence) noexcept {
  if (k >= n) return 1.0;
  const double delta = 1.0 - confidence;
  double low = static_cast<double>(k) / static_cast<double>(n);
  double high = 1.0;
  // Halved until the doubles between them are few; the answer errs upwards.
  for (int i = 0; i < 60; ++i) {
    const double middle = low + (high - low) * 0.5;
    (binomial_at_most(k, n, middle) > delta ? low : high) = middle;
  }
  return high;
}

}  // namespace dpcache
