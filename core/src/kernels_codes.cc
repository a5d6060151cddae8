// Products of small integers, compiled once for each instruction set and chosen at run time.
#include "kernels_codes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "numerics.h"

// After our own headers, which see nothing of Highway.
#include "kernels_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_codes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dpcache::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Plain loops, which the compiler turns into the vectors of each set.

float LargestMagnitude(const float* HWY_RESTRICT x, size_t length) {
  // Without their signs floats are in the order of their bits.
  uint32_t most = 0;
  for (size_t i = 0; i < length; ++i) {
    uint32_t bits;
    hwy::CopySameSize(x + i, &bits);
    bits &= 0x7FFFFFFFU;
    most = bits > most ? bits : most;
  }
  float magnitude;
  hwy::CopySameSize(&most, &magnitude);
  return magnitude;
}

HWY_INLINE double SumOf(const double* sums) {
  double sum = 0.0;
  for (size_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  return sum;
}

Quantised Quantise(const float* HWY_RESTRICT x, size_t length, float step, float most,
                   int16_t* HWY_RESTRICT codes) {
  constexpr float kShift = 12582912.0F;  // 1.5 x 2^23: adding it rounds to an integer
  const float inverse = 1.0F / step;
  int64_t squares = 0;
  double missed[kLanes] = {};
  for (size_t i = 0; i < length; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      float code = x[i + lane] * inverse;
      code = code < most ? code : most;
      code = code > -most ? code : -most;
      code = code + kShift - kShift;
      const double left = static_cast<double>(x[i + lane] - code * step);
      missed[lane] += left * left;
      const auto integer = static_cast<int32_t>(code);
      codes[i + lane] = static_cast<int16_t>(integer);
      squares += int64_t{integer} * integer;
    }
  }
  return {squares, SumOf(missed)};
}

#if DPCACHE_NIBBLES

float CosineOfParts(const float* HWY_RESTRICT x, const int8_t* HWY_RESTRICT code, size_t length) {
  float dots[kLanes] = {};
  float squares[kLanes] = {};
  float code_squares[kLanes] = {};
  for (size_t i = 0; i < length; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto number = static_cast<float>(code[i + lane]);
      dots[lane] += x[i + lane] * number;
      squares[lane] += x[i + lane] * x[i + lane];
      code_squares[lane] += number * number;
    }
  }
  float dot = 0.0F;
  float square = 0.0F;
  float code_square = 0.0F;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    dot += dots[lane];
    square += squares[lane];
    code_square += code_squares[lane];
  }
  return dot / std::sqrt(square * code_square);
}

// A Hadamard transform over the lanes of `block` floats (a power of two), times `scale`.
HWY_INLINE void Transform(float* x, size_t block, float scale) {
  for (size_t half = kLanes; half < block; half *= 2) {
    for (size_t begin = 0; begin < block; begin += 2 * half) {
      float* HWY_RESTRICT a = x + begin;
      float* HWY_RESTRICT b = a + half;
      for (size_t i = 0; i < half; ++i) {
        const float sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
      }
    }
  }
  for (size_t i = 0; i < block; ++i) x[i] *= scale;
}

// room[lane * lines + line] = x[line * kLanes + lane], four by four.
HWY_INLINE void Transpose(const float* HWY_RESTRICT x, size_t lines, float* HWY_RESTRICT room) {
  size_t line = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::FixedTag<float, 4> d;
  for (; line + 4 <= lines; line += 4) {
    for (size_t lane = 0; lane < kLanes; lane += 4) {
      const float* from = x + line * kLanes + lane;
      const auto a = hn::LoadU(d, from);
      const auto b = hn::LoadU(d, from + kLanes);
      const auto c = hn::LoadU(d, from + 2 * kLanes);
      const auto e = hn::LoadU(d, from + 3 * kLanes);
      const auto lower_ab = hn::InterleaveLower(d, a, b);
      const auto lower_ce = hn::InterleaveLower(d, c, e);
      const auto upper_ab = hn::InterleaveUpper(d, a, b);
      const auto upper_ce = hn::InterleaveUpper(d, c, e);
      float* to = room + lane * lines + line;
      hn::StoreU(hn::ConcatLowerLower(d, lower_ce, lower_ab), d, to);
      hn::StoreU(hn::ConcatUpperUpper(d, lower_ce, lower_ab), d, to + lines);
      hn::StoreU(hn::ConcatLowerLower(d, upper_ce, upper_ab), d, to + 2 * lines);
      hn::StoreU(hn::ConcatUpperUpper(d, upper_ce, upper_ab), d, to + 3 * lines);
    }
  }
#endif
  for (; line < lines; ++line) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      room[lane * lines + line] = x[line * kLanes + lane];
    }
  }
}

