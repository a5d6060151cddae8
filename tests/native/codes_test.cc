// A search by codes finds what a scan finds, row and bits, whatever the keys are; and the angles
// that it relies on are true.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "codes.h"
#include "dpcache/cache.h"
#include "kernels.h"
#include "search.h"
#include "search_batch.h"
#include "search_codes.h"
#include "slots.h"

namespace dpcache {
namespace {

using Vector = std::vector<float>;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  float normal() { return normal_(engine_); }
  std::size_t below(std::size_t n) { return engine_() % n; }
  Vector vector(std::size_t dimension, float spread = 1.0F) {
    Vector x(dimension);
    for (float& number : x) number = spread * normal();
    return x;
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<float> normal_;
};

// The same keys with codes and without.
class Pair {
 public:
  explicit Pair(std::size_t dimension, KeyUpdate update = KeyUpdate::frozen)
      : config_(config(dimension, update)), coded_(config_), plain_(config_) {
    codes_from = {.floats = 0, .length = 0, .guessed_length = 0, .rows_for_a_guess = 0};
  }
  ~Pair() { codes_from = {}; }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  AlignedFloats unit(const Vector& x) const {
    AlignedFloats out(padded(x.size()));
    kernels::normalise(x, out);
    return out;
  }
  void open(const Vector& x, std::size_t prepare = kAll) {
    ++next_;
    const AlignedFloats key = unit(x);
    const float closest = nearest(plain_, key.data(), kBeforeAll).similarity;
    each([&](Slots& slots) { slots.open(config_, next_, key, item(x), closest); });
    coded_.prepare(prepare);
  }
  // A key as it is, though it may miss unit length.
  void open_as_it_is(const AlignedFloats& key) {
    ++next_;
    each([&](Slots& slots) { slots.open(config_, next_, key, Item{}, kUnknown); });
    coded_.prepare(kAll);
  }
  void merge(std::size_t r, const Vector& x) {
    each([&](Slots& slots) { slots.merge(config_, r, unit(x), item(x)); });
  }
  void remove(std::size_t r) {
    each([&](Slots& slots) { slots.remove(r); });
  }
  void tidy() {
    each([](Slots& slots) { slots.tidy(); });
  }

  void expect_same(const AlignedFloats& query) const {
    const Nearest by_codes = nearest(coded_, query.data(), 0);
    const Nearest by_scan = nearest(plain_, query.data(), 0);
    ASSERT_EQ(by_codes.row, by_scan.row)
        << by_codes.similarity << " instead of " << by_scan.similarity;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(by_codes.similarity),
              std::bit_cast<std::uint32_t>(by_scan.similarity));
  }
  void expect_same(const Vector& query) const { expect_same(unit(query)); }
  // Of a batch over coded().
  void expect_same(Batch& batch, std::size_t i, const float* query) const {
    const Nearest by_batch = batch.nearest(i, {0, kNoRow});
    const Nearest by_scan = nearest(plain_, query, 0);
    ASSERT_EQ(by_batch.row, by_scan.row);
    ASSERT_EQ(by_batch.similarity, by_scan.similarity);
  }
#if DPCACHE_NIBBLES
  void expect_same_top(Batch& batch, std::size_t i, const float* query, std::size_t k) const {
    std::vector<Nearest> by_batch;
    std::vector<Nearest> by_scan;
    batch.top(i, 0, k, by_batch);
    similarities(plain_, query, 0, by_scan);
    keep_top(by_scan, k);
    ASSERT_EQ(by_batch.size(), by_scan.size());
    for (std::size_t n = 0; n < by_scan.size(); ++n) {
      ASSERT_EQ(by_batch[n].row, by_scan[n].row) << n << " of " << k;
      ASSERT_EQ(by_batch[n].similarity, by_scan[n].similarity) << n << " of " << k;
    }
  }
#endif
  void expect_same_others() const {
    for (std::size_t r = 0; r < plain_.rows(); ++r) {
      if (!plain_.row(r).alive) continue;
      const Nearest by_codes = nearest_other(coded_, r);
      const Nearest by_scan = nearest_other(plain_, r);
      ASSERT_EQ(by_codes.row, by_scan.row) << "other than " << r;
      ASSERT_EQ(by_codes.similarity, by_scan.similarity);
    }
  }
  const Slots& coded() const {
    return coded_;
  }
  Slots& coded() {
    return coded_;
  }

