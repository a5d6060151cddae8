// Search by a flat scan: one sequential pass over the keys.
#include "search.h"

#include <algorithm>
#include <array>

#include "kernels.h"
#include "order.h"

namespace dpcache {

namespace {

// Rows scored at a time; the scores stay in the first cache level.
constexpr std::size_t kBlock = 256;

// Calls visit(row, similarity) for every row, in order.
template <class Visit>
void scan(const Slots& slots, const float* query, Visit visit) {
  std::array<float, kBlock> scores;
  const float margin = slots.margin();
  for (std::size_t begin = 0; begin < slots.rows(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, slots.rows() - begin);
    kernels::dots(query, slots.keys() + begin * slots.stride(), slots.stride(), count,
                  scores.data());
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, snap(scores[i], margin));
  }
}

}  // namespace

Nearest nearest(const Slots& slots, const float* query, std::int64_t time) {
  Nearest best;
  best.similarity = -2.0F;
  scan(slots, query, [&](std::size_t r, float s) {
    if (s > best.similarity && slots.alive(r, time)) best = {r, s};
  });
  return best.row == kNoRow ? Nearest{} : best;
}

Nearest nearest_other(const Slots& slots, std::size_t r) {
  Nearest best;
  best.similarity = -2.0F;
  scan(slots, slots.key(r).data(), [&](std::size_t other, float s) {
    if (s > best.similarity && other != r && slots.row(other).alive) best = {other, s};
  });
  return best.row == kNoRow ? Nearest{} : best;
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
  scan(slots, query, [&](std::size_t r, float s) {
    if (slots.alive(r, time)) out.push_back({r, s});
  });
}

void keep_top(std::vector<Nearest>& all, std::size_t k) {
  keep_first(all, k, [](const Nearest& a, const Nearest& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
  });
}

}  // namespace dpcache
