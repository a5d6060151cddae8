// A slot that is guessed to be the nearest is answered only where it must be the nearest; and what
// the proof builds on, how far slots are from each other, holds whatever becomes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "codes.h"
#include "dpcache/cache.h"
#include "kernels.h"
#include "probe.h"
#include "search.h"
#include "search_batch.h"
#include "search_certain.h"
#include "search_scan.h"
#include "slots.h"

namespace dpcache {
namespace {

using Vector = std::vector<float>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  float normal() { return normal_(engine_); }
  std::size_t below(std::size_t n) { return engine_() % n; }
  Vector vector(std::size_t dimension) {
    Vector x(dimension);
    for (float& number : x) number = normal();
    return x;
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<float> normal_;
};

// x with so much of y's direction, both taken as of unit length.
Vector mixed(const Vector& x, const Vector& y, double part) {
  const auto length = [](const Vector& of) {
    double squares = 0.0;
    for (const float number : of) {
      squares += static_cast<double>(number) * static_cast<double>(number);
    }
    return std::sqrt(squares);
  };
  const double a = (1.0 - part) / length(x);
  const double b = part / length(y);
  Vector out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = static_cast<float>(a * static_cast<double>(x[i]) + b * static_cast<double>(y[i]));
  }
  return out;
}

AlignedFloats unit(const Vector& x) {
  AlignedFloats out(padded(x.size()));
  kernels::normalise(x, out);
  return out;
}

// As if every memory were large.
class Certain : public testing::Test {
 protected:
  Certain() { codes_always(); }
  ~Certain() override { codes_from = {}; }
  static void codes_always() {
    codes_from = {.floats = 0, .length = 0, .guessed_length = 0, .rows_for_a_guess = 0};
  }
  static void codes_never() { codes_from.floats = std::numeric_limits<std::size_t>::max(); }
};

Nearest by_scan(const Slots& slots, const AlignedFloats& query) {
  Nearest best{kNoRow, -2.0F};
  scan(slots, query.data(), 0, [&](std::size_t r, float s) {
    if (s > best.similarity && slots.row(r).alive) best = {r, s};
  });
  return best;
}

// Slots of which everything is known, as observe() makes them.
class Known {
 public:
  explicit Known(std::size_t dimension, KeyUpdate update = KeyUpdate::frozen) : slots_(config_) {
    config_.dimension = static_cast<std::uint32_t>(dimension);
    config_.key_update = update;
    config_.keep_sums = true;
    slots_ = Slots(config_);
  }
  void open(const Vector& x) {
    const AlignedFloats key = unit(x);
    open(x, slots_.size() == 0 ? 0.0F : by_scan(slots_, key).similarity);
  }
  void open(const Vector& x, float closest) {
    Item item;
    item.key = x;
    slots_.reserve(1);
    slots_.open(config_, ++next_, unit(x), item, closest);
    slots_.prepare(1);
  }
  void merge(std::size_t r, const Vector& x) {
    Item item;
    item.key = x;
    slots_.merge(config_, r, unit(x), item);
  }
  // What is certain of a query is so; tells of how many rows it is.
  std::size_t check(const Vector& x) const {
    const AlignedFloats query = unit(x);
    const Nearest nearest = by_scan(slots_, query);
    std::size_t certain = 0;
    for (std::size_t r = 0; r < slots_.rows(); ++r) {
      const float s = similarity(slots_, query.data(), r);
      if (!slots_.row(r).alive || !is_certain(slots_, r, s)) continue;
      ++certain;
      EXPECT_EQ(r, nearest.row) << s << " is not " << nearest.similarity;
    }
    return certain;
  }
  Slots& slots() { return slots_; }
  const Config& config() const { return config_; }

