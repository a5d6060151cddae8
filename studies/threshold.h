// The studies of tau and theta: the noise model's two bounds, and what a memory recalls at a
// temperature.
#ifndef DPCACHE_STUDIES_THRESHOLD_H_
#define DPCACHE_STUDIES_THRESHOLD_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "studies/studies.h"

namespace dpcache::studies {

// Below it unrelated items are merged: K items in d dimensions have at most epsilon pairs that are
// more alike, on average.
inline double false_merges_below(double count, double d, double epsilon) {
  return std::sqrt(1.0 - std::pow(2.0 * epsilon / (count * count), 2.0 / d));
}

// Above it an item's noisy copies open slots of their own: their cosine is about normal, and this
// is 3.1 standard deviations under its mean.
inline double duplicates_above(double rho, double d) {
  const double mean = 1.0 / (1.0 + rho * rho);
  const double spread =
      2.0 * rho * rho * (1.0 - mean) * (1.0 - mean) + std::pow(rho, 4.0) * (1.0 + mean * mean);
  return mean - 3.1 * mean * std::sqrt(spread / d);
}

struct SlotsAnItem {
  Spread slots;  // a distinct item
  Spread recall;
};

// Each of `count` items four times.
inline SlotsAnItem each_four_times(const Config& config, std::size_t count, double rho,
                                   std::uint64_t seeds) {
  SlotsAnItem point;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, count, config.dimension);
    const Stream stream = make_stream(random, items, each_repeated(random, count, 4), rho);
    Memory memory(config);
    memory.observe(stream);
    point.slots.add(memory.slots() / static_cast<double>(count));
    point.recall.add(memory.recall(stream));
  }
  return point;
}

// The recall of one memory that is read at several temperatures.
inline std::vector<Spread> recall_at(const std::vector<double>& thetas, std::size_t d,
                                     std::size_t count, double rho, std::uint64_t seeds) {
  std::vector<Spread> recall(thetas.size());
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, count, d);
    const Stream stream = make_stream(random, items, each_repeated(random, count, 4), rho);
    Config config = settings(0.6, d);
    Memory memory(config);
    memory.observe(stream);
    for (std::size_t i = 0; i < thetas.size(); ++i) {
      config.theta = static_cast<float>(thetas[i]);
      if (!memory.cache().configure(config)) throw std::invalid_argument("theta was refused");
      recall[i].add(memory.recall(stream));
    }
  }
  return recall;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_THRESHOLD_H_
