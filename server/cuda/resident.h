// One memory's keys on the device: what has changed since, room that grows, codes beside the keys.
#ifndef DPCACHE_SERVER_CUDA_RESIDENT_H_
#define DPCACHE_SERVER_CUDA_RESIDENT_H_

#include <cstddef>
#include <cstdint>

#include "cuda/buffers.h"
#include "cuda/lane.h"
#include "cuda/row_ranges.h"
#include "dpcache/scorer.h"

namespace dpcache::cuda {

// Not thread-safe: who uses it says when.
class Resident {
 public:
  void changed(std::size_t first, std::size_t last) noexcept { changed_.add(first, last); }
  // The device's copy cannot be trusted any more, or is not wanted there.
  void forget_all() noexcept { is_there_ = false; }
  void release() noexcept {
    block_.buffer.release();
    block_.rows = 0;
    forget_all();
  }

  // Brings the device's copy up to date, with what has changed alone, and waits for it. Everything
  // goes anew if it is not known what has.
  struct Uploaded {
    std::uint64_t rows = 0;
  };
  Outcome update(const KeysView& view, Lane& lane, Device& device, const Allocate& allocate,
                 Uploaded& uploaded) noexcept;

  bool is_current(const KeysView& view) const noexcept {
    return is_there_ && changed_.empty() && version_ == view.version &&
           block_.stride == view.stride && block_.rows >= view.rows;
  }
  // Of a memory that is current.
  Vectors vectors(const KeysView& view) const noexcept;
  std::size_t bytes() const noexcept { return block_.buffer.bytes(); }

 private:
  // Room for the arrays of so many rows.
  struct Block {
    DeviceBuffer buffer;
    std::size_t rows = 0;
    std::size_t stride = 0;

    static std::size_t bytes_for(std::size_t rows, std::size_t stride) noexcept;
    Vectors arrays() const noexcept;
  };
  Outcome make_room(const KeysView& view, Lane& lane, Device& device,
                    const Allocate& allocate) noexcept;

  RowRanges changed_;
  std::uint64_t version_ = 0;
  bool is_there_ = false;
  Block block_;
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_RESIDENT_H_
