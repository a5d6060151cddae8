// The first few of many, in order: a heap sort that is compiled to little.
#ifndef DPCACHE_SRC_ORDER_H_
#define DPCACHE_SRC_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace dpcache {

// Lets heap[at] sink until none below it comes behind it.
template <class T, class Before>
[[gnu::noinline]] void sift_down(std::vector<T>& heap, std::size_t at, std::size_t size,
                                 Before before) {
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= size) return;
    if (child + 1 < size && before(heap[child], heap[child + 1])) ++child;
    if (!before(heap[at], heap[child])) return;
    std::swap(heap[at], heap[child]);
    at = child;
  }
}

// Keeps the first `count` of all, in the order of `before`, in which no two are equal.
template <class T, class Before>
void keep_first(std::vector<T>& all, std::size_t count, Before before) {
  count = std::min(count, all.size());
  for (std::size_t i = count / 2; i-- > 0;) sift_down(all, i, count, before);
  for (std::size_t i = count; i < all.size() && count > 0; ++i) {
    if (!before(all[i], all[0])) continue;
    std::swap(all[i], all[0]);
    sift_down(all, 0, count, before);
  }
  for (std::size_t end = count; end > 1;) {
    std::swap(all[0], all[--end]);
    sift_down(all, 0, end, before);
  }
  all.resize(count);
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_ORDER_H_
