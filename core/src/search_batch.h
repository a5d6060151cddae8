// Searches for some queries at once: the codes of the keys are read once for all of them.
#ifndef DPCACHE_SRC_SEARCH_BATCH_H_
#define DPCACHE_SRC_SEARCH_BATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "aligned.h"
#include "codes.h"
#include "search_codes.h"
#include "slots.h"

namespace dpcache {

// Whatever becomes of the slots between the look and a search, the search finds what is nearest
// then.
class Batch {
 public:
  // How many queries it pays to look at together. 1: none.
#if DPCACHE_NIBBLES
  static std::size_t most(const Slots& slots) noexcept;
#else
  static constexpr std::size_t most(const Slots& /*slots*/) noexcept {
    return 1;
  }
#endif

  // Takes `count` queries, (count, stride), padded and of unit length. They and the slots must
  // stay.
  void take(const Slots& slots, const float* queries, std::size_t count) noexcept;
  // Looks at the codes for all of them, if there are codes and memory for it.
  void look();

  // The slot nearest to the i-th query. A query is searched once.
  Nearest nearest(std::size_t i, Counted counted);

  // The k nearest slots, best first, then in the order of their ids; all, if there are no more.
  // Replaces `out`.
  // Not in WebAssembly.
  void top(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out);

 private:
  const float* query(std::size_t i) const noexcept {
    return queries_ + i * slots_->stride();
  }
  bool looked(std::size_t i, Looked& out);
  // The k nearest of the rows that have codes and all others. False: `out` means nothing.
  bool top_by_codes(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out);

  const Slots* slots_ = nullptr;
  const float* queries_ = nullptr;
  std::size_t count_ = 0;
  bool has_looked_ = false;
  std::size_t rows_ = 0;  // that had codes then
  std::size_t padded_rows_ = 0;
  std::array<QueryCodes, KeyCodes::kMostLooks> codes_;
  AlignedFloats cosines_;  // (count, padded rows)
#if DPCACHE_NIBBLES
  Slots::Moves::Counts before_;
  Slots::Moves::Rows moved_{};
#endif
};

// Room that a thread keeps for its batches. For no search that is part of another.
Batch& batch_of_this_thread();

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_BATCH_H_
