// The public calls of trust: lookups, reviews, members and corrections.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decide.h"
#include "digits.h"
#include "dpcache/cache.h"
#include "event_bytes.h"
#include "kernels.h"
#include "search.h"
#include "state.h"
#include "validate.h"

#if DPCACHE_TRUST

namespace dpcache {

namespace {

Status check_time(std::int64_t time) {
  if (is_time(time)) return {};
  return {Error::bad_request, 0, "/time", "time must be below 2^53"};
}

// Whether an event can still be counted, and its bytes have room.
Status make_room(CacheState& state, const Event& event) {
  if (state.counters.seq + 1 > kMaxId || state.counters.next_id > kMaxId) {
    return {Error::full, 0, "", "there have been 2^53 events: no number is left"};
  }
  const std::size_t length = most_bytes(event);
  // What a slot that opens has of its own: as much again as its item.
  if (!room_for(2 * length) || !state.slots.reserve(1)) {
    return {Error::full, 0, "", "there is no memory for the correction"};
  }
  if (state.event_bytes.size() < length) state.event_bytes.resize(length);
  return {};
}

Member view(const Entry& entry, const Slots& slots) {
  Member member;
  member.seq = entry.seq;
  member.id = entry.id;
  member.time = entry.time;
  member.opened = entry.opened;
  member.similarity = entry.similarity;
  member.threshold = entry.threshold;
  member.gate = entry.gate;
  member.guarded = entry.guarded;
  member.kept = entry.kept != nullptr;
  if (!entry.kept) return member;
  member.key = std::span<const float>(entry.kept->key).first(slots.dimension());
  member.value = entry.kept->value;
  member.payload = entry.kept->payload;
  if (entry.kept->exact_key) member.exact_key = *entry.kept->exact_key;
  member.text = entry.kept->text;
  member.scope = entry.kept->scope;
  return member;
}

}  // namespace

Result<Lookup> Cache::lookup(std::span<const float> query, const LookupOptions& options) const {
  const Config& config = state_->config;
  const Slots& slots = state_->slots;
  if (Status status = check_encoder(config, options.encoder); !status) return status;
  if (options.time && !is_time(*options.time)) {
    return Status{Error::bad_request, 0, "/time", "time must be below 2^53"};
  }
  if (Status status = check_vector(query, config.dimension, "/key"); !status) return status;
  AlignedFloats key(slots.stride());
  kernels::normalise(query, key);
  const std::int64_t time = options.time ? *options.time : kBeforeAll;

  Lookup lookup;
  lookup.threshold = threshold(config);
  lookup.tau_merge = config.tau_merge ? *config.tau_merge : lookup.threshold;
  std::vector<Nearest> near;
  top(slots, key.data(), time, kCandidates + 1, near);
  if (near.empty()) {
    lookup.reasons = {Reason::empty};
    return lookup;
  }
  Item item;
  item.exact_key = options.exact_key;
  item.time = time;
  item.text = options.text;
  item.scope = options.scope;
  std::size_t owner = owner_of(slots, item);
  if (owner != kNoRow && config.guards.has(Guard::scope)) {
    const Page* page = state_->ledger.page(slots.row(owner).id);
    if ((page == nullptr ? std::string_view() : page->scope) != item.scope) owner = kNoRow;
  }
  Compared compared;
  compared.slot = near.front();
  if (owner != kNoRow) {
    compared.slot = {owner, similarity(slots, key.data(), owner)};
    compared.is_owner = true;
  } else if (!config.guards.empty()) {
    compared = decide_guards(config, slots, state_->ledger, key.data(), item, near.front());
  }
  lookup.slot = Match{slots.row(compared.slot.row).id, compared.slot.similarity};
  lookup.novelty = 1.0F - compared.slot.similarity;
  lookup.guarded = compared.guarded;
  for (const Nearest& one : near) {
    if (one.row == compared.slot.row) continue;
    lookup.other = Match{slots.row(one.row).id, one.similarity};
    break;
  }

  if (compared.is_owner) {
    lookup.found = Found::hit;
    lookup.reasons = {Reason::exact_key};
  } else if (compared.stopped) {
    lookup.reasons = {};
  } else if (lookup.novelty <= lookup.tau_merge) {
    lookup.found = Found::hit;
    lookup.reasons = {Reason::near};
  } else if (lookup.novelty <= lookup.threshold) {
    lookup.found = Found::uncertain;
    lookup.reasons = {Reason::between};
  } else {
    lookup.reasons = {Reason::far};
  }
  if (!lookup.guarded.empty()) lookup.reasons.push_back(Reason::guarded);
  if (lookup.other && 1.0F - lookup.other->similarity <= lookup.threshold) {
    lookup.reasons.push_back(Reason::rival);
  }
  return lookup;
}

void Cache::on_uncertain(std::function<Judgement(const Question&)> judge) {
  state_->judge = std::move(judge);
}

std::vector<Review> Cache::reviews() const {
  std::vector<Review> reviews;
  state_->ledger.open_questions().each([&](SlotId newer, SlotId older, float similarity) {
    reviews.push_back({newer, older, similarity});
  });
  return reviews;
}

std::vector<Apart> Cache::apart() const {
  std::vector<Apart> pairs;
  state_->ledger.apart_pairs().each([&](SlotId newer, SlotId older, char) {
    pairs.push_back({older, newer});
  });
  return pairs;
}

Status Cache::review(SlotId a, SlotId b, Judgement verdict, std::int64_t time) {
  if (Status status = check_time(time); !status) return status;
  if (Status status = check_pair(*state_, a, b); !status) return status;
  if (state_->ledger.open_questions().find(a, b) == nullptr) {
    return {Error::not_found, 0, "/other",
            "slots " + whole_number(a) + " and " + whole_number(b) + " are not listed for review"};
  }
  Event event;
  event.kind = EventKind::review;
  event.time = time;
  event.correction.slot = std::min(a, b);  // the older stays
  event.correction.other = std::max(a, b);
  event.correction.verdict = verdict;
  return apply_new(event);
}

Status Cache::must_not_merge(SlotId a, SlotId b, std::int64_t time) {
  if (Status status = check_time(time); !status) return status;
  if (Status status = check_pair(*state_, a, b); !status) return status;
  Event event;
  event.kind = EventKind::must_not_merge;
  event.time = time;
  event.correction.slot = a;
  event.correction.other = b;
  return apply_new(event);
}

Status Cache::must_merge(SlotId a, SlotId b, std::int64_t time) {
  if (Status status = check_time(time); !status) return status;
  if (Status status = check_pair(*state_, a, b); !status) return status;
  Event event;
  event.kind = EventKind::must_merge;
  event.time = time;
  event.correction.slot = a;
  event.correction.other = b;
  return apply_new(event);
}

Result<std::vector<Member>> Cache::members(SlotId id) const {
  if (state_->slots.find(id) == kNoRow) {
    return Status{Error::not_found, 0, "/slot", "there is no slot " + whole_number(id)};
  }
  if (state_->config.audit == Audit::none) {
    return Status{Error::bad_config, 0, "/audit",
                  "the cache keeps no members: audit must be ids or full"};
  }
  std::vector<Member> members;
  const Page* page = state_->ledger.page(id);
  if (page == nullptr) return members;
  members.reserve(page->entries.size());
  for (const Entry& entry : page->entries) members.push_back(view(entry, state_->slots));
  return members;
}

Result<SlotId> Cache::split(SlotId slot, std::uint64_t member, const SplitOptions& options) {
  CacheState& state = *state_;
  if (Status status = check_time(options.time); !status) return status;
  Event event;
  event.kind = EventKind::split;
  event.time = options.time;
  event.correction.slot = slot;
  event.correction.member = member;
  event.correction.other = state.counters.next_id;
  if (options.item != nullptr) {
    Status status = check_item(state.config, *options.item);
    if (!status) {
      status.pointer.insert(0, "/item");
      return status;
    }
    kernels::normalise(options.item->key, state.unit_key);
    event.item.key = std::span(state.unit_key).first(state.slots.dimension());
    event.item.value = options.item->value;
    event.item.payload = options.item->payload;
    event.item.text = options.item->text;
    event.item.scope = options.item->scope;
    event.item.time = options.time;
  }
  const Item* brought = options.item != nullptr ? &event.item : nullptr;
  if (Status status = check_split(state, slot, member, brought, state.unit_key.data()); !status) {
    return status;
  }
  if (Status status = apply_new(event); !status) return status;
  return event.correction.other;
}

// An event of this cache's own, which was checked.
Status Cache::apply_new(Event& event) {
  if (Status status = make_room(*state_, event); !status) return status;
  apply_event(*state_, event);
  state_->publish(event);
  state_->slots.prepare(1);
  return {};
}

}  // namespace dpcache

#endif  // DPCACHE_TRUST
