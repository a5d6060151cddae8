// Kernels that find the nearest keys of many queries, with the CPU's bits.
//
// Why. A canonical score is a chain of float additions in one order: 16 partial sums, then a tree
// 8-4-2-1. Half a warp does that as it is, a lane a partial sum, so that a GPU gives the same bits.
// It costs two instructions for each product, where tensor cores multiply and add thousands of bytes
// in one. They cannot keep the order, but sums of integers have none. So, as on the CPU, codes of
// eight bits rule rows out, and the canonical score decides among the rest. No matrix of queries by
// rows is ever written: the first look keeps one figure for 128 rows, the second a list of k rows.
//
// The bound. A key k is a step times a code, u, and what is left: |k - u| <= a. So is a query q,
// with |q - v| <= b. Then
//   |q.k - v.u| = |(q - v).u + q.(k - u)| <= b (|k| + a) + |q| a <= 1.01 (a + b) + a b,
// as no vector that is coded is longer than 1.01; those that are, or are much shorter, have the
// error kNoBound. The canonical score misses q.k by at most (stride / 16 + 5) roundings of
// |q| |k| <= 1.02, which is less than 0.6 of the snap's margin. Scores that snap to the same 1, or -1,
// are up to 1.6 margins apart; two margins in each bound keep them together (0.6 + 0.6 + 1.6 < 2 + 2;
// and against a score that has been snapped already, 0.6 + 1 < 2). v.u itself is an exact integer
// times two steps, in a few roundings. bound_error() is the sum of all, and rounded up.
//
// CPU reference. What search.cc of core does, with dots() of kernels.cc: score, snap, compare by
// score, then by row. The tests hold every kernel to plain loops (tests/cuda).
//
// Order of the file: comparing, half warps, lists of the best; the scan; codes; the first look,
// what it rules out, the second look; merging; the launcher.
//
// Compiled by nvcc, or by a C++ compiler behind a header that has the same names (for tests without
// a GPU). Fused multiply-adds are off for all of it (--fmad=false), and __fmul_rn and __fadd_rn say
// so where bits depend on it.
#ifndef DPCACHE_SERVER_CUDA_KERNELS_CUH_
#define DPCACHE_SERVER_CUDA_KERNELS_CUH_

#include <cstdint>

#include "cuda/work.h"

// Loops over registers must have no index left when they run; loops over memory need not grow.
#if defined(__CUDACC__)
#define DPCACHE_UNROLL _Pragma("unroll")
#define DPCACHE_ROLL _Pragma("unroll 1")
#else
#define DPCACHE_UNROLL
#define DPCACHE_ROLL
#endif

// A program may hold these kernels more than once, the tests do: their names must differ.
#if !defined(DPCACHE_WHERE)
#if defined(__CUDACC__)
#define DPCACHE_WHERE on_device
#else
#define DPCACHE_WHERE on_host
#endif
#endif

// Threads of every block. Tests that need many blocks take fewer, at least kMostTop.
#if !defined(DPCACHE_BLOCK_THREADS)
#define DPCACHE_BLOCK_THREADS 256
#endif

