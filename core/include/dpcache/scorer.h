// Who scores the keys of memories in the CPU's place: the seam for graphics processors.
#ifndef DPCACHE_SCORER_H_
#define DPCACHE_SCORER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace dpcache {

// What a scorer sees of a memory's keys. Valid for the time of the call.
struct KeysView {
  const float* keys = nullptr;  // (rows, stride), 64-byte aligned; unit length, zeros behind
  std::size_t rows = 0;
  std::size_t stride = 0;               // a multiple of 16
  float margin = 0.0F;                  // similarities of 1 - margin and more count as exactly 1
  std::span<const std::uint64_t> skip;  // bit r set: row r does not count; empty: all count
  std::uint64_t memory = 0;             // differs between the memories alive in this process
  std::uint64_t version = 0;            // grows with every change of a key
};

struct RowMatch {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t row = kNone;  // kNone: there is none
  float similarity = 0.0F;    // canonical, snapped

  bool operator==(const RowMatch&) const = default;
};

// Finds what a scan with the canonical score finds, bit for bit: highest similarity first, ties to
// the lowest row. Queries are padded like keys: (count, stride), of unit length.
//
// Thread rule: nearest() and top() may be called by several threads at once; changed() and forget()
// of a memory run alone on that memory, beside calls for others.
class Scorer {
 public:
  Scorer() = default;
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;
  virtual ~Scorer() = default;

  // Rows [first, last) differ from what they were, or are new. Cheap.
  virtual void changed(std::uint64_t memory, std::size_t first, std::size_t last) noexcept = 0;
  // The memory is gone.
  virtual void forget(std::uint64_t memory) noexcept = 0;

  // The nearest row of each query; `out` has one place for each. False: it could not, and `out` is
  // not to be used; the caller scores on the CPU.
  virtual bool nearest(const KeysView& view, std::span<const float> queries,
                       std::span<RowMatch> out) noexcept = 0;
  // The k best rows of each query, best first; out is (count, k), with kNone behind the last row.
  virtual bool top(const KeysView& view, std::span<const float> queries, std::size_t k,
                   std::span<RowMatch> out) noexcept = 0;
};

}  // namespace dpcache

#endif  // DPCACHE_SCORER_H_
