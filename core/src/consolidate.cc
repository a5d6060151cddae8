// Deciding a consolidation: agglomerating slots by their centroids, the best pair first.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "decide.h"
#include "kernels.h"

namespace dpcache {

namespace {

// A working copy of the slots: sums, centroids and usage change as pairs are folded, the cache does
// not.
class Agglomeration {
 public:
#if DPCACHE_TRUST
  Agglomeration(const Config& config, const Slots& slots, const Ledger& ledger)
      : stride_(slots.stride()), margin_(slots.margin()), config_(config), ledger_(ledger) {
#else
  explicit Agglomeration(const Slots& slots) : stride_(slots.stride()), margin_(slots.margin()) {
#endif
    for (std::size_t r = 0; r < slots.rows(); ++r) {
      if (!slots.row(r).alive) continue;
      const std::span<const double> sum = slots.key_sum(r);
      const std::span<const float> key = slots.key(r);
      sums_.insert(sums_.end(), sum.begin(), sum.end());
      centroids_.insert(centroids_.end(), key.begin(), key.end());
      groups_.push_back({slots.row(r).id, slots.row(r).usage, true, 0, -2.0F});
      center(groups_.size() - 1);
    }
    scores_.resize(groups_.size());
#if DPCACHE_TRUST
    find_apart();
#endif
    for (std::size_t i = 0; i < groups_.size(); ++i) find_partner(i);
  }

  // The most similar pair if its similarity is at least `least`: folds it and says how.
  std::optional<Fold> fold_best(float least) {
    std::size_t best = find_best(least);
#if DPCACHE_TRUST
    while (best != groups_.size() && !may_fold(best, groups_[best].partner)) {
      best = find_best(least);
    }
#endif
    if (best == groups_.size()) return {};
    // Of equal pairs the first in the order of ids; `best` is its first member.
    const std::size_t a = best;
    const std::size_t b = groups_[best].partner;
    const bool b_survives =
        groups_[a].usage < groups_[b].usage || (groups_[a].usage == groups_[b].usage && b < a);
    const std::size_t into = b_survives ? b : a;
    const std::size_t gone = b_survives ? a : b;
    fold(gone, into);
    return Fold{groups_[gone].id, groups_[into].id};
  }

 private:
  struct Group {
    SlotId id;
    WideNumber usage;
    bool alive;
    std::size_t partner;  // the most similar other group, the first of equals
    float similarity;     // to the partner; -2: there is none
  };

  // The first of the groups that are most like their partners; the number of groups: none is
  // enough.
  std::size_t find_best(float least) const {
    std::size_t best = groups_.size();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].alive || groups_[i].similarity < least) continue;
      if (best == groups_.size() || groups_[i].similarity > groups_[best].similarity) best = i;
    }
    return best;
  }

  void center(std::size_t i) {
    const double* sum = sums_.data() + i * stride_;
    const double squares = kernels::sum_squares(sum, stride_);
    if (squares > 0.0) kernels::divide(sum, std::sqrt(squares), stride_, &centroids_[i * stride_]);
  }

  // Scores group i against all, and sets its partner.
  void find_partner(std::size_t i) {
    Group& group = groups_[i];
    group.similarity = -2.0F;
    kernels::dots(&centroids_[i * stride_], centroids_.data(), stride_, groups_.size(),
                  scores_.data());
#if DPCACHE_TRUST
    const bool any_apart = !apart_.empty();
#endif
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      if (j == i || !groups_[j].alive) continue;
#if DPCACHE_TRUST
      if (any_apart && apart_.find(i, j) != nullptr) continue;
#endif
      const float similarity = snap(scores_[j], margin_);
      if (similarity > group.similarity) {
        group.partner = j;
        group.similarity = similarity;
      }
    }
  }

  void fold(std::size_t gone, std::size_t into) {
    groups_[gone].alive = false;
#if DPCACHE_TRUST
    std::vector<std::uint64_t> others;
    apart_.each_of(gone, [&](std::uint64_t other, char) { others.push_back(other); });
    for (const std::uint64_t other : others) apart_.put(into, other, 0);
#endif
    groups_[into].usage = groups_[into].usage.plus(groups_[gone].usage);
    for (std::size_t d = 0; d < stride_; ++d)
      sums_[into * stride_ + d] += sums_[gone * stride_ + d];
    center(into);
    find_partner(into);
    // The others: whose partner went or moved looks anew, the rest may have a better one in `into`.
    const std::vector<float> moved = scores_;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      Group& group = groups_[i];
      if (!group.alive || i == into) continue;
      if (group.partner == gone || group.partner == into) {
        find_partner(i);
        continue;
      }
#if DPCACHE_TRUST
      if (apart_.find(i, into) != nullptr) continue;
#endif
      const float similarity = snap(moved[i], margin_);
      if (similarity > group.similarity ||
          (similarity == group.similarity && into < group.partner)) {
        group.partner = into;
        group.similarity = similarity;
      }
    }
  }

#if DPCACHE_TRUST
  void find_apart() {
    if (!ledger_.any_apart()) return;
    std::map<SlotId, std::size_t> places;
    for (std::size_t i = 0; i < groups_.size(); ++i) places[groups_[i].id] = i;
    ledger_.apart_pairs().each([&](SlotId a, SlotId b, char) {
      apart_.put(places.find(a)->second, places.find(b)->second, 0);
    });
  }

  // Guards are asked about the pairs that would be folded alone. False: these look for others.
  bool may_fold(std::size_t a, std::size_t b) {
    if (may_merge(config_, ledger_, groups_[a].id, groups_[b].id)) return true;
    apart_.put(a, b, 0);
    find_partner(a);
    find_partner(b);
    return false;
  }
#endif

  std::size_t stride_;
  float margin_;
#if DPCACHE_TRUST
  const Config& config_;
  const Ledger& ledger_;
  Pairs<char> apart_;  // by place among the groups
#endif
  std::vector<double> sums_;  // (groups, stride)
  AlignedFloats centroids_;   // (groups, stride)
  std::vector<Group> groups_;
  std::vector<float> scores_;
};

}  // namespace

#if DPCACHE_TRUST
std::vector<Fold> decide_consolidation(const Config& config, const Slots& slots,
                                       const Ledger& ledger, float similarity) {
  Agglomeration agglomeration(config, slots, ledger);
#else
std::vector<Fold> decide_consolidation(const Slots& slots, float similarity) {
  Agglomeration agglomeration(slots);
#endif
  std::vector<Fold> folds;
  while (const std::optional<Fold> fold = agglomeration.fold_best(similarity)) {
    folds.push_back(*fold);
  }
  return folds;
}

}  // namespace dpcache
