// What is refused, for every public function and every code: the code, which field, which item, and
// that the cache is as it was.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "native/memory_file.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::OwnedItem;
using testing::Random;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kTooLate = kMaxInteger + 1;

// A cache of three slots with everything in use.
Config config_of_tests() {
  Config config = testing::plain_config(4, .1F);
  config.value_dimension = 2;
  config.encoder = "encoder/1";
  config.ttl_ms = 1000;
  config.keep_sums = true;
  return config;
}

OwnedItem good_item(std::size_t which = 0) {
  OwnedItem item;
  item.key = {0, 0, 0, 0};
  item.key[which % 4] = 2.0F;
  item.value = {1, 2};
  item.payload = "p";
  return item;
}

Cache filled_cache() {
  Cache cache = testing::make_cache(config_of_tests());
  for (std::size_t i = 0; i < 3; ++i) {
    OwnedItem item = good_item(i);
    item.exact_key = "exact " + std::to_string(i);
    EXPECT_TRUE(cache.observe(item.view()));
  }
  return cache;
}

struct BadItem {
  const char* name;
  Error code;
  const char* pointer;
  std::function<void(OwnedItem&, Item&)> spoil;  // views are taken of the item after its change
};

template <class Change>
BadItem bad_item(const char* name, Error code, const char* pointer, Change change) {
  return {name, code, pointer, [change](OwnedItem& item, Item& view) {
            change(item);
            view = item.view();
          }};
}

const std::vector<BadItem>& bad_items() {
  static const std::vector<BadItem> kAll = {
      bad_item("no key", Error::bad_shape, "/key", [](OwnedItem& i) { i.key.clear(); }),
      bad_item("a short key", Error::bad_shape, "/key", [](OwnedItem& i) { i.key.pop_back(); }),
      bad_item("a long key", Error::bad_shape, "/key", [](OwnedItem& i) { i.key.push_back(1); }),
      bad_item("a padded key", Error::bad_shape, "/key", [](OwnedItem& i) { i.key.resize(16); }),
      bad_item("NaN in the key", Error::not_finite, "/key/2",
               [](OwnedItem& i) { i.key[2] = kNaN; }),
      bad_item("infinity in the key", Error::not_finite, "/key/3",
               [](OwnedItem& i) { i.key[3] = kInfinity; }),
      bad_item("minus infinity in the key", Error::not_finite, "/key/0",
               [](OwnedItem& i) { i.key[0] = -kInfinity; }),
      bad_item("the first of two NaNs", Error::not_finite, "/key/1",
               [](OwnedItem& i) { i.key[1] = i.key[3] = -kNaN; }),
      bad_item("a key of zeros", Error::zero_norm, "/key",
               [](OwnedItem& i) { i.key.assign(4, 0.0F); }),
      bad_item("a key of negative zeros", Error::zero_norm, "/key",
               [](OwnedItem& i) { i.key.assign(4, -0.0F); }),
      bad_item("no value", Error::bad_shape, "/value", [](OwnedItem& i) { i.value.clear(); }),
      bad_item("a long value", Error::bad_shape, "/value",
               [](OwnedItem& i) { i.value.push_back(0); }),
      bad_item("NaN in the value", Error::not_finite, "/value/1",
               [](OwnedItem& i) { i.value[1] = kNaN; }),
      bad_item("infinity in the value", Error::not_finite, "/value/0",
               [](OwnedItem& i) { i.value[0] = kInfinity; }),
      bad_item("a time of 2^53", Error::bad_request, "/time",
               [](OwnedItem& i) { i.time = kTooLate; }),
      bad_item("a time of -2^53", Error::bad_request, "/time",
               [](OwnedItem& i) { i.time = -kTooLate; }),
      bad_item("the least time", Error::bad_request, "/time",
               [](OwnedItem& i) { i.time = std::numeric_limits<std::int64_t>::min(); }),
      bad_item("the largest time", Error::bad_request, "/time",
               [](OwnedItem& i) { i.time = std::numeric_limits<std::int64_t>::max(); }),
      bad_item("a negative TTL", Error::bad_request, "/ttl_ms",
               [](OwnedItem& i) { i.ttl_ms = -1; }),
      bad_item("a TTL of 2^53", Error::bad_request, "/ttl_ms",
               [](OwnedItem& i) { i.ttl_ms = kTooLate; }),
      {"another encoder", Error::encoder_mismatch, "/encoder",
       [](OwnedItem& item, Item& view) {
         view = item.view();
         view.encoder = "encoder/2";
       }},
      {"an encoder whose name begins alike", Error::encoder_mismatch, "/encoder",
       [](OwnedItem& item, Item& view) {
         view = item.view();
         view.encoder = "encoder/";
       }},
  };
  return kAll;
}

