// The likeliest rows are scored first; then all whose codes do not rule out that they are as near.
#include "search_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <type_traits>

#include "order.h"
#include "workers.h"

namespace dpcache {

namespace {

constexpr float kNone = -2.0F;  // below every cosine

bool is_nearer(const Nearest& a, const Nearest& b) noexcept {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
}

// The nearest so far.
struct One {
  Nearest nearest{kNoRow, kNone};

  float least() const noexcept { return nearest.similarity; }
  // True: others must be nearer than before to matter.
  bool offer(const Nearest& found) noexcept {
    if (!is_nearer(found, nearest)) return false;
    const bool rises = found.similarity > nearest.similarity;
    nearest = found;
    return rises;
  }
};

// The likeliest row. kNoRow: none of the likeliest counts: it is the query's own row, or has
// expired.
std::size_t likeliest(const Slots& slots, const Looked& query, Counted counted) {
  for (unsigned tries = 8; tries > 0; --tries) {
    const std::size_t r = slots.codes().likeliest(query.cosines, query.rows);
    query.cosines[r] = kNone;
    if (counted.counts(slots, r)) return r;
  }
  return kNoRow;
}

#if DPCACHE_NIBBLES

// The k nearest so far: a heap, the last of them on top.
struct Several {
  std::vector<Nearest>& heap;

  float least() const noexcept { return heap.front().similarity; }
  bool offer(const Nearest& found) noexcept {
    if (!is_nearer(found, heap.front())) return false;
    const float before = least();
    heap.front() = found;
    sift_down(heap, 0, heap.size(), is_nearer);
    return least() > before;
  }
};

// Scores the k likeliest rows. False: not so many count.
bool begin(const Slots& slots, const Looked& query, Counted counted, std::size_t k, Several& best) {
  std::vector<Nearest>& heap = best.heap;
  heap.clear();
  for (std::size_t r = 0; r < query.rows; ++r) {
    const float cosine = query.cosines[r];
    if (heap.size() == k && !(cosine > heap.front().similarity)) continue;
    if (!counted.counts(slots, r)) continue;
    if (heap.size() < k) {
      heap.push_back({r, cosine});
      if (heap.size() == k) std::make_heap(heap.begin(), heap.end(), is_nearer);
    } else {
      heap.front() = {r, cosine};
      sift_down(heap, 0, k, is_nearer);
    }
  }
  if (heap.size() < k) return false;
  for (Nearest& one : heap) {
    query.cosines[one.row] = kNone;
    one.similarity = similarity(slots, query.key, one.row);
  }
  std::make_heap(heap.begin(), heap.end(), is_nearer);
  return true;
}

#endif

// Offers the slots that may be as near as what there is already.
template <class Best>
class Search {
 public:
  Search(const Slots& slots, const Looked& query, Counted counted, Best& best)
      : slots_(slots), codes_(slots.codes()), query_(query), counted_(counted), best_(best) {}

  void score(std::size_t r) {
    if (!counted_.counts(slots_, r)) return;
    if (best_.offer({r, similarity(slots_, query_.key, r)})) narrow();
  }
  void narrow() noexcept {
    narrows_ = codes_.bounds(*query_.codes, best_.least(), slots_.margin(), bounds_);
  }

  // False: nothing can be ruled out.
  bool run() {
    if (!narrows_) return false;
#if DPCACHE_NIBBLES
    look_at_others();
    const std::size_t blocks = (query_.rows + kernels::kBlockRows - 1) / kernels::kBlockRows;
    if constexpr (std::is_same_v<Best, One>) {
      if (workers() > 1 && blocks >= 2 * kBlocksAPart) {
        look_together(blocks);
        return true;
      }
    }
    look_at_blocks(0, blocks);
#else
    for (std::size_t r = 0; r < query_.rows; ++r) {
      if (!(query_.cosines[r] < bounds_.least)) score(r);
    }
#endif
    return true;
  }

 private:
#if DPCACHE_NIBBLES
  using Rows = std::array<std::uint32_t, kernels::kBlockRows>;
  static constexpr std::size_t kBlocksAPart = 64;

  void look_again(std::span<std::uint32_t> rows) {
    const std::size_t count = codes_.keep_candidates(*query_.codes, rows, bounds_);
    for (const std::size_t r : rows.first(count)) score(r);
  }

  // Of these, the first look told nothing: keys have come or moved since.
  void look_at_others() {
    Rows rows;
    std::size_t count = 0;
    const auto take = [&](std::size_t r) {
      rows[count++] = static_cast<std::uint32_t>(r);
      if (count < rows.size()) return;
      look_again(rows);
      count = 0;
    };
    for (const std::uint32_t r : query_.moved) {
      query_.cosines[r] = kNone;
      take(r);
    }
    for (std::size_t r = query_.rows; r < codes_.rows(); ++r) take(r);
    look_again(std::span(rows).first(count));
  }

  void look_at_blocks(std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) look_at_block(block);
  }

  // Each part begins with the nearest of those that have ended: the order in which they do changes
  // how much is scored, not what is found.
  void look_together(std::size_t blocks) {
    std::mutex mutex;
    divide((blocks + kBlocksAPart - 1) / kBlocksAPart, [&](std::size_t part) {
      One own;
      {
        const std::lock_guard lock(mutex);
        own = best_;
      }
      Search search(slots_, query_, counted_, own);
      search.narrow();
      const std::size_t begin = part * kBlocksAPart;
      search.look_at_blocks(begin, std::min(blocks, begin + kBlocksAPart));
      const std::lock_guard lock(mutex);
      best_.offer(own.nearest);
    });
  }

  void look_at_block(std::size_t block) {
    const std::size_t first = block * kernels::kBlockRows;
    std::uint64_t left = codes_.candidates(query_.cosines, block, bounds_);
    if (left == 0) return;
    Rows rows;
    std::size_t count = 0;
    for (; left != 0; left &= left - 1) {
      const std::size_t r = first + static_cast<std::size_t>(std::countr_zero(left));
      if (r < query_.rows) rows[count++] = static_cast<std::uint32_t>(r);
    }
    look_again(std::span(rows).first(count));
  }
#endif

  const Slots& slots_;
  const KeyCodes& codes_;
  const Looked& query_;
  Counted counted_;
  Best& best_;
  KeyCodes::Bounds bounds_;
  bool narrows_ = false;
};

}  // namespace

bool nearest_by_codes(const Slots& slots, const Looked& query, Counted counted, Nearest& best) {
  One one;
  Search search(slots, query, counted, one);
  const std::size_t r = likeliest(slots, query, counted);
  if (r == kNoRow) return false;
  search.score(r);
  if (!search.run()) return false;
  best = one.nearest;
  return true;
}

#if DPCACHE_NIBBLES
bool top_by_codes(const Slots& slots, const Looked& query, Counted counted, std::size_t k,
                  std::vector<Nearest>& best) {
  Several several{best};
  if (!begin(slots, query, counted, k, several)) return false;
  Search search(slots, query, counted, several);
  search.narrow();
  return search.run();
}
#endif

}  // namespace dpcache
