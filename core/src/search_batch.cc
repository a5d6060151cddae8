// Room for the first look, kept from one to the next, and what makes its answer good later on.
#include "search_batch.h"

#include <algorithm>
#include <span>

#include "search_scan.h"

namespace dpcache {

#if DPCACHE_NIBBLES
std::size_t Batch::most(const Slots& slots) noexcept {
  constexpr std::size_t kFloats = std::size_t{1} << 21U;  // of cosines: 8 MiB
  constexpr std::size_t kLeast = 6;                       // as many as one pass over a block takes
  const std::size_t rows = slots.codes().padded_rows();
  return rows == 0 ? 1 : std::clamp(kFloats / rows, kLeast, KeyCodes::kMostLooks);
}
#endif

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
  const std::size_t count = KeyCodes::kMostLooks == 1 ? 1 : count_;
  const std::size_t floats = count * padded_rows_;
  if (cosines_.size() < floats) {
    const std::size_t wanted = floats + floats / 8;
    if (!room_for(wanted * sizeof(float))) return;
    cosines_ = AlignedFloats(wanted);
  }
  std::array<KeyCodes::Look, KeyCodes::kMostLooks> looks;
  for (std::size_t i = 0; i < count; ++i) {
    if (!codes.encode(query(i), codes_[i])) return;
    looks[i] = {&codes_[i], cosines_.data() + i * padded_rows_};
  }
  codes.cosines(std::span(looks).first(count));
#if DPCACHE_NIBBLES
  before_ = slots_->moves().counts;
#endif
  has_looked_ = true;
}

// False: there was no look, or rows have other numbers since, or too many keys have moved.
bool Batch::looked(std::size_t i, Looked& out) {
  if (!has_looked_) return false;
  out = {query(i), &codes_[i], cosines_.data() + i * padded_rows_, rows_};
#if DPCACHE_NIBBLES
  const Slots::Moves& moves = slots_->moves();
  if (moves.counts.numbers != before_.numbers) return false;
  if (moves.counts.keys - before_.keys > moved_.size()) return false;
  std::size_t count = 0;
  for (std::uint64_t n = before_.keys; n < moves.counts.keys; ++n) {
    const std::uint32_t r = moves.rows[n % moves.rows.size()];
    const auto end = moved_.begin() + static_cast<std::ptrdiff_t>(count);
    if (r < rows_ && std::find(moved_.begin(), end, r) == end) moved_[count++] = r;
  }
  out.moved = std::span(moved_).first(count);
#endif
  return true;
}

Nearest Batch::nearest(std::size_t i, Counted counted) {
  Nearest best;
  best.similarity = -2.0F;
  Looked query;
  const bool found = looked(i, query) && nearest_by_codes(*slots_, query, counted, best);
  scan(*slots_, this->query(i), found ? slots_->codes().rows() : 0, [&](std::size_t r, float s) {
    if (s > best.similarity && counted.counts(*slots_, r)) best = {r, s};
  });
  if (best.row == kNoRow) best.similarity = 0.0F;
  return best;
}

#if DPCACHE_NIBBLES
void Batch::top(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out) {
  if (!top_by_codes(i, time, k, out)) similarities(*slots_, query(i), time, out);
  keep_top(out, k);
}

bool Batch::top_by_codes(std::size_t i, std::int64_t time, std::size_t k,
                         std::vector<Nearest>& out) {
  constexpr std::size_t kRowsForEach = 64;  // more than one in so many are found by a scan
  Looked query;
  if (!looked(i, query) || query.rows != slots_->codes().rows() || !query.moved.empty())
    return false;
  if (k == 0 || k > query.rows / kRowsForEach) return false;
  if (!dpcache::top_by_codes(*slots_, query, {time, kNoRow}, k, out)) return false;
  scan(*slots_, this->query(i), query.rows, [&](std::size_t r, float s) {
    if (slots_->alive(r, time)) out.push_back({r, s});
  });
  return true;
}
#endif

Batch& batch_of_this_thread() {
  thread_local Batch batch;
  return batch;
}

}  // namespace dpcache