void expect_refused(const Status& status, Error code, const std::string& pointer,
                    std::size_t index = 0) {
  EXPECT_FALSE(status);
  EXPECT_STREQ(to_string(status.code), to_string(code)) << status.detail;
  EXPECT_EQ(status.pointer, pointer);
  EXPECT_EQ(status.index, index);
  EXPECT_FALSE(status.detail.empty());
}

TEST(Observe, RefusesBadItemsAndLeavesTheCacheAsItWas) {
  Cache cache = filled_cache();
  const Bytes before = cache.save();
  for (const BadItem& bad : bad_items()) {
    SCOPED_TRACE(bad.name);
    OwnedItem item = good_item();
    item.time = 5000;  // the slots would expire
    Item view;
    bad.spoil(item, view);
    expect_refused(cache.observe(view).status, bad.code, bad.pointer);
    EXPECT_EQ(cache.save(), before);
  }
}

TEST(Observe, AcceptsTheLargestTimesAndTheEncoderThatItHas) {
  Cache cache = filled_cache();
  OwnedItem item = good_item(3);
  item.time = -kMaxInteger;
  item.ttl_ms = kMaxInteger;
  Item view = item.view();
  view.encoder = "encoder/1";
  EXPECT_TRUE(cache.observe(view));
  item = good_item(3);
  item.time = kMaxInteger;
  item.ttl_ms = kMaxInteger;
  EXPECT_TRUE(cache.observe(item.view()));
  // Times stay integers that JavaScript holds; beyond that a slot never goes.
  for (const Slot& slot : cache.slots()) {
    EXPECT_LE(slot.expires.value_or(0), kMaxInteger);
  }
  EXPECT_TRUE(Cache::load(cache.save()));
}

TEST(ObserveBatch, NamesEveryBadItemAndAppliesNone) {
  Cache cache = filled_cache();
  const Bytes before = cache.save();
  std::vector<OwnedItem> items;
  for (std::size_t i = 0; i < 2 * bad_items().size() + 1; ++i) items.push_back(good_item(i));
  std::vector<Item> views;
  for (OwnedItem& item : items) views.push_back(item.view());
  for (std::size_t i = 0; i < bad_items().size(); ++i) {
    bad_items()[i].spoil(items[2 * i + 1], views[2 * i + 1]);
  }
  const BatchResult result = cache.observe_batch(views);
  EXPECT_FALSE(result);
  EXPECT_TRUE(result.decisions.empty());
  ASSERT_EQ(result.errors.size(), bad_items().size());
  for (std::size_t i = 0; i < bad_items().size(); ++i) {
    SCOPED_TRACE(bad_items()[i].name);
    expect_refused(result.errors[i], bad_items()[i].code, bad_items()[i].pointer, 2 * i + 1);
  }
  EXPECT_EQ(cache.save(), before);
}

TEST(ObserveBatch, OfNothingDoesNothing) {
  Cache cache = filled_cache();
  const Bytes before = cache.save();
  const BatchResult result = cache.observe_batch({});
  EXPECT_TRUE(result);
  EXPECT_TRUE(result.decisions.empty());
  EXPECT_EQ(cache.save(), before);
}

