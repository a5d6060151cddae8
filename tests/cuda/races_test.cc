// The kernels with few threads and rows, for the thread sanitizer: to it each of their threads is
// one, and only their barriers and exchanges make an order.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#define DPCACHE_BLOCK_THREADS 64
#include "cuda/buffers.h"
#include "cuda/emulated_launch.h"

namespace dpcache::cuda {
namespace {

std::vector<float> unit_vectors(std::size_t count, std::size_t stride) {
  std::vector<float> all(count * stride);
  for (std::size_t i = 0; i < count; ++i) {
    // Two components each: 3/5 and 4/5.
    all[i * stride + i % stride] += 0.6F;
    all[i * stride + (i / stride + i + 1) % stride] += 0.8F;
  }
  return all;
}

TEST(CudaRaces, LanesShareMemoryOnlyAcrossBarriers) {
  constexpr std::size_t kRows = 150;
  constexpr std::size_t kStride = 16;
  std::vector<float> keys = unit_vectors(kRows, kStride);
  std::vector<uint4> codes(rounded_up(kRows, kChunkRows) * code_stride(kStride) / sizeof(uint4));
  std::vector<float> steps(kRows);
  std::vector<float> errors(kRows);
  std::vector<float> chunk_errors(chunks(kRows));
  Vectors rows;
  rows.keys = keys.data();
  rows.codes = reinterpret_cast<std::int8_t*>(codes.data());
  rows.steps = steps.data();
  rows.errors = errors.data();
  rows.chunk_errors = chunk_errors.data();
  rows.count = kRows;
  rows.stride = kStride;
  launch_encode_here(EncodeWork{rows, 0, kRows});
  for (const Way way : {Way::scan, Way::codes}) {
    for (const std::size_t k : {std::size_t{2}, std::size_t{17}}) {
      const SearchShape shape = {kRows, kStride, 2, k, 0};
      Places sizes(nullptr);
      lay_out(sizes, shape);
      std::vector<uint4> room(sizes.bytes() / sizeof(uint4));
      Places places(reinterpret_cast<std::byte*>(room.data()));
      SearchWork work = lay_out(places, shape);
      work.way = way;
      work.rows = rows;
      work.margin = 0x1p-20F;
      std::copy_n(keys.begin() + 70 * kStride, 2 * kStride, work.queries.keys);
      launch_search_here(work);
      EXPECT_EQ(work.out[0].row, 70U);
      EXPECT_EQ(work.out[k].row, 71U);
      EXPECT_EQ(work.out[0].score, 1.0F);
    }
  }
}

}  // namespace
}  // namespace dpcache::cuda
