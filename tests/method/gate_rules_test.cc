// What learns the gate and what does not: hard keeps with exact differences against the paper's
// soft mask, straight-through samples, and a perceptron that does not see the novelty.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "studies/gate_rules.h"
#include "studies/studies.h"

namespace dpcache::studies {
namespace {

constexpr int kSteps = 300;

// Starts from which the threshold has a way to go. The sanitizers take about ten times as long.
const std::vector<std::pair<double, double>>& far_starts() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static const std::vector<std::pair<double, double>> kStarts = {{1, .1}};
#else
  static const std::vector<std::pair<double, double>> kStarts = {{1, .1}, {1, .9}, {-2, .5}};
#endif
  return kStarts;
}

struct Learning {
  GateOutcome outcome;
  std::string figures;
};

Learning learn(const char* name, Rule rule, Form form, std::size_t start) {
  Learning out;
  out.outcome = learned_gate(rule, form, far_starts()[start], start + 1, kSteps);
  out.figures = say(name, ", start ", start, ": ", out.outcome.kept, " tokens kept, recall ",
                    out.outcome.recall, ", of the best 64 ", out.outcome.best_recall);
  return out;
}

TEST(GateRules, OnlyExactDifferencesLearnTheThresholdFromFarAway) {
  for (std::size_t start = 0; start < far_starts().size(); ++start) {
    const Learning exact = learn("exact flips", Rule::exact_flips, Form::two_parameters, start);
    EXPECT_TRUE(exact.outcome.converged()) << exact.figures;
    const Learning soft = learn("soft mask", Rule::soft_mask, Form::two_parameters, start);
    EXPECT_LT(soft.outcome.recall, 0.5) << soft.figures;
    const Learning straight =
        learn("straight-through", Rule::straight_through, Form::two_parameters, start);
    EXPECT_GT(straight.outcome.kept, 128.0) << straight.figures;
  }
}

TEST(GateRules, ASoftMaskThatFailsAtOneHalfMayStillRankTheTokens) {
  const Learning soft = learn("soft mask", Rule::soft_mask, Form::two_parameters, 0);
  EXPECT_LT(soft.outcome.kept, 32.0) << soft.figures;
  EXPECT_GE(soft.outcome.best_recall, 0.99) << soft.figures;
}

TEST(GateRules, APerceptronLearnsFromNoveltyAndNotFromTheKeyAlone) {
  const Learning both =
      learn("key and novelty, exact flips", Rule::exact_flips, Form::key_and_novelty, 0);
  EXPECT_TRUE(both.outcome.converged()) << both.figures;
  const Learning soft =
      learn("key and novelty, soft mask", Rule::soft_mask, Form::key_and_novelty, 0);
  EXPECT_LT(soft.outcome.best_recall, 0.7) << soft.figures;
  const Learning key = learn("key alone, exact flips", Rule::exact_flips, Form::key_only, 0);
  EXPECT_LT(key.outcome.recall, 0.7) << key.figures;
  EXPECT_LT(key.outcome.best_recall, 0.7) << key.figures;
}

}  // namespace
}  // namespace dpcache::studies
