// Merges one can trust: lookups, the uncertain band, reviews, members of slots and their undoing.
//
// First random calls by a seed against rules: replays, files and batches agree, what must stay
// apart does, and undoing an undo changes nothing. Then each call, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "hash.h"
#include "native/memory_file.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::OwnedItem;
using testing::Random;
using Vector = std::vector<float>;

constexpr std::uint64_t kSeeds = 120;

Config trusting(Random& random) {
  Config config;
  config.dimension = 1 + static_cast<std::uint32_t>(random.below(6));
  config.value_dimension = static_cast<std::uint32_t>(random.below(3));
  config.key_update = random.one_of({KeyUpdate::frozen, KeyUpdate::centroid});
  config.value_update =
      random.one_of({ValueUpdate::first, ValueUpdate::last, ValueUpdate::mean, ValueUpdate::ema});
  config.keep_sums = random.one_in(2);
  config.usage_decay = random.one_of({1.0F, .9F});
  config.tau = random.one_of({.2F, .5F, .9F});
  if (!random.one_in(4)) config.tau_merge = random.one_of({0.0F, .05F, .15F});
  config.audit = random.one_of({Audit::none, Audit::ids, Audit::full, Audit::full});
  if (random.one_in(4)) config.audit_members = 2 + static_cast<std::uint32_t>(random.below(6));
  if (random.one_in(3)) config.ttl_ms = 400;
  if (random.one_in(3)) config.guards = GuardSet::all();
  if (random.one_in(3)) {
    config.gate = Gate{random.one_of({2.0F, 10.0F, 200.0F}), *std::exchange(config.tau, {})};
    config.correction_rate = random.one_of({.02F, .3F, 1.0F});
  }
  return config;
}

void add_budget(Random& random, Config& config) {
  config.budget = random.one_of({BudgetKind::none, BudgetKind::fixed, BudgetKind::ghost});
  config.m0 = static_cast<float>(3 + random.below(8));
  config.shrink = random.one_of({Shrink::merge, Shrink::merge, Shrink::evict});
  if (random.one_in(3)) config.max_slots = 4 + random.below(8);
}

// Items that meet again.
struct Stream {
  explicit Stream(std::uint64_t seed) : random(seed) {}

  OwnedItem item(const Config& config) {
    OwnedItem item;
    item.key.resize(config.dimension);
    for (float& x : item.key) x = static_cast<float>(random.below(5)) - 2.0F;
    item.key[0] += .25F;
    item.value = random.vector(config.value_dimension);
    if (random.one_in(3)) item.payload = "payload " + std::to_string(++count);
    if (random.one_in(6)) item.exact_key = "exact " + std::to_string(random.below(4));
    if (random.one_in(8)) item.ttl_ms = 100;
    time += static_cast<std::int64_t>(random.below(5));
    item.time = time;
    return item;
  }

  Random random;
  std::int64_t time = 0;
  int count = 0;
};

constexpr std::array<std::string_view, 6> kTexts = {"",
                                                    "turn on dark mode",
                                                    "turn off dark mode",
                                                    "please turn on dark mode",
                                                    "open port 22",
                                                    "open port 80"};
constexpr std::array<std::string_view, 3> kScopes = {"", "tenant a", "tenant b"};

Item named(const OwnedItem& owned, std::string_view id, std::string_view text = {}) {
  Item item = owned.view();
  item.id = id;
  item.text = text;
  return item;
}

// Everything that a slot is, with what it has absorbed, as text.
std::string all_of(const Cache& cache, SlotId id) {
  const Slot slot = *cache.slot(id);
  std::string out = "slot " + std::to_string(slot.id);
  const auto add = [&](const auto& x) { out.append(" ").append(std::to_string(x)); };
  const auto add_bits = [&](std::span<const float> x) {
    out.append(" [").append(reinterpret_cast<const char*>(x.data()), x.size_bytes()).append("]");
  };
  add_bits(slot.key);
  add_bits(slot.value);
  out.append(slot.payload).append(slot.text);
  for (std::string_view key : slot.exact_keys) out.append(" ").append(key);
  out.append(" usage ");
  out.append(reinterpret_cast<const char*>(&slot.usage), sizeof slot.usage);
  add(slot.count);
  add(slot.first_time);
  add(slot.last_time);
  add(slot.expires.value_or(-1));
  const Result<std::vector<Member>> members = cache.members(id);
  if (!members) return out;
  for (const Member& member : *members) {
    out.append("\nmember ");
    add(member.seq);
    out.append(member.id);
    add(member.time);
    add(static_cast<int>(member.opened));
    add(member.similarity);
    add(member.threshold);
    add(member.gate);
    add_bits(member.key);
    add_bits(member.value);
    out.append(member.payload)
        .append(member.exact_key.value_or("-"))
        .append(member.text)
        .append(member.scope);
    for (std::string_view guard : member.guarded.list()) out.append(" ").append(guard);
  }
  return out;
}

// Makes random calls on a cache.
class Calls {
 public:
  explicit Calls(std::uint64_t seed) : stream_(seed), random_(seed + 1'000'000) {
    config_ = trusting(random_);
    add_budget(random_, config_);
  }

  const Config& config() const { return config_; }
  std::uint64_t seed_of_judge() { return random_.bits(); }

  void make(Cache& cache) {
    const std::int64_t time = stream_.time;
    switch (random_.below(24)) {
      case 0:
        cache.consolidate(random_.one_of({.3F, .8F}), time);
        return;
      case 1:
        if (cache.size() > 0) cache.erase(any(cache), time);
        return;
      case 2:
        if (random_.one_in(4)) change(cache);
        return;
      case 3:
      case 4:
      case 5:
        split(cache);
        return;
      case 6:
        if (cache.size() > 0) cache.must_not_merge(any(cache), any(cache), time);
        return;
      case 7:
        if (cache.size() > 0) cache.must_merge(any(cache), any(cache), time);
        return;
      case 8: {
        const std::vector<Review> reviews = cache.reviews();
        if (reviews.empty()) return;
        const Review review = reviews[random_.below(reviews.size())];
        EXPECT_TRUE(cache.review(
            review.other, review.slot,
            random_.one_of({Judgement::same, Judgement::different, Judgement::unknown}), time));
        return;
      }
      default: {
        const OwnedItem item = stream_.item(config_);
        const std::string id = random_.one_in(2) ? "id " + std::to_string(item.time) : "";
        Item view = named(item, id, kTexts[random_.below(kTexts.size())]);
        if (random_.one_in(2)) view.scope = kScopes[random_.below(kScopes.size())];
        const Result<Decision> decision = cache.observe(view);
        ASSERT_TRUE(decision) << decision.status.detail;
        return;
      }
    }
  }

 private:
  SlotId any(const Cache& cache) {
    const std::vector<Slot> slots = cache.slots();
    return slots[random_.below(slots.size())].id;
  }

  void change(Cache& cache) {
    const Config other = trusting(random_);
    config_.tau_merge = other.tau_merge;
    config_.tau = other.tau;
    config_.gate = other.gate;
    config_.correction_rate = other.correction_rate;
    config_.audit = other.audit;
    config_.audit_members = other.audit_members;
    config_.guards = other.guards;
    EXPECT_TRUE(cache.configure(config_, stream_.time));
  }

  void split(Cache& cache) {
    if (cache.size() == 0) return;
    const SlotId slot = any(cache);
    const Result<std::vector<Member>> members = cache.members(slot);
    if (!members || members->empty()) return;
    const Member member = (*members)[random_.below(members->size())];
    SplitOptions options;
    options.time = stream_.time;
    const std::string before = all_of(cache, slot);
    const SlotId next = cache.stats().next_id;
    const Result<SlotId> opened = cache.split(slot, member.seq, options);
    if (!opened) {
      EXPECT_EQ(all_of(cache, slot), before);
      return;
    }
    EXPECT_EQ(*opened, next);
    EXPECT_EQ(cache.slot(*opened)->count, 1U);
  }

