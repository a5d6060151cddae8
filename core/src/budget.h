// The budget: how many slots are allowed now, by the surprise of the stream or by its ghosts.
#ifndef DPCACHE_SRC_BUDGET_H_
#define DPCACHE_SRC_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/event.h"
#include "slots.h"

namespace dpcache {

// A ghost is what is left of an evicted key: 64 signs of fixed projections. Sign b is that of
// sum_d s k_d with s = +1 if bit b of mix64(d) is set, else -1, summed in the canonical order.
inline constexpr std::size_t kGhosts = 32;    // the latest ones
inline constexpr int kGhostDistance = 16;     // Hamming; within it a key has come back
inline constexpr float kGhostCooling = 0.2F;  // what a merge takes from M

class Budget {
 public:
  explicit Budget(const Config& config);

  float surprise() const noexcept { return surprise_; }  // T
  std::optional<float> allowed() const noexcept;         // M, if there is a budget
  const std::vector<std::uint64_t>& ghosts() const noexcept { return ghosts_; }  // oldest first

  // T and M after an item that was allocated or merged [eq. 4, 5]. Pure.
  struct Step {
    float surprise = 0.0F;
    std::optional<float> allowed;
  };
  Step after(const Config& config, Action action, std::span<const float> key) const noexcept;

  // Slots over the limit when M is `allowed`: min(max_slots, max(1, floor(M))).
  static std::uint64_t limit(const Config& config, std::optional<float> allowed) noexcept;

  // What follows changes the budget; called by apply and load alone.
  void commit(const Config& config, Action action, std::span<const float> key, const Step& step);
  void add_ghost(std::span<const float> key);
  void configure(const Config& config);
  void restore(float surprise, float allowed, std::vector<std::uint64_t> ghosts);
  float raw_allowed() const noexcept { return allowed_; }

 private:
  std::uint64_t signs(std::span<const float> key) const noexcept;
  std::size_t find_ghost(std::span<const float> key) const noexcept;  // kGhosts: none

  BudgetKind kind_;
  float surprise_ = 0.0F;
  float allowed_;
  std::vector<std::uint64_t> ghosts_;
  AlignedFloats projections_;  // (64, stride) of +1 and -1; only for ghosts
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_BUDGET_H_
