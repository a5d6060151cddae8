// Faults that users met in comparable products, each as its whole kind. In brackets the number of
// the case that showed it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kernels.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::OwnedItem;

using Vector = std::vector<float>;

Decision observe(Cache& cache, const Vector& key) {
  const Result<Decision> decision = cache.observe(testing::item_of(key));
  EXPECT_TRUE(decision) << decision.status.detail;
  return *decision;
}

QueryOptions top(std::size_t k) {
  QueryOptions options;
  options.k = k;
  return options;
}

std::vector<SlotId> ids(const std::vector<Match>& matches) {
  std::vector<SlotId> out;
  for (const Match& match : matches) out.push_back(match.slot);
  return out;
}

// Vectors without a direction are refused when they come, on every instruction set alike, and leave
// no NaN behind. [A1, A3, A5]
TEST(VectorsWithoutDirection, AreRefusedAsItemsAndAsQueriesEverywhere) {
  testing::on_every_target([] {
    for (const std::uint32_t dimension : {1U, 3U, 16U, 100U}) {
      Cache cache = testing::make_cache(testing::plain_config(dimension, .05F));
      for (const float zero : {0.0F, -0.0F}) {
        const Vector none(dimension, zero);
        EXPECT_EQ(cache.observe(testing::item_of(none)).status.code, Error::zero_norm);
        EXPECT_EQ(cache.read(none).status.code, Error::zero_norm);
        EXPECT_EQ(cache.nearest(none).status.code, Error::zero_norm);
        EXPECT_EQ(cache.score(none).status.code, Error::zero_norm);
      }
      EXPECT_EQ(cache.size(), 0U);
    }
    Cache cache = testing::make_cache(testing::plain_config(3, .001F));
    EXPECT_EQ(observe(cache, {1, 0, 0}).slot, 1U);
    EXPECT_FALSE(cache.observe(testing::item_of(Vector{0, 0, 0})));
    EXPECT_EQ(observe(cache, {.9F, .1F, 0}).slot, 2U);
    const auto matches = cache.score(Vector{1, 0, 0}, top(2))->front();
    EXPECT_EQ(ids(matches), (std::vector<SlotId>{1, 2}));
    for (const Match& match : matches) EXPECT_FALSE(std::isnan(match.similarity));
  });
}

// A direction is not lost because its floats are tiny or huge. [A3, A5]
TEST(VectorsOfAnyLength, HaveTheDirectionThatTheyHave) {
  for (const float length : {1e-45F, 1e-38F, 1e-20F, 1.0F, 1e20F, 3e38F}) {
    Cache cache = testing::make_cache(testing::plain_config(3, .1F));
    observe(cache, {1, 0, 0});
    EXPECT_EQ(observe(cache, {length, 0, 0}).novelty, 0.0F) << length;
    EXPECT_EQ((*cache.nearest(Vector{-length, 0, 0}))->similarity, -1.0F) << length;
    EXPECT_EQ(observe(cache, {0, -length, 0}).novelty, 1.0F) << length;
  }
}

// Rounding never makes a cosine of more than 1, nor a repeat anything but a repeat. [A7]
TEST(Repeats, AreExactWhateverTheRounding) {
  for (std::uint32_t dimension = 1; dimension <= 80; ++dimension) {
    for (unsigned pattern = 1; pattern < 30; ++pattern) {
      Vector key(dimension);
      for (std::uint32_t i = 0; i < dimension; ++i) {
        key[i] = static_cast<float>((pattern * (i + 3)) % 7 % 2);  // zeros and ones
      }
      if (std::all_of(key.begin(), key.end(), [](float x) { return x == 0.0F; })) continue;
      Cache cache = testing::make_cache(testing::plain_config(dimension, 0.0F));
      observe(cache, key);
      const Decision again = observe(cache, key);
      ASSERT_EQ(again.action, Action::merge);
      ASSERT_EQ(again.novelty, 0.0F);
      ASSERT_EQ(again.similarity, 1.0F);
      ASSERT_EQ((*cache.nearest(key))->similarity, 1.0F);
    }
  }
}

