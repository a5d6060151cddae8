// What the scorer does when any one call to the device fails.
#include <gtest/gtest.h>

#include <cstddef>

#include "cuda/emulated_device.h"
#include "cuda/scorer_support.h"

namespace dpcache::cuda {
namespace {

using Call = EmulatedDevice::Call;

// Every call to the device fails once, wherever it stands in the work. The answer is then the
// CPU's, or right; and the next one is right.
TEST(CudaScorer, AnyCallMayFailOnce) {
  for (std::size_t call = 0; call < static_cast<std::size_t>(Call::count); ++call) {
    for (int after = 0;; ++after) {
      SCOPED_TRACE(testing::Message() << "call " << call << ", after " << after);
      ScorerOptions options;
      options.tile = 2;
      TestScorer test(options);
      TestMemory memory(1, 16, 14);
      memory.add(140, test.scorer.get());
      test.control.fail(static_cast<Call>(call), after);
      unsigned refused = 0;
      const auto ask = [&](std::size_t count, std::size_t k) {
        if (!test.answers(memory, count, k)) ++refused;
      };
      ask(5, 1);
      memory.add(160, test.scorer.get());
      memory.move(20, test.scorer.get());
      ask(3, 4);
      memory.move(150, test.scorer.get());
      memory.skip(7);
      ask(2, 1);
      const bool has_failed = test.control.fails_after[call] < 0;
      test.control.fail(static_cast<Call>(call), -1);
      EXPECT_LE(refused, 1U);
      EXPECT_EQ(test.scorer->statistics().fallbacks, refused);
      EXPECT_EQ(test.lines.size(), refused);
      EXPECT_TRUE(test.answers(memory, 3));
      if (!has_failed) break;  // it is not called so often
      // Growing may do without the old rows, or a wait may have been one that was not needed.
      if (static_cast<Call>(call) == Call::search) {
        EXPECT_EQ(refused, 1U);
      }
      ASSERT_LT(after, 100);
    }
  }
}

}  // namespace
}  // namespace dpcache::cuda
