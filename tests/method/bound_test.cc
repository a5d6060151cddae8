// The stated bounds on false merges: over many sets of pairs, and over all splits of one set into
// pairs known and to come, how often does the chosen tau break it?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "dpcache/text.h"
#include "dpcache/train.h"
#include "studies/bound.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

// The sanitizers take about ten times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kTrials = 60;
constexpr int kSplits = 200;
#else
constexpr int kTrials = 300;
constexpr int kSplits = 1000;
#endif

std::string figures_of(const std::string& source, const BoundCase& one_case, const Tally& tally) {
  return say("bound, ", source, ", n = ", one_case.pairs, ", alpha = ", one_case.alpha, ": ",
             tally.violated, " of ", kTrials, " violated, ", tally.chosen, " chosen, tau ",
             tally.tau);
}

TEST(StatedBound, IsBrokenInAtMostDeltaOfTheTrials) {
  for (const BoundCase& one_case : kBoundCases) {
    const Tally tally = bound_on_a_curve(one_case, kTrials);
    const std::string figures = figures_of("synthetic", one_case, tally);
    EXPECT_LE(tally.violated, kDelta * kTrials) << figures;
    EXPECT_GT(tally.chosen, kTrials / 2) << figures;
  }
}

TEST(StatedBound, HoldsPerItemAgainstAReferenceMemory) {
  const Tally tally = bound_per_item(kTrials);
  const std::string figures = figures_of("items", kItemCase, tally);
  EXPECT_LE(tally.violated, kDelta * kTrials) << figures;
  EXPECT_GT(tally.chosen, kTrials / 2) << figures;
}

// --- The next m

// Whether more than alpha of those to come merge wrongly at the tau that the known ones choose.
bool breaks(std::span<const Trial> known, std::span<const Trial> to_come,
            const CalibrationOptions& options) {
  const Calibration calibration = *calibrate(known, options);
  if (!calibration.chosen) return false;
  const auto wrong = std::count_if(to_come.begin(), to_come.end(), [&](const Trial& one) {
    return one.novelty <= calibration.chosen->tau && one.right != Right::merge;
  });
  return static_cast<double>(wrong) / static_cast<double>(to_come.size()) > options.max_false_merge;
}

// Calls `take` with each of the ways to split a pool into `n` known ones and others.
template <class Take>
void each_split(const std::vector<Trial>& pool, std::size_t n, Take take) {
  std::vector<Trial> known;
  std::vector<Trial> to_come;
  for (std::uint32_t split = 0; split < (1U << pool.size()); ++split) {
    if (static_cast<std::size_t>(std::popcount(split)) != n) continue;
    known.clear();
    to_come.clear();
    for (std::size_t i = 0; i < pool.size(); ++i) {
      ((split >> i & 1U) != 0 ? known : to_come).push_back(pool[i]);
    }
    take(known, to_come);
  }
}

// Of all splits of n + m different pairs, no two equally novel: in how many more than `most` of
// those to come are less novel than the known one that comes next after k.
std::uint64_t broken_splits(std::size_t n, std::size_t m, std::size_t most, std::size_t k) {
  std::vector<Trial> pool;
  for (std::size_t i = 0; i < n + m; ++i) pool.push_back({0.1F * static_cast<float>(i + 1)});
  std::uint64_t broken = 0;
  each_split(pool, n, [&](const auto& known, const auto& to_come) {
    const float end = k < n ? known[k].novelty : 3.0F;
    const auto before = std::count_if(to_come.begin(), to_come.end(),
                                      [end](const Trial& one) { return one.novelty < end; });
    if (static_cast<std::size_t>(before) > most) ++broken;
  });
  return broken;
}

struct Sizes {
  std::size_t n;
  std::size_t m;
  int tenths;  // alpha
};