// Integer vectors, opposite ones among them: every similarity is a cosine in [-1, 1]. [A9]
TEST(IntegerVectors, FindThemselvesAndTheirOpposites) {
  const std::vector<Vector> square = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                      {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
  testing::on_every_target([&] {
    Cache cache = testing::make_cache(testing::plain_config(2, .2F));
    for (const Vector& corner : square) {
      const Decision decision = observe(cache, corner);
      EXPECT_EQ(decision.action, Action::allocate);
      EXPECT_GE(decision.novelty, 0.0F);
      EXPECT_LE(decision.novelty, 2.0F);
    }
    for (std::size_t i = 0; i < square.size(); ++i) {
      const auto matches = cache.score(square[i], top(8))->front();
      EXPECT_EQ(matches.front().slot, i + 1);
      EXPECT_EQ(matches.front().similarity, 1.0F);
      EXPECT_EQ(matches.back().slot, (i + 4) % 8 + 1);
      EXPECT_EQ(matches.back().similarity, -1.0F);
      for (const Match& match : matches) EXPECT_LE(std::fabs(match.similarity), 1.0F);
    }
  });
}

// A vector of another length is an error, never a number. [A11]
TEST(VectorsOfAnotherLength, AreRefusedAndChangeNothing) {
  Cache cache = testing::make_cache(testing::plain_config(4, .1F));
  observe(cache, {1, 0, 0, 0});
  const Bytes before = cache.save();
  for (const std::size_t length : {0U, 1U, 3U, 5U, 16U, 64U, 70'000U}) {
    const Vector key(length, 1.0F);
    EXPECT_EQ(cache.observe(testing::item_of(key)).status.code, Error::bad_shape);
    EXPECT_EQ(cache.read(key).status.code, Error::bad_shape);
    EXPECT_EQ(cache.nearest(key).status.code, Error::bad_shape);
  }
  EXPECT_EQ(cache.save(), before);
}

// One bad item refuses the batch, wherever it stands, before anything is written. [A13]
TEST(Batches, AreTakenWholeOrNotAtAll) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Vector& bad :
       {Vector{kNan, 0}, Vector{1, kInfinity}, Vector{}, Vector{0, 0}, Vector{1, 2, 3}}) {
    for (std::size_t place = 0; place < 5; ++place) {
      Cache cache = testing::make_cache(testing::plain_config(2, .1F));
      observe(cache, {1, 0});
      const Bytes before = cache.save();
      std::vector<Vector> keys(5, Vector{0, 1});
      keys[place] = bad;
      std::vector<Item> items;
      for (const Vector& key : keys) items.push_back(testing::item_of(key));
      const BatchResult result = cache.observe_batch(items);
      ASSERT_EQ(result.errors.size(), 1U);
      EXPECT_EQ(result.errors[0].index, place);
      EXPECT_EQ(cache.save(), before);
    }
  }
}

// A threshold of 0 is 0, however it is given, now or later. [A17]
TEST(TauOfZero, MergesExactRepeatsAlone) {
  const auto expect_exact = [](Cache& cache) {
    EXPECT_EQ(threshold(cache.config()), 0.0F);
    const Decision first = observe(cache, {1, 0, 0});
    const Decision near = observe(cache, {1, .04F, 0});  // a cosine of .999
    EXPECT_EQ(near.action, Action::allocate);
    EXPECT_EQ(near.nearest->slot, first.slot);
    EXPECT_NEAR(near.similarity, .9992F, 1e-4F);
    EXPECT_EQ(observe(cache, {2, 0, 0}).slot, first.slot);
  };
  Cache made = testing::make_cache(testing::plain_config(3, 0.0F));
  expect_exact(made);
  for (const char* json : {R"({"dimension":3,"tau":0})", R"({"dimension":3,"tau":0.0})",
                           R"({"dimension":3,"tau":-0.0})", R"({"dimension":3,"gate":{"b":0}})"}) {
    Cache read = testing::make_cache(*config_from_json(json));
    expect_exact(read);
  }
  Cache loaded = testing::copy_of(testing::make_cache(testing::plain_config(3, 0.0F)));
  expect_exact(loaded);
  Cache changed = testing::make_cache(testing::plain_config(3, .4F));
  ASSERT_TRUE(changed.configure(testing::plain_config(3, 0.0F)));
  expect_exact(changed);
}

