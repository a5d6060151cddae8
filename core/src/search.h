// The seam behind which slots are searched. Whatever happens behind it, the answers are those of a
// scan with the canonical score: highest similarity first, ties to the oldest slot.
#ifndef DPCACHE_SRC_SEARCH_H_
#define DPCACHE_SRC_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slots.h"

namespace dpcache {

struct Nearest {
  std::size_t row = kNoRow;  // kNoRow: there is no slot
  float similarity = 0.0F;   // canonical, snapped
};

// A time before every expiry: nothing is skipped.
inline constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();

// `query` is padded and of unit length. Slots that have expired by `time` do not count.
Nearest nearest(const Slots& slots, const float* query, std::int64_t time);

// The slot nearest to row `r`, other than itself.
Nearest nearest_other(const Slots& slots, std::size_t r);

// The canonical similarity of one row.
float similarity(const Slots& slots, const float* query, std::size_t r);

// All rows that count, in the order of their ids. Replaces `out`.
void similarities(const Slots& slots, const float* query, std::int64_t time,
                  std::vector<Nearest>& out);

#if DPCACHE_TRUST
// The k nearest, best first, then in the order of the ids. Replaces `out`.
void top(const Slots& slots, const float* query, std::int64_t time, std::size_t k,
         std::vector<Nearest>& out);
#endif

// Keeps the k best of `all`, best first, then in the order of the ids.
void keep_top(std::vector<Nearest>& all, std::size_t k);

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_H_