// The same rule for a query as for a key.
TEST(Queries, AreRefusedAsKeysAre) {
  const Cache cache = filled_cache();
  const Bytes before = cache.save();
  for (const BadItem& bad : bad_items()) {
    const std::string pointer = bad.pointer;
    if (!pointer.starts_with("/key")) continue;
    SCOPED_TRACE(bad.name);
    OwnedItem item = good_item();
    Item view;
    bad.spoil(item, view);
    expect_refused(cache.read(view.key).status, bad.code, pointer);
    expect_refused(cache.nearest(view.key).status, bad.code, pointer);
    if (bad.code == Error::bad_shape && view.key.size() % 4 == 0) continue;  // several queries
    const Status scored = cache.score(view.key).status;
    EXPECT_EQ(scored.code, bad.code);
    EXPECT_FALSE(scored);
  }
  EXPECT_EQ(cache.save(), before);
}

TEST(Queries, NameTheBadOneOfSeveral) {
  const Cache cache = filled_cache();
  std::vector<float> queries(12, 1.0F);
  queries[9] = kNaN;
  expect_refused(cache.score(queries).status, Error::not_finite, "/key/1", 2);
  queries[9] = 1.0F;
  std::fill_n(queries.begin() + 4, 4, 0.0F);
  expect_refused(cache.score(queries).status, Error::zero_norm, "/key", 1);
  queries.pop_back();
  expect_refused(cache.score(queries).status, Error::bad_shape, "/queries");
  EXPECT_TRUE(cache.score({}));
  EXPECT_TRUE(cache.score({})->empty());
}

TEST(Queries, RefuseBadOptions) {
  const Cache cache = filled_cache();
  const std::vector<float> query = {1, 1, 1, 1};
  const auto expect_all = [&](const QueryOptions& options, Error code, const char* pointer) {
    expect_refused(cache.read(query, options).status, code, pointer);
    expect_refused(cache.nearest(query, options).status, code, pointer);
    expect_refused(cache.score(query, options).status, code, pointer);
  };
  QueryOptions options;
  options.encoder = "encoder/2";
  expect_all(options, Error::encoder_mismatch, "/encoder");
  options.encoder = {};
  options.time = kTooLate;
  expect_all(options, Error::bad_request, "/time");
  options.time = -kTooLate;
  expect_all(options, Error::bad_request, "/time");
  options.time = kMaxInteger;
  EXPECT_TRUE(cache.read(query, options));
  EXPECT_TRUE(cache.read(query, options)->empty);
}

TEST(Queries, RefuseANamedEncoderWhereTheMemoryHasNone) {
  const Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  QueryOptions options;
  options.encoder = "encoder/1";
  const std::vector<float> query = {1, 0};
  expect_refused(cache.read(query, options).status, Error::encoder_mismatch, "/encoder");
}

TEST(Slots, ThatAreNotThereAreNotFound) {
  Cache cache = filled_cache();
  ASSERT_TRUE(cache.erase(2));
  const Bytes before = cache.save();
  for (const SlotId id : {SlotId{0}, SlotId{2}, SlotId{4}, SlotId{1} << 53, ~SlotId{0}}) {
    expect_refused(cache.slot(id).status, Error::not_found, "/slot");
    expect_refused(cache.erase(id), Error::not_found, "/slot");
    EXPECT_EQ(cache.save(), before);
  }
  expect_refused(cache.erase(1, kTooLate), Error::bad_request, "/time");
  expect_refused(cache.erase(1, -kTooLate), Error::bad_request, "/time");
  EXPECT_EQ(cache.save(), before);
  EXPECT_TRUE(cache.slots(~SlotId{0}).empty());
  EXPECT_TRUE(cache.slots(3).empty());
  EXPECT_EQ(cache.slots(0, 0).size(), 0U);
  EXPECT_EQ(cache.slots(1).size(), 1U);
}

TEST(Consolidate, RefusesWhatItCannotDo) {
  Cache cache = filled_cache();
  const Bytes before = cache.save();
  for (const float similarity : {-1.0001F, 1.0001F, kNaN, kInfinity, -kInfinity}) {
    expect_refused(cache.consolidate(similarity).status, Error::bad_request, "/similarity");
  }
  expect_refused(cache.consolidate({}, kTooLate).status, Error::bad_request, "/time");
  EXPECT_EQ(cache.save(), before);

  Cache without_sums = testing::make_cache(testing::plain_config(4, .1F));
  const Bytes empty = without_sums.save();
  expect_refused(without_sums.consolidate().status, Error::bad_config, "/keep_sums");
  EXPECT_EQ(without_sums.save(), empty);
}

