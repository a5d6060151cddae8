// The names inside a memory file; docs/snapshot.md describes the format.
#ifndef DPCACHE_SRC_SNAPSHOT_H_
#define DPCACHE_SRC_SNAPSHOT_H_

#include <cstddef>
#include <string_view>

#include "dpcache/config.h"

namespace dpcache::snapshot {

inline constexpr std::string_view kFormatVersion = "1";
#if DPCACHE_TRUST
// Of a file that has what must not be lost: who does not know it cannot keep it right.
inline constexpr std::string_view kTrustVersion = "2";
#endif
inline constexpr std::size_t kLengthBytes = 8;          // u64 length of the header, before it
inline constexpr std::size_t kDataAlignment = 64;       // the header is padded with blanks to this
inline constexpr std::size_t kChecksumDigits = 16;      // XXH3 of the file with these digits as 0
inline constexpr std::size_t kMaxHeader = 100'000'000;  // the limit of the safetensors library

// Metadata that is ours; all other keys belong to the user.
inline constexpr std::string_view kOwnPrefix = "dpcache.";
inline constexpr const char* kVersion = "dpcache.format_version";
inline constexpr const char* kConfig = "dpcache.config";
inline constexpr const char* kCounters = "dpcache.counters";
inline constexpr const char* kStateHash = "dpcache.state_hash";
inline constexpr const char* kChecksum = "dpcache.checksum";
// How the checksum's digits are found in the header's bytes: within strings quotes are escaped, so
// this stands once.
inline constexpr std::string_view kChecksumMark = "\"dpcache.checksum\":\"";

// From how many bytes on a file is checked in a thread of its own. Only tests change it.
inline std::size_t checked_apart_from = std::size_t{64} << 20U;

}  // namespace dpcache::snapshot

#endif  // DPCACHE_SRC_SNAPSHOT_H_
