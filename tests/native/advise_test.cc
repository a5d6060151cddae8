// Advice: valleys where there are some and none where there are not, what each tau does, bounds
// from labels, and bad input.
#include "dpcache/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/cache.h"
#include "train/numbers.h"

namespace dpcache {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(RandomBits::start(seed)), bits_(state_) {}

  double uniform() { return bits_.uniform(); }
  std::uint32_t below(std::uint32_t n) { return bits_.below(n); }
  double gaussian() {
    double one = 0.0;
    double other = 0.0;
    bits_.gaussians(one, other);
    return one;
  }
  std::vector<float> direction(std::size_t dimension) {
    std::vector<float> x(dimension);
    double square = 0.0;
    for (float& component : x) {
      component = static_cast<float>(gaussian());
      square += static_cast<double>(component) * static_cast<double>(component);
    }
    for (float& component : x) component /= static_cast<float>(std::sqrt(square));
    return x;
  }

 private:
  std::uint64_t state_;
  RandomBits bits_;
};

struct Stream {
  std::vector<std::vector<float>> keys;
  std::vector<std::uint64_t> labels;
};

// `things` directions, each seen `times` with noise of that size, and `exactly` as it is; shuffled.
Stream mixture(std::size_t dimension, std::size_t things, std::size_t times, double noise,
               std::uint64_t seed, std::size_t exactly = 0) {
  Random random(seed);
  Stream stream;
  for (std::size_t thing = 0; thing < things; ++thing) {
    const auto centre = random.direction(dimension);
    for (std::size_t n = 0; n < times + exactly; ++n) {
      auto key = centre;
      const double size = n < times ? noise / std::sqrt(static_cast<double>(dimension)) : 0.0;
      for (float& component : key) component += static_cast<float>(size * random.gaussian());
      stream.keys.push_back(key);
      stream.labels.push_back(thing);
    }
  }
  for (std::size_t i = stream.keys.size() - 1; i > 0; --i) {
    const auto other = random.below(static_cast<std::uint32_t>(i + 1));
    std::swap(stream.keys[i], stream.keys[other]);
    std::swap(stream.labels[i], stream.labels[other]);
  }
  return stream;
}

AdvisorOptions of(std::size_t dimension) {
  AdvisorOptions options;
  options.dimension = static_cast<std::uint32_t>(dimension);
  return options;
}

Advice advice_on(const Stream& stream, AdvisorOptions options, bool labelled = false,
                 const std::vector<Judged>& pairs = {}) {
  options.dimension = static_cast<std::uint32_t>(stream.keys.front().size());
  auto advisor = std::move(*Advisor::create(options));
  for (std::size_t i = 0; i < stream.keys.size(); ++i) {
    const auto label = labelled ? std::optional(stream.labels[i]) : std::nullopt;
    EXPECT_TRUE(advisor.add(stream.keys[i], label));
  }
  for (const auto& pair : pairs) EXPECT_TRUE(advisor.add_pair(pair));
  const auto advice = advisor.advise();
  EXPECT_TRUE(advice) << advice.status.detail;
  EXPECT_TRUE(advice->has_value());
  return advice->value_or(Advice{});
}

const TauTried& at(const Advice& advice, float tau) {
  for (const auto& tried : advice.tried) {
    if (tried.tau == tau) return tried;
  }
  ADD_FAILURE() << "tau " << tau << " was not tried";
  static const TauTried kNone;
  return kNone;
}

std::string in_full(const Advice& advice) {
  std::string text;
  for (const auto count : advice.histogram) text += std::to_string(count) + ' ';
  for (const auto& valley : advice.valleys) {
    text += std::to_string(valley.tau) + ' ' + std::to_string(valley.low) + ' ' +
            std::to_string(valley.high) + ' ' + std::to_string(valley.again) + ' ';
  }
  for (const auto& tried : advice.tried) {
    text += std::to_string(tried.tau) + ' ' + std::to_string(tried.slots) + ' ' +
            std::to_string(tried.largest) + ' ';
  }
  return text + advice.reason;
}

