// Events: their canonical bytes, what is refused of them, and the chain that they form.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "native/allocation_watch.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::AllocationWatch;
using testing::Bytes;
using testing::OwnedItem;

Bytes encoded(const Event& event) {
  Bytes bytes;
  encode(event, bytes);
  return bytes;
}

// An event of each kind, with every optional part there and not there.
std::vector<Bytes> events_of_every_kind() {
  std::vector<Bytes> all;
  Event event;
  event.seq = 7;
  event.time = -12345;
  const std::vector<float> key = {0.6F, -0.8F, 0.0F};
  const std::vector<float> value = {1e-45F, -3e38F};
  event.item.key = key;
  event.item.value = value;
  event.item.time = event.time;
  event.decision.slot = (SlotId{1} << 53) - 1;
  event.decision.novelty = 1.25F;
  all.push_back(encoded(event));
  event.decision.action = Action::merge;
  event.item.payload = std::string_view("pay\0load", 8);
  event.item.exact_key = "";
  event.item.ttl_ms = 0;
  event.decision.nearest = Match{3, -0.5F};
  event.decision.evicted = {1, 2, 3};
  event.decision.folded = {{4, 5}, {6, 7}};
  event.decision.surprise = 0.5F;
  event.decision.budget = 12.5F;
  all.push_back(encoded(event));
  event.item.key = {};
  event.item.value = {};
  event.item.exact_key = std::string_view("\xFF\0x", 3);
  all.push_back(encoded(event));

  Event plain;
  plain.seq = 8;
  for (const EventKind kind : {EventKind::erase, EventKind::expire}) {
    plain.kind = kind;
    plain.decision.evicted = {};
    all.push_back(encoded(plain));
    plain.decision.evicted = {9, 10, 11};
    all.push_back(encoded(plain));
  }
  plain.kind = EventKind::consolidate;
  all.push_back(encoded(plain));
  plain.decision.folded = {{4, 5}, {6, 7}, {8, 9}};
  all.push_back(encoded(plain));
  plain.kind = EventKind::config;
  plain.config = testing::plain_config(3, .25F);
  all.push_back(encoded(plain));
  plain.config->encoder = "encoder/1";
  plain.config->ttl_ms = kMaxInteger;
  all.push_back(encoded(plain));
  return all;
}

TEST(EventBytes, AreReadBackToTheSameBytes) {
  for (const Bytes& bytes : events_of_every_kind()) {
    const Result<DecodedEvent> event = decode_event(bytes);
    ASSERT_TRUE(event) << event.status.detail;
    EXPECT_EQ(encoded(event->event()), bytes);
  }
}

TEST(EventBytes, HoldEveryPart) {
  const std::vector<Bytes> all = events_of_every_kind();
  const Result<DecodedEvent> decoded = decode_event(all[1]);
  ASSERT_TRUE(decoded);
  const Event& event = decoded->event();
  EXPECT_EQ(event.seq, 7U);
  EXPECT_EQ(event.kind, EventKind::observe);
  EXPECT_EQ(event.time, -12345);
  EXPECT_EQ(event.item.time, -12345);
  EXPECT_EQ(std::vector<float>(event.item.key.begin(), event.item.key.end()),
            (std::vector<float>{0.6F, -0.8F, 0.0F}));
  EXPECT_EQ(event.item.value[1], -3e38F);
  EXPECT_EQ(event.item.payload, std::string_view("pay\0load", 8));
  EXPECT_EQ(event.item.exact_key, "");
  EXPECT_EQ(event.item.ttl_ms, 0);
  EXPECT_EQ(event.decision.action, Action::merge);
  EXPECT_EQ(event.decision.nearest, (Match{3, -0.5F}));
  EXPECT_EQ(event.decision.evicted, (std::vector<SlotId>{1, 2, 3}));
  EXPECT_EQ(event.decision.folded, (std::vector<Fold>{{4, 5}, {6, 7}}));
  EXPECT_EQ(event.decision.budget, 12.5F);
  EXPECT_FALSE(decode_event(all[0])->event().item.exact_key);
  EXPECT_EQ(decode_event(all.back())->event().config->encoder, "encoder/1");
}