TEST(Configure, RefusesWhatIsFixedAndWhatIsOutOfRange) {
  Cache cache = filled_cache();
  const Bytes before = cache.save();
  struct Case {
    const char* pointer;
    std::function<void(Config&)> change;
  };
  const std::vector<Case> cases = {
      {"/dimension", [](Config& c) { c.dimension = 5; }},
      {"/dimension", [](Config& c) { c.dimension = 0; }},
      {"/value_dimension", [](Config& c) { c.value_dimension = 0; }},
      {"/key_update", [](Config& c) { c.key_update = KeyUpdate::centroid; }},
      {"/value_update", [](Config& c) { c.value_update = ValueUpdate::mean; }},
      {"/keep_sums", [](Config& c) { c.keep_sums = false; }},
      {"/encoder", [](Config& c) { c.encoder.reset(); }},
      {"/encoder", [](Config& c) { c.encoder = "encoder/2"; }},
      {"/tau", [](Config& c) { c.tau = 2.5F; }},
      {"/eta", [](Config& c) { c.eta = 0.0F; }},
  };
  for (const Case& bad : cases) {
    Config config = cache.config();
    bad.change(config);
    expect_refused(cache.configure(config), Error::bad_config, bad.pointer);
    EXPECT_EQ(cache.save(), before);
  }
  expect_refused(cache.configure(cache.config(), kTooLate), Error::bad_request, "/time");
  EXPECT_EQ(cache.save(), before);
}

// Ids end below 2^53. A cache that has used them all refuses what is new, and stays whole.
TEST(Ids, RunOutWithAnErrorAndNotWithAReusedId) {
  testing::MemoryFile file(filled_cache().save());
  const auto last = static_cast<std::uint64_t>(kMaxInteger);
  file.set_counter("next_id", last);
  file.set_counter("allocations", last - 1);
  file.set_counter("items", last - 1);
  file.set_counter("erasures", last - 4);
  file.set_counter("seq", last - 1 + last - 4);
  if (!Cache::load(file.bytes())) {  // more events than can be counted
    file.set_counter("evictions", last - 4);
    file.set_counter("erasures", 0);
    file.set_counter("seq", last - 1);
  }
  Result<Cache> loaded = Cache::load(file.bytes());
  ASSERT_TRUE(loaded) << loaded.status.detail;
  Cache& cache = *loaded;
  OwnedItem item = good_item(3);
  std::vector<Item> two(2, item.view());
  const Bytes before = cache.save();
  const BatchResult refused = cache.observe_batch(two);
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_EQ(refused.errors[0].code, Error::full);
  EXPECT_EQ(cache.save(), before);

  const Result<Decision> decision = cache.observe(item.view());
  if (decision) {
    EXPECT_EQ(decision->slot, last);
    EXPECT_TRUE(Cache::load(cache.save()));
  }
  item.key = {1, 1, 1, 1};
  const Bytes after = cache.save();
  EXPECT_EQ(cache.observe(item.view()).status.code, Error::full);
  EXPECT_EQ(cache.save(), after);
}