// --- Valleys

TEST(Valleys, SuggestedTauGivesOneSlotForEachThing) {
  for (const std::size_t dimension : {32U, 256U}) {
    for (const double noise : {0.1, 0.3, 0.5}) {
      const auto stream = mixture(dimension, 128, 12, noise, dimension + 7);
      const auto advice = advice_on(stream, {});
      ASSERT_TRUE(advice.tau) << dimension << ' ' << noise << ' ' << advice.reason;
      EXPECT_EQ(advice.evidence, Evidence::valley);
      // Much noise in few dimensions splits a thing or two.
      EXPECT_NEAR(static_cast<double>(at(advice, *advice.tau).slots), 128.0,
                  noise < 0.5 ? 0.0 : 3.0)
          << dimension << ' ' << noise;
      const auto& valley = advice.valleys.front();
      EXPECT_EQ(valley.chance, 1.0 / 400.0);
      EXPECT_GE(valley.again, 0.95);
      EXPECT_LE(valley.low, valley.tau);
      EXPECT_GE(valley.high, valley.tau);
      EXPECT_LT(valley.nearer, valley.tau);
      EXPECT_GT(valley.farther, valley.tau);
      EXPECT_LE(*advice.wrong_share, 0.02);
      EXPECT_FALSE(advice.bounded);
    }
  }
}

TEST(Valleys, ExactRepeatsDoNotHideTheValleyBehindThem) {
  const auto stream = mixture(64, 50, 10, 0.4, 3, 30);
  const auto advice = advice_on(stream, {});
  ASSERT_TRUE(advice.tau);
  EXPECT_EQ(advice.repeats, 50U * 29U);
  EXPECT_EQ(at(advice, *advice.tau).slots, 50U);
}

TEST(Valleys, RepeatsAreAHumpWhereThereIsNoOther) {
  const auto stream = mixture(64, 80, 0, 0.0, 4, 10);
  const auto advice = advice_on(stream, {});
  ASSERT_TRUE(advice.tau);
  EXPECT_EQ(at(advice, *advice.tau).slots, 80U);
}

TEST(Valleys, ThereIsNoneWithoutStructure) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto stream = mixture(48, 800, 1, 0.0, seed);
    const auto advice = advice_on(stream, {});
    EXPECT_TRUE(advice.valleys.empty()) << seed;
    EXPECT_FALSE(advice.tau);
    EXPECT_EQ(advice.evidence, Evidence::none);
    EXPECT_NE(advice.reason.find("no valley"), std::string::npos);
    EXPECT_FALSE(advice.wrong_share);
  }
}

TEST(Valleys, AFalseAlarmIsRareWhateverTheShapeOfTheOneHump) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<float> novelties;
    const std::size_t count = seed % 3 == 0 ? 60 : seed % 3 == 1 ? 600 : 6000;
    for (std::size_t i = 0; i < count; ++i) {
      double x = random.uniform();                           // flat
      if (seed % 4 == 1) x = 0.5 + 0.1 * random.gaussian();  // a bell
      if (seed % 4 == 2) x *= random.uniform();              // falling from 0
      if (seed % 4 == 3) x = std::max(x, random.uniform());  // rising to 1
      novelties.push_back(static_cast<float>(std::clamp(x, 1e-6, 2.0)));
    }
    alarms += find_valleys(novelties, seed)->empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 14);  // one in twenty, and some luck
}

TEST(Valleys, StandWhereTheGroundIsLowestAndAreAllTold) {
  Random random(5);
  std::vector<float> novelties;
  const auto hump = [&](double middle, int count) {
    for (int i = 0; i < count; ++i) {
      novelties.push_back(
          static_cast<float>(std::clamp(middle + 0.02 * random.gaussian(), 0.001, 2.0)));
    }
  };
  hump(0.2, 900);
  hump(0.7, 400);
  hump(1.0, 300);
  const auto valleys = *find_valleys(novelties);
  ASSERT_EQ(valleys.size(), 2U);
  EXPECT_NEAR(valleys[0].tau, 0.45F, 0.02F);  // between those that are farther apart
  EXPECT_NEAR(valleys[1].tau, 0.85F, 0.02F);
  for (const auto& valley : valleys) {
    EXPECT_EQ(valley.depth, 1.0);
    EXPECT_EQ(valley.again, 1.0);
    EXPECT_LE(valley.high - valley.low, 0.05F);
    const double steps = static_cast<double>(valley.tau) * 200.0;
    EXPECT_NEAR(steps, std::round(steps), 1e-4);
  }
}

