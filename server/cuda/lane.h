// What one batch needs to be under way beside others: a stream, pinned memory in halves that take
// turns, and room on the device.
#ifndef DPCACHE_SERVER_CUDA_LANE_H_
#define DPCACHE_SERVER_CUDA_LANE_H_

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "cuda/buffers.h"
#include "cuda/device.h"
#include "dpcache/scorer.h"

namespace dpcache::cuda {

// Takes device memory, and makes room for it if need be.
using Allocate = std::function<Outcome(DeviceBuffer& buffer, std::size_t bytes)>;

// Used by one thread at a time.
class Lane {
 public:
  explicit Lane(Device& device) noexcept;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  Stream stream() const noexcept { return stream_; }

  // Copies from memory that is not pinned, through the two halves: one is filled while the other
  // is on its way. `from` is free again on return, and `to` complete when the stream has come so
  // far.
  Outcome upload(void* to, const void* from, std::size_t bytes) noexcept;

  // Answers `queries` tile by tile, and waits for the last. `rows` are on the device.
  struct Batch {
    Vectors rows;
    std::span<const std::uint64_t> skip;
    std::span<const float> queries;
    float margin = 0.0F;
    std::size_t k = 1;
    std::size_t scan_floats = 0;  // keys of no more floats are scanned
    unsigned scan_from = 8;       // see SearchWork
    std::size_t tile = 1;         // queries at once at most
    std::span<RowMatch> out;
  };
  Outcome search(const Batch& batch, const Allocate& allocate) noexcept;

  // After a fault: whatever is still under way has ended, or never will.
  void settle() noexcept;

 private:
  static constexpr std::size_t kHalf = std::size_t{4} << 20U;  // bytes: a copy of some 100 µs

  struct Half {
    explicit Half(Device& device) noexcept : in(device), out(device) {}
    PinnedBuffer in;
    PinnedBuffer out;
    Event done;
    bool is_under_way = false;
  };
  Outcome prepare() noexcept;
  Outcome free_half(Half& half) noexcept;

  Device& device_;
  Stream stream_;
  std::array<Half, 2> halves_;
  unsigned turn_ = 0;
  DeviceBuffer scratch_;
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_LANE_H_
