// CUDA's grid of threads on the CPU: what the kernels' source needs to compile as plain C++ and
// run.
//
// Each thread of a block is a fiber, a stack of its own; blocks run one after another on the thread
// that launches them. A fiber runs until it must wait for others: at __syncthreads(), or at an
// exchange with lanes of its warp. So a block of 256 costs no thread switches, only jumps, and a
// launch gives the same result each time.
//
// The thread sanitizer is told of the fibers, and of no order between them but what barriers and
// exchanges make: two lanes that share memory without are a race that it reports. A wait that
// cannot end (a lane of the mask has left, or waits elsewhere) throws.
//
// Several threads may launch at a time. Only what the kernels use is here.
#ifndef DPCACHE_TESTS_CUDA_HOST_GRID_H_
#define DPCACHE_TESTS_CUDA_HOST_GRID_H_

#include <math.h>  // its global names are CUDA's too

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace dpcache::host_grid {

struct Index {
  unsigned x = 0;
};

// Of the fiber that runs on this thread.
struct Place {
  Index thread;
  Index block;
};
Place place() noexcept;

// Runs `body` for each thread of each block. std::logic_error: a wait that cannot end.
void run(unsigned blocks, unsigned threads, const std::function<void()>& body);

// Waits for all threads of the block that have not ended.
void wait_for_block() noexcept;

// Each lane of `mask` brings some bytes and gets those of all lanes. Returns `kLaneBytes` for each
// lane.
inline constexpr std::size_t kLaneBytes = 32;
const std::array<std::byte, 32 * kLaneBytes>& exchange(unsigned mask, const void* bytes,
                                                       std::size_t size) noexcept;
// The result of exchange() is no longer needed.
void exchanged() noexcept;

unsigned lane() noexcept;

// The value of another lane: `source` of the lanes, in segments of `width`.
template <class T>
T shuffle(unsigned mask, T value, unsigned source) noexcept {
  static_assert(sizeof(T) <= kLaneBytes && std::is_trivially_copyable_v<T>);
  const auto& all = exchange(mask, &value, sizeof value);
  T out = value;
  if ((mask >> source & 1U) != 0) {
    __builtin_memcpy(&out, all.data() + source * kLaneBytes, sizeof out);
  }
  exchanged();
  return out;
}

}  // namespace dpcache::host_grid

// NOLINTBEGIN(readability-identifier-naming): CUDA's names.
#define __device__
#define __global__ inline               // several files may have them
#define __shared__ static thread_local  // blocks of a thread run one after another
#define __launch_bounds__(...)
#define threadIdx (::dpcache::host_grid::place().thread)
#define blockIdx (::dpcache::host_grid::place().block)

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

inline void __syncthreads() {
  ::dpcache::host_grid::wait_for_block();
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width) {
  const unsigned lane = ::dpcache::host_grid::lane();
  const auto segment = static_cast<unsigned>(width);
  return ::dpcache::host_grid::shuffle(
      mask, value, lane / segment * segment + static_cast<unsigned>(source) % segment);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int /*width*/) {
  return ::dpcache::host_grid::shuffle(mask, value,
                                       ::dpcache::host_grid::lane() ^ static_cast<unsigned>(bits));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width) {
  const unsigned lane = ::dpcache::host_grid::lane();
  const unsigned in_segment = lane % static_cast<unsigned>(width);
  return ::dpcache::host_grid::shuffle(mask, value, in_segment < delta ? lane : lane - delta);
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
  const std::uint32_t mine = vote ? 1U : 0U;
  const auto& all = ::dpcache::host_grid::exchange(mask, &mine, sizeof mine);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint32_t theirs = 0;
    __builtin_memcpy(&theirs, all.data() + lane * ::dpcache::host_grid::kLaneBytes, sizeof theirs);
    if ((mask >> lane & 1U) != 0 && theirs != 0) votes |= 1U << lane;
  }
  ::dpcache::host_grid::exchanged();
  return votes;
}

// Compiled with -ffp-contract=off, as all of dpcache.
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __dp4a(int a, int b, int sum) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    sum += static_cast<std::int8_t>(static_cast<unsigned>(a) >> shift) *
           static_cast<std::int8_t>(static_cast<unsigned>(b) >> shift);
  }
  return sum;
}
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  return std::atomic_ref<unsigned long long>(*to).fetch_add(value, std::memory_order_relaxed);
}
// NOLINTEND(readability-identifier-naming)

namespace dpcache::cuda {

// sums (16, 8) += rows (16, 32) x queries (8, 32), as mma.m16n8k32 spreads them over a warp: lane l
// has bytes 4 (l % 4) on, and 16 bytes behind, of rows l / 4 and l / 4 + 8 and of query l / 4; and
// columns 2 (l % 4) and the next of these two rows' sums.
inline void multiply_bytes(int (&sums)[4], unsigned row0, unsigned row8, unsigned row0_more,
                           unsigned row8_more, unsigned query, unsigned query_more) {
  struct Fragments {
    std::uint32_t rows[2][2];  // [row 0 or 8][first or more]
    std::uint32_t queries[2];
  };
  const Fragments mine = {{{row0, row0_more}, {row8, row8_more}}, {query, query_more}};
  const auto& all = host_grid::exchange(0xFFFF'FFFFU, &mine, sizeof mine);
  const unsigned lane = host_grid::lane();
  const auto of = [&](unsigned other) {
    Fragments theirs;
    __builtin_memcpy(&theirs, all.data() + other * host_grid::kLaneBytes, sizeof theirs);
    return theirs;
  };
  for (unsigned h = 0; h < 2; ++h) {
    for (unsigned c = 0; c < 2; ++c) {
      for (unsigned quarter = 0; quarter < 4; ++quarter) {
        const Fragments row = of(lane / 4 * 4 + quarter);
        const Fragments column = of((lane % 4 * 2 + c) * 4 + quarter);
        for (unsigned more = 0; more < 2; ++more) {
          sums[h * 2 + c] = __dp4a(static_cast<int>(row.rows[h][more]),
                                   static_cast<int>(column.queries[more]), sums[h * 2 + c]);
        }
      }
    }
  }
  host_grid::exchanged();
}

}  // namespace dpcache::cuda

#endif  // DPCACHE_TESTS_CUDA_HOST_GRID_H_
