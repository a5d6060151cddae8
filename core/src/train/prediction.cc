// The hypergeometric distribution's tail: its nearest term by logarithms, the others by their
// ratios.
#include "train/prediction.h"

#include <algorithm>

#include "dpcache/train.h"
#include "train/factorial.h"
#include "train/numbers.h"

namespace dpcache {

namespace {

// x ln(x / expected) - (x - expected) for x = expected + difference: never negative. The difference
// is given, as it is small beside a large x (Loader 2000, "Fast and accurate computation of
// binomial probabilities").
double deviance(double x, double expected, double difference) noexcept {
  if (x == 0.0) return expected;
  const double t = difference / (x + expected);
  if (t < -0.17 || t > 0.17) return x * logarithm(x / expected) - difference;
  const double s = t * t;  // ln(x / expected) = 2 artanh t
  return difference * t + 2.0 * x * t * (s * artanh_rest(s));
}

// P(exactly k of `marked` are among the first n of n + m). The factorials' large parts together are
// the deviances of the four cells from what is expected of them, so that nothing large cancels.
double term(std::uint64_t k, std::uint64_t marked, std::uint64_t n, std::uint64_t m) noexcept {
  const auto all = static_cast<double>(n + m);
  double log = -log_factorial_rest(n + m);
  for (const std::uint64_t sum : {n, m, marked, n + m - marked}) log += log_factorial_rest(sum);
  const auto expected = [&](std::uint64_t row, std::uint64_t column) {
    return static_cast<double>(row) * (static_cast<double>(column) / all);
  };
  const double difference = static_cast<double>(k) - expected(n, marked);
  const auto take = [&](std::uint64_t cell, double mean, double beyond) {
    log -= log_factorial_rest(cell) + deviance(static_cast<double>(cell), mean, beyond);
  };
  take(k, expected(n, marked), difference);
  take(marked - k, expected(m, marked), -difference);
  take(n - k, expected(n, n + m - marked), -difference);
  take(m - (marked - k), expected(m, n + m - marked), difference);
  return exp_nonpositive(log < 0.0 ? log : 0.0);
}

constexpr double kNegligible = 0x1p-60;

}  // namespace

double hypergeometric_at_most(std::uint64_t k, std::uint64_t marked, std::uint64_t n,
                              std::uint64_t m) noexcept {
  const std::uint64_t least = marked > m ? marked - m : 0;
  const std::uint64_t most = std::min(n, marked);
  if (k >= most) return 1.0;
  if (k < least) return 0.0;
  const auto known = static_cast<double>(n);
  const auto total = static_cast<double>(marked);
  const double others = static_cast<double>(m) - total;
  const auto edge = static_cast<double>(k);
  // From the edge away from the mean, where the terms fall.
  if (edge < known * (total / (known + static_cast<double>(m)))) {
    const double first = term(k, marked, n, m);
    double sum = 1.0;
    double part = 1.0;
    for (double i = edge; i > static_cast<double>(least) && part > kNegligible * sum; i -= 1.0) {
      part *= i / (known - i + 1.0) * ((others + i) / (total - i + 1.0));
      sum += part;
    }
    return first * sum;
  }
  const double first = term(k + 1, marked, n, m);
  double sum = 1.0;
  double part = 1.0;
  for (double i = edge + 1.0; i < static_cast<double>(most) && part > kNegligible * sum; i += 1.0) {
    part *= (known - i) / (i + 1.0) * ((total - i) / (others + i + 1.0));
    sum += part;
  }
  const double above = first * sum;
  return above < 1.0 ? 1.0 - above : 0.0;
}

std::uint64_t count_within(double share, std::uint64_t m) noexcept {
  const auto size = static_cast<double>(m);
  const auto is_within = [&](std::uint64_t count) {
    return static_cast<double>(count) / size <= share;
  };
  auto count = static_cast<std::uint64_t>(share * size);
  while (is_within(count + 1)) ++count;
  while (!is_within(count)) --count;
  return count;
}

bool shows_at_most(std::uint64_t most, std::uint64_t m, std::uint64_t k, std::uint64_t n,
                   double delta) noexcept {
  const double widened = delta + (delta * 0x1p-40 + 0x1p-53);
  return k < n && hypergeometric_at_most(k, k + most + 1, n, m) <= widened;
}

double prediction_upper(std::uint64_t k, std::uint64_t n, std::uint64_t upcoming,
                        double confidence) noexcept {
  if (upcoming == 0) return clopper_pearson_upper(k, n, confidence);
  const double delta = 1.0 - confidence;
  std::uint64_t low = 0;
  std::uint64_t high = upcoming;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (shows_at_most(middle, upcoming, k, n, delta)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return static_cast<double>(high) / static_cast<double>(upcoming);
}

}  // namespace dpcache
