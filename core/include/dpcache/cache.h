// The cache: a memory that keeps distinct items, not every item.
#ifndef DPCACHE_CACHE_H_
#define DPCACHE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/error.h"
#include "dpcache/event.h"
#include "dpcache/trust.h"

namespace dpcache {

struct CacheState;
class Scorer;

// A view of one slot. Valid until the next call that changes the cache.
struct Slot {
  SlotId id = 0;
  std::span<const float> key;    // unit length
  std::span<const float> value;  // empty if the cache has no values
  std::string_view payload;
  std::vector<std::string_view> exact_keys;  // in the order in which they were absorbed
  double usage = 0.0;                        // decayed count of the items absorbed
  std::uint64_t count = 0;                   // plain count
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  std::optional<std::int64_t> expires;  // the first time at which the slot is gone
#if DPCACHE_TRUST
  std::string_view text;  // of its first item that had one; kept where there are guards
#endif
};

struct Weighted {
  SlotId slot = 0;
  float similarity = 0.0F;
  float weight = 0.0F;  // share in the mix, [0, 1]

  bool operator==(const Weighted&) const = default;
};

// The answer to a query [eq. 3].
struct Reading {
  bool empty = true;          // there was no slot to read
  std::vector<float> value;   // the mixed value; empty if `empty` or without value vectors
  float null_weight = 0.0F;   // the null slot's share; 0 without one, 1 if it stands alone
  std::vector<Weighted> top;  // the k slots of highest similarity, best first, then by id

  bool operator==(const Reading&) const = default;
};

struct QueryOptions {
  std::size_t k = 10;                // how many slots to list; the mix is always over all
  std::optional<std::int64_t> time;  // skip what has expired by then
  std::string_view encoder;          // if given, must be the config's
};

struct Stats {
  std::uint64_t slots = 0;
  std::uint64_t items = 0;  // observed so far = allocations + merges (- splits)
  std::uint64_t allocations = 0;
  std::uint64_t merges = 0;
  std::uint64_t evictions = 0;  // dropped for the budget
  std::uint64_t folds = 0;      // folded, for the budget or by consolidate
  std::uint64_t expirations = 0;
  std::uint64_t erasures = 0;
  SlotId next_id = 1;
  std::uint64_t seq = 0;         // of the last event
  std::uint64_t state_hash = 0;  // chain over the canonical bytes of all events
  float surprise = 0.0F;         // T
  std::optional<float> budget;   // M
  std::uint64_t bytes = 0;       // memory held, about
#if DPCACHE_TRUST
  std::uint64_t splits = 0;   // slots opened to undo a merge; among the allocations
  std::uint64_t reviews = 0;  // pairs that wait for a verdict
  std::uint64_t apart = 0;    // pairs that must not be merged
#endif
};

struct BatchResult {
  std::vector<Decision> decisions;  // one an item, or none if anything was refused
  std::vector<Status> errors;       // every bad item, by index; empty on success

  explicit operator bool() const noexcept { return errors.empty(); }
};

// Costs: N slots, d floats a key, v floats a value. A scan reads N d floats. observe, nearest and
// the searches of a budget scan small memories; of 65,536 floats of keys or more they read codes of
// the keys, an eighth as much, and find the same; observe_batch and score read them once for up to
// 48 items. From 128 floats a key on, a repeat (nearer to a slot than half of that one's angle to
// its nearest other, keys frozen) is most often found by a guess that is proved: a few scores. read
// scans: its mix is over all slots. Memory: about 4 (d' + v') + 130 bytes a slot, ' meaning rounded
// up to 16, and its payload and exact keys; with codes 45 % of the keys' more; with key sums 8 d
// more, with ValueUpdate::mean 8 v more. Thread rule: const calls may run together; a call that is
// not const must run alone. Time is an argument: nothing here reads a clock. Nothing throws on
// data, logs or aborts. On any error the cache is as it was.
class Cache {
 public:
  // bad_config: see check().
  static Result<Cache> create(const Config& config);

  Cache() noexcept;  // holds nothing: only assignment and destruction are allowed
  Cache(Cache&&) noexcept;
  Cache& operator=(Cache&&) noexcept;
  ~Cache();

