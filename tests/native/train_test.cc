// Training: the numbers below it, pairs, corrections, bounds, the task's loss, and bad input.
#include "dpcache/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/cache.h"
#include "kernels.h"
#include "train/binomial.h"
#include "train/numbers.h"
#include "train/prediction.h"
#include "train_vectors.h"

namespace dpcache {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// --- Numbers

TEST(TrainNumbers, LogarithmIsThatOfTheLibrary) {
  std::uint64_t state = RandomBits::start(1);
  RandomBits random(state);
  for (int i = 0; i < 200000; ++i) {
    const double x =
        std::ldexp(1.0 + random.uniform(), static_cast<int>(random.below(2000)) - 1000);
    const double expected = std::log(x);
    ASSERT_NEAR(logarithm(x), expected, 4e-16 * std::max(1.0, std::abs(expected))) << x;
    const double near_one = 0.5 + 1.5 * random.uniform();
    ASSERT_NEAR(logarithm(near_one), std::log(near_one), 4e-16) << near_one;
    const double small = std::ldexp(random.uniform(), -static_cast<int>(random.below(60)));
    ASSERT_NEAR(logarithm_of_one_plus(small), std::log1p(small), 4e-16) << small;
    const double z = 80.0 * random.uniform() - 40.0;
    ASSERT_NEAR(logistic(z), 1.0 / (1.0 + std::exp(-z)), 4e-16) << z;
    ASSERT_NEAR(exponential(z) / std::exp(z), 1.0, 1e-15) << z;
  }
  EXPECT_EQ(logarithm(1.0), 0.0);
}

TEST(TrainNumbers, GaussiansHaveTheirMoments) {
  std::uint64_t state = RandomBits::start(2);
  RandomBits random(state);
  constexpr int kCount = 200000;
  double moments[5] = {};
  double product = 0.0;
  for (int i = 0; i < kCount; ++i) {
    double x = 0.0;
    double y = 0.0;
    random.gaussians(x, y);
    for (int power = 1; power < 5; ++power) {
      moments[power] += (std::pow(x, power) + std::pow(y, power)) / (2.0 * kCount);
    }
    product += x * y / kCount;
  }
  EXPECT_NEAR(moments[1], 0.0, 0.01);
  EXPECT_NEAR(moments[2], 1.0, 0.01);
  EXPECT_NEAR(moments[3], 0.0, 0.03);
  EXPECT_NEAR(moments[4], 3.0, 0.06);
  EXPECT_NEAR(product, 0.0, 0.01);
}

// P(at most k of n) by Pascal's recurrence, which only adds what is positive.
double at_most_by_pascal(std::uint64_t k, std::uint64_t n, double p) {
  std::vector<double> chance(n + 1, 0.0);
  chance[0] = 1.0;
  for (std::uint64_t size = 1; size <= n; ++size) {
    for (std::uint64_t i = size; i > 0; --i) chance[i] = chance[i] * (1.0 - p) + chance[i - 1] * p;
    chance[0] *= 1.0 - p;
  }
  double sum = 0.0;
  for (std::uint64_t i = 0; i <= k; ++i) sum += chance[i];
  return sum;
}

TEST(Binomial, TailIsThatOfPascalsTriangle) {
  for (std::uint64_t n : {1U, 2U, 7U, 31U, 32U, 33U, 100U, 400U}) {
    for (double p : {1e-6, 0.01, 0.3, 0.5, 0.77, 0.999}) {
      for (std::uint64_t k = 0; k <= n; k += (n > 40 ? 7 : 1)) {
        const double expected = at_most_by_pascal(k, n, p);
        ASSERT_NEAR(binomial_at_most(k, n, p), expected, 1e-11) << k << ' ' << n << ' ' << p;
      }
    }
  }
}

TEST(Binomial, TailOfManyTrialsIsThatOfThePoissonAndTheNormal) {
  // e^-2 (1 + 2 + 2), and a half at the mean but for the skew.
  EXPECT_NEAR(binomial_at_most(2, 1'000'000'000, 2e-9), 5.0 * std::exp(-2.0), 1e-6);
  EXPECT_NEAR(binomial_at_most(500'000, 1'000'000, 0.5), 0.5 + 0.5 * 7.9788e-4, 1e-7);
  EXPECT_EQ(binomial_at_most(0, 1'000'000, 0.5), 0.0);
  EXPECT_NEAR(binomial_at_most(999'999, 1'000'000, 0.5), 1.0, 1e-12);
}

TEST(Binomial, BoundIsWhereTheTailIsDelta) {
  EXPECT_EQ(clopper_pearson_upper(0, 0, 0.9), 1.0);
  EXPECT_EQ(clopper_pearson_upper(5, 5, 0.9), 1.0);
  for (std::uint64_t n : {1U, 10U, 230U, 5000U}) {
    const double expected = 1.0 - std::pow(0.1, 1.0 / static_cast<double>(n));
    EXPECT_NEAR(clopper_pearson_upper(0, n, 0.9), expected, 1e-12) << n;
  }
  // Printed tables: 2 of 10 and 1 of 20, one-sided.
  EXPECT_NEAR(clopper_pearson_upper(2, 10, 0.95), 0.5069, 5e-5);
  EXPECT_NEAR(clopper_pearson_upper(1, 20, 0.95), 0.2161, 5e-5);
  for (std::uint64_t k : {0U, 1U, 3U, 40U, 99U}) {
    for (double confidence : {0.5, 0.9, 0.999}) {
      const double bound = clopper_pearson_upper(k, 100, confidence);
      EXPECT_NEAR(binomial_at_most(k, 100, bound), 1.0 - confidence, 1e-9) << k;
      EXPECT_LE(binomial_at_most(k, 100, bound), 1.0 - confidence) << "errs upwards";
    }
  }
}

// All splits of n + m into n known ones and m to come, by how many of the first `marked` are known.
double at_most_by_counting(std::uint64_t k, std::uint64_t marked, std::uint64_t n,
                           std::uint64_t m) {
  // Ways to choose, exact up to 56 of them in all.
  const auto ways = [](std::uint64_t from, std::uint64_t taken) {
    double count = taken > from ? 0.0 : 1.0;
    for (std::uint64_t i = 1; i <= taken && count > 0.0; ++i) {
      count = count * static_cast<double>(from - taken + i) / static_cast<double>(i);
    }
    return count;
  };
  double sum = 0.0;
  for (std::uint64_t i = 0; i <= std::min(k, n); ++i) {
    sum += ways(marked, i) * ways(n + m - marked, n - i);
  }
  return sum / ways(n + m, n);
}

TEST(Prediction, TailIsThatOfCountingAllSplits) {
  for (std::uint64_t n : {1U, 2U, 5U, 20U}) {
    for (std::uint64_t m : {1U, 3U, 19U, 34U}) {
      for (std::uint64_t marked = 0; marked <= n + m; ++marked) {
        for (std::uint64_t k = 0; k <= n; ++k) {
          const double expected = at_most_by_counting(k, marked, n, m);
          const double found = hypergeometric_at_most(k, marked, n, m);
          ASSERT_NEAR(found, expected, 1e-13 + 1e-12 * expected) << k << ' ' << marked << ' ' << n;
        }
      }
    }
  }
}

TEST(Prediction, TailOfManyIsThatOfTheProductAndTheBinomial) {
  // None of two marked ones is known: m (m - 1) / ((n + m) (n + m - 1)), also where one side is
  // 2^50 times the other.
  constexpr double kMany = 0x1p50;
  constexpr auto kManyTrials = static_cast<std::uint64_t>(kMany);
  for (double n : {1.0, 1000.0, kMany}) {
    for (double m : {2.0, 1000.0, kMany}) {
      const double all = n + m;
      const double found = hypergeometric_at_most(0, 2, static_cast<std::uint64_t>(n),
                                                  static_cast<std::uint64_t>(m));
      EXPECT_NEAR(found / (m / all * ((m - 1.0) / (all - 1.0))), 1.0, 1e-13) << n << ' ' << m;
    }
  }
  // Among so many to come, each marked one is known or not by itself.
  for (std::uint64_t k : {0U, 7U, 300U, 900U}) {
    const auto marked = static_cast<std::uint64_t>(0.03 * kMany);
    EXPECT_NEAR(hypergeometric_at_most(k, marked, 10000, kManyTrials),
                binomial_at_most(k, 10000, 0.03), 1e-10)
        << k;
  }
  // Half of them, at the mean: a half and half of the term there, sqrt(2 / (pi marked)).
  EXPECT_NEAR(hypergeometric_at_most(5000, 10000, kManyTrials, kManyTrials),
              0.5 + 0.5 * std::sqrt(2.0 / (3.14159265358979 * 10000.0)), 1e-6);
  EXPECT_EQ(hypergeometric_at_most(10, 1'000'000, 1'000'000, 1'000'000), 0.0);
}

TEST(Prediction, CountsWithinAShareAreThoseOfTheDecimal) {
  EXPECT_EQ(count_within(0.02, 2750), 55U);
  EXPECT_EQ(count_within(0.1, 30), 3U);
  EXPECT_EQ(count_within(0.3, 10), 3U) << "as a double .3 is below 3 / 10";
  EXPECT_EQ(count_within(0.29, 100), 29U) << ".29 * 100 is 28.999999999999996";
  EXPECT_EQ(count_within(0.01, 99), 0U);
  EXPECT_EQ(count_within(0.999, 1), 0U);
  EXPECT_EQ(count_within(0.5, 1), 0U);
  EXPECT_EQ(count_within(1e-300, 9), 0U);
  // Every thousandth of every size: thousandths * size / 1000, rounded down.
  for (std::uint64_t size = 1; size < 3000; size += 7) {
    for (std::uint64_t thousandths = 1; thousandths < 1000; ++thousandths) {
      const double share = static_cast<double>(thousandths) / 1000.0;
      ASSERT_EQ(count_within(share, size), thousandths * size / 1000) << share << ' ' << size;
    }
  }
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 53U) - 1;
  EXPECT_EQ(count_within(0.5, kMost), kMost / 2);
  EXPECT_EQ(count_within(0.125, kMost), kMost / 8);
  EXPECT_EQ(count_within(1.0 - 0x1p-53, kMost), kMost - 1);
}

TEST(Prediction, BoundIsTheFewestThatSurelyHold) {
  EXPECT_EQ(prediction_upper(0, 0, 10, 0.9), 1.0);
  EXPECT_EQ(prediction_upper(5, 5, 10, 0.9), 1.0);
  // Nine trials in which nothing happened say of the next one what they say of each other: a tenth.
  EXPECT_EQ(prediction_upper(0, 9, 1, 0.9), 0.0);
  EXPECT_EQ(prediction_upper(0, 8, 1, 0.9), 1.0);
  EXPECT_EQ(prediction_upper(0, 19, 1, 0.95), 0.0);
  EXPECT_EQ(prediction_upper(0, 99, 1, 0.99), 0.0);
  EXPECT_EQ(prediction_upper(0, 98, 1, 0.99), 1.0);
  for (std::uint64_t k : {0U, 1U, 4U, 11U, 19U}) {
    for (std::uint64_t m : {1U, 7U, 20U, 34U}) {
      std::uint64_t fewest = m;
      while (fewest > 0 && at_most_by_counting(k, k + fewest, 20, m) <= 0.1) --fewest;
      EXPECT_EQ(prediction_upper(k, 20, m, 0.9),
                static_cast<double>(fewest) / static_cast<double>(m))
          << k << ' ' << m;
    }
  }
}

TEST(Prediction, BoundTendsToThatOfTheRateFromAbove) {
  for (std::uint64_t k : {0U, 3U, 40U}) {
    const double rate = clopper_pearson_upper(k, 500, 0.9);
    EXPECT_EQ(prediction_upper(k, 500, 0, 0.9), rate);
    double before = 1.0;
    for (std::uint64_t m = 100; m <= 1'000'000'000'000; m *= 100) {
      const double bound = prediction_upper(k, 500, m, 0.9);
      EXPECT_LT(bound, before) << m;
      EXPECT_GT(bound, rate) << m;
      before = bound;
    }
    EXPECT_NEAR(before, rate, 1e-10);
    EXPECT_NEAR(prediction_upper(k, 500, (std::uint64_t{1} << 53U) - 1, 0.9), rate, 1e-13);
  }
}

// --- Novelty

TEST(NoveltyBetween, IsThatOfACache) {
  const streams::Rule rule{7, 37, 20, 0.4F};
  for (std::uint64_t t = 0; t < 60; ++t) {
    Config config;
    config.dimension = 37;
    config.tau = 2.0F;
    Cache cache = std::move(*Cache::create(config));
    const std::vector<float> a = rule.key(t);
    const std::vector<float> b = t % 9 == 0 ? a : rule.key(t + 1);
    Item item;
    item.key = a;
    ASSERT_TRUE(cache.observe(item));
    item.key = b;
    EXPECT_EQ(*novelty_between(a, b), cache.observe(item)->novelty);
    EXPECT_EQ(*novelty_between(a, b), *novelty_between(b, a));
  }
}

TEST(NoveltyBetween, RefusesWhatIsNoVector) {
  const std::vector<float> a = {1.0F, 2.0F};
  EXPECT_EQ(novelty_between({}, {}).status.code, Error::bad_shape);
  const auto longer = novelty_between(a, std::vector<float>{1.0F, 2.0F, 3.0F});
  EXPECT_EQ(longer.status.code, Error::bad_shape);
  EXPECT_EQ(longer.status.pointer, "/b");
  const auto nan = novelty_between(std::vector<float>{1.0F, kNan}, a);
  EXPECT_EQ(nan.status.code, Error::not_finite);
  EXPECT_EQ(nan.status.pointer, "/a/1");
  EXPECT_EQ(novelty_between(a, std::vector<float>{0.0F, 0.0F}).status.code, Error::zero_norm);
}

// --- Pairs

// Pairs whose verdict is drawn by a logistic curve over evenly spread novelties.
std::vector<Judged> drawn_pairs(std::uint64_t seed, std::size_t count, double a, double b) {
  std::uint64_t state = RandomBits::start(seed);
  RandomBits random(state);
  std::vector<Judged> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const double novelty = 1.2 * random.uniform();
    const bool different = random.uniform() < logistic(a * (novelty - b));
    pairs.push_back({static_cast<float>(novelty), different ? Verdict::different : Verdict::same});
  }
  return pairs;
}

TEST(GateFromPairs, FindsTheCurveThatDrewThem) {
  const LearnedGate learned = *gate_from_pairs(drawn_pairs(1, 40000, 12.0, 0.45));
  ASSERT_TRUE(learned.gate) << learned.reason;
  EXPECT_NEAR(learned.gate->a, 12.0, 0.4);
  EXPECT_NEAR(learned.gate->b, 0.45, 0.005);
  EXPECT_EQ(learned.same + learned.different, 40000U);
  EXPECT_GT(learned.separation, 0.9);
  Config config;
  config.dimension = 4;
  config.gate = learned.gate;
  EXPECT_TRUE(check(config));
}

TEST(GateFromPairs, IsTheMinimumOfItsLoss) {
  const std::vector<Judged> pairs = drawn_pairs(3, 500, 9.0, 0.6);
  for (double cost : {0.2, 1.0, 8.0}) {
    const LearnedGate learned = *gate_from_pairs(pairs, {cost});
    ASSERT_TRUE(learned.gate);
    const auto same = static_cast<double>(learned.same);
    const auto different = static_cast<double>(learned.different);
    const auto loss_at = [&](double a, double b) {
      double sum = 0.0;
      for (const Judged& pair : pairs) {
        const bool is_same = pair.verdict == Verdict::same;
        const double target = is_same ? 1.0 / (same + 2.0) : (different + 1.0) / (different + 2.0);
        const double g = 1.0 / (1.0 + std::exp(-a * (static_cast<double>(pair.novelty) - b)));
        sum -= (is_same ? 1.0 : cost) * (target * std::log(g) + (1.0 - target) * std::log(1.0 - g));
      }
      return sum / (same + cost * different);
    };
    const auto a = static_cast<double>(learned.gate->a);
    const auto b = static_cast<double>(learned.gate->b);
    EXPECT_NEAR(learned.loss, loss_at(a, b), 1e-9);
    for (const auto& [da, db] : {std::pair{0.05, 0.0}, {-0.05, 0.0}, {0.0, 0.002}, {0.0, -0.002}}) {
      EXPECT_GT(loss_at(a + da, b + db), learned.loss) << cost << ' ' << da << ' ' << db;
    }
  }
}

TEST(GateFromPairs, DoesNotDependOnTheOrderOfPairs) {
  std::vector<Judged> pairs = drawn_pairs(4, 300, 9.0, 0.6);
  // Many at one novelty, with either verdict.
  for (Judged& pair : pairs) pair.novelty = std::floor(pair.novelty * 20.0F) / 20.0F;
  const LearnedGate before = *gate_from_pairs(pairs, {3.3});
  std::reverse(pairs.begin(), pairs.end());
  std::rotate(pairs.begin(), pairs.begin() + 77, pairs.end());
  const LearnedGate after = *gate_from_pairs(pairs, {3.3});
  EXPECT_EQ(before.gate, after.gate);
  EXPECT_EQ(before.loss, after.loss);
  EXPECT_EQ(before.separation, after.separation);
}

TEST(GateFromPairs, StaysFiniteWhereAThresholdSeparatesAll) {
  std::vector<Judged> pairs;
  for (int i = 0; i < 50; ++i) {
    pairs.push_back({0.01F * static_cast<float>(i % 10), Verdict::same});
    pairs.push_back({0.7F + 0.01F * static_cast<float>(i % 10), Verdict::different});
  }
  const LearnedGate learned = *gate_from_pairs(pairs);
  ASSERT_TRUE(learned.gate);
  EXPECT_EQ(learned.separation, 1.0);
  EXPECT_GT(learned.gate->b, 0.09F);
  EXPECT_LT(learned.gate->b, 0.7F);
  EXPECT_LT(learned.gate->a, 100.0F);
  const LearnedGate two =
      *gate_from_pairs(std::vector<Judged>{{0.1F, Verdict::same}, {0.9F, Verdict::different}});
  ASSERT_TRUE(two.gate);
  EXPECT_NEAR(two.gate->b, 0.5, 0.01);
}

TEST(GateFromPairs, BecomesStricterAsFalseMergesCostMore) {
  const std::vector<Judged> pairs = drawn_pairs(5, 2000, 10.0, 0.5);
  float before = 2.0F;
  for (double cost : {0.1, 0.5, 1.0, 3.0, 20.0}) {
    const LearnedGate learned = *gate_from_pairs(pairs, {cost});
    ASSERT_TRUE(learned.gate) << cost;
    EXPECT_LT(learned.gate->b, before) << cost;
    before = learned.gate->b;
  }
}

TEST(GateFromPairs, RefusesWhereNoveltyMisleads) {
  std::vector<Judged> pairs = drawn_pairs(6, 400, 10.0, 0.5);
  for (Judged& pair : pairs) {
    pair.verdict = pair.verdict == Verdict::same ? Verdict::different : Verdict::same;
  }
  const LearnedGate inverted = *gate_from_pairs(pairs);
  EXPECT_FALSE(inverted.gate);
  EXPECT_LT(inverted.separation, 0.2);
  EXPECT_NE(inverted.reason.find("no more novel"), std::string::npos) << inverted.reason;

  const LearnedGate nothing = *gate_from_pairs({});
  EXPECT_FALSE(nothing.gate);
  EXPECT_NE(nothing.reason.find("both kinds"), std::string::npos) << nothing.reason;
  EXPECT_FALSE(gate_from_pairs(std::vector<Judged>{{0.1F, Verdict::same}})->gate);
  // All at one novelty.
  std::vector<Judged> flat(20, {0.3F, Verdict::same});
  for (std::size_t i = 0; i < 10; ++i) flat[i].verdict = Verdict::different;
  EXPECT_FALSE(gate_from_pairs(flat)->gate);
  EXPECT_EQ(gate_from_pairs(flat)->separation, 0.5);
}

TEST(GateFromPairs, NamesABadPairByItsIndex) {
  std::vector<Judged> pairs(5, {0.3F, Verdict::same});
  pairs[3].novelty = kNan;
  EXPECT_EQ(gate_from_pairs(pairs).status.code, Error::not_finite);
  EXPECT_EQ(gate_from_pairs(pairs).status.index, 3U);
  pairs[3].novelty = kInfinity;
  EXPECT_EQ(gate_from_pairs(pairs).status.code, Error::not_finite);
  pairs[3].novelty = 2.1F;
  EXPECT_EQ(gate_from_pairs(pairs).status.code, Error::bad_request);
  pairs[3].novelty = -0.1F;
  EXPECT_EQ(gate_from_pairs(pairs).status.code, Error::bad_request);
  EXPECT_EQ(gate_from_pairs(pairs).status.pointer, "/novelty");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double cost : {0.0, 1e-4, 1e4, nan}) {
    EXPECT_EQ(gate_from_pairs({}, {cost}).status.code, Error::bad_config) << cost;
  }
}

// --- Corrections

TEST(OnlineGate, OneCorrectionMovesItTheRightWay) {
  OnlineGate gate = *OnlineGate::create({10.0F, 0.4F});
  ASSERT_TRUE(gate.correct({0.3F, Verdict::different}));  // this merge was wrong
  EXPECT_LT(gate.gate().b, 0.4F);
  EXPECT_GE(gate.gate().b, 0.38F) << "at most the rate";
  OnlineGate other = *OnlineGate::create({10.0F, 0.4F});
  ASSERT_TRUE(other.correct({0.5F, Verdict::same}));  // these two are the same
  EXPECT_GT(other.gate().b, 0.4F);
  EXPECT_EQ(other.steps(), 1U);
}

TEST(OnlineGate, ComesToRestWhereAllPairsAtOncePutIt) {
  const std::vector<Judged> pairs = drawn_pairs(8, 60000, 12.0, 0.45);
  const LearnedGate at_once = *gate_from_pairs(pairs);
  OnlineGate gate = *OnlineGate::create({3.0F, 1.2F}, {0.01});
  double a = 0.0;
  double b = 0.0;
  constexpr std::size_t kLast = 20000;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_TRUE(gate.correct(pairs[i]));
    if (i + kLast < pairs.size()) continue;
    a += static_cast<double>(gate.gate().a) / kLast;
    b += static_cast<double>(gate.gate().b) / kLast;
  }
  EXPECT_NEAR(b, at_once.gate->b, 0.01);
  EXPECT_NEAR(a, at_once.gate->a, 1.5);
}

TEST(OnlineGate, LearnsFromMistakesAlone) {
  for (float start : {0.05F, 1.5F}) {
    OnlineGate gate = *OnlineGate::create({10.0F, start});
    std::size_t mistakes = 0;
    for (const Judged& pair : drawn_pairs(9, 20000, 30.0, 0.5)) {
      const bool allocates = pair.novelty > gate.gate().b;
      if (allocates == (pair.verdict == Verdict::different)) continue;
      ASSERT_TRUE(gate.correct(pair));
      ++mistakes;
    }
    EXPECT_NEAR(gate.gate().b, 0.5, 0.06) << start;
    EXPECT_GE(gate.gate().a, 1.0F);
    EXPECT_LT(mistakes, 2500U) << start;
  }
}

TEST(OnlineGate, StaysAGateWhateverIsSaid) {
  for (Verdict verdict : {Verdict::same, Verdict::different}) {
    for (float novelty : {0.0F, 2.0F}) {
      OnlineGate gate = *OnlineGate::create({1000.0F, 1.0F}, {1.0});
      for (int i = 0; i < 3000; ++i) ASSERT_TRUE(gate.correct({novelty, verdict}));
      Config config;
      config.dimension = 1;
      config.gate = gate.gate();
      EXPECT_TRUE(check(config));
    }
  }
}

TEST(OnlineGate, RefusesAndIsAsBefore) {
  EXPECT_EQ(OnlineGate::create({0.0F, 0.4F}).status.pointer, "/a");
  EXPECT_EQ(OnlineGate::create({kNan, 0.4F}).status.pointer, "/a");
  EXPECT_EQ(OnlineGate::create({10.0F, 2.5F}).status.pointer, "/b");
  EXPECT_EQ(OnlineGate::create({10.0F, 0.4F}, {0.0}).status.pointer, "/rate");
  OnlineGate gate = *OnlineGate::create({10.0F, 0.4F});
  EXPECT_EQ(gate.correct({kNan, Verdict::same}).code, Error::not_finite);
  EXPECT_EQ(gate.correct({3.0F, Verdict::same}).code, Error::bad_request);
  EXPECT_EQ(gate.gate(), (Gate{10.0F, 0.4F}));
  EXPECT_EQ(gate.steps(), 0U);
}

// --- Bounds

std::vector<Trial> trials_of(const std::vector<Judged>& pairs) {
  std::vector<Trial> trials;
  for (const Judged& pair : pairs) trials.push_back(trial_of(pair));
  return trials;
}

TEST(Calibrate, CountsWhatEachTauWouldDo) {
  const std::vector<Judged> pairs = drawn_pairs(10, 800, 12.0, 0.5);
  const Calibration calibration = *calibrate(trials_of(pairs), {0.2, 0.9, Per::pair});
  ASSERT_EQ(calibration.curve.size(), kTauSteps + 1);
  for (const CurvePoint& point : calibration.curve) {
    std::uint64_t false_merges = 0;
    std::uint64_t missed_merges = 0;
    for (const Judged& pair : pairs) {
      const bool allocates = pair.novelty > point.tau;
      if (!allocates && pair.verdict == Verdict::different) ++false_merges;
      if (allocates && pair.verdict == Verdict::same) ++missed_merges;
    }
    ASSERT_EQ(point.false_merges, false_merges) << point.tau;
    ASSERT_EQ(point.missed_merges, missed_merges) << point.tau;
    ASSERT_EQ(point.false_merge_bound,
              clopper_pearson_upper(false_merges, calibration.at_risk, 0.9));
  }
  EXPECT_EQ(calibration.curve.front().tau, 0.0F);
  EXPECT_EQ(calibration.curve.back().tau, 2.0F);
}

TEST(Calibrate, CurvesAreMonotoneAndTheChoiceIsTheLoosestThatPasses) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Calibration calibration =
        *calibrate(trials_of(drawn_pairs(seed, 600, 8.0, 0.5)), {0.1, 0.8, Per::pair});
    ASSERT_TRUE(calibration.chosen) << calibration.reason;
    const CurvePoint* before = nullptr;
    for (const CurvePoint& point : calibration.curve) {
      if (before != nullptr) {
        ASSERT_LT(before->tau, point.tau);
        ASSERT_LE(before->false_merges, point.false_merges);
        ASSERT_GE(before->missed_merges, point.missed_merges);
        ASSERT_LE(before->false_merge_bound, point.false_merge_bound);
      }
      ASSERT_EQ(point.false_merge_bound <= 0.1, point.tau <= calibration.chosen->tau) << point.tau;
      before = &point;
    }
  }
}

TEST(Calibrate, DoesNotDependOnTheOrderAndLoosensWithAlpha) {
  std::vector<Trial> trials = trials_of(drawn_pairs(11, 3000, 12.0, 0.5));
  float before = -1.0F;
  for (double alpha : {0.01, 0.02, 0.05, 0.1, 0.3, 0.6}) {
    const Calibration one = *calibrate(trials, {alpha, 0.9, Per::pair});
    std::reverse(trials.begin(), trials.end());
    const Calibration other = *calibrate(trials, {alpha, 0.9, Per::pair});
    ASSERT_EQ(one.chosen.has_value(), other.chosen.has_value());
    if (!one.chosen) continue;
    EXPECT_EQ(one.chosen->tau, other.chosen->tau);
    EXPECT_GE(one.chosen->tau, before);
    before = one.chosen->tau;
  }
  EXPECT_GT(before, 0.4F);
}

TEST(Calibrate, RefusesTooFewPairsAndSaysHowManyItNeeds) {
  std::vector<Trial> trials(229, {0.9F, Right::allocate});
  const Calibration refused = *calibrate(trials);
  EXPECT_FALSE(refused.chosen);
  EXPECT_EQ(refused.needed, 230U);
  EXPECT_NE(refused.reason.find("at least 230 pairs"), std::string::npos) << refused.reason;
  EXPECT_NE(refused.reason.find("there are 229"), std::string::npos) << refused.reason;
  trials.push_back({0.9F, Right::allocate});
  const Calibration allowed = *calibrate(trials);
  ASSERT_TRUE(allowed.chosen) << allowed.reason;
  EXPECT_TRUE(allowed.reason.empty());
  EXPECT_EQ(allowed.chosen->tau, 0.895F);
  EXPECT_FALSE(calibrate({})->chosen);
}

TEST(Calibrate, RefusesWhereEvenEqualThingsDiffer) {
  std::vector<Trial> trials(1000, {0.9F, Right::allocate});
  for (std::size_t i = 0; i < 30; ++i) trials[i].novelty = 0.0F;
  const Calibration refused = *calibrate(trials);
  EXPECT_FALSE(refused.chosen);
  EXPECT_FALSE(refused.needed) << "more of the same does not help";
  EXPECT_NE(refused.reason.find("30 of 1000"), std::string::npos) << refused.reason;
  // A rate below alpha, which so few cannot prove.
  for (std::size_t i = 8; i < 30; ++i) trials[i].novelty = 0.9F;
  const Calibration more = *calibrate(trials);
  EXPECT_FALSE(more.chosen);
  ASSERT_TRUE(more.needed);
  EXPECT_GT(*more.needed, 1000U);
  std::vector<Trial> enough;
  while (enough.size() < *more.needed) enough.insert(enough.end(), trials.begin(), trials.end());
  EXPECT_TRUE(calibrate(enough)->chosen);
}

TEST(Calibrate, PerItemCountsOutOfAllItems) {
  std::vector<Trial> trials(900, {0.1F, Right::merge});
  trials.insert(trials.end(), 80, {0.8F, Right::allocate});
  trials.insert(trials.end(), 20, {0.3F, Right::neither});
  const Calibration items = *calibrate(trials, {0.01, 0.9, Per::item});
  EXPECT_EQ(items.at_risk, 1000U);
  EXPECT_EQ(items.mergeable, 920U);
  ASSERT_TRUE(items.chosen);
  EXPECT_LT(items.chosen->tau, 0.3F);
  EXPECT_EQ(items.chosen->missed_merges, 20U) << "an item that belongs elsewhere is missed too";
  EXPECT_EQ(items.curve.back().false_merges, 100U);
  EXPECT_EQ(calibrate(trials, {0.01, 0.9, Per::pair})->at_risk, 100U);
}

TEST(Calibrate, ForTheNextOnesCountsThem) {
  const std::vector<Trial> trials = trials_of(drawn_pairs(12, 1200, 12.0, 0.5));
  float before = 0.0F;
  for (std::uint64_t upcoming : {10U, 100U, 1000U, 1000000U, 0U}) {
    const Calibration calibration = *calibrate(trials, {0.1, 0.9, Per::pair, upcoming});
    ASSERT_TRUE(calibration.chosen) << calibration.reason;
    for (const CurvePoint& point : calibration.curve) {
      ASSERT_EQ(point.false_merge_bound,
                prediction_upper(point.false_merges, calibration.at_risk, upcoming, 0.9));
      ASSERT_EQ(point.false_merge_bound <= 0.1, point.tau <= calibration.chosen->tau) << upcoming;
    }
    EXPECT_GE(calibration.chosen->tau, before) << "the fewer come, the stricter";
    before = calibration.chosen->tau;
  }
}

TEST(Calibrate, ForTheNextOnesRefusesWithTheNumberThatItTakes) {
  // None of the next five may be wrong: n (1 - .9) >= 5 * .9.
  std::vector<Trial> trials(44, {0.9F, Right::allocate});
  const Calibration refused = *calibrate(trials, {0.01, 0.9, Per::item, 5});
  EXPECT_FALSE(refused.chosen);
  EXPECT_EQ(refused.needed, 45U);
  EXPECT_EQ(
      refused.reason,
      "a limit of 0 false merges among the next 5 items with confidence 0.9 needs at least 45 "
      "items, even if none is merged wrongly; there are 44");
  trials.push_back({0.9F, Right::allocate});
  EXPECT_TRUE(calibrate(trials, {0.01, 0.9, Per::item, 5})->chosen) << "far fewer than 230";

  constexpr std::uint64_t kMost = (std::uint64_t{1} << 53U) - 1;
  const Calibration endless = *calibrate(trials, {1e-20, 0.9, Per::pair, kMost});
  EXPECT_FALSE(endless.needed);
  EXPECT_NE(endless.reason.find("needs more than 2^53 pairs"), std::string::npos) << endless.reason;
  EXPECT_EQ(calibrate(trials, {0.01, 0.9, Per::pair, kMost})->needed, 230U) << "as for the rate";

  // Wrong even at tau = 0, at a rate below alpha, which more of them show. But of the next 100 more
  // than two are wrong with a chance of .216, even if the rate is known.
  trials.assign(1000, {0.9F, Right::allocate});
  for (std::size_t i = 0; i < 16; ++i) trials[i].novelty = 0.0F;
  EXPECT_TRUE(calibrate(trials, {0.02, 0.9, Per::pair, 0})->needed);
  const Calibration never = *calibrate(trials, {0.02, 0.9, Per::pair, 100});
  EXPECT_FALSE(never.chosen);
  EXPECT_FALSE(never.needed);
  EXPECT_EQ(
      never.reason,
      "16 of 1000 pairs that are different would be merged wrongly even at tau = 0, so no tau "
      "gives a limit of 2 false merges among the next 100 pairs that are different with "
      "confidence 0.9; more like them would not help");
  // Of the next 10,000 more than 200 are with a chance of .0007.
  const Calibration more = *calibrate(trials, {0.02, 0.9, Per::pair, 10000});
  EXPECT_FALSE(more.chosen);
  ASSERT_TRUE(more.needed) << more.reason;
  EXPECT_GT(*more.needed, 1000U);
  std::vector<Trial> enough;
  while (enough.size() < *more.needed) enough.insert(enough.end(), trials.begin(), trials.end());
  EXPECT_TRUE(calibrate(enough, {0.02, 0.9, Per::pair, 10000})->chosen);
}

TEST(Calibrate, NamesBadInput) {
  EXPECT_EQ(calibrate({}, {0.01, 0.9, Per::pair, std::uint64_t{1} << 53U}).status.pointer,
            "/upcoming");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double share : {0.0, 1.0, -0.1, nan}) {
    EXPECT_EQ(calibrate({}, {share, 0.9, Per::pair}).status.pointer, "/max_false_merge");
    EXPECT_EQ(calibrate({}, {0.01, share, Per::pair}).status.pointer, "/confidence");
  }
  const std::vector<Trial> trials = {{0.1F, Right::merge}, {kNan, Right::merge}};
  EXPECT_EQ(calibrate(trials).status.code, Error::not_finite);
  EXPECT_EQ(calibrate(trials).status.index, 1U);
}