namespace dpcache::cuda::inline DPCACHE_WHERE {

constexpr unsigned kThreads = DPCACHE_BLOCK_THREADS;
constexpr unsigned kWarps = kThreads / 32;
constexpr unsigned kHalves = kThreads / 16;  // half warps, each of which scores a row
static_assert(kThreads % 32 == 0 && kThreads >= kMostTop);

// ------------------------------------------------------------------------------------- comparing

constexpr float kMissing = -4.0F;  // below every score
constexpr std::uint32_t kNoRow32 = 0xFFFF'FFFFU;
constexpr float kNoBound = 1e15F;  // its square is finite, so that nothing here is a NaN

__device__ inline float snapped(float score, float margin) {
  if (score >= 1.0F - margin) return 1.0F;
  if (score <= margin - 1.0F) return -1.0F;
  return score;
}

__device__ inline bool is_better(Entry a, Entry b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

__device__ inline bool counts(const std::uint32_t* skip, std::uint32_t row) {
  return skip == nullptr || (skip[row / 32] >> (row % 32) & 1U) == 0;
}

// ------------------------------------------------------------------------------------ half warps

// 16 lanes that take one row together. The other half of the warp may be somewhere else.
struct Half {
  unsigned lane;   // 0 to 15
  unsigned index;  // in the block
  unsigned mask;   // of its lanes in the warp

  __device__ static Half here() {
    const unsigned half = threadIdx.x / 16;
    return {threadIdx.x % 16, half, half % 2 == 0 ? 0x0000'FFFFU : 0xFFFF'0000U};
  }

  // The tree 8-4-2-1 over the lanes' partial sums, in all lanes: lane l adds that of l xor 8, and so
  // on. A sum does not depend on which of its two terms comes first.
  __device__ float tree(float sum) const {
    for (unsigned width = 8; width != 0; width /= 2) {
      sum = __fadd_rn(sum, __shfl_xor_sync(mask, sum, static_cast<int>(width), 16));
    }
    return sum;
  }
  __device__ int total(int sum) const {
    for (unsigned width = 8; width != 0; width /= 2) {
      sum += __shfl_xor_sync(mask, sum, static_cast<int>(width), 16);
    }
    return sum;
  }
  template <class T>
  __device__ T from(T value, unsigned source) const {
    return __shfl_sync(mask, value, static_cast<int>(source), 16);
  }
  template <class T>
  __device__ T from_below(T value) const {
    return __shfl_up_sync(mask, value, 1, 16);
  }
};

// The canonical score of one pair. All lanes have it.
__device__ inline float canonical_score(const Half& half, const float* query, const float* key,
                                        std::uint32_t stride) {
  float sum = 0.0F;
  for (std::uint32_t i = half.lane; i < stride; i += 16) {
    sum = __fadd_rn(sum, __fmul_rn(query[i], key[i]));
  }
  return half.tree(sum);
}

// ------------------------------------------------------------------------------ lists of the best

// The best entries so far, best first, spread over a half warp: entry i is in lane i % 16, in its
// register i / 16. A new one pushes those behind it along by one shuffle.
template <unsigned kSlots>
struct TopList {
  Entry entries[kSlots];
  Entry last;  // entry k - 1, in all lanes
  unsigned k;

  __device__ void clear(unsigned wanted) {
    for (unsigned slot = 0; slot < kSlots; ++slot) entries[slot] = {kNoRow32, kMissing};
    last = {kNoRow32, kMissing};
    k = wanted;
  }

  // All lanes of the half offer the same entry.
  __device__ void offer(const Half& half, Entry entry) {
    if (!is_better(entry, last)) return;
    // From the last register to the first, as each needs the one before it as it was.
    for (unsigned slot = kSlots; slot-- > 0;) {
      Entry before = {half.from_below(entries[slot].row), half.from_below(entries[slot].score)};
      if (slot > 0) {
        const Entry carried = {half.from(entries[slot - 1].row, 15),
                               half.from(entries[slot - 1].score, 15)};
        if (half.lane == 0) before = carried;
      }
      const bool is_first = slot == 0 && half.lane == 0;
      const Entry pushed = is_first || is_better(before, entry) ? entry : before;
      if (is_better(entry, entries[slot])) entries[slot] = pushed;
    }
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const Entry here = {half.from(entries[slot].row, (k - 1) % 16),
                          half.from(entries[slot].score, (k - 1) % 16)};
      if (slot == (k - 1) / 16) last = here;
    }
  }

  __device__ void offer_all(const Half& half, const Entry* list) {
    for (unsigned i = 0; i < k; ++i) {
      if (!is_better(list[i], last)) return;  // nor is any behind it
      offer(half, list[i]);
    }
  }

  __device__ void write(const Half& half, Entry* out) const {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const unsigned i = slot * 16 + half.lane;
      if (i < k) out[i] = entries[slot];
    }
  }
};

// A block's lists of one query, to be made one.
template <unsigned kSlots>
struct BlockLists {
  Entry entries[kHalves][kSlots * 16];

  // To be called by the whole block, with __syncthreads() before it is used again.
  __device__ void merge(const Half& half, const TopList<kSlots>& list, Entry* out) {
    list.write(half, entries[half.index]);
    __syncthreads();
    if (half.index != 0) return;
    TopList<kSlots> all = list;
    for (unsigned other = 1; other < kHalves; ++other) all.offer_all(half, entries[other]);
    all.write(half, out);
  }
};

// -------------------------------------------------------------------------------------- the scan

