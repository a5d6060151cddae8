// The long form of the plateau study: three popularities, five seeds.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "studies/plateau.h"

namespace dpcache::studies {
namespace {

TEST(CapacityLong, HasThePlateauForEveryPopularity) {
  struct Case {
    Popularity popularity;
    const char* name;
    double recall_at_4;  // s* = .4
    double slots_at_9;   // s* = .9
  };
  const std::vector<Case> cases = {{Popularity::log_normal, "log-normal", 0.960, 1.86},
                                   {Popularity::uniform, "uniform", 0.987, 2.25},
                                   {Popularity::zipf, "Zipf", 0.971, 1.81}};
  const std::vector<double> least = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  for (const Case& one : cases) {
    const std::vector<PlateauPoint> points = plateau(one.popularity, least, 5);
    for (std::size_t i = 0; i < least.size(); ++i) {
      const Spread& recall = points[i].recall;
      const Spread& slots = points[i].slots;
      const std::string figures = say("plateau, ", one.name, ": s* ", least[i], ": recall ", recall,
                                      " @ ", slots, " slots an item");
      if (least[i] < 0.45) {
        EXPECT_NEAR(recall.mean(), one.recall_at_4, 0.012) << figures;
      } else if (least[i] < 0.55) {
        EXPECT_GE(recall.mean(), 0.997) << figures;
      } else {
        EXPECT_EQ(recall.mean(), 1.0) << figures;
      }
      if (least[i] > 0.85) {
        EXPECT_NEAR(slots.mean(), one.slots_at_9, 0.05) << figures;
      } else if (least[i] > 0.55) {
        EXPECT_EQ(slots.mean(), 1.0) << figures;
      }
    }
  }
}

}  // namespace
}  // namespace dpcache::studies
