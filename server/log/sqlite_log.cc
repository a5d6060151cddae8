// The log of one machine: the queue, the thread that writes, and what becomes of a failure.
#include "log/sqlite_log.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dpcache::server {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::size_t kTrimEntries = 1024;
constexpr std::chrono::milliseconds kTrimTime{5};

std::string name_of(Partition partition) {
  return "partition " + std::to_string(partition);
}

}  // namespace

// Appends that are written together, and what became of each.
struct SqliteLog::Batch {
  struct Result {
    Append outcome = Append::ok;
    std::string detail;
  };
  std::vector<Task>& tasks;
  std::vector<Result> results = std::vector<Result>(tasks.size());
};

SqliteLog::SqliteLog(const std::string& folder, SqliteLogOptions options)
    : options_(options),
      file_(folder + "/log.db", options.max_pages, options.vfs),
      reader_(folder + "/log.db", options.vfs) {
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    try {
      load(partition);
    } catch (const std::runtime_error&) {
      lanes_[partition].failed = true;
    }
  }
  writer_ = std::thread([this] { work(); });
}

SqliteLog::~SqliteLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  writer_.join();
}

SqliteLog::Lane& SqliteLog::lane(Partition partition) {
  if (partition >= kPartitions)
    throw std::invalid_argument(name_of(partition) + ": does not exist");
  return lanes_[partition];
}

// Sets a lane to what is in the file.
void SqliteLog::load(Partition partition) {
  Lane& of = lanes_[partition];
  LogFile::Ends ends;
  try {
    ends = file_.ends(partition);
  } catch (const SqliteError& error) {
    const std::lock_guard lock(mutex_);
    of.broken = error.what();
    throw;
  }
  of.next = ends.last + 1;
  of.removed = ends.trimmed;
  const std::lock_guard lock(mutex_);
  of.range.last = ends.last;
  of.range.first = std::max(of.range.first, ends.trimmed + 1);
  of.broken.clear();
}

void SqliteLog::append(Partition partition, Position expect, std::string bytes, Done done) {
  lane(partition);
  if (bytes.size() > kMaxEntry) {
    throw std::invalid_argument("an entry of the log may have " + std::to_string(kMaxEntry) +
                                " bytes, not " + std::to_string(bytes.size()));
  }
  {
    const std::lock_guard lock(mutex_);
    ++statistics_.queue;
    statistics_.queue_bytes += bytes.size();
    queue_.push_back({partition, expect, std::move(bytes), std::move(done), nullptr});
  }
  changed_.notify_one();
}

Position SqliteLog::reopen(Partition partition) {
  lane(partition);
  std::promise<Reopened> reopened;
  auto result = reopened.get_future();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({partition, 0, {}, nullptr, &reopened});
  }
  changed_.notify_one();
  const auto [last, error] = result.get();
  if (!error.empty()) throw std::runtime_error(error);
  return last;
}

Log::Range SqliteLog::range(Partition partition) {
  const Lane& of = lane(partition);
  const std::lock_guard lock(mutex_);
  if (!of.broken.empty()) throw std::runtime_error(of.broken);
  return of.range;
}

void SqliteLog::read(Partition partition, Position after, const Sink& sink) {
  Range now = range(partition);
  const Position upto = now.last;  // what is there at least
  Position next = std::max(after + 1, now.first);
  for (;;) {
    std::vector<LogReader::Entry> entries;
    {
      const std::lock_guard lock(reading_);
      entries = reader_.read(partition, next - 1, kReadBytes);
    }
    if (entries.empty() ? next <= upto : entries.front().position != next) {
      const bool trimmed = range(partition).first > next;
      throw std::runtime_error(name_of(partition) + " of the log: position " +
                               std::to_string(next) +
                               (trimmed ? ": has been trimmed while it was read"
                                        : ": is damaged: the entry is missing"));
    }
    if (entries.empty()) return;
    for (const LogReader::Entry& entry : entries) {
      if (!sink(entry.position, entry.bytes)) return;
    }
    next = entries.back().position + 1;
  }
}

void SqliteLog::trim(Partition partition, Position upto) {
  Lane& of = lane(partition);
  {
    const std::lock_guard lock(mutex_);
    of.range.first = std::max(of.range.first, std::min(upto, of.range.last) + 1);
    of.trim_failed = false;
    trimming_ = true;
  }
  changed_.notify_one();
}

SqliteLogStatistics SqliteLog::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void SqliteLog::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || trimming_ || !queue_.empty(); });
    if (queue_.empty() && ending_) return;
    std::vector<Task> tasks = take();
    const bool trimming = std::exchange(trimming_, false);
    lock.unlock();
    const std::size_t written = tasks.size();
    if (written == 1 && tasks.front().reopened != nullptr) {
      reopen_now(tasks.front());
    } else if (written > 0) {
      write(tasks);
    }
    tasks.clear();
    // Faster than entries come, and not so much that they wait.
    const bool more =
        trimming && trim_some(written == 0 ? kTrimEntries : std::max<std::size_t>(64, 2 * written));
    lock.lock();
    trimming_ = trimming_ || more;
  }
}

