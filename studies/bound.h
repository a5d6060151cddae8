// The study of the stated bound on false merges: over many sets of pairs, how often does the chosen
// tau break it?
#ifndef DPCACHE_STUDIES_BOUND_H_
#define DPCACHE_STUDIES_BOUND_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "dpcache/train.h"
#include "studies/studies.h"

namespace dpcache::studies {

inline constexpr double kDelta = 0.1;
struct BoundCase {
  std::size_t pairs;  // that are different
  double alpha;
};
inline constexpr BoundCase kBoundCases[] = {{200, .05}, {500, .02}, {1000, .01}};

// How often a choice was made, and how often its true rate is above alpha.
struct Tally {
  int chosen = 0;
  int violated = 0;
  Spread tau;

  // One set of trials; `true_rate` gives that of a tau.
  template <class TrueRate>
  void add(const std::vector<Trial>& trials, double alpha, Per per, TrueRate true_rate) {
    const Calibration calibration = *calibrate(trials, {alpha, 1.0 - kDelta, per});
    if (!calibration.chosen) return;
    ++chosen;
    tau.add(static_cast<double>(calibration.chosen->tau));
    if (true_rate(calibration.chosen->tau) > alpha) ++violated;
  }
};

// Novelties of different pairs are the square root of a uniform number: P(nov <= tau) = tau^2.
// Every tau is then as hard as it gets: the true rate passes alpha in the middle of the grid.
inline Tally bound_on_a_curve(const BoundCase& one_case, int sets) {
  Random random(one_case.pairs);
  Tally tally;
  for (int set = 0; set < sets; ++set) {
    std::vector<Trial> trials(one_case.pairs);
    for (Trial& one : trials) {
      one = {static_cast<float>(std::sqrt(random.uniform())), Right::allocate};
    }
    tally.add(trials, one_case.alpha, Per::pair,
              [](float tau) { return static_cast<double>(tau) * static_cast<double>(tau); });
  }
  return tally;
}

// Sets drawn from a pool of trials, whose own rate is the true one.
inline Tally bound_on_a_pool(const std::vector<Trial>& pool, const BoundCase& one_case, Per per,
                             int sets, Random random) {
  Tally tally;
  for (int set = 0; set < sets; ++set) {
    std::vector<Trial> drawn(one_case.pairs);
    for (Trial& one : drawn) one = pool[random.below(pool.size())];
    tally.add(drawn, one_case.alpha, per, [&pool](float tau) {
      const auto wrong = std::count_if(pool.begin(), pool.end(), [tau](const Trial& one) {
        return one.novelty <= tau && one.right != Right::merge;
      });
      return static_cast<double>(wrong) / static_cast<double>(pool.size());
    });
  }
  return tally;
}

// Items of 40 things with much noise against a memory of them: the nearest of 40 slots is often
// another thing's.
inline constexpr BoundCase kItemCase = {500, 0.05};
inline Tally bound_per_item(int sets) {
  constexpr std::size_t kThings = 40;
  constexpr std::size_t kDimension = 16;
  Random random(5);
  const Distinct things = distinct_items(random, kThings, kDimension);
  const auto draw = [&](std::size_t count) {
    LabelledItems items;
    items.dimension = kDimension;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t thing = count == kThings ? i : random.below(kThings);
      const Key key = noisy(random, things.keys[thing], 0.8);
      items.keys.insert(items.keys.end(), key.begin(), key.end());
      items.labels.push_back(thing);
    }
    return items;
  };
  const LabelledItems reference = draw(kThings);
  const std::vector<Trial> pool = *trials_against(reference, draw(20000));
  return bound_on_a_pool(pool, kItemCase, Per::item, sets, random);
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_BOUND_H_
