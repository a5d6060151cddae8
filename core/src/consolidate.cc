// Deciding a consolidation: agglomerating slots by their centroids, the best pair first.
#include <algorithm>
#include <cmath>

#include "decide.h"
#include "kernels.h"

namespace dpcache {

namespace {

// A working copy of the slots: sums, centroids and usage change as pairs are folded, the cache does
// not.
class Agglomeration {
 public:
  explicit Agglomeration(const Slots& slots) : stride_(slots.stride()), margin_(slots.margin()) {
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
    for (std::size_t i = 0; i < groups_.size(); ++i) find_partner(i);
  }

  // The most similar pair if its similarity is at least `least`: folds it and says how.
  std::optional<Fold> fold_best(float least) {
    std::size_t best = groups_.size();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].alive || groups_[i].similarity < least) continue;
      if (best == groups_.size() || groups_[i].similarity > groups_[best].similarity) best = i;
    }
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
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      if (j == i || !groups_[j].alive) continue;
      const float similarity = snap(scores_[j], margin_);
      if (similarity > group.similarity) {
        group.partner = j;
        group.similarity = similarity;
      }
    }
  }

  void fold(std::size_t gone, std::size_t into) {
    groups_[gone].alive = false;
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
      const float similarity = snap(moved[i], margin_);
      if (similarity > group.similarity ||
          (similarity == group.similarity && into < group.partner)) {
        group.partner = into;
        group.similarity = similarity;
      }
    }
  }

  std::size_t stride_;
  float margin_;
  std::vector<double> sums_;  // (groups, stride)
  AlignedFloats centroids_;   // (groups, stride)
  std::vector<Group> groups_;
  std::vector<float> scores_;
};

}  // namespace

std::vector<Fold> decide_consolidation(const Slots& slots, float similarity) {
  Agglomeration agglomeration(slots);
  std::vector<Fold> folds;
  while (const std::optional<Fold> fold = agglomeration.fold_best(similarity)) {
    folds.push_back(*fold);
  }
  return folds;
}

}  // namespace dpcache