TEST(EventBytes, LiveInTheDecodedEventWhereverItMoves) {
  const Bytes bytes = events_of_every_kind()[1];
  std::vector<DecodedEvent> moved;
  for (int i = 0; i < 20; ++i) moved.push_back(std::move(*decode_event(bytes)));
  for (const DecodedEvent& event : moved) EXPECT_EQ(encoded(event.event()), bytes);
}

TEST(EventBytes, AreAppendedToWhatIsThere) {
  const Bytes bytes = events_of_every_kind()[1];
  Bytes both = bytes;
  encode(decode_event(bytes)->event(), both);
  EXPECT_EQ(both.size(), 2 * bytes.size());
  EXPECT_FALSE(decode_event(both)) << "two events are not one";
}

TEST(EventBytes, ThatAreCutOrLongerAreRefused) {
  for (const Bytes& bytes : events_of_every_kind()) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_EQ(decode_event(std::span(bytes).first(length)).status.code, Error::bad_request)
          << "cut to " << length;
    }
    Bytes longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_EQ(decode_event(longer).status.code, Error::bad_request);
  }
}

TEST(EventBytes, OfUnknownFormatKindOrActionAreRefused) {
  for (const Bytes& bytes : events_of_every_kind()) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes other = bytes;
      other[0] = static_cast<std::byte>(value);
      EXPECT_EQ(static_cast<bool>(decode_event(other)), value == 1) << "format " << value;
      if (value <= 4) continue;
      other = bytes;
      other[1] = static_cast<std::byte>(value);
      EXPECT_FALSE(decode_event(other)) << "kind " << value;
    }
  }
}

// No damage of one byte is read as something that writes other bytes than were read, except where
// settings have several texts.
TEST(EventBytes, ThatAreDamagedAreRefusedOrReadAsTheyStand) {
  for (const Bytes& bytes : events_of_every_kind()) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const unsigned change : {1U, 2U, 0x80U, 0xFFU}) {
        Bytes other = bytes;
        other[at] ^= static_cast<std::byte>(change);
        const Result<DecodedEvent> event = decode_event(other);
        if (!event || event->event().kind == EventKind::config) continue;
        EXPECT_EQ(encoded(event->event()), other) << "byte " << at;
      }
    }
  }
}