 private:
  static Config config(std::size_t dimension, KeyUpdate update) {
    Config config;
    config.dimension = static_cast<std::uint32_t>(dimension);
    config.key_update = update;
    return config;
  }
  static Item item(const Vector& x) {
    Item item;
    item.key = x;
    return item;
  }
  template <class Change>
  void each(Change change) {
    coded_.reserve(1);
    plain_.reserve(1);
    change(coded_);
    change(plain_);
  }

  Config config_;
  Slots coded_;
  Slots plain_;
  SlotId next_ = 0;
};

Vector near(Random& random, const Vector& x, float noise) {
  Vector out = x;
  const float spread = noise / std::sqrt(static_cast<float>(x.size()));
  for (float& number : out) number += spread * random.normal();
  return out;
}

Vector unit_of(Vector x) {
  double squares = 0.0;
  for (const float number : x) squares += static_cast<double>(number) * static_cast<double>(number);
  for (float& number : x) number = static_cast<float>(number / std::sqrt(squares));
  return x;
}

class CodesTest : public testing::TestWithParam<std::size_t> {};

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  return "d" + std::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, CodesTest,
                         testing::Values(1, 3, 16, 33, 64, 100, 128, 300, 384, 768, 1000), name_of);

TEST_P(CodesTest, AnythingAmongKeysThatLieFarApart) {
  Random random(1);
  Pair pair(GetParam());
  std::vector<Vector> keys;
  for (int i = 0; i < 300; ++i) pair.open(keys.emplace_back(random.vector(GetParam())));
  ASSERT_EQ(pair.coded().codes().rows(), 300U);
  for (int i = 0; i < 300; ++i) {
    pair.expect_same(keys[random.below(keys.size())]);
    pair.expect_same(near(random, unit_of(keys[random.below(keys.size())]), 0.3F));
    pair.expect_same(random.vector(GetParam()));
    Vector opposite = keys[random.below(keys.size())];
    for (float& number : opposite) number = -number;
    pair.expect_same(opposite);
  }
  pair.expect_same_others();
}

// Codes cannot tell these apart at all: only the bounds keep the nearest in.
TEST_P(CodesTest, AnythingAmongKeysThatLieTogether) {
  Random random(2);
  for (const float noise : {0.5F, 0.1F, 0.01F, 1e-3F, 1e-4F, 1e-6F, 0.0F}) {
    Pair pair(GetParam());
    const Vector centre = unit_of(random.vector(GetParam()));
    for (int i = 0; i < 150; ++i) pair.open(near(random, centre, noise));
    for (int i = 0; i < 100; ++i) pair.expect_same(near(random, centre, noise));
    pair.expect_same(random.vector(GetParam()));
    pair.expect_same_others();
  }
}

TEST_P(CodesTest, KeysOfFewComponents) {
  Random random(3);
  Pair pair(GetParam());
  const auto sparse = [&] {
    Vector x(GetParam(), 0.0F);
    for (int i = 0; i < 3; ++i) {
      x[random.below(x.size())] =
          random.below(2) == 0 ? -1.0F : static_cast<float>(random.below(5) + 1);
    }
    return x;
  };
  for (int i = 0; i < 200; ++i) pair.open(sparse());
  for (int i = 0; i < 200; ++i) pair.expect_same(sparse());
  pair.expect_same_others();
}

TEST_P(CodesTest, WhileCodesAreMadeBitByBit) {
  Random random(4);
  Pair pair(GetParam());
  std::vector<Vector> keys;
  for (int i = 0; i < 200; ++i) {
    pair.open(keys.emplace_back(random.vector(GetParam())), random.below(3));
    pair.expect_same(near(random, unit_of(keys[random.below(keys.size())]), 0.2F));
  }
  EXPECT_LT(pair.coded().codes().rows(), 200U);
}

TEST_P(CodesTest, WhileKeysMoveAndGo) {
  Random random(5);
  Pair pair(GetParam(), KeyUpdate::centroid);
  for (int i = 0; i < 200; ++i) pair.open(random.vector(GetParam()));
  for (int i = 0; i < 400; ++i) {
    const std::size_t r = random.below(pair.coded().rows());
    if (pair.coded().row(r).alive) {
      if (random.below(2) == 0) {
        pair.remove(r);
      } else {
        pair.merge(r, random.vector(GetParam()));
      }
    }
    pair.expect_same(random.vector(GetParam()));
    if (random.below(8) == 0) pair.tidy();
    if (random.below(2) == 0) pair.open(random.vector(GetParam()));
  }
  pair.expect_same_others();
}

