// The few things that are asked of a GPU: memory, copies, kernels in order. CUDA's runtime behind
// it in earnest, kernels on the CPU in the tests.
#ifndef DPCACHE_SERVER_CUDA_DEVICE_H_
#define DPCACHE_SERVER_CUDA_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/work.h"

namespace dpcache::cuda {

enum class Fault : std::uint8_t {
  none,
  no_memory,  // nothing else is wrong
  failed,     // the device, or its driver
};

struct [[nodiscard]] Outcome {
  Fault fault = Fault::none;
  const char* what = "";  // in words, for the operator; lives as long as the process

  explicit operator bool() const noexcept { return fault == Fault::none; }
};

// Handles. What is put on a stream is done in order; streams run beside each other.
struct Stream {
  void* handle = nullptr;
};
struct Event {
  void* handle = nullptr;
};

// Thread rule: all calls may run together, those for one stream one after another.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual const std::string& name() const noexcept = 0;

  // Bytes that are free now.
  virtual Outcome free_memory(std::size_t& bytes) noexcept = 0;
  virtual Outcome allocate(std::size_t bytes, void*& out) noexcept = 0;
  virtual void release(void* memory) noexcept = 0;
  // Of the host, for copies that run beside its work.
  virtual Outcome allocate_pinned(std::size_t bytes, void*& out) noexcept = 0;
  virtual void release_pinned(void* memory) noexcept = 0;

  virtual Outcome make_stream(Stream& out) noexcept = 0;
  virtual void drop(Stream stream) noexcept = 0;
  virtual Outcome make_event(Event& out) noexcept = 0;
  virtual void drop(Event event) noexcept = 0;

  // Put on a stream. Host memory is pinned, and is left alone until the stream has come this far.
  virtual Outcome upload(void* to, const void* from, std::size_t bytes, Stream stream) noexcept = 0;
  virtual Outcome download(void* to, const void* from, std::size_t bytes,
                           Stream stream) noexcept = 0;
  virtual Outcome copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept = 0;
  virtual Outcome encode(const EncodeWork& work, Stream stream) noexcept = 0;
  virtual Outcome search(const SearchWork& work, Stream stream) noexcept = 0;
  virtual Outcome record(Event event, Stream stream) noexcept = 0;

  // What went wrong on the way shows here at the latest.
  virtual Outcome wait(Event event) noexcept = 0;
  virtual Outcome wait(Stream stream) noexcept = 0;
  // Time between two events that have happened.
  virtual Outcome elapsed(Event from, Event to, float& milliseconds) noexcept = 0;
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_DEVICE_H_