void Mix(const uint32_t* HWY_RESTRICT signs, size_t length, size_t block, float scale,
         float* HWY_RESTRICT x, float* HWY_RESTRICT room) {
  for (size_t i = 0; i < length; ++i) {
    uint32_t bits;
    hwy::CopySameSize(x + i, &bits);
    bits ^= signs[i];
    hwy::CopySameSize(&bits, x + i);
  }
  Transform(x, block, scale);
  if (block != length) Transform(x + (length - block), block, scale);
  Transpose(x, length / kLanes, room);
  for (size_t i = 0; i < length; ++i) x[i] = room[i];
}

Quantised QuantiseNibbles(const float* HWY_RESTRICT x, size_t length, float step,
                          uint8_t* HWY_RESTRICT codes) {
  const float inverse = 1.0F / step;
  int32_t squares = 0;  // of at most 65,536 odd numbers up to 15
  double missed[kLanes] = {};
  for (size_t i = 0; i < length; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      float code = x[i + lane] * inverse + 8.0F;
      code = code > 0.0F ? code : 0.0F;
      code = code < 15.0F ? code : 15.0F;
      const auto nibble = static_cast<int32_t>(code);
      const double left =
          static_cast<double>(x[i + lane] - (static_cast<float>(nibble) - 7.5F) * step);
      missed[lane] += left * left;
      codes[i + lane] = static_cast<uint8_t>(nibble);
      squares += (2 * nibble - 15) * (2 * nibble - 15);
    }
  }
  return {squares, SumOf(missed)};
}
#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HWY_INLINE int32_t ByteDot(const int16_t* query, const int8_t* code, size_t length) {
  int32_t sum = 0;
  for (size_t i = 0; i < length; ++i) sum += query[i] * code[i];
  return sum;
}

#if DPCACHE_NIBBLES

uint64_t AtLeast(const float* x, float least) {
  uint64_t found = 0;
  for (size_t i = 0; i < kBlockRows; ++i) {
    if (!(x[i] < least)) found |= uint64_t{1} << i;
  }
  return found;
}

uint64_t Candidates(const float* cosines, const float* sines, const Limits& limits) {
  uint64_t found = 0;
  for (size_t i = 0; i < kBlockRows; ++i) {
    const float cos_angle = std::sqrt(1.0F - sines[i] * sines[i]);
    const float least = limits.cosine * cos_angle - limits.sine * sines[i] - limits.slack;
    if (!(cosines[i] < least)) found |= uint64_t{1} << i;
  }
  return found;
}

size_t Largest(const float* x, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    if (x[i] > x[best]) best = i;
  }
  return best;
}

#endif

#else

using F32 = hn::CappedTag<float, kLanes>;
using I32 = hn::RebindToSigned<F32>;
using I16 = hn::Repartition<int16_t, I32>;
using I8ForI16 = hn::Rebind<int8_t, I16>;

// Bytes as numbers of 16 bits. Highway's way is a load and a widening, which browsers' compilers do
// not join.
HWY_INLINE hn::Vec<I16> LoadWider(const int8_t* from) {
#if HWY_TARGET == HWY_WASM
  return hn::Vec<I16>{wasm_i16x8_load8x8(from)};
#else
  return hn::PromoteTo(I16(), hn::LoadU(I8ForI16(), from));
#endif
}

