// The scorer on an emulated device: what is uploaded, what is freed, and what happens when
// something fails in the middle.
#include "cuda/scorer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bitset>
#include <thread>
#include <vector>

#include "cuda/emulated_device.h"
#include "cuda/row_ranges.h"
#include "cuda/scorer_support.h"

namespace dpcache::cuda {
namespace {

using Call = EmulatedDevice::Call;

TEST(CudaScorer, AnswersWhatLoopsAnswer) {
  TestScorer test;
  TestMemory memory(1, 40, 1);
  memory.add(300, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 5));
  EXPECT_TRUE(test.answers(memory, 9, 4));
  EXPECT_TRUE(test.answers(memory, 1, 30));
  for (std::size_t r = 0; r < 300; r += 2) memory.skip(r);
  EXPECT_TRUE(test.answers(memory, 6));
  EXPECT_TRUE(test.answers(memory, 2, 64));
  const ScorerStatistics figures = test.scorer->statistics();
  EXPECT_EQ(figures.batches, 5U);
  EXPECT_EQ(figures.queries, 23U);
  EXPECT_EQ(figures.fallbacks, 0U);
  EXPECT_EQ(figures.memories, 1U);
  EXPECT_EQ(figures.bytes, test.control.used);
}

TEST(CudaScorer, UploadsWhatHasChangedAndNothingElse) {
  TestScorer test;
  TestMemory memory(1, 24, 2);
  memory.add(200, test.scorer.get());
  const auto uploaded = [&] { return test.scorer->statistics().uploaded_rows; };
  EXPECT_TRUE(test.answers(memory, 3));
  EXPECT_EQ(uploaded(), 200U);
  EXPECT_TRUE(test.answers(memory, 3));
  EXPECT_EQ(uploaded(), 200U) << "nothing has changed";
  memory.move(17, test.scorer.get());
  memory.move(18, test.scorer.get());
  memory.move(140, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 3));
  EXPECT_EQ(uploaded(), 203U);
  memory.add(400, test.scorer.get());  // grows: old rows move within the device
  EXPECT_TRUE(test.answers(memory, 3));
  EXPECT_EQ(uploaded(), 603U);
  memory.shrink(150, test.scorer.get());
  memory.move(149, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 3));
  EXPECT_EQ(uploaded(), 604U);
  memory.add(30, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 3));
  EXPECT_EQ(uploaded(), 634U);
}

TEST(CudaScorer, AKeyThatMovedIsFoundByItsNewCode) {
  TestScorer test;
  TestMemory memory(1, 24, 30);
  memory.add(2500, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 2));
  for (const std::size_t row : {std::size_t{1300}, std::size_t{2499}, std::size_t{130}}) {
    memory.move(row, test.scorer.get());
    const std::vector<float> queries = memory.queries(2, [row] { return row; });
    std::vector<RowMatch> found(2);
    ASSERT_TRUE(test.scorer->nearest(memory.view(), queries, found));
    EXPECT_EQ(found[0].row, row);
    EXPECT_EQ(found, memory.by_loops(queries, 1));
  }
}

TEST(CudaScorer, AChangeThatNobodyNamedBringsEverythingAnew) {
  TestScorer test;
  TestMemory memory(1, 16, 3);
  memory.add(100, nullptr);
  EXPECT_TRUE(test.answers(memory, 2));
  memory.move(50, nullptr);
  EXPECT_TRUE(test.answers(memory, 20));
  EXPECT_EQ(test.scorer->statistics().uploaded_rows, 200U);
}

TEST(CudaScorer, ABatchOfManyTilesComesBackInOrder) {
  ScorerOptions options;
  options.tile = 5;
  TestScorer test(options);
  TestMemory memory(1, 16, 4);
  memory.add(60, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 33));
  EXPECT_TRUE(test.answers(memory, 12, 3));
}