// The appends at the head of the queue that are to be written together, or one reopen(). mutex_ is
// held.
std::vector<SqliteLog::Task> SqliteLog::take() {
  std::vector<Task> tasks;
  std::size_t bytes = 0;
  while (!queue_.empty()) {
    Task& head = queue_.front();
    if (!tasks.empty() &&
        (head.reopened != nullptr || bytes + head.bytes.size() > options_.batch_bytes)) {
      break;
    }
    const bool alone = head.reopened != nullptr;
    bytes += head.bytes.size();
    tasks.push_back(std::move(head));
    queue_.pop_front();
    if (alone) return tasks;
  }
  statistics_.queue -= tasks.size();
  statistics_.queue_bytes -= bytes;
  return tasks;
}

void SqliteLog::write(std::vector<Task>& tasks) {
  Batch batch{tasks};
  const auto begin = std::chrono::steady_clock::now();
  store(batch);
  publish(batch, std::chrono::steady_clock::now() - begin);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].done(batch.results[i].outcome, batch.results[i].detail);
  }
}

// Writes what can be written, in one transaction, and says what became of each entry.
void SqliteLog::store(Batch& batch) {
  bool committing = false;
  try {
    bool begun = false;
    for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
      const Task& task = batch.tasks[i];
      Lane& of = lanes_[task.partition];
      const auto refuse = [&](const char* why) {
        batch.results[i] = {Append::conflict, name_of(task.partition) + ": " + why};
        of.failed = true;
      };
      if (of.failed) {
        refuse("an append before this one has failed");
        continue;
      }
      if (task.expect != of.next - 1) {
        refuse("the last position is another one");
        continue;
      }
      if (!begun) file_.begin();
      begun = true;
      if (!file_.insert(task.partition, of.next, task.bytes)) {
        refuse("somebody else has written");
        continue;
      }
      ++of.next;
    }
    if (!begun) return;
    committing = true;
    file_.commit();
    unsettled_ = false;
  } catch (const SqliteError& error) {
    file_.roll_back();
    // A commit that has failed may have reached the disk, unless there was no space for it.
    const bool unwritten = committing ? error.kind() == SqliteError::Kind::full : error.no_space();
    if (committing && !unwritten) unsettled_ = true;
    for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
      if (batch.results[i].outcome == Append::conflict) continue;
      Lane& of = lanes_[batch.tasks[i].partition];
      batch.results[i] = {unwritten ? Append::full : Append::unknown, error.what()};
      of.failed = true;
    }
  }
}

// What others may see of it: the ends of the partitions, and the statistics.
void SqliteLog::publish(const Batch& batch, std::chrono::steady_clock::duration time) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
    if (batch.results[i].outcome != Append::ok) {
      ++statistics_.failed;
      continue;
    }
    const Task& task = batch.tasks[i];
    lanes_[task.partition].range.last = task.expect + 1;
    ++statistics_.appends;
    statistics_.bytes += task.bytes.size();
    any = true;
  }
  if (!any) return;
  const double seconds = std::chrono::duration<double>(time).count();
  const auto& bounds = SqliteLogStatistics::kBounds;
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  ++statistics_.commits;
  ++statistics_.commit_seconds[static_cast<std::size_t>(bucket)];
  statistics_.commit_seconds_sum += seconds;
}

void SqliteLog::reopen_now(Task& task) {
  try {
    if (unsettled_) file_.settle();
    unsettled_ = false;
    load(task.partition);
    Lane& of = lanes_[task.partition];
    of.failed = false;
    task.reopened->set_value({of.next - 1, {}});
  } catch (const SqliteError& error) {
    task.reopened->set_value({0, error.what()});
  }
}

// Trims a piece of one partition. True: there may be more to trim.
bool SqliteLog::trim_some(std::size_t entries) {
  for (Partition i = 1; i <= kPartitions; ++i) {
    const Partition partition = (last_trimmed_ + i) % kPartitions;
    Lane& of = lanes_[partition];
    Position upto = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!of.broken.empty() || of.trim_failed) continue;
      upto = of.range.first - 1;
    }
    if (of.removed >= upto) continue;
    last_trimmed_ = partition;
    try {
      const Position before = of.removed;
      of.removed = file_.trim(partition, before + 1, upto, entries, kTrimTime);
      const std::lock_guard lock(mutex_);
      statistics_.trimmed += of.removed - before;
    } catch (const SqliteError&) {  // the next trim() tries again
      const std::lock_guard lock(mutex_);
      of.trim_failed = true;
      ++statistics_.trim_errors;
    }
    return true;
  }
  return false;
}

}  // namespace dpcache::server
