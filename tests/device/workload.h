// What measuring needs of a device beside searching: vectors made on it, and its matrix rate. On a
// GPU, or emulated.
#ifndef DPCACHE_TESTS_DEVICE_WORKLOAD_H_
#define DPCACHE_TESTS_DEVICE_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "cuda/device.h"

namespace dpcache::cuda {

struct MakeWork {
  float* out = nullptr;  // (count, stride)
  std::uint64_t count = 0;
  std::uint64_t queries_of = 0;  // rows that the vectors are queries for; 0: they are rows
  std::uint32_t dimension = 0;
  std::uint32_t stride = 0;
};

struct MultiplyWork {
  int* out = nullptr;  // (blocks, 256)
  std::uint32_t blocks = 1;
  std::uint32_t rounds = 1;
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Nothing, and the reason why, if there is no device.
  static std::unique_ptr<Workload> open(std::string& why_not);

  virtual std::unique_ptr<Device> take_device() = 0;
  virtual Outcome make(const MakeWork& work, Stream stream) = 0;
  // Operations that were put on the stream.
  virtual Outcome multiply(const MultiplyWork& work, Stream stream, double& operations) = 0;
  // Emulated: sizes for a look at whether it works.
  virtual bool is_real() const = 0;
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_TESTS_DEVICE_WORKLOAD_H_
