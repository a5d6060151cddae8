// What stands in the log: one entry for each change of a cache, in bytes that a later version can
// read.
#ifndef DPCACHE_SERVER_SERVICE_ENTRY_H_
#define DPCACHE_SERVER_SERVICE_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/log.h"

namespace dpcache::server {

enum class EntryKind : std::uint8_t {
  create,    // name, settings: a new cache
  load,      // name, settings: a new cache whose first state is its snapshot of position 0
  events,    // events, answer: what changed it
  settings,  // settings: of the server, not of the memory, have changed
  remove,    // the cache is gone
};

// What was answered to a request with an Idempotency-Key, so that its repetition gets the same.
struct Answer {
  std::string key;
  std::uint64_t request = 0;  // hash of what was asked
  std::int64_t time = 0;      // milliseconds
  std::uint16_t status = 0;
  std::string body;

  bool operator==(const Answer&) const = default;
};

struct Entry {
  EntryKind kind = EntryKind::events;
  std::uint64_t epoch = 0;  // how often the server had started on this log
  Position previous = 0;
  std::string cache;               // its id
  std::uint64_t state_before = 0;  // its state hash
  std::int64_t time = 0;           // milliseconds, of the server's clock
  std::string name;
  std::string settings;             // JSON
  std::vector<std::string> events;  // canonical bytes (dpcache/event.h)
  std::optional<Answer> answer;

  bool operator==(const Entry&) const = default;
};

std::string encode(const Entry& entry);
// None: these bytes are no entry, or one of a version that is not known here.
std::optional<Entry> decode_entry(std::string_view bytes);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_ENTRY_H_
