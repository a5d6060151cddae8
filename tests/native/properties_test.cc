// What holds for every setting and every stream: random calls by a seed, against the plain loops of
// reference.h and against rules.
//
// The first half makes the same random calls (support.h) on a cache and on something that must
// agree with it: the reference, a replay, a loaded copy, a cache fed in batches. The second half
// states the rules of the method one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "budget.h"
#include "native/support.h"
#include "numerics.h"
#include "reference.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::Call;
using testing::Calls;
using testing::OwnedItem;
using testing::Random;
using vectors::CacheMachine;
using vectors::ReferenceMachine;

constexpr std::uint64_t kSeeds = 300;
constexpr int kCalls = 80;

QueryOptions top(std::size_t k) {
  QueryOptions options;
  options.k = k;
  return options;
}

// Calls test(calls) with each seed.
template <class Test>
void for_each_seed(std::uint64_t seeds, Test test) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Calls calls(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + to_json(calls.config()));
    test(calls);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RandomCalls, HaveTheAnswersOfThePlainLoops) {
  for_each_seed(kSeeds, [](Calls& calls) {
    CacheMachine cache(calls.config());
    ReferenceMachine reference(calls.config());
    for (int i = 0; i < kCalls; ++i) {
      const Call call = calls.next(testing::ids_of(cache.cache()));
      ASSERT_EQ(testing::perform(cache, call), testing::perform(reference, call)) << "call " << i;
      if (i % 10 != 9) continue;
      ASSERT_EQ(cache.slots().dump(), reference.slots().dump()) << "call " << i;
    }
  });
}

TEST(RandomCalls, AreReplayedFromTheirEventsToTheSameCache) {
  for_each_seed(kSeeds, [](Calls& calls) {
    CacheMachine machine(calls.config());
    Cache replayed = testing::make_cache(calls.config());
    const testing::EventLog log(machine.cache());
    for (int i = 0; i < kCalls; ++i) {
      testing::perform(machine, calls.next(testing::ids_of(machine.cache())));
    }
    log.replay(replayed);
    ASSERT_EQ(replayed.save(), machine.cache().save());
    EXPECT_EQ(replayed.stats().seq, log.events().size());
    machine.cache().on_event({});
  });
}

TEST(RandomCalls, GoOnAfterSavingAndLoadingAsIfNothingHadBeen) {
  for_each_seed(kSeeds, [](Calls& calls) {
    CacheMachine machine(calls.config());
    CacheMachine loaded(calls.config());
    Random random(calls.seed());
    for (int i = 0; i < kCalls; ++i) {
      if (random.one_in(8)) {
        const Bytes file = loaded.cache().save();
        loaded.cache() = testing::copy_of(loaded.cache());
        ASSERT_EQ(loaded.cache().save(), file) << "call " << i;
      }
      const Call call = calls.next(testing::ids_of(machine.cache()));
      ASSERT_EQ(testing::perform(machine, call), testing::perform(loaded, call)) << "call " << i;
    }
    EXPECT_EQ(machine.cache().save(), loaded.cache().save());
  });
}

TEST(Batches, DecideAsTheirItemsWouldOneByOne) {
  for_each_seed(kSeeds, [](Calls& calls) {
    Cache one_by_one = testing::make_cache(calls.config());
    Cache batched = testing::make_cache(calls.config());
    Random random(calls.seed());
    for (int round = 0; round < 6; ++round) {
      std::vector<OwnedItem> items(random.below(30));
      std::vector<Item> views;
      std::vector<Decision> expected;
      for (OwnedItem& item : items) {
        item = calls.item();
        views.push_back(item.view());
        expected.push_back(*one_by_one.observe(views.back()));
      }
      const BatchResult result = batched.observe_batch(views);
      ASSERT_TRUE(result);
      ASSERT_EQ(result.decisions, expected);
      ASSERT_EQ(batched.save(), one_by_one.save());
    }
  });
}

TEST(Reads, ChangeNothing) {
  for_each_seed(60, [](Calls& calls) {
    Cache cache = testing::make_cache(calls.config());
    for (int i = 0; i < 30; ++i) cache.observe(calls.item().view());
    const Bytes before = cache.save();
    const Stats stats = cache.stats();
    for (int i = 0; i < 10; ++i) {
      const OwnedItem query = calls.item();
      QueryOptions options;
      options.time = query.time + 1'000'000;  // everything that can expire has
      cache.read(query.key, options);
      cache.nearest(query.key, options);
      cache.score(query.key, options);
    }
    cache.slots();
    cache.slot(1);
    cache.slot(1'000'000);
    cache.warning();
    EXPECT_EQ(cache.save(), before);
    EXPECT_EQ(cache.stats().state_hash, stats.state_hash);
    EXPECT_EQ(cache.stats().slots, stats.slots);
  });
}

