// All mechanisms of the comparison, with the settings that they run with.
#ifndef DPCACHE_BENCH_PAPER_LINEUP_H_
#define DPCACHE_BENCH_PAPER_LINEUP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dpcache/dpcache.h"
#include "paper/mechanism.h"

namespace dpcache::paper {

struct Setting {
  std::size_t dimension = 64;
  std::size_t budget = 64;        // for those that have one
  double least_similarity = 0.5;  // s*, for those that have one
  std::uint64_t seed = 0;         // for those that draw at random
};

using Maker = std::function<std::unique_ptr<Mechanism>(const Setting&)>;

struct Contender {
  std::string name;
  Maker make;
};

// In the order in which tables show them.
const std::vector<Contender>& all_contenders();
// Those that hold at most a budget of entries.
const std::vector<Contender>& budgeted_contenders();
// The one of that name. Throws std::invalid_argument if there is none.
const Contender& contender(const std::string& name);

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_LINEUP_H_