TEST(TrialsAgainst, AreWhatACacheOfTheReferenceWouldDecide) {
  const vectors::TrainStream stream(
      vectors::Json{{"seed", 5}, {"dimension", 8}, {"distinct", 14}, {"noise", .9}});
  const LabelledItems reference = stream.items(0, 15);
  const LabelledItems items = stream.items(15, 80);
  const std::vector<Trial> trials = *trials_against(reference, items);
  Config config;
  config.dimension = 8;
  config.tau = 0.0F;
  Cache cache = std::move(*Cache::create(config));
  for (std::size_t i = 0; i < 15; ++i) {
    Item item;
    item.key = std::span(reference.keys).subspan(i * 8, 8);
    ASSERT_EQ(cache.observe(item)->slot, i + 1);
  }
  std::size_t kinds[3] = {};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Match found = **cache.nearest(std::span(items.keys).subspan(i * 8, 8));
    EXPECT_EQ(trials[i].novelty, 1.0F - found.similarity);
    const std::uint64_t label = items.labels[i];
    const bool known = std::count(reference.labels.begin(), reference.labels.end(), label) > 0;
    const Right right = reference.labels[found.slot - 1] == label ? Right::merge
                        : known                                   ? Right::neither
                                                                  : Right::allocate;
    EXPECT_EQ(trials[i].right, right) << i;
    ++kinds[static_cast<std::size_t>(right)];
  }
  for (std::size_t kind : kinds) EXPECT_GT(kind, 0U);
}