// Counts that no bytes follow must not be believed.
TEST(EventBytes, WithHugeCountsAreRefusedWithoutAllocating) {
  for (const Bytes& bytes : events_of_every_kind()) {
    for (std::size_t at = 2; at + 8 <= bytes.size(); ++at) {
      for (const std::uint64_t huge :
           {std::uint64_t{1} << 28U, std::uint64_t{1} << 61U, (std::uint64_t{1} << 61U) + 1,
            std::uint64_t{1} << 63U, ~std::uint64_t{0}, ~std::uint64_t{0} / 16 + 1}) {
        Bytes other = bytes;
        std::memcpy(other.data() + at, &huge, sizeof huge);
        const AllocationWatch watch;
        const Result<DecodedEvent> event = decode_event(other);
        EXPECT_LE(watch.bytes(), 4 * other.size() + 20'000);
        if (!event || event->event().kind == EventKind::config) continue;
        EXPECT_EQ(encoded(event->event()), other);
      }
    }
  }
}

// A cache, and the event that comes next.
class NextEvent : public ::testing::Test {
 protected:
  NextEvent() : cache(testing::full_cache()) {
    Cache ahead = testing::copy_of(cache);
    const testing::EventLog log(ahead);
    OwnedItem item = novel_item();
    EXPECT_TRUE(ahead.observe(item.view()));
    item.key = {1, 0, 0, 0, 0};
    item.exact_key = "fresh";
    EXPECT_TRUE(ahead.observe(item.view()));
    ahead.on_event({});
    allocation = log.events().at(0);
    EXPECT_EQ(decode_event(allocation)->event().decision.action, Action::allocate);
  }

  static OwnedItem novel_item() {
    OwnedItem item;
    item.key = {-1, -1, -1, -1, -1};
    item.value = {1, 2, 3};
    item.payload = "novel";
    item.time = 50;
    return item;
  }

  // Spoils the event and expects that it is refused and that nothing changes.
  void expect_refused(const char* what, const std::function<void(Event&)>& spoil,
                      Error code = Error::conflict) {
    SCOPED_TRACE(what);
    const DecodedEvent decoded = std::move(*decode_event(allocation));
    Event event = decoded.event();
    spoil(event);
    const Bytes before = cache.save();
    const Status status = cache.apply(event);
    EXPECT_STREQ(to_string(status.code), to_string(code)) << status.detail;
    EXPECT_FALSE(status.detail.empty());
    EXPECT_EQ(cache.save(), before);
  }

  Cache cache;
  Bytes allocation;
};

TEST_F(NextEvent, IsAppliedOnce) {
  const DecodedEvent event = std::move(*decode_event(allocation));
  ASSERT_TRUE(cache.apply(event.event()));
  EXPECT_EQ(cache.stats().seq, event.event().seq);
  EXPECT_EQ(cache.apply(event.event()).code, Error::conflict);
}

TEST_F(NextEvent, IsRefusedOutOfOrder) {
  for (const std::uint64_t seq : {std::uint64_t{0}, std::uint64_t{1}, cache.stats().seq,
                                  cache.stats().seq + 2, ~std::uint64_t{0}}) {
    expect_refused("seq", [&](Event& event) { event.seq = seq; });
  }
}

TEST_F(NextEvent, IsRefusedIfItsItemCannotBe) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  static const std::vector<float> kShort = {1, 0, 0, 0};
  static const std::vector<float> kZero = {0, 0, 0, 0, 0};
  static const std::vector<float> kLong = {2, 0, 0, 0, 0};
  static const std::vector<float> kNan = {1, 0, nan, 0, 0};
  static const std::vector<float> kValue = {1, nan, 0};
  expect_refused(
      "a short key", [](Event& e) { e.item.key = kShort; }, Error::bad_shape);
  expect_refused(
      "a key of zeros", [](Event& e) { e.item.key = kZero; }, Error::zero_norm);
  expect_refused(
      "NaN in the key", [](Event& e) { e.item.key = kNan; }, Error::not_finite);
  expect_refused(
      "a key that is not of unit length", [](Event& e) { e.item.key = kLong; }, Error::bad_request);
  expect_refused(
      "no value", [](Event& e) { e.item.value = {}; }, Error::bad_shape);
  expect_refused(
      "NaN in the value", [](Event& e) { e.item.value = kValue; }, Error::not_finite);
  expect_refused(
      "a TTL below 0", [](Event& e) { e.item.ttl_ms = -1; }, Error::bad_request);
  expect_refused(
      "a time out of range", [](Event& e) { e.time = e.item.time = kMaxInteger + 1; },
      Error::bad_request);
  expect_refused(
      "two times", [](Event& e) { e.item.time = e.time + 1; }, Error::bad_request);
  expect_refused(
      "another encoder", [](Event& e) { e.item.encoder = "encoder/2"; }, Error::encoder_mismatch);
}

TEST_F(NextEvent, IsRefusedIfItsDecisionDoesNotFollow) {
  const SlotId there = cache.slots().front().id;
  const SlotId other = cache.slots().at(1).id;
  const SlotId gone = 1 + (there == 1 ? other : 0);
  const SlotId next = cache.stats().next_id;
  static const std::string kForeign(cache.slots().front().exact_keys.empty()
                                        ? cache.slots().at(1).exact_keys.at(0)
                                        : cache.slots().front().exact_keys.at(0));
  const auto merge_into = [](SlotId id) {
    return [id](Event& e) {
      e.decision.action = Action::merge;
      e.decision.slot = id;
    };
  };
  const auto evict = [](std::vector<SlotId> ids) {
    return [ids](Event& e) { e.decision.evicted = ids; };
  };
  const auto fold = [](std::vector<Fold> folds) {
    return [folds](Event& e) { e.decision.folded = folds; };
  };
  expect_refused("opens a slot that is there", [&](Event& e) { e.decision.slot = there; });
  expect_refused("skips an id", [&](Event& e) { e.decision.slot = next + 1; });
  expect_refused("opens slot 0", [&](Event& e) { e.decision.slot = 0; });
  expect_refused("merges into nothing", merge_into(next));
  expect_refused("merges into slot 0", merge_into(0));
  if (!cache.slot(gone)) expect_refused("merges into what went", merge_into(gone));
  expect_refused("takes another slot's exact key", [&](Event& e) { e.item.exact_key = kForeign; });
  for (const SlotId absent : {SlotId{0}, next + 1, ~SlotId{0}}) {
    expect_refused("evicts what is not there", evict({absent}));
    expect_refused("folds what is not there", fold({{absent, there}}));
    expect_refused("folds into what is not there", fold({{there, absent}}));
  }
  expect_refused("evicts twice", evict({there, there}));
  expect_refused("evicts what it opens", evict({next}));
  expect_refused("folds into itself", fold({{there, there}}));
  expect_refused("folds what it opens", fold({{next, there}}));
  expect_refused("folds twice", fold({{there, other}, {there, other}}));
  expect_refused("folds into what it folded", fold({{there, other}, {other, there}}));
  expect_refused("folds what it evicts", [&](Event& e) {
    e.decision.evicted = {there};
    e.decision.folded = {{there, other}};
  });
  expect_refused("has no budget", [](Event& e) { e.decision.budget.reset(); });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float budget : {0.5F, -1.0F, nan, 1e30F}) {
    expect_refused(
        "an impossible budget", [&](Event& e) { e.decision.budget = budget; }, Error::bad_request);
  }
  for (const float surprise : {-0.1F, 1.1F, nan}) {
    expect_refused(
        "an impossible surprise", [&](Event& e) { e.decision.surprise = surprise; },
        Error::bad_request);
  }
}

