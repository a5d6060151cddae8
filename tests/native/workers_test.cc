// Any number of threads finds the same, also when many search at once and the number changes.
#include "workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "codes.h"
#include "dpcache/cache.h"
#include "dpcache/threads.h"

namespace dpcache {
namespace {

class WorkersTest : public testing::Test {
 protected:
  WorkersTest() { codes_from = {.floats = 0, .length = 0, .rows_for_a_guess = 0}; }
  ~WorkersTest() override {
    codes_from = {};
    use_threads(1);
  }

 public:
  WorkersTest(const WorkersTest&) = delete;
  WorkersTest& operator=(const WorkersTest&) = delete;
};

TEST_F(WorkersTest, DoEveryPartOnce) {
  for (const std::size_t threads : {1U, 2U, 3U, 7U, 1U, 2U}) {
    ASSERT_TRUE(use_threads(threads));
    ASSERT_EQ(workers(), threads);
    for (const std::size_t parts : {0U, 1U, 2U, 3U, 50U, 1000U}) {
      std::vector<std::atomic<int>> done(parts);
      divide(parts, [&](std::size_t part) { ++done[part]; });
      for (std::size_t part = 0; part < parts; ++part) ASSERT_EQ(done[part], 1) << part;
    }
  }
}

TEST_F(WorkersTest, AreAskedForInNumbersThatMakeSense) {
  for (const std::size_t threads : {std::size_t{0}, kMostThreads + 1, SIZE_MAX}) {
    const Status status = use_threads(threads);
    EXPECT_EQ(status.code, Error::bad_config);
    EXPECT_EQ(status.pointer, "/threads");
    EXPECT_EQ(workers(), 1U);
  }
}

TEST_F(WorkersTest, MayBeNeededInTheMidstOfADivision) {
  ASSERT_TRUE(use_threads(3));
  std::atomic<int> done = 0;
  divide(10, [&](std::size_t) { divide(10, [&](std::size_t) { ++done; }); });
  EXPECT_EQ(done, 100);
}

struct Memory {
  Memory() {
    Config config;
    config.dimension = 96;
    config.tau = 0.2F;
    cache = std::move(*Cache::create(config));
    std::mt19937 engine(3);
    std::normal_distribution<float> normal;
    keys.resize(std::size_t{96} * 2200);
    for (float& number : keys) number = normal(engine);
    queries.assign(keys.begin(), keys.begin() + 96 * 150);
    for (float& number : queries) number += 0.4F * normal(engine);
    for (std::size_t i = 0; i < 2200; ++i) {
      Item item;
      item.key = std::span(keys).subspan(i * 96, 96);
      items.push_back(item);
    }
    for (std::size_t i = 0; i < 150; ++i) {
      Item item;
      item.key = std::span(queries).subspan(i * 96, 96);
      items.push_back(item);
    }
  }
  Cache cache;
  std::vector<float> keys;
  std::vector<float> queries;
  std::vector<Item> items;
};

TEST_F(WorkersTest, DecideAndAnswerTheSame) {
  Memory alone;
  const auto decisions = alone.cache.observe_batch(alone.items).decisions;
  QueryOptions options;
  options.k = 5;
  const auto scores = *alone.cache.score(alone.queries, options);
  ASSERT_EQ(scores.size(), 150U);
  for (const std::size_t threads : {2U, 4U}) {
    Memory together;
    ASSERT_TRUE(use_threads(threads));
    EXPECT_EQ(together.cache.observe_batch(together.items).decisions, decisions);
    EXPECT_EQ(together.cache.stats().state_hash, alone.cache.stats().state_hash);
    EXPECT_EQ(*together.cache.score(together.queries, options), scores);
    EXPECT_EQ(*alone.cache.score(together.queries, options), scores);
    use_threads(1);
  }
}

TEST_F(WorkersTest, HelpOneOfManyWhileTheirNumberChanges) {
  Memory memory;
  memory.cache.observe_batch(memory.items);
  const auto scores = *memory.cache.score(memory.queries);
  std::atomic<bool> wrong = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 6; ++n) {
        if (*memory.cache.score(memory.queries) != scores) wrong = true;
      }
    });
  }
  for (std::size_t n = 0; n < 12; ++n) ASSERT_TRUE(use_threads(1 + n % 4));
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace dpcache