  Stream stream_;
  Random random_;
  Config config_;
};

template <class Test>
void for_each_seed(Test test) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Calls calls(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + to_json(calls.config()));
    test(calls);
    if (::testing::Test::HasFailure()) return;
  }
}

// A judge that answers by the numbers that it is asked about.
Judgement judge(const Question& question) {
  return static_cast<Judgement>((question.slot * 7 + question.item.key.size()) % 3);
}

TEST(Corrections, AreReplayedFromTheirEventsToTheSameCache) {
  for_each_seed([](Calls& calls) {
    Cache cache = testing::make_cache(calls.config());
    if (calls.seed_of_judge() % 2 == 0) cache.on_uncertain(judge);
    Cache replayed = testing::make_cache(calls.config());  // has no judge
    const testing::EventLog log(cache);
    for (int i = 0; i < 120; ++i) calls.make(cache);
    log.replay(replayed);
    ASSERT_EQ(replayed.save(), cache.save());
    EXPECT_EQ(replayed.stats().state_hash, cache.stats().state_hash);
    for (const Bytes& bytes : log.events()) {
      Bytes again;
      encode(decode_event(bytes)->event(), again);
      ASSERT_EQ(again, bytes);
    }
  });
}

TEST(Corrections, GoOnAfterSavingAndLoadingAsIfNothingHadBeen) {
  for_each_seed([](Calls& calls) {
    Calls same = calls;
    Cache cache = testing::make_cache(calls.config());
    Cache loaded = testing::make_cache(calls.config());
    for (int i = 0; i < 120; ++i) {
      calls.make(cache);
      same.make(loaded);
      if (i % 10 != 0) continue;
      const Bytes file = loaded.save();
      loaded = testing::copy_of(loaded);
      ASSERT_EQ(loaded.save(), file) << "call " << i;
    }
    ASSERT_EQ(loaded.save(), cache.save());
  });
}

// Follows by the events alone what each slot has become.
class Fates {
 public:
  explicit Fates(Cache& cache) {
    cache.on_event([this](const Event& event) { see(event); });
  }

  void see(const Event& event) {
    for (const Fold& fold : event.decision.folded) into_[fold.slot] = fold.into;
    const Correction& correction = event.correction;
    const bool joins = event.kind == EventKind::must_merge ||
                       (event.kind == EventKind::review && correction.verdict == Judgement::same);
    if (event.kind == EventKind::must_merge) {
      std::erase_if(apart_, [&](const auto& pair) {
        return std::set{now(pair.first), now(pair.second)} ==
               std::set{correction.slot, correction.other};
      });
    }
    if (joins) into_[correction.other] = correction.slot;
    const bool parts =
        event.kind == EventKind::must_not_merge || event.kind == EventKind::split ||
        (event.kind == EventKind::review && correction.verdict == Judgement::different);
    if (parts) apart_.emplace_back(correction.slot, correction.other);
    if (event.decision.verdict == Judgement::different) {
      apart_.emplace_back(event.decision.slot, event.decision.nearest->slot);
    }
    for (const auto& [a, b] : apart_) {
      EXPECT_NE(now(a), now(b)) << "slots " << a << " and " << b << " by event " << event.seq;
    }
  }
  std::size_t pairs() const { return apart_.size(); }

 private:
  SlotId now(SlotId id) const {
    for (auto at = into_.find(id); at != into_.end(); at = into_.find(id)) id = at->second;
    return id;
  }

  std::map<SlotId, SlotId> into_;
  std::vector<std::pair<SlotId, SlotId>> apart_;
};

// [B1, B9, D5: a merge that was undone does not come back]
TEST(WhatMustStayApart, NeverSharesASlotThroughFoldingConsolidationAndReviews) {
  std::size_t pairs = 0;
  std::uint64_t folds = 0;
  for_each_seed([&](Calls& calls) {
    Cache cache = testing::make_cache(calls.config());
    cache.on_uncertain([](const Question& question) {
      return question.slot % 2 == 0 ? Judgement::different : Judgement::unknown;
    });
    const Fates fates(cache);
    for (int i = 0; i < 150; ++i) calls.make(cache);
    pairs += fates.pairs();
    folds += cache.stats().folds;
    cache.on_event({});
  });
  EXPECT_GT(pairs, 500U);
  EXPECT_GT(folds, 500U);
}

TEST(Counters, AddUpWithSplits) {
  for_each_seed([](Calls& calls) {
    Cache cache = testing::make_cache(calls.config());
    for (int i = 0; i < 100; ++i) calls.make(cache);
    const Stats stats = cache.stats();
    EXPECT_EQ(stats.items + stats.splits, stats.allocations + stats.merges);
    EXPECT_EQ(stats.next_id, stats.allocations + 1);
    EXPECT_EQ(stats.slots, stats.allocations - stats.evictions - stats.folds - stats.expirations -
                               stats.erasures);
    EXPECT_EQ(stats.slots, cache.size());
  });
}

// The members of a slot that leave it one after the other, in any order, and come back in any,
// leave no trace: the slot is what its policies make of its items.
TEST(Undoing, AnUndoneMergeChangesNothing) {
  std::uint64_t splits = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Config config = trusting(random);
    config.audit = Audit::full;
    config.audit_members = 1024;
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + to_json(config));
    Cache cache = testing::make_cache(config);
    cache.on_uncertain([](const Question&) { return Judgement::same; });
    Stream stream(seed);
    for (int i = 0; i < 40; ++i) {
      const OwnedItem item = stream.item(config);
      const std::string id = std::to_string(i);
      Item view = named(item, id, kTexts[random.below(kTexts.size())]);
      if (random.one_in(3)) view.scope = kScopes[random.below(kScopes.size())];
      ASSERT_TRUE(cache.observe(view));
    }
    for (const SlotId id : testing::ids_of(cache)) {
      const std::string before = all_of(cache, id);
      std::vector<SlotId> opened;
      const std::size_t most = cache.members(id)->size() - 1;
      for (std::size_t n = std::min<std::size_t>(most, 1 + random.below(4)); n > 0; --n) {
        const std::vector<Member> members = *cache.members(id);
        const std::uint64_t seq = members[random.below(members.size())].seq;
        const Result<SlotId> slot = cache.split(id, seq);
        ASSERT_TRUE(slot) << slot.status.detail;
        EXPECT_EQ(cache.members(*slot)->front().seq, seq);
        EXPECT_EQ(cache.slot(id)->count, members.size() - 1);
        opened.push_back(*slot);
        ++splits;
      }
      while (!opened.empty()) {
        const std::size_t i = random.below(opened.size());
        ASSERT_TRUE(cache.must_merge(id, opened[i]));
        opened.erase(opened.begin() + static_cast<std::ptrdiff_t>(i));
      }
      ASSERT_EQ(all_of(cache, id), before);
    }
    EXPECT_TRUE(cache.apart().empty());
  }
  EXPECT_GT(splits, 500U);
}

