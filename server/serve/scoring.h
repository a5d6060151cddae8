// Who scores for the caches of a server: a GPU where there is one, else the CPU.
#ifndef DPCACHE_SERVER_SERVE_SCORING_H_
#define DPCACHE_SERVER_SERVE_SCORING_H_

#include <functional>
#include <memory>
#include <string>

#include "cuda/device.h"
#include "cuda/scorer.h"
#include "dpcache/scorer.h"
#include "serve/serve.h"

namespace dpcache::server {

struct ScoringOptions {
  ScorerChoice choice = ScorerChoice::automatic;
  // What an operator should know, in a sentence.
  std::function<void(const std::string&)> info = [](const std::string&) {};
  std::function<void(const std::string&)> error = [](const std::string&) {};
  // Tests have devices of their own.
  std::function<std::unique_ptr<cuda::Device>(std::string& why_not)> open = cuda::open_cuda_device;
};

class Scoring {
 public:
  // Says who scores, once.
  explicit Scoring(const ScoringOptions& options);

  // Null: the CPU scores. Lives as long as this.
  Scorer* scorer() const noexcept { return scorer_.get(); }
  void print_metrics(std::string& out) const;

 private:
  std::unique_ptr<cuda::CudaScorer> scorer_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVE_SCORING_H_
