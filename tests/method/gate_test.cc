// Learning the gate from the task's loss alone: from every start to the rule that the cache
// follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

// The sanitizers take about ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 1;
#else
constexpr std::uint64_t kSeeds = 5;
#endif

constexpr std::array<std::pair<double, double>, 9> kStarts = {
    {{5, .5}, {1, .5}, {1, .1}, {1, .9}, {10, .9}, {10, .05}, {.1, .5}, {-2, .5}, {-5, .3}}};
constexpr int kSteps = 600;

// One trainer for each of the options, all on the same lessons.
std::vector<std::optional<Gate>> learn(std::vector<TrainerOptions> options, double noise,
                                       std::uint64_t seed) {
  PracticeOptions setting;
  setting.noise = noise;
  setting.seed = seed;
  Practice practice = *Practice::create(setting);
  std::vector<GateTrainer> trainers;
  for (TrainerOptions& one : options) {
    one.seed = seed;
    trainers.push_back(*GateTrainer::create(one));
  }
  for (int i = 0; i < kSteps; ++i) {
    const Lesson lesson = *Lesson::prepare(practice.next());
    for (GateTrainer& trainer : trainers) trainer.step(lesson);
  }
  std::vector<std::optional<Gate>> gates;
  for (const GateTrainer& trainer : trainers) gates.push_back(trainer.gate());
  return gates;
}

// What a cache with this gate keeps and recalls of `count` items, four times each.
struct Outcome {
  Spread slots;
  Spread recall;
  Spread kept;  // by the gate over past items, as in training
};

Outcome outcome_of(const Gate& gate, double noise, std::uint32_t count, std::uint64_t episodes) {
  PracticeOptions setting;
  setting.noise = noise;
  setting.least = setting.most = count;
  setting.repeats = 4;
  setting.seed = 99;
  Practice practice = *Practice::create(setting);
  Config config = settings(0.0);
  config.tau = {};
  config.gate = gate;
  Outcome outcome;
  for (std::uint64_t i = 0; i < episodes; ++i) {
    const Episode episode = practice.next();
    const auto rows = [&](const std::vector<float>& all) {
      std::vector<Key> keys;
      for (std::size_t at = 0; at < all.size(); at += episode.dimension) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
        keys.emplace_back(begin, begin + episode.dimension);
      }
      return keys;
    };
    Stream stream;
    stream.keys = rows(episode.keys);
    stream.queries = rows(episode.queries);
    stream.classes.assign(episode.key_classes.begin(), episode.key_classes.end());
    stream.answers.assign(episode.query_classes.begin(), episode.query_classes.end());
    Memory memory(config);
    memory.observe(stream);
    outcome.slots.add(memory.slots());
    outcome.recall.add(memory.recall(stream));
    const Lesson lesson = *Lesson::prepare(episode);
    outcome.kept.add(
        static_cast<double>(std::count_if(lesson.novelties().begin(), lesson.novelties().end(),
                                          [&](float novelty) { return novelty > gate.b; })));
  }
  return outcome;
}

TEST(GateFromTheTask, ConvergesFromEveryStartTo64SlotsAndFullRecall) {
  constexpr std::array<double, 3> kNoises = {0.0, 0.3, 0.5};
  std::size_t converged = 0;
  std::size_t runs = 0;
  std::array<Spread, 3> thresholds;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (std::size_t at = 0; at < kNoises.size(); ++at) {
      std::vector<TrainerOptions> options;
      for (std::size_t i = 0; i < kStarts.size(); ++i) {
        if ((seed + i) % kNoises.size() != at) continue;
        options.push_back({.a = kStarts[i].first, .b = kStarts[i].second});
      }
      const auto gates = learn(options, kNoises[at], 10 + seed);
      for (std::size_t i = 0; i < gates.size(); ++i) {
        ++runs;
        const std::string start = line("start ", options[i].a, ", ", options[i].b, ", seed ", seed,
                                       ", noise ", kNoises[at]);
        ASSERT_TRUE(gates[i]) << start;
        const Outcome outcome = outcome_of(*gates[i], kNoises[at], 64, 3);
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
  const auto gates = learn(options, 0.3, 1);
  for (std::size_t i = 0; i < prices.size(); ++i) {
    // ln 16 = 2.77: a slot for more than that never pays.
    if (prices[i] > 2.77) {
      const double kept = gates[i] ? outcome_of(*gates[i], 0.3, 64, 1).kept.mean() : 0.0;
      say("gate from the task, lambda ", prices[i], ": ", kept, " kept");
      EXPECT_LT(kept, 8.0) << "only the first item, or next to nothing";
      continue;
    }
    ASSERT_TRUE(gates[i]) << prices[i];
    const Outcome outcome = outcome_of(*gates[i], 0.3, 64, 3);
    const std::string figures = say("gate from the task, lambda ", prices[i], ": b ", gates[i]->b,
                                    ", slots ", outcome.slots, ", recall ", outcome.recall);
    EXPECT_NEAR(outcome.slots.mean(), 64.0, 1.0) << figures;
    EXPECT_GE(outcome.recall.mean(), 0.995) << figures;
  }
}

TEST(GateFromTheTask, TransfersFrom64ItemsTo512) {
  const auto gates = learn({{.a = 1.0, .b = 0.5}}, 0.3, 1);
  ASSERT_TRUE(gates[0]);
  const Outcome outcome = outcome_of(*gates[0], 0.3, 512, 1);
  const std::string figures =
      say("gate from the task, 512 items: slots ", outcome.slots, ", recall ", outcome.recall);
  EXPECT_NEAR(outcome.slots.mean(), 512.0, 4.0) << figures;
  EXPECT_GE(outcome.recall.mean(), 0.995) << figures;
}

}  // namespace
}  // namespace dpcache::studies
