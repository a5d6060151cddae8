// Slots follow the number of distinct items: the paper's table 1, the plateau of the threshold,
// finite vocabularies, vocabularies that grow, and what a fixed budget costs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "studies/plateau.h"
#include "studies/restaurant.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

TEST(Capacity, KeepsOneSlotForEachItemOfTableOneAndRecallsThemAll) {
  Spread slots;
  Spread recall;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, 64, 64);
    const Stream stream = make_stream(random, items, each_repeated(random, 64, 4), 0.0);
    Memory memory(settings(0.5));
    memory.observe(stream);
    slots.add(memory.slots());
    recall.add(memory.recall(stream));
  }
  const std::string figures = say("table 1: slots ", slots, ", recall ", recall);
  EXPECT_EQ(slots.mean(), 64.0) << figures;
  EXPECT_EQ(recall.mean(), 1.0) << figures;
}

// One seed; method_long has five. A recall of .96 of 631 items has an sd of .008 by chance alone.
TEST(Capacity, HasAPlateauOfThresholdsThatRecallEverything) {
  const std::vector<double> least = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  const std::vector<PlateauPoint> points = plateau(Popularity::log_normal, least, 1);
  for (std::size_t i = 0; i < least.size(); ++i) {
    const double recall = points[i].recall.mean();
    const double slots = points[i].slots.mean();
    const std::string figures = say("plateau, log-normal: s* ", least[i], ": recall ", recall,
                                    " @ ", slots, " slots an item");
    if (least[i] < 0.45) {
      EXPECT_NEAR(recall, 0.960, 0.02) << figures;
    } else if (least[i] < 0.55) {
      EXPECT_GE(recall, 0.995) << figures;
    } else {
      EXPECT_EQ(recall, 1.0) << figures;
    }
    if (least[i] > 0.85) {
      EXPECT_NEAR(slots, 1.86, 0.10) << figures;
    } else if (least[i] > 0.55) {
      EXPECT_EQ(slots, 1.0) << figures;
    }
  }
}

TEST(Capacity, FollowsAFiniteVocabularyUntilItIsExhausted) {
  const std::vector<std::size_t> marks = {64, 256, 1024};
  std::vector<Spread> slots(marks.size());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, 64, 128);
    const Order order = drawn(random, 64, marks.back());
    const Stream stream = make_stream(random, items, order, 0.3);
    Memory memory(settings(0.5, 128));
    std::set<std::size_t> seen;
    for (std::size_t t = 0, mark = 0; t < order.size(); ++t) {
      memory.observe(stream.keys[t], stream.classes[t]);
      seen.insert(order[t]);
      ASSERT_EQ(memory.slots(), static_cast<double>(seen.size())) << "seed " << seed << " t " << t;
      if (t + 1 == marks[mark]) slots[mark++].add(memory.slots());
    }
  }
  for (std::size_t mark = 0; mark < marks.size(); ++mark) {
    const auto n = static_cast<double>(marks[mark]);
    const double expected = 64.0 * (1.0 - std::pow(63.0 / 64.0, n));
    const std::string figures =
        say("finite K = 64: N = ", marks[mark], ": slots ", slots[mark], ", expected ", expected);
    const double standard_error = slots[mark].sd() / std::sqrt(20.0);
    EXPECT_NEAR(slots[mark].mean(), expected, 3.0 * standard_error + 0.01) << figures;
  }
}