TEST(UpcomingBound, IsAsLooseAsAllSplitsOfAPoolAllow) {
  int refused = 0;
  int chosen = 0;
  for (const Sizes& sizes : {Sizes{9, 1, 5}, Sizes{8, 1, 5}, Sizes{6, 6, 2}, Sizes{6, 6, 5},
                             Sizes{8, 4, 3}, Sizes{4, 8, 5}, Sizes{4, 8, 7}, Sizes{10, 3, 1}}) {
    const auto most = static_cast<std::size_t>(sizes.tenths) * sizes.m / 10;
    for (const std::uint64_t deltas : {1U, 2U, 5U}) {  // tenths
      CalibrationOptions options;
      options.max_false_merge = sizes.tenths / 10.0;
      options.confidence = static_cast<double>(10 - deltas) / 10.0;
      options.upcoming = sizes.m;
      std::vector<Trial> pool;
      for (std::size_t i = 0; i < sizes.n + sizes.m; ++i) {
        pool.push_back({0.1F * static_cast<float>(i + 1), Right::allocate});
      }
      // Where `next` known ones would merge, the limit would be broken too often.
      const std::vector<Trial> some(pool.begin(),
                                    pool.begin() + static_cast<std::ptrdiff_t>(sizes.n));
      const Calibration one = *calibrate(some, options);
      const std::size_t next =
          one.chosen ? static_cast<std::size_t>(one.chosen->false_merges) + 1 : 0;
      ++(one.chosen ? chosen : refused);
      const std::uint64_t expected =
          next == 0 ? 0 : broken_splits(sizes.n, sizes.m, most, next - 1);
      std::uint64_t all = 0;
      std::uint64_t broken = 0;
      each_split(pool, sizes.n, [&](const auto& known, const auto& to_come) {
        ++all;
        if (breaks(known, to_come, options)) ++broken;
      });
      SCOPED_TRACE(testing::Message() << sizes.n << " known, " << sizes.m << " to come, " << most
                                      << " allowed, delta ." << deltas << ", " << all << " splits");
      EXPECT_EQ(broken, expected);
      EXPECT_LE(10 * broken, deltas * all);
      EXPECT_GT(10 * broken_splits(sizes.n, sizes.m, most, next), deltas * all);
    }
  }
  EXPECT_GT(chosen, 10);
  EXPECT_GT(refused, 2);
}

TEST(UpcomingBound, HoldsInAllSplitsOfPoolsWithTiesAndRightOnes) {
  Random random(9);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<Trial> pool(11);
    for (Trial& one : pool) {
      one.novelty = 0.2F * static_cast<float>(random.below(6));
      one.right = std::array{Right::merge, Right::allocate, Right::neither}[random.below(3)];
    }
    CalibrationOptions options;
    options.max_false_merge = 0.1 * static_cast<double>(1 + random.below(6));
    const std::uint64_t deltas = random.below(2) == 0 ? 2 : 4;  // tenths
    options.confidence = static_cast<double>(10 - deltas) / 10.0;
    options.per = Per::item;
    const std::size_t n = 4 + random.below(5);
    options.upcoming = pool.size() - n;
    std::uint64_t all = 0;
    std::uint64_t broken = 0;
    each_split(pool, n, [&](const auto& known, const auto& to_come) {
      ++all;
      if (breaks(known, to_come, options)) ++broken;
    });
    EXPECT_LE(10 * broken, deltas * all) << trial;
  }
}

TEST(UpcomingBound, IsBrokenInAtMostDeltaOfRandomSplitsAndThatOnTheRateInMore) {
  // Few are wrong, so that the grid tells nearly all of them apart.
  constexpr std::size_t kKnown = 600;
  // What more than delta of so many splits may show by chance: three deviations.
  const double allowance = 3.0 * std::sqrt(kDelta * (1.0 - kDelta) / kSplits);
  for (const std::size_t upcoming : {std::size_t{150}, kKnown, std::size_t{6000}}) {
    Random random(upcoming);
    std::vector<Trial> pool(kKnown + upcoming);
    for (Trial& one : pool) {
      one.novelty = static_cast<float>(2.0 * random.uniform());
      one.right = random.uniform() < 0.07 ? Right::neither : Right::merge;
    }
    CalibrationOptions next{0.05, 1.0 - kDelta, Per::item, upcoming};
    CalibrationOptions rate{0.05, 1.0 - kDelta, Per::item, 0};
    int broken = 0;
    int broken_by_rate = 0;
    for (int split = 0; split < kSplits; ++split) {
      random.shuffle(pool);
      const std::span<const Trial> all(pool);
      broken += breaks(all.first(kKnown), all.subspan(kKnown), next) ? 1 : 0;
      broken_by_rate += breaks(all.first(kKnown), all.subspan(kKnown), rate) ? 1 : 0;
    }
    const std::string figures =
        say("bound, the next ", upcoming, " after ", kKnown, ": broken in ", broken, " of ",
            kSplits, ", by that on the rate in ", broken_by_rate);
    EXPECT_LE(broken, (kDelta + allowance) * kSplits) << figures;
    EXPECT_GT(broken, 0) << figures;
    if (upcoming < kKnown) {
      EXPECT_GT(broken_by_rate, (kDelta + allowance) * kSplits) << figures;
    }
  }
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
    for (const BoundCase& one_case : kBoundCases) {
      const Tally tally =
          bound_on_a_pool(pool, one_case, Per::pair, kTrials, Random(one_case.pairs));
      const std::string figures = figures_of(name, one_case, tally);
      EXPECT_LE(tally.violated, kDelta * kTrials) << figures;
    }
  }
}

}  // namespace
}  // namespace dpcache::studies