// A similarity given where a novelty is wanted is noticed, in both directions. [A19]
TEST(Thresholds, ThatLookWrongAreWarnedAbout) {
  EXPECT_NE(testing::make_cache(testing::plain_config(8, .95F)).warning(), "");
  EXPECT_EQ(testing::make_cache(testing::plain_config(8, .4F)).warning(), "");
  const streams::Rule rule{5, 8, 200, 0.0F};
  Cache strict = testing::make_cache(testing::plain_config(8, 0.0F));
  Cache loose = testing::make_cache(testing::plain_config(8, .79F));
  Cache fine = testing::make_cache(testing::plain_config(8, .2F));
  Cache alike = testing::make_cache(testing::plain_config(8, .4F));
  const streams::Rule noisy{5, 8, 6, .05F};
  Vector narrow(8, 1.0F);
  for (std::uint64_t t = 0; t < 200; ++t) {
    Vector key = rule.key(t);
    key[t % 8] += static_cast<float>(t);  // no two alike
    observe(strict, key);
    narrow[t % 8] += .01F;
    observe(loose, narrow);
    observe(fine, noisy.key(t));
    observe(alike, {1, 2, 3, 4, 5, 6, 7, 8});
  }
  EXPECT_NE(strict.warning(), "");
  EXPECT_NE(loose.warning(), "");
  EXPECT_EQ(fine.warning(), "");
  EXPECT_EQ(alike.warning(), "");  // a stream of one item is no fault of the threshold
  EXPECT_NE(strict.warning().find("novelty"), std::string::npos);
}

// Vectors of two encoders are never compared, though they have one length. [A21, A23]
TEST(Encoders, AreNotMixed) {
  Config config = testing::plain_config(2, .1F);
  config.encoder = "model/1";
  Cache cache = testing::make_cache(config);
  Item item = testing::item_of({});
  const Vector key = {1, 0};
  item.key = key;
  item.encoder = "model/1";
  EXPECT_TRUE(cache.observe(item));
  for (const char* other : {"model/2", "model/", "model/1 ", "MODEL/1", "x"}) {
    item.encoder = other;
    EXPECT_EQ(cache.observe(item).status.code, Error::encoder_mismatch);
    QueryOptions options;
    options.encoder = other;
    EXPECT_EQ(cache.read(key, options).status.code, Error::encoder_mismatch);
    EXPECT_EQ(testing::copy_of(cache).read(key, options).status.code, Error::encoder_mismatch);
    config.encoder = other;
    EXPECT_EQ(cache.configure(config).code, Error::bad_config);
  }
  EXPECT_EQ(cache.size(), 1U);
}

// Nothing filters before the vectors: another exact key does not keep alike items apart. [C1]
TEST(ExactKeys, AreNoFilterBeforeTheVectors) {
  Cache cache = testing::make_cache(testing::plain_config(3, .3F));
  OwnedItem item;
  item.key = {1, .2F, 0};
  item.exact_key = "capital of X?";
  EXPECT_EQ(cache.observe(item.view())->action, Action::allocate);
  item.key = {1, .1F, 0};
  item.exact_key = "X's capital?";
  EXPECT_EQ(cache.observe(item.view())->action, Action::merge);
  EXPECT_EQ(cache.slots().at(0).exact_keys.size(), 2U);
}

// One name, vectors far apart: one slot, and the true similarity is told. [C3]
TEST(ExactKeys, MergeWhateverTheVectorsSay) {
  for (const float tau : {0.0F, .4F}) {
    Cache cache = testing::make_cache(testing::plain_config(16, tau));
    const streams::Rule rule{9, 16, 40, .2F};
    SlotId slot = 0;
    for (std::uint64_t t = 0; t < 20; ++t) {
      OwnedItem item;
      item.key = rule.key(t);
      item.exact_key = "one name";
      const Decision decision = *cache.observe(item.view());
      if (t == 0) slot = decision.slot;
      EXPECT_EQ(decision.slot, slot);
      EXPECT_EQ(decision.action, t == 0 ? Action::allocate : Action::merge);
      EXPECT_EQ(decision.novelty, 1.0F - decision.similarity);
    }
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.slots()[0].count, 20U);
    EXPECT_EQ(cache.slots()[0].exact_keys, (std::vector<std::string_view>{"one name"}));
  }
}

// Adding what is there keeps it. [C5]
TEST(Repeats, NeverRemoveWhatTheyRepeat) {
  for (const KeyUpdate update : {KeyUpdate::frozen, KeyUpdate::centroid}) {
    Config config = testing::plain_config(3, .2F);
    config.key_update = update;
    config.max_slots = 2;
    Cache cache = testing::make_cache(config);
    OwnedItem item;
    item.key = {1, 2, 3};
    item.payload = "kept";
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(cache.observe(item.view()));
      ASSERT_EQ(cache.size(), 1U);
      ASSERT_EQ(cache.slots()[0].payload, "kept");
      ASSERT_EQ(cache.slots()[0].count, static_cast<std::uint64_t>(i + 1));
    }
  }
}

