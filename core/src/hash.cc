// The only file that sees xxHash.
#include "hash.h"

#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dpcache {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash64_with_blank(std::span<const std::byte> bytes, std::size_t blank,
                                std::size_t blank_size) noexcept {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, bytes.data(), blank);
  for (std::size_t i = 0; i < blank_size; ++i) XXH3_64bits_update(&state, "0", 1);
  const std::span<const std::byte> rest = bytes.subspan(blank + blank_size);
  XXH3_64bits_update(&state, rest.data(), rest.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace dpcache
