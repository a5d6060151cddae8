// Bytes read as an event and applied: what is read is written again as it was, what is refused
// changes nothing, and what is applied leaves a cache like any other.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz/input.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace dpcache {
namespace {

using Bytes = std::vector<std::byte>;

struct Base {
  Bytes file;                      // a cache
  std::vector<Bytes> next_events;  // what may come next, of every kind
};

const std::vector<Base>& bases() {
  static const std::vector<Base> kAll = [] {
    std::vector<Base> all;
    for (std::uint8_t kind = 0; kind < 28; ++kind) {
      std::vector<std::uint8_t> bytes(300);
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>((kind * 31 + 5) * (i + 2) * (i + 5) / 13 % 101);
      }
      fuzz::Input input(bytes.data(), bytes.size());
      Config config = fuzz::config_from(input);
      config.budget = static_cast<BudgetKind>(kind % 4);
      config.keep_sums = kind % 3 != 0;
      if (kind >= 16) fuzz::trust(config, kind);
      Cache cache = std::move(*Cache::create(config));
      fuzz::use(cache, kind);
      fuzz::use(cache, static_cast<std::uint8_t>(kind + 40));
      Base base;
      base.file = cache.save();
      const auto note = [&](auto call) {
        Cache copy = std::move(*Cache::load(base.file));
        copy.on_event([&](const Event& event) { encode(event, base.next_events.emplace_back()); });
        call(copy);
      };
      note([&](Cache& copy) { fuzz::use(copy, static_cast<std::uint8_t>(kind + 90)); });
      note([](Cache& copy) { copy.consolidate(-1.0F); });
      note([](Cache& copy) { copy.configure(copy.config()); });
      note([](Cache& copy) {
        if (copy.size() > 0) copy.erase(copy.slots().back().id);
      });
      note([](Cache& copy) {
        const std::vector<Slot> slots = copy.slots(0, 2);
        if (slots.size() < 2) return;
        const SlotId a = slots[0].id;
        const SlotId b = slots[1].id;
        copy.must_not_merge(a, b);
        copy.must_merge(a, b);
      });
      all.push_back(std::move(base));
    }
    return all;
  }();
  return kAll;
}

}  // namespace
}  // namespace dpcache

// The first byte chooses the cache.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace dpcache;
  if (size < 12 || seed % 32 == 0) {
    const std::size_t which = seed / 32 % bases().size();
    const std::vector<Bytes>& events = bases()[which].next_events;
    const Bytes& event = events[seed / 1024 % events.size()];
    if (1 + event.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    data[0] = static_cast<std::uint8_t>(which);
    std::memcpy(data + 1, event.data(), event.size());
    return 1 + event.size();
  }
  return 1 + LLVMFuzzerMutate(data + 1, size - 1, max_size - 1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dpcache;
  if (size < 1) return 0;
  const Base& base = bases()[data[0] % bases().size()];
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const Bytes bytes(begin + 1, begin + size);
  const Result<DecodedEvent> decoded = decode_event(bytes);
  if (!decoded) return 0;
  Bytes again;
  encode(decoded->event(), again);
  fuzz::require(decoded->event().kind == EventKind::config || again == bytes,
                "the event is written as something else");

  Cache cache = std::move(*Cache::load(base.file));
  Event event = decoded->event();
  event.seq = cache.stats().seq + 1;
  if (!cache.apply(event)) {
    fuzz::require(cache.save() == base.file, "a refused event changed the cache");
    return 0;
  }
  fuzz::require(cache.stats().seq == event.seq, "the event was not counted");
  fuzz::reloaded(cache);
  fuzz::use(cache, data[0]);
  return 0;
}