TEST(Create, RefusesEverySettingOutOfItsRange) {
  struct Case {
    const char* pointer;
    std::function<void(Config&)> change;
  };
  const std::vector<Case> bad = {
      {"/dimension", [](Config& c) { c.dimension = 0; }},
      {"/dimension", [](Config& c) { c.dimension = 65537; }},
      {"/value_dimension", [](Config& c) { c.value_dimension = 65537; }},
      {"/tau", [](Config& c) { c.tau = -1e-45F; }},
      {"/tau", [](Config& c) { c.tau = 2.0000002F; }},
      {"/tau", [](Config& c) { c.tau = kNaN; }},
      {"/tau", [](Config& c) { c.gate = Gate{}; }},
      {"/gate/a",
       [](Config& c) {
         c.tau.reset();
         c.gate = Gate{0.0F, .4F};
       }},
      {"/gate/a",
       [](Config& c) {
         c.tau.reset();
         c.gate = Gate{-1.0F, .4F};
       }},
      {"/gate/a",
       [](Config& c) {
         c.tau.reset();
         c.gate = Gate{kInfinity, .4F};
       }},
      {"/gate/a",
       [](Config& c) {
         c.tau.reset();
         c.gate = Gate{kNaN, .4F};
       }},
      {"/gate/b",
       [](Config& c) {
         c.tau.reset();
         c.gate = Gate{1.0F, -.1F};
       }},
      {"/gate/b",
       [](Config& c) {
         c.tau.reset();
         c.gate = Gate{1.0F, kNaN};
       }},
      {"/theta", [](Config& c) { c.theta = 0.0F; }},
      {"/theta", [](Config& c) { c.theta = -1.0F; }},
      {"/theta", [](Config& c) { c.theta = 9e-5F; }},
      {"/theta", [](Config& c) { c.theta = kInfinity; }},
      {"/theta", [](Config& c) { c.theta = kNaN; }},
      {"/ema", [](Config& c) { c.ema = 0.0F; }},
      {"/ema", [](Config& c) { c.ema = 1.0000001F; }},
      {"/ema", [](Config& c) { c.ema = kNaN; }},
      {"/usage_decay", [](Config& c) { c.usage_decay = 0.0F; }},
      {"/usage_decay", [](Config& c) { c.usage_decay = 1.0000001F; }},
      {"/usage_decay", [](Config& c) { c.usage_decay = -0.5F; }},
      {"/usage_decay", [](Config& c) { c.usage_decay = kNaN; }},
      {"/max_slots", [](Config& c) { c.max_slots = 0; }},
      {"/max_slots", [](Config& c) { c.max_slots = std::uint64_t{1} << 53; }},
      {"/m0", [](Config& c) { c.m0 = 0.99F; }},
      {"/m0", [](Config& c) { c.m0 = 0x1p25F; }},
      {"/m0", [](Config& c) { c.m0 = kNaN; }},
      {"/beta", [](Config& c) { c.beta = -1.0F; }},
      {"/beta", [](Config& c) { c.beta = kInfinity; }},
      {"/eta", [](Config& c) { c.eta = 0.0F; }},
      {"/eta", [](Config& c) { c.eta = 1.5F; }},
      {"/null_similarity", [](Config& c) { c.null_similarity = 1.0000001F; }},
      {"/null_similarity", [](Config& c) { c.null_similarity = kNaN; }},
      {"/ttl_ms", [](Config& c) { c.ttl_ms = -1; }},
      {"/ttl_ms", [](Config& c) { c.ttl_ms = kTooLate; }},
      {"/key_update", [](Config& c) { c.key_update = static_cast<KeyUpdate>(2); }},
      {"/value_update", [](Config& c) { c.value_update = static_cast<ValueUpdate>(4); }},
      {"/budget", [](Config& c) { c.budget = static_cast<BudgetKind>(4); }},
      {"/shrink", [](Config& c) { c.shrink = static_cast<Shrink>(2); }},
      {"/encoder", [](Config& c) { c.encoder = ""; }},
      {"/encoder", [](Config& c) { c.encoder = "line\nbreak"; }},
      {"/encoder", [](Config& c) { c.encoder = "gr\xC3\xBC\xC3\x9F"; }},
      {"/encoder", [](Config& c) { c.encoder = std::string(1025, 'x'); }},
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Config config = testing::plain_config(4, .1F);
    bad[i].change(config);
    expect_refused(check(config), Error::bad_config, bad[i].pointer);
    expect_refused(Cache::create(config).status, Error::bad_config, bad[i].pointer);
  }
}

