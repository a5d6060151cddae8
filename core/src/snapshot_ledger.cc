// What stands beside the slots, written to a memory file and read from it.
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "digits.h"
#include "snapshot_reader.h"
#include "snapshot_writer.h"
#include "validate.h"

#if DPCACHE_TRUST

namespace dpcache {

namespace {

// Bits of member_flags.
constexpr unsigned kOpened = 1;
constexpr unsigned kPayload = 2;
constexpr unsigned kExactKey = 4;
constexpr unsigned kMoved = 8;
constexpr unsigned kKept = 16;
constexpr unsigned kAll = 31;

// All of these, or none of a group, are there.
constexpr std::array kMemberNames = {"member_seqs",
                                     "member_slots",
                                     "member_times",
                                     "member_expires",
                                     "member_weights",
                                     "member_exponents",
                                     "member_id_offsets",
                                     "member_similarities",
                                     "member_thresholds",
                                     "member_gates",
                                     "member_guards",
                                     "member_flags",
                                     "member_ids",
                                     "member_keys",
                                     "member_values",
                                     "member_payload_offsets",
                                     "member_payloads",
                                     "member_exact_keys",
                                     "member_exact_key_offsets",
                                     "member_texts",
                                     "member_text_offsets",
                                     "member_scope_offsets",
                                     "member_scopes",
                                     "centered_slots"};
constexpr std::array kTextNames = {"text_slots", "text_offsets", "texts", "scope_offsets",
                                   "scopes"};

std::int64_t number(SlotId id) {
  return static_cast<std::int64_t>(id);
}

}  // namespace

LedgerTensors::LedgerTensors(const CacheState& state) : state_(state) {
  for (const auto& [id, page] : state.ledger.pages()) {
    for (const Entry& entry : page.entries) {
      entries_.push_back({id, &entry});
      ids_.append(entry.id);
      if (!entry.kept) continue;
      kept_.push_back(entry.kept.get());
      payloads_.append(entry.kept->payload);
      exact_keys_.append(entry.kept->exact_key ? *entry.kept->exact_key : std::string_view());
      member_texts_.append(entry.kept->text);
      member_scopes_.append(entry.kept->scope);
    }
    if (!page.text.empty() || !page.scope.empty()) {
      text_slots_.push_back(number(id));
      texts_.append(page.text);
      scopes_.append(page.scope);
    }
    if (page.centered) centered_.push_back(number(id));
  }
  state.ledger.apart_pairs().each([&](SlotId newer, SlotId older, char) {
    apart_.push_back(number(newer));
    apart_.push_back(number(older));
  });
  state.ledger.open_questions().each([&](SlotId newer, SlotId older, float similarity) {
    reviews_.push_back(number(newer));
    reviews_.push_back(number(older));
    review_similarities_.push_back(similarity);
  });
}

template <class T, class Get>
void LedgerTensors::scalars(TensorWriter& writer, const char* name, const char* dtype,
                            Get get) const {
  if (!writer.add(name, dtype, {entries_.size()}, entries_.size() * sizeof(T))) return;
  for (const Listed& listed : entries_) {
    const T value = get(listed);
    writer.append(std::as_bytes(std::span(&value, 1)));
  }
}

template <class Get>
void LedgerTensors::matrix(TensorWriter& writer, const char* name, std::size_t width,
                           Get get) const {
  if (!writer.add(name, "F32", {kept_.size(), width}, kept_.size() * width * sizeof(float))) return;
  for (const Entry::Kept* kept : kept_) writer.append(std::as_bytes(get(*kept).first(width)));
}

void LedgerTensors::write_long(TensorWriter& writer) const {
  if (!entries_.empty()) {
    using Of = const Listed&;
    scalars<std::uint64_t>(writer, "member_seqs", "I64", [](Of of) { return of.entry->seq; });
    scalars<std::uint64_t>(writer, "member_slots", "I64", [](Of of) { return of.slot; });
    scalars<std::int64_t>(writer, "member_times", "I64", [](Of of) { return of.entry->time; });
    scalars<std::int64_t>(writer, "member_expires", "I64", [](Of of) { return of.entry->expires; });
    scalars<double>(writer, "member_weights", "F64",
                    [](Of of) { return of.entry->weight.mantissa; });
    scalars<std::int64_t>(writer, "member_exponents", "I64",
                          [](Of of) { return of.entry->weight.exponent; });
    writer.add_numbers("member_id_offsets", "I64", std::span(ids_.offsets));
    writer.add_numbers("member_payload_offsets", "I64", std::span(payloads_.offsets));
    writer.add_numbers("member_exact_key_offsets", "I64", std::span(exact_keys_.offsets));
    writer.add_numbers("member_text_offsets", "I64", std::span(member_texts_.offsets));
    writer.add_numbers("member_scope_offsets", "I64", std::span(member_scopes_.offsets));
    writer.add_numbers("centered_slots", "I64", std::span(centered_));
  }
  if (!text_slots_.empty()) {
    writer.add_numbers("text_slots", "I64", std::span(text_slots_));
    writer.add_numbers("text_offsets", "I64", std::span(texts_.offsets));
    writer.add_numbers("scope_offsets", "I64", std::span(scopes_.offsets));
  }
  if (!apart_.empty()) {
    writer.add("apart_slots", "I64", {apart_.size() / 2, 2}, std::as_bytes(std::span(apart_)));
  }
  if (!reviews_.empty()) {
    writer.add("review_slots", "I64", {reviews_.size() / 2, 2}, std::as_bytes(std::span(reviews_)));
  }
}

void LedgerTensors::write_short(TensorWriter& writer) const {
  if (!entries_.empty()) {
    using Of = const Listed&;
    scalars<float>(writer, "member_similarities", "F32",
                   [](Of of) { return of.entry->similarity; });
    scalars<float>(writer, "member_thresholds", "F32", [](Of of) { return of.entry->threshold; });
    scalars<float>(writer, "member_gates", "F32", [](Of of) { return of.entry->gate; });
    scalars<std::uint32_t>(writer, "member_guards", "U32",
                           [](Of of) { return of.entry->guarded.bits(); });
    matrix(writer, "member_keys", state_.slots.dimension(),
           [](const Entry::Kept& kept) { return std::span<const float>(kept.key); });
    matrix(writer, "member_values", state_.slots.value_dimension(),
           [](const Entry::Kept& kept) { return std::span<const float>(kept.value); });
  }
  if (!reviews_.empty()) {
    writer.add_numbers("review_similarities", "F32", std::span(review_similarities_));
  }
}

void LedgerTensors::write_bytes(TensorWriter& writer) const {
  if (!entries_.empty()) {
    scalars<std::uint8_t>(writer, "member_flags", "U8", [](const Listed& of) {
      const Entry& entry = *of.entry;
      return static_cast<std::uint8_t>((entry.opened ? kOpened : 0U) |
                                       (entry.brought_payload ? kPayload : 0U) |
                                       (entry.brought_exact_key ? kExactKey : 0U) |
                                       (entry.moved ? kMoved : 0U) | (entry.kept ? kKept : 0U));
    });
    ids_.write("member_ids", writer);
    payloads_.write("member_payloads", writer);
    exact_keys_.write("member_exact_keys", writer);
    member_texts_.write("member_texts", writer);
    member_scopes_.write("member_scopes", writer);
  }
  if (text_slots_.empty()) return;
  texts_.write("texts", writer);
  scopes_.write("scopes", writer);
}

namespace {

// A weight is that of one item, at most the last one's.
bool is_weight(WideNumber weight, WideNumber growth) {
  return weight.mantissa >= 1.0 && weight.mantissa < 2.0 && weight.exponent >= 0 &&
         !(growth < weight);
}

bool is_similarity(float x) {
  return x >= -1.0F && x <= 1.0F;
}

Status read_members(TensorReader& reader, CacheState& state, std::map<SlotId, Page>& pages) {
  const Config& config = state.config;
  const std::size_t d = config.dimension;
  const std::size_t v = config.value_dimension;
  constexpr std::uint64_t kAny = TensorReader::kAny;
  const auto seqs = reader.numbers<std::uint64_t>("member_seqs", "I64", kAny);
  const std::size_t n = seqs.size();
  const auto slots = reader.numbers<std::uint64_t>("member_slots", "I64", n);
  const auto times = reader.numbers<std::int64_t>("member_times", "I64", n);
  const auto expires = reader.numbers<std::int64_t>("member_expires", "I64", n);
  const auto weights = reader.numbers<double>("member_weights", "F64", n);
  const auto exponents = reader.numbers<std::int64_t>("member_exponents", "I64", n);
  const auto similarities = reader.numbers<float>("member_similarities", "F32", n);
  const auto thresholds = reader.numbers<float>("member_thresholds", "F32", n);
  const auto gates = reader.numbers<float>("member_gates", "F32", n);
  const auto guards = reader.numbers<std::uint32_t>("member_guards", "U32", n);
  const auto flags = reader.numbers<std::uint8_t>("member_flags", "U8", n);
  const auto id_offsets = reader.numbers<std::int64_t>("member_id_offsets", "I64", n + 1);
  const auto ids = reader.take("member_ids", "U8", {kAny});
  const auto payload_offsets = reader.numbers<std::int64_t>("member_payload_offsets", "I64", kAny);
  const std::size_t k = payload_offsets.size() - std::min<std::size_t>(payload_offsets.size(), 1);
  const auto exact_offsets = reader.numbers<std::int64_t>("member_exact_key_offsets", "I64", k + 1);
  const auto text_offsets = reader.numbers<std::int64_t>("member_text_offsets", "I64", k + 1);
  const auto scope_offsets = reader.numbers<std::int64_t>("member_scope_offsets", "I64", k + 1);
  const auto scopes = reader.take("member_scopes", "U8", {kAny});
  const auto payloads = reader.take("member_payloads", "U8", {kAny});
  const auto exact_keys = reader.take("member_exact_keys", "U8", {kAny});
  const auto texts = reader.take("member_texts", "U8", {kAny});
  RowReader<float> keys(reader.take("member_keys", "F32", {k, d}), d);
  RowReader<float> values(reader.take("member_values", "F32", {k, v}), v);
  const auto centered = reader.numbers<std::uint64_t>("centered_slots", "I64", kAny);
  if (!reader.status()) return reader.status();
  if (!are_offsets(id_offsets, ids.size()) || !are_offsets(payload_offsets, payloads.size()) ||
      !are_offsets(exact_offsets, exact_keys.size()) || !are_offsets(text_offsets, texts.size()) ||
      !are_offsets(scope_offsets, scopes.size())) {
    return bad("the offsets of the members are damaged");
  }
  std::size_t kept = 0;
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < n; ++i) {
    const auto damaged = [&] { return bad("member " + whole_number(i) + " is damaged"); };
    const std::size_t r = state.slots.find(slots[i]);
    if (r == kNoRow || flags[i] > kAll) return damaged();
    Page& page = pages[slots[i]];
    Entry entry;
    entry.seq = seqs[i];
    entry.id = text_between(ids, id_offsets[i], id_offsets[i + 1]);
    entry.time = times[i];
    entry.expires = expires[i];
    entry.weight = {weights[i], exponents[i]};
    entry.similarity = similarities[i];
    entry.threshold = thresholds[i];
    entry.gate = gates[i];
    entry.guarded = GuardSet::of_bits(guards[i]);
    entry.opened = (flags[i] & kOpened) != 0;
    entry.brought_payload = (flags[i] & kPayload) != 0;
    entry.brought_exact_key = (flags[i] & kExactKey) != 0;
    entry.moved = (flags[i] & kMoved) != 0;
    const bool sane =
        entry.guarded.bits() == guards[i] && entry.seq >= 1 && entry.seq <= state.counters.seq &&
        seen.insert(entry.seq).second && is_time(entry.time) &&
        (entry.expires == kNever || is_time(entry.expires)) && entry.expires >= entry.time &&
        is_weight(entry.weight, state.slots.growth()) && is_similarity(entry.similarity) &&
        entry.threshold >= 0.0F && entry.threshold <= 2.0F && entry.gate >= 0.0F &&
        entry.gate <= 1.0F && page.entries.size() < state.slots.row(r).count &&
        (page.entries.empty() || page.entries.back().seq < entry.seq);
    if (!sane) return damaged();
    if ((flags[i] & kKept) != 0) {
      if (kept == k) return damaged();
      const std::span<const float> key = keys.next();
      const std::span<const float> value = values.next();
      if (!is_unit(key) || !all_finite(value)) return damaged();
      entry.kept = std::make_unique<Entry::Kept>();
      entry.kept->key.assign(key.begin(), key.end());
      entry.kept->key.resize(state.slots.stride());
      entry.kept->value.assign(value.begin(), value.end());
      entry.kept->payload =
          text_between(payloads, payload_offsets[kept], payload_offsets[kept + 1]);
      entry.kept->text = text_between(texts, text_offsets[kept], text_offsets[kept + 1]);
      entry.kept->scope = text_between(scopes, scope_offsets[kept], scope_offsets[kept + 1]);
      const std::string_view exact_key =
          text_between(exact_keys, exact_offsets[kept], exact_offsets[kept + 1]);
      if (entry.brought_exact_key) {
        entry.kept->exact_key.emplace(exact_key);
      } else if (!exact_key.empty()) {
        return damaged();
      }
      if (entry.brought_payload == entry.kept->payload.empty()) return damaged();
      ++kept;
    }
    page.entries.push_back(std::move(entry));
  }
  if (kept != k) return bad("there are members without a place");
  for (std::size_t i = 0; i < centered.size(); ++i) {
    const auto at = pages.find(centered[i]);
    if (at == pages.end()) return bad("centered_slots is damaged");
    at->second.centered = true;
  }
  return {};
}

Status read_texts(TensorReader& reader, CacheState& state, std::map<SlotId, Page>& pages) {
  const auto slots = reader.numbers<std::uint64_t>("text_slots", "I64", TensorReader::kAny);
  const auto offsets = reader.numbers<std::int64_t>("text_offsets", "I64", slots.size() + 1);
  const auto bytes = reader.take("texts", "U8", {TensorReader::kAny});
  const auto scope_offsets = reader.numbers<std::int64_t>("scope_offsets", "I64", slots.size() + 1);
  const auto scopes = reader.take("scopes", "U8", {TensorReader::kAny});
  if (!reader.status()) return reader.status();
  if (!are_offsets(offsets, bytes.size()) || !are_offsets(scope_offsets, scopes.size())) {
    return bad("text_offsets is damaged");
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (state.slots.find(slots[i]) == kNoRow) return bad("a text stands without its slot");
    Page& page = pages[slots[i]];
    const bool is_first = page.text.empty() && page.scope.empty();
    page.text = text_between(bytes, offsets[i], offsets[i + 1]);
    page.scope = text_between(scopes, scope_offsets[i], scope_offsets[i + 1]);
    if (!is_first || (page.text.empty() && page.scope.empty())) return bad("a text is damaged");
  }
  return {};
}

// Two slots of each row, the newer first. Calls visit(row, newer, older).
template <class Visit>
Status read_pairs(TensorReader& reader, const CacheState& state, const char* name, Visit visit) {
  const Numbers<std::uint64_t> ids(reader.take(name, "I64", {TensorReader::kAny, 2}));
  if (!reader.status()) return reader.status();
  for (std::size_t i = 0; i + 1 < ids.size(); i += 2) {
    const SlotId newer = ids[i];
    const SlotId older = ids[i + 1];
    if (newer <= older || state.slots.find(newer) == kNoRow || state.slots.find(older) == kNoRow ||
        !visit(i / 2, newer, older)) {
      return bad(std::string(name) + " is damaged");
    }
  }
  return {};
}

}  // namespace