 private:
  Config config_ = [] {
    Config config;
    config.dimension = 1;
    return config;
  }();
  Slots slots_;
  SlotId next_ = 0;
};

TEST_F(Certain, IsARepeatAmongSlotsThatLieFarApart) {
  Random random(1);
  for (const std::size_t dimension : {32U, 128U, 384U}) {
    Known known(dimension);
    std::vector<Vector> keys;
    for (int i = 0; i < 60; ++i) known.open(keys.emplace_back(random.vector(dimension)));
    for (int i = 0; i < 60; ++i) {
      const Vector& key = keys[random.below(keys.size())];
      EXPECT_EQ(known.check(key), 1U);
      EXPECT_EQ(known.check(mixed(key, random.vector(dimension), .2)), 1U);
      known.check(random.vector(dimension));
    }
  }
}

// Half way between two slots both are as near, up to rounding: which one is nearer only their
// scores can tell.
TEST_F(Certain, IsNothingHalfWayBetweenTwoSlots) {
  Random random(2);
  for (const std::size_t dimension : {16U, 64U, 384U, 1600U}) {
    std::size_t certain = 0;
    for (int i = 0; i < 600; ++i) {
      const Vector a = random.vector(dimension);
      // Far and near, down to those that nearly snap.
      const double part = std::pow(10.0, -3.2 * static_cast<double>(random.below(100)) / 100.0);
      const Vector b = mixed(a, random.vector(dimension), part);
      Known known(dimension);
      known.open(a);
      known.open(b);
      for (const double at : {.5, .5 - 1e-7, .5 + 1e-7, .499, .501, .45, .3}) {
        certain += known.check(mixed(a, b, at));
      }
    }
    EXPECT_GT(certain, 600U);  // clearly nearer to one
  }
}

// Two keys that score 1 with the query, both: the older one counts.
TEST_F(Certain, IsNothingAmongSlotsThatSnapToOne) {
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    const Vector a = random.vector(256);
    Known known(256);
    known.open(a);
    known.open(mixed(a, random.vector(256), 2e-5 * static_cast<double>(1 + random.below(100))));
    known.check(mixed(a, random.vector(256), 1e-5 * static_cast<double>(random.below(200))));
  }
}

TEST_F(Certain, IsNothingOfASlotOfWhichNothingIsKnown) {
  Random random(4);
  Known known(128);
  const Vector a = random.vector(128);
  known.open(a);
  known.open(random.vector(128));
  EXPECT_EQ(known.check(a), 1U);
  known.open(mixed(a, random.vector(128), .1), kUnknown);
  EXPECT_EQ(known.check(a), 0U);
}

TEST_F(Certain, IsWhatWasLearntUntilTheNextUnknownSlotComes) {
  Random random(5);
  Known known(128);
  const Vector a = random.vector(128);
  known.open(a, kUnknown);
  known.open(random.vector(128), kUnknown);
  const Slots& slots = known.slots();
  const AlignedFloats query = unit(a);
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(known.check(a), 0U) << "asked for " << times << " times";
    EXPECT_EQ(nearest(slots, query.data(), 0).row, 0U);
  }
  EXPECT_EQ(slots.closest(0), nearest_other(slots, 0).similarity);
  EXPECT_GE(slots.closest(1), kUnknown) << "it was not asked for";
  EXPECT_EQ(known.check(a), 1U);
  // A slot that comes and is known lowers the bound of the others.
  known.open(mixed(a, random.vector(128), .3));
  known.check(a);
  known.check(mixed(a, random.vector(128), .3));
  EXPECT_GE(slots.closest(0), similarity(slots, query.data(), 2) - 1e-6F);
  known.open(random.vector(128), kUnknown);
  EXPECT_EQ(known.check(a), 0U);
  EXPECT_GE(slots.closest(0), kUnknown);
}

// A slot that moves next to another one makes that one's bound a lie.
TEST_F(Certain, IsNothingOnceAKeyHasMoved) {
  Random random(6);
  Known known(128);
  const Vector a = random.vector(128);
  const Vector close = mixed(a, random.vector(128), .2);
  for (const Vector& key : {a, random.vector(128), random.vector(128)}) known.open(key);
  // Frozen keys, whose sums tell where the items were.
  for (int i = 0; i < 200; ++i) known.merge(2, close);
  EXPECT_EQ(known.check(close), 1U);
  known.slots().fold(known.config(), 2, 1, Slots::FoldKey::centroid);
  EXPECT_EQ(by_scan(known.slots(), unit(close)).row, 1U);
  EXPECT_EQ(known.check(close), 0U);
}

TEST_F(Certain, IsNothingOfKeysThatMoveWithEveryMerge) {
  Random random(14);
  Known known(128, KeyUpdate::centroid);
  const Vector a = random.vector(128);
  const Vector close = mixed(a, random.vector(128), .2);
  known.open(a);
  known.open(random.vector(128));
  EXPECT_EQ(known.check(close), 0U);
  for (int i = 0; i < 200; ++i) known.merge(1, close);
  EXPECT_EQ(by_scan(known.slots(), unit(close)).row, 1U);
  EXPECT_EQ(known.check(close), 0U);
}

