// A pass over the keys, with the canonical score of each.
#ifndef DPCACHE_SRC_SEARCH_SCAN_H_
#define DPCACHE_SRC_SEARCH_SCAN_H_

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels.h"
#include "numerics.h"
#include "slots.h"

namespace dpcache {

// Calls visit(row, similarity) for every row from `first` on, in order.
template <class Visit>
void scan(const Slots& slots, const float* query, std::size_t first, Visit visit) {
  constexpr std::size_t kBlock = 256;  // rows whose scores stay in the first cache level
  std::array<float, kBlock> scores;
  const float margin = slots.margin();
  for (std::size_t begin = first; begin < slots.rows(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, slots.rows() - begin);
    kernels::dots(query, slots.keys() + begin * slots.stride(), slots.stride(), count,
                  scores.data());
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, snap(scores[i], margin));
  }
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_SCAN_H_
