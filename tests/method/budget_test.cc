// Budgets that follow the stream: surprise [eq. 4, 5] and the ghost list, against a fixed budget
// that holds as many slots on average. They win where the working set changes size, and the tests
// whose name says "weakness" show where surprise loses.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "studies/budgets.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

struct Comparison {
  Outcome moving;
  double gain;  // over the fixed budget of the same average
  std::string figures;
};

Comparison compare(const char* name, BudgetKind kind, const std::vector<Phases>& seeds) {
  Comparison result;
  result.moving = run(budgeted(kind, 6.0), seeds);
  const double fixed = fixed_recall(result.moving.slots.mean(), seeds);
  result.gain = result.moving.recall.mean() - fixed;
  result.figures =
      say(name, ": recall ", result.moving.recall, " @ ", result.moving.slots,
          " slots; a fixed budget of the same average ", fixed, ", gain ", result.gain);
  return result;
}

TEST(AdaptiveBudget, BeatsAFixedOneOfTheSameAverageWhereTheWorkingSetGrowsAndShrinks) {
  const Comparison result = compare("adaptive, 6/30", BudgetKind::adaptive, six_and_thirty());
  EXPECT_GE(result.moving.recall.mean(), 0.88) << result.figures;
  EXPECT_LE(result.moving.slots.mean(), 18.0) << result.figures;
  EXPECT_GE(result.gain, 0.04) << result.figures;
}

TEST(AdaptiveBudget, BeatsAFixedOneOfTheSameAverageOnBursts) {
  const Comparison result = compare("adaptive, bursty", BudgetKind::adaptive, bursty());
  EXPECT_NEAR(result.gain, 0.079, 0.02) << result.figures;
}

TEST(AdaptiveBudget, GainsNothingOnAStationarySet) {
  for (std::size_t size : {18U, 30U}) {
    const Comparison result =
        compare(size == 18 ? "adaptive, constant 18" : "adaptive, constant 30",
                BudgetKind::adaptive, constant_set(size, 108, 8));
    EXPECT_NEAR(result.gain, 0.0, 0.02) << result.figures;
  }
}

// Surprise is high when a set is replaced, and gone when its last items come: the budget has cooled
// below the size of the set by the phase's end, where a fixed budget holds all of it.
TEST(AdaptiveBudget, WeaknessLosesToAFixedOneOnFreshSetsOfEqualSize) {
  for (std::size_t size : {18U, 30U}) {
    const Comparison result =
        compare(size == 18 ? "adaptive, fresh 18" : "adaptive, fresh 30", BudgetKind::adaptive,
                fresh_sets(std::vector<std::size_t>(8, size), 108));
    EXPECT_LE(result.gain, -0.06) << result.figures;
    EXPECT_GE(result.gain, -0.25) << result.figures;
  }
}

TEST(AdaptiveBudget, CostsRecallAgainstNoBudgetAtAll) {
  const std::vector<Phases> seeds = six_and_thirty();
  const Outcome unbounded = run(budgeted(BudgetKind::none, 6.0), seeds);
  const Outcome fixed = run(budgeted(BudgetKind::fixed, 18.0), seeds);
  const std::string figures =
      say("6/30 without a budget: recall ", unbounded.recall, " @ ", unbounded.slots,
          "; fixed 18: recall ", fixed.recall, " @ ", fixed.slots);
  EXPECT_GE(unbounded.recall.mean(), 0.995) << figures;
  EXPECT_NEAR(unbounded.slots.mean(), 69.5, 1.0) << figures;
  EXPECT_NEAR(fixed.recall.mean(), 0.827, 0.02) << figures;
  EXPECT_NEAR(fixed.slots.mean(), 16.4, 0.2) << figures;
}

TEST(GhostBudget, BeatsTheAdaptiveOneWithFewerSlots) {
  const std::vector<Phases> seeds = six_and_thirty();
  const Comparison result = compare("ghost, 6/30", BudgetKind::ghost, seeds);
  EXPECT_GE(result.moving.recall.mean(), 0.89) << result.figures;
  EXPECT_LE(result.moving.slots.mean(), 15.0) << result.figures;
  EXPECT_GE(result.gain, 0.08) << result.figures;

  // The list itself holds 32 x 8 bytes, as much as one key of 64 floats.
  const double with_one_more = fixed_recall(result.moving.slots.mean() + 1.0, seeds);
  const std::string figures = say("ghost, 6/30: a fixed budget of one slot more ", with_one_more);
  EXPECT_GE(result.moving.recall.mean() - with_one_more, 0.06) << figures;
}

TEST(GhostBudget, BeatsAFixedOneOfTheSameAverageOnBursts) {
  const Comparison result = compare("ghost, bursty", BudgetKind::ghost, bursty());
  EXPECT_GE(result.moving.recall.mean(), 0.93) << result.figures;
  EXPECT_LE(result.moving.slots.mean(), 15.0) << result.figures;
  EXPECT_NEAR(result.gain, 0.103, 0.03) << result.figures;
}

TEST(GhostBudget, DoesNotLoseOnFreshSetsOfEqualSize) {
  const Comparison result = compare("ghost, fresh 18", BudgetKind::ghost,
                                    fresh_sets(std::vector<std::size_t>(8, 18), 108));
  EXPECT_GE(result.gain, 0.0) << result.figures;
}

}  // namespace
}  // namespace dpcache::studies
