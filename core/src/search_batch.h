// Searches for some queries at once: the codes of the keys are read once for all of them.
#ifndef DPCACHE_SRC_SEARCH_BATCH_H_
#define DPCACHE_SRC_SEARCH_BATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aligned.h"
#include "codes.h"
#include "dpcache/scorer.h"
#include "search_codes.h"
#include "slots.h"

namespace dpcache {

#if DPCACHE_NIBBLES
// From how many products of floats on a scorer is asked (kernels that a device must start, and keys
// and queries that must travel, cost more than fewer take here). Only tests change it.
inline std::size_t scorer_from = std::size_t{1} << 28U;
#endif

// Whether it pays to guess at a query's nearest row: how often guesses were right of late.
class Luck {
 public:
  // `rows`: that a search looks at if the guess fails. Where most fail, one in 16 is tried, at
  // uneven distances: queries may come in turns.
  bool tries(std::size_t rows) noexcept {
    return share_ * static_cast<float>(rows) > codes_from.rows_for_a_guess ||
           turn_++ * 0x9E3779B1U >> 28U == 0;
  }
  void learn(bool was_right) noexcept {
    share_ += was_right ? (1.0F - share_) / 8.0F : -share_ / 32.0F;
  }

 private:
  float share_ = 1.0F;
  std::uint32_t turn_ = 0;
};

// Whatever becomes of the slots between one search of a batch and the next, each finds what is
// nearest then.
class Batch {
 public:
  // How many queries it pays to take together. 1: none.
#if DPCACHE_NIBBLES
  static std::size_t most(const Slots& slots) noexcept;
#else
  static constexpr std::size_t most(const Slots& /*slots*/) noexcept {
    return 1;
  }
#endif

  // Takes `count` queries, (count, stride), padded and of unit length. They and the slots must
  // stay.
  void take(const Slots& slots, const float* queries, std::size_t count) noexcept;

  // The slot nearest to the i-th query. Queries are searched in order, and once.
  Nearest nearest(std::size_t i, Counted counted);

#if DPCACHE_NIBBLES
  // The k nearest slots, best first, then in the order of their ids; all, if there are no more.
  // Replaces `out`.
  void top(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out);

  // Looks ahead for top(): it may be called for the queries [first, end) by several threads, with
  // the same time and k, as long as no slot changes. Returns the end; `first`: for none.
  std::size_t look_ahead(std::size_t first, std::int64_t time, std::size_t k);
#endif

 private:
  const float* query(std::size_t i) const noexcept {
    return queries_ + i * slots_->stride();
  }
  void look(std::size_t first, const Counted* counted);
  bool guess(std::size_t i, const float* rotated, Counted counted, Nearest& best);
  bool looked(std::size_t i, Looked& out);
  bool guessed(std::size_t i, Counted counted, Nearest& best);

  const Slots* slots_ = nullptr;
  const float* queries_ = nullptr;
  std::size_t count_ = 0;

  // Queries [looked_first_, looked_end_) have a guess each, or were looked at.
  struct Prepared {
    std::size_t guess = kNoRow;
    std::size_t look = 0;
  };
#if DPCACHE_NIBBLES
  static constexpr std::size_t kMostPrepared = 192;
#else
  static constexpr std::size_t kMostPrepared = 1;
#endif
  std::array<Prepared, kMostPrepared> prepared_;
  Luck luck_;
  std::size_t looked_first_ = 0;
  std::size_t looked_end_ = 0;
  std::size_t rows_ = 0;  // that had codes then
  std::size_t padded_rows_ = 0;
  std::array<QueryCodes, KeyCodes::kMostLooks> codes_;
  AlignedFloats cosines_;  // (looked at, padded rows)

#if DPCACHE_NIBBLES
  bool top_by_codes(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out);
  bool top_by_scorer(std::size_t i, std::int64_t time, std::size_t k, std::vector<Nearest>& out);
  bool nearest_by_scorer(std::size_t i, Counted counted, Nearest& best);
  bool ask_scorer(std::size_t k);
  // The rows below `end` whose keys have moved since. False: rows have other numbers, or too many
  // keys have moved.
  bool moved_since(const Slots::Moves::Counts& before, std::size_t end,
                   std::span<const std::uint32_t>& rows) noexcept;

  Slots::Moves::Counts looked_before_;
  Slots::Moves::Rows moved_{};

  // What a scorer found for all queries.
  enum class Scored : std::uint8_t { not_asked, refused, answered };
  Scored scored_ = Scored::not_asked;
  std::size_t scored_rows_ = 0;  // that there were then
  Slots::Moves::Counts scored_before_;
  std::vector<RowMatch> matches_;    // (count, k)
  std::vector<std::uint64_t> skip_;  // rows that were dead
#endif
};

// A batch whose room a thread keeps from one use to the next. Uses may nest: a cache's listener may
// search, or feed another cache, in the midst of a batch; the inner ones get room of their own.
class OwnBatch {
 public:
  OwnBatch();
  ~OwnBatch();
  OwnBatch(const OwnBatch&) = delete;
  OwnBatch& operator=(const OwnBatch&) = delete;

  Batch& operator*() noexcept { return *batch_; }

 private:
  std::unique_ptr<Batch> inner_;
  Batch* batch_;
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_BATCH_H_
