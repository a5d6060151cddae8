// What the tests share: items that own their memory, random settings and random calls by a seed,
// the text of an answer, a log of events, and every instruction set in turn.
#ifndef DPCACHE_TESTS_NATIVE_SUPPORT_H_
#define DPCACHE_TESTS_NATIVE_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"
#include "kernels.h"
#include "streams.h"
#include "vector_runner.h"

namespace dpcache::testing {

using Bytes = std::vector<std::byte>;

// Numbers by a seed, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t bits() { return streams::random_bits(seed_, position_++); }
  std::uint64_t below(std::uint64_t n) { return bits() % n; }
  float number() { return streams::random_float(seed_, position_++); }  // in [-1, 1]
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::vector<float> vector(std::size_t n) {
    std::vector<float> out(n);
    for (float& x : out) x = number();
    return out;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
};

// An item with the memory that its views point into.
struct OwnedItem {
  std::vector<float> key;
  std::vector<float> value;
  std::string payload;
  std::optional<std::string> exact_key;
  std::int64_t time = 0;
  std::optional<std::int64_t> ttl_ms;

  Item view() const {
    Item item;
    item.key = key;
    item.value = value;
    item.payload = payload;
    if (exact_key) item.exact_key = *exact_key;
    item.time = time;
    item.ttl_ms = ttl_ms;
    return item;
  }
};

inline Item item_of(std::span<const float> key) {
  Item item;
  item.key = key;
  return item;
}

inline Config plain_config(std::uint32_t dimension, float tau) {
  Config config;
  config.dimension = dimension;
  config.tau = tau;
  return config;
}

inline Cache make_cache(const Config& config) {
  Result<Cache> cache = Cache::create(config);
  EXPECT_TRUE(cache) << cache.status.detail;
  return std::move(*cache);
}

inline Cache copy_of(const Cache& cache) {
  Result<Cache> copy = Cache::load(cache.save());
  EXPECT_TRUE(copy) << copy.status.detail;
  return std::move(*copy);
}

inline std::string text(const Decision& decision) {
  return vectors::to_json(decision).dump();
}
inline std::string text(const Reading& reading) {
  return vectors::to_json(reading).dump();
}

// Any settings that may change while there are slots.
inline void change_at_random(Random& random, Config& config) {
  config.tau.reset();
  config.gate.reset();
  switch (random.below(4)) {
    case 0:
      break;
    case 1:
      config.gate = Gate{random.one_of({.5F, 10.0F, 1e6F}), random.one_of({0.0F, .2F, .4F, 1.0F})};
      break;
    default:
      config.tau = random.one_of({0.0F, 1e-6F, .05F, .2F, .4F, .7F, 1.0F, 2.0F});
  }
  config.theta = random.one_of({1e-4F, .05F, .5F, 100.0F});
  config.usage_decay = random.one_of({1.0F, 1.0F, .95F, .5F, .01F, 1e-30F});
  config.budget =
      random.one_of({BudgetKind::none, BudgetKind::fixed, BudgetKind::adaptive, BudgetKind::ghost});
  config.max_slots.reset();
  if (random.one_in(4)) config.max_slots = 1 + random.below(9);
  config.m0 = 1.0F + static_cast<float>(random.below(60)) / 8.0F;
  config.beta = static_cast<float>(random.below(20));
  config.eta = random.one_of({.05F, .3F, 1.0F});
  config.shrink = random.one_of({Shrink::evict, Shrink::merge});
  config.null_similarity.reset();
  if (random.one_in(3)) config.null_similarity = random.number();
  config.ttl_ms.reset();
  if (random.one_in(4)) config.ttl_ms = random.one_of<std::int64_t>({0, 7, 40, 1000});
}

inline Config random_config(Random& random) {
  Config config;
  config.dimension = random.one_of({1U, 2U, 3U, 5U, 15U, 16U, 17U, 24U, 33U, 48U});
  config.value_dimension = random.one_of({0U, 0U, 1U, 3U, 16U, 17U});
  config.key_update = random.one_of({KeyUpdate::frozen, KeyUpdate::frozen, KeyUpdate::centroid});
  config.value_update =
      random.one_of({ValueUpdate::first, ValueUpdate::last, ValueUpdate::mean, ValueUpdate::ema});
  config.ema = random.one_of({.1F, .5F, 1.0F});
  config.keep_sums = random.one_in(2);
  change_at_random(random, config);
  return config;
}

// One call on a cache.
struct Call {
  enum class Kind { observe, erase, consolidate, configure, read, nearest, score };
  Kind kind = Kind::observe;
  OwnedItem item;  // its key is the query, too
  SlotId slot = 0;
  float similarity = 0.0F;
  Config config;
  QueryOptions options;
};

// A random stream of calls, the same for the same seed.
class Calls {
 public:
  explicit Calls(std::uint64_t seed)
      : random_(seed), config_(random_config(random_)), at_seed_(seed) {
    rule_.seed = 1000 + seed;
    rule_.dimension = config_.dimension;
    rule_.distinct = static_cast<std::uint32_t>(3 + random_.below(14));
    rule_.noise = random_.one_of({0.0F, .1F, .3F, .8F});
    has_exact_keys_ = random_.one_in(2);
    has_payloads_ = random_.one_in(2);
  }

  const Config& config() const { return config_; }
  std::uint64_t seed() const { return at_seed_; }