TEST(CudaScorer, AMemoryThatIsGoneGivesItsRoomBack) {
  TestScorer test;
  TestMemory memory(7, 32, 5);
  memory.add(500, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 1));
  const std::size_t before = test.control.used;
  test.scorer->forget(7);
  EXPECT_LT(test.control.used + 500 * 32 * sizeof(float), before + 1);
  EXPECT_EQ(test.scorer->statistics().memories, 0U);
  test.scorer->forget(7);
  test.scorer->changed(7, 0, 3);
  // Another memory may get the number.
  TestMemory other(7, 48, 6);
  other.add(90, test.scorer.get());
  EXPECT_TRUE(test.answers(other, 4));
}

TEST(CudaScorer, WhatIsTooSmallOrTooLargeIsTheCpus) {
  EmulatedDevice::Control control;
  ScorerOptions options;
  options.least_scores = 1000;
  CudaScorer scorer(std::make_unique<EmulatedDevice>(control), options);
  TestMemory memory(1, 16, 7);
  memory.add(100, &scorer);
  std::vector<RowMatch> out(20 * 65);
  const std::vector<float> queries = memory.queries(20);
  const std::span<const float> few(queries.data(), 9 * memory.stride());
  EXPECT_FALSE(scorer.nearest(memory.view(), few, out));
  EXPECT_FALSE(scorer.top(memory.view(), queries, 65, out));
  EXPECT_EQ(scorer.statistics().declined, 2U);
  EXPECT_EQ(scorer.statistics().fallbacks, 0U);
  EXPECT_TRUE(scorer.nearest(memory.view(), queries, out));
}

TEST(CudaScorer, TheMemoryUsedLongestAgoMakesRoom) {
  ScorerOptions options;
  options.memory = 210'000;  // two of three memories, and room to search
  options.batches = 1;
  TestScorer test(options);
  std::vector<TestMemory> memories;
  for (unsigned i = 0; i < 3; ++i) {
    memories.emplace_back(i, 64, 8 + i).add(256, test.scorer.get());
  }
  EXPECT_TRUE(test.answers(memories[0], 2));
  EXPECT_TRUE(test.answers(memories[1], 2));
  EXPECT_EQ(test.scorer->statistics().displaced, 0U);
  EXPECT_TRUE(test.answers(memories[0], 2));
  EXPECT_TRUE(test.answers(memories[2], 2));  // instead of 1
  EXPECT_EQ(test.scorer->statistics().displaced, 1U);
  EXPECT_TRUE(test.answers(memories[0], 2));
  EXPECT_EQ(test.scorer->statistics().uploaded_rows, 3 * 256U) << "0 was still there";
  memories[1].move(3, test.scorer.get());
  EXPECT_TRUE(test.answers(memories[1], 2));
  EXPECT_EQ(test.scorer->statistics().uploaded_rows, 4 * 256U);
  EXPECT_LE(test.control.used, options.memory);
  EXPECT_TRUE(test.lines.empty());
}

TEST(CudaScorer, AMemoryThatDoesNotFitIsTheCpusAndTheOthersAreServed) {
  ScorerOptions options;
  options.memory = 300'000;
  options.batches = 1;
  TestScorer test(options);
  TestMemory small(1, 16, 11);
  TestMemory large(2, 64, 12);
  small.add(200, test.scorer.get());
  large.add(2000, test.scorer.get());
  EXPECT_TRUE(test.answers(small, 2));
  for (unsigned i = 0; i < 2 * kFaultsInARow; ++i) EXPECT_FALSE(test.answers(large, 2));
  EXPECT_TRUE(test.answers(small, 2));
  const ScorerStatistics figures = test.scorer->statistics();
  EXPECT_EQ(figures.fallbacks, 2 * kFaultsInARow);
  EXPECT_FALSE(figures.has_given_up);
  ASSERT_EQ(test.lines.size(), 1U) << "said once";
  EXPECT_NE(test.lines[0].find("limit"), std::string::npos) << test.lines[0];
}

TEST(CudaScorer, ADeviceThatOthersFillIsAskedBeforeAnythingIsTaken) {
  TestScorer test;
  test.control.memory = (std::size_t{64} << 20U) + 100'000;  // 64 MiB are left to the driver
  TestMemory memory(1, 64, 13);
  memory.add(600, test.scorer.get());
  EXPECT_FALSE(test.answers(memory, 2));
  EXPECT_EQ(test.control.number_of(Call::allocate), 0);
  test.control.memory = std::size_t{1} << 30U;
  EXPECT_TRUE(test.answers(memory, 2));
}

