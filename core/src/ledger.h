// What stands beside the slots, by their ids, for caches that use it: what each has absorbed, which
// must stay apart, and which may be one.
#ifndef DPCACHE_SRC_LEDGER_H_
#define DPCACHE_SRC_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/trust.h"
#include "numerics.h"
#include "slots.h"

#if DPCACHE_TRUST

namespace dpcache {

// One item that was absorbed. `kept` is there with Audit::full.
struct Entry {
  struct Kept {
    std::vector<float> key;  // padded, unit length
    std::vector<float> value;
    std::string payload;
    std::optional<std::string> exact_key;
    std::string text;
    std::string scope;
  };

  std::uint64_t seq = 0;
  std::string id;
  std::int64_t time = 0;
  std::int64_t expires = kNever;  // of a slot that it opens
  WideNumber weight;              // what it adds to a usage
  float similarity = 0.0F;
  float threshold = 0.0F;
  float gate = 0.0F;
  GuardSet guarded;
  bool opened = false;
  bool brought_payload = false;
  bool brought_exact_key = false;
  bool moved = false;  // it came with a slot that was folded
  std::unique_ptr<Kept> kept;
};

// All that is known of one slot. Entries stand in the order of their seqs.
struct Page {
  std::vector<Entry> entries;
  std::string text;       // of the first item that had one; kept for the guards
  GuardFacts facts;       // of the text
  std::string scope;      // of the item that opened it; kept for Guard::scope
  bool centered = false;  // consolidate() has moved its key to the centroid
};

// Values by pairs of slots, found from both sides.
template <class T>
class Pairs {
 public:
  using Key = std::pair<SlotId, SlotId>;

  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size() / 2; }
  const T* find(SlotId a, SlotId b) const {
    const auto at = all_.find(Key{a, b});
    return at == all_.end() ? nullptr : &at->second;
  }
  bool has_any(SlotId id) const {
    const auto at = all_.lower_bound(Key{id, 0});
    return at != all_.end() && at->first.first == id;
  }
  void put(SlotId a, SlotId b, const T& value) {
    all_[Key{a, b}] = value;
    all_[Key{b, a}] = value;
  }
  void drop(SlotId a, SlotId b) {
    all_.erase(Key{a, b});
    all_.erase(Key{b, a});
  }
  // Every pair of one slot: visit(other, value).
  template <class Visit>
  void each_of(SlotId id, Visit visit) const {
    for (auto at = all_.lower_bound(Key{id, 0}); at != all_.end() && at->first.first == id; ++at) {
      visit(at->first.second, at->second);
    }
  }
  void drop_all(SlotId id) {
    std::vector<SlotId> others;
    each_of(id, [&](SlotId other, const T&) { others.push_back(other); });
    for (const SlotId other : others) drop(id, other);
  }
  // Every pair once, the newer slot first, ascending: visit(newer, older, value).
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [key, value] : all_) {
      if (key.first > key.second) visit(key.first, key.second, value);
    }
  }

 private:
  std::map<Key, T> all_;
};

class Ledger {
 public:
  // Nothing is noted: nothing here can say anything about a slot.
  bool empty() const noexcept { return pages_.empty() && apart_.empty() && open_.empty(); }

  const Page* page(SlotId id) const;       // null: nothing is known
  std::string_view text(SlotId id) const;  // empty: none
  bool apart(SlotId a, SlotId b) const { return apart_.find(a, b) != nullptr; }
  bool any_apart() const noexcept { return !apart_.empty(); }
  const Pairs<char>& apart_pairs() const noexcept { return apart_; }
  const Pairs<float>& open_questions() const noexcept { return open_; }
  const std::map<SlotId, Page>& pages() const noexcept { return pages_; }
  std::size_t bytes() const noexcept { return bytes_; }

  // Whether the list of a slot that has absorbed `count` items has them all; and all of each.
  bool is_whole(SlotId id, std::uint64_t count) const;
  bool is_kept(SlotId id, std::uint64_t count) const;

  // Everything below changes the ledger, and is called by apply and by load alone.
  void note(const Config& config, SlotId slot, Entry entry);
  // For the guards that are on. Of texts the first that is not empty stays, of scopes the first.
  void note_guarded(const Config& config, SlotId slot, const Item& item, Action action);
  // The same from the slot's members, all of which are kept.
  void note_guarded(const Config& config, SlotId slot);
  void gone(SlotId id);
  enum class Move : std::uint8_t { folded, joined };
  // All that is known of `from` passes to `into`; `from` is gone.
  void fold(SlotId from, SlotId into, Move move);
  void center(SlotId id);
  void trim(const Config& config, SlotId id);  // to at most audit_members
  void keep_apart(SlotId a, SlotId b);         // no longer a question
  void allow(SlotId a, SlotId b) { apart_.drop(a, b); }
  void ask(SlotId a, SlotId b, float similarity);  // unless they must stay apart
  void settle(SlotId a, SlotId b) { open_.drop(a, b); }
  // Takes a member out of a slot's list; it is there.
  Entry take(SlotId slot, std::uint64_t seq);
  void configure(const Config& config);  // forgets what is no longer kept
  void restore(SlotId id, Page page);

 private:
  std::map<SlotId, Page> pages_;
  Pairs<char> apart_;
  Pairs<float> open_;  // the similarity of the item that asked
  std::size_t bytes_ = 0;
};

// Whether one of them looks at texts: all but Guard::scope do.
bool reads_texts(GuardSet guards) noexcept;
// The guards that stop an item of these facts and this scope from joining the slot.
GuardSet stopping(const Config& config, const Ledger& ledger, SlotId slot, const GuardFacts& facts,
                  std::string_view scope);
// Whether two slots may be merged without anybody asking for it.
bool may_merge(const Config& config, const Ledger& ledger, SlotId a, SlotId b);

}  // namespace dpcache

#endif  // DPCACHE_TRUST

#endif  // DPCACHE_SRC_LEDGER_H_
