// The pass over every vector that comes in: a file of its own, as it is compiled for speed.
#include "finite.h"

#include <bit>
#include <cstdint>

namespace dpcache {

Finite look_at(std::span<const float> x) noexcept {
  constexpr std::uint32_t kExponent = 0x7F800000U;
  std::uint32_t infinite = 0;
  std::uint32_t any = 0;
  for (float value : x) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    infinite |= static_cast<std::uint32_t>((bits & kExponent) == kExponent);
    any |= bits << 1U;  // without the sign
  }
  return {infinite == 0, any == 0};
}

}  // namespace dpcache
