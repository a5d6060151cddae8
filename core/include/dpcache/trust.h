// Merges one can trust: lookups that may be uncertain, reviews, members of slots, and their
// undoing.
#ifndef DPCACHE_TRUST_H_
#define DPCACHE_TRUST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/event.h"

#if DPCACHE_TRUST

namespace dpcache {

// Whether a memory has an answer for a query.
enum class Found : std::uint8_t { miss, uncertain, hit };

// Why a lookup ended as it did.
enum class Reason : std::uint8_t {
  empty,      // miss: there is no slot, or all have expired
  exact_key,  // hit: a slot keeps the query's exact key
  near,       // hit: the novelty is at most tau_merge (or the threshold, without one)
  between,    // uncertain: above that, and at most the threshold
  far,        // miss: above the threshold
  guarded,    // nearer slots were passed over, or all within the threshold were
  rival,      // the nearest other slot is within the threshold too
};
// "near" and so on: the same word in JSON and JavaScript.
const char* to_string(Reason reason) noexcept;
const char* to_string(Found found) noexcept;
const char* to_string(Judgement verdict) noexcept;

struct Lookup {
  Found found = Found::miss;
  std::optional<Match> slot;   // the one that answers, or may; on a miss the nearest
  std::optional<Match> other;  // the nearest of the other slots
  float novelty = 1.0F;        // 1 - the similarity to `slot`
  float tau_merge = 0.0F;      // at most so novel: hit
  float threshold = 0.0F;      // above: miss
  GuardSet guarded;            // the guards that stopped slots that are nearer than `slot`, or all
  std::vector<Reason> reasons;

  bool operator==(const Lookup&) const = default;
};

struct LookupOptions {
  std::optional<std::int64_t> time;           // skip what has expired by then
  std::string_view encoder;                   // if given, must be the config's
  std::optional<std::string_view> exact_key;  // as an item's
  std::string_view text;                      // for the guards
  std::string_view scope;
};

// What a judge is asked: whether an item is what a slot holds. The views live during the call.
struct Question {
  const Item& item;  // its key of unit length
  SlotId slot;       // the nearest
  float similarity;
  float tau_merge;
  float threshold;
};

// Two slots of which it is uncertain whether they are one.
struct Review {
  SlotId slot = 0;   // the newer one; opened by the uncertain item, or holding what that has become
  SlotId other = 0;  // the older one
  float similarity = 0.0F;  // of the item to the slot that was nearest to it

  bool operator==(const Review&) const = default;
};

// Two slots that must not be merged; the older first.
struct Apart {
  SlotId slot = 0;
  SlotId other = 0;

  bool operator==(const Apart&) const = default;
};

// One item that a slot absorbed. Valid until the next call that changes the cache.
struct Member {
  std::uint64_t seq = 0;  // of the event that brought it: its name within the cache
  std::string_view id;    // the caller's; empty: none was given
  std::int64_t time = 0;
  bool opened = false;      // it opened a slot: this one, or one that was folded into it
  float similarity = 0.0F;  // when it came: to the slot joined, or to the nearest miss
  float threshold = 0.0F;   // that decided
  float gate = 0.0F;
  GuardSet guarded;            // that stopped merges with nearer slots
  bool kept = false;           // with Audit::full: what follows is its own
  std::span<const float> key;  // unit length
  std::span<const float> value;
  std::string_view payload;
  std::optional<std::string_view> exact_key;
  std::string_view text;
  std::string_view scope;
};

struct SplitOptions {
  std::int64_t time = 0;
  // With Audit::ids: the member's item once more, of which key, value, payload, text and scope
  // are used.
  const Item* item = nullptr;
};

}  // namespace dpcache

#endif  // DPCACHE_TRUST

#endif  // DPCACHE_TRUST_H_
