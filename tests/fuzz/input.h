// Choices out of a fuzzer's bytes, and the way to say that something is wrong.
#ifndef DPCACHE_TESTS_FUZZ_INPUT_H_
#define DPCACHE_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "dpcache/dpcache.h"
#include "numerics.h"

namespace dpcache::fuzz {

// Ends the run, which the fuzzer takes for a finding.
inline void require(bool holds, const char* what, const std::string& detail = "") {
  if (holds) return;
  std::fprintf(stderr, "%s %s\n", what, detail.c_str());
  std::abort();
}

// Reads bytes one by one; when there are no more, goes on with numbers that follow from them, so
// that a short input makes a long run.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  std::uint8_t byte() {
    if (left_ != 0) {
      --left_;
      rest_ = dpcache::mix64(rest_ ^ *data_);
      return *data_++;
    }
    rest_ = dpcache::mix64(rest_);
    return static_cast<std::uint8_t>(rest_ >> 56U);
  }
  std::size_t below(std::size_t n) { return byte() % n; }
  bool flag() { return byte() % 2 == 1; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  // Small integers, so that keys meet again, and now and then a hostile number.
  float number() {
    const std::uint8_t choice = byte();
    switch (choice) {
      case 0x70:
        return 1e-45F;
      case 0x71:
        return -1e-39F;
      case 0x72:
        return 3e38F;
      case 0x73:
        return -3e38F;
      case 0x74:
        return 1e-20F;
      case 0x75:
        return -0.0F;
      case 0x76:
        return __builtin_inff();
      case 0x77:
        return __builtin_nanf("");
      case 0x78:
        return 1.0F + 0x1p-23F;
      default:
        return static_cast<float>(static_cast<int>(choice % 16) - 7) / 4.0F;
    }
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
  std::uint64_t rest_ = 0;
};

inline void change_from(Input& input, Config& config) {
  config.tau.reset();
  config.gate.reset();
  if (input.flag()) {
    config.tau = static_cast<float>(input.byte()) / 127.5F;
  } else if (input.flag()) {
    config.gate =
        Gate{input.one_of({.5F, 10.0F, 1e30F}), static_cast<float>(input.byte()) / 127.5F};
  }
  config.theta = input.one_of({1e-4F, .05F, 1.0F, 100.0F});
  config.usage_decay = input.one_of({1.0F, .95F, .5F, .01F, 1e-45F});
  config.budget = static_cast<BudgetKind>(input.below(4));
  config.max_slots.reset();
  if (input.flag()) config.max_slots = 1 + input.below(6);
  config.m0 = 1.0F + static_cast<float>(input.below(32)) / 4.0F;
  config.beta = static_cast<float>(input.below(16));
  config.eta = input.one_of({.05F, .5F, 1.0F});
  config.shrink = static_cast<Shrink>(input.below(2));
  config.null_similarity.reset();
  if (input.flag()) config.null_similarity = static_cast<float>(input.below(9)) / 4.0F - 1.0F;
  config.ttl_ms.reset();
  if (input.flag()) config.ttl_ms = static_cast<std::int64_t>(input.below(30));
}

inline Config config_from(Input& input) {
  Config config;
  config.dimension = 1 + static_cast<std::uint32_t>(input.below(20));
  config.value_dimension = static_cast<std::uint32_t>(input.below(4));
  config.key_update = static_cast<KeyUpdate>(input.below(2));
  config.value_update = static_cast<ValueUpdate>(input.below(4));
  config.ema = input.one_of({.25F, .3F, 1.0F});
  config.keep_sums = input.flag();
  change_from(input, config);
  return config;
}

// Of every kind, also none.
inline void trust(Config& config, std::uint8_t kind) {
  config.audit = static_cast<Audit>(kind % 3);
  config.audit_members = kind % 4 == 0 ? 2 : 1024;
  if (kind % 2 == 0) config.tau_merge = threshold(config) / 4.0F;
  if (kind % 5 == 0 && config.gate) {
    config.gate->a = std::min(config.gate->a, 1000.0F);
    if (config.gate->a >= 1.0F) config.correction_rate = .5F;
  }
}

// The cache saved must load, and be the same when saved again.
inline Cache reloaded(const Cache& cache) {
  const std::vector<std::byte> file = cache.save();
  Result<Cache> loaded = Cache::load(file);
  require(static_cast<bool>(loaded), "what was saved does not load:", loaded.status.detail);
  require(loaded->save() == file, "what was loaded is saved as something else");
  return std::move(*loaded);
}

// Uses a cache in every way, with items made by a rule. Nothing may break.
inline void use(Cache& cache, std::uint8_t seed) {
  const Config config = cache.config();
  if (config.dimension > 256 || config.value_dimension > 256) return;
  std::vector<std::uint8_t> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>((seed + i * 37) % 97);
  }
  std::int64_t time = 0;
  for (const Slot& slot : cache.slots()) time = std::max(time, slot.last_time);
  for (int round = 0; round < 6; ++round) {
    bytes[0] = static_cast<std::uint8_t>((round * 11 + seed) % 97);
    Input input(bytes.data(), bytes.size());
    std::vector<float> key(config.dimension);
    for (float& x : key) x = input.number();
    key[0] += 0.125F;
    std::vector<float> value(config.value_dimension);
    for (float& x : value) x = input.number();
    const std::string text(static_cast<std::size_t>(round), 'x');
    Item item;
    item.key = key;
    item.value = value;
    item.payload = text;
    if (round % 2 == 0) item.exact_key = text;
    item.time = time;
    item.id = text;
    item.text = text;
    const Result<Decision> decision = cache.observe(item);
    require(decision.status.code == Error::ok || decision.status.code == Error::full,
            "an item was refused:", decision.status.detail);
    const Result<Reading> reading = cache.read(key);
    require(static_cast<bool>(reading), "a query was refused:", reading.status.detail);
    for (float x : reading->value) require(x - x == 0.0F, "a mixed value is not finite");
    for (const Weighted& one : reading->top) {
      require(one.weight >= 0.0F && one.weight <= 1.0F, "a weight is no weight");
      require(one.similarity >= -1.0F && one.similarity <= 1.0F, "a similarity is no cosine");
    }
  }
  for (const Slot& slot : cache.slots()) {
    const Result<std::vector<Member>> members = cache.members(slot.id);
    if (!members || members->size() < 2) continue;
    const Result<SlotId> opened = cache.split(slot.id, members->back().seq);
    if (opened && seed % 2 == 0) {
      require(static_cast<bool>(cache.must_merge(slot.id, *opened)), "no merge");
    }
    break;
  }
  if (const std::vector<Review> reviews = cache.reviews(); !reviews.empty()) {
    const Review& review = reviews.front();
    const Status status =
        cache.review(review.slot, review.other, static_cast<Judgement>(seed % 3), time);
    require(static_cast<bool>(status), "a review was refused:", status.detail);
  }
  if (cache.size() < 64) cache.consolidate(.9F, time);
  if (cache.size() > 0) cache.erase(cache.slots(0, 1).front().id, time);
  reloaded(cache);
}

}  // namespace dpcache::fuzz

#endif  // DPCACHE_TESTS_FUZZ_INPUT_H_
