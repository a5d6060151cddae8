// Choosing tau: how often each tau of a fixed grid would have merged wrongly, and the loosest one
// whose rate is bounded.
//
// Testing tau after tau from the strictest on and stopping at the first that fails keeps the error
// of the whole within that of one test. As a looser tau merges all that a stricter one merges, the
// taus that pass on one data set are the first ones of the grid, so "the last before the first that
// fails" is also "the loosest that passes". So it is with a bound on the next ones: see
// prediction.h.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "aligned.h"
#include "digits.h"
#include "dpcache/train.h"
#include "kernels.h"
#include "train/binomial.h"
#include "train/check.h"
#include "train/prediction.h"
#include "validate.h"

namespace dpcache {

namespace {

constexpr int kDigits = 4;

// What the chosen tau has to keep, and what it takes to show that.
class Limit {
 public:
  explicit Limit(const CalibrationOptions& options)
      : options_(options), delta_(1.0 - options.confidence) {
    if (options.upcoming > 0) most_ = count_within(options.max_false_merge, options.upcoming);
  }

  // Whether so many false merges among n at risk show it.
  bool is_shown_by(std::uint64_t false_merges, std::uint64_t n) const {
    if (options_.upcoming > 0) {
      return shows_at_most(most_, options_.upcoming, false_merges, n, delta_);
    }
    return binomial_at_most(false_merges, n, options_.max_false_merge) <= delta_;
  }

  // Whether enough at risk would show it, if so large a share of them, and of all others, were
  // merged wrongly. Of those to come more may be, by chance.
  bool is_within_reach(double rate) const {
    if (options_.upcoming == 0) return rate < options_.max_false_merge;
    return 1.0 - binomial_at_most(most_, options_.upcoming, rate) < delta_;
  }

  // What is at risk.
  const char* what() const {
    return options_.per == Per::pair ? "pairs that are different" : "items";
  }

  std::string text() const {
    const std::string sure = " with confidence " + decimal(options_.confidence, kDigits);
    if (options_.upcoming > 0) {
      return "a limit of " + std::to_string(most_) + " false merges among the next " +
             std::to_string(options_.upcoming) + ' ' + what() + sure;
    }
    return "a rate of false merges of at most " + decimal(options_.max_false_merge, kDigits) + sure;
  }

 private:
  const CalibrationOptions& options_;
  double delta_;
  std::uint64_t most_ = 0;  // of those to come
};

// The fewest at risk that show it, none of them merged wrongly.
std::optional<std::uint64_t> least_at_risk(const Limit& limit) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;
  std::uint64_t enough = 1;
  while (!limit.is_shown_by(0, enough)) {
    if (enough == kMost) return {};
    enough *= 2;
  }
  std::uint64_t too_few = enough / 2;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (limit.is_shown_by(0, middle) ? enough : too_few) = middle;
  }
  return enough;
}

// Why the strictest tau fails already.
void refuse(const Limit& limit, Calibration& result) {
  const std::string what = limit.what();
  const std::uint64_t n = result.at_risk;
  const std::uint64_t wrong = result.curve.front().false_merges;
  if (wrong == 0) {
    result.needed = least_at_risk(limit);
    result.reason =
        limit.text() + " needs " +
        (result.needed ? "at least " + std::to_string(*result.needed) : "more than 2^53") + ' ' +
        what + ", even if none is merged wrongly; there are " + std::to_string(n);
    return;
  }
  const std::string found = std::to_string(wrong) + " of " + std::to_string(n) + ' ' + what +
                            " would be merged wrongly even at tau = 0";
  const double rate = static_cast<double>(wrong) / static_cast<double>(n);
  if (!limit.is_within_reach(rate)) {
    result.reason = found + ", so no tau gives " + limit.text() + "; more like them would not help";
    return;
  }
  // So many that this rate of wrong ones would pass.
  std::uint64_t enough = n;
  const auto passes = [&](std::uint64_t size) {
    const auto k = static_cast<std::uint64_t>(rate * static_cast<double>(size)) + 1;
    return limit.is_shown_by(k, size);
  };
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
  while (enough < kMost && !passes(enough)) enough += enough / 8 + 1;
  result.needed = enough;
  result.reason = found + ": that is too many for " + limit.text() + " to be sure; about " +
                  std::to_string(enough) + ' ' + what + " may do";
}

}  // namespace

