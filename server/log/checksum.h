// The checksum of a log's entries: XXH3, 64 bits. It finds damage, not malice.
#ifndef DPCACHE_SERVER_LOG_CHECKSUM_H_
#define DPCACHE_SERVER_LOG_CHECKSUM_H_

#include <cstdint>
#include <string_view>

namespace dpcache::server {

// `place` is part of what is hashed: bytes that stand in the wrong place have the wrong checksum.
std::uint64_t checksum(std::string_view bytes, std::uint64_t place) noexcept;

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_CHECKSUM_H_