TEST(Valleys, AFewRepeatsInAHumpThatBeginsNearThemAreNone) {
  Random random(6);
  std::vector<float> novelties(200, 0.0F);
  for (int i = 0; i < 9000; ++i) {
    novelties.push_back(
        static_cast<float>(std::clamp(std::abs(0.35 + 0.15 * random.gaussian()), 1e-6, 2.0)));
  }
  EXPECT_TRUE(find_valleys(novelties)->empty());
}

TEST(Valleys, TooFewNoveltiesAreNotSure) {
  std::vector<float> novelties;
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) {
      novelties.push_back(0.1F);
      novelties.push_back(0.9F);
    }
  };
  add(3);
  EXPECT_TRUE(find_valleys(novelties)->empty());
  add(30);
  EXPECT_EQ(find_valleys(novelties)->size(), 1U);
  EXPECT_TRUE(find_valleys({})->empty());
}

TEST(Valleys, RefuseWhatIsNoNovelty) {
  for (const float bad : {-0.1F, 2.1F, kNan}) {
    const auto result = find_valleys(std::vector<float>{0.5F, bad});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.status.index, 1U);
    EXPECT_EQ(result.status.pointer, "/novelty");
  }
}

// --- What the taus do

TEST(Advice, HistogramAndSlotsAreThoseOfAPlainLoop) {
  const auto stream = mixture(24, 30, 6, 0.6, 11, 2);
  AdvisorOptions options;
  options.taus = {0.0F, 0.1F, 0.35F, 2.0F};
  const auto advice = advice_on(stream, options);
  std::array<std::uint64_t, kNoveltyBins> histogram{};
  std::uint64_t repeats = 0;
  for (std::size_t i = 1; i < stream.keys.size(); ++i) {
    float least = 2.0F;
    for (std::size_t j = 0; j < i; ++j) {
      least = std::min(least, *novelty_between(stream.keys[i], stream.keys[j]));
    }
    ++histogram[novelty_bin(least)];
    repeats += least == 0.0F ? 1 : 0;
  }
  EXPECT_EQ(advice.histogram, histogram);
  EXPECT_EQ(advice.repeats, repeats);
  EXPECT_GT(repeats, 0U);
  for (const float tau : options.taus) {
    std::vector<std::size_t> slots;
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 0; i < stream.keys.size(); ++i) {
      float least = 3.0F;
      std::size_t best = 0;
      for (std::size_t s = 0; s < slots.size(); ++s) {
        const float novelty = *novelty_between(stream.keys[i], stream.keys[slots[s]]);
        if (novelty < least) {
          least = novelty;
          best = s;
        }
      }
      if (slots.empty() || least > tau) {
        slots.push_back(i);
        counts.push_back(1);
      } else {
        ++counts[best];
      }
    }
    const auto& tried = at(advice, tau);
    EXPECT_EQ(tried.slots, slots.size()) << tau;
    EXPECT_EQ(tried.merged, stream.keys.size() - slots.size()) << tau;
    EXPECT_EQ(tried.largest, *std::max_element(counts.begin(), counts.end())) << tau;
  }
  EXPECT_EQ(at(advice, 2.0F).slots, 1U);
}

