// All mechanisms of the comparison and their settings; none is tuned to a study.
#include "paper/lineup.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "paper/attention.h"
#include "paper/grouped.h"
#include "paper/recurrent.h"

namespace dpcache::paper {
namespace {

template <class M, class... Arguments>
std::unique_ptr<Mechanism> made(Arguments... arguments) {
  return std::make_unique<M>(arguments...);
}

Config with_budget(const Setting& s) {
  Config config = studies::settings(s.least_similarity, s.dimension);
  config.budget = BudgetKind::fixed;
  config.m0 = static_cast<float>(s.budget);
  return config;
}

}  // namespace

const std::vector<Contender>& all_contenders() {
  using S = const Setting&;
  static const std::vector<Contender> kList = {
      {"dpcache",
       [](S s) { return made<Dpcache>(studies::settings(s.least_similarity, s.dimension)); }},
      {"leader clustering", [](S s) { return made<Leader>(s.least_similarity); }},
      {"full attention", [](S) { return made<FullAttention>(); }},
      {"kNN / Memorizing (top 32)", [](S) { return made<Nearest>(32U); }},
      {"Hopfield (2 updates)", [](S) { return made<Hopfield>(2U); }},
      {"Reformer LSH (16 buckets, 8 rounds)",
       [](S s) { return made<Hashed>(s.dimension, 16U, 8U, s.seed); }},
      {"routing (8 clusters)", [](S s) { return made<Routed>(8U, s.seed); }},
      {"Landmark-like (blocks of 16, best 4)",
       [](S) { return made<Blocks>(Blocks::Bounds::fixed, 4U); }},
      {"EM-LLM-like (best 4 events)", [](S) { return made<Blocks>(Blocks::Bounds::surprise, 4U); }},
      {"recency", [](S s) { return made<Window>(s.budget, 0U); }},
      {"StreamingLLM (4 sinks)", [](S s) { return made<Window>(s.budget, 4U); }},
      {"H2O (no recent)", [](S s) { return made<HeavyHitters>(s.budget, 0U); }},
      {"H2O (B/8 recent)", [](S s) { return made<HeavyHitters>(s.budget, s.budget / 8); }},
      {"H2O (B/4 recent)", [](S s) { return made<HeavyHitters>(s.budget, s.budget / 4); }},
      {"SnapKV",
       [](S s) { return made<Snapshot>(s.budget, std::min<std::size_t>(32, s.budget / 2)); }},
      {"TOVA", [](S s) { return made<LeastAttended>(s.budget); }},
      {"neural episodic control", [](S s) { return made<Episodic>(s.budget, 50U); }},
      {"clustered attention (k-means, B)", [](S s) { return made<Clustered>(s.budget, s.seed); }},
      {"infinite-former-like (B bumps)", [](S s) { return made<Continuous>(s.budget); }},
      {"Kanerva (B rows)", [](S s) { return made<Kanerva>(s.dimension, s.budget, s.seed); }},
      {"product keys (16 x 16, top 32)",
       [](S s) { return made<ProductKeys>(s.dimension, 16U, 32U, s.seed); }},
      {"linear attention", [](S s) { return made<LinearAttention>(s.dimension); }},
      {"DeltaNet (beta 1)", [](S s) { return made<DeltaNet>(s.dimension, 1.0); }},
      {"Titans-like", [](S s) { return made<Titans>(s.dimension); }},
      {"selective scan (Mamba-like)", [](S s) { return made<SelectiveScan>(s.dimension, s.seed); }},
      {"diagonal SSM (64 states)", [](S s) { return made<DiagonalSsm>(s.dimension, 64U, s.seed); }},
  };
  return kList;
}

const std::vector<Contender>& budgeted_contenders() {
  static const std::vector<Contender> kList = [] {
    std::vector<Contender> out = {
        {"dpcache", [](const Setting& s) { return made<Dpcache>(with_budget(s)); }}};
    for (const char* name :
         {"H2O (no recent)", "H2O (B/8 recent)", "recency", "StreamingLLM (4 sinks)", "SnapKV",
          "TOVA", "clustered attention (k-means, B)"}) {
      out.push_back(contender(name));
    }
    return out;
  }();
  return kList;
}

const Contender& contender(const std::string& name) {
  for (const Contender& one : all_contenders()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("no mechanism is called " + name);
}

}  // namespace dpcache::paper
