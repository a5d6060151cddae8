// A cache that asks a scorer decides and answers as one that does not, whatever happens between
// the scorer's answer and the item; and the scorer is told of every key that changes.
#include "dpcache/scorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <vector>

#include "dpcache/cache.h"
#include "kernels.h"
#include "numerics.h"
#include "search_batch.h"

namespace dpcache {
namespace {

// Scores a copy of the keys that it knows from what it was told alone.
class CopyingScorer final : public Scorer {
 public:
  void changed(std::uint64_t memory, std::size_t first, std::size_t last) noexcept override {
    for (std::size_t r = first; r < last; ++r) stale_[memory].push_back(r);
  }
  void forget(std::uint64_t memory) noexcept override {
    keys_.erase(memory);
    stale_.erase(memory);
    ++forgotten;
  }
  bool nearest(const KeysView& view, std::span<const float> queries,
               std::span<RowMatch> out) noexcept override {
    return top(view, queries, 1, out);
  }
  bool top(const KeysView& view, std::span<const float> queries, std::size_t k,
           std::span<RowMatch> out) noexcept override {
    if (refuses && calls++ % 3 == 0) return false;
    update(view);
    ++answered;
    std::vector<RowMatch> all;
    for (std::size_t q = 0; q * view.stride < queries.size(); ++q) {
      all.clear();
      for (std::size_t r = 0; r < view.rows; ++r) {
        if (!view.skip.empty() && (view.skip[r / 64] >> (r % 64) & 1U) != 0) continue;
        float score = 0.0F;
        kernels::dots(queries.data() + q * view.stride, view.keys + r * view.stride, view.stride, 1,
                      &score);
        all.push_back({static_cast<std::uint32_t>(r), snap(score, view.margin)});
      }
      std::stable_sort(all.begin(), all.end(), [](const RowMatch& a, const RowMatch& b) {
        return a.similarity > b.similarity;
      });
      all.resize(k);
      std::copy(all.begin(), all.end(), out.begin() + static_cast<std::ptrdiff_t>(q * k));
    }
    return true;
  }

  bool refuses = false;
  std::size_t calls = 0;
  std::size_t answered = 0;
  std::size_t forgotten = 0;

 private:
  void update(const KeysView& view) {
    std::vector<float>& keys = keys_[view.memory];
    keys.resize(view.rows * view.stride);
    for (const std::size_t r : stale_[view.memory]) {
      if (r >= view.rows) continue;
      std::copy_n(view.keys + r * view.stride, view.stride, keys.data() + r * view.stride);
    }
    stale_[view.memory].clear();
    ASSERT_TRUE(std::equal(keys.begin(), keys.end(), view.keys)) << "a change was not told";
  }

  std::map<std::uint64_t, std::vector<float>> keys_;
  std::map<std::uint64_t, std::vector<std::size_t>> stale_;
};

struct Shape {
  const char* name;
  Config config;
  bool expires = false;

  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.name;
  }
};

Config config_of(std::uint32_t dimension) {
  Config config;
  config.dimension = dimension;
  config.tau = 0.3F;
  return config;
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  all.push_back({"frozen", config_of(24), false});
  Shape centroid{"centroid", config_of(24), false};
  centroid.config.key_update = KeyUpdate::centroid;
  all.push_back(centroid);
  Shape evicting{"evicting", config_of(24), false};
  evicting.config.budget = BudgetKind::fixed;
  evicting.config.max_slots = 40;
  all.push_back(evicting);
  Shape folding{"folding", config_of(24), false};
  folding.config.budget = BudgetKind::fixed;
  folding.config.max_slots = 40;
  folding.config.shrink = Shrink::merge;
  folding.config.keep_sums = true;
  folding.config.key_update = KeyUpdate::centroid;
  all.push_back(folding);
  Shape expiring{"expiring", config_of(24), true};
  all.push_back(expiring);
  return all;
}

class AskedTest : public testing::Test {
 protected:
  AskedTest() { scorer_from = 0; }
  ~AskedTest() override { scorer_from = std::size_t{1} << 28U; }

 public:
  AskedTest(const AskedTest&) = delete;
  AskedTest& operator=(const AskedTest&) = delete;
};

class ScorerTest : public AskedTest, public testing::WithParamInterface<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, ScorerTest, testing::ValuesIn(shapes()),
                         [](const auto& shape) { return std::string(shape.param.name); });

TEST_P(ScorerTest, DecidesAndAnswersAsTheCpu) {
  for (const bool refuses : {false, true}) {
    CopyingScorer scorer;
    scorer.refuses = refuses;
    auto scored = Cache::create(GetParam().config);
    auto plain = Cache::create(GetParam().config);
    ASSERT_TRUE(scored && plain);
    scored->use_scorer(&scorer);
    std::mt19937 engine(7);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> centres(80, std::vector<float>(24));
    for (auto& centre : centres) {
      for (float& number : centre) number = normal(engine);
    }
    std::int64_t now = 0;
    for (int round = 0; round < 12; ++round) {
      std::vector<std::vector<float>> keys(70);
      std::vector<Item> items(keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = centres[engine() % centres.size()];
        for (float& number : keys[i]) number += 0.3F * normal(engine);
        items[i].key = keys[i];
        items[i].time = now++;
        if (GetParam().expires) items[i].ttl_ms = static_cast<std::int64_t>(engine() % 200);
      }
      const BatchResult by_scorer = scored->observe_batch(items);
      const BatchResult by_cpu = plain->observe_batch(items);
      ASSERT_TRUE(by_scorer && by_cpu);
      ASSERT_EQ(by_scorer.decisions, by_cpu.decisions);
      ASSERT_EQ(scored->stats().state_hash, plain->stats().state_hash);

      std::vector<float> queries;
      for (std::size_t i = 0; i < 20; ++i) {
        queries.insert(queries.end(), keys[i].begin(), keys[i].end());
      }
      for (const std::size_t k : {1U, 5U, 30U}) {
        QueryOptions options;
        options.k = k;
        options.time = now + round;
        const auto a = scored->score(queries, options);
        const auto b = plain->score(queries, options);
        ASSERT_TRUE(a && b);
        ASSERT_EQ(*a, *b);
      }
      if (round == 6) {
        ASSERT_TRUE(scored->erase(scored->slots(0, 3).back().id, now));
        ASSERT_TRUE(plain->erase(plain->slots(0, 3).back().id, now));
      }
    }
    EXPECT_GT(scorer.answered, 10U);
    scored->use_scorer(nullptr);
    EXPECT_EQ(scorer.forgotten, 1U);
  }
}

TEST_F(AskedTest, IsToldWhenACacheGoesAndWhenOneMoves) {
  CopyingScorer scorer;
  {
    auto made = Cache::create(config_of(16));
    ASSERT_TRUE(made);
    made->use_scorer(&scorer);
    const Cache moved = std::move(*made);
    EXPECT_EQ(scorer.forgotten, 0U);
  }
  EXPECT_EQ(scorer.forgotten, 1U);
}

TEST_F(AskedTest, IsNotAskedForWhatIsDoneSooner) {
  scorer_from = std::size_t{1} << 28U;
  CopyingScorer scorer;
  auto cache = Cache::create(config_of(16));
  ASSERT_TRUE(cache);
  cache->use_scorer(&scorer);
  const std::vector<float> key(16, 1.0F);
  Item item;
  item.key = key;
  ASSERT_TRUE(cache->observe_batch({&item, 1}));
  ASSERT_TRUE(cache->score(key));
  EXPECT_EQ(scorer.answered, 0U);
}

}  // namespace
}  // namespace dpcache