TEST(CudaScorer, ABrokenDeviceIsGivenUpAndSaidSo) {
  TestScorer test;
  TestMemory memory(1, 16, 15);
  memory.add(100, test.scorer.get());
  EXPECT_TRUE(test.answers(memory, 2));
  test.control.is_broken = true;
  for (unsigned i = 0; i < kFaultsInARow; ++i) EXPECT_FALSE(test.answers(memory, 2));
  EXPECT_TRUE(test.scorer->statistics().has_given_up);
  ASSERT_EQ(test.lines.size(), 2U);
  EXPECT_EQ(test.lines[0], "emulated: the device is broken: the CPU scores this batch");
  EXPECT_NE(test.lines[1].find("until the next start"), std::string::npos) << test.lines[1];
  const int calls = test.control.number_of(Call::upload);
  test.control.is_broken = false;
  EXPECT_FALSE(test.answers(memory, 2));
  EXPECT_EQ(test.control.number_of(Call::upload), calls);
  EXPECT_EQ(test.scorer->statistics().fallbacks, kFaultsInARow + 1);
}

TEST(CudaScorer, ADeviceThatIsNotThereIsNoScorer) {
  std::string why;
  if (open_cuda_device(why) != nullptr) GTEST_SKIP() << "there is one";
  EXPECT_FALSE(why.empty());
}

// Each thread has a memory of its own, which it changes between batches; and all ask one that
// none changes.
TEST(CudaScorer, ManyThreadsAskAtOnce) {
  ScorerOptions options;
  options.batches = 2;
  options.tile = 3;
  TestScorer test(options);
  TestMemory shared(100, 16, 16);
  shared.add(130, test.scorer.get());
  const std::vector<float> queries = shared.queries(4);
  const std::vector<RowMatch> expected = shared.by_loops(queries, 2);
  const KeysView view = shared.view();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      TestMemory own(t, 16, 20 + t);
      for (unsigned round = 0; round < 3; ++round) {
        own.add(40 + t, test.scorer.get());
        own.move(round, test.scorer.get());
        if (!test.answers(own, 3)) ++wrong;
        std::vector<RowMatch> found(8);
        if (!test.scorer->top(view, queries, 2, found) || found != expected) ++wrong;
      }
      test.scorer->forget(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RowRanges, HoldAllThatWasAdded) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 50; ++round) {
    RowRanges ranges;
    std::bitset<4000> added;
    for (unsigned i = 0; i < 10 + round * 10; ++i) {
      const std::size_t first = random() % 3900;
      const std::size_t last = first + random() % 4 * (random() % 20);
      ranges.add(first, last);
      for (std::size_t r = first; r < last; ++r) added.set(r);
      std::bitset<4000> held;
      std::size_t before = 0;
      for (const auto& range : ranges.ranges()) {
        ASSERT_LT(range.first, range.last);
        if (before != 0) {
          ASSERT_GT(range.first, before) << "they touch";
        }
        before = range.last;
        for (std::size_t r = range.first; r < range.last; ++r) held.set(r);
      }
      ASSERT_LE(ranges.ranges().size(), RowRanges::kMost);
      ASSERT_TRUE((added & ~held).none());
      if (i < RowRanges::kMost) {
        ASSERT_EQ(added, held) << "no more than was added";
      }
    }
  }
}

TEST(RowRanges, OfManyTheNearestBecomeOne) {
  RowRanges ranges;
  for (std::size_t i = 0; i < RowRanges::kMost; ++i) ranges.add(100 * i, 100 * i + 10);
  ranges.add(1020, 1030);  // ten behind the one at 1000
  ASSERT_EQ(ranges.ranges().size(), RowRanges::kMost);
  EXPECT_EQ(ranges.ranges()[10], (RowRanges::Range{1000, 1030}));
}

}  // namespace
}  // namespace dpcache::cuda