  // Takes one item: joins the nearest slot, or opens one if the item is novel [eq. 1-6]. Slots that
  // have expired by item.time go first. One scan. Allocates no memory when the item merges without
  // payload or new exact key and nothing is evicted.
  // bad_shape, not_finite, zero_norm: the key or value; bad_request: a time or TTL out of range;
  // encoder_mismatch; full: no memory or no id left.
  Result<Decision> observe(const Item& item);

  // Takes items in order, with exactly the decisions that observe() would make one by one. The
  // batch is checked whole first, and refused whole with every bad item named. Room is made at the
  // start for all items, as if each opened a slot.
  BatchResult observe_batch(std::span<const Item> items);

  // Softmax attention over all slots: v = sum_i w_i v_i, w = softmax(cos(q, k_i) / theta) [eq. 3].
  // One scan, and N v multiplications in double. Errors: bad_shape, not_finite, zero_norm,
  // encoder_mismatch.
  Result<Reading> read(std::span<const float> query, const QueryOptions& options = {}) const;

  // The most similar slot; nothing if there is none. Ties go to the oldest. One scan.
  Result<std::optional<Match>> nearest(std::span<const float> query,
                                       const QueryOptions& options = {}) const;

  // For each of n queries (n x dimension floats, row-major) its k most similar slots, best first,
  // then by id. bad_shape: the length is not a multiple of the dimension.
  Result<std::vector<std::vector<Match>>> score(std::span<const float> queries,
                                                const QueryOptions& options = {}) const;

  // O(log N). not_found.
  Result<Slot> slot(SlotId id) const;
  // Up to `limit` slots with an id above `after`, ascending. O(log N + result).
  std::vector<Slot> slots(SlotId after = 0, std::size_t limit = SIZE_MAX) const;
  std::size_t size() const noexcept;

  // Removes a slot; its id is never used again. not_found.
  Status erase(SlotId id, std::int64_t time = 0);

  // Folds slots whose centroids are at least `similarity` alike, the best pair first, until there
  // is no such pair. Of a pair the slot of larger usage survives (equal: the older); its key
  // becomes the centroid of all items of both. `similarity` defaults to 1 - threshold. Mends what
  // noise split; slots may then be nearer to each other than 1 - tau. N scans and 8 N d bytes for a
  // while. bad_config: the cache keeps no key sums; bad_request: similarity outside [-1, 1]; full:
  // no memory for that while.
  Result<std::vector<Fold>> consolidate(std::optional<float> similarity = {},
                                        std::int64_t time = 0);

  // Changes settings from here on; what was decided stays. dimension, value_dimension, key_update,
  // value_update, keep_sums and encoder cannot change: bad_config. A smaller budget takes effect
  // with the next item.
  Status configure(const Config& config, std::int64_t time = 0);

#if DPCACHE_TRUST
  // Whether there is an answer for a query: the slot that observe() would merge it with, a slot of
  // which that is uncertain, or none; with what speaks for it. Changes nothing. One search.
  // Errors: as nearest().
  Result<Lookup> lookup(std::span<const float> query, const LookupOptions& options = {}) const;

  // Asks `judge` within observe() when an item is uncertain, before anything changes. `same`: the
  // item merges; `different`: it opens a slot that must not be merged with the other; `unknown`, or
  // no judge: it opens a slot, and the pair is listed for review. The answer is part of the event:
  // a replay asks nobody. It may call this cache's const functions alone. An empty function: no
  // judge.
  void on_uncertain(std::function<Judgement(const Question&)> judge);
  // The pairs that wait for a verdict, by their newer slots. A pair leaves the list when it is
  // answered or one of its slots goes; what a slot is folded into takes its place.
  std::vector<Review> reviews() const;
  // Answers for a pair of the list, in any order. `same`: the newer slot is folded into the older;
  // `different`: as must_not_merge(); `unknown`: the pair leaves the list. not_found: no such pair.
  Status review(SlotId a, SlotId b, Judgement verdict, std::int64_t time = 0);

