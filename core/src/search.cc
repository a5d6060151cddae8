// Search by codes where there are any, and by a pass over the other keys.
#include "search.h"

#include "kernels.h"
#include "order.h"
#include "search_batch.h"
#include "search_scan.h"

namespace dpcache {

namespace {

Nearest find_nearest(const Slots& slots, const float* query, Counted counted) {
  thread_local Batch one;  // kept, so that a search allocates nothing
  one.take(slots, query, 1);
  return one.nearest(0, counted);
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

#if DPCACHE_TRUST
void top(const Slots& slots, const float* query, std::int64_t time, std::size_t k,
         std::vector<Nearest>& out) {
#if DPCACHE_NIBBLES
  OwnBatch own;
  (*own).take(slots, query, 1);
  (*own).top(0, time, k, out);
#else
  similarities(slots, query, time, out);
  keep_top(out, k);
#endif
}
#endif

void keep_top(std::vector<Nearest>& all, std::size_t k) {
  keep_first(all, k, [](const Nearest& a, const Nearest& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
  });
}

}  // namespace dpcache
