// The shared vectors through the kernels, on the CPU.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cuda/emulated_device.h"
#include "cuda/scored_machine.h"
#include "cuda/scorer.h"

namespace dpcache::cuda {
namespace {

int compare(std::size_t scan_floats, std::size_t step) {
  EmulatedDevice::Control control;
  ScorerOptions options;
  options.least_scores = 0;
  options.scan_floats = scan_floats;
  options.scan_from = 1;
  CudaScorer scorer(std::make_unique<EmulatedDevice>(control), options);
  return run_vectors(DPCACHE_TEST_DATA, step, scorer,
                     [](const std::string& what) { ADD_FAILURE() << what; });
}

TEST(CudaVectors, SearchesByCodesFindWhatTheVectorsSay) {
  EXPECT_GT(compare(0, 1), 1000);
}

// One file of four, as emulation takes its time.
TEST(CudaVectors, ScansFindWhatTheVectorsSay) {
  EXPECT_GT(compare(std::size_t{1} << 30U, 4), 200);
}

}  // namespace
}  // namespace dpcache::cuda