  // The two slots are never merged: by consolidate, by a budget that folds, or by a review; nor is
  // what they are folded into. Where a budget finds no slot that another may take, it evicts. An
  // item still joins whichever is nearest. not_found; bad_request: it is one slot.
  Status must_not_merge(SlotId a, SlotId b, std::int64_t time = 0);
  // Folds slot b into slot a, whatever their distance, and lifts what kept them apart. If all their
  // members are kept (Audit::full), the slot becomes what these make of it, in the order in which
  // they came; else as with a budget that folds. not_found; bad_request: it is one slot.
  Status must_merge(SlotId a, SlotId b, std::int64_t time = 0);
  std::vector<Apart> apart() const;

  // What a slot has absorbed, in the order in which it came; all, or the latest audit_members and
  // the first. not_found; bad_config: there is no audit.
  Result<std::vector<Member>> members(SlotId id) const;
  // Undoes a merge: the member leaves the slot and opens one of its own, whose id this returns, and
  // which must not be merged with the old one. With Audit::full the old slot becomes what its other
  // members make of it, by today's settings, in the order in which they came: O(count * d). With
  // Audit::ids options.item must bring the item again, and the slot stays as it is but for count,
  // usage and times; that is right, and allowed, if keys are frozen and without sums, the member is
  // not the slot's first, brought no exact key and not the payload that the slot has, and values
  // are by `first`, by `last` and not the last member's, or none.
  // not_found: the slot, or it lists no such member; bad_request: it is the only one; bad_config:
  // the audit does not allow it; full: max_slots.
  Result<SlotId> split(SlotId slot, std::uint64_t member, const SplitOptions& options = {});
#endif

  const Config& config() const noexcept;
  Stats stats() const noexcept;
  // A sentence if the threshold looks wrong (it merged nearly all or nearly nothing so far, or it
  // looks like a similarity), else empty.
  std::string warning() const;

  // Calls `listener` after each change, within the call that makes it; it must not call this
  // cache's non-const functions. Its views live during the call. An empty function: no listener.
  void on_event(std::function<void(const Event&)> listener);
  // Repeats a recorded event. conflict: it does not follow this state (seq, ids); bad_shape,
  // not_finite, …: it cannot be an event of this cache. O(d + v), and O(N) where slots go.
  Status apply(const Event& event);

  // Makes searches faster after load() or apply(), which bring slots without the codes by which a
  // large memory is searched: codes at most `slots` of them. Answers are the same before and after.
  // Items observed and events applied do some of it too. True: nothing is left to do. O(slots * d).
  bool prepare(std::size_t slots = SIZE_MAX);

  // From now on score() and observe_batch() ask `scorer` first where a batch is large enough to pay
  // (rows x d x items of 2^28 and more); null: nobody, as at first. Answers and decisions are the
  // same: a scorer finds what a scan finds, bit for bit, and what it refuses is done here. It must
  // outlive the cache, and is told of every key that changes; one scorer may serve many caches. Has
  // no effect in WebAssembly.
  void use_scorer(Scorer* scorer);

  // Strings that travel with the memory and that nothing here reads: whose it is, where a log
  // stands. Not part of the state hash. Keys that begin with "dpcache." are kept for the snapshot
  // itself. UTF-8 (what is not becomes U+FFFD when saved), and below 100 MB together: the header
  // of a safetensors file holds no more.
  std::map<std::string, std::string>& metadata() noexcept;
  const std::map<std::string, std::string>& metadata() const noexcept;

  // The memory file: a safetensors file, the same bytes on every platform, format in
  // docs/snapshot.md.
  std::vector<std::byte> save() const;
  // bad_snapshot: damaged, cut, longer than it says, or of an unknown version. Nothing in the bytes
  // is trusted: lengths are checked before anything is allocated, and no code is run.
  static Result<Cache> load(std::span<const std::byte> bytes);

 private:
#if DPCACHE_TRUST
  Status apply_new(Event& event);
#endif

  std::unique_ptr<CacheState> state_;
};

}  // namespace dpcache

#endif  // DPCACHE_CACHE_H_
