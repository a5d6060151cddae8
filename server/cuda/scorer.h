// The scorer that has keys on a GPU and searches there, and says so when it could not.
#ifndef DPCACHE_SERVER_CUDA_SCORER_H_
#define DPCACHE_SERVER_CUDA_SCORER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dpcache/scorer.h"

namespace dpcache::cuda {

class Device;

struct ScorerOptions {
  std::size_t memory = 0;  // bytes of the device's at most; 0: nine tenths of what is free now
  unsigned batches = 4;    // under way at a time, at least 1; more wait for their turn
  // Fewer similarities than this, queries times rows, are the CPU's, which has found them before a
  // kernel has started. A guess, as no GPU has been measured yet.
  std::size_t least_scores = std::size_t{1} << 17U;
  // Memories of so few floats are scanned: codes would save less than the launches that they need.
  // A guess too.
  std::size_t scan_floats = std::size_t{1} << 20U;
  // A search by codes becomes a scan if they leave more than one of so many chunks of rows; 1:
  // never.
  unsigned scan_from = 8;
  std::size_t tile = 1024;  // queries that are searched for at once, at least 1
  // A line for the operator: when it has failed in a way that it did not before, and when it gives
  // the device up. Called by any thread, one at a time.
  std::function<void(const std::string&)> say;
};

struct ScorerStatistics {
  std::uint64_t batches = 0;    // that it answered
  std::uint64_t queries = 0;    // of those
  std::uint64_t declined = 0;   // too small, or larger than its arrays: the CPU's from the start
  std::uint64_t fallbacks = 0;  // batches that it could not answer, so that the CPU did
  std::uint64_t uploaded_rows = 0;
  std::uint64_t displaced = 0;  // memories that made room for others
  std::uint64_t memories = 0;   // whose keys are on the device now
  std::uint64_t bytes = 0;      // of the device's memory that it has now
  bool has_given_up = false;
  std::string last_failure;
};

// Where one fault follows the other, the device is given up; from then on the CPU answers all.
inline constexpr unsigned kFaultsInARow = 8;

class CudaScorer final : public Scorer {
 public:
  // std::runtime_error: the device does not answer.
  CudaScorer(std::unique_ptr<Device> device, ScorerOptions options);
  ~CudaScorer() override;

  void changed(std::uint64_t memory, std::size_t first, std::size_t last) noexcept override;
  void forget(std::uint64_t memory) noexcept override;
  bool nearest(const KeysView& view, std::span<const float> queries,
               std::span<RowMatch> out) noexcept override;
  bool top(const KeysView& view, std::span<const float> queries, std::size_t k,
           std::span<RowMatch> out) noexcept override;

  // "NVIDIA H200, 139 GiB"
  const std::string& device_name() const noexcept;
  ScorerStatistics statistics() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

// The first CUDA device of this machine, or nothing and the reason why.
std::unique_ptr<Device> open_cuda_device(std::string& why_not);

}  // namespace dpcache::cuda

#endif  // DPCACHE_SERVER_CUDA_SCORER_H_