// Zero is a setting, not the lack of one.
TEST(Create, HonoursZero) {
  Config config = testing::plain_config(3, 0.0F);
  config.ttl_ms = 0;
  config.null_similarity = 0.0F;
  config.beta = 0.0F;
  config.budget = BudgetKind::adaptive;
  config.m0 = 1.0F;
  EXPECT_TRUE(check(config));
  EXPECT_EQ(threshold(config), 0.0F);

  config = testing::plain_config(3, 0.0F);
  Cache exact = testing::make_cache(config);
  exact.observe(testing::item_of(std::vector<float>{1, 0, 0}));
  const Decision near = *exact.observe(testing::item_of(std::vector<float>{1, .04F, 0}));
  EXPECT_EQ(near.action, Action::allocate) << "a cosine of .999 is no exact repeat";
  EXPECT_EQ(near.threshold, 0.0F);

  config.tau = .5F;
  config.ttl_ms = 0;
  Cache brief = testing::make_cache(config);
  brief.observe(testing::item_of(std::vector<float>{1, 0, 0}));
  EXPECT_EQ(brief.slots().at(0).expires, 0);
  EXPECT_EQ(brief.observe(testing::item_of(std::vector<float>{1, 0, 0}))->action, Action::allocate);

  config.ttl_ms.reset();
  config.null_similarity = 0.0F;
  Cache doubtful = testing::make_cache(config);
  EXPECT_EQ(doubtful.read(std::vector<float>{1, 0, 0})->null_weight, 1.0F);
}

TEST(ConfigFromJson, RefusesWhatIsNoObject) {
  for (const char* text : {"",
                           " ",
                           "null",
                           "1",
                           "[]",
                           "\"dimension\"",
                           "{",
                           "{\"dimension\":4",
                           "{\"dimension\":4}}",
                           "{\"dimension\":4} 1",
                           "{dimension:4}",
                           "{'dimension':4}",
                           "{\"dimension\":NaN}",
                           "{\"dimension\":4,\"tau\":Infinity}",
                           "{\"dimension\":4,\"tau\":-Infinity}",
                           "{\"dimension\":4,\"tau\":nan}",
                           "{\"dimension\":4,}",
                           "{\"dimension\":04}",
                           "{\"dimension\":4,\"tau\":.4}",
                           "{\"dimension\":4,\"tau\":1e999}",
                           "{\"encoder\":\"\xFF\"}",
                           "{\"encoder\":\"\\ud800\"}",
                           "{\"dimension\":4 /* four */}"}) {
    const Status status = config_from_json(text).status;
    EXPECT_EQ(status.code, Error::bad_request) << text << ": " << to_string(status.code);
  }
  EXPECT_EQ(config_from_json(std::string_view("{\"dimension\":4}\0", 16)).status.code,
            Error::bad_request);
}