TEST(Advice, LabelsBoundTheSuggestionPerItem) {
  // Things that lie so near to each other that a valley would mislead.
  const auto stream = mixture(16, 100, 30, 0.4, 21);
  const auto advice = advice_on(stream, {}, true);
  EXPECT_EQ(advice.labelled, 3000U);
  ASSERT_TRUE(advice.per_item);
  ASSERT_TRUE(advice.tau) << advice.reason;
  EXPECT_EQ(advice.evidence, Evidence::items);
  EXPECT_TRUE(advice.bounded);
  EXPECT_LE(*advice.tau, advice.per_item->chosen->tau);
  EXPECT_EQ(advice.per_item->at_risk, 2999U);
  EXPECT_EQ(*advice.wrong_share, at(advice, *advice.tau).wrong_bound);
  EXPECT_LE(*advice.wrong_share, 0.01);
  for (const auto& tried : advice.tried) {
    EXPECT_EQ(tried.wrong_bound, clopper_pearson_upper(tried.wrong, 3000, 0.9));
    if (tried.tau <= *advice.tau) {
      EXPECT_LE(tried.wrong_bound, 0.01);
    }
  }
  EXPECT_GT(at(advice, 0.8F).wrong, 1000U);
  EXPECT_GT(at(advice, 0.8F).wrong_bound, 0.3);
}

// What was promised of a stream holds for another one from the same source.
TEST(Advice, TheBoundHoldsForOtherStreams) {
  constexpr int kStreams = 30;
  int broken = 0;
  int given = 0;
  for (std::uint64_t seed = 0; seed < kStreams; ++seed) {
    const auto advice = advice_on(mixture(12, 60, 12, 0.5, 2 * seed), {}, true);
    if (!advice.tau) continue;
    ++given;
    AdvisorOptions again;
    again.taus = {*advice.tau};
    // Many of them, as one says little about a rate.
    std::uint64_t wrong = 0;
    for (std::uint64_t n = 0; n < 3; ++n) {
      const auto other = mixture(12, 60, 12, 0.5, 1000 + 8 * seed + n);
      wrong += at(advice_on(other, again, true), *advice.tau).wrong;
    }
    broken += wrong > 3 * 720 / 100 ? 1 : 0;
  }
  EXPECT_GE(given, kStreams / 2);
  EXPECT_LE(broken, kStreams / 10);
}

TEST(Advice, TooFewLabelsAreARefusalWithTheNumberThatDoes) {
  const auto stream = mixture(64, 10, 10, 0.2, 22);
  const auto advice = advice_on(stream, {}, true);
  EXPECT_FALSE(advice.tau);
  EXPECT_EQ(advice.evidence, Evidence::none);
  EXPECT_NE(advice.reason.find("230 items"), std::string::npos) << advice.reason;
  EXPECT_EQ(advice.per_item->needed, 230U);
  EXPECT_FALSE(advice.tried.empty());
}

TEST(Advice, PairsBoundTheSuggestionAndOppositesAreNamed) {
  const auto stream = mixture(64, 40, 20, 0.3, 23);
  std::vector<Judged> pairs;
  for (int i = 0; i < 400; ++i)
    pairs.push_back({0.6F + 0.0005F * static_cast<float>(i), Verdict::different});
  for (int i = 0; i < 50; ++i) pairs.push_back({0.2F, Verdict::same});
  auto advice = advice_on(stream, {}, false, pairs);
  EXPECT_EQ(advice.evidence, Evidence::pairs);
  ASSERT_TRUE(advice.tau);
  EXPECT_GE(*advice.tau, 0.55F);
  EXPECT_LE(*advice.tau, 0.605F);
  EXPECT_EQ(advice.different, 400U);
  EXPECT_EQ(advice.same, 50U);
  EXPECT_EQ(at(advice, 0.15F).same_apart, 50U);
  EXPECT_EQ(at(advice, 0.2F).same_apart, 0U);
  EXPECT_NEAR(static_cast<double>(at(advice, 0.7F).different_merged), 200.5, 0.5);

  // Opposites that are nearer than paraphrases: the valley's tau is there, and so is the warning.
  std::vector<Judged> few{{0.3F, Verdict::different},
                          {0.9F, Verdict::different},
                          {0.02F, Verdict::different},
                          {0.01F, Verdict::same}};
  advice = advice_on(stream, {}, false, few);
  EXPECT_FALSE(advice.tau);
  EXPECT_EQ(advice.opposites, (std::vector<std::uint64_t>{2, 0}));  // at the default tau
  ASSERT_FALSE(advice.warnings.empty());
  EXPECT_EQ(advice.warnings[0], "tau 0.4 merges 2 of 3 pairs that are known to be different");
}