TEST(TrialsAgainst, NamesBadInput) {
  LabelledItems good{2, {1.0F, 0.0F, 0.0F, 1.0F}, {1, 2}};
  LabelledItems bad = good;
  bad.keys[2] = 0.0F;
  bad.keys[3] = 0.0F;
  EXPECT_EQ(trials_against(good, bad).status.code, Error::zero_norm);
  EXPECT_EQ(trials_against(good, bad).status.index, 1U);
  EXPECT_EQ(trials_against(bad, good).status.pointer, "/reference/keys");
  bad.keys[3] = kNan;
  EXPECT_EQ(trials_against(good, bad).status.pointer, "/items/keys/1");
  bad.keys.pop_back();
  EXPECT_EQ(trials_against(good, bad).status.code, Error::bad_shape);
  bad.dimension = 3;
  EXPECT_EQ(trials_against(good, bad).status.pointer, "/items/dimension");
  EXPECT_EQ(trials_against({}, {}).status.code, Error::bad_shape);
  const LabelledItems none{2, {}, {}};
  const std::vector<Trial> alone = *trials_against(none, good);
  EXPECT_EQ(alone[0].novelty, 1.0F);
  EXPECT_EQ(alone[0].right, Right::allocate);
}

// --- The task's loss

// A step by the formulas themselves: every flip by two whole losses, and libm.
struct PlainTrainer {
  double w;
  double c;
  double lambda;
  std::uint64_t random;
  double mean[2] = {};
  double square[2] = {};
  int steps = 0;

