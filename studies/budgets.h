// The studies of budgets that move: streams of phases, and what a fixed budget recalls on them.
#ifndef DPCACHE_STUDIES_BUDGETS_H_
#define DPCACHE_STUDIES_BUDGETS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "studies/studies.h"

namespace dpcache::studies {

inline constexpr std::uint64_t kSeeds = 20;

// One seed's stream: phases, each with the items that it shows queried at its end.
using Phases = std::vector<Stream>;

// `sizes[p]` fresh items in phase p.
inline std::vector<Phases> fresh_sets(const std::vector<std::size_t>& sizes, std::size_t steps) {
  std::vector<Phases> all;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    Phases phases;
    for (std::size_t size : sizes) {
      const Distinct items = distinct_items(random, size, 64);
      phases.push_back(
          make_stream(random, items, drawn(random, size, steps), 0.3, Asked::items_seen));
    }
    all.push_back(std::move(phases));
  }
  return all;
}

// The same items in every phase.
inline std::vector<Phases> constant_set(std::size_t size, std::size_t steps,
                                        std::size_t phase_count) {
  std::vector<Phases> all;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, size, 64);
    Phases phases;
    for (std::size_t p = 0; p < phase_count; ++p) {
      phases.push_back(
          make_stream(random, items, drawn(random, size, steps), 0.3, Asked::items_seen));
    }
    all.push_back(std::move(phases));
  }
  return all;
}

inline Config budgeted(BudgetKind kind, double m0) {
  Config config = settings(0.5);
  config.usage_decay = 0.95F;
  config.budget = kind;
  config.m0 = static_cast<float>(m0);
  config.beta = 80.0F;
  config.eta = 0.05F;
  return config;
}

struct Outcome {
  Spread recall;  // mean over phases
  Spread slots;   // mean over elements
};

inline Outcome run(const Config& config, const std::vector<Phases>& seeds) {
  Outcome outcome;
  for (const Phases& phases : seeds) {
    Memory memory(config);
    Spread recall;
    Spread slots;
    for (const Stream& phase : phases) {
      for (std::size_t t = 0; t < phase.keys.size(); ++t) {
        memory.observe(phase.keys[t], phase.classes[t]);
        slots.add(memory.slots());
      }
      recall.add(memory.recall(phase));
    }
    outcome.recall.add(recall.mean());
    outcome.slots.add(slots.mean());
  }
  return outcome;
}

// What a fixed budget recalls with `slots` slots on average, for each seed: on a line between the
// two whole budgets whose averages enclose it. A budget of B holds at most B. `config` says all but
// the budget.
inline Spread fixed_recalls(double slots, const std::vector<Phases>& seeds,
                            Config config = budgeted(BudgetKind::fixed, 1.0)) {
  std::vector<double> averages;
  std::vector<std::vector<double>> recalls;  // of each budget, for each seed
  for (double budget = std::floor(slots);; ++budget) {
    config.m0 = static_cast<float>(budget);
    const Outcome fixed = run(config, seeds);
    const double average = fixed.slots.mean();
    if (!averages.empty() && average <= averages.back()) break;  // the set is smaller than that
    averages.push_back(average);
    recalls.push_back(fixed.recall.all());
    if (average >= slots) break;
  }
  Spread out;
  for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
    std::vector<double> of_seed;
    of_seed.reserve(recalls.size());
    for (const std::vector<double>& one : recalls) of_seed.push_back(one[seed]);
    out.add(interpolate(slots, averages, of_seed));
  }
  return out;
}

inline double fixed_recall(double slots, const std::vector<Phases>& seeds) {
  return fixed_recalls(slots, seeds).mean();
}

inline std::vector<Phases> six_and_thirty() {
  return fresh_sets({6, 30, 6, 30, 6, 30, 6, 30}, 108);
}
inline std::vector<Phases> bursty() {
  return fresh_sets({2, 4, 45, 3, 2, 45, 4, 2}, 200);
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_BUDGETS_H_
