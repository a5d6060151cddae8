// The workload of a GPU.
#define DPCACHE_WHERE for_measuring
#include "device/workload.cuh"

#include <cuda_runtime_api.h>

#include "cuda/scorer.h"

namespace dpcache::cuda {

namespace {

class CudaWorkload final : public Workload {
 public:
  explicit CudaWorkload(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  std::unique_ptr<Device> take_device() override { return std::move(device_); }
  Outcome make(const MakeWork& work, Stream stream) override {
    launch_make(work, on(stream));
    return outcome();
  }
  Outcome multiply(const MultiplyWork& work, Stream stream, double& operations) override {
    operations = launch_multiply(work, on(stream));
    return outcome();
  }
  bool is_real() const override { return true; }

 private:
  struct LaunchOn {
    cudaStream_t stream;
    template <class Work>
    void operator()(void (*kernel)(Work), std::size_t blocks, const Work& work) const {
      kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(work);
    }
  };
  static LaunchOn on(Stream stream) { return {static_cast<cudaStream_t>(stream.handle)}; }
  static Outcome outcome() {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? Outcome{} : Outcome{Fault::failed, cudaGetErrorString(error)};
  }
  std::unique_ptr<Device> device_;
};

}  // namespace

std::unique_ptr<Workload> Workload::open(std::string& why_not) {
  std::unique_ptr<Device> device = open_cuda_device(why_not);
  if (device == nullptr) return nullptr;
  return std::make_unique<CudaWorkload>(std::move(device));
}

}  // namespace dpcache::cuda
