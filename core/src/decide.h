// Deciding what becomes of an item. Pure: nothing here changes a cache.
#ifndef DPCACHE_SRC_DECIDE_H_
#define DPCACHE_SRC_DECIDE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "budget.h"
#include "dpcache/config.h"
#include "dpcache/event.h"
#include "ledger.h"
#include "search.h"
#include "slots.h"

namespace dpcache {

// The slot that keeps the item's exact key, if there is one that has not expired by item.time.
std::size_t owner_of(const Slots& slots, const Item& item);  // row, or kNoRow

// What an item is compared with: the owner of its exact key, or else the nearest slot.
struct Compared {
  Nearest slot;
  bool is_owner = false;
#if DPCACHE_TRUST
  bool stopped = false;              // guards stop a merge with it, and with all that are near
  GuardSet guarded;                  // the guards that have stopped slots
  std::optional<Judgement> verdict;  // of the judge, who was asked
#endif
};

// Allocate or merge, by the exact key, or else by the novelty [eq. 1, 2], and the budget that
// follows [eq. 4, 5]. `key` is padded and of unit length. Without the lists of what goes.
Decision decide(const Config& config, const Slots& slots, const Budget& budget, SlotId next_id,
                std::span<const float> key, Compared compared);

#if DPCACHE_TRUST
// The nearest slot within the threshold that no guard stops, of up to kCandidates (those of another
// scope do not count); or the nearest, stopped. `found`: the nearest slot. `key` is padded and of
// unit length. Of the item text, scope and time are looked at.
inline constexpr std::size_t kCandidates = 8;
Compared decide_guards(const Config& config, const Slots& slots, const Ledger& ledger,
                       const float* key, const Item& item, Nearest found);
#endif

// The slots that have expired by `time`, ascending.
std::vector<SlotId> decide_expiry(const Slots& slots, std::int64_t time);

// The `count` slots of least usage [eq. 6], least first, ties to the oldest; never `keep`.
std::vector<SlotId> decide_evictions(const Slots& slots, std::size_t count, SlotId keep);

// The slot of least usage, and the slot nearest to it.
Fold decide_fold(const Slots& slots, SlotId keep);

#if DPCACHE_TRUST
// The same of those that may be merged; nothing: no two may.
std::optional<Fold> decide_fold(const Config& config, const Slots& slots, const Ledger& ledger,
                                SlotId keep);
#endif

// The folds that leave no two slots whose centroids are `similarity` alike, the best pair first.
#if DPCACHE_TRUST
// Pairs that may not be merged stay two.
std::vector<Fold> decide_consolidation(const Config& config, const Slots& slots,
                                       const Ledger& ledger, float similarity);
#else
std::vector<Fold> decide_consolidation(const Slots& slots, float similarity);
#endif

}  // namespace dpcache

#endif  // DPCACHE_SRC_DECIDE_H_
