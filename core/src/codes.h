// Codes of the keys: the same directions in fewer bits, which a search reads instead of the keys.
//
// A code is a vector u of small integers near a key's direction, and the angle between the two is
// known. Let a query's code be q, at the angle b from it. If the best similarity so far is that of
// an angle t, then a key at the angle a from its code can only be as near if
//   angle(q, u) <= t + a + b,
// since angles obey the triangle inequality. All others need no look at their keys.
//
// There are two codes of each key, after one rotation: four bits, in blocks of 64 rows where a
// vector instruction takes 16 rows at a time, and eight bits, a row at a time, for the few that the
// first could not tell from the best. WebAssembly has only the second, without the rotation.
//
// Rounding: everything that is computed of a code is exact but for the angle, which is rounded up,
// the rotation, whose error is an angle (rotation.h), and a few float operations on cosines: the
// slack of Bounds.
#ifndef DPCACHE_SRC_CODES_H_
#define DPCACHE_SRC_CODES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aligned.h"
#include "kernels_codes.h"
#include "probe.h"
#include "rotation.h"

namespace dpcache {

// From when on keys have codes. Memories of fewer floats are searched as fast without; beside
// shorter keys, codes would take too much memory. Only tests and benchmarks change it.
struct CodesFrom {
  std::size_t floats = std::size_t{1} << 16U;
  std::size_t length = 64;
  // From what length on they are guessed at too: beside shorter ones the lists take too much.
  std::size_t guessed_length = 128;
  // As many rows are looked at in the time of a guess that fails. 0: guesses are always tried.
  float rows_for_a_guess = 300.0F;
};
inline CodesFrom codes_from;

// A query as codes.
struct QueryCodes {
  struct Code {
    float inverse = 0.0F;  // 1 / its length
    double cosine = 1.0;   // of its angle to the query, or less
    double sine = 0.0;     // or more
  };
  Code short_code;  // for codes of eight bits
  std::vector<std::int16_t> shorts;
#if DPCACHE_NIBBLES
  Code byte_code;  // for codes of four bits
  std::vector<std::int8_t> bytes;
  std::int32_t byte_total = 0;
  AlignedFloats rotated;
  AlignedFloats room;
#endif
};

class KeyCodes {
 public:
  explicit KeyCodes(std::size_t length) noexcept;

  // The first rows() keys have codes.
  std::size_t rows() const noexcept { return rows_; }
  // Codes the next key. False: no memory; nothing changed. `room`: rows for which the keys have
  // room; full arrays grow as theirs did.
  bool append(const float* key, std::size_t room);
  void set(std::size_t r, const float* key);
  // Row `to` takes over the codes of row `from`.
  void move(std::size_t from, std::size_t to) noexcept;
  void truncate(std::size_t rows) noexcept;
  // Row `r` has gone: the cosines of its code are 0 from now on.
  void forget(std::size_t r) noexcept;
  std::size_t bytes() const noexcept;

  // The vector of which codes are made; in `query`, or `key` itself where nothing is rotated. Null:
  // its codes would tell nothing.
  const float* rotate(const float* key, QueryCodes& query) const;
  // Fills `query`, in which `rotated` was made. False: its codes would tell nothing.
  bool encode(const float* rotated, QueryCodes& query) const;

#if DPCACHE_NIBBLES
  // An estimate of the cosine of a query and a key, by a part of its code that is read at once.
  float estimate(const float* rotated, std::size_t r) const noexcept {
    return kernels::cosine_of_parts(rotated, bytes_.data() + r * length_,
                                    std::min<std::size_t>(length_, 64));
  }
#endif

  // Where a key is likely that a query repeats. Keys that have moved stand where they were.
  const Probe& probe() const noexcept {
    return probe_;
  }
  // Whether all keys there were are of unit length.
  bool all_unit() const noexcept {
    return all_unit_;
  }

  // The first look at a query: the cosines of its code with all rows' codes.
  struct Look {
    const QueryCodes* query;
    float* cosines;  // room for padded_rows() of them
  };
  std::size_t padded_rows() const noexcept;
  // At most kMostLooks, which read the codes once for all.
  static constexpr std::size_t kMostLooks = DPCACHE_NIBBLES != 0 ? 48 : 1;
  void cosines(std::span<const Look> looks) const noexcept;
  // Of the first `rows` rows, that of the largest cosine.
  std::size_t likeliest(const float* cosines, std::size_t rows) const noexcept;

  // What rules rows out.
  struct Bounds {
    struct Angle {  // that a code may have to the query's code, beside its own to its key
      float cosine = 1.0F;
      float sine = 0.0F;
    };
#if DPCACHE_NIBBLES
    Angle first;  // for both looks
    Angle second;
    float slack = 0.0F;
#endif
    float least = -1.0F;  // cosine of a row that is not ruled out by the first look
  };
  // For keys whose canonical similarity may be `similarity` or more. `margin`: of the snap, see
  // numerics.h. False: nothing can be ruled out.
  bool bounds(const QueryCodes& query, float similarity, float margin, Bounds& out) const noexcept;
#if DPCACHE_NIBBLES
  // Which of the 64 rows of a block may have such keys, by the first look: bit by bit. Rows behind
  // rows() may be among them.
  std::uint64_t candidates(const float* cosines, std::size_t block,
                           const Bounds& bounds) const noexcept;
  // The second look, at no more than 64 rows: moves those that may have such keys to the front, in
  // order, and tells how many they are.
  std::size_t keep_candidates(const QueryCodes& query, std::span<std::uint32_t> rows,
                              const Bounds& bounds) const noexcept;
  // Before a second look at row `r`.
  void fetch(std::size_t r) const noexcept {
    const std::int8_t* code = bytes_.data() + r * length_;
    for (std::size_t i = 0; i < length_; i += 64) __builtin_prefetch(code + i);
  }
#endif

 private:
  // What goes with the codes of one kind, padded to whole blocks.
  struct Rows {
    AlignedFloats inverse;   // 1 / length of the code
    double most_sine = 0.0;  // of an angle between code and key
#if DPCACHE_NIBBLES
    AlignedFloats sine;  // of this angle, or more
#endif

    void resize(std::size_t rows);
#if DPCACHE_NIBBLES
    void reserve(std::size_t rows);
#endif
    // `more`: to be added to the sine.
    void put(std::size_t r, const kernels::Quantised& code, double more);
  };
  static float lowest(const Bounds::Angle& angle, const Rows& rows) noexcept;
  static bool bound(const QueryCodes::Code& code, double cosine, const Rows& rows,
                    Bounds::Angle& out) noexcept;
  bool grow(std::size_t room);

  std::size_t length_;
  std::size_t rows_ = 0;
  bool all_unit_ = true;
  Probe probe_;
  std::vector<std::int8_t, AlignedAllocator<std::int8_t>> bytes_;  // (rows, length)
  Rows byte_rows_;
  std::vector<std::int16_t> shorts_;  // the writer's own room
#if DPCACHE_NIBBLES
  // Of each block, for each 4 components, two lines of 64 bytes: in the lower nibbles rows 0 to 15,
  // in the upper ones 16 to 31, four bytes a row; then rows 32 to 63. A nibble n
  // stands for n - 7.5.
  std::vector<std::uint8_t, AlignedAllocator<std::uint8_t>> nibbles_;
  Rows nibble_rows_;
  struct NibblePlace;
  void write_nibbles(std::size_t r, const float* key, double more);
  Rotation rotation_;
  std::vector<std::uint8_t> row_;
  AlignedFloats rotated_;
  AlignedFloats room_;
#endif
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_CODES_H_
