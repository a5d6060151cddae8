// Rows that have changed, as a few ranges. Allocates nothing.
#ifndef DPCACHE_SERVER_CUDA_ROW_RANGES_H_
#define DPCACHE_SERVER_CUDA_ROW_RANGES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace dpcache::cuda {

// Ranges in order, apart from each other. When there are more than it has places for, the two that
// are nearest become one, with what is between them.
class RowRanges {
 public:
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;  // behind it

    bool operator==(const Range&) const = default;
  };
  static constexpr std::size_t kMost = 64;

  void add(std::size_t first, std::size_t last) noexcept {
    if (first >= last) return;
    // Those that touch the new one, [begin, end), become part of it.
    std::size_t begin = 0;
    while (begin < count_ && ranges_[begin].last < first) ++begin;
    std::size_t end = begin;
    for (; end < count_ && ranges_[end].first <= last; ++end) {
      first = std::min(first, ranges_[end].first);
      last = std::max(last, ranges_[end].last);
    }
    const auto at = [this](std::size_t i) {
      return ranges_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (begin == end) {
      std::copy_backward(at(begin), at(count_), at(count_ + 1));
      ++count_;
    } else {
      std::copy(at(end), at(count_), at(begin + 1));
      count_ -= end - begin - 1;
    }
    ranges_[begin] = {first, last};
    if (count_ > kMost) join_nearest();
  }
  void clear() noexcept { count_ = 0; }
  bool empty() const noexcept { return count_ == 0; }
  std::span<const Range> ranges() const noexcept { return {ranges_.data(), count_}; }

 private:
  void join_nearest() noexcept {
    std::size_t nearest = 1;
    const auto gap = [this](std::size_t i) { return ranges_[i].first - ranges_[i - 1].last; };
    for (std::size_t i = 2; i < count_; ++i) {
      if (gap(i) < gap(nearest)) nearest = i;
    }
    ranges_[nearest - 1].last = ranges_[nearest].last;
    std::copy(ranges_.begin() + static_cast<std::ptrdiff_t>(nearest) + 1,
              ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
              ranges_.begin() + static_cast<std::ptrdiff_t>(nearest));
    --count_;
  }

  std::array<Range, kMost + 1> ranges_{};
  std::size_t count_ = 0;
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_ROW_RANGES_H_
