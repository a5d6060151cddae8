// The slots: arrays of keys, values, sums and counters, in the order of their ids.
//
// A row that goes is only marked, so that rows stay sorted by id: an id is found by bisection, and
// a pass over the rows is a pass in the order of the ids. When an eighth of the rows are marked,
// the others move up.
#ifndef DPCACHE_SRC_SLOTS_H_
#define DPCACHE_SRC_SLOTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aligned.h"
#include "codes.h"
#include "dpcache/config.h"
#include "dpcache/event.h"
#include "key_watch.h"
#include "numerics.h"

namespace dpcache {

inline constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Above every similarity: nothing is known.
inline constexpr float kUnknown = 2.0F;

// The scalars of a row.
struct Row {
  SlotId id = 0;
  bool alive = true;
  mutable std::uint64_t closest = 0;  // what Slots::closest() knows of the row; atomic
  WideNumber usage;                   // x growth, see Slots::growth
  std::uint64_t count = 0;
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  std::int64_t expires = kNever;
};

// The first time at which a slot is gone that the item opens; kNever: it stays.
std::int64_t expiry_of(const Config& config, const Item& item) noexcept;

class Slots {
 public:
  explicit Slots(const Config& config);

  // Rows, marked ones among them; row r has the r-th smallest id.
  std::size_t rows() const noexcept { return rows_.size(); }
  std::size_t size() const noexcept { return live_; }
  std::size_t dimension() const noexcept { return dimension_; }
  std::size_t stride() const noexcept { return stride_; }
  std::size_t value_dimension() const noexcept { return value_dimension_; }
  std::size_t value_stride() const noexcept { return value_stride_; }
  float margin() const noexcept { return margin_; }
  bool has_key_sums() const noexcept { return has_key_sums_; }
  bool has_value_sums() const noexcept { return has_value_sums_; }

  const Row& row(std::size_t r) const noexcept { return rows_[r]; }
  bool alive(std::size_t r, std::int64_t time) const noexcept {
    return rows_[r].alive && rows_[r].expires > time;
  }
  const float* keys() const noexcept { return keys_.data(); }
  std::span<const float> key(std::size_t r) const noexcept {  // padded
    return {keys_.data() + r * stride_, stride_};
  }
  // Before a key is read: the rest of it follows by itself.
  void fetch_key(std::size_t r) const noexcept {
    const float* begin = key(r).data();
    for (std::size_t i = 0; i < std::min<std::size_t>(stride_, 128); i += 16) {
      __builtin_prefetch(begin + i);
    }
  }
  std::span<const float> value(std::size_t r) const noexcept {  // zeros follow up to value_stride
    return {values_.data() + r * value_stride_, value_dimension_};
  }
  std::span<const double> key_sum(std::size_t r) const noexcept {  // padded; empty if not kept
    return has_key_sums_ ? std::span(key_sums_.data() + r * stride_, stride_)
                         : std::span<const double>();
  }
  std::span<const double> value_sum(std::size_t r) const noexcept {  // empty if not kept
    return has_value_sums_ ? std::span(value_sums_.data() + r * value_dimension_, value_dimension_)
                           : std::span<const double>();
  }
  std::string_view payload(std::size_t r) const noexcept { return payloads_[r]; }
  const std::vector<std::string>& exact_keys(std::size_t r) const noexcept {
    return exact_keys_[r];
  }

  // Usage decays by the factor gamma with every observed item. Rather than pass over the slots, the
  // weight of a new item grows: item n counts growth = gamma^-n, and a usage is weight / growth.
  // The order of two slots is the order of their weights, which no other item changes.
  WideNumber growth() const noexcept { return growth_; }
  double usage(std::size_t r) const noexcept { return rows_[r].usage.over(growth_); }

  std::size_t find(SlotId id) const noexcept;                         // row, or kNoRow
  std::size_t first_after(SlotId id) const noexcept;                  // first row of a larger id
  std::size_t find_exact(std::string_view exact_key) const;           // row, or kNoRow
  std::int64_t next_expiry() const noexcept { return next_expiry_; }  // none expires before this

  // Whether there is room for `count` more rows; makes it. Payloads and exact keys need room of
  // their own. False: no memory; nothing changed.
  bool reserve(std::size_t count);

