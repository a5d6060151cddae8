// The likeliest rows are scored first; then all whose codes do not rule out that they are as near.
#include "search_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <type_traits>
#include <utility>

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

std::size_t blocks_of(std::size_t rows) noexcept {
  return (rows + kernels::kBlockRows - 1) / kernels::kBlockRows;
}

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

// The k likeliest of the rows that count, or as many as there are.
template <class Counts>
void take_likeliest(const Looked& query, std::size_t k, Counts counts, std::vector<Nearest>& heap) {
  heap.clear();
  float least = kNone;  // of the cosines that still matter
  for (std::size_t block = 0; block < blocks_of(query.rows); ++block) {
    const std::size_t first = block * kernels::kBlockRows;
    std::uint64_t left = kernels::at_least(query.cosines + first, least);
    for (; left != 0; left &= left - 1) {
      const std::size_t r = first + static_cast<std::size_t>(std::countr_zero(left));
      const float cosine = query.cosines[r];
      if (r >= query.rows || !(cosine > least) || !counts(r)) continue;
      if (heap.size() == k) {
        heap.front() = {r, cosine};
        sift_down(heap, 0, k, is_nearer);
      } else {
        heap.push_back({r, cosine});
        if (heap.size() < k) continue;
        std::make_heap(heap.begin(), heap.end(), is_nearer);
      }
      least = heap.front().similarity;
    }
  }
}

// Scores the k likeliest rows. False: not so many count.
bool begin(const Slots& slots, const Looked& query, Counted counted, std::size_t k, Several& best) {
  std::vector<Nearest>& heap = best.heap;
  const auto counts = [&](std::size_t r) { return counted.counts(slots, r); };
  // Nearly always all count, and to ask those alone that are left saves a wait for each other one.
  take_likeliest(
      query, k, [](std::size_t) { return true; }, heap);
  for (const Nearest& one : heap) slots.fetch_key(one.row);
  if (!std::all_of(heap.begin(), heap.end(), [&](const Nearest& one) { return counts(one.row); })) {
    take_likeliest(query, k, counts, heap);
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
    const std::size_t blocks = blocks_of(query_.rows);
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
  static constexpr std::size_t kBlocksAPart = 64;

  // Rows are looked at again some at a time, so that their codes are there by then.
  void take(std::size_t r) {
    codes_.fetch(r);
    taken_[count_++] = static_cast<std::uint32_t>(r);
    if (count_ == taken_.size()) look_again();
  }
  void look_again() {
    const std::span rows = std::span(taken_).first(std::exchange(count_, 0));
    const std::size_t kept = codes_.keep_candidates(*query_.codes, rows, bounds_);
    for (const std::size_t r : rows.first(kept)) slots_.fetch_key(r);
    for (const std::size_t r : rows.first(kept)) score(r);
  }

  // Of these, the first look told nothing: keys have come or moved since.
  void look_at_others() {
    for (const std::uint32_t r : query_.moved) {
      query_.cosines[r] = kNone;
      take(r);
    }
    for (std::size_t r = query_.rows; r < codes_.rows(); ++r) take(r);
    look_again();
  }

  void look_at_blocks(std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) look_at_block(block);
    look_again();
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
    for (; left != 0; left &= left - 1) {
      const std::size_t r = first + static_cast<std::size_t>(std::countr_zero(left));
      if (r < query_.rows) take(r);
    }
  }
#endif

  const Slots& slots_;
  const KeyCodes& codes_;
  const Looked& query_;
  Counted counted_;
  Best& best_;
  KeyCodes::Bounds bounds_;
  bool narrows_ = false;
#if DPCACHE_NIBBLES
  std::array<std::uint32_t, kernels::kBlockRows> taken_;
  std::size_t count_ = 0;
#endif
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