// Some queries, padded and of unit length, one behind the other.
AlignedFloats queries_of(const Pair& pair, const std::vector<Vector>& vectors) {
  AlignedFloats queries;
  for (const Vector& vector : vectors) {
    const AlignedFloats unit = pair.unit(vector);
    queries.insert(queries.end(), unit.begin(), unit.end());
  }
  return queries;
}

// Between the look and a search keys come, move and go, and rows get other numbers.
TEST_P(CodesTest, OfABatchWhileKeysComeAndMoveAndGo) {
  Random random(17);
  Pair pair(GetParam(), KeyUpdate::centroid);
  const Slots& slots = pair.coded();
  for (int i = 0; i < 150; ++i) pair.open(random.vector(GetParam()));
  Batch batch;
  for (int round = 0; round < 12; ++round) {
    std::vector<Vector> vectors;
    for (std::size_t i = 0; i < KeyCodes::kMostLooks; ++i) {
      const std::size_t r = random.below(slots.rows());
      const auto key = slots.key(r).first(GetParam());
      vectors.push_back(i % 3 == 0 ? random.vector(GetParam())
                                   : near(random, {key.begin(), key.end()}, 0.3F));
    }
    const AlignedFloats queries = queries_of(pair, vectors);
    batch.take(slots, queries.data(), vectors.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      pair.expect_same(batch, i, queries.data() + i * slots.stride());
      const std::size_t r = random.below(slots.rows());
      const bool prepares = random.below(2) == 0;
      switch (random.below(round % 2 == 0 ? 3 : 6)) {
        case 0:
          pair.open(vectors[random.below(vectors.size())], prepares ? kAll : 0);
          break;
        case 1:
        case 2:
          // Near a query that is still to come: whoever overlooks it, answers wrong.
          if (slots.row(r).alive) {
            for (int n = 0; n < 3; ++n) pair.merge(r, vectors[random.below(vectors.size())]);
          }
          break;
        case 3:
          if (slots.row(r).alive) pair.remove(r);
          break;
        case 4:
          if (round % 4 == 3) pair.tidy();
          break;
        default:
          break;
      }
    }
  }
}

#if DPCACHE_NIBBLES
TEST_P(CodesTest, TheNearestFew) {
  Random random(18);
  Pair pair(GetParam());
  const Slots& slots = pair.coded();
  const Vector centre = unit_of(random.vector(GetParam()));
  for (int i = 0; i < 600; ++i) pair.open(near(random, centre, i % 3 == 0 ? 0.01F : 2.0F));
  for (std::size_t i = 0; i < 40; ++i) pair.remove(15 * i + random.below(15));
  std::vector<Vector> vectors;
  for (std::size_t i = 0; i < 20; ++i) {
    vectors.push_back(i % 2 == 0 ? near(random, centre, 0.02F) : random.vector(GetParam()));
  }
  const AlignedFloats queries = queries_of(pair, vectors);
  Batch batch;
  for (const std::size_t k : {0U, 1U, 2U, 7U, 9U, 10U, 300U, 1000U}) {
    batch.take(slots, queries.data(), vectors.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      pair.expect_same_top(batch, i, queries.data() + i * slots.stride(), k);
    }
  }
}
#endif

// A memory file may hold keys that miss unit length by a thousandth, and so do their scores.
TEST_P(CodesTest, KeysThatAreNotQuiteOfUnitLength) {
  Random random(6);
  Pair pair(GetParam());
  const Vector centre = unit_of(random.vector(GetParam()));
  for (int i = 0; i < 150; ++i) {
    AlignedFloats key = pair.unit(near(random, centre, i % 2 == 0 ? 0.02F : 1.0F));
    const float length = 1.0F + 0.0009F * (static_cast<float>(random.below(3)) - 1.0F);
    for (float& number : key) number *= length;
    pair.open_as_it_is(key);
  }
  for (int i = 0; i < 200; ++i) pair.expect_same(near(random, centre, 0.02F));
  pair.expect_same_others();
}