TEST(Capacity, OpensOneSlotForEachTableOfAChineseRestaurant) {
  constexpr std::size_t kCustomers = 10000;
  for (double alpha : {1.0, 5.0, 10.0}) {
    Spread slots;
    Spread slopes;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Random random(static_cast<std::uint64_t>(alpha) * 100 + seed);
      Distinct items;
      Order order;
      Memory memory(settings(0.5, 128));
      Growth growth;
      for (std::size_t n = 0; n < kCustomers; ++n) {
        const bool opens = opens_table(random, alpha, n);
        order.push_back(opens ? items.keys.size() : order[random.below(n)]);
        if (opens) {
          items.keys.push_back(random_key(random, 128));
          items.classes.push_back(random.below(kClasses));
        }
        memory.observe(noisy(random, items.keys[order[n]], 0.3), items.classes[order[n]]);
        growth.note(n + 1, memory.slots());
      }
      EXPECT_EQ(memory.slots(), static_cast<double>(items.keys.size())) << "alpha " << alpha;
      slots.add(memory.slots());
      slopes.add(growth.per_logarithm());
    }
    const double expected = expected_tables(alpha, kCustomers);
    const std::string figures = say("restaurant, alpha = ", alpha, ": slots = tables = ", slots,
                                    ", expected ", expected, "; slope on ln N ", slopes);
    // Three standard errors: a run's number of tables is nearly Poisson, its slope's sd is about
    // .45 sqrt(alpha).
    EXPECT_NEAR(slots.mean(), expected, 3.0 * std::sqrt(expected / 4.0)) << figures;
    EXPECT_NEAR(slopes.mean(), alpha, 3.0 * 0.45 * std::sqrt(alpha / 4.0)) << figures;
  }
}

// The same restaurant without a memory, 200 times: that the streams are what they should be.
TEST(Capacity, HasStreamsWhoseTablesGrowLikeAlphaTimesTheLogarithm) {
  constexpr std::size_t kCustomers = 100000;
  for (double alpha : {1.0, 5.0, 10.0}) {
    Spread tables;
    Spread slopes;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      double opened = 0.0;
      Growth growth;
      for (std::size_t n = 0; n < kCustomers; ++n) {
        if (opens_table(random, alpha, n)) ++opened;
        growth.note(n + 1, opened);
      }
      tables.add(opened);
      slopes.add(growth.per_logarithm());
    }
    const double expected = expected_tables(alpha, kCustomers);
    const std::string figures = say("200 restaurants, alpha = ", alpha, ": tables ", tables,
                                    ", expected ", expected, "; slope on ln N ", slopes);
    EXPECT_NEAR(tables.mean(), expected, 3.0 * std::sqrt(expected / 200.0)) << figures;
    EXPECT_NEAR(slopes.mean(), alpha, 3.0 * 0.45 * std::sqrt(alpha / 200.0)) << figures;
  }
}

// Under a budget of B slots the least used one goes first. The figures are those of the frontier
// study; the baselines beside them stand in the benchmarks.
TEST(Capacity, LosesRecallGraduallyUnderAFixedBudget) {
  struct Case {
    float budget;
    double figure;
  };
  for (const Case& one : {Case{32, 0.537}, Case{48, 0.766}, Case{64, 1.0}}) {
    Spread recall;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const Distinct items = distinct_items(random, 64, 64);
      const Stream stream = make_stream(random, items, each_repeated(random, 64, 4), 0.3);
      Config config = settings(0.6);
      config.budget = BudgetKind::fixed;
      config.m0 = one.budget;
      Memory memory(config);
      memory.observe(stream);
      EXPECT_EQ(memory.slots(), one.budget);
      recall.add(memory.recall(stream));
    }
    const std::string figures = say("frontier, uniform: B = ", one.budget, ": recall ", recall);
    EXPECT_NEAR(recall.mean(), one.figure, one.figure == 1.0 ? 0.0 : 0.03) << figures;
  }
  for (const Case& one : {Case{128, 0.525}, Case{256, 1.0}}) {
    Spread recall;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Random random(seed);
      const Distinct items = distinct_items(random, 256, 64);
      const std::vector<double> weights = popularity_weights(random, Popularity::zipf, 256);
      const Stream stream =
          make_stream(random, items, each_and_popular(random, weights, 4096), 0.3);
      Config config = settings(0.6);
      config.budget = BudgetKind::fixed;
      config.m0 = one.budget;
      Memory memory(config);
      memory.observe(stream);
      recall.add(memory.recall(stream));
    }
    const std::string figures = say("frontier, Zipf: B = ", one.budget, ": recall ", recall);
    EXPECT_NEAR(recall.mean(), one.figure, one.figure == 1.0 ? 0.002 : 0.03) << figures;
  }
}

}  // namespace
}  // namespace dpcache::studies
