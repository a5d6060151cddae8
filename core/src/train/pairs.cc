// A gate from pairs whose verdict is known: all at once, or one at a time.
#include <algorithm>
#include <utility>

#include "aligned.h"
#include "dpcache/train.h"
#include "gate.h"
#include "kernels.h"
#include "train/check.h"
#include "train/numbers.h"
#include "validate.h"

namespace dpcache {

Result<float> novelty_between(std::span<const float> a, std::span<const float> b) {
  if (a.empty() || a.size() > kMaxDimension) {
    return Status{Error::bad_shape, 0, "/a", "a vector has from 1 to 65536 components"};
  }
  if (Status status = check_vector(a, a.size(), "/a"); !status) return status;
  if (Status status = check_vector(b, a.size(), "/b"); !status) return status;
  AlignedFloats one(padded(a.size()));
  AlignedFloats other(padded(a.size()));
  kernels::normalise(a, one);
  kernels::normalise(b, other);
  float score = 0.0F;
  kernels::dots(one.data(), other.data(), one.size(), 1, &score);
  return 1.0F - snap(score, snap_margin(one.size()));
}

namespace {

// The pairs in one order, whatever order they came in, so that sums have the same bits.
std::vector<Judged> sorted(std::span<const Judged> pairs) {
  std::vector<Judged> list(pairs.begin(), pairs.end());
  std::sort(list.begin(), list.end(), [](const Judged& a, const Judged& b) {
    return a.novelty != b.novelty ? a.novelty < b.novelty : a.verdict < b.verdict;
  });
  return list;
}

// The share of (same, different) couples in which the different one is more novel. `list` is
// sorted.
double separation_of(const std::vector<Judged>& list, double same, double different) {
  double halves = 0.0;
  double same_below = 0.0;
  for (std::size_t i = 0; i < list.size();) {
    double same_here = 0.0;
    double different_here = 0.0;
    const float novelty = list[i].novelty;
    for (; i < list.size() && list[i].novelty == novelty; ++i) {
      (list[i].verdict == Verdict::same ? same_here : different_here) += 1.0;
    }
    halves += different_here * (2.0 * same_below + same_here);
    same_below += same_here;
  }
  return halves / (2.0 * same * different);
}

// ln(1 + e^x).
double softplus(double x) noexcept {
  const double tail = logarithm_of_one_plus(exp_nonpositive(x < 0.0 ? x : -x));
  return x > 0.0 ? x + tail : tail;
}

// The likelihood of a logistic curve with slope w and offset c, and its maximum.
class Curve {
 public:
  Curve(const std::vector<Judged>& pairs, double same, double different, double cost)
      : pairs_(pairs),
        same_{1.0, 1.0 / (same + 2.0)},
        different_{cost, (different + 1.0) / (different + 2.0)},
        weight_(same + cost * different) {}

  struct Point {
    double w = 0.0;
    double c = 0.0;
  };

  // Mean cross-entropy.
  double loss(const Point& at) const noexcept {
    double sum = 0.0;
    for (const Judged& pair : pairs_) {
      const Kind& kind = kind_of(pair);
      const double z = at.w * static_cast<double>(pair.novelty) + at.c;
      sum += kind.weight * (softplus(z) - kind.target * z);
    }
    return sum / weight_;
  }

  // Newton's method, halving steps that do not descend; the loss is convex.
  Point minimum() const noexcept {
    constexpr int kSteps = 100;
    constexpr double kRidge = 1e-12;  // keeps the system solvable where all novelties are one
    Point at;
    double here = loss(at);
    for (int i = 0; i < kSteps; ++i) {
      double gw = 0.0;
      double gc = 0.0;
      double ww = kRidge;
      double wc = 0.0;
      double cc = kRidge;
      for (const Judged& pair : pairs_) {
        const Kind& kind = kind_of(pair);
        const auto x = static_cast<double>(pair.novelty);
        const double g = logistic(at.w * x + at.c);
        const double error = kind.weight * (g - kind.target) / weight_;
        const double curvature = kind.weight * g * (1.0 - g) / weight_;
        gw += error * x;
        gc += error;
        ww += curvature * x * x;
        wc += curvature * x;
        cc += curvature;
      }
      const double determinant = ww * cc - wc * wc;
      const Point step{(cc * gw - wc * gc) / determinant, (ww * gc - wc * gw) / determinant};
      double length = 1.0;
      Point next;
      double there = here;
      for (; length > 1e-10; length *= 0.5) {
        next = {at.w - length * step.w, at.c - length * step.c};
        there = loss(next);
        if (there < here) break;
      }
      if (!(there < here)) break;  // as low as doubles can tell
      const double gain = here - there;
      at = next;
      here = there;
      if (gain < 1e-15) break;
    }
    return at;
  }

