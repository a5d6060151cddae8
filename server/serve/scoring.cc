// Choosing who scores, and the figures of it.
#include "serve/scoring.h"

#include <stdexcept>

#include "api/metrics.h"

namespace dpcache::server {

Scoring::Scoring(const ScoringOptions& options) {
  if (options.choice == ScorerChoice::cpu) return;
  std::string why_not;
  try {
    std::unique_ptr<cuda::Device> device = options.open(why_not);
    if (device != nullptr) {
      cuda::ScorerOptions of_scorer;
      of_scorer.say = options.error;
      scorer_ = std::make_unique<cuda::CudaScorer>(std::move(device), of_scorer);
    }
  } catch (const std::runtime_error& error) {
    why_not = error.what();
  }
  if (scorer_ != nullptr) {
    options.info("a GPU scores: " + scorer_->device_name());
  } else {
    const auto& say = options.choice == ScorerChoice::cuda ? options.error : options.info;
    say("the CPU scores: " + why_not);
  }
}

void Scoring::print_metrics(std::string& out) const {
  const cuda::ScorerStatistics figures =
      scorer_ == nullptr ? cuda::ScorerStatistics{} : scorer_->statistics();
  const auto one = [&out](const char* name, const char* type, const char* help, double value) {
    print_head(out, name, type, help);
    print_sample(out, name, "", value);
  };
  const bool is_there = scorer_ != nullptr && !figures.has_given_up;
  one("dpcache_scorer_gpu", "gauge", "1 if a GPU scores, 0 if the CPU does.", is_there ? 1 : 0);
  if (scorer_ == nullptr) return;
  one("dpcache_scorer_batches_total", "counter", "Batches that the GPU answered.",
      static_cast<double>(figures.batches));
  one("dpcache_scorer_queries_total", "counter", "Queries of those.",
      static_cast<double>(figures.queries));
  one("dpcache_scorer_fallbacks_total", "counter",
      "Batches that the CPU answered because the GPU could not.",
      static_cast<double>(figures.fallbacks));
  one("dpcache_scorer_uploaded_rows_total", "counter", "Keys that went to the GPU.",
      static_cast<double>(figures.uploaded_rows));
  one("dpcache_scorer_displaced_total", "counter", "Caches that left the GPU for others.",
      static_cast<double>(figures.displaced));
  one("dpcache_scorer_caches", "gauge", "Caches whose keys are on the GPU.",
      static_cast<double>(figures.memories));
  one("dpcache_scorer_bytes", "gauge", "Memory of the GPU in use.",
      static_cast<double>(figures.bytes));
}

}  // namespace dpcache::server
