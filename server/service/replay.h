// Caches as the log and the snapshots have them: at the start, after a failed append, and for the
// next snapshot.
#ifndef DPCACHE_SERVER_SERVICE_REPLAY_H_
#define DPCACHE_SERVER_SERVICE_REPLAY_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "dpcache/cache.h"
#include "log/log.h"
#include "log/snapshots.h"
#include "service/answers.h"

namespace dpcache::server {

// What contradicts itself on the disk: the log lies behind a snapshot, an entry does not follow the
// state before it, or something cannot be read.
struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Which events an entry holds.
struct EventRange {
  std::uint64_t first = 0;  // seq
  std::uint64_t last = 0;
  Position position = 0;
};

struct Restored {
  std::string name;
  std::string settings;  // JSON
  Cache cache;
  Answers answers;
  Position snapshot = 0;          // the position of the snapshot that it began with; 0: with none
  Position position = 0;          // the last entry that is in it
  std::deque<EventRange> events;  // those that still stand in the log
  std::uint64_t log_bytes = 0;    // of its entries behind the snapshot
};

struct ReplayProgress {
  std::uint64_t caches = 0;
  std::uint64_t entries = 0;
  std::uint64_t events = 0;
};

// The caches of a partition by id; those in `only`, or all if it is empty. Throws Damage.
std::map<std::string, Restored> replay(Log& log, Snapshots& snapshots, Partition partition,
                                       const std::set<std::string>& only = {},
                                       const std::function<void(const ReplayProgress&)>& tell = {});

// The memory file of a cache with all that the server keeps beside it.
std::vector<std::byte> snapshot_of(Restored& restored, const std::string& id);

// What stands in the metadata of the server's own snapshots, and is taken out of those that leave
// it.
inline constexpr const char* kServerMetadata = "server.";

// An id names a partition and what is unique in it.
std::string make_id(Partition partition, std::uint64_t epoch, std::uint64_t number);
Partition partition_of_id(const std::string& id);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_REPLAY_H_