// Follows a cache by its events alone.
class Mirror {
 public:
  void see(const Event& event) {
    const Decision& decision = event.decision;
    if (event.kind == EventKind::observe) {
      if (decision.action == Action::allocate) {
        EXPECT_GT(decision.slot, last_id_) << "an id was used again";
        EXPECT_EQ(decision.slot, last_id_ + 1);
        last_id_ = decision.slot;
        EXPECT_FALSE(counts_.contains(decision.slot));
      } else {
        EXPECT_TRUE(counts_.contains(decision.slot));
      }
      ++counts_[decision.slot];
      ++items_;
    }
    for (SlotId id : decision.evicted) {
      EXPECT_NE(id, decision.slot);
      ASSERT_TRUE(counts_.contains(id));
      lost_ += counts_[id];
      counts_.erase(id);
    }
    for (const Fold& fold : decision.folded) {
      EXPECT_NE(fold.slot, decision.slot);
      ASSERT_TRUE(counts_.contains(fold.slot) && counts_.contains(fold.into));
      counts_[fold.into] += counts_[fold.slot];
      counts_.erase(fold.slot);
    }
  }

  void expect_agrees(const Cache& cache) const {
    std::uint64_t sum = 0;
    const std::vector<Slot> slots = cache.slots();
    ASSERT_EQ(slots.size(), counts_.size());
    auto expected = counts_.begin();
    for (const Slot& slot : slots) {
      EXPECT_EQ(slot.id, expected->first);
      EXPECT_EQ(slot.count, expected->second);
      sum += slot.count;
      ++expected;
    }
    EXPECT_EQ(sum, items_ - lost_);
    const Stats stats = cache.stats();
    EXPECT_EQ(stats.items, items_);
    EXPECT_EQ(stats.items, stats.allocations + stats.merges);
    EXPECT_EQ(stats.next_id, last_id_ + 1);
    EXPECT_EQ(stats.slots, stats.allocations - stats.evictions - stats.folds - stats.expirations -
                               stats.erasures);
  }

 private:
  std::map<SlotId, std::uint64_t> counts_;
  SlotId last_id_ = 0;
  std::uint64_t items_ = 0;
  std::uint64_t lost_ = 0;
};

TEST(Counts, AddUpAndIdsAscendWhateverGoes) {
  for_each_seed(kSeeds, [](Calls& calls) {
    CacheMachine machine(calls.config());
    Mirror mirror;
    machine.cache().on_event([&](const Event& event) { mirror.see(event); });
    for (int i = 0; i < kCalls; ++i) {
      testing::perform(machine, calls.next(testing::ids_of(machine.cache())));
      mirror.expect_agrees(machine.cache());
    }
    machine.cache().on_event({});
  });
}

TEST(Usage, IsThePlainCountWithoutDecay) {
  for_each_seed(100, [](Calls& calls) {
    Config config = calls.config();
    config.usage_decay = 1.0F;
    Cache cache = testing::make_cache(config);
    for (int i = 0; i < kCalls; ++i) {
      cache.observe(calls.item().view());
      for (const Slot& slot : cache.slots()) {
        ASSERT_EQ(slot.usage, static_cast<double>(slot.count)) << "slot " << slot.id;
      }
    }
  });
}

// Every item counts 1 and then decays: sum over slots = sum over the items still represented.
TEST(Usage, SumsToTheDecayedItemsWhileNothingGoes) {
  for (const float decay : {.99F, .9F, .25F}) {
    Config config = testing::plain_config(12, .4F);
    config.usage_decay = decay;
    Cache cache = testing::make_cache(config);
    const streams::Rule rule{5, 12, 9, .3F};
    double expected = 0.0;
    for (std::uint64_t t = 0; t < 300; ++t) {
      cache.observe(testing::item_of(rule.key(t)));
      expected = expected * static_cast<double>(decay) + 1.0;
      double sum = 0.0;
      for (const Slot& slot : cache.slots()) sum += slot.usage;
      ASSERT_NEAR(sum, expected, expected * 1e-12);
    }
  }
}