  // Everything below changes slots, and is called by apply and by load alone.
  void grow_weight(const Config& config) noexcept;  // one observed item
  // Opens a slot. `key` is padded and of unit length. `closest`: its similarity to the nearest
  // slot, or kUnknown.
  void open(const Config& config, SlotId id, std::span<const float> key, const Item& item,
            float closest);
  // Merges an item into a row.
  void merge(const Config& config, std::size_t r, std::span<const float> key, const Item& item);
  // Moves all that row `from` absorbed into row `into`, and removes `from`.
  enum class FoldKey : std::uint8_t { by_policy, centroid };
  void fold(const Config& config, std::size_t from, std::size_t into, FoldKey fold_key);
  void remove(std::size_t r) noexcept;
#if DPCACHE_TRUST
  // One item as it was absorbed: its key padded and of unit length, `weight` what it added to the
  // usage, `expires` for a slot that it opens. `opened`: it opened a slot, this or a folded one.
  struct Absorbed {
    Item item;
    WideNumber weight;
    std::int64_t expires = kNever;
    bool opened = false;
  };
  // The row becomes what these items make of it, in this order: the first opens it, the others
  // merge, by the policies. FoldKey::centroid: the key is their centroid in any case.
  void rebuild(const Config& config, std::size_t r, std::span<const Absorbed> items,
               FoldKey fold_key);
  // As open(), for an item that came before.
  void open_late(const Config& config, SlotId id, const Absorbed& absorbed);
  // What the row's scalars are when it has absorbed these items; nothing else changes.
  void recount(std::size_t r, std::span<const Absorbed> items) noexcept;
#endif
  void refresh_expiry() noexcept;  // after rows with the next expiry went
  // Moves rows up if enough of them are marked. Row numbers change.
  void tidy() noexcept;

  // Brings up to `count` more keys to codes, for the searches to come, if there are so many keys
  // that it pays. Searches find the same before and after. True: nothing is left to do, or there is
  // no memory for it.
  bool prepare(std::size_t count);
  const KeyCodes& codes() const noexcept {
    return codes_;
  }

  // The similarity of row `r` to the nearest other, or more; kUnknown. It is known of a slot whose
  // nearest was found when it opened, and of one for which it was learnt; until a key moves or a
  // slot comes of which nothing is known: then all is forgotten. Of keys that move with every merge
  // nothing is known.
  float closest(std::size_t r) const noexcept;
  // Notes that row `r` was asked for, as near as `similarity`. True: it pays to learn how far it is
  // from the others, for a slot that was asked for twice will be again. May run beside searches.
  bool meet(std::size_t r, float similarity) const noexcept;
  // What nearest_other() has found. May run beside searches.
  void learn_closest(std::size_t r, float similarity) const noexcept;

#if DPCACHE_NIBBLES
  // What has become of the rows, for searches that have looked at them before. Keys that come are
  // no moves.
  struct Moves {
    struct Counts {
      std::uint64_t numbers = 0;  // how often rows got other numbers
      std::uint64_t keys = 0;     // how many keys have moved
    };
    using Rows = std::array<std::uint32_t, 64>;
    Counts counts;
    Rows rows{};  // of the last keys: that of the n-th stands at n modulo 64
  };
  const Moves& moves() const noexcept {
    return moves_;
  }

  // Tells a scorer of every change of a key from now on; null: none.
  void watch(Scorer* scorer);
  const KeyWatch* watch() const noexcept {
    return watch_.get();
  }
#endif

  // One slot with all that a memory file holds of it; `key` is not padded. Rows come in the order
  // of their ids.
  struct Stored {
    Row row;
    std::span<const float> key;
    std::span<const float> value;
    std::span<const double> key_sum;
    std::span<const double> value_sum;
    std::string_view payload;
  };
  void restore(const Stored& stored);
  void restore_growth(WideNumber growth) noexcept {
    growth_ = growth;
  }
  bool add_exact_key(std::size_t r, std::string_view exact_key);  // false: it exists

  std::size_t bytes() const noexcept;

 private:
  void key_changed(std::size_t r) noexcept;
  void forget_closest() noexcept;
  std::uint64_t note(float closest) const noexcept;
  void take_value(const Config& config, std::size_t r, const Item& item);
  void center(std::size_t r) noexcept;
  void key_moved(std::size_t r) noexcept;
  void fold_value(const Config& config, std::size_t from, std::size_t into);

  std::size_t dimension_;
  std::size_t stride_;
  std::size_t value_dimension_;
  std::size_t value_stride_;
  float margin_;
  bool has_key_sums_;
  bool has_value_sums_;

  std::vector<Row> rows_;
  AlignedFloats keys_;              // (rows, stride)
  AlignedFloats values_;            // (rows, value_stride)
  std::vector<double> key_sums_;    // (rows, stride)
  std::vector<double> value_sums_;  // (rows, value_dimension)
  std::vector<std::string> payloads_;
  std::vector<std::vector<std::string>> exact_keys_;
  std::map<std::string, SlotId, std::less<>> exact_;

  KeyCodes codes_;  // of the first rows
  bool keys_stay_;
  std::uint32_t known_since_ = 1;  // counts how often all was forgotten
  float closest_opened_ = -1.0F;   // since then: the largest that was found when a row opened
#if DPCACHE_NIBBLES
  Moves moves_;
  std::unique_ptr<KeyWatch> watch_;
#endif

  std::size_t live_ = 0;
  std::size_t text_bytes_ = 0;  // of payloads and exact keys
  std::int64_t next_expiry_ = kNever;
  WideNumber growth_ = WideNumber::of(1.0);
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_SLOTS_H_
