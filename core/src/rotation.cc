// Random signs, and how far the rounds are from exact ones.
#include "rotation.h"

#include <bit>

#include "kernels_codes.h"
#include "numerics.h"

namespace dpcache {

namespace {

constexpr std::size_t kRounds = 2;

// Steps that double in width, from that of a lane's neighbour on.
unsigned steps(std::size_t block) noexcept {
  return static_cast<unsigned>(std::bit_width(block / kLanes)) - 1;
}

}  // namespace

void Rotation::prepare() {
  if (!signs_.empty()) return;
  signs_.resize(kRounds * length_);
  for (std::size_t i = 0; i < signs_.size(); ++i) {
    signs_[i] = static_cast<std::uint32_t>(mix64(i) & 1U) << 31U;
  }
}

void Rotation::rotate(float* x, float* room) const noexcept {
  const std::size_t block = std::bit_floor(length_);
  // The root of 2^-steps.
  constexpr float kRootHalf = 0.70710678F;
  const unsigned count = steps(block);
  float scale = count % 2 == 0 ? 1.0F : kRootHalf;
  for (unsigned i = 0; i < count / 2; ++i) scale *= 0.5F;
  for (std::size_t round = 0; round < kRounds; ++round) {
    kernels::mix(signs_.data() + round * length_, length_, block, scale, x, room);
  }
}

double Rotation::error() const noexcept {
  // Each transform: its steps, and a product with a scale that is itself rounded.
  const auto roundings = static_cast<double>(kRounds * 2 * (steps(std::bit_floor(length_)) + 2));
  return 1.01 * roundings * 0x1p-24;
}

}  // namespace dpcache