  OwnedItem item() {
    OwnedItem item;
    item.key = rule_.key(items_);
    if (random_.one_in(8)) {
      const float scale = random_.one_of({1e-30F, 3.0F, 1e30F});
      for (float& x : item.key) x *= scale;
    }
    item.value = random_.vector(config_.value_dimension);
    if (has_payloads_ && random_.one_in(2)) item.payload = "payload " + std::to_string(items_);
    if (has_exact_keys_ && random_.one_in(3)) {
      item.exact_key = std::string(random_.below(3), static_cast<char>('a' + random_.below(4)));
    }
    if (random_.one_in(10)) item.ttl_ms = static_cast<std::int64_t>(random_.below(50));
    // Time mostly rises.
    time_ += random_.one_in(12) ? -20 : static_cast<std::int64_t>(random_.below(10));
    item.time = time_;
    ++items_;
    return item;
  }

  // `slots`: the ids that there are now.
  Call next(const std::vector<SlotId>& slots) {
    Call call;
    call.item = item();
    call.options.k = random_.below(5);
    if (random_.one_in(2)) call.options.time = time_ + static_cast<std::int64_t>(random_.below(60));
    switch (random_.below(20)) {
      case 0:
        if (slots.empty()) break;
        call.kind = Call::Kind::erase;
        call.slot = slots[random_.below(slots.size())];
        break;
      case 1:
        if (!config_.keep_sums && config_.key_update != KeyUpdate::centroid) break;
        call.kind = Call::Kind::consolidate;
        call.similarity = random_.one_of({-1.0F, .3F, .6F, .9F, 1.0F});
        break;
      case 2:
        if (!random_.one_in(3)) break;
        call.kind = Call::Kind::configure;
        change_at_random(random_, config_);
        call.config = config_;
        break;
      case 3:
        call.kind = Call::Kind::read;
        break;
      case 4:
        call.kind = Call::Kind::nearest;
        break;
      case 5:
        call.kind = Call::Kind::score;
        break;
      default:
        break;
    }
    return call;
  }

 private:
  Random random_;
  Config config_;
  std::uint64_t at_seed_;
  streams::Rule rule_;
  bool has_exact_keys_ = false;
  bool has_payloads_ = false;
  std::uint64_t items_ = 0;
  std::int64_t time_ = 0;
};

inline std::vector<SlotId> ids_of(const Cache& cache) {
  std::vector<SlotId> ids;
  for (const Slot& slot : cache.slots()) ids.push_back(slot.id);
  return ids;
}

// Makes a call on a machine of vector_runner.h and gives the text of its answer.
template <class Machine>
std::string perform(Machine& machine, const Call& call) {
  switch (call.kind) {
    case Call::Kind::observe:
      return machine.observe(call.item.view()).dump();
    case Call::Kind::erase:
      machine.erase(call.slot, call.item.time);
      return "erased " + std::to_string(call.slot);
    case Call::Kind::consolidate:
      return machine.consolidate(call.similarity, call.item.time).dump();
    case Call::Kind::configure:
      machine.configure(call.config, call.item.time);
      return "configured " + to_json(call.config);
    case Call::Kind::read:
      return machine.read(call.item.key, call.options).dump();
    case Call::Kind::nearest:
      return machine.nearest(call.item.key, call.options).dump();
    case Call::Kind::score:
      return machine.score(call.item.key, call.options).dump();
  }
  return "";
}

// A cache that uses every tensor: sums, ghosts, decayed usage, payloads, exact keys, expiry.
inline Cache full_cache() {
  Config config = testing::plain_config(5, .3F);
  config.value_dimension = 3;
  config.value_update = ValueUpdate::mean;
  config.keep_sums = true;
  config.usage_decay = .9F;
  config.budget = BudgetKind::ghost;
  config.m0 = 4;
  config.ttl_ms = 100'000;
  config.encoder = "encoder/1";
  Cache cache = testing::make_cache(config);
  const streams::Rule rule{3, 5, 9, .1F};
  for (std::uint64_t t = 0; t < 40; ++t) {
    OwnedItem item;
    item.key = rule.key(t);
    item.value = {static_cast<float>(t), -1.5F, 0.0F};
    item.payload = "payload " + std::to_string(t);
    if (t % 3 == 0)
      item.exact_key = "exact " + std::to_string(rule.source(t)) + std::string(1, '\0');
    item.time = static_cast<std::int64_t>(t);
    EXPECT_TRUE(cache.observe(item.view()));
  }
  EXPECT_GE(cache.size(), 4U);
  EXPECT_GT(cache.stats().evictions, 0U);
  cache.metadata()["owner"] = "somebody";
  return cache;
}

// The canonical bytes of all events of a cache, from now on. Must live as long as the cache.
class EventLog {
 public:
  explicit EventLog(Cache& cache) {
    cache.on_event([this](const Event& event) { encode(event, events_.emplace_back()); });
  }
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  const std::vector<Bytes>& events() const { return events_; }

  // Repeats them on another cache.
  void replay(Cache& cache) const {
    for (const Bytes& bytes : events_) {
      const Result<DecodedEvent> event = decode_event(bytes);
      ASSERT_TRUE(event) << event.status.detail;
      const Status status = cache.apply(event->event());
      ASSERT_TRUE(status) << to_string(status.code) << ": " << status.detail;
    }
  }

 private:
  std::vector<Bytes> events_;
};

// Calls `test` on each instruction set of this build and machine.
template <class Test>
void on_every_target(Test test) {
  const std::vector<std::string_view> targets = kernels::targets();
  for (const std::string_view target : targets) {
    SCOPED_TRACE("on " + std::string(target));
    ASSERT_TRUE(kernels::use_target(target));
    test();
    if (::testing::Test::HasFatalFailure()) break;
  }
  kernels::use_target(targets.front());
}

}  // namespace dpcache::testing

#endif  // DPCACHE_TESTS_NATIVE_SUPPORT_H_
