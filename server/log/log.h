// The log: what has been acknowledged is what stands here. A cache belongs to one partition; a
// partition is one ordered list of entries, whose bytes the log does not read (entry.h).
#ifndef DPCACHE_SERVER_LOG_LOG_H_
#define DPCACHE_SERVER_LOG_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace dpcache::server {

using Partition = std::uint32_t;  // [0, kPartitions)
using Position = std::uint64_t;   // 1, 2, 3, … within a partition; 0 is before the first
inline constexpr Partition kPartitions = 64;

enum class Append : std::uint8_t {
  ok,        // the entry is on the disk
  conflict,  // `expect` was not the last position: somebody else has written, or an append failed
  full,      // no space is left; nothing was written
  unknown,   // it may or may not have been written: read the log to see
};

// Thread rule: every function may be called from any thread.
class Log {
 public:
  // Called once, on a thread of the log, in the order of positions within a partition.
  using Done = std::function<void(Append outcome, const std::string& detail)>;
  // Gets a position and its bytes, valid during the call; false ends the reading.
  using Sink = std::function<bool(Position, std::string_view)>;

  Log() = default;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual ~Log() = default;  // completes what was appended

  // Writes an entry at expect + 1, and returns at once. Entries that wait are written together
  // (group commit). Several may be under way in one partition; when one fails, so do all behind it
  // (in the same way if they were written together, else as conflicts) until reopen(). `done` must
  // not throw. Throws std::invalid_argument: no such partition.
  virtual void append(Partition partition, Position expect, std::string bytes, Done done) = 0;
  // After a failure: waits for what is under way, and lets the partition go on at the position that
  // it returns, the last that is there. What was unknown is certain then, also after a crash. Not
  // to be called from a Done, for which it would wait. Throws std::runtime_error if that cannot be
  // done.
  virtual Position reopen(Partition partition) = 0;
  // Hands over committed entries behind `after`, in order; if they begin later, from the first on.
  // The sink may call the log. Throws std::runtime_error if the log is damaged or cannot be read.
  virtual void read(Partition partition, Position after, const Sink& sink) = 0;
  // The first and last position there are; last is 0 if there never was any, and first is last + 1
  // if all are trimmed.
  struct Range {
    Position first = 1;
    Position last = 0;
  };
  virtual Range range(Partition partition) = 0;
  // Forgets entries up to a position. The last position stays known. May be done later.
  virtual void trim(Partition partition, Position upto) = 0;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_LOG_H_
