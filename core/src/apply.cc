// Applying events: the only code that changes a cache, for new events and for replayed ones alike.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "digits.h"
#include "event_bytes.h"
#include "hash.h"
#include "state.h"
#include "validate.h"

namespace dpcache {

namespace {

Status conflict(std::string detail) {
  return {Error::conflict, 0, "", std::move(detail)};
}

std::string slot_name(SlotId id) {
  return "slot " + whole_number(id);
}

// Follows the slots that an event removes, one after the other.
class Removals {
 public:
  explicit Removals(const CacheState& state, SlotId opened = 0) : state_(state), opened_(opened) {}

  bool has(SlotId id) const {
    const bool is_opened = opened_ != 0 && id == opened_;
    return !gone_.contains(id) && (is_opened || state_.slots.find(id) != kNoRow);
  }
  // False if there is no such slot any more.
  bool remove(SlotId id) { return has(id) && gone_.insert(id).second; }
  bool fold(Fold fold) { return fold.slot != fold.into && has(fold.into) && remove(fold.slot); }

 private:
  const CacheState& state_;
  SlotId opened_;  // by the event itself; 0: none
  std::set<SlotId> gone_;
};

#if DPCACHE_TRUST
// What an observed item says of its uncertainty.
Status check_doubts(const CacheState& state, const Decision& decision) {
  const auto refuse = [](const char* detail) {
    return Status{Error::bad_request, 0, "/decision", detail};
  };
  // An audit keeps what the event says of its item.
  const bool sane = decision.similarity >= -1.0F && decision.similarity <= 1.0F &&
                    decision.threshold >= 0.0F && decision.threshold <= 2.0F &&
                    decision.gate >= 0.0F && decision.gate <= 1.0F;
  if (state.config.audit != Audit::none && !sane) return refuse("a figure is out of its range");
  if (!decision.uncertain) {
    return decision.verdict ? refuse("a verdict without a question") : Status{};
  }
  if (decision.verdict && *decision.verdict > Judgement::unknown) return refuse("no such verdict");
  const bool is_novelty = decision.novelty >= 0.0F && decision.novelty <= 2.0F;
  if (state.config.correction_rate && !is_novelty) return refuse("the novelty is out of its range");
  const bool merges = decision.action == Action::merge;
  if (merges != (decision.verdict == Judgement::same)) return refuse("the verdict was another");
  if (merges) return {};
  if (!decision.nearest || state.slots.find(decision.nearest->slot) == kNoRow) {
    return conflict("the event is uncertain about a slot that is not there");
  }
  const float similarity = decision.nearest->similarity;
  if (!(similarity >= -1.0F && similarity <= 1.0F)) return refuse("the similarity is out of range");
  return {};
}

// As a replay says it: the event does not follow.
Status as_conflict(Status status) {
  if (!status) status.code = Error::conflict;
  return status;
}

Status check_correction(const CacheState& state, const Event& event) {
  const Correction& correction = event.correction;
  switch (event.kind) {
    case EventKind::split: {
      if (correction.other != state.counters.next_id || correction.other > kMaxId) {
        return conflict("the event opens " + slot_name(correction.other) + ", not the next");
      }
      const Item& item = event.item;
      if (item.key.empty()) {
        return as_conflict(
            check_split(state, correction.slot, correction.member, nullptr, nullptr));
      }
      if (Status status = check_item(state.config, item); !status) return status;
      if (!is_unit(item.key)) {
        return {Error::bad_request, 0, "/key", "the key is not of unit length"};
      }
      AlignedFloats key(state.slots.stride());
      std::copy(item.key.begin(), item.key.end(), key.begin());
      return as_conflict(check_split(state, correction.slot, correction.member, &item, key.data()));
    }
    case EventKind::review:
      if (correction.verdict > Judgement::unknown) {
        return {Error::bad_request, 0, "/verdict", "no such verdict"};
      }
      if (state.ledger.open_questions().find(correction.slot, correction.other) == nullptr) {
        return conflict("the slots are not listed for review");
      }
      return {};
    default:
      return as_conflict(check_pair(state, correction.slot, correction.other));
  }
}
#endif

Status check_observed(const CacheState& state, const Event& event) {
  const Item& item = event.item;
  const Decision& decision = event.decision;
  if (item.time != event.time) return {Error::bad_request, 0, "/time", "the item has another time"};
  Status status = check_item(state.config, item);
  if (!status) return status;
  if (!is_unit(item.key)) return {Error::bad_request, 0, "/key", "the key is not of unit length"};

  const bool allocates = decision.action == Action::allocate;
  if (allocates ? decision.slot != state.counters.next_id || decision.slot > kMaxId
                : state.slots.find(decision.slot) == kNoRow) {
    return conflict("the event writes to " + slot_name(decision.slot) + ", which is not the next");
  }
  if (item.exact_key) {
    const std::size_t owner = state.slots.find_exact(*item.exact_key);
    if (owner != kNoRow && state.slots.row(owner).id != decision.slot) {
      return conflict("the exact key belongs to " + slot_name(state.slots.row(owner).id));
    }
  }
  Removals removals(state, decision.slot);
  for (const Fold& fold : decision.folded) {
    if (fold.slot == decision.slot || !removals.fold(fold)) {
      return conflict("the event folds " + slot_name(fold.slot) + ", which is not there");
    }
  }
  for (SlotId id : decision.evicted) {
    if (id == decision.slot || !removals.remove(id)) {
      return conflict("the event evicts " + slot_name(id) + ", which is not there");
    }
  }
  if (decision.budget.has_value() != (state.config.budget != BudgetKind::none)) {
    return conflict("the event and the cache differ in having a budget");
  }
  const bool sane = decision.surprise >= 0.0F && decision.surprise <= 1.0F &&
                    (!decision.budget || (*decision.budget >= 1.0F && *decision.budget <= 0x1p54F));
  if (!sane) return {Error::bad_request, 0, "/decision", "surprise or budget is out of its range"};
#if DPCACHE_TRUST
  return check_doubts(state, decision);
#else
  return {};
#endif
}

}  // namespace

#if DPCACHE_TRUST
Config normal(Config config) {
  // Where the gate learns, it may have come down to tau_merge and rise again.
  if (config.tau_merge == threshold(config) && !config.correction_rate) config.tau_merge.reset();
  return config;
}

CacheState::CacheState(const Config& settings)
    : config(normal(settings)),
      slots(settings),
      budget(settings),
      unit_key(padded(settings.dimension)) {
  const std::string text = to_json(config);
#else
CacheState::CacheState(const Config& settings)
    : config(settings), slots(settings), budget(settings), unit_key(padded(settings.dimension)) {
  const std::string text = to_json(settings);
#endif
  counters.state_hash = hash64(std::as_bytes(std::span(text)), 0);
}

void CacheState::write(const Item& item, const Decision& decision, float closest) {
  slots.grow_weight(config);
  ++counters.items;
  if (decision.action == Action::allocate) {
    slots.open(config, decision.slot, unit_key, item, closest);
    ++counters.allocations;
    ++counters.next_id;
  } else {
    slots.merge(config, slots.find(decision.slot), unit_key, item);
    ++counters.merges;
  }
  budget.commit(config, decision.action, unit_key, {decision.surprise, decision.budget});
#if DPCACHE_TRUST
  note(item, decision);
#endif
}

void CacheState::evict(SlotId id) {
  const std::size_t r = slots.find(id);
  budget.add_ghost(slots.key(r));
  slots.remove(r);
#if DPCACHE_TRUST
  ledger.gone(id);
#endif
  ++counters.evictions;
}

void CacheState::fold(Fold fold) {
  const std::size_t r = slots.find(fold.slot);
  budget.add_ghost(slots.key(r));
  slots.fold(config, r, slots.find(fold.into), Slots::FoldKey::by_policy);
#if DPCACHE_TRUST
  ledger.fold(fold.slot, fold.into, Ledger::Move::folded);
  ledger.trim(config, fold.into);
#endif
  ++counters.folds;
}

void CacheState::consolidate(Fold fold) {
  slots.fold(config, slots.find(fold.slot), slots.find(fold.into), Slots::FoldKey::centroid);
#if DPCACHE_TRUST
  ledger.fold(fold.slot, fold.into, Ledger::Move::folded);
  ledger.center(fold.into);
  ledger.trim(config, fold.into);
#endif
  ++counters.folds;
}

void CacheState::erase(SlotId id) {
  slots.remove(slots.find(id));
#if DPCACHE_TRUST
  ledger.gone(id);
#endif
  ++counters.erasures;
}

void CacheState::expire(std::span<const SlotId> ids) {
  for (SlotId id : ids) slots.remove(slots.find(id));
#if DPCACHE_TRUST
  for (SlotId id : ids) ledger.gone(id);
#endif
  slots.refresh_expiry();
  counters.expirations += ids.size();
}

void CacheState::configure(const Config& settings) {
#if DPCACHE_TRUST
  config = normal(settings);
  ledger.configure(config);
#else
  config = settings;
#endif
  budget.configure(settings);
}

void CacheState::publish(Event& event) {
  event.seq = ++counters.seq;
  counters.state_hash = hash64(encode_into(event, event_bytes), counters.state_hash);
  slots.tidy();
  if (listener) listener(event);
}

Status check_event(const CacheState& state, const Event& event) {
  if (event.seq != state.counters.seq + 1) {
    return conflict("event " + whole_number(event.seq) + " does not follow event " +
                    whole_number(state.counters.seq));
  }
  if (!is_time(event.time)) return {Error::bad_request, 0, "/time", "time must be below 2^53"};
  switch (event.kind) {
    case EventKind::observe:
      return check_observed(state, event);
    case EventKind::erase:
    case EventKind::expire: {
      const std::vector<SlotId>& ids = event.decision.evicted;
      if (event.kind == EventKind::erase && ids.size() != 1) {
        return {Error::bad_request, 0, "/decision/evicted", "erase names one slot"};
      }
      Removals removals(state);
      for (SlotId id : ids) {
        if (!removals.remove(id)) return conflict(slot_name(id) + " is not there");
      }
      return {};
    }
    case EventKind::consolidate: {
      if (!state.slots.has_key_sums()) {
        return conflict("the cache keeps no key sums");
      }
      Removals removals(state);
      for (const Fold& fold : event.decision.folded) {
        if (!removals.fold(fold)) return conflict(slot_name(fold.slot) + " cannot be folded");
      }
      return {};
    }
    case EventKind::config:
      if (!event.config) return {Error::bad_request, 0, "/config", "the config is missing"};
      return check_change(state.config, *event.config);
#if DPCACHE_TRUST
    case EventKind::split:
    case EventKind::must_not_merge:
    case EventKind::must_merge:
    case EventKind::review:
      return check_correction(state, event);
#endif
  }
  return {Error::bad_request, 0, "/kind", "there is no such kind of event"};
}

void apply_event(CacheState& state, const Event& event) {
  switch (event.kind) {
    case EventKind::observe:
      std::copy(event.item.key.begin(), event.item.key.end(), state.unit_key.begin());
      state.write(event.item, event.decision, kUnknown);  // others may have been wrong
      for (const Fold& fold : event.decision.folded) state.fold(fold);
      for (SlotId id : event.decision.evicted) state.evict(id);
      break;
    case EventKind::erase:
      state.erase(event.decision.evicted.front());
      break;
    case EventKind::expire:
      state.expire(event.decision.evicted);
      break;
    case EventKind::consolidate:
      for (const Fold& fold : event.decision.folded) state.consolidate(fold);
      break;
    case EventKind::config:
      state.configure(*event.config);
      break;
#if DPCACHE_TRUST
    case EventKind::split:
      std::copy(event.item.key.begin(), event.item.key.end(), state.unit_key.begin());
      state.split(event.correction, event.item);
      break;
    case EventKind::must_not_merge:
      state.keep_apart(event.correction.slot, event.correction.other);
      break;
    case EventKind::must_merge:
      state.join(event.correction.slot, event.correction.other);
      break;
    case EventKind::review: {
      const Correction& correction = event.correction;
      state.ledger.settle(correction.slot, correction.other);
      if (correction.verdict == Judgement::same) state.join(correction.slot, correction.other);
      if (correction.verdict == Judgement::different) {
        state.keep_apart(correction.slot, correction.other);
      }
      break;
    }
#endif
  }
}

}  // namespace dpcache
