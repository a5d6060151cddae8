// The rules: novelty against the threshold, expiry, eviction and folding.
#include "decide.h"

#include "gate.h"
#include "order.h"
#include "search.h"

namespace dpcache {

namespace {

// Whether row a goes before row b.
bool goes_first(const Slots& slots, std::size_t a, std::size_t b) noexcept {
  const WideNumber& ua = slots.row(a).usage;
  const WideNumber& ub = slots.row(b).usage;
  return ua == ub ? a < b : ua < ub;  // rows are in the order of age
}

}  // namespace

std::size_t owner_of(const Slots& slots, const Item& item) {
  const std::size_t owner = item.exact_key ? slots.find_exact(*item.exact_key) : kNoRow;
  return owner == kNoRow || slots.alive(owner, item.time) ? owner : kNoRow;
}

Decision decide(const Config& config, const Slots& slots, const Budget& budget, SlotId next_id,
                std::span<const float> key, Compared compared) {
  Decision decision;
  decision.threshold = threshold(config);
  const Nearest& found = compared.slot;
  const bool first = found.row == kNoRow;
  decision.similarity = found.similarity;
  decision.novelty = 1.0F - found.similarity;  // an empty cache: similarity 0, novelty 1
#if DPCACHE_TRUST
  const bool far =
      !compared.is_owner && (decision.novelty > decision.threshold || compared.stopped);
  decision.guarded = compared.guarded;
  decision.uncertain = !first && !far && !compared.is_owner && config.tau_merge &&
                       decision.novelty > *config.tau_merge;
  decision.verdict = compared.verdict;
  const bool novel = first || far || (decision.uncertain && decision.verdict != Judgement::same);
#else
  const bool novel = first || (!compared.is_owner && decision.novelty > decision.threshold);
#endif

  decision.action = novel ? Action::allocate : Action::merge;
  decision.slot = novel ? next_id : slots.row(found.row).id;
  if (novel && !first) decision.nearest = Match{slots.row(found.row).id, found.similarity};
  decision.gate = config.gate && !first ? gate_probability(*config.gate, decision.novelty)
                                        : (novel ? 1.0F : 0.0F);

  const Budget::Step step = budget.after(config, decision.action, key);
  decision.surprise = step.surprise;
  decision.budget = step.allowed;
  return decision;
}

#if DPCACHE_TRUST
Compared decide_guards(const Config& config, const Slots& slots, const Ledger& ledger,
                       const float* key, const Item& item, Nearest found) {
  Compared compared;
  compared.slot = found;
  const float most = threshold(config);
  if (found.row == kNoRow || 1.0F - found.similarity > most) return compared;
  const GuardFacts facts =
      reads_texts(config.guards) && !item.text.empty() ? guard_facts(item.text) : GuardFacts();
  std::vector<Nearest> candidates = {found};
  std::size_t asked = 1;  // for so many candidates
  std::size_t counted = 0;
  for (std::size_t i = 0; counted < kCandidates;) {
    if (i == candidates.size()) {
      if (candidates.size() < asked) break;  // there are no more
      asked *= kCandidates;
      top(slots, key, item.time, asked, candidates);
      if (i == candidates.size()) break;
    }
    const Nearest& candidate = candidates[i++];
    if (1.0F - candidate.similarity > most) break;
    const GuardSet by = stopping(config, ledger, slots.row(candidate.row).id, facts, item.scope);
    if (by.empty()) {
      compared.slot = candidate;
      return compared;
    }
    compared.guarded = GuardSet::of_bits(compared.guarded.bits() | by.bits());
    if (!by.has(Guard::scope)) ++counted;
  }
  compared.stopped = true;
  return compared;
}
#endif

std::vector<SlotId> decide_expiry(const Slots& slots, std::int64_t time) {
  std::vector<SlotId> ids;
  if (time < slots.next_expiry()) return ids;
  for (std::size_t r = 0; r < slots.rows(); ++r) {
    if (slots.row(r).alive && slots.row(r).expires <= time) ids.push_back(slots.row(r).id);
  }
  return ids;
}

std::vector<SlotId> decide_evictions(const Slots& slots, std::size_t count, SlotId keep) {
  std::vector<std::size_t> rows;
  if (count == 1) {  // the usual case: one pass, no copy
    std::size_t least = kNoRow;
    for (std::size_t r = 0; r < slots.rows(); ++r) {
      if (!slots.row(r).alive || slots.row(r).id == keep) continue;
      if (least == kNoRow || goes_first(slots, r, least)) least = r;
    }
    rows.push_back(least);
  } else {
    rows.reserve(slots.size());
    for (std::size_t r = 0; r < slots.rows(); ++r) {
      if (slots.row(r).alive && slots.row(r).id != keep) rows.push_back(r);
    }
    keep_first(rows, count, [&](std::size_t a, std::size_t b) { return goes_first(slots, a, b); });
  }
  std::vector<SlotId> ids;
  ids.reserve(count);
  for (std::size_t r : rows) ids.push_back(slots.row(r).id);
  return ids;
}

Fold decide_fold(const Slots& slots, SlotId keep) {
  const SlotId least = decide_evictions(slots, 1, keep).front();
  const Nearest into = nearest_other(slots, slots.find(least));
  return {least, slots.row(into.row).id};
}

#if DPCACHE_TRUST
std::optional<Fold> decide_fold(const Config& config, const Slots& slots, const Ledger& ledger,
                                SlotId keep) {
  if (slots.size() < 2) return {};
  if (config.guards.empty() && !ledger.any_apart()) return decide_fold(slots, keep);
  std::vector<Nearest> others;
  for (const SlotId least : decide_evictions(slots, slots.size() - 1, keep)) {
    const std::size_t r = slots.find(least);
    similarities(slots, slots.key(r).data(), kBeforeAll, others);
    keep_top(others, others.size());
    for (const Nearest& into : others) {
      const SlotId id = slots.row(into.row).id;
      if (into.row != r && may_merge(config, ledger, least, id)) return Fold{least, id};
    }
  }
  return {};
}
#endif

}  // namespace dpcache