TEST(Budget, IsNeverExceededAndTheSlotJustWrittenStays) {
  for_each_seed(kSeeds, [](Calls& calls) {
    CacheMachine machine(calls.config());
    Cache& cache = machine.cache();
    for (int i = 0; i < kCalls; ++i) {
      const Call call = calls.next(testing::ids_of(cache));
      if (call.kind != Call::Kind::observe) {
        testing::perform(machine, call);
        continue;
      }
      const std::size_t before = cache.size();
      const Decision decision = *cache.observe(call.item.view());
      double limit = 1e300;
      if (decision.budget) {
        EXPECT_GE(*decision.budget, 1.0F);
        limit = std::floor(static_cast<double>(*decision.budget));
      }
      if (cache.config().max_slots) {
        limit = std::min(limit, static_cast<double>(*cache.config().max_slots));
      }
      ASSERT_LE(static_cast<double>(cache.size()), limit);
      ASSERT_TRUE(cache.slot(decision.slot)) << "the slot just written went";
      EXPECT_EQ(cache.stats().budget, decision.budget);
      // Nothing goes for the budget unless it must.
      if (!decision.evicted.empty() || !decision.folded.empty()) {
        EXPECT_EQ(static_cast<double>(cache.size()), limit);
      }
      EXPECT_TRUE(decision.evicted.empty() || decision.folded.empty());
      EXPECT_LE(cache.size(), before + 1);
    }
  });
}

// The rule is novelty > tau in float arithmetic, novelty = 1 - similarity.
TEST(FrozenKeys, ArePairwiseFartherApartThanTheThreshold) {
  for_each_seed(kSeeds, [](Calls& calls) {
    Config config = calls.config();
    config.key_update = KeyUpdate::frozen;
    Cache cache = testing::make_cache(config);
    for (int i = 0; i < kCalls; ++i) {
      OwnedItem item = calls.item();
      item.value.resize(config.value_dimension);
      cache.observe(item.view());
    }
    const std::size_t stride = padded(config.dimension);
    const float margin = snap_margin(stride);
    const std::vector<Slot> slots = cache.slots();
    for (const Slot& a : slots) {
      const std::vector<float> key(a.key.begin(), a.key.end());
      for (const Slot& b : slots) {
        if (a.id >= b.id) continue;
        const float similarity =
            snap(reference::dot(key, std::vector<float>(b.key.begin(), b.key.end())), margin);
        ASSERT_GT(1.0F - similarity, threshold(config)) << a.id << " and " << b.id;
      }
    }
  });
}

TEST(Repeats, HaveNoveltyZeroAndMergeAtTauZeroInEveryDimension) {
  for (const std::uint32_t dimension :
       {1U, 2U, 3U, 7U, 15U, 16U, 17U, 31U, 64U, 100U, 384U, 768U, 1000U, 1536U, 4096U}) {
    Cache cache = testing::make_cache(testing::plain_config(dimension, 0.0F));
    const streams::Rule rule{dimension, dimension, 7, 0.0F};
    std::map<std::uint32_t, SlotId> slots;
    for (std::uint64_t t = 0; t < 40; ++t) {
      std::vector<float> key = rule.key(t);
      // The same direction at another length is a repeat too.
      for (float& x : key) x *= std::ldexp(1.0F + 0.25F * static_cast<float>(t % 3), int(t) - 20);
      const Decision decision = *cache.observe(testing::item_of(key));
      if (dimension == 1) {  // two directions are all there are
        EXPECT_LE(cache.size(), 2U);
        EXPECT_TRUE(decision.novelty == 0.0F || decision.novelty == 2.0F || t == 0);
        continue;
      }
      const auto [slot, fresh] = slots.try_emplace(rule.source(t), decision.slot);
      EXPECT_EQ(decision.action, fresh ? Action::allocate : Action::merge) << "d " << dimension;
      EXPECT_EQ(decision.slot, slot->second);
      if (!fresh) {
        EXPECT_EQ(decision.novelty, 0.0F) << "d " << dimension;
        EXPECT_EQ(decision.similarity, 1.0F);
      }
    }
  }
}

TEST(ErasedItems, OpenAFreshSlotWhenTheyComeBack) {
  for_each_seed(100, [](Calls& calls) {
    Cache cache = testing::make_cache(calls.config());
    for (int i = 0; i < 20; ++i) cache.observe(calls.item().view());
    for (int i = 0; i < 10; ++i) {
      OwnedItem item = calls.item();
      item.ttl_ms.reset();
      const SlotId next = cache.stats().next_id;
      cache.observe(item.view());
      for (const SlotId id : testing::ids_of(cache)) ASSERT_TRUE(cache.erase(id));
      EXPECT_EQ(cache.size(), 0U);
      EXPECT_EQ(cache.erase(1).code, Error::not_found);
      const Decision again = *cache.observe(item.view());
      EXPECT_EQ(again.action, Action::allocate);
      EXPECT_GE(again.slot, next);
      EXPECT_EQ(again.novelty, 1.0F);
      EXPECT_FALSE(again.nearest);
    }
  });
}

