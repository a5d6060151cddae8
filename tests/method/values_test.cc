// Value policies when half of the items change their value in mid-stream.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "studies/studies.h"

namespace dpcache::studies {
namespace {

// 64 items, each four times with its first class; then half of them have another class, and each
// comes four times more. Asked for the class that holds now.
Spread recall_after_change(ValueUpdate update) {
  Spread recall;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    Distinct items = distinct_items(random, 64, 64);
    Config config = settings(0.6);
    config.value_update = update;
    Memory memory(config);
    memory.observe(make_stream(random, items, each_repeated(random, 64, 4), 0.3));
    for (std::size_t i = 0; i < 32; ++i) {
      items.classes[i] = (items.classes[i] + 1 + random.below(kClasses - 1)) % kClasses;
    }
    const Stream changed = make_stream(random, items, each_repeated(random, 64, 4), 0.3);
    memory.observe(changed);
    EXPECT_EQ(memory.slots(), 64.0);
    recall.add(memory.recall(changed));
  }
  return recall;
}

TEST(Values, FirstKeepsWhatNoLongerHolds) {
  const Spread recall = recall_after_change(ValueUpdate::first);
  const std::string figures = say("half re-bound, first: recall ", recall);
  EXPECT_EQ(recall.mean(), 0.5) << figures;
}

// Four votes against four: whether the new class wins is a coin's toss, .5 + .5 / 2 on average.
TEST(Values, MeanIsUndecidedBetweenAsManyOldAndNewVotes) {
  const Spread recall = recall_after_change(ValueUpdate::mean);
  const std::string figures = say("half re-bound, mean: recall ", recall);
  EXPECT_NEAR(recall.mean(), 0.75, 0.05) << figures;
}

TEST(Values, LastFollowsTheChange) {
  const Spread recall = recall_after_change(ValueUpdate::last);
  const std::string figures = say("half re-bound, last: recall ", recall);
  EXPECT_EQ(recall.mean(), 1.0) << figures;
}

TEST(Values, EmaFollowsTheChange) {
  const Spread recall = recall_after_change(ValueUpdate::ema);
  const std::string figures = say("half re-bound, ema: recall ", recall);
  EXPECT_EQ(recall.mean(), 1.0) << figures;
}

}  // namespace
}  // namespace dpcache::studies