// Whether a search by codes is to be answered by a scan after all. Known on the device alone, so that
// the host need not wait: both ways are launched, and one of them returns at once.
__device__ inline bool falls_back(const SearchWork& work) {
  const std::uint64_t all = (std::uint64_t{work.rows.count} + kChunkRows - 1) / kChunkRows *
                            std::uint64_t{work.queries.count};
  return *work.live > all / work.scan_from;
}

// Every row, in canonical order: kQueries queries by 4 rows at a time in the registers of a half
// warp, so that each load serves several products. Block (tile, part) takes the queries of a tile
// and a part of the rows; tiles are next to each other, to find rows in the cache.
template <unsigned kQueries, unsigned kSlots>
__global__ void __launch_bounds__(kThreads) scan(SearchWork work) {
  constexpr unsigned kRows = 4;
  if (work.way == Way::codes && !falls_back(work)) return;
  const Half half = Half::here();
  const std::uint32_t stride = work.rows.stride;
  const std::uint32_t tiles = (work.queries.count + kQueries - 1) / kQueries;
  const std::uint32_t first_query = blockIdx.x % tiles * kQueries;
  const std::uint32_t part = blockIdx.x / tiles;
  // Whole rounds of the block, so that only the last part has fewer.
  constexpr std::uint64_t kRound = std::uint64_t{kHalves} * kRows;
  const std::uint64_t rounds = (work.rows.count + kRound - 1) / kRound;
  const std::uint64_t begin = rounds * part / work.parts * kRound;
  const std::uint64_t end_of_part = rounds * (part + 1) / work.parts * kRound;
  const std::uint64_t end = end_of_part < work.rows.count ? end_of_part : work.rows.count;

  TopList<kSlots> lists[kQueries];
  const float* queries[kQueries];
  for (unsigned q = 0; q < kQueries; ++q) {
    lists[q].clear(work.k);
    const std::uint32_t query =
        first_query + q < work.queries.count ? first_query + q : work.queries.count - 1;
    queries[q] = work.queries.keys + std::size_t{query} * stride;
  }
  for (std::uint64_t row = begin + std::uint64_t{half.index} * kRows; row < end; row += kRound) {
    const float* keys[kRows];
    for (unsigned r = 0; r < kRows; ++r) {
      const std::uint64_t there = row + r < end ? row + r : end - 1;
      keys[r] = work.rows.keys + there * stride;
    }
    float sums[kQueries][kRows] = {};
    for (std::uint32_t i = half.lane; i < stride; i += 16) {
      float key[kRows];
      for (unsigned r = 0; r < kRows; ++r) key[r] = keys[r][i];
      for (unsigned q = 0; q < kQueries; ++q) {
        const float query = queries[q][i];
        for (unsigned r = 0; r < kRows; ++r) {
          sums[q][r] = __fadd_rn(sums[q][r], __fmul_rn(query, key[r]));
        }
      }
    }
    DPCACHE_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
      const auto number = static_cast<std::uint32_t>(row + r);
      const bool is_row = row + r < end && counts(work.skip, number);
      DPCACHE_UNROLL
      for (unsigned q = 0; q < kQueries; ++q) {
        const float score = snapped(half.tree(sums[q][r]), work.margin);
        if (is_row) lists[q].offer(half, {number, score});
      }
    }
  }
  __shared__ BlockLists<kSlots> shared;
  DPCACHE_UNROLL
  for (unsigned q = 0; q < kQueries; ++q) {
    const std::uint32_t query = first_query + q;
    if (query < work.queries.count) {
      __syncthreads();
      shared.merge(half, lists[q],
                   work.partial + (std::size_t{query} * work.parts + part) * work.k);
    }
  }
}

// ----------------------------------------------------------------------------------------- codes

