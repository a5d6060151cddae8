// One partition of the log, as those that write to it see it: entries get their positions in the
// order in which they come.
#ifndef DPCACHE_SERVER_SERVICE_PARTITION_LOG_H_
#define DPCACHE_SERVER_SERVICE_PARTITION_LOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "log/log.h"
#include "service/entry.h"

namespace dpcache::server {

// Thread rule: every function may be called from any thread.
class PartitionLog {
 public:
  void open(Log& log, Partition partition, Position last, std::uint64_t epoch);

  // Called on a thread of the log, perhaps before append() has returned.
  using Done = std::function<void(Append outcome, Position position, const std::string& detail)>;
  // Appends and returns the entry's position; 0 if the partition is closed, and then `done` is not
  // called. Sets entry.previous and entry.epoch, and `appended` to the position before the entry
  // can be in the log.
  Position append(Entry& entry, std::atomic<Position>& appended, Done done);
  // Takes no more entries, until reopen().
  void close() { closed_ = true; }
  bool is_closed() const { return closed_; }
  void reopen();

  Position last() const;
  // Bytes on their way to the disk.
  std::uint64_t pending_bytes() const { return pending_; }

 private:
  mutable std::mutex mutex_;
  Log* log_ = nullptr;
  Partition partition_ = 0;
  std::uint64_t epoch_ = 0;
  Position last_ = 0;
  std::atomic<bool> closed_ = true;
  std::atomic<std::uint64_t> pending_ = 0;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_PARTITION_LOG_H_
