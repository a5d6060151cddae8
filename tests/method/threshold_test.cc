// Choosing tau and theta: the noise model's threshold, the defaults, and the temperature's range.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "studies/studies.h"
#include "studies/threshold.h"

namespace dpcache::studies {
namespace {

// Whether there is one slot an item and everything is recalled; failing that, close to it.
bool is_exact(const SlotsAnItem& point, const std::string& setup) {
  const std::string figures =
      line(setup, ": ", point.slots, " slots an item, recall ", point.recall);
  EXPECT_NEAR(point.slots.mean(), 1.0, 0.004) << figures;
  EXPECT_GE(point.recall.mean(), 0.996) << figures;
  const bool exact = point.slots.mean() == 1.0 && point.recall.mean() == 1.0;
  if (!exact) say(figures);
  return exact;
}

TEST(Threshold, OfTheNoiseModelGivesOneSlotAnItemWhereverItsTwoBoundsLeaveRoom) {
  std::size_t cells = 0;
  std::size_t with_room = 0;
  std::size_t exact = 0;
  for (std::size_t d : {16U, 32U, 64U, 128U, 256U}) {
    for (std::size_t count : {64U, 512U}) {
      for (double rho : {0.1, 0.3, 0.5, 0.7}) {
        ++cells;
        const double low =
            false_merges_below(static_cast<double>(count), static_cast<double>(d), 0.1);
        const double high = duplicates_above(rho, static_cast<double>(d));
        if (low > high) continue;
        ++with_room;
        const std::string setup = line("noise model, d = ", d, ", K = ", count, ", rho = ", rho,
                                       ", s* between ", low, " and ", high);
        if (is_exact(each_four_times(settings((low + high) / 2.0, d), count, rho, 2), setup))
          ++exact;
      }
    }
  }
  const std::string figures = say("noise model: ", with_room, " of ", cells, " cells have room, ",
                                  exact, " of these are exact");
  EXPECT_EQ(cells, 40U) << figures;
  EXPECT_EQ(with_room, 28U) << figures;
  EXPECT_GE(exact, 26U) << figures;
}

TEST(Threshold, AndTemperatureByDefaultGiveOneSlotAnItemFrom64DimensionsAndModerateNoise) {
  EXPECT_EQ(kDefaultTau, 0.4F);
  EXPECT_EQ(Config{}.theta, 0.05F);
  std::size_t exact = 0;
  for (std::size_t d : {64U, 128U, 256U}) {
    for (std::size_t count : {64U, 512U}) {
      for (double rho : {0.1, 0.3, 0.5}) {
        Config config;
        config.dimension = static_cast<std::uint32_t>(d);
        config.value_dimension = kClasses;
        const std::string setup = line("defaults, d = ", d, ", K = ", count, ", rho = ", rho);
        if (is_exact(each_four_times(config, count, rho, 2), setup)) ++exact;
      }
    }
  }
  const std::string figures = say("defaults: ", exact, " of 18 cells are exact");
  EXPECT_GE(exact, 16U) << figures;
}

TEST(Temperature, UpToOneTenthRecallsEverythingFrom64Dimensions) {
  const std::vector<double> thetas = {0.005, 0.05, 0.1};
  Spread all;
  for (std::size_t d : {64U, 128U}) {
    for (std::size_t count : {64U, 1024U}) {
      for (double rho : {0.0, 0.5}) {
        const std::vector<Spread> recall = recall_at(thetas, d, count, rho, 1);
        for (std::size_t i = 0; i < thetas.size(); ++i) {
          EXPECT_GE(recall[i].mean(), 0.998)
              << line("theta ", thetas[i], ", d = ", d, ", K = ", count, ", rho = ", rho);
          all.add(recall[i].mean());
        }
      }
    }
  }
  say("theta from .005 to .1, K = 64 and 1024: least recall ", all.least());
}

// A thousand slots at a similarity near 0 outweigh the one that is meant: e^(s / theta) is 28 at
// most for a theta of .3. At .2 it takes much noise as well.
TEST(Temperature, OfTwoOrThreeTenthsFailsWithAThousandSlotsAndNoise) {
  struct Case {
    double rho;
    double at_2;  // the largest recall that still is a failure
    double at_3;
  };
  for (const Case& one : {Case{0.3, 1.0, 0.90}, Case{0.7, 0.85, 0.40}}) {
    const std::vector<Spread> recall = recall_at({0.2, 0.3}, 64, 1024, one.rho, 2);
    const std::string figures = say("theta .2 and .3, d = 64, K = 1024, rho = ", one.rho,
                                    ": recall ", recall[0], " and ", recall[1]);
    EXPECT_LE(recall[0].mean(), one.at_2) << figures;
    EXPECT_LE(recall[1].mean(), one.at_3) << figures;
  }
}

}  // namespace
}  // namespace dpcache::studies