// Of ten alike all ten are named by what merged them. [C9]
TEST(Merges, AreAllRecorded) {
  Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  std::vector<std::string> recorded;
  cache.on_event([&](const Event& event) {
    if (event.decision.slot == 1) recorded.emplace_back(event.item.payload);
  });
  for (int id = 0; id < 10; ++id) {
    OwnedItem item;
    item.key = {1, 0};
    item.payload = std::to_string(id);
    cache.observe(item.view());
  }
  EXPECT_EQ(recorded.size(), 10U);
  EXPECT_EQ(std::set<std::string>(recorded.begin(), recorded.end()).size(), 10U);
  EXPECT_EQ(cache.slots()[0].count, 10U);
}

// What is almost alike is named as the nearest miss and not fused. [C11]
TEST(NearMisses, AreNamedWithTheirSimilarity) {
  Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  observe(cache, {1, 0});
  observe(cache, {0, 1});
  const Decision decision = observe(cache, {.8F, .6F});
  EXPECT_EQ(decision.action, Action::allocate);
  ASSERT_TRUE(decision.nearest);
  EXPECT_EQ(decision.nearest->slot, 1U);
  EXPECT_NEAR(decision.nearest->similarity, .8F, 1e-6F);
  EXPECT_EQ(decision.threshold, .1F);
}

// A chain a ~ b ~ c … does not end in one slot: with frozen keys every item is near its slot's
// first. [D1]
TEST(Chains, DoNotGrowIntoOneSlot) {
  constexpr double kStep = .05;
  Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  SlotId first = 0;
  SlotId last = 0;
  for (int i = 0; i < 120; ++i) {
    const double angle = i * kStep;
    const Vector key = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    const Decision decision = observe(cache, key);
    if (i == 0) first = decision.slot;
    if (i == 60) last = decision.slot;  // on the other side
    const Slot slot = *cache.slot(decision.slot);
    EXPECT_LE(1.0F - (key[0] * slot.key[0] + key[1] * slot.key[1]), .1F + 1e-6F);
  }
  EXPECT_NE(first, last);
  EXPECT_GE(cache.size(), 12U);
}

// A merge can be seen: where, how alike, and from which threshold. It is undone by replaying the
// events up to it. [D5]
TEST(Merges, AreExplainedAndCanBeUndone) {
  Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  const testing::EventLog log(cache);
  observe(cache, {1, 0});
  const Bytes before = cache.save();
  const Decision merge = observe(cache, {1, .1F});
  EXPECT_EQ(merge.action, Action::merge);
  EXPECT_GT(merge.similarity, .99F);
  EXPECT_EQ(merge.threshold, .1F);
  cache.on_event({});

  Cache undone = testing::make_cache(testing::plain_config(2, .1F));
  const Result<DecodedEvent> first = decode_event(log.events().at(0));
  ASSERT_TRUE(first);
  ASSERT_TRUE(undone.apply(first->event()));
  EXPECT_EQ(undone.save(), before);
}

// Three points in a row, neighbours within the threshold, ends not: the leader rule gives two
// slots, and the order decides which. [D7]
TEST(LeaderRule, GivesTwoSlotsForThreePointsInARow) {
  const std::vector<Vector> row = {{1, 0}, {1, .5F}, {1, 1.2F}};
  Cache ends_first = testing::make_cache(testing::plain_config(2, .15F));
  for (const std::size_t i : {0U, 1U, 2U}) observe(ends_first, row[i]);
  EXPECT_EQ(ends_first.size(), 2U);
  EXPECT_EQ(ends_first.slots()[0].count, 2U);
  Cache middle_first = testing::make_cache(testing::plain_config(2, .15F));
  for (const std::size_t i : {1U, 0U, 2U}) observe(middle_first, row[i]);
  EXPECT_EQ(middle_first.size(), 1U);
}

// Items that came once are three slots that say so. [D9]
TEST(Singletons, CountOne) {
  Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  for (const Vector& key : {Vector{1, 0}, Vector{0, 1}, Vector{-1, 0}}) observe(cache, key);
  ASSERT_EQ(cache.size(), 3U);
  for (const Slot& slot : cache.slots()) {
    EXPECT_EQ(slot.count, 1U);
    EXPECT_EQ(slot.usage, 1.0);
    EXPECT_EQ(slot.first_time, slot.last_time);
  }
}

