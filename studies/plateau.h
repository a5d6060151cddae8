// The plateau study: one stream of a real stream's shape against a row of thresholds.
#ifndef DPCACHE_STUDIES_PLATEAU_H_
#define DPCACHE_STUDIES_PLATEAU_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "studies/studies.h"

namespace dpcache::studies {

// How often the distinct items come: weights exp(1.5 N(0, 1)), or all alike, or 1 / rank.
enum class Popularity { log_normal, uniform, zipf };

inline std::vector<double> popularity_weights(Random& random, Popularity popularity,
                                              std::size_t count) {
  std::vector<double> weights(count, 1.0);
  for (std::size_t i = 0; i < count; ++i) {
    if (popularity == Popularity::log_normal) weights[i] = std::exp(1.5 * random.gaussian());
    if (popularity == Popularity::zipf) weights[i] = 1.0 / static_cast<double>(i + 1);
  }
  return weights;
}

struct PlateauPoint {
  Spread slots;  // a distinct item
  Spread recall;
};

// 631 items, 18,087 elements, rho = .3; one point for each least similarity s*.
inline std::vector<PlateauPoint> plateau(Popularity popularity,
                                         const std::vector<double>& least_similarities,
                                         std::uint64_t seeds) {
  constexpr std::size_t kItems = 631;
  std::vector<PlateauPoint> points(least_similarities.size());
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const std::vector<double> weights = popularity_weights(random, popularity, kItems);
    const Distinct items = distinct_items(random, kItems, 64);
    const Stream stream = make_stream(random, items, each_and_popular(random, weights, 18087), 0.3);
    for (std::size_t i = 0; i < points.size(); ++i) {
      Memory memory(settings(least_similarities[i]));
      memory.observe(stream);
      points[i].slots.add(memory.slots() / kItems);
      points[i].recall.add(memory.recall(stream));
    }
  }
  return points;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_PLATEAU_H_
