// A log in memory, for tests: it forgets all when it is destroyed, fails when told to, and can be
// held.
#ifndef DPCACHE_SERVER_LOG_MEMORY_LOG_H_
#define DPCACHE_SERVER_LOG_MEMORY_LOG_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "log/log.h"

namespace dpcache::server {

class MemoryLog final : public Log {
 public:
  MemoryLog();
  // Completes what was appended, held or not.
  ~MemoryLog() override;

  void append(Partition partition, Position expect, std::string bytes, Done done) override;
  Position reopen(Partition partition) override;
  void read(Partition partition, Position after, const Sink& sink) override;
  Range range(Partition partition) override;
  void trim(Partition partition, Position upto) override;

  enum class Lost : bool { no, yes };
  // The next append to a partition that would have succeeded ends in `outcome`. After `unknown` the
  // entry is there unless it is lost.
  void fail_next(Partition partition, Append outcome, Lost lost = Lost::yes);
  // From now on appends wait, and so does reopen() for them; release() lets them go on.
  void hold();
  void release();
  // Reads of this entry and behind it throw from now on.
  void damage(Partition partition, Position position);
  std::size_t waiting() const;  // appends that have not been completed

 private:
  struct Task {
    Partition partition;
    Position expect;
    std::string bytes;
    Done done;
  };
  struct Failure {
    Append outcome;
    Lost lost;
  };
  struct Lane {
    std::map<Position, std::string> entries;
    Position last = 0;
    Position trimmed = 0;
    Position damaged = 0;  // none
    bool failed = false;
    std::deque<Failure> failures;
    std::size_t waiting = 0;
  };
  void work();
  Append carry_out(Task& task);
  Lane& lane(Partition partition);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Lane, kPartitions> lanes_;
  std::deque<Task> tasks_;
  bool held_ = false;
  bool ending_ = false;
  std::thread worker_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_MEMORY_LOG_H_