// The query is a key that misses unit length: its scores are no cosines.
TEST(Codes, AreNotAskedForAKeyThatMissesUnitLength) {
  Random random(14);
  for (int i = 0; i < 50; ++i) {
    Pair pair(64);
    const Vector centre = unit_of(random.vector(64));
    pair.open(near(random, centre, 0.04F));
    pair.open(near(random, centre, 0.03F));
    pair.open(centre);
    AlignedFloats longer = pair.unit(centre);
    for (float& number : longer) number *= 1.0009F;
    pair.open_as_it_is(longer);
    pair.expect_same_others();
  }
}

TEST(Codes, AreOfUseBesideAKeyThatMissesUnitLength) {
  Random random(15);
  Pair pair(384);
  std::vector<Vector> keys;
  for (int i = 0; i < 100; ++i) pair.open(keys.emplace_back(random.vector(384)));
  AlignedFloats longer = pair.unit(random.vector(384));
  for (float& number : longer) number *= 1.0009F;
  pair.open_as_it_is(longer);
  QueryCodes query;
  const KeyCodes& codes = pair.coded().codes();
  const AlignedFloats key = pair.unit(keys[5]);
  ASSERT_TRUE(codes.encode(codes.rotate(key.data(), query), query));
  AlignedFloats cosines(codes.padded_rows());
  const KeyCodes::Look look{&query, cosines.data()};
  codes.cosines({&look, 1});
  KeyCodes::Bounds bounds;
  ASSERT_TRUE(codes.bounds(query, 1.0F, pair.coded().margin(), bounds));
  int left = 0;
#if DPCACHE_NIBBLES
  for (std::size_t block = 0; block < 2; ++block) {
    left += std::popcount(codes.candidates(cosines.data(), block, bounds));
  }
#else
  for (std::size_t r = 0; r < codes.rows(); ++r) left += cosines[r] < bounds.least ? 0 : 1;
#endif
  EXPECT_EQ(left, 1);
}

TEST(Codes, AreMadeByLoadAndByEvents) {
  Random random(16);
  Config config;
  config.dimension = 256;
  auto made = Cache::create(config);
  auto follower = Cache::create(config);
  ASSERT_TRUE(made && follower);
  made->on_event([&](const Event& event) { ASSERT_TRUE(follower->apply(event)); });
  for (int i = 0; i < 300; ++i) {
    const Vector key = random.vector(256);
    Item item;
    item.key = key;
    ASSERT_TRUE(made->observe(item));
  }
  auto loaded = Cache::load(made->save());
  ASSERT_TRUE(loaded);
  // Codes are memory that a cache tells of.
  const auto keys = made->size() * 256 * sizeof(float);
  for (Cache* cache : {&*made, &*follower, &*loaded}) {
    EXPECT_TRUE(cache->prepare(0));
    EXPECT_GE(cache->stats().bytes, keys + keys / 4);
  }
}

// A listener may search this cache and feed others, in the midst of a batch.
TEST(Codes, OfABatchWhoseListenerSearchesInBatches) {
  Random random(19);
  codes_from = {.floats = 0, .length = 0, .guessed_length = 0, .rows_for_a_guess = 0};
  Config config;
  config.dimension = 32;
  config.tau = 0.2F;
  auto heard = Cache::create(config);
  auto plain = Cache::create(config);
  auto other = Cache::create(config);
  ASSERT_TRUE(heard && plain && other);
  std::vector<Vector> keys;
  for (int i = 0; i < 60; ++i) keys.push_back(random.vector(32));
  for (int i = 0; i < 60; ++i) keys.push_back(near(random, unit_of(keys[random.below(60)]), 0.3F));
  std::vector<Item> items(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) items[i].key = keys[i];
  heard->on_event([&](const Event& event) {
    ASSERT_TRUE(heard->score(event.item.key));
    ASSERT_TRUE(other->observe_batch(std::span(items).subspan(event.seq % 50, 9)));
  });
  const std::span<const Item> all(items);
  for (const auto part : {all.first(50), all.subspan(50)}) {
    const auto by_batch = heard->observe_batch(part);
    ASSERT_TRUE(by_batch);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto alone = plain->observe(part[i]);
      ASSERT_TRUE(alone);
      ASSERT_EQ(by_batch.decisions[i], *alone) << i;
    }
  }
  codes_from = {};
}

