// What was found for a batch beforehand, and what makes it good at the time of the search.
#include "search_batch.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "search_certain.h"
#include "search_scan.h"

namespace dpcache {

#if DPCACHE_NIBBLES
namespace {

// Queries of which a scorer is asked at once, for what comes meanwhile is compared with all behind
// it; and the nearest of which it is asked for each.
constexpr std::size_t kMostScored = 1024;

// More of the nearest than one in so many rows are found by a scan.
constexpr std::size_t kRowsForEach = 64;

}  // namespace

std::size_t Batch::most(const Slots& slots) noexcept {
  if (slots.watch() != nullptr) return kMostScored;
  return slots.codes().rows() == 0 ? 1 : kMostPrepared;
}
#endif

void Batch::take(const Slots& slots, const float* queries, std::size_t count) noexcept {
  slots_ = &slots;
  queries_ = queries;
  count_ = count;
  looked_end_ = 0;
#if DPCACHE_NIBBLES
  scored_ = Scored::not_asked;
#endif
}

// Prepares the queries from `first` on, if there are codes and memory for it: those whose nearest
// row is guessed, if `counted` is given, and the others by a look at the codes.
void Batch::look(std::size_t first, const Counted* counted) {
  const KeyCodes& codes = slots_->codes();
  looked_end_ = 0;
  rows_ = codes.rows();
  if (rows_ == 0) return;
  padded_rows_ = codes.padded_rows();
#if DPCACHE_NIBBLES
  constexpr std::size_t kFloats = std::size_t{1} << 19U;  // of cosines: 2 MiB
  constexpr std::size_t kLeast = 6;                       // as many as one pass over a block takes
  const std::size_t most = std::clamp(kFloats / padded_rows_, kLeast, KeyCodes::kMostLooks);
#else
  constexpr std::size_t most = 1;
#endif
  const std::size_t end = std::min(count_, first + kMostPrepared);
  std::size_t looked = 0;
  std::size_t i = first;
  for (; i < end && looked < most; ++i) {
    QueryCodes& query_codes = codes_[looked];
    const float* rotated = codes.rotate(query(i), query_codes);
    if (rotated == nullptr) break;
    Nearest nearest;
    const bool is_guessed = counted != nullptr && guess(i, rotated, *counted, nearest);
    if (!is_guessed && !codes.encode(rotated, query_codes)) break;
    prepared_[i - first] = {nearest.row, looked};
    if (!is_guessed) ++looked;
  }
  if (looked > 0) {
    const std::size_t floats = looked * padded_rows_;
    if (cosines_.size() < floats) {
      const std::size_t wanted = floats + floats / 8;
      if (!room_for(wanted * sizeof(float))) return;
      cosines_ = AlignedFloats(wanted);
    }
    std::array<KeyCodes::Look, KeyCodes::kMostLooks> looks;
    for (std::size_t n = 0; n < looked; ++n) {
      looks[n] = {&codes_[n], cosines_.data() + n * padded_rows_};
    }
    codes.cosines(std::span(looks).first(looked));
  }
  looked_first_ = first;
  looked_end_ = i;
#if DPCACHE_NIBBLES
  looked_before_ = slots_->moves().counts;
#endif
}

bool Batch::guess(std::size_t i, const float* rotated, Counted counted, Nearest& best) {
  if (!luck_.tries(rows_)) return false;
  const bool is_right = nearest_by_guess(*slots_, query(i), rotated, counted, best);
  luck_.learn(is_right);
  return is_right;
}

// False: codes are of no use.
bool Batch::looked(std::size_t i, Looked& out) {
  const auto is_there = [&] {
    return i < looked_end_ && prepared_[i - looked_first_].guess == kNoRow;
  };
  if (!is_there()) look(i, nullptr);
  if (!is_there()) return false;
  const std::size_t at = prepared_[i - looked_first_].look;
  out = {query(i), &codes_[at], cosines_.data() + at * padded_rows_, rows_};
#if DPCACHE_NIBBLES
  if (!moved_since(looked_before_, rows_, out.moved)) {
    look(i, nullptr);
    if (!is_there()) return false;
    out = {query(i), codes_.data(), cosines_.data(), rows_, {}};
  }
#endif
  return true;
}

// Whether the nearest row was guessed and is certain still.
bool Batch::guessed(std::size_t i, Counted counted, Nearest& best) {
  if (counted.other != kNoRow) return false;
  if (i >= looked_end_) look(i, &counted);
  if (i >= looked_end_) return false;
  const std::size_t r = prepared_[i - looked_first_].guess;
  if (r >= slots_->rows() || !counted.counts(*slots_, r)) return false;
  const float s = similarity(*slots_, query(i), r);
  if (!is_certain(*slots_, r, s)) return false;
  best = {r, s};
  return true;
}

Nearest Batch::nearest(std::size_t i, Counted counted) {
  Nearest best;
#if DPCACHE_NIBBLES
  if (nearest_by_scorer(i, counted, best)) return best;
#endif
  if (guessed(i, counted, best)) return best;
  best.similarity = -2.0F;
  Looked query;
  const bool found = looked(i, query) && nearest_by_codes(*slots_, query, counted, best);
  scan(*slots_, this->query(i), found ? slots_->codes().rows() : 0, [&](std::size_t r, float s) {
    if (s > best.similarity && counted.counts(*slots_, r)) best = {r, s};
  });
  if (best.row == kNoRow) {
    best.similarity = 0.0F;
  } else if (found && counted.other == kNoRow && slots_->meet(best.row, best.similarity)) {
    // The last that is done here: it may take this batch's place, see search.cc.
    slots_->learn_closest(best.row, nearest_other(*slots_, best.row).similarity);
  }
  return best;
}

#if DPCACHE_NIBBLES

bool Batch::moved_since(const Slots::Moves::Counts& before, std::size_t end,
                        std::span<const std::uint32_t>& rows) noexcept {
  const Slots::Moves& moves = slots_->moves();
  if (moves.counts.numbers != before.numbers) return false;
  if (moves.counts.keys - before.keys > moved_.size()) return false;
  std::size_t count = 0;
  for (std::uint64_t n = before.keys; n < moves.counts.keys; ++n) {
    const std::uint32_t r = moves.rows[n % moves.rows.size()];
    const auto behind = moved_.begin() + static_cast<std::ptrdiff_t>(count);
    if (r < end && std::find(moved_.begin(), behind, r) == behind) moved_[count++] = r;
  }
  rows = std::span(moved_).first(count);
  return true;
}

void Batch::top(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out) {
  if (k == 1) {
    const Nearest best = nearest(i, {time, kNoRow});
    out.clear();
    if (best.row != kNoRow) out.push_back(best);
    return;
  }
  if (!top_by_scorer(i, time, k, out) && !top_by_codes(i, time, k, out)) {
    similarities(*slots_, query(i), time, out);
  }
  keep_top(out, k);
}

std::size_t Batch::look_ahead(std::size_t first, std::int64_t time, std::size_t k) {
  if (scored_ == Scored::not_asked && k > 0 && k <= slots_->rows()) ask_scorer(k);
  if (scored_ == Scored::answered) return first;
  // What is guessed now stays certain, for only a change of the slots makes it less so.
  const Counted counted{time, kNoRow};
  if (k > 0 && k <= slots_->codes().rows() / kRowsForEach && first >= looked_end_) {
    look(first, k == 1 ? &counted : nullptr);
  }
  return std::max(first, looked_end_);
}

bool Batch::top_by_codes(std::size_t i, std::int64_t time, std::size_t k,
                         std::vector<Nearest>& out) {
  if (k == 0 || k > slots_->codes().rows() / kRowsForEach) return false;
  Looked query;
  if (!looked(i, query) || query.rows != slots_->codes().rows() || !query.moved.empty())
    return false;
  if (!dpcache::top_by_codes(*slots_, query, {time, kNoRow}, k, out)) return false;
  scan(*slots_, this->query(i), query.rows, [&](std::size_t r, float s) {
    if (slots_->alive(r, time)) out.push_back({r, s});
  });
  return true;
}

// Asks for the k nearest rows of every query, of those that are not dead.
bool Batch::ask_scorer(std::size_t k) {
  const KeyWatch* watch = slots_->watch();
  const std::size_t rows = slots_->rows();
  scored_ = Scored::refused;
  if (watch == nullptr || rows * slots_->stride() * count_ < scorer_from) return false;
  if (k > kMostScored) return false;
  if (!room_for(count_ * k * sizeof(RowMatch) + rows / 8)) return false;
  matches_.resize(count_ * k);
  skip_.clear();
  if (slots_->size() != rows) {
    skip_.resize((rows + 63) / 64);
    for (std::size_t r = 0; r < rows; ++r) {
      if (!slots_->row(r).alive) skip_[r / 64] |= std::uint64_t{1} << (r % 64);
    }
  }
  const KeysView view{slots_->keys(),   rows,  slots_->stride(),
                      slots_->margin(), skip_, watch->memory(),
                      watch->version()};
  const std::span queries(queries_, count_ * slots_->stride());
  Scorer& scorer = watch->scorer();
  if (!(k == 1 ? scorer.nearest(view, queries, matches_)
               : scorer.top(view, queries, k, matches_))) {
    return false;
  }
  scored_rows_ = rows;
  scored_before_ = slots_->moves().counts;
  scored_ = Scored::answered;
  return true;
}

// What a scorer found is the nearest of the rows as they were then. False: that row has gone, has
// expired or has moved, so that another may be the nearest.
bool Batch::nearest_by_scorer(std::size_t i, Counted counted, Nearest& best) {
  if (scored_ == Scored::not_asked) ask_scorer(1);
  std::span<const std::uint32_t> moved;
  if (scored_ != Scored::answered || !moved_since(scored_before_, scored_rows_, moved))
    return false;
  const RowMatch& match = matches_[i];
  best.similarity = -2.0F;
  if (match.row != RowMatch::kNone) {
    if (!counted.counts(*slots_, match.row)) return false;
    if (std::find(moved.begin(), moved.end(), match.row) != moved.end()) return false;
    best = {match.row, match.similarity};
  }
  for (const std::size_t r : moved) {
    if (!counted.counts(*slots_, r)) continue;
    const float s = similarity(*slots_, query(i), r);
    if (s > best.similarity || (s == best.similarity && r < best.row)) best = {r, s};
  }
  scan(*slots_, query(i), scored_rows_, [&](std::size_t r, float s) {
    if (s > best.similarity && counted.counts(*slots_, r)) best = {r, s};
  });
  if (best.row == kNoRow) best.similarity = 0.0F;
  return true;
}

// False also if one of the rows has expired: others would take its place.
bool Batch::top_by_scorer(std::size_t i, std::int64_t time, std::size_t k,
                          std::vector<Nearest>& out) {
  if (k == 0 || k > slots_->rows()) return false;
  if (scored_ == Scored::not_asked) ask_scorer(k);
  if (scored_ != Scored::answered) return false;
  out.clear();
  for (const RowMatch& match : std::span(matches_).subspan(i * k, k)) {
    if (match.row == RowMatch::kNone) break;
    if (!slots_->alive(match.row, time)) return false;
    out.push_back({match.row, match.similarity});
  }
  return true;
}

#endif

namespace {

struct Kept {
  Batch batch;
  bool in_use = false;
};

Kept& kept() {
  thread_local Kept kept;
  return kept;
}

}  // namespace

OwnBatch::OwnBatch() {
  if (kept().in_use) inner_ = std::make_unique<Batch>();
  batch_ = inner_ ? inner_.get() : &kept().batch;
  kept().in_use = true;
}

OwnBatch::~OwnBatch() {
  if (!inner_) kept().in_use = false;
}

}  // namespace dpcache
