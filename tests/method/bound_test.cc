// The stated bound on false merges: over many sets of pairs, how often does the chosen tau break
// it?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/text.h"
#include "dpcache/train.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

// The sanitizers take about ten times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kTrials = 60;
#else
constexpr int kTrials = 300;
#endif
constexpr double kDelta = 0.1;

struct Case {
  std::size_t pairs;  // that are different
  double alpha;
};
constexpr Case kCases[] = {{200, .05}, {500, .02}, {1000, .01}};

// How often a choice was made, and how often its true rate is above alpha.
struct Tally {
  int chosen = 0;
  int violated = 0;
  Spread tau;
};

std::string figures_of(const std::string& source, const Case& one_case, const Tally& tally) {
  return say("bound, ", source, ", n = ", one_case.pairs, ", alpha = ", one_case.alpha, ": ",
             tally.violated, " of ", kTrials, " violated, ", tally.chosen, " chosen, tau ",
             tally.tau);
}

TEST(StatedBound, IsBrokenInAtMostDeltaOfTheTrials) {
  // Novelties of different pairs are the square root of a uniform number: P(nov <= tau) = tau^2.
  // Every tau is then as hard as it gets: the true rate passes alpha in the middle of the grid.
  for (const Case& one_case : kCases) {
    Random random(one_case.pairs);
    Tally tally;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<Trial> trials(one_case.pairs);
      for (Trial& one : trials) {
        one = {static_cast<float>(std::sqrt(random.uniform())), Right::allocate};
      }
      const Calibration calibration = *calibrate(trials, {one_case.alpha, 1.0 - kDelta, Per::pair});
      if (!calibration.chosen) continue;
      ++tally.chosen;
      const auto tau = static_cast<double>(calibration.chosen->tau);
      tally.tau.add(tau);
      if (tau * tau > one_case.alpha) ++tally.violated;
    }
    const std::string figures = figures_of("synthetic", one_case, tally);
    EXPECT_LE(tally.violated, kDelta * kTrials) << figures;
    EXPECT_GT(tally.chosen, kTrials / 2) << figures;
  }
}

TEST(StatedBound, HoldsPerItemAgainstAReferenceMemory) {
  // Items of 40 things with much noise: the nearest of 40 slots is often another thing's.
  constexpr std::size_t kThings = 40;
  constexpr std::size_t kDimension = 16;
  constexpr std::size_t kPool = 20000;
  constexpr std::size_t kItems = 500;
  constexpr double kAlpha = 0.05;
  Random random(5);
  const Distinct things = distinct_items(random, kThings, kDimension);
  const auto draw = [&](std::size_t count) {
    LabelledItems items;
    items.dimension = kDimension;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t thing = count == kThings ? i : random.below(kThings);
      const Key key = noisy(random, things.keys[thing], 0.8);
      items.keys.insert(items.keys.end(), key.begin(), key.end());
      items.labels.push_back(thing);
    }
    return items;
  };
  const LabelledItems reference = draw(kThings);
  const std::vector<Trial> pool = *trials_against(reference, draw(kPool));
  const auto true_rate = [&](float tau) {
    return static_cast<double>(std::count_if(pool.begin(), pool.end(),
                                             [tau](const Trial& trial) {
                                               return trial.novelty <= tau &&
                                                      trial.right != Right::merge;
                                             })) /
           kPool;
  };
  Tally tally;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Trial> drawn(kItems);
    for (Trial& one : drawn) one = pool[random.below(kPool)];
    const Calibration calibration = *calibrate(drawn, {kAlpha, 1.0 - kDelta, Per::item});
    if (!calibration.chosen) continue;
    ++tally.chosen;
    tally.tau.add(static_cast<double>(calibration.chosen->tau));
    if (true_rate(calibration.chosen->tau) > kAlpha) ++tally.violated;
  }
  const std::string figures = figures_of("items", {kItems, kAlpha}, tally);
  EXPECT_LE(tally.violated, kDelta * kTrials) << figures;
  EXPECT_GT(tally.chosen, kTrials / 2) << figures;
}

// The judged pairs of a table `label text_a text_b`, by the built-in encoder.
std::vector<Trial> read_pairs(const std::string& path) {
  std::ifstream file(path);
  EncoderConfig config;
  const Encoder encoder = *Encoder::create(config);
  std::vector<float> a(config.dimension);
  std::vector<float> b(config.dimension);
  std::vector<Trial> trials;
  std::string row;
  std::getline(file, row);  // the header
  while (std::getline(file, row)) {
    const std::size_t first = row.find('\t');
    const std::size_t second = row.find('\t', first + 1);
    encoder.encode(std::string_view(row).substr(first + 1, second - first - 1), a);
    encoder.encode(std::string_view(row).substr(second + 1), b);
    const Verdict verdict = row[0] == '1' ? Verdict::same : Verdict::different;
    trials.push_back(trial_of({*novelty_between(a, b), verdict}));
  }
  return trials;
}

TEST(StatedBound, IsBrokenInAtMostDeltaOfTheTrialsOnRealPairs) {
  for (const char* name : {"pairs_paws/paws_wiki_test.tsv", "pairs_negation/semantoneg.tsv"}) {
    std::vector<Trial> pool = read_pairs(std::string(DPCACHE_SHARED_DATA) + "/" + name);
    if (pool.empty()) GTEST_SKIP() << DPCACHE_SHARED_DATA << " is not here";
    std::erase_if(pool, [](const Trial& trial) { return trial.right == Right::merge; });
    for (const Case& one_case : kCases) {
      Random random(one_case.pairs);
      Tally tally;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<Trial> drawn(one_case.pairs);
        for (Trial& one : drawn) one = pool[random.below(pool.size())];
        const Calibration calibration =
            *calibrate(drawn, {one_case.alpha, 1.0 - kDelta, Per::pair});
        if (!calibration.chosen) continue;
        ++tally.chosen;
        const float tau = calibration.chosen->tau;
        tally.tau.add(static_cast<double>(tau));
        const auto wrong = std::count_if(pool.begin(), pool.end(),
                                         [tau](const Trial& one) { return one.novelty <= tau; });
        if (static_cast<double>(wrong) > one_case.alpha * static_cast<double>(pool.size())) {
          ++tally.violated;
        }
      }
      const std::string figures = figures_of(name, one_case, tally);
      EXPECT_LE(tally.violated, kDelta * kTrials) << figures;
    }
  }
}

}  // namespace
}  // namespace dpcache::studies
