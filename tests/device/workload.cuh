// Kernels for measuring: keys of clusters, queries near them, and the rate of the matrix instruction.
// Compiled like cuda/kernels.cuh, after it.
#ifndef DPCACHE_TESTS_DEVICE_WORKLOAD_CUH_
#define DPCACHE_TESTS_DEVICE_WORKLOAD_CUH_

#include "cuda/kernels.cuh"
#include "device/workload.h"

namespace dpcache::cuda::inline DPCACHE_WHERE {

// About normal: eight uniform bytes.
__device__ inline float noise(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b + 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  x ^= x >> 31U;
  unsigned sum = 0;
  for (unsigned i = 0; i < 8; ++i) sum += static_cast<unsigned>(x >> 8 * i & 0xFFU);
  return (static_cast<float>(sum) - 1020.0F) / 209.0F;
}

// Vector i, in clusters of about four, of unit length; a warp a vector. Queries are vectors of the
// same clusters, moved a little (cosine about .96).
__global__ void __launch_bounds__(kThreads) make_vectors(MakeWork work) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t row = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (row >= work.count) return;
  // A query stands near a row that is spread over all of them.
  const std::uint64_t source =
      work.queries_of == 0 ? row : row * 0x9E3779B97F4A7C15ULL % work.queries_of;
  const std::uint64_t cluster = source / 4;
  float* out = work.out + row * work.stride;
  const auto part = [&](std::uint32_t i) {
    if (i >= work.dimension) return 0.0F;
    float x = noise(cluster, i) + 0.5F * noise(source + (1ULL << 40U), i);
    if (work.queries_of != 0) x += 0.3F * noise(row + (1ULL << 41U), i);
    return x;
  };
  float squares = 0.0F;
  for (std::uint32_t i = lane; i < work.stride; i += 32) squares += part(i) * part(i);
  const float scale = 1.0F / sqrtf(warp_sum(squares));
  for (std::uint32_t i = lane; i < work.stride; i += 32) out[i] = part(i) * scale;
}

// Multiplies what it has in registers, as often as it is told; eight sums, as one waits for itself.
__global__ void __launch_bounds__(kThreads) multiply_again(MultiplyWork work) {
  int sums[8][4] = {};
  const unsigned rows = threadIdx.x * 0x01010101U;
  const unsigned queries = blockIdx.x * 0x01010101U;
  for (std::uint32_t round = 0; round < work.rounds; ++round) {
    DPCACHE_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      multiply_bytes(sums[i], rows, rows + i, rows ^ i, rows - i, queries, queries + i);
    }
  }
  int sum = 0;
  for (unsigned i = 0; i < 8; ++i) sum += sums[i][0] ^ sums[i][1] ^ sums[i][2] ^ sums[i][3];
  work.out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

template <class Launch>
void launch_make(const MakeWork& work, const Launch& launch) {
  launch(make_vectors, rounded_up(work.count, kWarps) / kWarps, work);
}
template <class Launch>
double launch_multiply(const MultiplyWork& work, const Launch& launch) {
  launch(multiply_again, work.blocks, work);
  constexpr double kOperations = 2.0 * 16 * 8 * 32;  // of one instruction of a warp
  return kOperations * 8.0 * kWarps * work.rounds * work.blocks;
}

}  // namespace dpcache::cuda::inline DPCACHE_WHERE

#endif  // DPCACHE_TESTS_DEVICE_WORKLOAD_CUH_