  void step(const Episode& episode) {
    const std::size_t n = episode.key_classes.size();
    const std::size_t q = episode.query_classes.size();
    const std::size_t d = episode.dimension;
    const auto cosine = [&](const std::vector<float>& x, std::size_t i, std::size_t j) {
      double dot = 0.0;
      double xx = 0.0;
      double yy = 0.0;
      for (std::size_t at = 0; at < d; ++at) {
        const auto a = static_cast<double>(x[i * d + at]);
        const auto b = static_cast<double>(episode.keys[j * d + at]);
        dot += a * b;
        xx += a * a;
        yy += b * b;
      }
      return dot / std::sqrt(xx * yy);
    };
    std::vector<double> novelty(n, 1.0);
    std::vector<double> gate(n);
    std::vector<double> keep(n);
    RandomBits bits(random);
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t past = 0; past < t; ++past) {
        novelty[t] = past == 0 ? 1.0 - cosine(episode.keys, t, past)
                               : std::min(novelty[t], 1.0 - cosine(episode.keys, t, past));
      }
      gate[t] = 1.0 / (1.0 + std::exp(-(w * novelty[t] + c)));
      keep[t] = bits.uniform() < gate[t] ? 1.0 : 0.0;
    }
    const auto loss = [&](std::size_t i) {
      double z = 1.0;
      double right = 1.0 / episode.classes;
      for (std::size_t t = 0; t < n; ++t) {
        const double e = keep[t] * std::exp((cosine(episode.queries, i, t) - 0.6) / 0.05);
        z += e;
        if (episode.key_classes[t] == episode.query_classes[i]) right += e;
      }
      return std::log(z) - std::log(right);
    };
    double gradient[2] = {};
    for (std::size_t t = 0; t < n; ++t) {
      double difference = 0.0;
      const double drawn = keep[t];
      for (std::size_t i = 0; i < q; ++i) {
        keep[t] = 1.0;
        difference += loss(i);
        keep[t] = 0.0;
        difference -= loss(i);
      }
      keep[t] = drawn;
      const auto size = static_cast<double>(q);
      const double pull = (difference / size + lambda / size) * gate[t] * (1.0 - gate[t]);
      gradient[0] += pull * novelty[t];
      gradient[1] += pull;
    }
    ++steps;
    double* parameters[2] = {&w, &c};
    for (int i = 0; i < 2; ++i) {
      mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
      square[i] = 0.999 * square[i] + 0.001 * gradient[i] * gradient[i];
      *parameters[i] -= 0.05 * (mean[i] / (1.0 - std::pow(0.9, steps))) /
                        (std::sqrt(square[i] / (1.0 - std::pow(0.999, steps))) + 1e-8);
    }
  }
};