HWY_INLINE int32_t ByteDot(const int16_t* HWY_RESTRICT query, const int8_t* HWY_RESTRICT code,
                           size_t length) {
  const I32 d32;
  const I16 d16;
  constexpr size_t kN = hn::MaxLanes(I16());
  static_assert(kN <= 2 * kLanes);
  auto sum0 = hn::Zero(d32);
  auto sum1 = sum0;
  size_t i = 0;
  for (; i + 2 * kN <= length; i += 2 * kN) {
    const auto a = LoadWider(code + i);
    const auto b = LoadWider(code + i + kN);
    sum0 = hn::Add(sum0, hn::WidenMulPairwiseAdd(d32, a, hn::LoadU(d16, query + i)));
    sum1 = hn::Add(sum1, hn::WidenMulPairwiseAdd(d32, b, hn::LoadU(d16, query + i + kN)));
  }
  // Rows are padded to kLanes: half of two vectors can be left, or of one of 512 bits.
  if constexpr (2 * kN > kLanes) {
    for (; i < length; i += kN) {
      const size_t left = HWY_MIN(kN, length - i);
      const auto a = hn::PromoteTo(d16, hn::LoadN(I8ForI16(), code + i, left));
      sum0 = hn::Add(sum0, hn::WidenMulPairwiseAdd(d32, a, hn::LoadN(d16, query + i, left)));
    }
  }
  return hn::ReduceSum(d32, hn::Add(sum0, sum1));
}

#if DPCACHE_NIBBLES

HWY_INLINE uint64_t BitsOf(F32 d, hn::Mask<F32> mask) {
  // At most 16 lanes.
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  return bits[0] | uint64_t{bits[1]} << 8U;
}

uint64_t AtLeast(const float* HWY_RESTRICT x, float least) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, least);
  uint64_t found = 0;
  for (size_t i = 0; i < kBlockRows; i += lanes) {
    const auto mask = hn::Not(hn::Lt(hn::LoadU(d, x + i), wanted));
    if (!hn::AllFalse(d, mask)) found |= BitsOf(d, mask) << i;
  }
  return found;
}

uint64_t Candidates(const float* HWY_RESTRICT cosines, const float* HWY_RESTRICT sines,
                    const Limits& limits) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0F);
  const auto lowest = hn::Set(d, limits.least);
  uint64_t found = 0;
  for (size_t i = 0; i < kBlockRows; i += lanes) {
    const auto x = hn::LoadU(d, cosines + i);
    if (hn::AllTrue(d, hn::Lt(x, lowest))) continue;
    const auto s = hn::LoadU(d, sines + i);
    const auto c = hn::Sqrt(hn::Sub(one, hn::Mul(s, s)));
    const auto least =
        hn::Sub(hn::Sub(hn::Mul(hn::Set(d, limits.cosine), c), hn::Mul(hn::Set(d, limits.sine), s)),
                hn::Set(d, limits.slack));
    found |= BitsOf(d, hn::Not(hn::Lt(x, least))) << i;
  }
  return found;
}

size_t Largest(const float* HWY_RESTRICT x, size_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  auto most = hn::LoadU(d, x);
  for (size_t i = lanes; i < count; i += lanes) most = hn::Max(most, hn::LoadU(d, x + i));
  const float best = hn::ReduceMax(d, most);
  const auto wanted = hn::Set(d, best);
  for (size_t i = 0; i < count; i += lanes) {
    const intptr_t at = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), wanted));
    if (at >= 0) return i + static_cast<size_t>(at);
  }
  return 0;
}

#endif

#endif

void ByteCosines(const int16_t* query, size_t length, float scale, const int8_t* codes,
                 size_t count, const float* inverse, float* out) {
  for (size_t r = 0; r < count; ++r, codes += length) {
    out[r] = static_cast<float>(ByteDot(query, codes, length)) * (inverse[r] * scale);
  }
}

#if DPCACHE_NIBBLES

void ByteCosinesAt(const int16_t* query, size_t length, float scale, const int8_t* codes,
                   const uint32_t* rows, size_t count, const float* inverse, float* out) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t dot = ByteDot(query, codes + rows[i] * length, length);
    out[i] = static_cast<float>(dot) * (inverse[rows[i]] * scale);
  }
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSE2 || !HWY_ARCH_X86