 private:
  struct Kind {
    double weight;
    double target;
  };
  const Kind& kind_of(const Judged& pair) const noexcept {
    return pair.verdict == Verdict::same ? same_ : different_;
  }

  const std::vector<Judged>& pairs_;
  Kind same_;
  Kind different_;
  double weight_;
};

}  // namespace

Result<LearnedGate> gate_from_pairs(std::span<const Judged> pairs, const PairOptions& options) {
  if (!is_within(options.false_merge_cost, 1e-3, 1e3)) {
    return bad_option("false_merge_cost", "from 0.001 to 1000");
  }
  if (Status status = check_novelties(pairs); !status) return status;
  LearnedGate learned;
  for (const Judged& pair : pairs) {
    ++(pair.verdict == Verdict::same ? learned.same : learned.different);
  }
  if (learned.same == 0 || learned.different == 0) {
    learned.reason = std::string("a gate needs pairs of both kinds; there are ") +
                     std::to_string(learned.same) + " that are the same and " +
                     std::to_string(learned.different) + " that are different";
    return learned;
  }
  const auto same = static_cast<double>(learned.same);
  const auto different = static_cast<double>(learned.different);
  const std::vector<Judged> list = sorted(pairs);
  learned.separation = separation_of(list, same, different);
  const Curve curve(list, same, different, options.false_merge_cost);
  const Curve::Point found = curve.minimum();
  learned.loss = curve.loss(found);
  // The curve must rise by more than rounding.
  constexpr double kLeastSlope = 1e-6;
  if (!(found.w > kLeastSlope)) {
    learned.reason =
        "pairs that are different are no more novel than pairs that are the same: no threshold on "
        "novelty tells them apart";
    return learned;
  }
  const double b = -found.c / found.w;
  if (!is_within(b, 0.0, 2.0)) {
    learned.reason = b < 0.0 ? "even at novelty 0 a pair is more likely different than the same"
                             : "even at novelty 2 a pair is more likely the same than different";
    return learned;
  }
  learned.gate = Gate{static_cast<float>(found.w), static_cast<float>(b)};
  return learned;
}

Result<OnlineGate> OnlineGate::create(const Gate& start, const OnlineOptions& options) {
  if (!is_within(start.a, kLeastOnlineSlope, kLargestOnlineSlope)) {
    return bad_option("a", "from 1 to 1000 to learn online");
  }
  if (!is_within(start.b, 0.0, 2.0)) return bad_option("b", "from 0 to 2: it is a novelty");
  if (!(options.rate > 0.0 && options.rate <= 1.0)) return bad_option("rate", "above 0, at most 1");
  OnlineGate gate;
  gate.a_ = static_cast<double>(start.a);
  gate.b_ = static_cast<double>(start.b);
  gate.rate_ = options.rate;
  return gate;
}

Status OnlineGate::correct(const Judged& judged) {
  if (Status status = check_novelty(judged.novelty, 0); !status) return status;
  const double target = judged.verdict == Verdict::different ? 1.0 : 0.0;
  const WideGate next = step({a_, b_}, static_cast<double>(judged.novelty), target, rate_);
  a_ = next.a;
  b_ = next.b;
  ++steps_;
  return {};
}

Gate OnlineGate::gate() const noexcept {
  return {static_cast<float>(a_), static_cast<float>(b_)};
}

}  // namespace dpcache
