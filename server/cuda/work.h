// What the kernels are given: arrays on the device and their shapes. Plain C++, for host and
// device.
#ifndef DPCACHE_SERVER_CUDA_WORK_H_
#define DPCACHE_SERVER_CUDA_WORK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dpcache::cuda {

// Rows of which the first look keeps one figure, for each query. A warp's work.
inline constexpr unsigned kChunkRows = 128;
// Codes are padded to a multiple of this many bytes: four lanes' loads of 16.
inline constexpr unsigned kCodeStep = 64;
// A larger k is the CPU's: a half warp holds a list of 16 entries in each of four registers.
inline constexpr unsigned kMostTop = 64;
// Longer keys are the CPU's: the sums of their codes' products might leave 32 bits.
inline constexpr std::size_t kMostStride = 65'536;
// Row numbers of 32 bits, and room to round them up.
inline constexpr std::size_t kMostRows = 0xFFFF'0000;

constexpr std::size_t rounded_up(std::size_t n, std::size_t to) noexcept {
  return (n + to - 1) / to * to;
}
constexpr std::size_t code_stride(std::size_t stride) noexcept {
  return rounded_up(stride, kCodeStep);
}
constexpr std::size_t chunks(std::size_t rows) noexcept {
  return (rows + kChunkRows - 1) / kChunkRows;
}

// Queries of a tile of the widest kernel; their codes have room for whole ones.
inline constexpr unsigned kTileQueries = 64;

// Vectors and their codes: vector i is about steps[i] * codes[i]. Codes have room up to the next
// multiple of kChunkRows, those of queries of kTileQueries.
struct Vectors {
  float* keys = nullptr;         // (count, stride)
  std::int8_t* codes = nullptr;  // (count, code_stride)
  float* steps = nullptr;        // (count)
  float* errors = nullptr;       // (count): the length of what a code misses of its vector, or more
  float* chunk_errors = nullptr;  // (chunks): the largest of a chunk's; null: not wanted
  std::uint32_t count = 0;
  std::uint32_t stride = 0;
};

// One entry of an answer. Same layout as RowMatch.
struct Entry {
  std::uint32_t row;
  float score;
};

// To make the codes of vectors [first, last).
struct EncodeWork {
  Vectors vectors;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Which way a search takes. Without `codes`, a scan: for memories that are small, and to compare.
enum class Way : std::uint8_t { scan, codes };

// To find the k best rows of each query.
struct SearchWork {
  Way way = Way::codes;
  Vectors rows;
  Vectors queries;                      // codes are made here
  const std::uint32_t* skip = nullptr;  // bit r % 32 of word r / 32: does not count; null: all do
  float margin = 0.0F;
  std::uint32_t k = 1;
  std::uint32_t parts = 1;  // a query's work is split among so many blocks
  // A scan answers after all if codes leave more than one of so many chunks: to score their rows
  // one by one would take longer. 1: never.
  std::uint32_t scan_from = 8;
  // Room for what is between the kernels.
  float* best = nullptr;   // (queries, chunks); with codes
  float* least = nullptr;  // (queries); with codes
  std::uint64_t* live =
      nullptr;               // chunks that the codes do not rule out, of all queries; with codes
  Entry* partial = nullptr;  // (queries, parts, k)
  Entry* out = nullptr;      // (queries, k)
};

// Blocks that share a query's rows: enough of them to fill a large device, and no more than rows.
constexpr std::uint32_t parts_for(std::size_t rows, std::size_t queries) noexcept {
  constexpr std::size_t kBlocks = 1'024;  // about 8 for each of 132 multiprocessors
  const std::size_t wanted = kBlocks / std::max<std::size_t>(1, queries / 8);
  const std::size_t most = (rows + 255) / 256;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(std::min(wanted, most), 1, 512));
}

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_WORK_H_
