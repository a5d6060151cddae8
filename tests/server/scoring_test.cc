// Who scores for a server, what it says of it, and its metrics.
#include "serve/scoring.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/emulated_device.h"
#include "cuda/scorer_support.h"

namespace dpcache::server {
namespace {

struct Said {
  std::vector<std::string> info;
  std::vector<std::string> error;

  ScoringOptions options(ScorerChoice choice) {
    ScoringOptions options;
    options.choice = choice;
    options.info = [this](const std::string& line) { info.push_back(line); };
    options.error = [this](const std::string& line) { error.push_back(line); };
    options.open = [](std::string& why_not) {
      why_not = "no GPU today";
      return nullptr;
    };
    return options;
  }
};

std::string metrics(const Scoring& scoring) {
  std::string out;
  scoring.print_metrics(out);
  return out;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Scoring, TheCpuIsChosenInSilence) {
  Said said;
  const Scoring scoring(said.options(ScorerChoice::cpu));
  EXPECT_EQ(scoring.scorer(), nullptr);
  EXPECT_TRUE(said.info.empty());
  EXPECT_TRUE(said.error.empty());
  EXPECT_TRUE(has_line(metrics(scoring), "dpcache_scorer_gpu 0"));
}

TEST(Scoring, WithoutADeviceTheCpuScoresAndTheLogSaysWhy) {
  Said automatic;
  const Scoring first(automatic.options(ScorerChoice::automatic));
  EXPECT_EQ(first.scorer(), nullptr);
  EXPECT_EQ(automatic.info, std::vector<std::string>{"the CPU scores: no GPU today"});
  EXPECT_TRUE(automatic.error.empty());
  Said asked;
  const Scoring second(asked.options(ScorerChoice::cuda));
  EXPECT_EQ(second.scorer(), nullptr);
  EXPECT_TRUE(asked.info.empty());
  EXPECT_EQ(asked.error, std::vector<std::string>{"the CPU scores: no GPU today"});
}

TEST(Scoring, AGpuScoresAndIsCounted) {
  cuda::EmulatedDevice::Control control;
  Said said;
  ScoringOptions options = said.options(ScorerChoice::automatic);
  options.open = [&control](std::string&) {
    return std::make_unique<cuda::EmulatedDevice>(control);
  };
  const Scoring scoring(options);
  EXPECT_EQ(said.info, std::vector<std::string>{"a GPU scores: emulated"});
  ASSERT_NE(scoring.scorer(), nullptr);
  cuda::TestMemory memory(1, 16, 1);
  memory.add(2000, scoring.scorer());
  const std::vector<float> queries = memory.queries(70);
  std::vector<RowMatch> found(70);
  EXPECT_TRUE(scoring.scorer()->nearest(memory.view(), queries, found));
  control.fail(cuda::EmulatedDevice::Call::search);
  EXPECT_FALSE(scoring.scorer()->nearest(memory.view(), queries, found));
  EXPECT_EQ(said.error.size(), 1U);
  const std::string text = metrics(scoring);
  for (const char* line : {"dpcache_scorer_gpu 1", "dpcache_scorer_batches_total 1",
                           "dpcache_scorer_queries_total 70", "dpcache_scorer_fallbacks_total 1",
                           "dpcache_scorer_uploaded_rows_total 2000", "dpcache_scorer_caches 1"}) {
    EXPECT_TRUE(has_line(text, line)) << line << " is not in\n" << text;
  }
  control.is_broken = true;
  for (unsigned i = 0; i < cuda::kFaultsInARow; ++i) {
    EXPECT_FALSE(scoring.scorer()->nearest(memory.view(), queries, found));
  }
  EXPECT_TRUE(has_line(metrics(scoring), "dpcache_scorer_gpu 0"));
}

}  // namespace
}  // namespace dpcache::server