TEST(Advice, CountsMergesThatGuardsWouldStop) {
  auto advisor = std::move(*Advisor::create(of(2)));
  const std::vector<float> one{1, 0};
  const std::vector<float> other{0, 1};
  const auto on = guard_facts("the valve is open");
  const auto off = guard_facts("the valve is not open");
  ASSERT_TRUE(advisor.add(one, {}, on));
  ASSERT_TRUE(advisor.add(other, {}, off));
  ASSERT_TRUE(advisor.add(one, {}, off));  // the same vector, and the opposite
  ASSERT_TRUE(advisor.add(one, {}, on));
  ASSERT_TRUE(advisor.add(one));  // no facts, no guard
  GuardSet negation;
  negation.add(Guard::negation);
  ASSERT_TRUE(advisor.add_pair({0.1F, Verdict::different}, negation));
  ASSERT_TRUE(advisor.add_pair({0.1F, Verdict::different}));
  ASSERT_TRUE(advisor.add_pair({0.3F, Verdict::same}, negation));
  const auto advice = advisor.advise()->value();
  EXPECT_EQ(advice.with_facts, 4U);
  const auto& strict = at(advice, 0.0F);
  EXPECT_EQ(strict.merged, 3U);
  EXPECT_EQ(strict.guarded, 1U);
  EXPECT_EQ(strict.different_guarded, 0U);
  const auto& loose = at(advice, 0.4F);
  EXPECT_EQ(loose.different_merged, 2U);
  EXPECT_EQ(loose.different_guarded, 1U);
  EXPECT_EQ(loose.same_guarded, 1U);
  EXPECT_EQ(at(advice, 0.2F).same_guarded, 0U);
}

TEST(Advice, WarnsOfASlotThatTakesMost) {
  Random random(31);
  Stream stream = mixture(64, 5, 200, 0.3, 31);
  const auto centre = stream.keys.front();
  for (int i = 0; i < 2000; ++i) {
    auto key = centre;
    for (float& component : key) component += static_cast<float>(0.01 * random.gaussian());
    stream.keys.push_back(key);
    stream.labels.push_back(stream.labels.front());
  }
  std::vector<Judged> pairs(400, {0.9F, Verdict::different});
  const auto advice = advice_on(stream, {}, false, pairs);
  ASSERT_TRUE(advice.tau);
  ASSERT_EQ(advice.warnings.size(), 1U);
  EXPECT_NE(advice.warnings[0].find("into one slot"), std::string::npos);
}

// --- Samples, order, ends

TEST(Advice, LooksAtASampleThatDependsOnTheSeedAlone) {
  const auto stream = mixture(32, 80, 50, 0.3, 41);
  AdvisorOptions options;
  options.sample = 500;
  const auto one = advice_on(stream, options);
  EXPECT_EQ(one.seen, 4000U);
  EXPECT_EQ(one.sampled, 500U);
  EXPECT_EQ(std::accumulate(one.histogram.begin(), one.histogram.end(), std::uint64_t{0}), 499U);
  EXPECT_EQ(in_full(one), in_full(advice_on(stream, options)));
  options.seed = 1;
  EXPECT_NE(in_full(one), in_full(advice_on(stream, options)));
  ASSERT_TRUE(one.tau);
  EXPECT_NEAR(static_cast<double>(at(one, *one.tau).slots), 80.0, 2.0);  // some were not drawn
}

