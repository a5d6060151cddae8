// Budgets that follow the stream: surprise [eq. 4, 5] and the ghost list, against a fixed budget
// that holds as many slots on average. They win where the working set changes size, and the tests
// whose name says "weakness" show where surprise loses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "method/studies.h"

namespace dpcache::studies {
namespace {

constexpr std::uint64_t kSeeds = 20;

// One seed's stream: phases, each with the items that it shows queried at its end.
using Phases = std::vector<Stream>;

// `sizes[p]` fresh items in phase p.
std::vector<Phases> fresh_sets(const std::vector<std::size_t>& sizes, std::size_t steps) {
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
std::vector<Phases> constant_set(std::size_t size, std::size_t steps, std::size_t phase_count) {
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

Config budgeted(BudgetKind kind, double m0) {
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

Outcome run(const Config& config, const std::vector<Phases>& seeds) {
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

// What a fixed budget recalls with `slots` slots on average: on a line between the two whole
// budgets whose averages enclose it. A budget of B holds at most B.
double fixed_recall(double slots, const std::vector<Phases>& seeds) {
  std::vector<double> averages;
  std::vector<double> recalls;
  for (double budget = std::floor(slots);; ++budget) {
    const Outcome fixed = run(budgeted(BudgetKind::fixed, budget), seeds);
    const double average = fixed.slots.mean();
    if (!averages.empty() && average <= averages.back()) break;  // the set is smaller than that
    averages.push_back(average);
    recalls.push_back(fixed.recall.mean());
    if (average >= slots) break;
  }
  return interpolate(slots, averages, recalls);
}

struct Comparison {
  Outcome moving;
  double gain;  // over the fixed budget of the same average
  std::string figures;
};

Comparison compare(const char* name, BudgetKind kind, const std::vector<Phases>& seeds) {
  Comparison result;
  result.moving = run(budgeted(kind, 6.0), seeds);
  const double fixed = fixed_recall(result.moving.slots.mean(), seeds);
  result.gain = result.moving.recall.mean() - fixed;
  result.figures =
      say(name, ": recall ", result.moving.recall, " @ ", result.moving.slots,
          " slots; a fixed budget of the same average ", fixed, ", gain ", result.gain);
  return result;
}

std::vector<Phases> six_and_thirty() {
  return fresh_sets({6, 30, 6, 30, 6, 30, 6, 30}, 108);
}
std::vector<Phases> bursty() {
  return fresh_sets({2, 4, 45, 3, 2, 45, 4, 2}, 200);
}

TEST(AdaptiveBudget, BeatsAFixedOneOfTheSameAverageWhereTheWorkingSetGrowsAndShrinks) {
  const Comparison result = compare("adaptive, 6/30", BudgetKind::adaptive, six_and_thirty());
  EXPECT_GE(result.moving.recall.mean(), 0.88) << result.figures;
  EXPECT_LE(result.moving.slots.mean(), 18.0) << result.figures;
  EXPECT_GE(result.gain, 0.04) << result.figures;
}

TEST(AdaptiveBudget, BeatsAFixedOneOfTheSameAverageOnBursts) {
  const Comparison result = compare("adaptive, bursty", BudgetKind::adaptive, bursty());
  EXPECT_NEAR(result.gain, 0.079, 0.02) << result.figures;
}

TEST(AdaptiveBudget, GainsNothingOnAStationarySet) {
  for (std::size_t size : {18U, 30U}) {
    const Comparison result =
        compare(size == 18 ? "adaptive, constant 18" : "adaptive, constant 30",
                BudgetKind::adaptive, constant_set(size, 108, 8));
    EXPECT_NEAR(result.gain, 0.0, 0.02) << result.figures;
  }
}

// Surprise is high when a set is replaced, and gone when its last items come: the budget has cooled
// below the size of the set by the phase's end, where a fixed budget holds all of it.
TEST(AdaptiveBudget, WeaknessLosesToAFixedOneOnFreshSetsOfEqualSize) {
  for (std::size_t size : {18U, 30U}) {
    const Comparison result =
        compare(size == 18 ? "adaptive, fresh 18" : "adaptive, fresh 30", BudgetKind::adaptive,
                fresh_sets(std::vector<std::size_t>(8, size), 108));
    EXPECT_LE(result.gain, -0.06) << result.figures;
    EXPECT_GE(result.gain, -0.25) << result.figures;
  }
}

TEST(AdaptiveBudget, CostsRecallAgainstNoBudgetAtAll) {
  const std::vector<Phases> seeds = six_and_thirty();
  const Outcome unbounded = run(budgeted(BudgetKind::none, 6.0), seeds);
  const Outcome fixed = run(budgeted(BudgetKind::fixed, 18.0), seeds);
  const std::string figures =
      say("6/30 without a budget: recall ", unbounded.recall, " @ ", unbounded.slots,
          "; fixed 18: recall ", fixed.recall, " @ ", fixed.slots);
  EXPECT_GE(unbounded.recall.mean(), 0.995) << figures;
  EXPECT_NEAR(unbounded.slots.mean(), 69.5, 1.0) << figures;
  EXPECT_NEAR(fixed.recall.mean(), 0.827, 0.02) << figures;
  EXPECT_NEAR(fixed.slots.mean(), 16.4, 0.2) << figures;
}

TEST(GhostBudget, BeatsTheAdaptiveOneWithFewerSlots) {
  const std::vector<Phases> seeds = six_and_thirty();
  const Comparison result = compare("ghost, 6/30", BudgetKind::ghost, seeds);
  EXPECT_GE(result.moving.recall.mean(), 0.89) << result.figures;
  EXPECT_LE(result.moving.slots.mean(), 15.0) << result.figures;
  EXPECT_GE(result.gain, 0.08) << result.figures;

  // The list itself holds 32 x 8 bytes, as much as one key of 64 floats.
  const double with_one_more = fixed_recall(result.moving.slots.mean() + 1.0, seeds);
  const std::string figures = say("ghost, 6/30: a fixed budget of one slot more ", with_one_more);
  EXPECT_GE(result.moving.recall.mean() - with_one_more, 0.06) << figures;
}

TEST(GhostBudget, BeatsAFixedOneOfTheSameAverageOnBursts) {
  const Comparison result = compare("ghost, bursty", BudgetKind::ghost, bursty());
  EXPECT_GE(result.moving.recall.mean(), 0.93) << result.figures;
  EXPECT_LE(result.moving.slots.mean(), 15.0) << result.figures;
  EXPECT_NEAR(result.gain, 0.103, 0.03) << result.figures;
}

TEST(GhostBudget, DoesNotLoseOnFreshSetsOfEqualSize) {
  const Comparison result = compare("ghost, fresh 18", BudgetKind::ghost,
                                    fresh_sets(std::vector<std::size_t>(8, 18), 108));
  EXPECT_GE(result.gain, 0.0) << result.figures;
}

}  // namespace
}  // namespace dpcache::studies
