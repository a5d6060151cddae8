// Surprise, budget and ghosts.
#include "budget.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "kernels.h"

namespace dpcache {

Budget::Budget(const Config& config) : kind_(config.budget), allowed_(config.m0) {
  configure(config);
}

void Budget::configure(const Config& config) {
  if (kind_ != config.budget) allowed_ = config.m0;
  kind_ = config.budget;
  if (kind_ == BudgetKind::fixed) allowed_ = config.m0;
  if (kind_ == BudgetKind::ghost) allowed_ = std::max(allowed_, config.m0);
  if (kind_ != BudgetKind::ghost) {
    ghosts_.clear();
    projections_.clear();
    return;
  }
  ghosts_.reserve(kGhosts + 1);
  const std::size_t stride = padded(config.dimension);
  projections_.assign(64 * stride, 0.0F);
  for (std::size_t d = 0; d < config.dimension; ++d) {
    const std::uint64_t bits = mix64(d);
    for (std::size_t b = 0; b < 64; ++b) {
      projections_[b * stride + d] = ((bits >> b) & 1U) != 0 ? 1.0F : -1.0F;
    }
  }
}

std::optional<float> Budget::allowed() const noexcept {
  if (kind_ == BudgetKind::none) return {};
  return allowed_;
}

Budget::Step Budget::after(const Config& config, Action action,
                           std::span<const float> key) const noexcept {
  Step step;
  const float keep = (1.0F - config.eta) * surprise_;
  step.surprise = action == Action::allocate ? keep + config.eta : keep;
  switch (config.budget) {
    case BudgetKind::none:
      break;
    case BudgetKind::fixed:
      step.allowed = config.m0;
      break;
    case BudgetKind::adaptive: {
      const float heat = config.beta * step.surprise;
      step.allowed = config.m0 + heat;
      break;
    }
    case BudgetKind::ghost:
      step.allowed = allowed_;
      if (action == Action::merge) {
        step.allowed = std::max(config.m0, allowed_ - kGhostCooling);
      } else if (find_ghost(key) != kGhosts) {
        float raised = allowed_ + 1.0F;
        if (config.max_slots) raised = std::min(raised, static_cast<float>(*config.max_slots));
        step.allowed = std::max(config.m0, raised);
      }
      break;
  }
  return step;
}

std::uint64_t Budget::limit(const Config& config, std::optional<float> allowed) noexcept {
  std::uint64_t slots = std::numeric_limits<std::uint64_t>::max();
  if (allowed) slots = *allowed < 1.0F ? 1 : static_cast<std::uint64_t>(*allowed);
  return config.max_slots ? std::min(slots, *config.max_slots) : slots;
}

void Budget::commit(const Config& config, Action action, std::span<const float> key,
                    const Step& step) {
  if (config.budget == BudgetKind::ghost && action == Action::allocate) {
    const std::size_t ghost = find_ghost(key);
    if (ghost != kGhosts) ghosts_.erase(ghosts_.begin() + static_cast<std::ptrdiff_t>(ghost));
  }
  surprise_ = step.surprise;
  if (step.allowed) allowed_ = *step.allowed;
}

void Budget::add_ghost(std::span<const float> key) {
  if (kind_ != BudgetKind::ghost) return;
  if (ghosts_.size() == kGhosts) ghosts_.erase(ghosts_.begin());
  ghosts_.push_back(signs(key));
}

void Budget::restore(float surprise, float allowed, std::vector<std::uint64_t> ghosts) {
  surprise_ = surprise;
  allowed_ = allowed;
  ghosts_ = std::move(ghosts);
}

std::uint64_t Budget::signs(std::span<const float> key) const noexcept {
  std::array<float, 64> sums;
  kernels::dots(key.data(), projections_.data(), key.size(), 64, sums.data());
  std::uint64_t bits = 0;
  for (std::size_t b = 0; b < 64; ++b) {
    if (sums[b] > 0.0F) bits |= std::uint64_t{1} << b;
  }
  return bits;
}

// The ghost with the fewest different signs, if within kGhostDistance; of equals the oldest.
std::size_t Budget::find_ghost(std::span<const float> key) const noexcept {
  if (ghosts_.empty()) return kGhosts;
  const std::uint64_t bits = signs(key);
  std::size_t best = kGhosts;
  int best_distance = kGhostDistance + 1;
  for (std::size_t i = 0; i < ghosts_.size(); ++i) {
    const int distance = std::popcount(bits ^ ghosts_[i]);
    if (distance < best_distance) {
      best_distance = distance;
      best = i;
    }
  }
  return best;
}

}  // namespace dpcache
