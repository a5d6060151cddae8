// Room for the first look, kept from one to the next, and what makes its answer good later on.
#include "search_batch.h"

#include <algorithm>
#include <span>

#include "search_scan.h"

namespace dpcache {

std::size_t Batch::most(const Slots& slots) noexcept {
#if DPCACHE_NIBBLES
  constexpr std::size_t kFloats = std::size_t{1} << 21U;  // of cosines: 8 MiB
  constexpr std::size_t kLeast = 6;                       // as many as one pass over a block takes
  const std::size_t rows = slots.codes().padded_rows();
  return rows == 0 ? 1 : std::clamp(kFloats / rows, kLeast, KeyCodes::kMostLooks);
#else
  static_cast<void>(slots);
  return 1;
#endif
}

void Batch::take(const Slots& slots, const float* queries, std::size_t count) noexcept {
  slots_ = &slots;
  queries_ = queries;
  count_ = count;
  has_looked_ = false;
}

void Batch::look() {
  const KeyCodes& codes = slots_->codes();
  rows_ = codes.rows();
  if (rows_ == 0) return;
  padded_rows_ = codes.padded_rows();
  const std::size_t floats = count_ * padded_rows_;
  if (cosines_.size() < floats) {
    const std::size_t wanted = floats + floats / 8;
    if (!room_for(wanted * sizeof(float))) return;
    cosines_ = AlignedFloats(wanted);
  }
  if (codes_.size() < count_) codes_.resize(count_);
  std::array<KeyCodes::Look, KeyCodes::kMostLooks> looks;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!codes.encode(query(i), codes_[i])) return;
    looks[i] = {&codes_[i], cosines_.data() + i * padded_rows_};
  }
  codes.cosines(std::span(looks).first(count_));
  before_ = slots_->moves().counts;
  has_looked_ = true;
}

// None: there was no look, or rows have other numbers since, or too many keys have moved.
std::optional<Looked> Batch::looked(std::size_t i) {
  const Slots::Moves& moves = slots_->moves();
  if (!has_looked_ || moves.counts.numbers != before_.numbers) return {};
  if (moves.counts.keys - before_.keys > moved_.size()) return {};
  std::size_t count = 0;
  for (std::uint64_t n = before_.keys; n < moves.counts.keys; ++n) {
    const std::uint32_t r = moves.rows[n % moves.rows.size()];
    const auto end = moved_.begin() + static_cast<std::ptrdiff_t>(count);
    if (r < rows_ && std::find(moved_.begin(), end, r) == end) moved_[count++] = r;
  }
  return Looked{query(i), &codes_[i], cosines_.data() + i * padded_rows_, rows_,
                std::span(moved_).first(count)};
}

Nearest Batch::nearest(std::size_t i, Counted counted) {
  Nearest best;
  best.similarity = -2.0F;
  const std::optional<Looked> query = looked(i);
  const bool found = query && nearest_by_codes(*slots_, *query, counted, best);
  scan(*slots_, this->query(i), found ? slots_->codes().rows() : 0, [&](std::size_t r, float s) {
    if (s > best.similarity && counted.counts(*slots_, r)) best = {r, s};
  });
  return best.row == kNoRow ? Nearest{} : best;
}

void Batch::top(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out) {
  std::size_t begin = 0;
  out.clear();
#if DPCACHE_NIBBLES
  // More than one in so many rows are found by a scan.
  constexpr std::size_t kRowsForEach = 64;
  const std::optional<Looked> query = looked(i);
  const bool unchanged = query && query->rows == slots_->codes().rows() && query->moved.empty();
  if (unchanged && k > 0 && k <= query->rows / kRowsForEach) {
    if (top_by_codes(*slots_, *query, {time, kNoRow}, k, out)) {
      begin = query->rows;
    } else {
      out.clear();
    }
  }
#endif
  scan(*slots_, this->query(i), begin, [&](std::size_t r, float s) {
    if (slots_->alive(r, time)) out.push_back({r, s});
  });
  keep_top(out, k);
}

}  // namespace dpcache