TEST(Codes, ManyDimensions) {
  Random random(7);
  for (const std::size_t dimension : {4096U, 20'000U}) {
    Pair pair(dimension);
    const Vector centre = unit_of(random.vector(dimension));
    for (int i = 0; i < 70; ++i) {
      pair.open(near(random, centre, i % 2 == 0 ? 1e-3F : 1.0F));
    }
    for (int i = 0; i < 20; ++i) pair.expect_same(near(random, centre, 1e-3F));
  }
}

TEST(Codes, EveryInstructionSet) {
  const auto targets = kernels::targets();
  for (const auto target : targets) {
    ASSERT_TRUE(kernels::use_target(target));
    SCOPED_TRACE(std::string(target));
    Random random(8);
    for (const std::size_t dimension : {16U, 80U, 384U}) {
      Pair pair(dimension);
      std::vector<Vector> keys;
      for (int i = 0; i < 200; ++i) pair.open(keys.emplace_back(random.vector(dimension)));
      for (int i = 0; i < 100; ++i) {
        pair.expect_same(near(random, unit_of(keys[random.below(keys.size())]), 0.2F));
        pair.expect_same(random.vector(dimension));
      }
      // As many as go through every size of tile.
      const AlignedFloats queries = queries_of(pair, {keys.begin(), keys.begin() + 23});
      Batch batch;
      batch.take(pair.coded(), queries.data(), 23);
      for (std::size_t i = 0; i < 23; ++i) {
        pair.expect_same(batch, i, queries.data() + i * pair.coded().stride());
      }
    }
  }
  kernels::use_target(targets.front());
}

#if DPCACHE_NIBBLES

// The rotation, undone in double.
Vector rotated_back(const std::vector<double>& rotated) {
  const std::size_t length = rotated.size();
  const std::size_t block = std::bit_floor(length);
  const std::size_t lines = length / kLanes;
  std::vector<double> x = rotated;
  const auto transform = [&](std::size_t begin) {
    std::size_t steps = 0;
    for (std::size_t half = kLanes; half < block; half *= 2, ++steps) {
      for (std::size_t at = 0; at < block; ++at) {
        if (at / half % 2 == 1) continue;
        double& a = x[begin + at];
        double& b = x[begin + at + half];
        const double sum = a + b;
        b = a - b;
        a = sum;
      }
    }
    for (std::size_t at = 0; at < block; ++at) x[begin + at] /= std::sqrt(std::pow(2.0, steps));
  };
  for (std::size_t round = 2; round-- > 0;) {
    std::vector<double> before(length);
    for (std::size_t line = 0; line < lines; ++line) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        before[line * kLanes + lane] = x[lane * lines + line];
      }
    }
    x = before;
    if (block != length) transform(length - block);
    transform(0);
    for (std::size_t i = 0; i < length; ++i) {
      if ((mix64(round * length + i) & 1U) != 0) x[i] = -x[i];
    }
  }
  return {x.begin(), x.end()};
}

TEST(Codes, TheRotationKeepsLengthsAndCanBeUndone) {
  Random random(9);
  for (const std::size_t length : {16U, 48U, 64U, 384U, 1008U, 4096U}) {
    const Vector x = unit_of(random.vector(length));
    Vector rotated = x;
    Vector room(length);
    Rotation rotation(length);
    rotation.prepare();
    rotation.rotate(rotated.data(), room.data());
    const Vector back = rotated_back({rotated.begin(), rotated.end()});
    double off = 0.0;
    for (std::size_t i = 0; i < length; ++i) off += std::pow(back[i] - x[i], 2.0);
    EXPECT_LE(std::sqrt(off), rotation.error() + 1e-7) << length;
  }
}

// Two keys with codes that hit them exactly, so close together that both count as equal to the
// query. The older one must be found: without the margins of the snap and of the score's rounding,
// its code would rule it out.
TEST(Codes, TheOldestOfKeysThatSnapToOneIsFound) {
  constexpr std::size_t kLength = 4096;
  Random random(10);
  std::vector<double> younger(kLength);
  for (double& number : younger) number = static_cast<double>(random.below(201)) - 100.0;
  younger[0] = 127.0;  // sets the step of the code
  double squares = 0.0;
  for (const double number : younger) squares += number * number;
  const double margin = snap_margin(kLength);
  for (const double part : {0.1, 0.6, 0.93}) {
    // A cosine of 1 - part * margin: so many components differ by 1.
    const auto changed = static_cast<std::size_t>(2.0 * part * margin * squares);
    ASSERT_LT(3 * changed, kLength);
    std::vector<double> older = younger;
    for (std::size_t i = 1; i <= changed; ++i) older[i * 3] += 1.0;
    Pair pair(kLength);
    pair.open(rotated_back(older));
    for (int i = 0; i < 100; ++i) pair.open(random.vector(kLength));
    pair.open(rotated_back(younger));
    const AlignedFloats query = pair.unit(rotated_back(younger));
    pair.expect_same(query);
    EXPECT_EQ(nearest(pair.coded(), query.data(), 0).row, 0U) << changed;
  }
}