TEST(GateTrainer, TakesTheStepsThatItsFormulasSay) {
  PracticeOptions setting;
  setting.dimension = 20;
  setting.classes = 4;
  setting.least = 3;
  setting.most = 6;
  setting.noise = 0.4;
  setting.seed = 3;
  Practice practice = *Practice::create(setting);
  TrainerOptions options;
  options.a = 2.0;
  options.b = 0.4;
  options.seed = 8;
  GateTrainer trainer = *GateTrainer::create(options);
  PlainTrainer plain{2.0, -0.8, 0.5, RandomBits::start(8)};
  for (int i = 0; i < 12; ++i) {
    const Episode episode = practice.next();
    trainer.step(*Lesson::prepare(episode));
    plain.step(episode);
    ASSERT_TRUE(trainer.gate());
    ASSERT_NEAR(trainer.gate()->a, plain.w, 1e-5) << i;
    ASSERT_NEAR(trainer.gate()->b, -plain.c / plain.w, 1e-5) << i;
  }
  EXPECT_EQ(trainer.steps(), 12U);
}

TEST(GateTrainer, IsTheSameForASeedAndAnotherForAnother) {
  const auto learn = [](std::uint64_t seed) {
    Practice practice = *Practice::create({.least = 4, .most = 8});
    TrainerOptions options;
    options.seed = seed;
    GateTrainer trainer = *GateTrainer::create(options);
    for (int i = 0; i < 5; ++i) trainer.step(*Lesson::prepare(practice.next()));
    return *trainer.gate();
  };
  EXPECT_EQ(learn(1), learn(1));
  EXPECT_NE(learn(1), learn(2));
}

