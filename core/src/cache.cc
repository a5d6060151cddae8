// The public calls that change a cache: check, normalise, decide, apply, publish.
#include "dpcache/cache.h"

#include <algorithm>
#include <utility>

#include "decide.h"
#include "digits.h"
#include "event_bytes.h"
#include "kernels.h"
#include "search.h"
#include "search_batch.h"
#include "state.h"
#include "validate.h"

namespace dpcache {

namespace {

Status no_room() {
  return {Error::full, 0, "", "there is no memory for the item"};
}

#if DPCACHE_TRUST
std::size_t noted(const Config& config, const Item& item);
#endif

// The bytes of an item's own that a slot would keep; an exact key stands in two places.
std::size_t brought_by(const Item& item) {
  return item.payload.size() + 2 * (item.exact_key ? item.exact_key->size() : 0);
}

// Whether there is room for all that an event takes: a row, what its item brings, and its canonical
// bytes. Makes it. A merge that brings nothing needs none that an earlier one has not made.
bool make_room(CacheState& state, const Event& event) {
  const Item& item = event.item;
#if DPCACHE_TRUST
  const bool opens = event.kind == EventKind::split || (event.kind == EventKind::observe &&
                                                        event.decision.action == Action::allocate);
#else
  const bool opens = event.kind == EventKind::observe && event.decision.action == Action::allocate;
#endif
  if (opens && !state.slots.reserve(1)) return false;
#if DPCACHE_TRUST
  const std::size_t brought = brought_by(item) + noted(state.config, item);
#else
  const std::size_t brought = brought_by(item);
#endif
  const std::size_t length = most_bytes(event);
  const std::size_t missing = state.event_bytes.size() < length ? length : 0;
  if (brought + missing == 0) return true;
  if (!room_for(brought + missing)) return false;
  if (missing > 0) state.event_bytes = std::vector<std::byte>(length);
  return true;
}

// Every number stays below 2^53. Events are the most of what is counted: each item, slot and
// erasure has one.
bool can_count(const CacheState& state, std::uint64_t events) {
  return events <= kMaxId - std::min<std::uint64_t>(state.counters.seq, kMaxId);
}

Status no_number() {
  return {Error::full, 0, "", "there have been 2^53 events: no number is left"};
}

constexpr std::uint64_t kEventsAnItem = 2;  // what has expired goes, and then the item

void expire(CacheState& state, std::int64_t time) {
  if (time < state.slots.next_expiry()) return;
  std::vector<SlotId> ids = decide_expiry(state.slots, time);
  if (ids.empty()) {  // what was due had gone before
    state.slots.refresh_expiry();
    return;
  }
  Event event;
  event.kind = EventKind::expire;
  event.time = time;
  state.expire(ids);
  event.decision.evicted = std::move(ids);
  state.publish(event);
}

// Drops or folds slots until the budget is met, and notes them in the decision.
void shrink(CacheState& state, Decision& decision) {
  const std::uint64_t limit = Budget::limit(state.config, decision.budget);
  if (state.slots.size() <= limit) return;
  if (state.config.shrink == Shrink::evict) {
    const std::size_t excess = state.slots.size() - static_cast<std::size_t>(limit);
    decision.evicted = decide_evictions(state.slots, excess, decision.slot);
    for (SlotId id : decision.evicted) state.evict(id);
    return;
  }
  while (state.slots.size() > limit) {
#if DPCACHE_TRUST
    const std::optional<Fold> found =
        decide_fold(state.config, state.slots, state.ledger, decision.slot);
    if (!found) {  // no two may be merged: what is least used goes
      const std::size_t excess = state.slots.size() - static_cast<std::size_t>(limit);
      decision.evicted = decide_evictions(state.slots, excess, decision.slot);
      for (SlotId id : decision.evicted) state.evict(id);
      return;
    }
    const Fold fold = *found;
#else
    const Fold fold = decide_fold(state.slots, decision.slot);
#endif
    state.fold(fold);
    decision.folded.push_back(fold);
  }
}

#if DPCACHE_TRUST
// The bytes of an item that the ledger would keep.
std::size_t noted(const Config& config, const Item& item) {
  constexpr std::size_t kFacts = 16;  // bytes of facts for one of text, at most about
  std::size_t bytes = config.guards.empty() ? 0 : kFacts * item.text.size() + item.scope.size();
  if (config.audit == Audit::none) return bytes;
  bytes += sizeof(Entry) + item.id.size();
  if (config.audit == Audit::ids) return bytes;
  return bytes + sizeof(Entry::Kept) + padded(config.dimension) * sizeof(float) +
         item.value.size_bytes() + item.payload.size() + item.text.size() + item.scope.size() +
         (item.exact_key ? item.exact_key->size() : 0);
}
#endif

// The slot that has just come gets its codes, and some that a file brought.
void prepare_some(CacheState& state) {
  constexpr std::size_t kLeast = 16;
  state.slots.prepare(std::max(kLeast, state.slots.rows() / 256));
}

#if DPCACHE_TRUST
bool is_of_another_scope(const CacheState& state, std::size_t r, const Item& item) {
  if (!state.config.guards.has(Guard::scope)) return false;
  const Page* page = state.ledger.page(state.slots.row(r).id);
  return (page == nullptr ? std::string_view() : page->scope) != item.scope;
}

// What the cache has no use for is not part of its history.
void forget_unused(const Config& config, Item& item) {
  if (config.audit == Audit::none) item.id = {};
  if (config.audit != Audit::full && !reads_texts(config.guards)) item.text = {};
  if (!config.guards.has(Guard::scope)) item.scope = {};
}
#endif

// One item that was checked, and its key, normalised, in state.unit_key. find() tells the nearest
// slot. Decides before anything changes: a merge needs no room, and where there is none for a slot
// nothing has happened.
template <class Find>
Result<Decision> observe_checked(CacheState& state, const Item& item, Find find) {
  Event event;
  event.kind = EventKind::observe;
  event.time = item.time;
  event.item = item;
  event.item.key = std::span(state.unit_key).first(item.key.size());
#if DPCACHE_TRUST
  std::size_t owner = owner_of(state.slots, item);
  if (owner != kNoRow && is_of_another_scope(state, owner, item)) {
    event.item.exact_key.reset();  // it stays where it is
    owner = kNoRow;
  }
  Compared compared;
  float closest = kUnknown;  // guards may pass over the nearest slot
  if (owner != kNoRow) {
    compared.slot = {owner, similarity(state.slots, state.unit_key.data(), owner)};
    compared.is_owner = true;
  } else {
    compared.slot = find();
    closest = compared.slot.similarity;
    if (!state.config.guards.empty()) {
      compared = decide_guards(state.config, state.slots, state.ledger, state.unit_key.data(), item,
                               compared.slot);
    }
  }
  forget_unused(state.config, event.item);
#else
  const std::size_t owner = owner_of(state.slots, item);
  const Compared compared =
      owner == kNoRow
          ? Compared{find(), false}
          : Compared{{owner, similarity(state.slots, state.unit_key.data(), owner)}, true};
  const float closest = compared.slot.similarity;
#endif
  event.decision = decide(state.config, state.slots, state.budget, state.counters.next_id,
                          state.unit_key, compared);
#if DPCACHE_TRUST
  if (event.decision.uncertain && state.judge) {
    Item asked = item;
    asked.key = event.item.key;
    compared.verdict = state.judge({asked, event.decision.nearest->slot, event.decision.similarity,
                                    *state.config.tau_merge, event.decision.threshold});
    event.decision = decide(state.config, state.slots, state.budget, state.counters.next_id,
                            state.unit_key, compared);
  }
#endif
  if (!make_room(state, event)) return no_room();

  expire(state, item.time);
  state.write(event.item, event.decision, closest);
  shrink(state, event.decision);
  state.publish(event);
  prepare_some(state);
  return std::move(event.decision);
}

Result<Decision> observe_one(CacheState& state, const Item& item) {
  kernels::normalise(item.key, state.unit_key);
  return observe_checked(state, item,
                         [&] { return nearest(state.slots, state.unit_key.data(), item.time); });
}

// Items that were checked and for which there is room, searched as a batch: the decisions are those
// of observe_one(), for a search finds the nearest of the slots as they are then.
void observe_together(CacheState& state, std::span<const Item> items, AlignedFloats& keys,
                      Batch& batch, std::vector<Decision>& decisions) {
  const std::size_t stride = state.slots.stride();
  for (std::size_t i = 0; i < items.size(); ++i) {
    kernels::normalise(items[i].key, std::span(keys).subspan(i * stride, stride));
  }
  batch.take(state.slots, keys.data(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto key = std::span(keys).subspan(i * stride, stride);
    std::copy(key.begin(), key.end(), state.unit_key.begin());
    decisions.push_back(*observe_checked(state, items[i], [&] {
      return batch.nearest(i, {items[i].time, kNoRow});
    }));
  }
}

}  // namespace

Result<Cache> Cache::create(const Config& config) {
  if (Status status = check(config); !status) return status;
  Cache cache;
  cache.state_ = std::make_unique<CacheState>(config);
  return cache;
}

Cache::Cache() noexcept = default;
Cache::Cache(Cache&&) noexcept = default;
Cache& Cache::operator=(Cache&&) noexcept = default;
Cache::~Cache() = default;

Result<Decision> Cache::observe(const Item& item) {
  if (Status status = check_item(state_->config, item); !status) return status;
  if (!can_count(*state_, kEventsAnItem)) return no_number();
  return observe_one(*state_, item);
}

BatchResult Cache::observe_batch(std::span<const Item> items) {
  BatchResult result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Status status = check_item(state_->config, items[i]);
    if (status) continue;
    status.index = i;
    result.errors.push_back(std::move(status));
  }
  if (!result.errors.empty()) return result;
  if (!can_count(*state_, kEventsAnItem * items.size())) {
    result.errors.push_back(no_number());
  } else {
    // As if each item opened a slot and no two allocations shared a block.
    constexpr std::size_t kOverhead = 128;
    std::size_t brought = 0;
    for (const Item& item : items) brought += brought_by(item) + kOverhead;
#if DPCACHE_TRUST
    for (const Item& item : items) brought += noted(state_->config, item);
#endif
    if (!state_->slots.reserve(items.size()) || !room_for(brought)) {
      result.errors.push_back(no_room());
    }
  }
  if (!result.errors.empty()) return result;
  result.decisions.reserve(items.size());
  const std::size_t most = std::min(Batch::most(state_->slots), items.size());
  if (most > 1 && room_for(most * state_->slots.stride() * sizeof(float))) {
    AlignedFloats keys(most * state_->slots.stride());
    OwnBatch own;
    Batch& batch = *own;
    for (; !items.empty(); items = items.subspan(std::min(most, items.size()))) {
      observe_together(*state_, items.first(std::min(most, items.size())), keys, batch,
                       result.decisions);
    }
    return result;
  }
  for (const Item& item : items) result.decisions.push_back(*observe_one(*state_, item));
  return result;
}

Status Cache::erase(SlotId id, std::int64_t time) {
  if (!is_time(time)) return {Error::bad_request, 0, "/time", "time must be below 2^53"};
  if (state_->slots.find(id) == kNoRow) {
    return {Error::not_found, 0, "/slot", "there is no slot " + whole_number(id)};
  }
  if (!can_count(*state_, 1)) return no_number();
  Event event;
  event.kind = EventKind::erase;
  event.time = time;
  event.decision.evicted = {id};
  state_->erase(id);
  state_->publish(event);
  return {};
}

Result<std::vector<Fold>> Cache::consolidate(std::optional<float> similarity, std::int64_t time) {
  if (!is_time(time)) return Status{Error::bad_request, 0, "/time", "time must be below 2^53"};
  const Config& config = state_->config;
  if (!config.keep_sums && config.key_update != KeyUpdate::centroid) {
    return Status{Error::bad_config, 0, "/keep_sums",
                  "consolidate needs key sums: make the cache with keep_sums or key_update "
                  "centroid"};
  }
  const float least = similarity ? *similarity : 1.0F - threshold(config);
  if (!(least >= -1.0F && least <= 1.0F)) {
    return Status{Error::bad_request, 0, "/similarity", "similarity must be from -1 to 1"};
  }
  if (!can_count(*state_, 2)) return no_number();
  // A working copy of all sums and centroids.
  const std::size_t floats = state_->slots.rows() * state_->slots.stride();
  if (!room_for(floats * (sizeof(double) + sizeof(float)))) {
    return Status{Error::full, 0, "", "there is no memory to consolidate in"};
  }
  expire(*state_, time);
  Event event;
  event.kind = EventKind::consolidate;
  event.time = time;
#if DPCACHE_TRUST
  event.decision.folded = decide_consolidation(config, state_->slots, state_->ledger, least);
#else
  event.decision.folded = decide_consolidation(state_->slots, least);
#endif
  for (const Fold& fold : event.decision.folded) state_->consolidate(fold);
  state_->publish(event);
  return std::move(event.decision.folded);
}

Status Cache::configure(const Config& config, std::int64_t time) {
  if (!is_time(time)) return {Error::bad_request, 0, "/time", "time must be below 2^53"};
  if (Status status = check_change(state_->config, config); !status) return status;
  if (!can_count(*state_, 1)) return no_number();
  Event event;
  event.kind = EventKind::config;
  event.time = time;
#if DPCACHE_TRUST
  event.config = normal(config);
#else
  event.config = config;
#endif
  state_->configure(config);
  state_->publish(event);
  return {};
}

Status Cache::apply(const Event& event) {
  if (Status status = check_event(*state_, event); !status) return status;
  if (!can_count(*state_, 1)) return no_number();
  if (!make_room(*state_, event)) return no_room();
  apply_event(*state_, event);
  Event copy = event;
  state_->publish(copy);
  prepare_some(*state_);
  return {};
}

bool Cache::prepare(std::size_t slots) {
  return state_->slots.prepare(slots);
}

void Cache::use_scorer([[maybe_unused]] Scorer* scorer) {
#if DPCACHE_NIBBLES
  state_->slots.watch(scorer);
#endif
}

void Cache::on_event(std::function<void(const Event&)> listener) {
  state_->listener = std::move(listener);
}

std::map<std::string, std::string>& Cache::metadata() noexcept {
  return state_->metadata;
}

}  // namespace dpcache
