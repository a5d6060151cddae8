// Members of slots, pairs that must stay apart, open questions; and the words for them.
#include "ledger.h"

#if DPCACHE_TRUST

#include <algorithm>
#include <iterator>

namespace dpcache {

namespace {

std::size_t bytes_of(const Entry& entry) noexcept {
  std::size_t bytes = sizeof(Entry) + entry.id.size();
  if (!entry.kept) return bytes;
  const Entry::Kept& kept = *entry.kept;
  return bytes + sizeof(Entry::Kept) + (kept.key.size() + kept.value.size()) * sizeof(float) +
         kept.payload.size() + kept.text.size() + kept.scope.size() +
         (kept.exact_key ? kept.exact_key->size() : 0);
}

std::size_t bytes_of_guards(const Page& page) noexcept {
  return page.text.size() + page.scope.size() + page.facts.cells().size_bytes();
}

void set_text(Page& page, std::string_view text) {
  page.text = text;
  page.facts = text.empty() ? GuardFacts() : guard_facts(text);
}

bool comes_first(const Entry& a, const Entry& b) noexcept {
  return a.seq < b.seq;
}

}  // namespace

const char* to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::empty:
      return "empty";
    case Reason::exact_key:
      return "exact_key";
    case Reason::near:
      return "near";
    case Reason::between:
      return "between";
    case Reason::far:
      return "far";
    case Reason::guarded:
      return "guarded";
    case Reason::rival:
      return "rival";
  }
  return "unknown";
}

const char* to_string(Found found) noexcept {
  switch (found) {
    case Found::miss:
      return "miss";
    case Found::uncertain:
      return "uncertain";
    case Found::hit:
      return "hit";
  }
  return "unknown";
}

const char* to_string(Judgement verdict) noexcept {
  switch (verdict) {
    case Judgement::same:
      return "same";
    case Judgement::different:
      return "different";
    case Judgement::unknown:
      return "unknown";
  }
  return "unknown";
}

const Page* Ledger::page(SlotId id) const {
  const auto at = pages_.find(id);
  return at == pages_.end() ? nullptr : &at->second;
}

std::string_view Ledger::text(SlotId id) const {
  const Page* known = page(id);
  return known == nullptr ? std::string_view() : known->text;
}

bool Ledger::is_whole(SlotId id, std::uint64_t count) const {
  const Page* known = page(id);
  return known != nullptr && known->entries.size() == count;
}

bool Ledger::is_kept(SlotId id, std::uint64_t count) const {
  if (!is_whole(id, count)) return false;
  const std::vector<Entry>& entries = page(id)->entries;
  return std::all_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.kept != nullptr; });
}

void Ledger::note(const Config& config, SlotId slot, Entry entry) {
  bytes_ += bytes_of(entry);
  pages_[slot].entries.push_back(std::move(entry));
  trim(config, slot);
}

void Ledger::note_guarded(const Config& config, SlotId slot, const Item& item, Action action) {
  const bool scoped =
      config.guards.has(Guard::scope) && action == Action::allocate && !item.scope.empty();
  if (item.text.empty() && !scoped) return;
  Page& page = pages_[slot];
  bytes_ -= bytes_of_guards(page);
  if (scoped) page.scope = item.scope;
  if (page.text.empty() && reads_texts(config.guards)) set_text(page, item.text);
  bytes_ += bytes_of_guards(page);
}

void Ledger::note_guarded(const Config& config, SlotId slot) {
  if (config.guards.empty()) return;
  Page& page = pages_[slot];
  bytes_ -= bytes_of_guards(page);
  set_text(page, {});
  for (const Entry& entry : page.entries) {
    if (page.text.empty() && reads_texts(config.guards)) set_text(page, entry.kept->text);
  }
  if (config.guards.has(Guard::scope)) page.scope = page.entries.front().kept->scope;
  bytes_ += bytes_of_guards(page);
}

void Ledger::trim(const Config& config, SlotId id) {
  const auto at = pages_.find(id);
  if (at == pages_.end() || at->second.entries.size() <= config.audit_members) return;
  std::vector<Entry>& entries = at->second.entries;
  // An eighth at once, so that most items move nothing.
  const std::size_t excess = entries.size() - config.audit_members;
  const std::size_t count =
      std::min(std::max<std::size_t>(excess, config.audit_members / 8), entries.size() - 2);
  const auto begin = entries.begin() + 1;
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  for (auto old = begin; old != end; ++old) bytes_ -= bytes_of(*old);
  entries.erase(begin, end);
}

void Ledger::gone(SlotId id) {
  if (empty()) return;
  apart_.drop_all(id);
  open_.drop_all(id);
  const auto at = pages_.find(id);
  if (at == pages_.end()) return;
  for (const Entry& entry : at->second.entries) bytes_ -= bytes_of(entry);
  bytes_ -= bytes_of_guards(at->second);
  pages_.erase(at);
}