// Plain loops, for sets without products of bytes.
void NibbleBlock(const ByteQuery& query, size_t length, const uint8_t* codes, const float* inverse,
                 size_t first) {
  for (size_t half = 0; half < 2; ++half) {
    int32_t low[kLanes] = {};
    int32_t high[kLanes] = {};
    for (size_t i = 0; i < length; i += 4) {
      const uint8_t* bytes = codes + (i / 4 * 2 + half) * kLanes * 4;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        for (size_t j = 0; j < 4; ++j) {
          const uint8_t byte = bytes[lane * 4 + j];
          low[lane] += (byte & 15) * query.code[i + j];
          high[lane] += (byte >> 4) * query.code[i + j];
        }
      }
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const size_t r = first + half * 2 * kLanes + lane;
      query.out[r] =
          static_cast<float>(2 * low[lane] - 15 * query.total) * (inverse[r] * query.scale);
      query.out[r + kLanes] = static_cast<float>(2 * high[lane] - 15 * query.total) *
                              (inverse[r + kLanes] * query.scale);
    }
  }
}

void NibbleCosines(const ByteQuery* queries, size_t count, size_t length, const uint8_t* codes,
                   size_t blocks, const float* inverse) {
  for (size_t block = 0; block < blocks; ++block, codes += length * kBlockRows / 2) {
    for (size_t q = 0; q < count; ++q) {
      NibbleBlock(queries[q], length, codes, inverse, block * kBlockRows);
    }
  }
}

#else

using U8 = hn::Repartition<uint8_t, I32>;
using I8 = hn::Repartition<int8_t, I32>;

HWY_INLINE hn::Vec<I8> Spread(const int8_t* four) {
  int32_t word;
  hwy::CopyBytes<4>(four, &word);
  return hn::BitCast(I8(), hn::Set(I32(), word));
}

HWY_INLINE void Finish(hn::Vec<I32> sum, hn::Vec<I32> bias, hn::Vec<F32> scale,
                       const float* inverse, float* out) {
  const F32 d;
  const auto dot = hn::ConvertTo(d, hn::Sub(hn::Add(sum, sum), bias));
  hn::StoreU(hn::Mul(dot, hn::Mul(hn::LoadU(d, inverse), scale)), d, out);
}

#if HWY_TARGET <= HWY_AVX3_DL

// The sums of kQueries queries with the rows of one block. All stay in registers: g++ 12 keeps them
// in memory if it meets a loop over them, which is why they nest.
template <size_t kQueries>
struct Sums {
  Sums<kQueries - 1> others;
  const int8_t* code;
  // Four products of bytes to a lane, added by one instruction: of whole bytes, which are 16 times
  // the upper nibble and the lower one, and of the lower ones.
  hn::Vec<I32> low_a, whole_a, low_b, whole_b;

  HWY_INLINE void Clear(const ByteQuery* queries) {
    others.Clear(queries);
    code = queries[kQueries - 1].code;
    low_a = whole_a = low_b = whole_b = hn::Zero(I32());
  }
  HWY_INLINE void Add(hn::Vec<U8> bytes_a, hn::Vec<U8> nibbles_a, hn::Vec<U8> bytes_b,
                      hn::Vec<U8> nibbles_b, size_t i) {
    others.Add(bytes_a, nibbles_a, bytes_b, nibbles_b, i);
    const auto four = Spread(code + i);
    low_a = hn::SumOfMulQuadAccumulate(I32(), nibbles_a, four, low_a);
    whole_a = hn::SumOfMulQuadAccumulate(I32(), bytes_a, four, whole_a);
    low_b = hn::SumOfMulQuadAccumulate(I32(), nibbles_b, four, low_b);
    whole_b = hn::SumOfMulQuadAccumulate(I32(), bytes_b, four, whole_b);
  }
  HWY_INLINE void Store(const ByteQuery* queries, const float* inverse, size_t first) const {
    others.Store(queries, inverse, first);
    const ByteQuery& query = queries[kQueries - 1];
    const auto bias = hn::Set(I32(), 15 * query.total);
    const auto scale = hn::Set(F32(), query.scale);
    float* out = query.out + first;
    Finish(low_a, bias, scale, inverse, out);
    Finish(hn::ShiftRight<4>(hn::Sub(whole_a, low_a)), bias, scale, inverse + kLanes, out + kLanes);
    Finish(low_b, bias, scale, inverse + 2 * kLanes, out + 2 * kLanes);
    Finish(hn::ShiftRight<4>(hn::Sub(whole_b, low_b)), bias, scale, inverse + 3 * kLanes,
           out + 3 * kLanes);
  }
};
template <>
struct Sums<0> {
  HWY_INLINE void Clear(const ByteQuery*) {}
  HWY_INLINE void Add(hn::Vec<U8>, hn::Vec<U8>, hn::Vec<U8>, hn::Vec<U8>, size_t) {}
  HWY_INLINE void Store(const ByteQuery*, const float*, size_t) const {}
};

