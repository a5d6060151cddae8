// What goes into a cache and what it says about it: items, decisions, events.
#ifndef DPCACHE_EVENT_H_
#define DPCACHE_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/error.h"

namespace dpcache {

using SlotId = std::uint64_t;  // from 1 up, below 2^53, never reused

// One element of the stream. The views need to live only during the call; they must not point into
// the cache that takes it (copy a slot's key before you observe it).
struct Item {
  std::span<const float> key;  // `dimension` floats, finite, not all zero; need not be unit length
  std::span<const float> value;  // `value_dimension` floats, finite
  std::string_view payload;      // any bytes; empty: none
  // An item with an exact key that a slot has absorbed merges there, whatever its vector.
  std::optional<std::string_view> exact_key;
  std::int64_t time = 0;               // milliseconds, |time| < 2^53; by the caller's clock
  std::optional<std::int64_t> ttl_ms;  // instead of the config's, if this item opens a slot
  std::string_view encoder;            // if given, must be the config's
#if DPCACHE_TRUST
  std::string_view id;     // names the item in an audit, at most 1024 bytes; empty: none
  std::string_view text;   // for guards, and kept with the item by Audit::full; empty: none
  std::string_view scope;  // tenant, namespace, filters: for Guard::scope
#endif
};

// A slot and its similarity: a canonical cosine in [-1, 1].
struct Match {
  SlotId slot = 0;
  float similarity = 0.0F;

  bool operator==(const Match&) const = default;
};

// A slot that was folded into another one and is gone.
struct Fold {
  SlotId slot = 0;
  SlotId into = 0;

  bool operator==(const Fold&) const = default;
};

enum class Action : std::uint8_t { allocate, merge };

#if DPCACHE_TRUST
// Whether two things are one.
enum class Judgement : std::uint8_t { same, different, unknown };

// What was corrected, or answered to a question. Which parts hold what:
//   split           slot: loses `member`; other: the slot that opens for it
//   must_not_merge  slot, other
//   must_merge      slot: stays; other: is folded into it
//   review          slot, other, as with must_merge; verdict
struct Correction {
  SlotId slot = 0;
  SlotId other = 0;
  std::uint64_t member = 0;
  Judgement verdict = Judgement::unknown;

  bool operator==(const Correction&) const = default;
};
#endif

// What became of an item.
struct Decision {
  Action action = Action::allocate;
  SlotId slot = 0;         // the slot that was opened or joined
  float novelty = 0.0F;    // 1 - similarity, [0, 2]; 1 when there was no slot [eq. 1]
  float threshold = 0.0F;  // the novelty above which an item allocates
  float gate = 0.0F;       // probability of a slot: sigmoid(a (nov - b)), or 0 or 1 for a plain tau
  float similarity = 0.0F;       // to the slot joined; on allocation to the nearest one, or 0
  std::optional<Match> nearest;  // on allocation: the nearest miss, if there was any slot
  std::vector<SlotId> evicted;   // dropped to meet the budget, in this order
  std::vector<Fold> folded;      // folded to meet the budget, in this order
  float surprise = 0.0F;         // T after this item [eq. 4]
  std::optional<float> budget;   // M after this item [eq. 5]; none without a budget
#if DPCACHE_TRUST
  bool uncertain = false;            // above tau_merge, and not above the threshold
  std::optional<Judgement> verdict;  // the judge's, if one was asked: with `same` the item merged
  GuardSet guarded;                  // the guards that stopped merges with nearer slots
#endif

  bool operator==(const Decision&) const = default;
};

enum class EventKind : std::uint8_t {
  observe,
  erase,
  expire,
  consolidate,
  config,
#if DPCACHE_TRUST
  split,
  must_not_merge,
  must_merge,
  review,
#endif
};

// A change of a cache, with all that repeating it needs. Decisions are recorded, not remade: a
// replay scores nothing, but the two slots of a correction where the gate learns. Which parts hold
// what:
//   observe      item (its key of unit length), decision
//   erase        decision.evicted: the slot
//   expire       decision.evicted: the slots, ascending
//   consolidate  decision.folded
//   config       config
//   split, must_not_merge, must_merge, review  correction; split: also item, if it was brought
struct Event {
  std::uint64_t seq = 0;  // 1, 2, 3, … without gaps
  EventKind kind = EventKind::observe;
  std::int64_t time = 0;
  Item item;
  Decision decision;
  std::optional<Config> config;
#if DPCACHE_TRUST
  Correction correction;
#endif
};

// The canonical bytes of an event: little-endian, versioned, self-delimiting by their length.
// Appends to `out`. These bytes are what the state hash runs over, and what a log stores.
void encode(const Event& event, std::vector<std::byte>& out);

// An event read back, with the memory that its views point into.
class DecodedEvent {
 public:
  DecodedEvent() = default;
  DecodedEvent(DecodedEvent&&) = default;
  DecodedEvent& operator=(DecodedEvent&&) = default;
  DecodedEvent(const DecodedEvent&) = delete;
  DecodedEvent& operator=(const DecodedEvent&) = delete;
  ~DecodedEvent() = default;

  const Event& event() const noexcept { return event_; }

 private:
  friend Result<DecodedEvent> decode_event(std::span<const std::byte> bytes);
  Event event_;
  std::vector<std::byte> bytes_;
  std::vector<float> floats_;
};

// bad_request: not an event, cut, or with bytes left over. Lengths are checked before anything is
// allocated.
Result<DecodedEvent> decode_event(std::span<const std::byte> bytes);

}  // namespace dpcache

#endif  // DPCACHE_EVENT_H_
