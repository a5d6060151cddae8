// A log in memory, for tests.
#include "log/memory_log.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dpcache::server {

MemoryLog::MemoryLog() : worker_([this] { work(); }) {}

MemoryLog::~MemoryLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

MemoryLog::Lane& MemoryLog::lane(Partition partition) {
  if (partition >= kPartitions) throw std::invalid_argument("there is no such partition");
  return lanes_[partition];
}

void MemoryLog::append(Partition partition, Position expect, std::string bytes, Done done) {
  {
    const std::lock_guard lock(mutex_);
    ++lane(partition).waiting;
    tasks_.push_back({partition, expect, std::move(bytes), std::move(done)});
  }
  changed_.notify_all();
}

Append MemoryLog::carry_out(Task& task) {
  Lane& to = lanes_[task.partition];
  if (to.failed || task.expect != to.last) {
    to.failed = true;
    return Append::conflict;
  }
  Failure failure{Append::ok, Lost::no};
  if (!to.failures.empty()) {
    failure = to.failures.front();
    to.failures.pop_front();
    to.failed = true;
  }
  const Append outcome = failure.outcome;
  if (outcome == Append::ok || (outcome == Append::unknown && failure.lost == Lost::no)) {
    to.entries.emplace(++to.last, std::move(task.bytes));
  }
  return outcome;
}

void MemoryLog::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || (!held_ && !tasks_.empty()); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    const Append outcome = carry_out(task);
    lock.unlock();
    task.done(outcome, outcome == Append::ok ? "" : "as the test asked for");
    task.done = nullptr;
    lock.lock();
    --lanes_[task.partition].waiting;
    changed_.notify_all();
  }
}

Position MemoryLog::reopen(Partition partition) {
  std::unique_lock lock(mutex_);
  Lane& of = lane(partition);
  changed_.wait(lock, [&] { return of.waiting == 0; });
  of.failed = false;
  return of.last;
}

void MemoryLog::read(Partition partition, Position after, const Sink& sink) {
  for (Position at = after + 1;; ++at) {
    std::string bytes;
    {
      const std::lock_guard lock(mutex_);
      const Lane& from = lane(partition);
      if (at == after + 1) at = std::max(at, from.trimmed + 1);
      if (from.damaged != 0 && at >= from.damaged && at <= from.last) {
        throw std::runtime_error("partition " + std::to_string(partition) + ", position " +
                                 std::to_string(from.damaged) + ": is damaged, as the test asked");
      }
      const auto found = from.entries.find(at);
      if (found == from.entries.end()) return;
      bytes = found->second;
    }
    if (!sink(at, bytes)) return;
  }
}

Log::Range MemoryLog::range(Partition partition) {
  const std::lock_guard lock(mutex_);
  const Lane& of = lane(partition);
  return {of.trimmed + 1, of.last};
}

void MemoryLog::trim(Partition partition, Position upto) {
  const std::lock_guard lock(mutex_);
  Lane& of = lane(partition);
  of.trimmed = std::max(of.trimmed, std::min(upto, of.last));
  of.entries.erase(of.entries.begin(), of.entries.upper_bound(of.trimmed));
}

void MemoryLog::fail_next(Partition partition, Append outcome, Lost lost) {
  const std::lock_guard lock(mutex_);
  lane(partition).failures.push_back({outcome, lost});
}

void MemoryLog::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void MemoryLog::release() {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void MemoryLog::damage(Partition partition, Position position) {
  const std::lock_guard lock(mutex_);
  lane(partition).damaged = position;
}

std::size_t MemoryLog::waiting() const {
  const std::lock_guard lock(mutex_);
  std::size_t all = 0;
  for (const Lane& of : lanes_) all += of.waiting;
  return all;
}

}  // namespace dpcache::server
