// The loops over codes, one source for every instruction set. Sums are of integers, and exact.
#ifndef DPCACHE_SRC_KERNELS_CODES_H_
#define DPCACHE_SRC_KERNELS_CODES_H_

#include <cstddef>
#include <cstdint>
#include <span>

// WebAssembly has no products of bytes, and waits for each byte of its own.
#if defined(__EMSCRIPTEN__)
#define DPCACHE_NIBBLES 0
#else
#define DPCACHE_NIBBLES 1
#endif

namespace dpcache::kernels {

// Codes of four bits stand in blocks of so many rows.
inline constexpr std::size_t kBlockRows = 64;

// One round of the rotation in rotation.h: signs, Hadamard transforms of the first and the last
// `block` components (a power of two), a transposition.
void mix(const std::uint32_t* signs, std::size_t length, std::size_t block, float scale, float* x,
         float* room) noexcept;

float largest_magnitude(const float* x, std::size_t length) noexcept;

struct Quantised {
  std::int64_t squares;  // sum of the codes'
  double missed;         // sum of the squares of what x is more than step * code
};
// Writes the integers nearest to x / step, at most `most`.
Quantised quantise(const float* x, std::size_t length, float step, float most,
                   std::int16_t* codes) noexcept;
// Writes numbers n from 0 to 15 for the odd multiples 2n - 15 of half a step, which are the codes.
Quantised quantise(const float* x, std::size_t length, float step, std::uint8_t* nibbles) noexcept;

// A query's code of bytes, and where its cosines go.
struct ByteQuery {
  const std::int8_t* code;
  std::int32_t total;  // sum of its numbers
  float scale;         // 1 / its length
  float* out;          // out[r] for each row
};
// The cosines of the codes of some queries with the codes of four bits of `blocks` blocks, which
// are read once for all. `length` of all codes; the layout of a block stands in codes.h.
void nibble_cosines(std::span<const ByteQuery> queries, std::size_t length,
                    const std::uint8_t* codes, std::size_t blocks, const float* inverse) noexcept;

// The cosines of a query of 16 bits with `count` rows of bytes.
void byte_cosines(const std::int16_t* query, std::size_t length, float scale,
                  const std::int8_t* codes, std::size_t count, const float* inverse,
                  float* out) noexcept;

// The same for the rows that are named.
void byte_cosines_at(const std::int16_t* query, std::size_t length, float scale,
                     const std::int8_t* codes, const std::uint32_t* rows, std::size_t count,
                     const float* inverse, float* out) noexcept;

// An estimate of the cosine of a vector and a code by some of their components, `length` of them.
float cosine_of_parts(const float* x, const std::int8_t* code, std::size_t length) noexcept;

// Which of 64 numbers are not below `least`, bit by bit.
std::uint64_t at_least(const float* x, float least) noexcept;

// The index of the largest of `count` (a multiple of 16) numbers; the first of equal ones.
std::size_t largest(const float* x, std::size_t count) noexcept;

// Which of 64 rows cannot be told from the best: bit i is set unless
// cosines[i] < cosine * cos(angle_i) - sine * sin(angle_i) - slack, or cosines[i] < least, which
// must be below all of these.
struct Limits {
  float cosine;
  float sine;
  float slack;
  float least;
};
std::uint64_t candidates(const float* cosines, const float* sines, const Limits& limits) noexcept;

}  // namespace dpcache::kernels

#endif  // DPCACHE_SRC_KERNELS_CODES_H_