TEST(ConfigFromJson, PointsAtTheFieldThatItRefuses) {
  struct Case {
    const char* json;
    const char* pointer;
  };
  for (const Case& bad : {
           Case{R"({})", "/dimension"},
           Case{R"({"dimension":null})", "/dimension"},
           Case{R"({"dimension":-4})", "/dimension"},
           Case{R"({"dimension":4.0})", "/dimension"},
           Case{R"({"dimension":4.5})", "/dimension"},
           Case{R"({"dimension":"4"})", "/dimension"},
           Case{R"({"dimension":[4]})", "/dimension"},
           Case{R"({"dimension":true})", "/dimension"},
           Case{R"({"dimension":65537})", "/dimension"},
           Case{R"({"dimension":4294967300})", "/dimension"},  // 2^32 + 4
           Case{R"({"dimension":18446744073709551620})", "/dimension"},
           Case{R"({"dimension":18446744073709551615})", "/dimension"},
           Case{R"({"dimension":-9223372036854775808})", "/dimension"},
           Case{R"({"dimension":4,"value_dimension":-1})", "/value_dimension"},
           Case{R"({"dimension":4,"Tau":0.4})", "/Tau"},
           Case{R"({"dimension":4,"valueDimension":2})", "/valueDimension"},
           Case{R"({"dimension":4,"":1})", "/"},
           Case{R"({"dimension":4,"a/b~c":1})", "/a~1b~0c"},
           Case{R"({"dimension":4,"tau":"0.4"})", "/tau"},
           Case{R"({"dimension":4,"tau":"NaN"})", "/tau"},
           Case{R"({"dimension":4,"tau":{}})", "/tau"},
           Case{R"({"dimension":4,"tau":false})", "/tau"},
           Case{R"({"dimension":4,"tau":-0.1})", "/tau"},
           Case{R"({"dimension":4,"tau":1e39})", "/tau"},  // no float
           Case{R"({"dimension":4,"tau":0.4,"gate":{"a":1,"b":0.4}})", "/tau"},
           Case{R"({"dimension":4,"gate":0.4})", "/gate"},
           Case{R"({"dimension":4,"gate":[10,0.4]})", "/gate"},
           Case{R"({"dimension":4,"gate":{"a":0}})", "/gate/a"},
           Case{R"({"dimension":4,"gate":{"a":"10"}})", "/gate/a"},
           Case{R"({"dimension":4,"gate":{"b":3}})", "/gate/b"},
           Case{R"({"dimension":4,"gate":{"c":3}})", "/gate/c"},
           Case{R"({"dimension":4,"theta":0})", "/theta"},
           Case{R"({"dimension":4,"theta":1e-50})", "/theta"},
           Case{R"({"dimension":4,"key_update":"mean"})", "/key_update"},
           Case{R"({"dimension":4,"key_update":0})", "/key_update"},
           Case{R"({"dimension":4,"value_update":"Last"})", "/value_update"},
           Case{R"({"dimension":4,"budget":"auto"})", "/budget"},
           Case{R"({"dimension":4,"shrink":""})", "/shrink"},
           Case{R"({"dimension":4,"keep_sums":1})", "/keep_sums"},
           Case{R"({"dimension":4,"keep_sums":"true"})", "/keep_sums"},
           Case{R"({"dimension":4,"max_slots":0})", "/max_slots"},
           Case{R"({"dimension":4,"max_slots":-1})", "/max_slots"},
           Case{R"({"dimension":4,"max_slots":9007199254740992})", "/max_slots"},
           Case{R"({"dimension":4,"max_slots":1e3})", "/max_slots"},
           Case{R"({"dimension":4,"ttl_ms":-1})", "/ttl_ms"},
           Case{R"({"dimension":4,"ttl_ms":0.5})", "/ttl_ms"},
           Case{R"({"dimension":4,"ttl_ms":9007199254740992})", "/ttl_ms"},
           Case{R"({"dimension":4,"encoder":""})", "/encoder"},
           Case{R"({"dimension":4,"encoder":7})", "/encoder"},
           Case{R"({"dimension":4,"encoder":"caf\u00e9"})", "/encoder"},
       }) {
    const Result<Config> config = config_from_json(bad.json);
    EXPECT_EQ(config.status.code, Error::bad_config) << bad.json;
    EXPECT_EQ(config.status.pointer, bad.pointer) << bad.json;
    EXPECT_FALSE(config.status.detail.empty());
  }
}

TEST(ConfigFromJson, TakesNullForUnsetAndZeroForZero) {
  const Result<Config> unset = config_from_json(
      R"({"dimension":4,"value_dimension":null,"tau":null,"gate":null,"theta":null,"key_update":null,
          "value_update":null,"ema":null,"usage_decay":null,"budget":null,"max_slots":null,
          "keep_sums":null,"m0":null,"beta":null,"eta":null,"shrink":null,"null_similarity":null,
          "ttl_ms":null,"encoder":null})");
  ASSERT_TRUE(unset) << unset.status.detail;
  Config plain;
  plain.dimension = 4;
  EXPECT_EQ(*unset, plain);
  EXPECT_EQ(threshold(*unset), kDefaultTau);

  const Result<Config> zero = config_from_json(
      R"({"dimension":4,"value_dimension":0,"tau":0,"beta":0,"null_similarity":0,"ttl_ms":0})");
  ASSERT_TRUE(zero) << zero.status.detail;
  EXPECT_EQ(zero->tau, 0.0F);
  EXPECT_EQ(zero->beta, 0.0F);
  EXPECT_EQ(zero->null_similarity, 0.0F);
  EXPECT_EQ(zero->ttl_ms, 0);
  EXPECT_EQ(threshold(*zero), 0.0F);

  const Result<Config> negative = config_from_json(R"({"dimension":4,"tau":-0.0,"ttl_ms":-0})");
  ASSERT_TRUE(negative) << negative.status.detail;
  EXPECT_EQ(threshold(*negative), 0.0F);
  EXPECT_EQ(config_from_json(to_json(*negative)).value, *negative);

  const Result<Config> gate = config_from_json(R"({"dimension":4,"gate":{"b":0}})");
  ASSERT_TRUE(gate) << gate.status.detail;
  EXPECT_EQ(gate->gate->b, 0.0F);
  EXPECT_EQ(gate->gate->a, Gate{}.a);
}