void Ledger::fold(SlotId from, SlotId into, Move move) {
  if (empty()) return;
  std::vector<SlotId> others;
  apart_.each_of(from, [&](SlotId other, char) { others.push_back(other); });
  apart_.drop_all(from);
  for (const SlotId other : others) {
    if (other != into) keep_apart(into, other);
  }
  std::vector<std::pair<SlotId, float>> questions;
  open_.each_of(from, [&](SlotId other, float s) { questions.emplace_back(other, s); });
  open_.drop_all(from);
  for (const auto& [other, similarity] : questions) {
    const float* known = open_.find(into, other);
    if (other != into)
      ask(into, other, known == nullptr ? similarity : std::max(*known, similarity));
  }

  const auto at = pages_.find(from);
  if (at == pages_.end()) return;
  Page gone = std::move(at->second);
  pages_.erase(at);
  Page& page = pages_[into];
  bytes_ -= bytes_of_guards(gone) + bytes_of_guards(page);
  if (page.text.empty()) {
    page.text = std::move(gone.text);
    page.facts = std::move(gone.facts);
  }
  bytes_ += bytes_of_guards(page);
  if (move == Move::joined) {
    page.centered = page.centered || gone.centered;
  } else {
    for (Entry& entry : gone.entries) entry.moved = true;
  }
  std::vector<Entry> entries;
  entries.reserve(page.entries.size() + gone.entries.size());
  std::merge(std::move_iterator(page.entries.begin()), std::move_iterator(page.entries.end()),
             std::move_iterator(gone.entries.begin()), std::move_iterator(gone.entries.end()),
             std::back_inserter(entries), comes_first);
  page.entries = std::move(entries);
}

void Ledger::center(SlotId id) {
  const auto at = pages_.find(id);
  if (at != pages_.end()) at->second.centered = true;
}

void Ledger::keep_apart(SlotId a, SlotId b) {
  open_.drop(a, b);
  apart_.put(a, b, 0);
}

void Ledger::ask(SlotId a, SlotId b, float similarity) {
  if (!apart(a, b)) open_.put(a, b, similarity);
}

Entry Ledger::take(SlotId slot, std::uint64_t seq) {
  std::vector<Entry>& entries = pages_.find(slot)->second.entries;
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [seq](const Entry& entry) { return entry.seq == seq; });
  Entry entry = std::move(*at);
  entries.erase(at);
  bytes_ -= bytes_of(entry);
  return entry;
}

void Ledger::configure(const Config& config) {
  for (auto& [id, page] : pages_) {
    for (Entry& entry : page.entries) {
      bytes_ -= bytes_of(entry);
      if (config.audit != Audit::full) entry.kept.reset();
      bytes_ += bytes_of(entry);
    }
    bytes_ -= bytes_of_guards(page);
    if (!reads_texts(config.guards)) set_text(page, {});
    if (!config.guards.has(Guard::scope)) page.scope.clear();
    bytes_ += bytes_of_guards(page);
    if (config.audit == Audit::none) {
      for (const Entry& entry : page.entries) bytes_ -= bytes_of(entry);
      page.entries.clear();
      page.centered = false;
    }
    trim(config, id);
  }
  std::erase_if(pages_, [](const auto& one) {
    const Page& page = one.second;
    return page.entries.empty() && page.text.empty() && page.scope.empty();
  });
}

void Ledger::restore(SlotId id, Page page) {
  for (const Entry& entry : page.entries) bytes_ += bytes_of(entry);
  set_text(page, std::string(page.text));
  bytes_ += bytes_of_guards(page);
  pages_[id] = std::move(page);
}

bool reads_texts(GuardSet guards) noexcept {
  guards.remove(Guard::scope);
  return !guards.empty();
}

GuardSet stopping(const Config& config, const Ledger& ledger, SlotId slot, const GuardFacts& facts,
                  std::string_view scope) {
  static const Page kNone;
  const Page* known = ledger.page(slot);
  const Page& page = known == nullptr ? kNone : *known;
  GuardSet guards = guards_between(page.facts, facts, config.guards);
  if (config.guards.has(Guard::scope) && page.scope != scope) guards.add(Guard::scope);
  return guards;
}

bool may_merge(const Config& config, const Ledger& ledger, SlotId a, SlotId b) {
  if (ledger.apart(a, b)) return false;
  if (config.guards.empty()) return true;
  const Page* page = ledger.page(a);
  return page == nullptr ? stopping(config, ledger, b, {}, {}).empty()
                         : stopping(config, ledger, b, page->facts, page->scope).empty();
}

}  // namespace dpcache

#endif  // DPCACHE_TRUST
