// The checksum of memory files and of the chain of events: XXH3, 64 bits. Not cryptographic.
#ifndef DPCACHE_SRC_HASH_H_
#define DPCACHE_SRC_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace dpcache {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) noexcept;

// The same hash, seed 0, of `bytes` with `blank` (a part of them) read as if it held the digit 0.
std::uint64_t hash64_with_blank(std::span<const std::byte> bytes, std::size_t blank,
                                std::size_t blank_size) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_HASH_H_