TEST_F(Certain, IsNothingBesideAKeyThatMissesUnitLength) {
  Random random(7);
  Known known(128);
  const Vector a = random.vector(128);
  known.open(a);
  known.open(random.vector(128));
  EXPECT_EQ(known.check(a), 1U);
  AlignedFloats longer = unit(random.vector(128));
  for (float& number : longer) number *= 1.0008F;
  Slots& slots = known.slots();
  slots.reserve(1);
  slots.open(known.config(), 3, longer, Item{}, .5F);
  slots.prepare(1);
  EXPECT_EQ(known.check(a), 0U);
}

// What is done to a memory at random, with guesses and without: the same bits.
TEST_F(Certain, DecisionsAreThoseOfAScanWhateverHappens) {
  constexpr std::uint32_t kDimension = 48;
  for (const KeyUpdate update : {KeyUpdate::frozen, KeyUpdate::centroid}) {
    for (const BudgetKind budget : {BudgetKind::none, BudgetKind::fixed}) {
      Random random(8);
      Config config;
      config.dimension = kDimension;
      config.key_update = update;
      config.keep_sums = true;
      config.budget = budget;
      config.m0 = 60.0F;
      config.shrink = random.below(2) == 0 ? Shrink::evict : Shrink::merge;
      config.tau = .3F;
      Cache guessed = std::move(*Cache::create(config));
      Cache scanned = std::move(*Cache::create(config));
      std::vector<Vector> seen;
      const auto both = [&](auto call) {
        codes_always();
        const auto a = call(guessed);
        codes_never();
        const auto b = call(scanned);
        ASSERT_EQ(a, b);
      };
      const auto item_of = [&] {
        const std::size_t kind = random.below(10);
        if (seen.empty() || kind < 2) return random.vector(kDimension);
        const Vector& old = seen[random.below(seen.size())];
        const double part = kind < 8 ? .2 : .02 * static_cast<double>(random.below(20));
        return mixed(old, random.vector(kDimension), part);
      };
      for (int step = 0; step < 1500; ++step) {
        Item item;
        item.time = step;
        const std::size_t what = random.below(40);
        if (what == 0 && scanned.size() > 0) {
          const SlotId id = scanned.slots()[random.below(scanned.size())].id;
          both([&](Cache& cache) { return cache.erase(id, step).code; });
        } else if (what == 1) {
          config.tau = .1F + .05F * static_cast<float>(random.below(9));
          both([&](Cache& cache) { return cache.configure(config, step).code; });
        } else if (what == 2 && random.below(4) == 0) {
          both([&](Cache& cache) { return *cache.consolidate({}, step); });
        } else if (what == 3) {
          codes_always();
          guessed = std::move(*Cache::load(guessed.save()));
          guessed.prepare();
        } else if (what < 8) {
          const std::size_t count = 1 + random.below(300);
          std::vector<Vector> keys(count);
          std::vector<Item> items(count);
          for (std::size_t i = 0; i < count; ++i) {
            keys[i] = item_of();
            items[i].key = keys[i];
            items[i].time = step;
            if (random.below(30) == 0) items[i].ttl_ms = 5;
          }
          both([&](Cache& cache) { return cache.observe_batch(items).decisions; });
          seen.insert(seen.end(), keys.begin(), keys.begin() + 1);
          step += 50;
        } else if (what < 16) {
          const Vector query = item_of();
          QueryOptions options;
          options.k = 1;
          options.time = step;
          both([&](Cache& cache) { return *cache.nearest(query, options); });
          both([&](Cache& cache) { return *cache.score(query, options); });
        } else {
          const Vector& key = seen.emplace_back(item_of());
          item.key = key;
          if (random.below(30) == 0) item.ttl_ms = 40;
          both([&](Cache& cache) { return *cache.observe(item); });
        }
        if (testing::Test::HasFatalFailure()) return;
      }
      EXPECT_EQ(guessed.stats().state_hash, scanned.stats().state_hash);
      EXPECT_GT(scanned.stats().merges, 300U);
    }
  }
}