#endif

TEST(Codes, TakeAtMostFortyFiveHundredthsOfTheKeysMemory) {
  Random random(11);
  for (const std::size_t dimension : {64U, 128U, 384U, 768U}) {
    Pair pair(dimension);
    codes_from.guessed_length = CodesFrom{}.guessed_length;
    for (int i = 0; i < 2000; ++i) pair.open(random.vector(dimension));
    // Arrays have room for twice as much at most, those of the keys too.
    const double keys = 2048.0 * static_cast<double>(dimension) * sizeof(float);
    EXPECT_LE(static_cast<double>(pair.coded().codes().bytes()), 0.45 * keys) << dimension;
  }
}

#if DPCACHE_NIBBLES

TEST(Codes, TakeNoMoreOfAMemoryThatComesFromAFile) {
  Random random(11);
  Config config;
  config.dimension = 384;
  Slots slots(config);
  constexpr std::size_t kRows = 2200;
  ASSERT_TRUE(slots.reserve(kRows));
  for (std::size_t i = 0; i < kRows; ++i) {
    AlignedFloats key(384);
    kernels::normalise(random.vector(384), key);
    slots.open(config, static_cast<SlotId>(i + 1), key, Item{}, kUnknown);
  }
  ASSERT_TRUE(slots.prepare(kRows));
  EXPECT_LE(static_cast<double>(slots.codes().bytes()), 0.45 * kRows * 384 * sizeof(float));
}

#endif

// What the search by codes alone finds; kNoRow: it left the rows to the scan.
Nearest by_codes_alone(const Slots& slots, const float* query, Counted counted) {
  QueryCodes codes;
  AlignedFloats cosines(slots.codes().padded_rows());
  const float* rotated = slots.codes().rotate(query, codes);
  if (rotated == nullptr || !slots.codes().encode(rotated, codes)) return {};
  const KeyCodes::Look look{&codes, cosines.data()};
  slots.codes().cosines({&look, 1});
  Nearest best;
  nearest_by_codes(slots, {query, &codes, cosines.data(), slots.codes().rows()}, counted, best);
  return best;
}

// The likeliest row is the query's own, or has gone, or has expired: others are found all the same.
TEST(Codes, AreOfUseWhenTheLikeliestDoesNotCount) {
  Random random(13);
  Pair pair(128);
  std::vector<Vector> keys;
  for (int i = 0; i < 100; ++i) pair.open(keys.emplace_back(random.vector(128)));
  const Slots& slots = pair.coded();
  const auto key = [&](std::size_t r) { return slots.key(r).data(); };
  const Nearest other = by_codes_alone(slots, key(7), {kBeforeAll, 7});
  EXPECT_EQ(other.row, nearest_other(slots, 7).row);
  EXPECT_NE(other.row, kNoRow);
  for (std::size_t r = 80; r < 100; ++r) pair.remove(r);
  EXPECT_LT(by_codes_alone(slots, pair.unit(keys[90]).data(), {kBeforeAll, kNoRow}).row, 80U);
  pair.tidy();
  EXPECT_EQ(slots.rows(), 80U);
  EXPECT_LT(by_codes_alone(slots, pair.unit(keys[90]).data(), {kBeforeAll, kNoRow}).row, 80U);
}

TEST(Codes, SmallMemoriesHaveNone) {
  Random random(12);
  Pair pair(64);
  codes_from = {};
  for (int i = 0; i < 1000; ++i) pair.open(random.vector(64));
  EXPECT_EQ(pair.coded().codes().rows(), 0U);
  for (int i = 0; i < 100; ++i) pair.open(random.vector(64));
  EXPECT_EQ(pair.coded().codes().rows(), 1100U);
}

}  // namespace
}  // namespace dpcache