// Until a decision lies within the error of a score, float and double decide alike.
TEST(FloatDecisions, AreThoseOfDoublesExceptWithinTheErrorOfAScore) {
  int compared = 0;
  int close = 0;
  for_each_seed(kSeeds, [&](Calls& calls) {
    Config config = calls.config();
    config.key_update = KeyUpdate::frozen;
    config.budget = BudgetKind::none;
    config.shrink = Shrink::evict;
    Cache cache = testing::make_cache(config);
    reference::ReferenceCache<double> truth(config);
    // Two scores within the error each, and the snap at the ends.
    const double bound = 2.0 * static_cast<double>(snap_margin(padded(config.dimension)));
    for (int i = 0; i < kCalls; ++i) {
      const OwnedItem item = calls.item();
      const std::vector<Match> before = truth.score(item.key, top(2));
      const Decision found = *cache.observe(item.view());
      const Decision expected = truth.observe(item.view());
      EXPECT_NEAR(found.similarity, expected.similarity, bound);
      EXPECT_NEAR(found.novelty, expected.novelty, bound);
      ++compared;
      if (found.action == expected.action && found.slot == expected.slot &&
          found.evicted == expected.evicted) {
        continue;
      }
      ++close;
      const double gap =
          std::fabs(static_cast<double>(expected.novelty) - static_cast<double>(threshold(config)));
      const double tie = before.size() < 2 ? 2.0
                                           : static_cast<double>(before[0].similarity) -
                                                 static_cast<double>(before[1].similarity);
      EXPECT_LE(std::min(gap, tie), bound) << "call " << i;
      return;  // from here on they hold other slots
    }
  });
  EXPECT_GT(compared, 10'000);
  EXPECT_GT(close, 0) << "no case near the threshold: the test is too easy";
}

// With the slots fixed, what a strict tau takes as a match a looser one takes too.
TEST(Matches, AtAStrictTauAreAmongThoseAtALooseOne) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const streams::Rule rule{seed, 16, 20, .9F};
    Cache cache = testing::make_cache(testing::plain_config(16, .3F));
    for (std::uint64_t t = 0; t < 60; ++t) cache.observe(testing::item_of(rule.key(t)));
    std::set<std::uint64_t> strict_matches;
    for (const float tau : {0.0F, .2F, .35F, .45F, .55F, .65F, 1.0F, 2.0F}) {
      Config config = cache.config();
      config.tau = tau;
      std::set<std::uint64_t> matches;
      for (std::uint64_t t = 100; t < 140; ++t) {
        Cache copy = testing::copy_of(cache);
        ASSERT_TRUE(copy.configure(config));
        const Decision decision = *copy.observe(testing::item_of(rule.key(t)));
        if (decision.action == Action::merge) matches.insert(t);
        const Match nearest = **cache.nearest(rule.key(t));
        EXPECT_EQ(decision.similarity, nearest.similarity);
        EXPECT_EQ(decision.action == Action::merge, 1.0F - nearest.similarity <= tau);
      }
      EXPECT_TRUE(std::includes(matches.begin(), matches.end(), strict_matches.begin(),
                                strict_matches.end()))
          << "tau " << tau;
      strict_matches = matches;
    }
    EXPECT_EQ(strict_matches.size(), 40U);  // tau = 2 takes all
  }
}

