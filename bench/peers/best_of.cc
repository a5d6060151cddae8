// The choice among scores that a matrix product leaves to its caller.
#include <algorithm>

#include "peers.h"

namespace peers {

// `hits` holds what was found among earlier rows. A vectorised maximum of each block tells first
// whether the block matters, as in any careful use of a matrix product.
void best_of(const float* scores, std::size_t n, std::int64_t first_row, std::size_t k, Hit* hits) {
  constexpr std::size_t kBlock = 256;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t end = std::min(n, begin + kBlock);
    float most = -2.0F;
    for (std::size_t i = begin; i < end; ++i) most = std::max(most, scores[i]);
    if (most <= hits[k - 1].similarity) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (scores[i] <= hits[k - 1].similarity) continue;
      std::size_t at = k - 1;
      for (; at > 0 && hits[at - 1].similarity < scores[i]; --at) hits[at] = hits[at - 1];
      hits[at] = {first_row + static_cast<std::int64_t>(i), scores[i]};
    }
  }
}

}  // namespace peers