TEST_F(NextEvent, OfEveryOtherKindIsCheckedToo) {
  const SlotId there = cache.slots().front().id;
  const auto other = [&](EventKind kind, std::vector<SlotId> ids, std::vector<Fold> folds) {
    return [=](Event& e) {
      const std::uint64_t seq = e.seq;
      e = Event();
      e.seq = seq;
      e.kind = kind;
      e.decision.evicted = ids;
      e.decision.folded = folds;
    };
  };
  expect_refused("erases nothing", other(EventKind::erase, {}, {}), Error::bad_request);
  expect_refused("erases two", other(EventKind::erase, {there, there + 1}, {}), Error::bad_request);
  const SlotId next = cache.stats().next_id;
  for (const SlotId absent : {SlotId{0}, next, SlotId{1'000'000}, ~SlotId{0}}) {
    SCOPED_TRACE(absent);
    expect_refused("erases what is not there", other(EventKind::erase, {absent}, {}));
    expect_refused("expires what is not there", other(EventKind::expire, {there, absent}, {}));
    expect_refused("folds nothing", other(EventKind::consolidate, {}, {{absent, there}}));
    expect_refused("folds into nothing", other(EventKind::consolidate, {}, {{there, absent}}));
  }
  expect_refused("expires twice", other(EventKind::expire, {there, there}, {}));
  expect_refused("folds itself", other(EventKind::consolidate, {}, {{there, there}}));
  expect_refused(
      "sets nothing", [](Event& e) { e.kind = EventKind::config; }, Error::bad_request);
  expect_refused(
      "sets a fixed setting",
      [&](Event& e) {
        e.kind = EventKind::config;
        e.config = cache.config();
        e.config->dimension = 6;
      },
      Error::bad_config);
  expect_refused(
      "is of no kind", [](Event& e) { e.kind = static_cast<EventKind>(9); }, Error::bad_request);

  Cache without_sums = testing::make_cache(testing::plain_config(2, .1F));
  Event event;
  event.seq = 1;
  event.kind = EventKind::consolidate;
  EXPECT_EQ(without_sums.apply(event).code, Error::conflict);
}

std::uint64_t hash_after(const std::vector<std::vector<float>>& keys, float tau = .2F) {
  Cache cache = testing::make_cache(testing::plain_config(2, tau));
  for (const auto& key : keys) cache.observe(testing::item_of(key));
  return cache.stats().state_hash;
}

TEST(StateHash, IsTheSameForTheSameItemsHoweverTheyCame) {
  const std::vector<std::vector<float>> keys = {{1, 0}, {0, 1}, {1, .1F}};
  EXPECT_EQ(hash_after(keys), hash_after(keys));

  Cache batched = testing::make_cache(testing::plain_config(2, .2F));
  std::vector<Item> items;
  for (const auto& key : keys) items.push_back(testing::item_of(key));
  batched.observe_batch(items);
  EXPECT_EQ(batched.stats().state_hash, hash_after(keys));

  Cache reloaded = testing::make_cache(testing::plain_config(2, .2F));
  for (const auto& key : keys) {
    reloaded.metadata()["times"] += "x";  // not part of it
    reloaded = testing::copy_of(reloaded);
    reloaded.observe(testing::item_of(key));
    reloaded.read(key);
  }
  EXPECT_EQ(reloaded.stats().state_hash, hash_after(keys));
}

