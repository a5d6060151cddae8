// What a cache keeps of its items, and how corrections change its slots; all by way of apply.cc.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "digits.h"
#include "gate.h"
#include "search.h"
#include "state.h"

#if DPCACHE_TRUST

namespace dpcache {

namespace {

std::string slot_name(SlotId id) {
  return "slot " + whole_number(id);
}

Status no_slot(SlotId id, const char* pointer) {
  return {Error::not_found, 0, pointer, "there is no " + slot_name(id)};
}

Status bad_config(const char* pointer, std::string detail) {
  return {Error::bad_config, 0, pointer, std::move(detail)};
}

// An entry as slots take it; its views are into the entry.
Slots::Absorbed absorbed(const Entry& entry) {
  Slots::Absorbed out;
  out.item.time = entry.time;
  out.weight = entry.weight;
  out.expires = entry.expires;
  out.opened = entry.opened;
  if (!entry.kept) return out;
  out.item.key = entry.kept->key;
  out.item.value = entry.kept->value;
  out.item.payload = entry.kept->payload;
  if (entry.kept->exact_key) out.item.exact_key = *entry.kept->exact_key;
  return out;
}

std::vector<Slots::Absorbed> all_absorbed(const std::vector<Entry>& entries) {
  std::vector<Slots::Absorbed> out;
  out.reserve(entries.size());
  for (const Entry& entry : entries) out.push_back(absorbed(entry));
  return out;
}

Slots::FoldKey key_of(const Page& page) {
  return page.centered ? Slots::FoldKey::centroid : Slots::FoldKey::by_policy;
}

// Whether a slot stays what it is, but for its counts, when it loses a member of which nothing but
// the entry is kept.
Status check_loss(const Config& config, const Page& page, const Entry& member) {
  const char* rule = nullptr;
  const bool is_first = &member == &page.entries.front();
  const bool by_first = config.value_update == ValueUpdate::first;
  const Entry* payload = nullptr;  // the member whose payload the slot has
  for (const Entry& entry : page.entries) {
    if (entry.brought_payload && (payload == nullptr || !by_first)) payload = &entry;
  }
  if (config.key_update != KeyUpdate::frozen || config.keep_sums || page.centered) {
    rule =
        "its key or key sum has a part of the member's key: key_update must be frozen, without "
        "keep_sums";
  } else if (is_first) {
    rule = "the slot has the key of its first member";
  } else if (config.value_dimension > 0 && !by_first && config.value_update != ValueUpdate::last) {
    rule = "its value has a part of the member's: value_update must be first or last";
  } else if (config.value_dimension > 0 && !by_first && &member == &page.entries.back()) {
    rule = "the slot has the value of its last member";
  } else if (payload == &member) {
    rule = "the slot has the member's payload";
  } else if (member.brought_exact_key) {
    rule = "the member brought an exact key";
  }
  if (rule == nullptr) return {};
  return bad_config("/audit", std::string("only audit full can undo this merge: ") + rule);
}

}  // namespace

Status check_pair(const CacheState& state, SlotId a, SlotId b) {
  if (state.slots.find(a) == kNoRow) return no_slot(a, "/slot");
  if (state.slots.find(b) == kNoRow) return no_slot(b, "/other");
  if (a == b) return {Error::bad_request, 0, "/other", "two different slots are needed"};
  return {};
}

Status check_split(const CacheState& state, SlotId slot, std::uint64_t member, const Item* brought,
                   const float* key) {
  const Config& config = state.config;
  const std::size_t r = state.slots.find(slot);
  if (r == kNoRow) return no_slot(slot, "/slot");
  if (config.audit == Audit::none) {
    return bad_config("/audit", "the cache keeps no members: audit must be ids or full");
  }
  const Page* page = state.ledger.page(slot);
  const auto is_member = [member](const Entry& entry) { return entry.seq == member; };
  const std::vector<Entry> none;
  const std::vector<Entry>& entries = page == nullptr ? none : page->entries;
  const auto at = std::find_if(entries.begin(), entries.end(), is_member);
  if (page == nullptr || at == entries.end()) {
    return {Error::not_found, 0, "/member",
            slot_name(slot) + " lists no member " + whole_number(member)};
  }
  const std::uint64_t count = state.slots.row(r).count;
  if (count == 1) {
    return {Error::bad_request, 0, "/member", "it is the only member of " + slot_name(slot)};
  }
  if (!state.ledger.is_whole(slot, count)) {
    return bad_config("/audit_members", slot_name(slot) + " has absorbed " + whole_number(count) +
                                            " items and lists " + whole_number(entries.size()) +
                                            ": what is left cannot be told");
  }
  if (config.max_slots && state.slots.size() >= *config.max_slots) {
    return {Error::full, 0, "/slot", "max_slots allows no slot more"};
  }
  if (!state.ledger.is_kept(slot, count)) {
    if (Status status = check_loss(config, *page, *at); !status) return status;
  }
  if (at->kept != nullptr) {
    if (brought == nullptr) return {};
    return {Error::bad_request, 0, "/item", "the cache has the item: none is to be given"};
  }
  if (brought == nullptr) {
    return bad_config("/audit", "with audit ids the member's item must be given once more");
  }
  if (!at->moved && !at->opened && similarity(state.slots, key, r) != at->similarity) {
    return {Error::bad_request, 0, "/item/key",
            "it is not the key of member " + whole_number(member) +
                ": its similarity to the slot is another"};
  }
  return {};
}

void CacheState::note(const Item& item, const Decision& decision) {
  if (!config.guards.empty()) ledger.note_guarded(config, decision.slot, item, decision.action);
  if (config.audit != Audit::none) {
    Entry entry;
    entry.seq = counters.seq + 1;
    entry.id = item.id;
    entry.time = item.time;
    entry.expires = expiry_of(config, item);
    entry.weight = slots.growth();
    entry.similarity = decision.similarity;
    entry.threshold = decision.threshold;
    entry.gate = decision.gate;
    entry.guarded = decision.guarded;
    entry.opened = decision.action == Action::allocate;
    entry.brought_payload = !item.payload.empty();
    entry.brought_exact_key = item.exact_key.has_value();
    if (config.audit == Audit::full) {
      entry.kept = std::make_unique<Entry::Kept>();
      entry.kept->key.assign(unit_key.begin(), unit_key.end());
      entry.kept->value.assign(item.value.begin(), item.value.end());
      entry.kept->payload = item.payload;
      if (item.exact_key) entry.kept->exact_key.emplace(*item.exact_key);
      entry.kept->text = item.text;
      entry.kept->scope = item.scope;
    }
    ledger.note(config, decision.slot, std::move(entry));
  }
  if (decision.verdict) learn(decision.novelty, *decision.verdict);
  if (!decision.uncertain || decision.action == Action::merge) return;
  if (decision.verdict == Judgement::different) {
    ledger.keep_apart(decision.slot, decision.nearest->slot);
  } else {
    ledger.ask(decision.slot, decision.nearest->slot, decision.nearest->similarity);
  }
}

void CacheState::split(const Correction& correction, const Item& brought) {
  const std::size_t r = slots.find(correction.slot);
  const bool can_rebuild = ledger.is_kept(correction.slot, slots.row(r).count);
  Entry entry = ledger.take(correction.slot, correction.member);
  const Page& page = *ledger.page(correction.slot);
  const std::vector<Slots::Absorbed> left = all_absorbed(page.entries);
  Slots::Absorbed leaver = absorbed(entry);
  if (can_rebuild) {
    slots.rebuild(config, r, left, key_of(page));
    ledger.note_guarded(config, correction.slot);
  } else {
    slots.recount(r, left);
  }
  if (!entry.kept) {
    leaver.item.key = unit_key;
    leaver.item.value = brought.value;
    leaver.item.payload = brought.payload;
  }
  slots.open_late(config, correction.other, leaver);
  ++counters.allocations;
  ++counters.next_id;
  ++counters.splits;
  if (!config.guards.empty()) {
    Item opener = brought;
    if (entry.kept) {
      opener.text = entry.kept->text;
      opener.scope = entry.kept->scope;
    }
    ledger.note_guarded(config, correction.other, opener, Action::allocate);
  }
  ledger.note(config, correction.other, std::move(entry));
  keep_apart(correction.slot, correction.other);
}

void CacheState::keep_apart(SlotId a, SlotId b) {
  if (ledger.apart(a, b)) return;  // who says it again teaches nothing new
  learn(novelty_between(a, b), Judgement::different);
  ledger.keep_apart(a, b);
}

float CacheState::novelty_between(SlotId a, SlotId b) const {
  return 1.0F - similarity(slots, slots.key(slots.find(a)).data(), slots.find(b));
}

// The gate is a part of the config, rounded to it with every step: what a memory file and a replay
// have is all that there is.
void CacheState::learn(float novelty, Judgement verdict) {
  if (!config.correction_rate || verdict == Judgement::unknown) return;
  const double target = verdict == Judgement::different ? 1.0 : 0.0;
  const WideGate gate =
      step({static_cast<double>(config.gate->a), static_cast<double>(config.gate->b)},
           static_cast<double>(novelty), target, static_cast<double>(*config.correction_rate));
  config.gate = Gate{static_cast<float>(gate.a), static_cast<float>(gate.b)};
  if (config.tau_merge) config.gate->b = std::max(config.gate->b, *config.tau_merge);
}

void CacheState::join(SlotId into, SlotId from) {
  const std::size_t r = slots.find(into);
  const std::size_t gone = slots.find(from);
  const bool can_rebuild =
      ledger.is_kept(into, slots.row(r).count) && ledger.is_kept(from, slots.row(gone).count);
  learn(novelty_between(into, from), Judgement::same);
  slots.fold(config, gone, r, Slots::FoldKey::by_policy);
  ledger.fold(from, into, can_rebuild ? Ledger::Move::joined : Ledger::Move::folded);
  if (can_rebuild) {
    const Page& page = *ledger.page(into);
    slots.rebuild(config, r, all_absorbed(page.entries), key_of(page));
    ledger.note_guarded(config, into);
  }
  ledger.trim(config, into);
  ++counters.folds;
}

}  // namespace dpcache

#endif  // DPCACHE_TRUST