// A log says how near the nearest slot was. It may be wrong, and is repeated all the same; but what
// it says is no proof.
TEST_F(Certain, IsNothingThatARecordedEventClaims) {
  Random random(9);
  Config config;
  config.dimension = 128;
  config.tau = .02F;
  Cache made = std::move(*Cache::create(config));
  Cache follower = std::move(*Cache::create(config));
  made.on_event([&](const Event& event) {
    Event claim = event;
    claim.decision.similarity = -1.0F;
    claim.decision.novelty = 2.0F;
    ASSERT_TRUE(follower.apply(claim));
  });
  std::vector<Vector> keys;
  const Vector centre = random.vector(128);
  for (int i = 0; i < 100; ++i) {
    const Vector& key = keys.emplace_back(mixed(centre, random.vector(128), .3));
    Item item;
    item.key = key;
    ASSERT_TRUE(made.observe(item));
  }
  for (int i = 0; i < 200; ++i) {
    const Vector query = mixed(keys[random.below(100)], keys[random.below(100)], .48);
    codes_always();
    const auto by_follower = *follower.nearest(query);
    codes_never();
    const Cache scanned = std::move(*Cache::load(follower.save()));
    EXPECT_EQ(by_follower, *scanned.nearest(query));
  }
}

// The rows of a probe's visit.
std::multiset<std::size_t> visited(const KeyCodes& codes, const AlignedFloats& key) {
  QueryCodes query;
  std::multiset<std::size_t> rows;
  codes.probe().visit(codes.rotate(key.data(), query), [&](std::size_t r) {
    rows.insert(r);
    return false;
  });
  return rows;
}

TEST_F(Certain, AKeyIsGuessedByItselfAlsoAfterOthersHaveGone) {
  Random random(10);
  Known known(384);
  std::vector<Vector> keys;
  for (int i = 0; i < 700; ++i) known.open(keys.emplace_back(random.vector(384)), .5F);
  Slots& slots = known.slots();
  for (std::size_t r = 0; r < slots.rows(); ++r) {
    EXPECT_GE(visited(slots.codes(), unit(keys[r])).count(r), 1U) << r;
  }
  for (std::size_t r = 0; r < 700; r += 3) slots.remove(r);
  slots.tidy();
  ASSERT_LT(slots.rows(), 700U);
  for (std::size_t r = 0; r < slots.rows(); ++r) {
    const auto& key = keys[slots.row(r).id - 1];
    EXPECT_GE(visited(slots.codes(), unit(key)).count(r), 1U) << r;
  }
}

TEST_F(Certain, MostRepeatsAreGuessed) {
  Random random(11);
  Known known(384);
  std::vector<Vector> keys;
  for (int i = 0; i < 1000; ++i) known.open(keys.emplace_back(random.vector(384)), .4F);
  std::size_t guessed = 0;
  for (std::size_t r = 0; r < 1000; ++r) {
    const AlignedFloats query = unit(mixed(keys[r], random.vector(384), .225));  // cosine .96
    guessed += visited(known.slots().codes(), query).contains(r) ? 1U : 0U;
  }
  EXPECT_GT(guessed, 960U);
}

TEST(Luck, TriesFewGuessesWhereTheyFailAndAllOnceTheyAreRight) {
  constexpr std::size_t kRows = 10000;
  Luck luck;
  EXPECT_TRUE(luck.tries(kRows));
  for (int i = 0; i < 500; ++i) luck.learn(false);
  int tried[2] = {};  // of those that come in turns
  for (int i = 0; i < 320; ++i) tried[i % 2] += luck.tries(kRows) ? 1 : 0;
  EXPECT_NEAR(tried[0] + tried[1], 20, 2);
  EXPECT_NEAR(tried[0], tried[1], 4);
  int waited = 0;
  while (!luck.tries(kRows)) ++waited;
  EXPECT_LT(waited, 32);
  luck.learn(true);
  EXPECT_TRUE(luck.tries(kRows) && luck.tries(kRows));
  EXPECT_FALSE(luck.tries(100) && luck.tries(100)) << "a search of so few takes no longer";
}

TEST_F(Certain, EqualKeysAreNotVisitedForEver) {
  Random random(12);
  Known known(128);
  const Vector key = random.vector(128);
  for (int i = 0; i < 3000; ++i) known.open(key, 1.0F);
  EXPECT_LE(visited(known.slots().codes(), unit(key)).size(), 128U);
}

TEST_F(Certain, ShortKeysAreNotGuessed) {
  codes_from = {.floats = 0, .rows_for_a_guess = 0};
  Random random(13);
  Known known(112);
  const Vector key = random.vector(112);
  known.open(key);
  EXPECT_TRUE(visited(known.slots().codes(), unit(key)).empty());
}

}  // namespace
}  // namespace dpcache
