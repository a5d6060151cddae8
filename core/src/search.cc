// Search by codes where there are any, and by a pass over the other keys.
#include "search.h"

#include <algorithm>
#include <array>

#include "kernels.h"
#include "order.h"
#include "search_codes.h"

namespace dpcache {

namespace {

// Rows scored at a time; the scores stay in the first cache level.
constexpr std::size_t kBlock = 256;

// Calls visit(row, similarity) for every row from `first` on, in order.
template <class Visit>
void scan(const Slots& slots, const float* query, std::size_t first, Visit visit) {
  std::array<float, kBlock> scores;
  const float margin = slots.margin();
  for (std::size_t begin = first; begin < slots.rows(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, slots.rows() - begin);
    kernels::dots(query, slots.keys() + begin * slots.stride(), slots.stride(), count,
                  scores.data());
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, snap(scores[i], margin));
  }
}

Nearest find_nearest(const Slots& slots, const float* query, Counted counted) {
  Nearest best;
  best.similarity = -2.0F;
  const std::size_t begin = search_codes(slots, query, counted, best);
  scan(slots, query, begin, [&](std::size_t r, float s) {
    if (s > best.similarity && counted.counts(slots, r)) best = {r, s};
  });
  return best.row == kNoRow ? Nearest{} : best;
}

}  // namespace

Nearest nearest(const Slots& slots, const float* query, std::int64_t time) {
  return find_nearest(slots, query, {time, kNoRow});
}

Nearest nearest_other(const Slots& slots, std::size_t r) {
  return find_nearest(slots, slots.key(r).data(), {kBeforeAll, r});
}

float similarity(const Slots& slots, const float* query, std::size_t r) {
  float score = 0.0F;
  kernels::dots(query, slots.key(r).data(), slots.stride(), 1, &score);
  return snap(score, slots.margin());
}

void similarities(const Slots& slots, const float* query, std::int64_t time,
                  std::vector<Nearest>& out) {
  out.clear();
  out.reserve(slots.size());
  scan(slots, query, 0, [&](std::size_t r, float s) {
    if (slots.alive(r, time)) out.push_back({r, s});
  });
}

void keep_top(std::vector<Nearest>& all, std::size_t k) {
  keep_first(all, k, [](const Nearest& a, const Nearest& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
  });
}

}  // namespace dpcache
