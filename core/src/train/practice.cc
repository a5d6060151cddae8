// Episodes of the noise model.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dpcache/train.h"
#include "train/check.h"
#include "train/numbers.h"

namespace dpcache {

namespace {

// A vector of normal numbers, times `scale`, added to `x`.
void add_noise(RandomBits& random, double scale, std::span<double> x) {
  for (std::size_t i = 0; i < x.size(); i += 2) {
    double one = 0.0;
    double other = 0.0;
    random.gaussians(one, other);
    x[i] += scale * one;
    if (i + 1 < x.size()) x[i + 1] += scale * other;
  }
}

// Brings `x` to unit length; a vector of zeros, which chance alone would have to make, becomes the
// first axis.
void make_unit(std::span<double> x) {
  double squares = 0.0;
  for (const double component : x) squares += component * component;
  if (squares == 0.0) {
    x.front() = 1.0;
    return;
  }
  const double length = std::sqrt(squares);
  for (double& component : x) component /= length;
}

}  // namespace

Result<Practice> Practice::create(const PracticeOptions& options) {
  constexpr std::uint32_t kMostItems = 4096;
  const auto whole = [](std::uint32_t x, std::uint32_t low, std::uint32_t high) {
    return x >= low && x <= high;
  };
  if (!whole(options.dimension, 1, kMaxDimension)) {
    return bad_option("dimension", "an integer from 1 to 65536");
  }
  if (!whole(options.classes, 2, 65536)) return bad_option("classes", "an integer from 2 to 65536");
  if (!whole(options.most, 1, kMostItems)) return bad_option("most", "an integer from 1 to 4096");
  if (!whole(options.least, 1, options.most)) {
    return bad_option("least", "an integer from 1 to the value of most");
  }
  if (!is_within(options.noise, 0.0, 10.0)) return bad_option("noise", "from 0 to 10");
  if (options.repeats > 64) return bad_option("repeats", "an integer from 0 to 64");
  Practice practice;
  practice.options_ = options;
  practice.random_ = RandomBits::start(options.seed);
  return practice;
}

Episode Practice::next() {
  RandomBits random(random_);
  const std::uint32_t d = options_.dimension;
  const std::uint32_t count = options_.least + random.below(options_.most - options_.least + 1);
  std::vector<double> bases(std::size_t{count} * d, 0.0);
  std::vector<std::uint32_t> classes(count);
  std::vector<std::uint32_t> order;  // which of the distinct items each element repeats
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::span<double> base(bases.data() + std::size_t{i} * d, d);
    add_noise(random, 1.0, base);
    make_unit(base);
    classes[i] = random.below(options_.classes);
    std::uint32_t times = options_.repeats;
    if (times == 0) {
      constexpr double kEnd = 0.25;
      constexpr std::uint32_t kMostTimes = 16;
      for (times = 1; times < kMostTimes && random.uniform() >= kEnd;) ++times;
    }
    order.insert(order.end(), times, i);
  }
  for (auto left = static_cast<std::uint32_t>(order.size()); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }

  Episode episode;
  episode.dimension = d;
  episode.classes = options_.classes;
  const double scale = options_.noise / std::sqrt(static_cast<double>(d));
  std::vector<double> copy(d);
  const auto add_copy = [&](std::uint32_t source, std::vector<float>& to) {
    const double* base = bases.data() + std::size_t{source} * d;
    std::copy(base, base + d, copy.begin());
    if (options_.noise > 0.0) {
      add_noise(random, scale, copy);
      make_unit(copy);
    }
    for (const double component : copy) to.push_back(static_cast<float>(component));
  };
  episode.keys.reserve(order.size() * d);
  for (const std::uint32_t source : order) {
    add_copy(source, episode.keys);
    episode.key_classes.push_back(classes[source]);
  }
  episode.queries.reserve(bases.size());
  for (std::uint32_t source = 0; source < count; ++source) add_copy(source, episode.queries);
  episode.query_classes = std::move(classes);
  return episode;
}

}  // namespace dpcache