Result<Calibration> calibrate(std::span<const Trial> trials, const CalibrationOptions& options) {
  const auto is_share = [](double x) { return x > 0.0 && x < 1.0; };
  if (!is_share(options.max_false_merge)) {
    return bad_option("max_false_merge", "above 0 and below 1");
  }
  if (!is_share(options.confidence)) return bad_option("confidence", "above 0 and below 1");
  if (options.upcoming > static_cast<std::uint64_t>(kMaxInteger)) {
    return bad_option("upcoming", "an integer from 0 to 2^53 - 1");
  }
  if (Status status = check_novelties(trials); !status) return status;

  Calibration result;
  std::vector<float> wrong_merges;  // the novelties at which a merge would be wrong
  std::vector<float> wrong_splits;
  for (const Trial& trial : trials) {
    if (trial.right != Right::merge) wrong_merges.push_back(trial.novelty);
    if (trial.right != Right::allocate) wrong_splits.push_back(trial.novelty);
  }
  std::sort(wrong_merges.begin(), wrong_merges.end());
  std::sort(wrong_splits.begin(), wrong_splits.end());
  result.at_risk = options.per == Per::pair ? wrong_merges.size() : trials.size();
  result.mergeable = wrong_splits.size();

  const auto at_most = [](const std::vector<float>& list, float tau) {
    return static_cast<std::uint64_t>(std::upper_bound(list.begin(), list.end(), tau) -
                                      list.begin());
  };
  result.curve.reserve(kTauSteps + 1);
  for (std::size_t i = 0; i <= kTauSteps; ++i) {
    CurvePoint point;
    point.tau = static_cast<float>(static_cast<double>(i) / 200.0);
    point.false_merges = at_most(wrong_merges, point.tau);
    point.missed_merges = result.mergeable - at_most(wrong_splits, point.tau);
    const bool as_before =
        !result.curve.empty() && result.curve.back().false_merges == point.false_merges;
    point.false_merge_bound = as_before ? result.curve.back().false_merge_bound
                                        : prediction_upper(point.false_merges, result.at_risk,
                                                           options.upcoming, options.confidence);
    result.curve.push_back(point);
  }
  const Limit limit(options);
  for (const CurvePoint& point : result.curve) {
    if (point.false_merges >= result.at_risk) break;
    if (!limit.is_shown_by(point.false_merges, result.at_risk)) break;
    result.chosen = point;
  }
  if (!result.chosen) refuse(limit, result);
  return result;
}

namespace {

// The rows of `items` at unit length, padded.
Result<AlignedFloats> unit_rows(const LabelledItems& items, const char* name) {
  const std::string pointer = std::string("/") + name;
  const std::size_t d = items.dimension;
  if (d == 0 || d > kMaxDimension) {
    return Status{Error::bad_shape, 0, pointer + "/dimension",
                  "dimension must be an integer from 1 to 65536"};
  }
  const std::size_t n = items.labels.size();
  if (items.keys.size() != n * d) {
    return Status{Error::bad_shape, 0, pointer + "/keys",
                  "there must be " + std::to_string(d) + " numbers for each of the " +
                      std::to_string(n) + " labels"};
  }
  if (!room_for(n * (padded(d) + 8) * sizeof(float))) {
    return Status{Error::full, 0, pointer, "there is no memory for their vectors"};
  }
  AlignedFloats rows(n * padded(d));
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const float> key = std::span(items.keys).subspan(i * d, d);
    if (Status status = check_vector(key, d, pointer + "/keys"); !status) {
      status.index = i;
      return status;
    }
    kernels::normalise(key, std::span<float>(rows.data() + i * padded(d), padded(d)));
  }
  return rows;
}

}  // namespace

Result<std::vector<Trial>> trials_against(const LabelledItems& reference,
                                          const LabelledItems& items) {
  if (reference.dimension != items.dimension) {
    return Status{Error::bad_shape, 0, "/items/dimension",
                  "the reference has vectors of length " + std::to_string(reference.dimension) +
                      ", the items of length " + std::to_string(items.dimension)};
  }
  const Result<AlignedFloats> slots = unit_rows(reference, "reference");
  if (!slots) return slots.status;
  const Result<AlignedFloats> keys = unit_rows(items, "items");
  if (!keys) return keys.status;
  std::vector<std::uint64_t> known = reference.labels;
  std::sort(known.begin(), known.end());

  const std::size_t length = padded(items.dimension);
  const float margin = snap_margin(length);
  const std::size_t count = reference.labels.size();
  std::vector<float> scores(count);
  std::vector<Trial> trials;
  trials.reserve(items.labels.size());
  for (std::size_t i = 0; i < items.labels.size(); ++i) {
    kernels::dots(keys->data() + i * length, slots->data(), length, count, scores.data());
    std::size_t best = 0;  // of equals the first, as a tie goes to the oldest slot
    for (std::size_t j = 0; j < count; ++j) {
      scores[j] = snap(scores[j], margin);
      if (scores[j] > scores[best]) best = j;
    }
    const std::uint64_t label = items.labels[i];
    Trial trial;
    trial.novelty = count == 0 ? 1.0F : 1.0F - scores[best];
    trial.right = Right::allocate;
    if (count > 0 && reference.labels[best] == label) {
      trial.right = Right::merge;
    } else if (std::binary_search(known.begin(), known.end(), label)) {
      trial.right = Right::neither;
    }
    trials.push_back(trial);
  }
  return trials;
}

}  // namespace dpcache