TEST(Practice, MakesEpisodesOfTheNoiseModel) {
  PracticeOptions options;
  options.noise = 0.3;
  Practice practice = *Practice::create(options);
  double repeats = 0.0;
  double distinct = 0.0;
  double cosine = 0.0;
  double novel = 0.0;
  for (int i = 0; i < 40; ++i) {
    const Episode episode = practice.next();
    EXPECT_GE(episode.query_classes.size(), 16U);
    EXPECT_LE(episode.query_classes.size(), 64U);
    repeats += static_cast<double>(episode.key_classes.size());
    distinct += static_cast<double>(episode.query_classes.size());
    const Lesson lesson = *Lesson::prepare(episode);
    for (float novelty : lesson.novelties()) {
      if (novelty > 0.4F)
        novel += 1.0;
      else
        cosine += 1.0 - static_cast<double>(novelty);
    }
  }
  EXPECT_NEAR(repeats / distinct, 3.96, 0.2);  // the mean of 1 + min(Geometric(1/4) - 1, 15)
  EXPECT_NEAR(novel / distinct, 1.0, 0.02);
  EXPECT_NEAR(cosine / (repeats - novel), 1.0 / 1.09, 0.02);
  options.repeats = 4;
  options.noise = 0.0;
  options.least = options.most;
  const Episode exact = Practice::create(options)->next();
  EXPECT_EQ(exact.key_classes.size(), 256U);
}

