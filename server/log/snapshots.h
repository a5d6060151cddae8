// Where the memory files of a server's caches are kept: to start from, so that the log can be
// short.
#ifndef DPCACHE_SERVER_LOG_SNAPSHOTS_H_
#define DPCACHE_SERVER_LOG_SNAPSHOTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "log/log.h"

namespace dpcache::server {

// A snapshot that is there.
struct StoredSnapshot {
  std::string cache;      // the cache's id: [a-z0-9-]+, made by the server
  Position position = 0;  // of its partition: all entries up to here are in it
  std::uint64_t bytes = 0;
};

// The bytes of a snapshot, for as long as this lives.
class SnapshotBytes {
 public:
  virtual ~SnapshotBytes() = default;
  virtual std::span<const std::byte> bytes() const = 0;
};

// Thread rule: calls on different caches may run together. Errors: std::runtime_error with a
// sentence that names the file; std::system_error with ENOSPC or EDQUOT where there is no space.
class Snapshots {
 public:
  Snapshots() = default;
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;
  virtual ~Snapshots() = default;

  // Stores one; when this returns, it is on the disk whole. After an error or a crash it is not
  // there.
  virtual void put(const std::string& cache, Position position,
                   std::span<const std::byte> bytes) = 0;
  // All that are there, by cache, the newest first. Half-written ones are removed.
  virtual std::vector<StoredSnapshot> list() = 0;
  // Mapped, not read, so that one that is larger than the memory can be opened.
  virtual std::unique_ptr<SnapshotBytes> open(const std::string& cache, Position position) = 0;
  // Removes the snapshots of a cache below a position.
  virtual void remove_below(const std::string& cache, Position position) = 0;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_SNAPSHOTS_H_
