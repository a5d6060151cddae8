// A device of CUDA's, and the kernels for it.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <memory>

#include "cuda/device.h"
#include "cuda/kernels.cuh"
#include "cuda/scorer.h"

namespace dpcache::cuda {

namespace {

Outcome outcome_of(cudaError_t error) noexcept {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());  // or the next launch would find it again
  return {error == cudaErrorMemoryAllocation ? Fault::no_memory : Fault::failed,
          cudaGetErrorString(error)};
}

cudaStream_t of(Stream stream) noexcept {
  return static_cast<cudaStream_t>(stream.handle);
}
cudaEvent_t of(Event event) noexcept {
  return static_cast<cudaEvent_t>(event.handle);
}

class LaunchOn {
 public:
  explicit LaunchOn(Stream stream) noexcept : stream_(of(stream)) {}
  template <class Work>
  void operator()(void (*kernel)(Work), std::size_t blocks, const Work& work) const noexcept {
    if (error_ != cudaSuccess) return;
    if (blocks > 0x7FFF'FFFFU) {
      error_ = cudaErrorInvalidConfiguration;
      return;
    }
    kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream_>>>(work);
    error_ = cudaGetLastError();
  }
  Outcome outcome() const noexcept { return outcome_of(error_); }

 private:
  cudaStream_t stream_;
  mutable cudaError_t error_ = cudaSuccess;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(std::string name) : name_(std::move(name)) {}

  const std::string& name() const noexcept override { return name_; }

  Outcome free_memory(std::size_t& bytes) noexcept override {
    std::size_t all = 0;
    return outcome_of(cudaMemGetInfo(&bytes, &all));
  }
  Outcome allocate(std::size_t bytes, void*& out) noexcept override {
    return outcome_of(cudaMalloc(&out, bytes));
  }
  void release(void* memory) noexcept override {
    static_cast<void>(outcome_of(cudaFree(memory)));
  }
  Outcome allocate_pinned(std::size_t bytes, void*& out) noexcept override {
    return outcome_of(cudaMallocHost(&out, bytes));
  }
  void release_pinned(void* memory) noexcept override {
    static_cast<void>(outcome_of(cudaFreeHost(memory)));
  }

  Outcome make_stream(Stream& out) noexcept override {
    cudaStream_t stream = nullptr;
    const Outcome outcome =
        outcome_of(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    out.handle = stream;
    return outcome;
  }
  void drop(Stream stream) noexcept override {
    static_cast<void>(outcome_of(cudaStreamDestroy(of(stream))));
  }
  Outcome make_event(Event& out) noexcept override {
    cudaEvent_t event = nullptr;
    const Outcome outcome = outcome_of(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
    out.handle = event;
    return outcome;
  }
  void drop(Event event) noexcept override {
    static_cast<void>(outcome_of(cudaEventDestroy(of(event))));
  }

  Outcome upload(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override {
    return outcome_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, of(stream)));
  }
  Outcome download(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override {
    return outcome_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, of(stream)));
  }
  Outcome copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override {
    return outcome_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, of(stream)));
  }
  Outcome encode(const EncodeWork& work, Stream stream) noexcept override {
    const LaunchOn launch(stream);
    launch_encode(work, launch);
    return launch.outcome();
  }
  Outcome search(const SearchWork& work, Stream stream) noexcept override {
    const LaunchOn launch(stream);
    launch_search(work, launch);
    return launch.outcome();
  }
  Outcome record(Event event, Stream stream) noexcept override {
    return outcome_of(cudaEventRecord(of(event), of(stream)));
  }
  Outcome wait(Event event) noexcept override { return outcome_of(cudaEventSynchronize(of(event))); }
  Outcome wait(Stream stream) noexcept override {
    return outcome_of(cudaStreamSynchronize(of(stream)));
  }
  Outcome elapsed(Event from, Event to, float& milliseconds) noexcept override {
    return outcome_of(cudaEventElapsedTime(&milliseconds, of(from), of(to)));
  }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(std::string& why_not) {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  cudaDeviceProp properties{};
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  // Who waits for the device leaves its processor to others.
  if (error == cudaSuccess) error = cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
  if (error == cudaSuccess) error = cudaSetDevice(0);
  // A device that is older than all kernels of this program says so here.
  cudaFuncAttributes attributes{};
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, encode);
  if (error != cudaSuccess) {
    why_not = std::string("CUDA: ") + cudaGetErrorString(error);
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  char memory[32];
  std::snprintf(memory, sizeof memory, ", %.0f GiB",
                static_cast<double>(properties.totalGlobalMem) / (1024.0 * 1024.0 * 1024.0));
  return std::make_unique<CudaDevice>(std::string(properties.name) + memory);
}

}  // namespace dpcache::cuda
