// Numbers the entries of a partition and hands them to the log.
#include "service/partition_log.h"

#include <utility>

namespace dpcache::server {

void PartitionLog::open(Log& log, Partition partition, Position last, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  log_ = &log;
  partition_ = partition;
  last_ = last;
  epoch_ = epoch;
  closed_ = false;
}

Position PartitionLog::append(Entry& entry, std::atomic<Position>& appended, Done done) {
  const std::lock_guard lock(mutex_);
  if (closed_) return 0;
  entry.previous = last_;
  entry.epoch = epoch_;
  std::string bytes = encode(entry);
  const std::uint64_t size = bytes.size();
  pending_ += size;
  const Position position = last_ + 1;
  appended = position;
  log_->append(
      partition_, last_, std::move(bytes),
      [this, size, position, done = std::move(done)](Append outcome, const std::string& detail) {
        if (outcome != Append::ok) closed_ = true;
        done(outcome, position, detail);
        pending_ -= size;  // last: who sees none pending may destroy this
      });
  return last_ = position;
}

void PartitionLog::reopen() {
  const std::lock_guard lock(mutex_);
  last_ = log_->reopen(partition_);
  closed_ = false;
}

Position PartitionLog::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace dpcache::server
