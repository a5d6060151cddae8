// A GPU made of threads: a stream is a thread that does what was put on it, in order and later,
// with the kernels' own source. Memory is the host's, so that the address sanitizer sees what a
// kernel touches; a copy runs when its turn comes, so that the thread sanitizer sees who did not
// wait.
#ifndef DPCACHE_TESTS_CUDA_EMULATED_DEVICE_H_
#define DPCACHE_TESTS_CUDA_EMULATED_DEVICE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda/device.h"

namespace dpcache::cuda {

class EmulatedDevice final : public Device {
 public:
  // What can fail.
  enum class Call : std::uint8_t {
    allocate,
    allocate_pinned,
    make_stream,
    make_event,
    upload,
    download,
    copy,
    encode,
    search,
    record,
    wait,
    count
  };

  // Outlives the device: what a test wants of it, and sees.
  struct Control {
    std::size_t memory = std::size_t{1} << 30U;
    // Call number n from now on fails (0: the next); -1: none.
    std::array<std::atomic<int>, static_cast<std::size_t>(Call::count)> fails_after;
    std::array<std::atomic<int>, static_cast<std::size_t>(Call::count)> calls{};
    std::atomic<bool> is_broken = false;  // everything fails
    std::atomic<std::size_t> used = 0;    // bytes of the device's memory
    std::atomic<int> pieces = 0;          // of device and pinned memory
    std::atomic<std::size_t> uploaded = 0;

    Control() {
      for (auto& one : fails_after) one = -1;
    }
    void fail(Call call, int after = 0) { fails_after[static_cast<std::size_t>(call)] = after; }
    int number_of(Call call) const { return calls[static_cast<std::size_t>(call)]; }
  };

  explicit EmulatedDevice(Control& control) : control_(control) {}

  const std::string& name() const noexcept override { return name_; }
  Outcome free_memory(std::size_t& bytes) noexcept override;
  Outcome allocate(std::size_t bytes, void*& out) noexcept override;
  void release(void* memory) noexcept override;
  Outcome allocate_pinned(std::size_t bytes, void*& out) noexcept override;
  void release_pinned(void* memory) noexcept override;
  Outcome make_stream(Stream& out) noexcept override;
  void drop(Stream stream) noexcept override;
  Outcome make_event(Event& out) noexcept override;
  void drop(Event event) noexcept override;
  Outcome upload(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override;
  Outcome download(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override;
  Outcome copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override;
  Outcome encode(const EncodeWork& work, Stream stream) noexcept override;
  Outcome search(const SearchWork& work, Stream stream) noexcept override;
  Outcome record(Event event, Stream stream) noexcept override;
  Outcome wait(Event event) noexcept override;
  Outcome wait(Stream stream) noexcept override;
  Outcome elapsed(Event from, Event to, float& milliseconds) noexcept override;

 private:
  Outcome begin(Call call) noexcept;
  Outcome move(Call call, void* to, const void* from, std::size_t bytes, Stream stream) noexcept;

  const std::string name_ = "emulated";
  Control& control_;
  std::mutex mutex_;
  std::map<void*, std::size_t> pieces_;  // of device memory
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_TESTS_CUDA_EMULATED_DEVICE_H_