// Two caches from one file are two states: each event follows its own, and the other's is refused
// rather than lost. [F1]
TEST(TwoWriters, OfOneMemoryAreToldApartByTheirEvents) {
  const Cache origin = testing::full_cache();
  Cache a = testing::copy_of(origin);
  Cache b = testing::copy_of(origin);
  const testing::EventLog log_a(a);
  OwnedItem item;
  item.value = {1, 2, 3};
  item.key = {-1, 0, 0, 0, 0};
  ASSERT_TRUE(a.observe(item.view()));
  item.key = {0, -1, 0, 0, 0};
  ASSERT_TRUE(b.observe(item.view()));
  const Bytes state_of_b = b.save();
  const Result<DecodedEvent> event = decode_event(log_a.events().at(0));
  ASSERT_TRUE(event);
  EXPECT_EQ(b.apply(event->event()).code, Error::conflict);
  EXPECT_EQ(b.save(), state_of_b);
  EXPECT_NE(a.stats().state_hash, b.stats().state_hash);
  EXPECT_NE(b.stats().state_hash, origin.stats().state_hash);
}

// Slots are named by numbers that no text can spoil, and stay the same slot. [F9]
TEST(Payloads, HoldAnyBytesAndAreReplacedWithTheirItem) {
  Config config = testing::plain_config(2, .1F);
  Cache cache = testing::make_cache(config);
  OwnedItem item;
  item.key = {1, 0};
  for (const std::string& payload :
       {std::string("../../etc"), std::string("a\0b", 3), std::string("\xFF\xFE"),
        std::string(100'000, 'x'), std::string("function () {}"), std::string("last")}) {
    item.payload = payload;
    item.exact_key = payload;
    ASSERT_EQ(cache.observe(item.view())->slot, 1U);
    EXPECT_EQ(cache.slots()[0].payload, payload);
    cache = testing::copy_of(cache);
    EXPECT_EQ(cache.slots()[0].payload, payload);
    EXPECT_EQ(cache.slots()[0].exact_keys.back(), payload);
  }
}

// After most slots went, as many are found as there are. [F13]
TEST(Erasing, LeavesEveryOtherSlotToBeFound) {
  constexpr std::uint32_t kSlots = 400;
  const streams::Rule rule{12, 24, kSlots, 0.0F};
  Cache cache = testing::make_cache(testing::plain_config(24, 0.0F));
  std::vector<Vector> keys;
  for (std::uint32_t source = 0; source < kSlots; ++source) {
    Vector key(24);
    for (std::uint32_t d = 0; d < 24; ++d) key[d] = rule.base(source, d);
    keys.push_back(key);
    observe(cache, key);
  }
  for (SlotId id = 1; id <= kSlots; ++id) {
    if (id % 10 < 3) continue;
    ASSERT_TRUE(cache.erase(id));
  }
  const auto matches = cache.score(keys[5], top(1000))->front();
  EXPECT_EQ(matches.size(), cache.size());
  EXPECT_EQ(matches.size(), kSlots * 3 / 10);
  for (SlotId id = 1; id <= kSlots; ++id) {
    const Match nearest = **cache.nearest(keys[id - 1]);
    EXPECT_EQ(nearest.slot == id, id % 10 < 3) << id;
    EXPECT_EQ(static_cast<bool>(cache.slot(id)), id % 10 < 3) << id;
  }
}

// A query of another kind finds nothing to be sure of: the null slot says so. [B7]
TEST(UnknownQueries, GiveTheirWeightToTheNullSlot) {
  Config config = testing::plain_config(3, .3F);
  config.null_similarity = .6F;
  Cache cache = testing::make_cache(config);
  EXPECT_EQ(cache.read(Vector{1, 0, 0})->null_weight, 1.0F);
  observe(cache, {1, 0, 0});
  EXPECT_LT(cache.read(Vector{1, 0, 0})->null_weight, .001F);
  EXPECT_GT(cache.read(Vector{0, 1, 0})->null_weight, .999F);
}

// A merge does not lengthen a life. [B19]
TEST(Expiry, IsCountedFromTheFirstItem) {
  Config config = testing::plain_config(2, .1F);
  config.ttl_ms = 10;
  Cache cache = testing::make_cache(config);
  OwnedItem item;
  item.key = {1, 0};
  for (std::int64_t time = 0; time < 10; ++time) {
    item.time = time;
    item.ttl_ms = 1000;  // of the item that merges: it does not count
    if (time == 0) item.ttl_ms.reset();
    ASSERT_EQ(cache.observe(item.view())->slot, 1U);
  }
  QueryOptions options;
  options.time = 9;
  EXPECT_TRUE(cache.nearest(item.key, options)->has_value());
  options.time = 10;
  EXPECT_FALSE(cache.nearest(item.key, options)->has_value());
  EXPECT_TRUE(cache.read(item.key, options)->empty);
  item.time = 10;
  item.ttl_ms.reset();
  EXPECT_EQ(cache.observe(item.view())->action, Action::allocate);
  EXPECT_EQ(cache.stats().expirations, 1U);
}

}  // namespace
}  // namespace dpcache
