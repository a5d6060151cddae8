// The thread rule: const calls may run together, a call that is not const runs alone. Run under the
// thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/support.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::OwnedItem;

constexpr int kReaders = 6;
constexpr std::uint64_t kQuestions = 100;

// Every const call once, with answers that must fit together. `sum` keeps them from being dropped.
std::uint64_t ask_everything(const Cache& cache, const std::vector<float>& query) {
  std::uint64_t sum = 0;
  const Result<Reading> reading = cache.read(query);
  EXPECT_TRUE(reading);
  const Result<std::optional<Match>> nearest = cache.nearest(query);
  EXPECT_TRUE(nearest);
  const auto scores = cache.score(query);
  EXPECT_TRUE(scores);
  EXPECT_EQ(reading->empty, !nearest->has_value());
  if (!reading->empty) {
    EXPECT_EQ(reading->top.front().slot, (*nearest)->slot);
    EXPECT_EQ(scores->front().front(), **nearest);
    const Result<Slot> slot = cache.slot((*nearest)->slot);
    EXPECT_TRUE(slot);
    sum += slot->count + slot->payload.size();
  }
  for (const Slot& slot : cache.slots()) sum += slot.id + slot.exact_keys.size();
  EXPECT_EQ(cache.stats().slots, cache.size());
  sum += cache.warning().size() + cache.metadata().size() + cache.config().dimension;
  return sum + cache.save().size();
}

TEST(Threads, ManyReadersAskAConstCacheTogetherWithoutALock) {
  const Cache cache = testing::full_cache();
  const Bytes before = cache.save();
  const streams::Rule rule{3, 5, 9, .3F};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> readers;
  for (std::uint64_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      for (std::uint64_t i = 0; i < 60; ++i) sum += ask_everything(cache, rule.key(reader + i));
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(sum.load(), 0U);
  EXPECT_EQ(cache.save(), before);
}

TEST(Threads, ManyReadersAndOneWriterShareALock) {
  Config config = testing::plain_config(24, .3F);
  config.budget = BudgetKind::adaptive;
  config.m0 = 8;
  config.beta = 30;
  config.usage_decay = .95F;
  config.key_update = KeyUpdate::centroid;
  Cache cache = testing::make_cache(config);
  cache.metadata()["owner"] = "writer";
  std::shared_mutex mutex;
  std::atomic<std::uint64_t> answers{0};
  const streams::Rule rule{8, 24, 40, .3F};

  std::vector<std::thread> readers;
  for (std::uint64_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      // A fixed number of questions with pauses: a shared_mutex may let readers that never pause
      // starve the writer for good.
      for (std::uint64_t i = 0; i < kQuestions; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const std::shared_lock lock(mutex);
        answers += ask_everything(cache, rule.key(reader * 1000 + i)) != 0 ? 1 : 0;
      }
    });
  }
  for (std::uint64_t t = 0; t < 400; ++t) {
    OwnedItem item;
    item.key = rule.key(t);
    item.payload = std::to_string(t);
    item.exact_key = "exact " + std::to_string(t % 50);
    item.time = static_cast<std::int64_t>(t);
    item.ttl_ms = 100;
    const std::scoped_lock lock(mutex);
    ASSERT_TRUE(cache.observe(item.view()));
    if (t % 50 == 49) {
      ASSERT_TRUE(cache.erase(cache.slots().front().id));
      ASSERT_TRUE(cache.consolidate(.8F));
      cache = testing::copy_of(cache);
    }
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(answers.load(), kReaders * kQuestions);
  EXPECT_EQ(cache.stats().items, 400U);
}

TEST(Threads, ManyReadersMatchLinesWithConstTemplates) {
  Templates learning;
  for (const char* name : {"alice", "bob", "carol"}) {
    learning.learn(std::string("user ") + name + " logged in from 10.0.0.1");
  }
  const Templates templates = std::move(learning);
  const Bytes before = templates.save();
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&templates] {
      for (std::uint64_t i = 0; i < kQuestions; ++i) {
        const auto match = templates.match("user dave logged in from 10.0.0." + std::to_string(i));
        ASSERT_TRUE(match);
        EXPECT_EQ(match->values[0].text, "dave");
        EXPECT_EQ(templates.get(match->id)->count, 3U);
        EXPECT_FALSE(templates.match("a line of another kind"));
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(templates.save(), before);
}

TEST(Threads, LoadTheSameFileTogether) {
  const Bytes file = testing::full_cache().save();
  std::vector<std::thread> loaders;
  std::atomic<int> good{0};
  for (int i = 0; i < kReaders; ++i) {
    loaders.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const Result<Cache> cache = Cache::load(file);
        if (cache && cache->save() == file) ++good;
      }
    });
  }
  for (std::thread& loader : loaders) loader.join();
  EXPECT_EQ(good.load(), kReaders * 10);
}

TEST(Threads, WriteToCachesOfTheirOwn) {
  std::vector<std::uint64_t> hashes(kReaders);
  std::vector<std::thread> writers;
  for (std::size_t i = 0; i < kReaders; ++i) {
    writers.emplace_back([&hashes, i] {
      Cache cache = testing::full_cache();
      const streams::Rule rule{4, 5, 9, .3F};
      for (std::uint64_t t = 0; t < 50; ++t) {
        OwnedItem item;
        item.key = rule.key(t);
        item.value = {1, 2, 3};
        cache.observe(item.view());
      }
      hashes[i] = cache.stats().state_hash;
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

}  // namespace
}  // namespace dpcache