TEST(Advice, EachItemIsAsLikelyToBeSampledAsAnother) {
  // Item i has a label of its own kind: early, middle, late. Labels show who was drawn.
  std::uint64_t late = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    AdvisorOptions options = of(1);
    options.sample = 20;
    options.seed = seed;
    options.taus = {0.5F};
    auto advisor = std::move(*Advisor::create(options));
    for (int i = 0; i < 200; ++i) {
      const float x = i < 150 ? 1.0F : -1.0F;
      ASSERT_TRUE(advisor.add({&x, 1}));
    }
    const auto advice = advisor.advise()->value();
    const auto& tried = advice.tried.front();
    late += tried.slots == 2 ? 20 - std::max<std::uint64_t>(tried.largest, 20 - tried.largest) : 0;
  }
  // 200 draws of 20, a quarter of them late: 1000, with a deviation of 27.
  EXPECT_NEAR(static_cast<double>(late), 1000.0, 110.0);
}

TEST(Advice, ProgressRisesToOneAndCanStop) {
  const auto stream = mixture(32, 40, 50, 0.3, 51);
  auto advisor = std::move(*Advisor::create(of(32)));
  for (std::size_t i = 0; i < stream.keys.size(); ++i) {
    ASSERT_TRUE(advisor.add(stream.keys[i], stream.labels[i]));
  }
  std::vector<double> shares;
  ASSERT_TRUE(advisor
                  .advise([&](double share) {
                    shares.push_back(share);
                    return Advisor::Go::on;
                  })
                  ->has_value());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1.0);
  for (std::size_t calls = 1; calls < shares.size(); calls += 7) {
    std::size_t left = calls;
    const auto stopped =
        advisor.advise([&](double) { return --left == 0 ? Advisor::Go::stop : Advisor::Go::on; });
    ASSERT_TRUE(stopped);
    EXPECT_FALSE(stopped->has_value()) << calls;
    EXPECT_EQ(left, 0U) << "went on after it was stopped";
  }
}

TEST(Advice, OfNothingAndOfOneItemIsNone) {
  auto advisor = std::move(*Advisor::create(of(4)));
  auto advice = advisor.advise()->value();
  EXPECT_FALSE(advice.tau);
  EXPECT_EQ(advice.sampled, 0U);
  ASSERT_TRUE(advisor.add(std::vector<float>{1, 0, 0, 0}, 7));
  advice = advisor.advise()->value();
  EXPECT_FALSE(advice.tau);
  EXPECT_EQ(advice.reason, "there are fewer than two items");
  EXPECT_EQ(advice.tried.front().slots, 1U);
}

TEST(Advice, RefusesBadInputAndStaysAsItWas) {
  const auto refused = [](AdvisorOptions options, const char* pointer) {
    const auto advisor = Advisor::create(options);
    ASSERT_FALSE(advisor);
    EXPECT_EQ(advisor.status.code, Error::bad_config);
    EXPECT_EQ(advisor.status.pointer, pointer);
  };
  refused(of(0), "/dimension");
  refused(of(65537), "/dimension");
  auto options = of(2);
  options.sample = 1;
  refused(options, "/sample");
  options = of(2);
  options.max_false_merge = 0.0;
  refused(options, "/max_false_merge");
  options = of(2);
  options.confidence = 1.0;
  refused(options, "/confidence");
  options = of(2);
  options.taus = {0.1F, 2.1F};
  refused(options, "/taus");
  options.taus.assign(65, 0.1F);
  refused(options, "/taus");

  auto advisor = std::move(*Advisor::create(of(2)));
  EXPECT_EQ(advisor.add(std::vector<float>{1, 0, 0}).code, Error::bad_shape);
  EXPECT_EQ(advisor.add(std::vector<float>{1, kNan}).code, Error::not_finite);
  EXPECT_EQ(advisor.add(std::vector<float>{0, 0}).code, Error::zero_norm);
  EXPECT_EQ(advisor.add_pair({2.5F, Verdict::same}).code, Error::bad_request);
  EXPECT_EQ(advisor.add_pair({kNan, Verdict::same}).code, Error::not_finite);
  EXPECT_EQ(advisor.seen(), 0U);
  EXPECT_EQ(advisor.advise()->value().same, 0U);
}

}  // namespace
}  // namespace dpcache
