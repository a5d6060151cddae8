// Memory of a device and of its host that frees itself, within a limit.
#ifndef DPCACHE_SERVER_CUDA_BUFFERS_H_
#define DPCACHE_SERVER_CUDA_BUFFERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda/device.h"

namespace dpcache::cuda {

// What may be taken of a device's memory. Thread-safe.
class DeviceMemory {
 public:
  // `limit` in bytes.
  DeviceMemory(Device& device, std::size_t limit) noexcept : device_(device), limit_(limit) {}

  // no_memory: it would be more than the limit, or than the device has free; asked before anything
  // is taken, as a device that is full to the last byte fails others too.
  Outcome allocate(std::size_t bytes, void*& out) noexcept {
    constexpr std::size_t kReserve = std::size_t{64} << 20U;  // left to the driver
    if (used_.fetch_add(bytes) + bytes > limit_) {
      used_ -= bytes;
      return {Fault::no_memory, "the limit on the device's memory is reached"};
    }
    std::size_t free = 0;
    Outcome outcome = device_.free_memory(free);
    if (outcome && free < bytes + kReserve) {
      outcome = {Fault::no_memory, "the device's memory is full"};
    }
    if (outcome) outcome = device_.allocate(bytes, out);
    if (!outcome) used_ -= bytes;
    return outcome;
  }
  void release(void* memory, std::size_t bytes) noexcept {
    device_.release(memory);
    used_ -= bytes;
  }
  std::size_t used() const noexcept { return used_; }
  Device& device() noexcept { return device_; }

 private:
  Device& device_;
  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
};

// A piece of it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() { release(); }

  // What it had is gone first.
  Outcome allocate(DeviceMemory& memory, std::size_t bytes) noexcept {
    release();
    Outcome outcome = memory.allocate(bytes, data_);
    if (!outcome) {
      data_ = nullptr;
      return outcome;
    }
    memory_ = &memory;
    bytes_ = bytes;
    return outcome;
  }
  void release() noexcept {
    if (data_ != nullptr) memory_->release(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  DeviceMemory* memory_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Pinned memory of the host.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(Device& device) noexcept : device_(device) {}
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() {
    if (data_ != nullptr) device_.release_pinned(data_);
  }

  // At least so many bytes; what it had is gone if it was less.
  Outcome reserve(std::size_t bytes) noexcept {
    if (bytes <= bytes_) return {};
    if (data_ != nullptr) device_.release_pinned(data_);
    data_ = nullptr;
    bytes_ = 0;
    const Outcome outcome = device_.allocate_pinned(bytes, data_);
    if (outcome) {
      bytes_ = bytes;
    } else {
      data_ = nullptr;
    }
    return outcome;
  }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  Device& device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Places for arrays in one piece of memory, one behind the other, each at a multiple of 256 bytes.
// Without a piece it only adds up.
class Places {
 public:
  explicit Places(std::byte* begin) noexcept : begin_(begin) {}

  template <class T>
  T* take(std::size_t count) noexcept {
    std::byte* here = begin_ == nullptr ? nullptr : begin_ + bytes_;
    bytes_ += rounded_up(count * sizeof(T), 256);
    return reinterpret_cast<T*>(here);
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* begin_;
  std::size_t bytes_ = 0;
};

struct SearchShape {
  std::size_t rows = 0;
  std::size_t stride = 0;
  std::size_t queries = 0;
  std::size_t k = 1;
  std::size_t skip_words = 0;  // of 32 bits
};

// A search's arrays but for the rows'.
inline SearchWork lay_out(Places& places, const SearchShape& shape) noexcept {
  SearchWork work;
  const std::size_t count = shape.queries;
  work.k = static_cast<std::uint32_t>(shape.k);
  work.parts = parts_for(shape.rows, count);
  work.queries.stride = static_cast<std::uint32_t>(shape.stride);
  work.queries.count = static_cast<std::uint32_t>(count);
  work.queries.keys = places.take<float>(count * shape.stride);
  work.queries.codes =
      places.take<std::int8_t>(rounded_up(count, kTileQueries) * code_stride(shape.stride));
  work.queries.steps = places.take<float>(count);
  work.queries.errors = places.take<float>(count);
  work.best = places.take<float>(count * chunks(shape.rows));
  work.least = places.take<float>(count);
  work.live = places.take<std::uint64_t>(1);
  work.partial = places.take<Entry>(count * work.parts * shape.k);
  work.out = places.take<Entry>(count * shape.k);
  if (shape.skip_words > 0) work.skip = places.take<std::uint32_t>(shape.skip_words);
  return work;
}

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_BUFFERS_H_
