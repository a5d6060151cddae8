// The checksum of a log's entries.
#include "log/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dpcache::server {

std::uint64_t checksum(std::string_view bytes, std::uint64_t place) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), place);
}

}  // namespace dpcache::server
