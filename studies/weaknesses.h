// The studies of where the method is weak: chains of near neighbours, drift, and the order.
#ifndef DPCACHE_STUDIES_WEAKNESSES_H_
#define DPCACHE_STUDIES_WEAKNESSES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "studies/studies.h"

namespace dpcache::studies {

// A unit key at right angles to `key`.
inline std::vector<double> right_angle(Random& random, const Key& key) {
  const Key other = random_key(random, key.size());
  const double along = std::inner_product(key.begin(), key.end(), other.begin(), 0.0);
  std::vector<double> out(other.begin(), other.end());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= along * static_cast<double>(key[i]);
  const Key length_one = unit(out);
  return {length_one.begin(), length_one.end()};
}

// from cos + across sin
inline Key turned(const Key& from, const std::vector<double>& across, double angle) {
  std::vector<double> out(from.begin(), from.end());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::cos(angle) * out[i] + std::sin(angle) * across[i];
  }
  return unit(out);
}

struct Point {
  Spread slots;
  Spread recall;
};

// 40 items, each at a cosine of .75 to the one before it; each comes 20 times, with noise of .1.
inline Point chain(double least_similarity) {
  Point point;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Distinct items = distinct_items(random, 40, 64);
    for (std::size_t i = 1; i < 40; ++i) {
      const Key& before = items.keys[i - 1];
      items.keys[i] = turned(before, right_angle(random, before), std::acos(0.75));
    }
    const Stream stream = make_stream(random, items, each_repeated(random, 40, 20), 0.1);
    Memory memory(settings(least_similarity));
    memory.observe(stream);
    point.slots.add(memory.slots());
    point.recall.add(memory.recall(stream));
  }
  return point;
}

// One item whose key turns by 180 degrees in 2000 steps, with noise of .1.
inline Spread slots_after_drift(KeyUpdate update) {
  Spread slots;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const Key start = random_key(random, 64);
    const std::vector<double> across = right_angle(random, start);
    Config config = settings(0.6);
    config.key_update = update;
    Memory memory(config);
    for (int t = 0; t < 2000; ++t) {
      memory.observe(noisy(random, turned(start, across, std::numbers::pi * t / 2000.0), 0.1), 0);
    }
    slots.add(memory.slots());
  }
  return slots;
}

// The same 512 elements, 64 items 8 times, in 50 orders.
inline Point orders(double rho, double least_similarity, KeyUpdate update) {
  Random random(1);
  const Distinct items = distinct_items(random, 64, 64);
  const Stream stream = make_stream(random, items, each_repeated(random, 64, 8), rho);
  Config config = settings(least_similarity);
  config.key_update = update;
  Point point;
  for (int permutation = 0; permutation < 50; ++permutation) {
    Order order(stream.keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    Memory memory(config);
    for (std::size_t t : order) memory.observe(stream.keys[t], stream.classes[t]);
    point.slots.add(memory.slots());
    point.recall.add(memory.recall(stream));
  }
  return point;
}

struct Duplicates {
  Spread slots;  // a distinct item
  Spread recall;
  Spread slots_after;  // consolidated
  Spread recall_after;
};

// 128 items 16 times with noise of .7, which splits them; then consolidated.
inline Duplicates duplicates() {
  Duplicates out;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, 128, 64);
    const Stream stream = make_stream(random, items, each_repeated(random, 128, 16), 0.7);
    Config config = settings(0.6);
    config.keep_sums = true;
    Memory memory(config);
    memory.observe(stream);
    out.slots.add(memory.slots() / 128.0);
    out.recall.add(memory.recall(stream));
    if (!memory.cache().consolidate().status) throw std::logic_error("not consolidated");
    out.slots_after.add(memory.slots() / 128.0);
    out.recall_after.add(memory.recall(stream));
  }
  return out;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_WEAKNESSES_H_
