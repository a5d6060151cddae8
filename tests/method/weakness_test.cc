// Where the method is weak, with figures, and what mends it. A test here that fails because the
// figure got better is good news: write the new figure down.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "studies/studies.h"
#include "studies/weaknesses.h"

namespace dpcache::studies {
namespace {

TEST(Weakness, ChainsOfNearNeighboursCollapseUnlessTheThresholdIsStricter) {
  const Point loose = chain(0.6);
  const std::string collapsed = say("chain, s* .6: slots ", loose.slots, ", recall ", loose.recall);
  EXPECT_NEAR(loose.slots.mean(), 16.4, 1.0) << collapsed;
  EXPECT_NEAR(loose.recall.mean(), 0.44, 0.05) << collapsed;

  const Point strict = chain(0.85);
  const std::string mended = say("chain, s* .85: slots ", strict.slots, ", recall ", strict.recall);
  EXPECT_EQ(strict.slots.mean(), 40.0) << mended;
  EXPECT_EQ(strict.recall.mean(), 1.0) << mended;
}

// Frozen keys open one every acos(.6) = 53 degrees; a centroid follows half of the way.
TEST(Weakness, SlowDriftOpensSlotsForOneItem) {
  const Spread frozen = slots_after_drift(KeyUpdate::frozen);
  const Spread centroid = slots_after_drift(KeyUpdate::centroid);
  const std::string figures =
      say("drift of 180 degrees: slots frozen ", frozen, ", centroid ", centroid);
  EXPECT_EQ(frozen.mean(), 4.0) << figures;
  EXPECT_EQ(centroid.mean(), 2.0) << figures;
}

std::string say_orders(const char* name, const Point& point) {
  return say("orders, ", name, ": slots from ", point.slots.least(), " to ", point.slots.largest(),
             ", mean ", point.slots.mean(), "; recall ", point.recall);
}

TEST(Weakness, TheOrderOfTheStreamCountsWhenNoiseIsHigh) {
  const Point calm = orders(0.3, 0.6, KeyUpdate::frozen);
  const std::string calm_figures = say_orders("rho .3", calm);
  EXPECT_EQ(calm.slots.least(), 64.0) << calm_figures;
  EXPECT_EQ(calm.slots.largest(), 64.0) << calm_figures;

  const Point frozen = orders(0.7, 0.6, KeyUpdate::frozen);
  const std::string frozen_figures = say_orders("rho .7, frozen", frozen);
  EXPECT_GE(frozen.slots.largest() - frozen.slots.least(), 6.0) << frozen_figures;
  EXPECT_NEAR(frozen.slots.mean(), 96.2, 8.0) << frozen_figures;
  EXPECT_EQ(frozen.recall.mean(), 1.0) << frozen_figures;

  const Point centroid = orders(0.7, 0.6, KeyUpdate::centroid);
  const std::string centroid_figures = say_orders("rho .7, centroid", centroid);
  EXPECT_GE(centroid.slots.largest() - centroid.slots.least(), 4.0) << centroid_figures;
  EXPECT_LT(centroid.slots.mean(), frozen.slots.mean()) << centroid_figures;
}

TEST(Weakness, HighNoiseOpensDuplicatesWhichConsolidateFolds) {
  const Duplicates found = duplicates();
  const std::string figures =
      say("duplicates, rho .7, s* .6: slots an item ", found.slots, ", recall ", found.recall,
          "; consolidated ", found.slots_after, ", recall ", found.recall_after);
  EXPECT_NEAR(found.slots.mean(), 1.81, 0.12) << figures;
  EXPECT_NEAR(found.slots_after.mean(), 1.0, 0.01) << figures;
  EXPECT_GE(found.recall.mean(), 0.998) << figures;
  EXPECT_GE(found.recall_after.mean(), 0.998) << figures;
}

}  // namespace
}  // namespace dpcache::studies
