// What a build without CUDA says of it.
#include "cuda/device.h"
#include "cuda/scorer.h"

namespace dpcache::cuda {

std::unique_ptr<Device> open_cuda_device(std::string& why_not) {
  why_not = "this program was built without CUDA";
  return nullptr;
}

}  // namespace dpcache::cuda