__device__ inline float warp_most(float x) {
  for (int width = 16; width != 0; width /= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xFFFF'FFFFU, x, width, 32));
  }
  return x;
}
__device__ inline float warp_sum(float x) {
  for (int width = 16; width != 0; width /= 2) x += __shfl_xor_sync(0xFFFF'FFFFU, x, width, 32);
  return x;
}

// The codes of vectors [first, last), a warp a vector.
__global__ void __launch_bounds__(kThreads) encode(EncodeWork work) {
  const Vectors& vectors = work.vectors;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t row = work.first + std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (row >= work.last) return;
  const float* key = vectors.keys + row * vectors.stride;
  float most = 0.0F;
  float squares = 0.0F;
  for (std::uint32_t i = lane; i < vectors.stride; i += 32) {
    most = fmaxf(most, fabsf(key[i]));
    squares += key[i] * key[i];
  }
  most = warp_most(most);
  squares = warp_sum(squares);
  // Longer than 1.01 or much shorter: nothing is known. The sum misses by 2^-12 at most.
  const bool is_coded = squares > 0.985F && squares < 1.015F;
  const float step = is_coded ? most / 127.0F : 0.0F;
  const auto length = static_cast<std::uint32_t>(code_stride(vectors.stride));
  std::int8_t* codes = vectors.codes + row * length;
  float missed = 0.0F;
  for (std::uint32_t i = lane; i < length; i += 32) {
    float code = 0.0F;
    if (i < vectors.stride && is_coded) {
      code = rintf(key[i] / step);  // at most 127: the quotient's rounding does not reach 127.5
      const float rest = key[i] - step * code;
      missed += rest * rest;
    }
    codes[i] = static_cast<std::int8_t>(static_cast<int>(code));
  }
  missed = warp_sum(missed);
  if (lane != 0) return;
  vectors.steps[row] = step;
  // 2^-10 for the roundings of the sum and its root, 2^-20 for those of each rest, which are below
  // 2^-24 of the key's component and of the step.
  vectors.errors[row] = is_coded ? sqrtf(missed) * (1.0F + 0x1p-10F) + 0x1p-20F : kNoBound;
}

// The largest error of each chunk that has rows of [first, last), a warp a chunk.
__global__ void __launch_bounds__(kThreads) find_chunk_errors(EncodeWork work) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t chunk =
      work.first / kChunkRows + std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  const std::uint64_t begin = chunk * kChunkRows;
  if (begin >= work.last) return;
  float most = 0.0F;
  for (std::uint64_t row = begin + lane; row < begin + kChunkRows; row += 32) {
    if (row < work.vectors.count) most = fmaxf(most, work.vectors.errors[row]);
  }
  most = warp_most(most);
  if (lane == 0) work.vectors.chunk_errors[chunk] = most;
}

// How far a canonical score may be from the codes' product. See the file's head; 2^-19 for the
// roundings of the product, of this sum and of a comparison with it.
__device__ inline float bound_error(float key_error, float query_error, float margin) {
  return 1.02F * (key_error + query_error) + key_error * query_error + 2.0F * margin +
         0x1p-19F;
}

// -------------------------------------------------------------------------------- the first look

#if defined(__CUDACC__)
// sums (16, 8) += rows (16, 32) x queries (8, 32), of signed bytes, by a whole warp.
__device__ inline void multiply_bytes(int (&sums)[4], unsigned row0, unsigned row8, unsigned row0_more,
                                      unsigned row8_more, unsigned query, unsigned query_more) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(row0), "r"(row8), "r"(row0_more), "r"(row8_more), "r"(query), "r"(query_more));
#else
  // Four of a quarter of the size, whose lanes hold the same parts.
  const auto quarter = [](int& a, int& b, unsigned rows, unsigned queries) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+r"(a), "+r"(b)
        : "r"(rows), "r"(queries));
  };
  quarter(sums[0], sums[1], row0, query);
  quarter(sums[0], sums[1], row0_more, query_more);
  quarter(sums[2], sums[3], row8, query);
  quarter(sums[2], sums[3], row8_more, query_more);
#endif
}
#endif

__device__ inline uint4 load_16_bytes(const std::int8_t* codes) {
  return *reinterpret_cast<const uint4*>(codes);
}