template <size_t kQueries>
HWY_NOINLINE void NibbleTile(const ByteQuery* queries, size_t length,
                             const uint8_t* HWY_RESTRICT codes, const float* inverse,
                             size_t first) {
  const U8 d8;
  constexpr size_t kBytes = hn::MaxLanes(U8());
  static_assert(kBytes == kBlockRows);
  const auto mask = hn::Set(d8, 15);
  Sums<kQueries> sums;
  sums.Clear(queries);
  size_t i = 0;
  do {
    const auto a = hn::LoadU(d8, codes);
    const auto b = hn::LoadU(d8, codes + kBytes);
    sums.Add(a, hn::And(a, mask), b, hn::And(b, mask), i);
    codes += 2 * kBytes;
    i += 4;
  } while (i != length);
  sums.Store(queries, inverse, first);
}

void NibbleCosines(const ByteQuery* queries, size_t count, size_t length, const uint8_t* codes,
                   size_t blocks, const float* inverse) {
  for (size_t block = 0; block < blocks; ++block) {
    const size_t first = block * kBlockRows;
    size_t q = 0;
    for (; q + 6 <= count; q += 6)
      NibbleTile<6>(queries + q, length, codes, inverse + first, first);
    for (; q + 3 <= count; q += 3)
      NibbleTile<3>(queries + q, length, codes, inverse + first, first);
    for (; q < count; ++q) NibbleTile<1>(queries + q, length, codes, inverse + first, first);
    codes += length * kBlockRows / 2;
  }
}

#else

// Products of two bytes each add up to 16 bits (at most 2 x 15 x 127), then to 32.
struct Sums {
  hn::Vec<I32> low;
  hn::Vec<I32> high;

  HWY_INLINE void Add(hn::Vec<U8> bytes, hn::Vec<U8> mask, hn::Vec<I8> query) {
    const auto one = hn::Set(I16(), 1);
    const auto a = hn::SatWidenMulPairwiseAdd(I16(), hn::And(bytes, mask), query);
    const auto b = hn::SatWidenMulPairwiseAdd(I16(), hn::ShiftRight<4>(bytes), query);
    low = hn::Add(low, hn::WidenMulPairwiseAdd(I32(), a, one));
    high = hn::Add(high, hn::WidenMulPairwiseAdd(I32(), b, one));
  }
};

// Two vectors of each group, from one place in it on.
HWY_INLINE void NibblePart(const int8_t* HWY_RESTRICT query, size_t length,
                           const uint8_t* HWY_RESTRICT codes, hn::Vec<I32> bias, hn::Vec<F32> scale,
                           const float* inverse, float* out) {
  const U8 d8;
  constexpr size_t kBytes = hn::MaxLanes(U8());
  constexpr size_t kGroup = kBlockRows * 2;
  const auto mask = hn::Set(d8, 15);
  Sums a{hn::Zero(I32()), hn::Zero(I32())};
  Sums b = a;
  for (const int8_t* end = query + length; query != end; query += 4, codes += kGroup) {
    const auto q = Spread(query);
    a.Add(hn::LoadU(d8, codes), mask, q);
    b.Add(hn::LoadU(d8, codes + kBytes), mask, q);
  }
  constexpr size_t kRows = kBytes / 4;  // in a vector
  // The upper nibbles of 64 bytes are the 16 rows behind those of the lower ones.
  constexpr size_t kNext = kBytes == 64 ? 2 * kLanes : kRows;
  Finish(a.low, bias, scale, inverse, out);
  Finish(a.high, bias, scale, inverse + kLanes, out + kLanes);
  Finish(b.low, bias, scale, inverse + kNext, out + kNext);
  Finish(b.high, bias, scale, inverse + kNext + kLanes, out + kNext + kLanes);
}