// What is left after a split is what a cache is that never saw the member.
TEST(Undoing, LeavesTheSlotThatTheOtherItemsMake) {
  for (const KeyUpdate keys : {KeyUpdate::frozen, KeyUpdate::centroid}) {
    for (const ValueUpdate values :
         {ValueUpdate::first, ValueUpdate::last, ValueUpdate::mean, ValueUpdate::ema}) {
      for (std::size_t leaver = 0; leaver < 6; ++leaver) {
        Config config = testing::plain_config(4, .9F);
        config.value_dimension = 2;
        config.key_update = keys;
        config.value_update = values;
        config.keep_sums = true;
        config.audit = Audit::full;
        Cache cache = testing::make_cache(config);
        Cache without = testing::make_cache(config);
        Random random(leaver);
        for (std::size_t i = 0; i < 6; ++i) {
          OwnedItem item;
          item.key = {4.0F, random.number(), random.number(), random.number()};
          item.value = random.vector(2);
          if (i % 2 == 0) item.payload = std::to_string(i);
          item.time = static_cast<std::int64_t>(i);
          cache.observe(item.view());
          if (i != leaver) without.observe(item.view());
        }
        ASSERT_EQ(cache.size(), 1U);
        ASSERT_TRUE(cache.split(1, leaver + 1));
        const Slot left = *cache.slot(1);
        const Slot expected = *without.slot(1);
        EXPECT_TRUE(std::ranges::equal(left.key, expected.key));
        EXPECT_TRUE(std::ranges::equal(left.value, expected.value));
        EXPECT_EQ(left.payload, expected.payload);
        EXPECT_EQ(left.usage, expected.usage);
        EXPECT_EQ(left.count, expected.count);
        EXPECT_EQ(left.first_time, expected.first_time);
        EXPECT_EQ(left.last_time, expected.last_time);
      }
    }
  }
}

TEST(Batches, DecideAsTheirItemsWouldOneByOne) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    Config config = trusting(random);
    add_budget(random, config);
    Cache one_by_one = testing::make_cache(config);
    Cache batched = testing::make_cache(config);
    one_by_one.on_uncertain(judge);
    batched.on_uncertain(judge);
    Stream stream(seed);
    std::vector<OwnedItem> items;
    for (int i = 0; i < 60; ++i) items.push_back(stream.item(config));
    std::vector<Item> views;
    std::vector<Decision> expected;
    for (const OwnedItem& item : items) {
      views.push_back(named(item, "an id"));
      expected.push_back(*one_by_one.observe(views.back()));
    }
    const BatchResult result = batched.observe_batch(views);
    ASSERT_TRUE(result);
    ASSERT_EQ(result.decisions, expected) << to_json(config);
    ASSERT_EQ(batched.save(), one_by_one.save());
  }
}

// A tau_merge that is the threshold, and names and texts that nothing keeps, are not there at all.
TEST(WithoutABand, EverythingIsAsBefore) {
  for (const bool gated : {false, true}) {
    Config plain = testing::plain_config(4, .3F);
    if (gated) {
      plain.tau.reset();
      plain.gate = Gate{10.0F, .3F};
    }
    Config equal = plain;
    equal.tau_merge = .3F;
    Cache a = testing::make_cache(plain);
    Cache b = testing::make_cache(equal);
    const testing::EventLog log_a(a);
    const testing::EventLog log_b(b);
    Stream stream(1);
    for (int i = 0; i < 100; ++i) {
      const OwnedItem item = stream.item(plain);
      EXPECT_EQ(*a.observe(item.view()), *b.observe(named(item, "an id", "a text")));
    }
    EXPECT_TRUE(a.configure(plain));
    EXPECT_TRUE(b.configure(equal));
    EXPECT_FALSE(b.config().tau_merge);
    EXPECT_EQ(a.stats().state_hash, b.stats().state_hash);
    EXPECT_EQ(a.save(), b.save());
    EXPECT_EQ(log_a.events(), log_b.events());
    for (const Bytes& event : log_a.events()) EXPECT_EQ(event[0], std::byte{1});
  }
}

Config banded(float tau_merge, float tau) {
  Config config = testing::plain_config(2, tau);
  config.tau_merge = tau_merge;
  return config;
}

// A unit vector at this novelty from {1, 0}.
Vector at(float novelty) {
  const float x = 1.0F - novelty;
  return {x, std::sqrt(1.0F - x * x)};
}

TEST(TheBand, IsAboveTauMergeAndUpToTau) {
  Cache cache = testing::make_cache(banded(.1F, .4F));
  const Decision first = *cache.observe(testing::item_of(at(0)));
  EXPECT_FALSE(first.uncertain);
  const Decision near = *cache.observe(testing::item_of(at(.05F)));
  EXPECT_EQ(near.action, Action::merge);
  EXPECT_FALSE(near.uncertain);
  const Decision between = *cache.observe(testing::item_of(at(.25F)));
  EXPECT_EQ(between.action, Action::allocate);
  EXPECT_TRUE(between.uncertain);
  EXPECT_FALSE(between.verdict);
  EXPECT_EQ(between.nearest->slot, 1U);
  const Decision far = *cache.observe(testing::item_of(at(1.5F)));
  EXPECT_EQ(far.action, Action::allocate);
  EXPECT_FALSE(far.uncertain);
  ASSERT_EQ(cache.reviews().size(), 1U);
  EXPECT_EQ(cache.reviews()[0].slot, between.slot);
  EXPECT_EQ(cache.reviews()[0].other, 1U);
  EXPECT_EQ(cache.reviews()[0].similarity, between.similarity);
  EXPECT_EQ(cache.stats().reviews, 1U);
}