TEST(ConfigFromJson, RoundsNumbersToFloatOnce) {
  EXPECT_EQ(config_from_json(R"({"dimension":4,"tau":0.1})")->tau, 0.1F);
  // Half way between two floats, and a little above: by way of a shorter decimal it would be lost.
  EXPECT_EQ(config_from_json(R"({"dimension":4,"tau":1.000000059604644775390625})")->tau, 1.0F);
  EXPECT_EQ(config_from_json(R"({"dimension":4,"tau":1.0000000596046450})")->tau, 1.0000001F);
}

TEST(ConfigFromJson, GivesBackEveryConfigBitForBit) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    Config config = testing::random_config(random);
    const auto any_float = [&](float low, float high) {  // any bits within the range
      for (;;) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
        if (x >= low && x <= high) return x;
      }
    };
    if (config.tau) config.tau = any_float(0.0F, 2.0F);
    if (config.gate) config.gate = Gate{any_float(1e-45F, 3e38F), any_float(0.0F, 2.0F)};
    config.theta = any_float(1e-4F, 100.0F);
    config.ema = any_float(1e-45F, 1.0F);
    config.usage_decay = any_float(1e-45F, 1.0F);
    config.m0 = any_float(1.0F, 0x1p24F);
    config.beta = any_float(0.0F, 0x1p24F);
    config.eta = any_float(1e-45F, 1.0F);
    if (config.null_similarity) config.null_similarity = any_float(-1.0F, 1.0F);
    if (random.one_in(2)) config.max_slots = 1 + (random.bits() >> 11U) % kMaxInteger;
    if (random.one_in(2)) config.ttl_ms = static_cast<std::int64_t>(random.bits() >> 11U);
    if (random.one_in(2)) config.encoder = "a \"quoted\\\" name/with~all " + std::to_string(seed);
    const std::string json = to_json(config);
    const Result<Config> back = config_from_json(json);
    ASSERT_TRUE(back) << json << back.status.detail;
    ASSERT_EQ(*back, config) << json;
    ASSERT_EQ(to_json(*back), json);
  }
}

// Hostile texts are refused in the time and memory that a config takes.
TEST(ConfigFromJson, RefusesDeepAndEndlessTexts) {
  std::string deep = R"({"dimension":4,"tau":)";
  deep.append(1'000'000, '[');
  EXPECT_FALSE(config_from_json(deep));
  std::string closed = deep;
  closed.append(1'000'000, ']');
  closed += "}";
  EXPECT_FALSE(config_from_json(closed));
  std::string wide = R"({"dimension":4)";
  for (int i = 0; i < 200'000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  wide += "}";
  EXPECT_FALSE(config_from_json(wide));
}

TEST(Errors, HaveTheNamesOfTheContract) {
  const std::vector<std::pair<Error, std::string>> names = {
      {Error::ok, "ok"},
      {Error::bad_request, "bad_request"},
      {Error::bad_config, "bad_config"},
      {Error::bad_shape, "bad_shape"},
      {Error::not_finite, "not_finite"},
      {Error::zero_norm, "zero_norm"},
      {Error::bad_snapshot, "bad_snapshot"},
      {Error::encoder_mismatch, "encoder_mismatch"},
      {Error::not_found, "not_found"},
      {Error::conflict, "conflict"},
      {Error::full, "full"},
  };
  for (const auto& [code, name] : names) EXPECT_EQ(to_string(code), name);
  EXPECT_STREQ(to_string(static_cast<Error>(200)), "unknown");
}

TEST(Statuses, AreEmptyOnSuccess) {
  Cache cache = filled_cache();
  const OwnedItem item = good_item();
  const Result<Decision> decision = cache.observe(item.view());
  EXPECT_TRUE(decision);
  EXPECT_EQ(decision.status.code, Error::ok);
  EXPECT_TRUE(decision.status.pointer.empty());
  EXPECT_TRUE(decision.status.detail.empty());
}

}  // namespace
}  // namespace dpcache