void NibbleCosines(const ByteQuery* queries, size_t count, size_t length, const uint8_t* codes,
                   size_t blocks, const float* inverse) {
  constexpr size_t kBytes = hn::MaxLanes(U8());
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t q = 0; q < count; ++q) {
      const ByteQuery& query = queries[q];
      const auto bias = hn::Set(I32(), 15 * query.total);
      const auto scale = hn::Set(F32(), query.scale);
      // Shorter vectors go over the block several times; it stays in the first cache level.
      for (size_t at = 0; at < kBlockRows * 2; at += 2 * kBytes) {
        const size_t row =
            block * kBlockRows + at / (4 * kLanes) * 2 * kLanes + at % (4 * kLanes) / 4;
        NibblePart(query.code, length, codes + at, bias, scale, inverse + row, query.out + row);
      }
    }
    codes += length * kBlockRows / 2;
  }
}

#endif

#endif

#endif  // DPCACHE_NIBBLES

}  // namespace HWY_NAMESPACE
}  // namespace dpcache::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace dpcache::kernels {

#if DPCACHE_NIBBLES
HWY_EXPORT(Mix);
HWY_EXPORT(QuantiseNibbles);
HWY_EXPORT(NibbleCosines);
HWY_EXPORT(ByteCosinesAt);
HWY_EXPORT(Candidates);
HWY_EXPORT(Largest);
HWY_EXPORT(AtLeast);
HWY_EXPORT(CosineOfParts);

void mix(const std::uint32_t* signs, std::size_t length, std::size_t block, float scale, float* x,
         float* room) noexcept {
  HWY_DYNAMIC_DISPATCH(Mix)(signs, length, block, scale, x, room);
}
Quantised quantise(const float* x, std::size_t length, float step, std::uint8_t* nibbles) noexcept {
  return HWY_DYNAMIC_DISPATCH(QuantiseNibbles)(x, length, step, nibbles);
}
void nibble_cosines(std::span<const ByteQuery> queries, std::size_t length,
                    const std::uint8_t* codes, std::size_t blocks, const float* inverse) noexcept {
  HWY_DYNAMIC_DISPATCH(NibbleCosines)
  (queries.data(), queries.size(), length, codes, blocks, inverse);
}
void byte_cosines_at(const std::int16_t* query, std::size_t length, float scale,
                     const std::int8_t* codes, const std::uint32_t* rows, std::size_t count,
                     const float* inverse, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ByteCosinesAt)(query, length, scale, codes, rows, count, inverse, out);
}
std::uint64_t candidates(const float* cosines, const float* sines, const Limits& limits) noexcept {
  return HWY_DYNAMIC_DISPATCH(Candidates)(cosines, sines, limits);
}
float cosine_of_parts(const float* x, const std::int8_t* code, std::size_t length) noexcept {
  return HWY_DYNAMIC_DISPATCH(CosineOfParts)(x, code, length);
}
std::uint64_t at_least(const float* x, float least) noexcept {
  return HWY_DYNAMIC_DISPATCH(AtLeast)(x, least);
}
std::size_t largest(const float* x, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(Largest)(x, count);
}
#endif

HWY_EXPORT(LargestMagnitude);
HWY_EXPORT(Quantise);
HWY_EXPORT(ByteCosines);

float largest_magnitude(const float* x, std::size_t length) noexcept {
  return HWY_DYNAMIC_DISPATCH(LargestMagnitude)(x, length);
}
Quantised quantise(const float* x, std::size_t length, float step, float most,
                   std::int16_t* codes) noexcept {
  return HWY_DYNAMIC_DISPATCH(Quantise)(x, length, step, most, codes);
}
void byte_cosines(const std::int16_t* query, std::size_t length, float scale,
                  const std::int8_t* codes, std::size_t count, const float* inverse,
                  float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ByteCosines)(query, length, scale, codes, count, inverse, out);
}
}  // namespace dpcache::kernels

#endif  // HWY_ONCE
