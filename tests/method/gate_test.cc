// Learning the gate from the task's loss alone: from every start to the rule that the cache
// follows.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "studies/gates.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

// The sanitizers take about ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 1;
#else
constexpr std::uint64_t kSeeds = 5;
#endif

TEST(GateFromTheTask, ConvergesFromEveryStartTo64SlotsAndFullRecall) {
  constexpr std::array<double, 3> kNoises = {0.0, 0.3, 0.5};
  std::size_t converged = 0;
  std::size_t runs = 0;
  std::array<Spread, 3> thresholds;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (std::size_t at = 0; at < kNoises.size(); ++at) {
      std::vector<TrainerOptions> options;
      for (std::size_t i = 0; i < kGateStarts.size(); ++i) {
        if ((seed + i) % kNoises.size() != at) continue;
        options.push_back({.a = kGateStarts[i].first, .b = kGateStarts[i].second});
      }
      const auto gates = learned_gates(options, kNoises[at], 10 + seed);
      for (std::size_t i = 0; i < gates.size(); ++i) {
        ++runs;
        const std::string start = line("start ", options[i].a, ", ", options[i].b, ", seed ", seed,
                                       ", noise ", kNoises[at]);
        ASSERT_TRUE(gates[i]) << start;
        const Kept outcome = kept_by(*gates[i], kNoises[at], 64, 3);
        const std::string figures = line(start, ": a ", gates[i]->a, ", b ", gates[i]->b,
                                         ", slots ", outcome.slots, ", recall ", outcome.recall);
        EXPECT_EQ(outcome.slots.least(), 64.0) << figures;
        EXPECT_EQ(outcome.slots.largest(), 64.0) << figures;
        EXPECT_EQ(outcome.kept.mean(), 64.0) << figures;
        EXPECT_EQ(outcome.recall.mean(), 1.0) << figures;
        if (outcome.slots.mean() == 64.0 && outcome.recall.mean() == 1.0) ++converged;
        thresholds[at].add(static_cast<double>(gates[i]->b));
      }
    }
  }
  const std::string figures =
      say("gate from the task: ", converged, " of ", runs, " starts; b ", thresholds[0],
          " without noise, ", thresholds[1], " at .3, ", thresholds[2], " at .5");
  EXPECT_EQ(runs, 9 * kSeeds);
  EXPECT_EQ(converged, runs) << figures;
  EXPECT_NEAR(thresholds[0].mean(), 0.34, 0.05) << figures;
  EXPECT_NEAR(thresholds[1].mean(), 0.38, 0.05) << figures;
  EXPECT_NEAR(thresholds[2].mean(), 0.43, 0.05) << figures;
}

TEST(GateFromTheTask, WorksForAWideRangeOfPricesAndClosesAboveThatOfAnAnswer) {
  std::vector<TrainerOptions> options;
  const std::vector<double> prices = {.05, .5, 2.0, 3.0};
  for (double price : prices) options.push_back({.a = 1.0, .b = 0.5, .lambda = price});
  const auto gates = learned_gates(options, 0.3, 1);
  for (std::size_t i = 0; i < prices.size(); ++i) {
    // ln 16 = 2.77: a slot for more than that never pays.
    if (prices[i] > 2.77) {
      const double kept = gates[i] ? kept_by(*gates[i], 0.3, 64, 1).kept.mean() : 0.0;
      say("gate from the task, lambda ", prices[i], ": ", kept, " kept");
      EXPECT_LT(kept, 8.0) << "only the first item, or next to nothing";
      continue;
    }
    ASSERT_TRUE(gates[i]) << prices[i];
    const Kept outcome = kept_by(*gates[i], 0.3, 64, 3);
    const std::string figures = say("gate from the task, lambda ", prices[i], ": b ", gates[i]->b,
                                    ", slots ", outcome.slots, ", recall ", outcome.recall);
    EXPECT_NEAR(outcome.slots.mean(), 64.0, 1.0) << figures;
    EXPECT_GE(outcome.recall.mean(), 0.995) << figures;
  }
}

TEST(GateFromTheTask, TransfersFrom64ItemsTo512) {
  const auto gates = learned_gates({{.a = 1.0, .b = 0.5}}, 0.3, 1);
  ASSERT_TRUE(gates[0]);
  const Kept outcome = kept_by(*gates[0], 0.3, 512, 1);
  const std::string figures =
      say("gate from the task, 512 items: slots ", outcome.slots, ", recall ", outcome.recall);
  EXPECT_NEAR(outcome.slots.mean(), 512.0, 4.0) << figures;
  EXPECT_GE(outcome.recall.mean(), 0.995) << figures;
}

}  // namespace
}  // namespace dpcache::studies
