// All that a cache is: settings, slots, budget, counters. Changed by the functions of apply.cc
// alone.
#ifndef DPCACHE_SRC_STATE_H_
#define DPCACHE_SRC_STATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "budget.h"
#include "dpcache/config.h"
#include "dpcache/error.h"
#include "dpcache/event.h"
#include "dpcache/trust.h"
#include "ledger.h"
#include "slots.h"

namespace dpcache {

struct Counters {
  std::uint64_t items = 0;
  std::uint64_t allocations = 0;
  std::uint64_t merges = 0;
  std::uint64_t evictions = 0;
  std::uint64_t folds = 0;
  std::uint64_t expirations = 0;
  std::uint64_t erasures = 0;
  SlotId next_id = 1;
  std::uint64_t seq = 0;
  std::uint64_t state_hash = 0;
#if DPCACHE_TRUST
  std::uint64_t splits = 0;  // each opened a slot, without an item
#endif
};

// A tensor of a memory file that this version does not know: kept as it is.
struct ExtraTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> bytes;
};

struct CacheState {
  explicit CacheState(const Config& settings);

  Config config;
  Slots slots;
  Budget budget;
  Counters counters;
  std::map<std::string, std::string> metadata;
  std::vector<ExtraTensor> extra_tensors;
  std::function<void(const Event&)> listener;
#if DPCACHE_TRUST
  Ledger ledger;
  std::function<Judgement(const Question&)> judge;
#endif

  // The writer's own memory, kept so that a merge allocates nothing.
  AlignedFloats unit_key;              // the normalised key of the item at hand, padded
  std::vector<std::byte> event_bytes;  // for encode_into()

  // The parts of applying an event. What they are given must have been checked or decided.
  // item.key: unit_key. `closest`: what a search has found to be the similarity of the nearest
  // slot, or kUnknown.
  void write(const Item& item, const Decision& decision, float closest);
  void evict(SlotId id);
  void fold(Fold fold);         // for the budget
  void consolidate(Fold fold);  // for consolidate: the survivor's key becomes the centroid
  void erase(SlotId id);
  void expire(std::span<const SlotId> ids);
  void configure(const Config& settings);
#if DPCACHE_TRUST
  void split(const Correction& correction, const Item& brought);  // brought.key: unit_key
  void join(SlotId into, SlotId from);
  void keep_apart(SlotId a, SlotId b);
  // What was said of two things at a novelty teaches the gate, if the config wants that.
  void learn(float novelty, Judgement verdict);
#endif
  // Counts the event, chains it into the state hash and tells the listener. Sets event.seq.
  void publish(Event& event);

#if DPCACHE_TRUST
 private:
  void note(const Item& item, const Decision& decision);
  float novelty_between(SlotId a, SlotId b) const;  // of their keys
#endif
};

#if DPCACHE_TRUST
// Without what says the same as its absence.
Config normal(Config config);
// Whether the slot can give up this member, of which `brought` (null: nothing) is the item; its key
// of unit length and padded.
Status check_split(const CacheState& state, SlotId slot, std::uint64_t member, const Item* brought,
                   const float* key);
// Whether there are two such slots.
Status check_pair(const CacheState& state, SlotId a, SlotId b);
#endif

// Whether an event that was recorded elsewhere follows this state.
Status check_event(const CacheState& state, const Event& event);
// Applies it; it has passed check_event, and there is room for one more slot.
void apply_event(CacheState& state, const Event& event);

}  // namespace dpcache

#endif  // DPCACHE_SRC_STATE_H_
