// The workload without a GPU: done at once, on the CPU.
#define DPCACHE_BLOCK_THREADS 64
#include "cuda/emulated_device.h"
#include "cuda/emulated_launch.h"
// After the names that it needs.
#include "device/workload.cuh"

namespace dpcache::cuda {

namespace {

class EmulatedWorkload final : public Workload {
 public:
  std::unique_ptr<Device> take_device() override {
    return std::make_unique<EmulatedDevice>(control_);
  }
  Outcome make(const MakeWork& work, Stream /*stream*/) override {
    launch_make(work, LaunchHere{});
    return {};
  }
  Outcome multiply(const MultiplyWork& work, Stream /*stream*/, double& operations) override {
    operations = launch_multiply(work, LaunchHere{});
    return {};
  }
  bool is_real() const override { return false; }

 private:
  EmulatedDevice::Control control_;
};

}  // namespace

std::unique_ptr<Workload> Workload::open(std::string& /*why_not*/) {
  return std::make_unique<EmulatedWorkload>();
}

}  // namespace dpcache::cuda