TEST(Lesson, NamesBadInput) {
  const Episode good{2, 2, {1.0F, 0.0F, 0.0F, 1.0F}, {0, 1}, {1.0F, 1.0F}, {1}};
  ASSERT_TRUE(Lesson::prepare(good));
  const auto refusal = [&](const auto& change) {
    Episode episode = good;
    change(episode);
    const Status status = Lesson::prepare(episode).status;
    return std::string(to_string(status.code)) + ' ' + std::to_string(status.index) +
           status.pointer;
  };
  EXPECT_EQ(refusal([](Episode& e) { e.dimension = 0; }), "bad_shape 0/dimension");
  EXPECT_EQ(refusal([](Episode& e) { e.dimension = 1; }), "bad_shape 0/keys");
  EXPECT_EQ(refusal([](Episode& e) { e.classes = 1; }), "bad_request 0/classes");
  EXPECT_EQ(refusal([](Episode& e) { e.keys = {}, e.key_classes = {}; }),
            "bad_shape 0/key_classes");
  EXPECT_EQ(refusal([](Episode& e) { e.queries = {}, e.query_classes = {}; }),
            "bad_shape 0/query_classes");
  EXPECT_EQ(refusal([](Episode& e) { e.queries.pop_back(); }), "bad_shape 0/queries");
  EXPECT_EQ(refusal([](Episode& e) { e.key_classes[1] = 2; }), "bad_request 1/key_classes");
  EXPECT_EQ(refusal([](Episode& e) { e.query_classes[0] = 9; }), "bad_request 0/query_classes");
  EXPECT_EQ(refusal([](Episode& e) { e.keys[3] = kNan; }), "not_finite 1/keys/1");
  EXPECT_EQ(refusal([](Episode& e) { e.queries = {0.0F, 0.0F}; }), "zero_norm 0/queries");
  EXPECT_EQ(Lesson::prepare(good, {.theta = 0.0}).status.pointer, "/theta");
  EXPECT_EQ(Lesson::prepare(good, {.null_similarity = 1.5}).status.pointer, "/null_similarity");
  EXPECT_TRUE(Lesson::prepare(good, {.theta = 1e-4, .null_similarity = -1.0}));
}

