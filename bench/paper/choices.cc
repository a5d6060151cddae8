// The studies of what one chooses: tau by a model of noise and with a bound, theta, and which value
// a slot keeps.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "paper/table.h"
#include "studies/bound.h"
#include "studies/studies.h"
#include "studies/threshold.h"
#include "studies/values.h"

namespace dpcache::paper {
namespace {

using namespace studies;  // NOLINT(google-build-using-namespace): nearly all of this file is it

// The cells of a grid: in how many there is one slot an item and everything is recalled.
struct Cells {
  double all = 0.0;
  double with_room = 0.0;
  double exact = 0.0;
  Spread slots;
  Spread recall;

  void add(const SlotsAnItem& point) {
    ++with_room;
    slots.add(point.slots.mean());
    recall.add(point.recall.mean());
    if (point.slots.mean() == 1.0 && point.recall.mean() == 1.0) ++exact;
  }
  void put_all(const std::string& series) const {
    put("cells", series, 0, "all", all);
    put("cells", series, 0, "with room", with_room);
    put("cells", series, 0, "exact", exact);
    put("cells", series, 0, "least slots", slots.least());
    put("cells", series, 0, "most slots", slots.largest());
    put("cells", series, 0, "least recall", recall.least());
  }
};

void noise_model() {
  constexpr std::uint64_t kSeedsACell = 5;
  Cells model;
  Cells defaults;
  for (std::size_t d : {16U, 32U, 64U, 128U, 256U}) {
    for (std::size_t count : {64U, 512U}) {
      for (double rho : {0.1, 0.3, 0.5, 0.7}) {
        ++model.all;
        const double low =
            false_merges_below(static_cast<double>(count), static_cast<double>(d), 0.1);
        const double high = duplicates_above(rho, static_cast<double>(d));
        if (low <= high) {
          model.add(each_four_times(settings((low + high) / 2.0, d), count, rho, kSeedsACell));
        }
        if (d < 64 || rho > 0.5) continue;
        ++defaults.all;
        Config config;
        config.dimension = static_cast<std::uint32_t>(d);
        config.value_dimension = kClasses;
        defaults.add(each_four_times(config, count, rho, kSeedsACell));
      }
    }
  }
  model.put_all("noise model");
  defaults.put_all("defaults");
}

void temperatures() {
  const std::vector<double> thetas = {0.005, 0.05, 0.1, 0.2, 0.3};
  for (std::size_t count : {64U, 1024U}) {
    for (double rho : {0.0, 0.3, 0.5, 0.7}) {
      const std::vector<Spread> recall = recall_at(thetas, 64, count, rho, 5);
      for (std::size_t i = 0; i < thetas.size(); ++i) {
        put("theta", "K = " + std::to_string(count) + ", " + line(std::setprecision(1), rho),
            thetas[i], "recall", recall[i]);
      }
    }
  }
}

}  // namespace

void put_tally(const std::string& source, const BoundCase& one_case, const Tally& tally) {
  const auto pairs = static_cast<double>(one_case.pairs);
  put("bound", source, pairs, "alpha", one_case.alpha);
  put("bound", source, pairs, "chosen", tally.chosen);
  put("bound", source, pairs, "violated", static_cast<double>(tally.violated) / kBoundSets);
  if (tally.chosen > 0) put("bound", source, pairs, "tau", tally.tau);
}

void choices() {
  noise_model();
  temperatures();
  for (const BoundCase& one_case : kBoundCases) {
    put_tally("a known curve", one_case, bound_on_a_curve(one_case, kBoundSets));
  }
  put_tally("items against a memory", kItemCase, bound_per_item(kBoundSets));
  for (const auto& [update, name] : {std::pair{ValueUpdate::first, "first"},
                                     {ValueUpdate::mean, "mean"},
                                     {ValueUpdate::last, "last"},
                                     {ValueUpdate::ema, "ema"}}) {
    put("values", name, 0, "recall", recall_after_change(update));
  }
}

}  // namespace dpcache::paper