// [B7, C11, B1: what is likely another thing is not the answer, but may be]
TEST(Lookup, SaysHitUncertainOrMissAsObserveWould) {
  std::set<Found> seen;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    Config config = trusting(random);
    Cache cache = testing::make_cache(config);
    Stream stream(seed);
    for (int i = 0; i < 60; ++i) {
      const OwnedItem owned = stream.item(config);
      LookupOptions options;
      options.time = owned.time;
      if (owned.exact_key) options.exact_key = *owned.exact_key;
      const Bytes before = cache.save();
      const Lookup found = *cache.lookup(owned.key, options);
      ASSERT_EQ(cache.save(), before);
      const Decision decision = *cache.observe(owned.view());
      seen.insert(found.found);
      EXPECT_EQ(found.found == Found::hit, decision.action == Action::merge);
      EXPECT_EQ(found.found == Found::uncertain, decision.uncertain);
      EXPECT_EQ(found.novelty, decision.novelty);
      EXPECT_EQ(found.threshold, decision.threshold);
      if (found.found == Found::hit) {
        EXPECT_EQ(found.slot->slot, decision.slot);
      } else {
        EXPECT_EQ(found.slot, decision.nearest);
      }
      if (found.other) {
        EXPECT_NE(found.other->slot, found.slot->slot);
        if (found.reasons[0] != Reason::exact_key) {
          EXPECT_LE(found.other->similarity, found.slot->similarity);
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST(Lookup, GivesItsReasons) {
  Config config = banded(.1F, .4F);
  config.ttl_ms = 1000;
  Cache cache = testing::make_cache(config);
  const auto look = [&](float novelty, std::int64_t time) {
    LookupOptions options;
    options.time = time;
    return *cache.lookup(at(novelty), options);
  };
  EXPECT_EQ(look(0, 0).found, Found::miss);
  EXPECT_EQ(look(0, 0).reasons, std::vector{Reason::empty});
  EXPECT_EQ(look(0, 0).novelty, 1.0F);
  OwnedItem item;
  item.key = at(0);
  item.exact_key = "name";
  cache.observe(item.view());
  EXPECT_EQ(look(.05F, 0).reasons, std::vector{Reason::near});
  EXPECT_EQ(look(.3F, 0).reasons, std::vector{Reason::between});
  EXPECT_EQ(look(.6F, 0).reasons, std::vector{Reason::far});
  EXPECT_EQ(look(.6F, 0).slot->slot, 1U);
  EXPECT_FALSE(look(.6F, 0).other);
  EXPECT_EQ(look(0, 1000).reasons, std::vector{Reason::empty});  // expired by then
  LookupOptions options;
  options.exact_key = "name";
  EXPECT_EQ(cache.lookup(at(1.5F), options)->reasons, std::vector{Reason::exact_key});
  EXPECT_EQ(cache.lookup(at(1.5F), options)->found, Found::hit);
  cache.observe(testing::item_of(at(.6F)));
  EXPECT_EQ(look(.2F, 0).reasons, (std::vector{Reason::between, Reason::rival}));
  EXPECT_EQ(look(.2F, 0).tau_merge, .1F);
  EXPECT_EQ(look(.2F, 0).threshold, .4F);

  EXPECT_EQ(cache.lookup(Vector{0, 0}).status.code, Error::zero_norm);
  EXPECT_EQ(cache.lookup(Vector{1}).status.code, Error::bad_shape);
  LookupOptions late;
  late.time = kMaxInteger + 1;
  EXPECT_EQ(cache.lookup(at(0), late).status.pointer, "/time");
  LookupOptions other;
  other.encoder = "another";
  EXPECT_EQ(cache.lookup(at(0), other).status.code, Error::encoder_mismatch);
}

TEST(AJudge, IsAskedOnceAndItsAnswerIsPartOfTheEvent) {
  for (const Judgement verdict : {Judgement::same, Judgement::different, Judgement::unknown}) {
    Config config = banded(.1F, .4F);
    config.audit = Audit::full;
    Cache cache = testing::make_cache(config);
    Cache replayed = testing::make_cache(config);
    replayed.on_uncertain([](const Question&) {
      ADD_FAILURE() << "a replay asked";
      return Judgement::same;
    });
    int asked = 0;
    cache.on_uncertain([&](const Question& question) {
      ++asked;
      EXPECT_EQ(question.slot, 1U);
      EXPECT_EQ(question.item.text, "is it?");
      EXPECT_EQ(question.tau_merge, .1F);
      EXPECT_EQ(question.threshold, .4F);
      EXPECT_EQ(cache.slot(question.slot)->count, 1U);  // nothing has changed
      return verdict;
    });
    const testing::EventLog log(cache);
    cache.observe(testing::item_of(at(0)));
    OwnedItem item;
    item.key = at(.2F);
    const Decision decision = *cache.observe(named(item, "b", "is it?"));
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(decision.uncertain);
    EXPECT_EQ(decision.verdict, verdict);
    EXPECT_EQ(decision.action, verdict == Judgement::same ? Action::merge : Action::allocate);
    EXPECT_EQ(cache.reviews().size(), verdict == Judgement::unknown ? 1U : 0U);
    EXPECT_EQ(cache.apart().size(), verdict == Judgement::different ? 1U : 0U);
    log.replay(replayed);
    EXPECT_EQ(replayed.save(), cache.save());
  }
}

TEST(AReview, MergesPartsOrLetsGo) {
  for (const Judgement verdict : {Judgement::same, Judgement::different, Judgement::unknown}) {
    Config config = banded(.1F, .4F);
    config.audit = Audit::full;
    Cache cache = testing::make_cache(config);
    cache.observe(testing::item_of(at(0)));
    cache.observe(testing::item_of(at(.2F)));
    EXPECT_EQ(cache.review(1, 3, verdict).code, Error::not_found);
    EXPECT_EQ(cache.review(1, 1, verdict).code, Error::bad_request);
    ASSERT_TRUE(cache.review(2, 1, verdict));  // in any order
    EXPECT_TRUE(cache.reviews().empty());
    EXPECT_EQ(cache.size(), verdict == Judgement::same ? 1U : 2U);
    EXPECT_EQ(cache.apart().size(), verdict == Judgement::different ? 1U : 0U);
    if (verdict == Judgement::same) {
      EXPECT_EQ(cache.slot(1)->count, 2U);
      EXPECT_EQ(cache.members(1)->size(), 2U);
    }
    EXPECT_FALSE(cache.review(1, 2, verdict));
  }
}

TEST(Reviews, FollowTheirSlotsAndLeaveWithThem) {
  Config config = banded(.05F, .4F);
  config.keep_sums = true;
  Cache cache = testing::make_cache(config);
  cache.observe(testing::item_of(at(0)));
  cache.observe(testing::item_of(at(.2F)));
  ASSERT_EQ(cache.reviews().size(), 1U);
  cache.observe(testing::item_of(at(1.0F)));
  ASSERT_TRUE(cache.must_merge(3, 2));
  ASSERT_EQ(cache.reviews().size(), 1U);
  EXPECT_EQ(cache.reviews()[0].slot, 3U);
  EXPECT_EQ(cache.reviews()[0].other, 1U);
  ASSERT_TRUE(cache.must_not_merge(1, 3));  // an answer too
  EXPECT_TRUE(cache.reviews().empty());
  ASSERT_TRUE(cache.erase(1));
  EXPECT_TRUE(cache.apart().empty());
}

// [C9: the kept record lists all that it stands for; D9: and how many these are]
TEST(Members, AreAllThatASlotStandsFor) {
  for (const Audit audit : {Audit::ids, Audit::full}) {
    Config config = testing::plain_config(2, .1F);
    config.audit = audit;
    Cache cache = testing::make_cache(config);
    for (int i = 0; i < 10; ++i) {
      OwnedItem item;
      item.key = {1, 0};
      item.time = i;
      item.payload = std::to_string(i);
      cache.observe(named(item, "id " + std::to_string(i), "Adhesion"));
    }
    const std::vector<Member> members = *cache.members(1);
    ASSERT_EQ(members.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(members[i].seq, i + 1);
      EXPECT_EQ(members[i].id, "id " + std::to_string(i));
      EXPECT_EQ(members[i].time, static_cast<std::int64_t>(i));
      EXPECT_EQ(members[i].opened, i == 0);
      EXPECT_EQ(members[i].similarity, i == 0 ? 0.0F : 1.0F);
      EXPECT_EQ(members[i].threshold, .1F);
      EXPECT_EQ(members[i].kept, audit == Audit::full);
      EXPECT_EQ(members[i].text, audit == Audit::full ? "Adhesion" : "");
      EXPECT_EQ(members[i].payload, audit == Audit::full ? std::to_string(i) : "");
    }
  }
}

TEST(Members, OfALongListAreTheFirstAndTheLatest) {
  Config config = testing::plain_config(2, .1F);
  config.audit = Audit::full;
  config.audit_members = 16;
  Cache cache = testing::make_cache(config);
  std::uint64_t before = 0;
  for (int i = 0; i < 500; ++i) {
    cache.observe(testing::item_of(Vector{1, 0}));
    if (i == 100) before = cache.stats().bytes;
  }
  const std::vector<Member> members = *cache.members(1);
  EXPECT_LE(members.size(), 16U);
  EXPECT_GE(members.size(), 14U);
  EXPECT_EQ(members.front().seq, 1U);
  EXPECT_EQ(members.back().seq, 500U);
  EXPECT_NEAR(static_cast<double>(cache.stats().bytes), static_cast<double>(before), 1000.0);
  const Status status = cache.split(1, 500).status;
  EXPECT_EQ(status.code, Error::bad_config);
  EXPECT_EQ(status.pointer, "/audit_members");
}

// [D5, B1: a wrong merge is found, explained, undone and not repeated]
TEST(ASplit, OpensASlotThatIsNotMergedAgain) {
  Config config = testing::plain_config(2, .4F);
  config.audit = Audit::full;
  config.keep_sums = true;
  config.budget = BudgetKind::fixed;
  config.m0 = 2;
  config.shrink = Shrink::merge;
  Cache cache = testing::make_cache(config);
  OwnedItem on;
  on.key = at(0);
  on.payload = "on";
  OwnedItem off;
  off.key = at(.1F);
  off.payload = "off";
  cache.observe(named(on, "on"));
  cache.observe(named(off, "off"));
  ASSERT_EQ(cache.size(), 1U);
  ASSERT_EQ(cache.slot(1)->payload, "off");
  const SlotId opened = *cache.split(1, cache.members(1)->back().seq);
  EXPECT_EQ(cache.slot(1)->payload, "on");
  EXPECT_EQ(cache.slot(opened)->payload, "off");
  EXPECT_EQ(cache.observe(off.view())->slot, opened);
  EXPECT_EQ(cache.observe(on.view())->slot, 1U);
  EXPECT_TRUE(cache.consolidate(.5F)->empty());
  // A third slot makes one too many: the two may not become one.
  const Decision third = *cache.observe(testing::item_of(at(1.5F)));
  EXPECT_TRUE(third.evicted.size() + third.folded.size() == 1);
  EXPECT_EQ(cache.size(), 2U);
  for (const Fold& fold : third.folded) EXPECT_EQ(fold.into, third.slot);
}

// [C3, C11: two names of one thing are joined when somebody says so]
TEST(MustMerge, FoldsWhateverTheDistance) {
  for (const Audit audit : {Audit::none, Audit::ids, Audit::full}) {
    Config config = testing::plain_config(2, .1F);
    config.audit = audit;
    Cache cache = testing::make_cache(config);
    OwnedItem a;
    a.key = {1, 0};
    a.exact_key = "a";
    OwnedItem b;
    b.key = {0, 1};
    b.exact_key = "b";
    cache.observe(a.view());
    cache.observe(b.view());
    ASSERT_TRUE(cache.must_merge(2, 1));
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.observe(a.view())->slot, 2U);  // by its exact key
    EXPECT_EQ(cache.slot(2)->count, 3U);
    EXPECT_EQ(cache.must_merge(2, 2).code, Error::bad_request);
    EXPECT_EQ(cache.must_merge(2, 1).code, Error::not_found);
    EXPECT_EQ(cache.must_not_merge(7, 2).code, Error::not_found);
  }
}

Cache guarding(GuardSet guards) {
  Config config = testing::plain_config(2, .2F);
  config.guards = guards;
  config.audit = Audit::full;
  config.keep_sums = true;
  return testing::make_cache(config);
}

Decision say(Cache& cache, std::string_view text, std::string_view scope = {},
             const Vector& key = {1, 0}) {
  Item item = testing::item_of(key);
  item.text = text;
  item.scope = scope;
  return *cache.observe(item);
}

Lookup ask(const Cache& cache, std::string_view text, std::string_view scope = {}) {
  LookupOptions options;
  options.text = text;
  options.scope = scope;
  return *cache.lookup(Vector{1, 0}, options);
}

// Vectors that cannot tell two texts apart: here they are the same. [B1, B3, B9, D3]
TEST(Guards, StopMergesOfTextsThatSayOtherThings) {
  const std::pair<const char*, const char*> others[] = {
      {"How do I turn on dark mode?", "How do I turn off dark mode?"},
      {"delete this branch", "delete this repo"},
      {"move it from Rome to Oslo", "move it from Oslo to Rome"},
      {"Tarea 5", "Tarea 6"},
      {"the service has started", "the service has not started"},
      {"run it with --force", "run it with --dry-run"}};
  for (const auto& [a, b] : others) {
    SCOPED_TRACE(std::string(a) + " / " + b);
    Cache unguarded = guarding({});
    say(unguarded, a);
    EXPECT_EQ(say(unguarded, b).action, Action::merge);
    Cache cache = guarding(GuardSet::all());
    say(cache, a);
    EXPECT_EQ(cache.slot(1)->text, a);
    const Lookup lookup = ask(cache, b);
    EXPECT_EQ(lookup.found, Found::miss);
    EXPECT_FALSE(lookup.guarded.empty());
    EXPECT_EQ(lookup.reasons, (std::vector{Reason::guarded}));
    const Decision decision = say(cache, b);
    EXPECT_EQ(decision.action, Action::allocate);
    EXPECT_EQ(decision.guarded, lookup.guarded);
    EXPECT_EQ(decision.nearest->slot, 1U);
    // The next nearest is tried: each finds its own again, and that is told.
    EXPECT_EQ(say(cache, b).slot, 2U);
    EXPECT_EQ(say(cache, a).slot, 1U);
    EXPECT_EQ(ask(cache, b).found, Found::hit);
    EXPECT_FALSE(cache.members(2)->back().guarded.empty());
    // Nor does anything else make them one.
    EXPECT_TRUE(cache.consolidate(.5F)->empty());
    EXPECT_EQ(say(cache, std::string("please ") + a).slot, 1U);
  }
}

TEST(Guards, LeaveVectorsWithoutTextAlone) {
  Cache cache = guarding(GuardSet::all());
  say(cache, "");
  EXPECT_EQ(say(cache, "open port 22").slot, 1U);  // whose text it keeps now
  EXPECT_EQ(say(cache, "").slot, 1U);
  EXPECT_EQ(say(cache, "open port 80").slot, 2U);
}

// More slots than are tried of what is guarded, and of what is of another scope.
TEST(Guards, TryTheNextNearestSlots) {
  Cache cache = guarding(GuardSet::all());
  for (int i = 0; i < 7; ++i) say(cache, "open port " + std::to_string(i));
  ASSERT_EQ(cache.size(), 7U);
  EXPECT_EQ(say(cache, "open port 6").slot, 7U);
  for (int i = 7; i < 12; ++i) say(cache, "open port " + std::to_string(i));
  EXPECT_EQ(say(cache, "open port 11").action, Action::allocate);  // its slot is the twelfth
  Cache scopes = guarding(GuardSet::all());
  for (int i = 0; i < 100; ++i) say(scopes, "same words", std::to_string(i));
  ASSERT_EQ(scopes.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(say(scopes, "same words", std::to_string(i)).slot, static_cast<SlotId>(i + 1));
  }
}

// [B13: the same text of another tenant is another thing]
TEST(Scopes, NeverShareASlot) {
  Cache cache = guarding(GuardSet::all());
  OwnedItem owned;
  owned.key = {1, 0};
  owned.exact_key = "the key";
  Item item = owned.view();
  item.scope = "test1";
  EXPECT_EQ(cache.observe(item)->slot, 1U);
  item.scope = "test2";
  LookupOptions options;
  options.exact_key = owned.exact_key;
  options.scope = "test2";
  EXPECT_EQ(cache.lookup(owned.key, options)->found, Found::miss);
  const Decision decision = *cache.observe(item);
  EXPECT_EQ(decision.slot, 2U);
  EXPECT_TRUE(decision.guarded.has(Guard::scope));
  EXPECT_TRUE(cache.slot(2)->exact_keys.empty());  // it is that of the first
  EXPECT_EQ(cache.observe(item)->slot, 2U);
  item.scope = "test1";
  EXPECT_EQ(cache.observe(item)->slot, 1U);
  item.scope = {};
  EXPECT_EQ(cache.observe(item)->slot, 3U);
  EXPECT_TRUE(cache.consolidate(.5F)->empty());
  EXPECT_EQ(testing::copy_of(cache).save(), cache.save());
}

// With ids alone a member leaves only where the slot does not need it.
TEST(ASplitByIds, IsAllowedOnlyWhereTheSlotStaysRight) {
  const auto refusal = [](Config config, std::size_t leaver, bool payloads, const char* words) {
    config.dimension = 2;
    config.tau = .9F;
    config.audit = Audit::ids;
    Cache cache = testing::make_cache(config);
    std::vector<OwnedItem> items;
    for (std::size_t i = 0; i < 4; ++i) {
      OwnedItem& item = items.emplace_back();
      item.key = at(.1F * static_cast<float>(i));
      item.value.assign(config.value_dimension, static_cast<float>(i));
      if (payloads) item.payload = std::to_string(i);
      item.time = static_cast<std::int64_t>(i);
      cache.observe(item.view());
    }
    const Bytes before = cache.save();
    const Item item = items[leaver].view();
    SplitOptions options;
    options.item = &item;
    const Result<SlotId> opened = cache.split(1, leaver + 1, options);
    if (words != nullptr) {
      EXPECT_EQ(opened.status.code, Error::bad_config);
      EXPECT_NE(opened.status.detail.find(words), std::string::npos) << opened.status.detail;
      EXPECT_EQ(cache.save(), before);
      return;
    }
    ASSERT_TRUE(opened) << opened.status.detail;
    EXPECT_EQ(cache.slot(1)->count, 3U);
    EXPECT_EQ(cache.slot(1)->usage, 3.0);
    EXPECT_EQ(cache.slot(*opened)->count, 1U);
    EXPECT_EQ(cache.slot(*opened)->payload, items[leaver].payload);
    EXPECT_EQ(cache.observe(items[leaver].view())->slot, *opened);
  };
  Config config;
  refusal(config, 1, false, nullptr);
  refusal(config, 3, false, nullptr);  // without values and payloads
  refusal(config, 1, true, nullptr);
  refusal(config, 3, true, "payload");
  refusal(config, 0, false, "first member");
  config.value_dimension = 1;
  refusal(config, 1, false, nullptr);
  refusal(config, 3, false, "last member");
  config.value_update = ValueUpdate::first;
  refusal(config, 3, true, nullptr);
  config.value_update = ValueUpdate::mean;
  refusal(config, 1, false, "first or last");
  config.value_update = ValueUpdate::ema;
  refusal(config, 1, false, "first or last");
  config = {};
  config.keep_sums = true;
  refusal(config, 1, false, "keep_sums");
  config = {};
  config.key_update = KeyUpdate::centroid;
  refusal(config, 1, false, "keep_sums");
}

TEST(ASplit, RefusesWhatItCannotDo) {
  Config config = testing::plain_config(2, .4F);
  Cache none = testing::make_cache(config);
  none.observe(testing::item_of(at(0)));
  EXPECT_EQ(none.split(1, 1).status.code, Error::bad_config);
  EXPECT_EQ(none.split(1, 1).status.pointer, "/audit");
  EXPECT_EQ(none.members(1).status.code, Error::bad_config);
  EXPECT_EQ(none.members(2).status.code, Error::not_found);

  config.audit = Audit::ids;
  config.max_slots = 1;
  Cache cache = testing::make_cache(config);
  cache.observe(testing::item_of(at(0)));
  const auto refused = [&](SlotId slot, std::uint64_t member, const Item* item) {
    const Bytes before = cache.save();
    SplitOptions options;
    options.item = item;
    const Status status = cache.split(slot, member, options).status;
    EXPECT_FALSE(status);
    EXPECT_EQ(cache.save(), before);
    return status;
  };
  EXPECT_EQ(refused(2, 1, nullptr).pointer, "/slot");
  EXPECT_EQ(refused(1, 5, nullptr).pointer, "/member");
  EXPECT_EQ(refused(1, 1, nullptr).code, Error::bad_request);
  cache.observe(testing::item_of(at(.1F)));
  EXPECT_EQ(refused(1, 2, nullptr).code, Error::full);
  config.max_slots.reset();
  ASSERT_TRUE(cache.configure(config));
  EXPECT_EQ(refused(1, 2, nullptr).code, Error::bad_config);
  const Vector another = at(.2F);
  const Item wrong = testing::item_of(another);
  EXPECT_EQ(refused(1, 2, &wrong).pointer, "/item/key");
  const Vector zero = {0, 0};
  const Item nothing = testing::item_of(zero);
  EXPECT_EQ(refused(1, 2, &nothing).pointer, "/item/key");
  const Vector right = at(.1F);
  const Item item = testing::item_of(right);
  SplitOptions late;
  late.item = &item;
  late.time = kMaxInteger + 1;
  EXPECT_EQ(cache.split(1, 2, late).status.pointer, "/time");
  late.time = 0;
  EXPECT_TRUE(cache.split(1, 2, late));

  config.audit = Audit::full;
  Cache full = testing::make_cache(config);
  full.observe(testing::item_of(at(0)));
  full.observe(testing::item_of(at(.1F)));
  EXPECT_EQ(full.split(1, 2, late).status.pointer, "/item");
}

TEST(Settings, OfTrustHaveRanges) {
  const auto pointer = [](auto change) {
    Config config = testing::plain_config(2, .4F);
    change(config);
    const Status status = check(config);
    EXPECT_EQ(status.code, Error::bad_config);
    return status.pointer;
  };
  EXPECT_EQ(pointer([](Config& c) { c.tau_merge = .5F; }), "/tau_merge");
  EXPECT_EQ(pointer([](Config& c) { c.tau_merge = -.1F; }), "/tau_merge");
  EXPECT_EQ(pointer([](Config& c) { c.tau_merge = std::nanf(""); }), "/tau_merge");
  EXPECT_EQ(pointer([](Config& c) { c.audit = static_cast<Audit>(3); }), "/audit");
  EXPECT_EQ(pointer([](Config& c) { c.audit_members = 1; }), "/audit_members");
  EXPECT_EQ(pointer([](Config& c) { c.audit_members = (1U << 20U) + 1; }), "/audit_members");

  Config config = testing::plain_config(2, .4F);
  EXPECT_EQ(to_json(config).find("audit"), std::string::npos);
  config.tau_merge = .125F;
  config.audit = Audit::full;
  config.audit_members = 7;
  config.guards = GuardSet::all();
  EXPECT_EQ(*config_from_json(to_json(config)), config);
  EXPECT_EQ(config_from_json(R"({"dimension":2,"audit":"some"})").status.pointer, "/audit");
  for (const char* guards : {"\"number\"", "[\"numbers\"]", "[1]", "{}", "[[]]"}) {
    const std::string json = std::string(R"({"dimension":2,"guards":)") + guards + "}";
    EXPECT_EQ(config_from_json(json).status.pointer, "/guards") << json;
  }
  EXPECT_EQ(config_from_json(R"({"dimension":2,"tau_merge":"x"})").status.pointer, "/tau_merge");

  Cache cache = testing::make_cache(config);
  OwnedItem item;
  item.key = {1, 0};
  const std::string id(1025, 'x');
  EXPECT_EQ(cache.observe(named(item, id)).status.pointer, "/id");
}

// What no cache would have said of itself is refused, and changes nothing.
// A gate at .5 that learns, a slot at novelty 0, and one at each of the novelties given.
Cache learning(std::initializer_list<float> novelties, std::optional<float> rate = .1F) {
  Config config = banded(0.0F, .5F);
  config.gate = Gate{10.0F, *std::exchange(config.tau, {})};
  config.correction_rate = rate;
  config.audit = Audit::full;
  Cache cache = testing::make_cache(config);
  cache.observe(testing::item_of(at(0.0F)));
  for (const float novelty : novelties) cache.observe(testing::item_of(at(novelty)));
  return cache;
}

Gate gate_of(const Cache& cache) {
  return *cache.config().gate;
}

// One step of OnlineGate from the gate at .5; a cache has float32.
Gate taught(float novelty, Verdict verdict) {
  OnlineGate gate = *OnlineGate::create({10.0F, .5F}, {static_cast<double>(.1F)});
  EXPECT_TRUE(gate.correct({novelty, verdict}));
  return gate.gate();
}

TEST(ALearningGate, TakesOneOnlineStepWithEachCorrection) {
  const float novelty = 1.0F - learning({.3F}).reviews()[0].similarity;
  {
    Cache cache = learning({.3F});
    ASSERT_TRUE(cache.must_not_merge(1, 2));
    EXPECT_EQ(gate_of(cache), taught(novelty, Verdict::different));
    EXPECT_LT(gate_of(cache).b, .5F);  // so near, and not the same: the gate is stricter now
    const Gate once = gate_of(cache);
    ASSERT_TRUE(cache.must_not_merge(2, 1));  // is known
    EXPECT_EQ(gate_of(cache), once);
  }
  {
    Cache cache = learning({.9F});
    ASSERT_TRUE(cache.must_merge(1, 2));
    EXPECT_EQ(gate_of(cache), taught(*novelty_between(at(0.0F), at(.9F)), Verdict::same));
    EXPECT_GT(gate_of(cache).b, .5F);
  }
  for (const Judgement verdict : {Judgement::same, Judgement::different, Judgement::unknown}) {
    Cache cache = learning({.3F});
    ASSERT_TRUE(cache.review(1, 2, verdict));
    const bool same = verdict == Judgement::same;
    EXPECT_EQ(gate_of(cache), verdict == Judgement::unknown
                                  ? (Gate{10.0F, .5F})
                                  : taught(novelty, same ? Verdict::same : Verdict::different));
  }
  for (const Judgement verdict : {Judgement::same, Judgement::different, Judgement::unknown}) {
    Cache cache = learning({});
    cache.on_uncertain([&](const Question&) { return verdict; });
    const Decision decision = *cache.observe(testing::item_of(at(.3F)));
    EXPECT_EQ(decision.threshold, .5F);  // as it was when it decided
    const bool same = verdict == Judgement::same;
    EXPECT_EQ(gate_of(cache), verdict == Judgement::unknown
                                  ? (Gate{10.0F, .5F})
                                  : taught(novelty, same ? Verdict::same : Verdict::different));
  }
}

TEST(ALearningGate, LearnsFromASplitAtTheNoveltyOfTheTwoSlots) {
  Cache cache = learning({});
  cache.on_uncertain([](const Question&) { return Judgement::same; });
  ASSERT_TRUE(cache.configure(learning({}).config()));
  const Decision merged = *cache.observe(testing::item_of(at(.3F)));
  ASSERT_EQ(merged.action, Action::merge);
  ASSERT_TRUE(cache.configure(learning({}).config()));
  // The first member leaves: what is left has the other's key, and is as far from it.
  ASSERT_TRUE(cache.split(1, 1));
  EXPECT_EQ(gate_of(cache), taught(merged.novelty, Verdict::different));
}

// The wrong merge, corrected often enough, is one no more; and what is nearer still merges.
TEST(ALearningGate, ComesToWhereItsCorrectionsPutIt) {
  Cache cache = learning({}, .02F);
  Config config = cache.config();
  config.tau_merge.reset();
  ASSERT_TRUE(cache.configure(config));
  int wrong = 0;
  for (int i = 0; i < 60; ++i) {
    const Decision decision = *cache.observe(testing::item_of(at(.35F)));
    if (decision.action == Action::allocate) break;
    ++wrong;
    const SlotId opened = *cache.split(1, cache.members(1)->back().seq);
    ASSERT_TRUE(cache.erase(opened));
  }
  EXPECT_GT(wrong, 2);
  EXPECT_LT(wrong, 30);
  EXPECT_LT(threshold(cache.config()), .35F);
  EXPECT_EQ(cache.observe(testing::item_of(at(.2F)))->action, Action::merge);
}

TEST(ALearningGate, StaysAboveTheBandAndComesBack) {
  Cache cache = learning({.3F, .45F}, 1.0F);
  Config config = cache.config();
  config.tau_merge = .4F;
  ASSERT_TRUE(cache.configure(config));
  ASSERT_TRUE(cache.must_not_merge(1, 2));
  EXPECT_EQ(gate_of(cache).b, .4F);
  EXPECT_EQ(cache.config().tau_merge, .4F);
  Cache loaded = testing::copy_of(cache);
  for (Cache* one : {&cache, &loaded}) {
    ASSERT_TRUE(one->must_merge(1, 3));
    EXPECT_GT(gate_of(*one).b, .4F);
    EXPECT_EQ(one->config().tau_merge, .4F);
  }
  EXPECT_EQ(loaded.save(), cache.save());
}

TEST(ALearningGate, IsWhatItsSettingSays) {
  const auto refused = [](auto change) {
    Config config = learning({}).config();
    change(config);
    return check(config).pointer;
  };
  for (const float rate : {0.0F, -1.0F, 1.5F, std::nanf("")}) {
    EXPECT_EQ(refused([&](Config& config) { config.correction_rate = rate; }), "/correction_rate");
  }
  EXPECT_EQ(refused([](Config& config) { config.gate.reset(); }), "/correction_rate");
  EXPECT_EQ(refused([](Config& config) { config.gate->a = .5F; }), "/gate/a");
  EXPECT_EQ(refused([](Config& config) { config.gate->a = 2000.0F; }), "/gate/a");
  EXPECT_EQ(config_from_json(to_json(learning({}).config()))->correction_rate, .1F);
  EXPECT_EQ(config_from_json(R"({"dimension":2,"correction_rate":0.1})").status.pointer,
            "/correction_rate");
  // Without it nothing is learned, and nothing said of it.
  Cache fixed = learning({.3F, .4F}, {});
  ASSERT_TRUE(fixed.must_not_merge(1, 2));
  ASSERT_TRUE(fixed.must_merge(1, 3));
  EXPECT_EQ(gate_of(fixed), (Gate{10.0F, .5F}));
  EXPECT_EQ(to_json(fixed.config()).find("correction"), std::string::npos);
}

TEST(ALearningGate, RefusesAnEventWithoutANovelty) {
  Cache cache = learning({});
  const testing::EventLog log(cache);
  cache.on_uncertain([](const Question&) { return Judgement::same; });
  ASSERT_TRUE(cache.observe(testing::item_of(at(.3F))));
  const Result<DecodedEvent> decoded = decode_event(log.events().back());
  for (const float novelty : {-.5F, 2.5F, std::nanf("")}) {
    Cache other = learning({});
    Event event = decoded->event();
    event.decision.novelty = novelty;
    const Bytes before = other.save();
    EXPECT_EQ(other.apply(event).pointer, "/decision");
    EXPECT_EQ(other.save(), before);
  }
}

TEST(Events, OfAnotherHistoryAreRefused) {
  Config config = banded(.1F, .4F);
  config.audit = Audit::full;
  Cache cache = testing::make_cache(config);
  std::vector<Bytes> observed;
  cache.on_event([&](const Event& event) { encode(event, observed.emplace_back()); });
  cache.observe(testing::item_of(at(0)));
  cache.observe(testing::item_of(at(.05F)));
  cache.observe(testing::item_of(at(.2F)));
  cache.on_event({});
  const Bytes before = cache.save();
  const auto refused = [&](auto change) {
    const Result<DecodedEvent> decoded = decode_event(observed.back());  // uncertain
    Event event = decoded->event();
    event.seq = cache.stats().seq + 1;
    event.decision.slot = cache.stats().next_id;
    change(event);
    const Status status = cache.apply(event);
    EXPECT_FALSE(status);
    EXPECT_EQ(cache.save(), before);
    return status.code;
  };
  const auto conflict = [&](EventKind kind, Correction correction) {
    EXPECT_EQ(refused([&](Event& e) {
                e.kind = kind;
                e.item = {};
                e.correction = correction;
              }),
              Error::conflict);
  };
  for (const float odd : {1.5F, -1.5F, std::nanf("")}) {
    EXPECT_EQ(refused([&](Event& e) { e.decision.similarity = odd; }), Error::bad_request);
    EXPECT_EQ(refused([&](Event& e) { e.decision.gate = odd; }), Error::bad_request);
    EXPECT_EQ(refused([&](Event& e) { e.decision.threshold = 2 * odd; }), Error::bad_request);
    EXPECT_EQ(refused([&](Event& e) { e.decision.nearest->similarity = odd; }), Error::bad_request);
  }
  EXPECT_EQ(refused([](Event& e) { e.decision.nearest->slot = 7; }), Error::conflict);
  EXPECT_EQ(refused([](Event& e) { e.decision.verdict = Judgement::same; }), Error::bad_request);
  EXPECT_EQ(refused([](Event& e) {
              e.decision.uncertain = false;
              e.decision.verdict = Judgement::different;
            }),
            Error::bad_request);
  EXPECT_EQ(refused([](Event& e) { e.decision.verdict = static_cast<Judgement>(3); }),
            Error::bad_request);
  const SlotId next = cache.stats().next_id;
  conflict(EventKind::split, {1, next + 1, 2, {}});
  conflict(EventKind::split, {1, next, 3, {}});
  conflict(EventKind::split, {2, next, 3, {}});  // it is alone
  conflict(EventKind::split, {9, next, 1, {}});
  conflict(EventKind::must_merge, {1, 1, 0, {}});
  conflict(EventKind::must_merge, {1, 9, 0, {}});
  conflict(EventKind::must_not_merge, {9, 1, 0, {}});
  conflict(EventKind::review, {1, 9, 0, Judgement::same});
  EXPECT_EQ(refused([](Event& e) {
              e.kind = EventKind::review;
              e.correction = {1, 2, 0, static_cast<Judgement>(3)};
            }),
            Error::bad_request);
}

// A cache that uses every part of the ledger.
Cache full_ledger() {
  Config config = banded(.05F, .5F);
  config.audit = Audit::full;
  config.keep_sums = true;
  config.value_dimension = 2;
  config.guards = GuardSet::all();
  Cache cache = testing::make_cache(config);
  Stream stream(5);
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(cache.observe(named(stream.item(config), "id " + std::to_string(i), "text")));
  }
  cache.consolidate(.97F);
  for (const Slot& slot : cache.slots()) {
    if (slot.count < 2) continue;
    EXPECT_TRUE(cache.split(slot.id, cache.members(slot.id)->back().seq));
    break;
  }
  EXPECT_FALSE(cache.reviews().empty());
  EXPECT_FALSE(cache.apart().empty());
  return cache;
}

TEST(AFileOfALedger, IsOfFormatTwoAndOthersAreNot) {
  EXPECT_EQ(testing::MemoryFile(full_ledger().save()).metadata["dpcache.format_version"], "2");
  EXPECT_EQ(testing::MemoryFile(testing::full_cache().save()).metadata["dpcache.format_version"],
            "1");
}

TEST(AFileOfALedger, IsRefusedWhateverInItIsWrong) {
  const Bytes file = full_ledger().save();
  ASSERT_TRUE(Cache::load(file));
  testing::MemoryFile whole(file);
  std::size_t parts = 0;
  for (const auto& tensor : whole.tensors) {
    const std::string& name = tensor.name;
    const bool ours = name.starts_with("member_") || name.starts_with("text") ||
                      name.starts_with("scope") || name.starts_with("apart_") ||
                      name.starts_with("review_") || name == "centered_slots";
    if (!ours) continue;
    ++parts;
    SCOPED_TRACE(name);
    if (name != "apart_slots") {  // stands alone: without it nothing is apart
      testing::MemoryFile without(file);
      std::erase_if(without.tensors, [&](const auto& one) { return one.name == name; });
      EXPECT_EQ(Cache::load(without.bytes()).status.code, Error::bad_snapshot);
    }
    testing::MemoryFile other(file);
    for (auto& one : other.tensors) {
      if (one.name == name) std::fill(one.bytes.begin(), one.bytes.end(), std::byte{0xFF});
    }
    const bool text = name == "member_ids" || name == "member_texts" || name == "member_payloads" ||
                      name == "member_exact_keys" || name == "member_scopes" || name == "texts" ||
                      name == "scopes" || name == "member_times";
    if (!text) {
      EXPECT_EQ(Cache::load(other.bytes()).status.code, Error::bad_snapshot);
    }
  }
  EXPECT_GT(parts, 15U);
}

// One history with all of it. tests/wasm/trust.test.mjs makes the same calls and has the same hash.
Config config_of_one_history() {
  Config config = testing::plain_config(4, .5F);
  config.tau_merge = .125F;
  config.audit = Audit::full;
  config.guards = GuardSet::all();
  config.key_update = KeyUpdate::centroid;
  config.value_dimension = 1;
  config.value_update = ValueUpdate::mean;
  return config;
}

Cache one_history(const Config& config) {
  Cache cache = testing::make_cache(config);
  std::uint32_t state = 1;
  const auto next = [&](std::uint32_t n) {
    state = (state * 1103515245U + 12345U) & 0x7FFFFFFFU;
    return state / 65536U % n;
  };
  for (std::uint32_t i = 0; i < 60; ++i) {
    OwnedItem item;
    for (int d = 0; d < 4; ++d) item.key.push_back(static_cast<float>(next(5)) - 1.75F);
    item.value = {static_cast<float>(next(7))};
    item.time = i;
    const std::string its_id = "id " + std::to_string(i);
    Item view = named(item, its_id, kTexts[next(6)]);
    view.scope = kScopes[next(3)];
    EXPECT_TRUE(cache.observe(view));
    if (i % 9 != 8) continue;
    const std::vector<Review> reviews = cache.reviews();
    if (!reviews.empty()) {
      const auto verdict = static_cast<Judgement>(next(3));
      EXPECT_TRUE(cache.review(reviews[0].slot, reviews[0].other, verdict, i));
    }
    for (const SlotId id : testing::ids_of(cache)) {
      const std::vector<Member> members = *cache.members(id);
      if (members.size() < 2) continue;
      SplitOptions options;
      options.time = i;
      const SlotId opened = *cache.split(id, members[1].seq, options);
      if (next(2) == 0) {
        EXPECT_TRUE(cache.must_merge(id, opened, i));
      }
      break;
    }
  }
  EXPECT_TRUE(cache.must_not_merge(1, cache.slots().back().id, 60));
  return cache;
}

// As tests/wasm/trust.test.mjs.
TEST(OneHistory, HasTheSameBitsEverywhere) {
  const Cache cache = one_history(config_of_one_history());
  const Stats stats = cache.stats();
  EXPECT_GT(stats.merges, 5U);
  EXPECT_GT(stats.splits, 1U);
  EXPECT_GT(stats.reviews, 0U);
  EXPECT_EQ(stats.state_hash, 0xEBEF76D2CD68B823U);
  EXPECT_EQ(hash64(cache.save(), 0), 0x8E66584EBC9E4EA3U);
}

TEST(OneHistory, OfAGateThatLearnsHasTheSameBitsEverywhere) {
  Config config = config_of_one_history();
  config.gate = Gate{7.0F, *std::exchange(config.tau, {})};
  config.correction_rate = .1F;
  const Cache cache = one_history(config);
  EXPECT_NE(gate_of(cache), *config.gate);
  EXPECT_EQ(gate_of(cache).a, std::bit_cast<float>(0x40C6C17EU));
  EXPECT_EQ(gate_of(cache).b, std::bit_cast<float>(0x3E5C5E74U));
  EXPECT_EQ(cache.stats().state_hash, 0xB3502FFE3F37AB59U);
  EXPECT_EQ(hash64(cache.save(), 0), 0x24093F31237D8F2DU);
}

}  // namespace
}  // namespace dpcache
