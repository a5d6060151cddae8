// Value policies when half of the items change their value in mid-stream.
#include <gtest/gtest.h>

#include <string>

#include "studies/studies.h"
#include "studies/values.h"

namespace dpcache::studies {
namespace {

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