TEST(StateHash, DiffersWithTheItemsTheirOrderAndTheSettings) {
  const std::uint64_t hash = hash_after({{1, 0}, {0, 1}});
  EXPECT_NE(hash, hash_after({{0, 1}, {1, 0}}));
  EXPECT_NE(hash, hash_after({{1, 0}, {0, -1}}));
  EXPECT_NE(hash, hash_after({{1, 0}}));
  EXPECT_NE(hash, hash_after({{1, 0}, {0, 1}, {0, 1}}));
  EXPECT_NE(hash, hash_after({{1, 0}, {0, 1}}, .3F));
  EXPECT_NE(hash_after({}), hash_after({}, .3F));
}

TEST(StateHash, DiffersWithEveryPartOfAnItem) {
  Config config = testing::plain_config(2, .2F);
  config.value_dimension = 1;
  const auto hash_of = [&](const std::function<void(OwnedItem&)>& change) {
    Cache cache = testing::make_cache(config);
    OwnedItem item;
    item.key = {1, 0};
    item.value = {1};
    change(item);
    EXPECT_TRUE(cache.observe(item.view()));
    return cache.stats().state_hash;
  };
  std::vector<std::uint64_t> hashes = {
      hash_of([](OwnedItem&) {}),
      hash_of([](OwnedItem& i) { i.key[1] = 1e-6F; }),
      hash_of([](OwnedItem& i) { i.value[0] = 2; }),
      hash_of([](OwnedItem& i) { i.payload = "p"; }),
      hash_of([](OwnedItem& i) { i.exact_key = "p"; }),
      hash_of([](OwnedItem& i) { i.exact_key = ""; }),
      hash_of([](OwnedItem& i) { i.time = 1; }),
      hash_of([](OwnedItem& i) { i.ttl_ms = 5; }),
  };
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
  // A key of another length is the same item.
  EXPECT_EQ(hash_of([](OwnedItem& i) { i.key[0] = 4; }), hash_of([](OwnedItem&) {}));
}

TEST(StateHash, DiffersWithADecisionThatWasRecorded) {
  Cache cache = testing::make_cache(testing::plain_config(2, .2F));
  Cache twin = testing::make_cache(testing::plain_config(2, .2F));
  const testing::EventLog log(cache);
  cache.observe(testing::item_of(std::vector<float>{1, 0}));
  cache.on_event({});
  const DecodedEvent decoded = std::move(*decode_event(log.events()[0]));
  Event event = decoded.event();
  event.decision.novelty = 0.5F;
  ASSERT_TRUE(twin.apply(event));
  EXPECT_NE(twin.stats().state_hash, cache.stats().state_hash);
}

TEST(Listeners, SeeEveryChangeOnceAndInOrder) {
  Config config = testing::plain_config(2, .1F);
  config.keep_sums = true;
  Cache cache = testing::make_cache(config);
  std::vector<EventKind> kinds;
  std::uint64_t last = 0;
  cache.on_event([&](const Event& event) {
    kinds.push_back(event.kind);
    EXPECT_EQ(event.seq, last + 1);
    EXPECT_EQ(event.seq, cache.stats().seq);
    last = event.seq;
  });
  Item item = testing::item_of({});
  const std::vector<float> key = {1, 0};
  item.key = key;
  item.ttl_ms = 5;
  cache.observe(item);
  item.time = 5;  // the first has expired
  cache.observe(item);
  cache.erase(2, 5);
  cache.consolidate();
  cache.configure(config);
  cache.observe(testing::item_of({}));  // refused
  cache.erase(17);                      // refused
  cache.read(key);
  EXPECT_EQ(kinds,
            (std::vector<EventKind>{EventKind::observe, EventKind::expire, EventKind::observe,
                                    EventKind::erase, EventKind::consolidate, EventKind::config}));
  cache.on_event({});
  cache.observe(item);
  EXPECT_EQ(kinds.size(), 6U);
}

}  // namespace
}  // namespace dpcache
