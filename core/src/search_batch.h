// Searches for some queries at once: the codes of the keys are read once for all of them.
#ifndef DPCACHE_SRC_SEARCH_BATCH_H_
#define DPCACHE_SRC_SEARCH_BATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  static std::size_t most(const Slots& slots) noexcept;

  // Takes `count` queries, (count, stride), padded and of unit length. They and the slots must
  // stay.
  void take(const Slots& slots, const float* queries, std::size_t count) noexcept;
  // Looks at the codes for all of them, if there are codes and memory for it.
  void look();

  // The slot nearest to the i-th query. A query is searched once.
  Nearest nearest(std::size_t i, Counted counted);

  // Whether top() makes use of a look.
  static constexpr bool kTopByCodes = DPCACHE_NIBBLES != 0;
  // The k nearest slots, best first, then in the order of their ids; all, if there are no more.
  // Replaces `out`.
  void top(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out);

 private:
  const float* query(std::size_t i) const noexcept { return queries_ + i * slots_->stride(); }
  std::optional<Looked> looked(std::size_t i);

  const Slots* slots_ = nullptr;
  const float* queries_ = nullptr;
  std::size_t count_ = 0;
  bool has_looked_ = false;
  std::size_t rows_ = 0;  // that had codes then
  std::size_t padded_rows_ = 0;
  Slots::Moves::Counts before_;
  std::vector<QueryCodes> codes_;
  AlignedFloats cosines_;  // (count, padded rows)
  Slots::Moves::Rows moved_{};
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_BATCH_H_