TEST(Readings, WeighAllSlotsByTheirSimilarityAsDoublesDo) {
  for_each_seed(kSeeds, [](Calls& calls) {
    const Config& config = calls.config();
    Cache cache = testing::make_cache(config);
    reference::ReferenceCache<double> truth(config);
    for (int i = 0; i < 30; ++i) cache.observe(calls.item().view());
    for (int i = 0; i < 8; ++i) {
      const OwnedItem query = calls.item();
      const Reading reading = *cache.read(query.key, top(SIZE_MAX));
      if (reading.empty) continue;
      ASSERT_EQ(reading.top.size(), cache.size());
      ASSERT_EQ(reading.value.size(), config.value_dimension);

      double sum = static_cast<double>(reading.null_weight);
      for (std::size_t j = 0; j < reading.top.size(); ++j) {
        const Weighted& one = reading.top[j];
        EXPECT_GE(one.weight, 0.0F);
        EXPECT_LE(one.weight, 1.0F);
        sum += static_cast<double>(one.weight);
        if (j == 0) continue;
        EXPECT_LE(one.similarity, reading.top[j - 1].similarity);
        EXPECT_LE(one.weight, reading.top[j - 1].weight);
        if (one.similarity == reading.top[j - 1].similarity) {
          EXPECT_EQ(one.weight, reading.top[j - 1].weight);
          EXPECT_GT(one.slot, reading.top[j - 1].slot);
        }
      }
      EXPECT_NEAR(sum, 1.0, 1e-7 * static_cast<double>(reading.top.size() + 1));
      EXPECT_EQ(config.null_similarity.has_value() && reading.null_weight > 0.0F,
                reading.null_weight > 0.0F);

      // The same in double from the keys that there are. An error e in a similarity is an error
      // e / theta in an exponent.
      const std::vector<double> unit = reference::unit<double>(std::span<const float>(query.key));
      const double error = static_cast<double>(snap_margin(padded(config.dimension)));
      const double relative = std::expm1(2.0 * error / static_cast<double>(config.theta));
      if (relative > 1e-2) continue;  // theta = 1e-4: the weights hang on the last bits
      double largest = config.null_similarity ? static_cast<double>(*config.null_similarity) : -1.0;
      std::vector<double> similarities;
      for (const Slot& slot : cache.slots()) {
        std::vector<double> key;
        for (float x : slot.key) key.push_back(static_cast<double>(x));
        similarities.push_back(reference::dot(unit, key));
        largest = std::max(largest, similarities.back());
      }
      const auto weigh = [&](double similarity) {
        return std::exp((similarity - largest) / static_cast<double>(config.theta));
      };
      double total =
          config.null_similarity ? weigh(static_cast<double>(*config.null_similarity)) : 0.0;
      std::vector<double> mix(config.value_dimension);
      const std::vector<Slot> slots = cache.slots();
      for (std::size_t j = 0; j < slots.size(); ++j) {
        total += weigh(similarities[j]);
        for (std::size_t v = 0; v < mix.size(); ++v) {
          mix[v] += weigh(similarities[j]) * static_cast<double>(slots[j].value[v]);
        }
      }
      for (std::size_t v = 0; v < mix.size(); ++v) {
        EXPECT_NEAR(reading.value[v], mix[v] / total, 4.0 * relative + 1e-6);  // values are <= 1
      }
      for (const Weighted& one : reading.top) {
        const auto at = std::find_if(slots.begin(), slots.end(),
                                     [&](const Slot& slot) { return slot.id == one.slot; });
        const double weight = weigh(similarities[static_cast<std::size_t>(at - slots.begin())]);
        EXPECT_NEAR(one.weight, weight / total, 2.0 * relative + 1e-6);
      }
    }
  });
}

// Whatever a value policy does with finite values, it gives finite ones between the least and the
// largest that were given.
TEST(Values, StayWithinWhatWasGivenUpToTheLargestFloats) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const ValueUpdate update :
       {ValueUpdate::first, ValueUpdate::last, ValueUpdate::mean, ValueUpdate::ema}) {
    for (const Shrink shrink : {Shrink::evict, Shrink::merge}) {
      for (const float ema : {.1F, .3F, .5F, .7F, 1.0F}) {
        Config config = testing::plain_config(8, .2F);
        config.value_dimension = 3;
        config.value_update = update;
        config.ema = ema;
        config.max_slots = 3;
        config.shrink = shrink;
        Cache cache = testing::make_cache(config);
        const streams::Rule rule{77, 8, 6, .05F};
        for (std::uint64_t t = 0; t < 200; ++t) {
          const float sign = t % 3 == 0 ? -1.0F : 1.0F;
          const std::vector<float> value = {sign * kLargest, kLargest, sign * 1e-45F};
          const std::vector<float> key = rule.key(t);
          Item item = testing::item_of(key);
          item.value = value;
          cache.observe(item);
          for (const Slot& slot : cache.slots()) {
            ASSERT_TRUE(std::isfinite(slot.value[0]));
            ASSERT_EQ(slot.value[1], kLargest);
            ASSERT_LE(std::fabs(slot.value[2]), 1e-45F);
          }
          const Reading reading = *cache.read(key);
          ASSERT_TRUE(std::isfinite(reading.value[0]));
          ASSERT_EQ(reading.value[1], kLargest);
        }
        EXPECT_TRUE(Cache::load(cache.save()));
      }
    }
  }
}

}  // namespace
}  // namespace dpcache