// The largest product of codes, of each query with each chunk of rows. A warp takes a chunk and
// 8 * kTiles queries.
//
// A matrix instruction wants bytes 4 t to 4 t + 3 and 16 + 4 t to 16 + 4 t + 3 of each 32 in lane t of
// four. Which bytes these are does not matter as long as rows and queries agree, since sums have no
// order: so each lane loads 16 bytes in a row, which serve two instructions, and four lanes read 64
// bytes in a row. No shared memory: what a warp loads of the rows it alone needs, and the queries,
// which all warps need, stay in the first cache.
template <unsigned kTiles>
__global__ void __launch_bounds__(kThreads, 2) find_likely_chunks(SearchWork work) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *work.live = 0;
  const std::uint32_t all_chunks = (work.rows.count + kChunkRows - 1) / kChunkRows;
  const std::uint32_t tiles = (work.queries.count + kTiles * 8 - 1) / (kTiles * 8);
  const std::uint32_t first_query = blockIdx.x % tiles * kTiles * 8;
  const std::uint32_t chunk = blockIdx.x / tiles * kWarps + threadIdx.x / 32;
  if (chunk >= all_chunks) return;
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = lane / 4;    // the row and the query whose bytes this lane loads
  const unsigned quarter = lane % 4;  // which 16 of 64 bytes; and the columns of its sums
  const auto length = static_cast<std::uint32_t>(code_stride(work.rows.stride));

  float most[kTiles][2];
  for (unsigned t = 0; t < kTiles; ++t) most[t][0] = most[t][1] = -kNoBound;
  // Both have room up to the next whole chunk or tile; what is there beyond the last counts nowhere.
  const std::int8_t* query_codes =
      work.queries.codes + (std::size_t{first_query} + group) * length + quarter * 16;
  DPCACHE_ROLL
  for (unsigned part = 0; part < kChunkRows; part += 32) {
    const std::uint32_t first_row = chunk * kChunkRows + part;
    if (first_row >= work.rows.count) break;
    const std::int8_t* row_codes =
        work.rows.codes + (std::size_t{first_row} + group) * length + quarter * 16;
    int sums[2][kTiles][4] = {};
    DPCACHE_ROLL
    for (std::uint32_t i = 0; i < length; i += kCodeStep) {
      uint4 rows[2][2];  // rows `group` and `group + 8` of two times 16
      DPCACHE_UNROLL
      for (unsigned m = 0; m < 2; ++m) {
        for (unsigned h = 0; h < 2; ++h) {
          rows[m][h] = load_16_bytes(row_codes + std::size_t{m * 16 + h * 8} * length + i);
        }
      }
      DPCACHE_UNROLL
      for (unsigned t = 0; t < kTiles; ++t) {
        const uint4 queries = load_16_bytes(query_codes + std::size_t{t * 8} * length + i);
        for (unsigned m = 0; m < 2; ++m) {
          multiply_bytes(sums[m][t], rows[m][0].x, rows[m][1].x, rows[m][0].y, rows[m][1].y,
                         queries.x, queries.y);
          multiply_bytes(sums[m][t], rows[m][0].z, rows[m][1].z, rows[m][0].w, rows[m][1].w,
                         queries.z, queries.w);
        }
      }
    }
    for (unsigned m = 0; m < 2; ++m) {
      for (unsigned h = 0; h < 2; ++h) {
        const std::uint32_t row = first_row + m * 16 + h * 8 + group;
        if (row >= work.rows.count || !counts(work.skip, row)) continue;
        const float step = work.rows.steps[row];
        for (unsigned t = 0; t < kTiles; ++t) {
          for (unsigned c = 0; c < 2; ++c) {
            most[t][c] = fmaxf(most[t][c], static_cast<float>(sums[m][t][h * 2 + c]) * step);
          }
        }
      }
    }
  }
  for (unsigned t = 0; t < kTiles; ++t) {
    for (unsigned c = 0; c < 2; ++c) {
      // Lanes of one quarter have the same queries and different rows.
      for (int width = 4; width != 32; width *= 2) {
        most[t][c] = fmaxf(most[t][c], __shfl_xor_sync(0xFFFF'FFFFU, most[t][c], width, 32));
      }
      const std::uint32_t query = first_query + t * 8 + quarter * 2 + c;
      if (group == 0 && query < work.queries.count) {
        const bool has_rows = most[t][c] > -kNoBound;
        work.best[std::size_t{query} * all_chunks + chunk] =
            has_rows ? most[t][c] * work.queries.steps[query] : -kNoBound;
      }
    }
  }
}

// ---------------------------------------------------------------------------- what it rules out

// Whether a chunk may have rows of the answer. `best`: -kNoBound if none of its rows counts.
__device__ inline bool is_live(float best, float error, float least) {
  return best > -kNoBound && best + error >= least;
}

// Below what a row of each query's answer cannot score, a block a query. Each thread has the best
// lower bound of the chunks that it looks at, so of k threads' k rows none scores less than the k-th
// best bound.
__global__ void __launch_bounds__(kThreads) find_least(SearchWork work) {
  const std::uint32_t all_chunks = (work.rows.count + kChunkRows - 1) / kChunkRows;
  const std::uint32_t query = blockIdx.x;
  const float* best = work.best + std::size_t{query} * all_chunks;
  const float query_error = work.queries.errors[query];
  float bound = -kNoBound;
  for (std::uint32_t chunk = threadIdx.x; chunk < all_chunks; chunk += kThreads) {
    if (!(best[chunk] > -kNoBound)) continue;
    const float error = bound_error(work.rows.chunk_errors[chunk], query_error, work.margin);
    bound = fmaxf(bound, best[chunk] - error);
  }
  __shared__ float bounds[kThreads];
  __shared__ float least;
  bounds[threadIdx.x] = bound;
  if (threadIdx.x == 0) least = -kNoBound;  // fewer than k chunks, and so of threads, tell nothing
  __syncthreads();
  const unsigned known = all_chunks < kThreads ? all_chunks : kThreads;
  if (threadIdx.x < known) {
    unsigned before = 0;  // this thread's place in the order
    for (unsigned other = 0; other < known; ++other) {
      const bool is_before =
          bounds[other] > bound || (bounds[other] == bound && other < threadIdx.x);
      before += is_before ? 1 : 0;
    }
    if (before == work.k - 1) least = bound;
  }
  __syncthreads();
  if (threadIdx.x == 0) work.least[query] = least;
  unsigned live = 0;
  for (std::uint32_t chunk = threadIdx.x; chunk < all_chunks; chunk += kThreads) {
    const float error = bound_error(work.rows.chunk_errors[chunk], query_error, work.margin);
    live += is_live(best[chunk], error, least) ? 1 : 0;
  }
  for (int width = 16; width != 0; width /= 2) {
    live += __shfl_xor_sync(0xFFFF'FFFFU, live, width, 32);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(work.live), live);
  }
}

// ------------------------------------------------------------------------------- the second look

// The product of two codes. All lanes have it.
__device__ inline int code_product(const Half& half, const std::int8_t* a, const std::int8_t* b,
                                   std::uint32_t length) {
  int sum = 0;
  for (std::uint32_t i = half.lane * 16; i < length; i += 16 * 16) {
    const uint4 x = load_16_bytes(a + i);
    const uint4 y = load_16_bytes(b + i);
    sum = __dp4a(static_cast<int>(x.x), static_cast<int>(y.x), sum);
    sum = __dp4a(static_cast<int>(x.y), static_cast<int>(y.y), sum);
    sum = __dp4a(static_cast<int>(x.z), static_cast<int>(y.z), sum);
    sum = __dp4a(static_cast<int>(x.w), static_cast<int>(y.w), sum);
  }
  return half.total(sum);
}

// Looks into the chunks that are left, row by row: at the codes once more, now with the row's own
// error, and then at the keys. Block (query, part); each warp finds the live ones of 32 chunks, and
// its halves take turns at their rows.
template <unsigned kSlots>
__global__ void __launch_bounds__(kThreads) settle(SearchWork work) {
  if (falls_back(work)) return;
  const Half half = Half::here();
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t all_chunks = (work.rows.count + kChunkRows - 1) / kChunkRows;
  const std::uint32_t query = blockIdx.x / work.parts;
  const std::uint32_t part = blockIdx.x % work.parts;
  const auto length = static_cast<std::uint32_t>(code_stride(work.rows.stride));
  const float* best = work.best + std::size_t{query} * all_chunks;
  const float* query_key = work.queries.keys + std::size_t{query} * work.rows.stride;
  const std::int8_t* query_code = work.queries.codes + std::size_t{query} * length;
  const float query_error = work.queries.errors[query];
  const float query_step = work.queries.steps[query];
  const float first_least = work.least[query];
  float least = first_least;
  TopList<kSlots> list;
  list.clear(work.k);

  // Warps of all parts take turns at 32 chunks, so that neighbours that are live are shared out.
  const std::uint64_t stride = std::uint64_t{work.parts} * kWarps * 32;
  for (std::uint64_t begin = (std::uint64_t{part} * kWarps + threadIdx.x / 32) * 32;
       begin < all_chunks; begin += stride) {
    bool is_left = false;
    if (begin + lane < all_chunks) {
      const float error =
          bound_error(work.rows.chunk_errors[begin + lane], query_error, work.margin);
      is_left = is_live(best[begin + lane], error, first_least);
    }
    for (unsigned left = __ballot_sync(0xFFFF'FFFFU, is_left); left != 0; left &= left - 1) {
      const std::uint64_t chunk = begin + static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1;
      for (unsigned i = half.index % 2; i < kChunkRows; i += 2) {
        const std::uint64_t row = chunk * kChunkRows + i;
        if (row >= work.rows.count) break;
        const auto number = static_cast<std::uint32_t>(row);
        if (!counts(work.skip, number)) continue;
        const int product = code_product(half, query_code, work.rows.codes + row * length, length);
        const float cosine = static_cast<float>(product) * work.rows.steps[row] * query_step;
        const float error = bound_error(work.rows.errors[row], query_error, work.margin);
        if (cosine + error < least) continue;
        const float score = canonical_score(
            half, query_key, work.rows.keys + row * work.rows.stride, work.rows.stride);
        list.offer(half, {number, snapped(score, work.margin)});
        // k rows of its own score that much.
        if (list.last.row != kNoRow32) least = fmaxf(least, list.last.score);
      }
    }
  }
  __shared__ BlockLists<kSlots> shared;
  shared.merge(half, list, work.partial + (std::size_t{query} * work.parts + part) * work.k);
}

// --------------------------------------------------------------------------------------- merging

// The parts' lists of each query become its answer, a block a query.
template <unsigned kSlots>
__global__ void __launch_bounds__(kThreads) merge_parts(SearchWork work) {
  const Half half = Half::here();
  const std::uint32_t query = blockIdx.x;
  TopList<kSlots> list;
  list.clear(work.k);
  for (std::uint32_t part = half.index; part < work.parts; part += kHalves) {
    list.offer_all(half, work.partial + (std::size_t{query} * work.parts + part) * work.k);
  }
  __shared__ BlockLists<kSlots> shared;
  shared.merge(half, list, work.out + std::size_t{query} * work.k);
}

// --------------------------------------------------------------------------------------- launcher

// `launch(kernel, blocks, work)` runs a kernel with so many blocks of kThreads, after those before
// it. It may refuse; then the caller must take no answer.

template <class Launch>
void launch_encode(const EncodeWork& work, const Launch& launch) {
  const std::uint32_t count = work.last - work.first;
  if (count == 0) return;
  launch(encode, rounded_up(count, kWarps) / kWarps, work);
  if (work.vectors.chunk_errors == nullptr) return;
  const std::size_t touched = chunks(work.last) - work.first / kChunkRows;
  launch(find_chunk_errors, rounded_up(touched, kWarps) / kWarps, work);
}

// The first look at the queries, and what it rules out.
template <unsigned kTiles, class Launch>
void launch_first_look(const SearchWork& work, const Launch& launch) {
  const std::size_t tiles = rounded_up(work.queries.count, kTiles * 8) / (kTiles * 8);
  const std::size_t groups = rounded_up(chunks(work.rows.count), kWarps) / kWarps;
  launch(find_likely_chunks<kTiles>, tiles * groups, work);
  launch(find_least, work.queries.count, work);
}

template <unsigned kQueries, unsigned kSlots, class Launch>
void launch_looks(const SearchWork& work, const Launch& launch) {
  if (work.way == Way::codes) {
    launch(settle<kSlots>, std::size_t{work.queries.count} * work.parts, work);
  }
  const std::size_t tiles = rounded_up(work.queries.count, kQueries) / kQueries;
  launch(scan<kQueries, kSlots>, tiles * work.parts, work);
  launch(merge_parts<kSlots>, work.queries.count, work);
}

// rows.count, queries.count >= 1; 1 <= k <= kMostTop.
template <class Launch>
void launch_search(const SearchWork& work, const Launch& launch) {
  if (work.way == Way::codes) {
    launch_encode(EncodeWork{work.queries, 0, work.queries.count}, launch);
    // Wide tiles read the rows less often, narrow ones multiply fewer zeros.
    if (work.queries.count <= 8) {
      launch_first_look<1>(work, launch);
    } else if (work.queries.count <= 32) {
      launch_first_look<4>(work, launch);
    } else {
      launch_first_look<8>(work, launch);
    }
  }
  if (work.k > 16) {
    launch_looks<2, 4>(work, launch);
  } else if (work.queries.count == 1) {
    launch_looks<1, 1>(work, launch);
  } else {
    launch_looks<8, 1>(work, launch);
  }
}

}  // namespace dpcache::cuda::inline DPCACHE_WHERE

#endif  // DPCACHE_SERVER_CUDA_KERNELS_CUH_