TEST(GateTrainer, NamesBadOptions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(GateTrainer::create({.a = nan}).status.pointer, "/a");
  EXPECT_EQ(GateTrainer::create({.b = 5.0}).status.pointer, "/b");
  EXPECT_EQ(GateTrainer::create({.lambda = -1.0}).status.pointer, "/lambda");
  EXPECT_EQ(GateTrainer::create({.rate = 0.0}).status.pointer, "/rate");
  EXPECT_EQ(Practice::create({.dimension = 0}).status.pointer, "/dimension");
  EXPECT_EQ(Practice::create({.classes = 1}).status.pointer, "/classes");
  EXPECT_EQ(Practice::create({.least = 0}).status.pointer, "/least");
  EXPECT_EQ(Practice::create({.least = 65}).status.pointer, "/least");
  EXPECT_EQ(Practice::create({.most = 5000}).status.pointer, "/most");
  EXPECT_EQ(Practice::create({.noise = nan}).status.pointer, "/noise");
  EXPECT_EQ(Practice::create({.repeats = 65}).status.pointer, "/repeats");
}

TEST(GateTrainer, SurvivesTheSharpestReadout) {
  Practice practice = *Practice::create({.least = 4, .most = 4, .noise = 0.0});
  GateTrainer trainer = *GateTrainer::create({.a = 1000.0, .b = -2.0});
  for (int i = 0; i < 20; ++i) {
    const Lesson lesson =
        *Lesson::prepare(practice.next(), {.theta = 1e-4, .null_similarity = -1.0});
    EXPECT_TRUE(std::isfinite(trainer.step(lesson)));
  }
}

// --- Shared vectors

TEST(TrainVectors, GiveTheSameBits) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DPCACHE_TEST_DATA "/train")) {
    std::ifstream file(entry.path());
    const vectors::Json script = vectors::Json::parse(file);
    std::vector<std::string_view> targets = kernels::targets();
#if defined(__SANITIZE_ADDRESS__)
    targets.resize(1);  // each takes four seconds under the sanitizers
#endif
    for (const std::string_view target : targets) {
      kernels::use_target(target);
      const vectors::Json answers = vectors::run_training(script);
      ASSERT_EQ(answers.size(), script["answers"].size());
      for (std::size_t i = 0; i < answers.size(); ++i) {
        EXPECT_EQ(answers[i].dump(), script["answers"][i].dump())
            << entry.path() << " step " << i << " on " << target;
      }
    }
    kernels::use_target(kernels::targets().front());
    ++count;
  }
  EXPECT_GE(count, 4U);
}

}  // namespace
}  // namespace dpcache
