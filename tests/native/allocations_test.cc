// What the calls allocate: nothing where the header promises nothing, and little elsewhere.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "native/allocation_watch.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::AllocationWatch;

constexpr std::uint32_t kDimension = 40;
constexpr std::uint32_t kDistinct = 12;

// Settings of every kind that merge what the streams below repeat, and evict nothing.
std::vector<Config> configs() {
  std::vector<Config> all;
  for (const KeyUpdate key : {KeyUpdate::frozen, KeyUpdate::centroid}) {
    for (const ValueUpdate value :
         {ValueUpdate::first, ValueUpdate::last, ValueUpdate::mean, ValueUpdate::ema}) {
      for (const BudgetKind budget :
           {BudgetKind::none, BudgetKind::fixed, BudgetKind::adaptive, BudgetKind::ghost}) {
        for (const float decay : {1.0F, .95F, .01F}) {
          Config config = testing::plain_config(kDimension, .4F);
          config.value_dimension = 3;
          config.key_update = key;
          config.value_update = value;
          config.budget = budget;
          config.usage_decay = decay;
          config.m0 = kDistinct;
          config.keep_sums = decay == .95F;
          config.shrink = decay == .01F ? Shrink::merge : Shrink::evict;
          all.push_back(config);
        }
      }
    }
  }
  Config gated = testing::plain_config(kDimension, .4F);
  gated.tau.reset();
  gated.gate = Gate{};
  gated.value_dimension = 3;
  gated.ttl_ms = 1'000'000;
  gated.max_slots = kDistinct;
  all.push_back(gated);
  return all;
}

// Keys and values of a noisy stream over few distinct items, made before anything is counted.
struct Stream {
  explicit Stream(std::uint64_t count) {
    const streams::Rule rule{91, kDimension, kDistinct, .1F};
    for (std::uint64_t t = 0; t < count; ++t) keys.push_back(rule.key(t));
  }
  Item item(std::size_t t) const {
    Item item = testing::item_of(keys[t]);
    item.value = value;
    item.time = static_cast<std::int64_t>(t);
    return item;
  }
  std::vector<std::vector<float>> keys;
  std::vector<float> value = {1, 2, 3};
};

TEST(Allocations, AreNoneWhenAnItemMerges) {
  const Stream stream(300);
  for (const Config& config : configs()) {
    SCOPED_TRACE(to_json(config));
    Cache cache = testing::make_cache(config);
    for (std::size_t t = 0; t < 100; ++t) ASSERT_TRUE(cache.observe(stream.item(t)));
    ASSERT_EQ(cache.size(), kDistinct);
    const AllocationWatch watch;
    std::uint64_t merges = 0;
    for (std::size_t t = 100; t < 300; ++t) {
      const Result<Decision> decision = cache.observe(stream.item(t));
      merges += decision && decision->action == Action::merge ? 1 : 0;
    }
    const std::uint64_t count = watch.count();
    EXPECT_EQ(merges, 200U);
    EXPECT_EQ(count, 0U);
  }
}

TEST(Allocations, AreNoneWhenAnExactKeyIsKnown) {
  const Stream stream(40);
  Config config = testing::plain_config(kDimension, .4F);
  config.value_dimension = 3;
  Cache cache = testing::make_cache(config);
  const std::string exact_key = "an exact key that is longer than any small string";
  Item item = stream.item(0);
  item.exact_key = exact_key;
  ASSERT_TRUE(cache.observe(item));
  const auto merge_all = [&] {
    for (std::size_t t = 1; t < 40; ++t) {
      Item next = stream.item(t);
      next.exact_key = exact_key;
      EXPECT_EQ(cache.observe(next)->action, Action::merge);
    }
  };
  merge_all();  // the bytes of an event grow once
  const AllocationWatch watch;
  merge_all();
  EXPECT_EQ(watch.count(), 0U);
}

// A merge needs no room, so a full array does not grow for one, and neither does a loaded cache.
TEST(Allocations, AreNoneWhenTheArraysAreFull) {
  for (std::uint32_t slots = 1; slots <= 70; ++slots) {
    const streams::Rule rule{17, kDimension, slots, 0.0F};
    Cache cache = testing::make_cache(testing::plain_config(kDimension, .01F));
    std::vector<std::vector<float>> keys;
    for (std::uint32_t source = 0; source < slots; ++source) {
      std::vector<float> key(kDimension);
      for (std::uint32_t d = 0; d < kDimension; ++d) key[d] = rule.base(source, d);
      keys.push_back(std::move(key));
      ASSERT_EQ(cache.observe(testing::item_of(keys.back()))->action, Action::allocate);
    }
    Cache loaded = testing::copy_of(cache);
    for (Cache* one : {&cache, &loaded}) {
      const std::uint64_t bytes = one->stats().bytes;
      ASSERT_TRUE(one->observe(testing::item_of(keys[0])));  // the bytes of an event grow once
      const AllocationWatch watch;
      for (const auto& key : keys) EXPECT_TRUE(one->observe(testing::item_of(key)));
      EXPECT_EQ(watch.count(), 0U) << slots << " slots";
      EXPECT_EQ(one->stats().bytes, bytes) << slots << " slots";
    }
  }
}

