// Settings and a sequence of calls out of bytes: the cache must answer as the plain loops do, bit
// for bit, and be the same when it is saved and loaded, and when it is replayed from its events.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/input.h"
#include "reference.h"
#include "vector_runner.h"

namespace dpcache {
namespace {

using fuzz::Input;
using fuzz::require;

std::string bits(const Decision& decision) {
  Event event;
  event.decision = decision;
  std::vector<std::byte> bytes;
  encode(event, bytes);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class Run {
 public:
  Run(Input& input, const Config& config)
      : input_(input),
        config_(config),
        cache_(std::move(*Cache::create(config))),
        replayed_(std::move(*Cache::create(config))),
        reference_(config) {
    listen();
  }

  void step() {
    const std::size_t op = input_.below(64);
    time_ += static_cast<std::int64_t>(input_.below(8)) - 1;
    if (op < 4) return erase();
    if (op < 7) return consolidate();
    if (op < 9) return configure();
    if (op < 10) return reload();  // takes longest
    if (op < 14) return ask();
    observe();
  }

  void finish() {
    compare_slots();
    require(replayed_.save() == cache_.save(), "the replayed cache differs");
    fuzz::reloaded(cache_);
  }

 private:
  void listen() {
    cache_.on_event([this](const Event& event) {
      std::vector<std::byte> bytes;
      encode(event, bytes);
      const Result<DecodedEvent> decoded = decode_event(bytes);
      require(static_cast<bool>(decoded), "an event is not decoded:", decoded.status.detail);
      const Status status = replayed_.apply(decoded->event());
      require(static_cast<bool>(status), "an event is not applied:", status.detail);
    });
  }

  std::vector<float> key() {
    std::vector<float> out(config_.dimension);
    for (float& x : out) x = input_.number();
    return out;
  }

  void observe() {
    const std::vector<float> item_key = key();
    std::vector<float> value(config_.value_dimension);
    for (float& x : value) x = input_.number();
    const std::string payload(input_.below(3), 'p');
    const std::string exact_key(input_.below(3), 'e');
    Item item;
    item.key = item_key;
    item.value = value;
    item.payload = payload;
    if (input_.below(4) == 0) item.exact_key = exact_key;
    if (input_.below(8) == 0) item.ttl_ms = static_cast<std::int64_t>(input_.below(20));
    item.time = time_;
    const std::uint64_t hash = cache_.stats().state_hash;
    const Result<Decision> found = cache_.observe(item);
    if (!found) {
      require(cache_.stats().state_hash == hash, "a refused item changed the cache");
      return;
    }
    const Decision expected = reference_.observe(item);
    if (bits(*found) == bits(expected)) return;
    require(false, "another decision:",
            vectors::to_json(*found).dump() + " against " + vectors::to_json(expected).dump());
  }

  void ask() {
    const std::vector<float> query = key();
    QueryOptions options;
    options.k = input_.below(4);
    if (input_.flag()) options.time = time_ + static_cast<std::int64_t>(input_.below(40));
    const Result<Reading> found = cache_.read(query, options);
    if (!found) return;
    const std::string reading = vectors::to_json(*found).dump();
    const std::string expected = vectors::to_json(reference_.read(query, options)).dump();
    require(reading == expected, "another reading:", reading + " against " + expected);
    require(*cache_.nearest(query, options) == reference_.nearest(query, options),
            "another nearest slot");
    require(cache_.score(query, options)->front() == reference_.score(query, options),
            "other scores");
  }

  void erase() {
    const std::vector<Slot> slots = cache_.slots();
    if (slots.empty()) return;
    const SlotId id = slots[input_.below(slots.size())].id;
    require(static_cast<bool>(cache_.erase(id, time_)), "a slot is not erased");
    reference_.erase(id);
  }

  void consolidate() {
    const float similarity = static_cast<float>(input_.below(9)) / 4.0F - 1.0F;
    const Result<std::vector<Fold>> folds = cache_.consolidate(similarity, time_);
    if (!folds) return;
    require(*folds == reference_.consolidate(similarity, time_), "other folds");
  }

  void configure() {
    fuzz::change_from(input_, config_);
    const Status status = cache_.configure(config_, time_);
    require(static_cast<bool>(status), "settings are refused:", status.detail);
    reference_.configure(config_);
  }

  void reload() {
    cache_ = fuzz::reloaded(cache_);
    listen();
  }

  void compare_slots() {
    const std::vector<Slot> slots = cache_.slots();
    require(slots.size() == reference_.slots().size(), "another number of slots");
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Slot& slot = slots[i];
      const auto& expected = reference_.slots()[i];
      require(slot.id == expected.id && slot.count == expected.count &&
                  slot.first_time == expected.first_time && slot.last_time == expected.last_time &&
                  slot.usage == reference_.usage(expected) && slot.payload == expected.payload,
              "another slot");
      require(std::vector<std::string>(slot.exact_keys.begin(), slot.exact_keys.end()) ==
                  expected.exact_keys,
              "other exact keys");
      const auto same = [](std::span<const float> a, const std::vector<float>& b) {
        return a.size() == b.size() &&
               (b.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
      };
      require(same(slot.key, expected.key), "another key");
      require(same(slot.value, expected.value), "another value");
    }
  }

  Input& input_;
  Config config_;
  Cache cache_;
  Cache replayed_;
  reference::ReferenceCache<float> reference_;
  std::int64_t time_ = 0;
};

}  // namespace
}  // namespace dpcache

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dpcache::fuzz::Input input(data, size);
  dpcache::Run run(input, dpcache::fuzz::config_from(input));
  for (int i = 0; i < 60; ++i) run.step();
  run.finish();
  return 0;
}