Status read_ledger(TensorReader& reader, CacheState& state) {
  Ledger& ledger = state.ledger;
  std::map<SlotId, Page> pages;
  if (reader.has_any(kMemberNames)) {
    if (Status status = read_members(reader, state, pages); !status) return status;
  }
  if (reader.has_any(kTextNames)) {
    if (Status status = read_texts(reader, state, pages); !status) return status;
  }
  for (auto& [id, page] : pages) ledger.restore(id, std::move(page));
  if (reader.has_any(std::array{"apart_slots"})) {
    Status status =
        read_pairs(reader, state, "apart_slots", [&](std::size_t, SlotId newer, SlotId older) {
          const bool is_new = !ledger.apart(newer, older);
          ledger.keep_apart(newer, older);
          return is_new;
        });
    if (!status) return status;
  }
  if (reader.has_any(std::array{"review_slots", "review_similarities"})) {
    const auto similarities =
        reader.numbers<float>("review_similarities", "F32", TensorReader::kAny);
    std::size_t read = 0;
    Status status =
        read_pairs(reader, state, "review_slots", [&](std::size_t i, SlotId newer, SlotId older) {
          const bool sane = i < similarities.size() && is_similarity(similarities[i]) &&
                            !ledger.apart(newer, older) &&
                            ledger.open_questions().find(newer, older) == nullptr;
          if (sane) ledger.ask(newer, older, similarities[i]);
          ++read;
          return sane;
        });
    if (!status) return status;
    if (read != similarities.size()) return bad("review_similarities is damaged");
  }
  return {};
}

}  // namespace dpcache

#endif  // DPCACHE_TRUST