TEST(Allocations, OfRefusedItemsAreThoseOfTheSentence) {
  Cache cache = testing::make_cache(testing::plain_config(kDimension, .4F));
  const std::vector<float> zero(kDimension);
  cache.observe(testing::item_of(zero));
  const AllocationWatch watch;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(cache.observe(testing::item_of(zero)));
  EXPECT_LE(watch.bytes(), 10U * 1000);
}

// An array of slots doubles, so n slots cost at most a fixed multiple of what they hold, in
// logarithmically many steps.
TEST(Allocations, OfNewSlotsAreAMultipleOfWhatTheyHold) {
  constexpr std::uint32_t kWide = 256;
  constexpr std::uint64_t kSlots = 3000;
  Cache cache = testing::make_cache(testing::plain_config(kWide, 0.0F));
  std::vector<std::vector<float>> keys;
  testing::Random random(5);
  for (std::uint64_t i = 0; i < kSlots; ++i) keys.push_back(random.vector(kWide));
  const AllocationWatch watch;
  for (const auto& key : keys)
    ASSERT_EQ(cache.observe(testing::item_of(key))->action, Action::allocate);
  const std::uint64_t held = kSlots * (kWide * sizeof(float) + 160);
  EXPECT_LE(watch.bytes(), 5 * held);
  EXPECT_LE(watch.count(), 140U);
  EXPECT_LE(watch.largest(), 2 * kSlots * kWide * sizeof(float) + 4096);
  EXPECT_GE(cache.stats().bytes, kSlots * kWide * sizeof(float));
  EXPECT_LE(cache.stats().bytes, 3 * held);
}

// One that goes for each that comes: nothing piles up.
TEST(Allocations, OfAFullBudgetDoNotGrowWithTheStream) {
  for (const Shrink shrink : {Shrink::evict, Shrink::merge}) {
    Config config = testing::plain_config(kDimension, 0.0F);
    config.max_slots = 50;
    config.shrink = shrink;
    Cache cache = testing::make_cache(config);
    testing::Random random(6);
    const auto feed = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const std::vector<float> key = random.vector(kDimension);
        Item item = testing::item_of(key);
        item.payload = "some payload that is longer than any small string";
        item.exact_key = "the same kind of exact key";
        if (i % 2 == 0) item.exact_key.reset();
        ASSERT_TRUE(cache.observe(item));
      }
    };
    feed(1000);
    const std::uint64_t bytes = cache.stats().bytes;
    feed(3000);
    EXPECT_LE(cache.stats().bytes, bytes + bytes / 10);
    EXPECT_EQ(cache.size(), 50U);
  }
}

TEST(Allocations, OfAReadAreWhatItAnswersAndOneScore) {
  constexpr std::uint64_t kSlots = 500;
  Config config = testing::plain_config(kDimension, 0.0F);
  config.value_dimension = 3;
  Cache cache = testing::make_cache(config);
  testing::Random random(7);
  const std::vector<float> value = {1, 2, 3};
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    const std::vector<float> key = random.vector(kDimension);
    Item item = testing::item_of(key);
    item.value = value;
    ASSERT_TRUE(cache.observe(item));
  }
  const std::vector<float> query = random.vector(kDimension);
  {
    const AllocationWatch watch;
    EXPECT_TRUE(cache.read(query));
    EXPECT_LE(watch.count(), 5U);
    EXPECT_LE(watch.bytes(), kSlots * 16 + 2000);
  }
  {
    const AllocationWatch watch;
    EXPECT_TRUE(cache.nearest(query));
    EXPECT_LE(watch.count(), 1U);
  }
  {
    const AllocationWatch watch;
    cache.stats();
    cache.size();
    EXPECT_EQ(watch.count(), 0U);
  }
}

TEST(Allocations, OfALoadAreAMultipleOfTheFile) {
  for (const std::uint32_t dimension : {1U, 40U, 384U}) {
    Cache cache = testing::make_cache(testing::plain_config(dimension, 0.0F));
    testing::Random random(8);
    for (int i = 0; i < 1000; ++i) cache.observe(testing::item_of(random.vector(dimension)));
    const testing::Bytes file = cache.save();
    const AllocationWatch watch;
    ASSERT_TRUE(Cache::load(file));
    EXPECT_LE(watch.bytes(), 5 * file.size() + 20'000) << dimension;
  }
}

}  // namespace
}  // namespace dpcache
