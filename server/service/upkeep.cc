// What a service does beside its requests: bringing back, healing, snapshots, trimming.
#include <algorithm>
#include <charconv>
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "service/service.h"

namespace dpcache::server {

namespace {

// Ids in the order in which they were made.
std::pair<std::uint64_t, std::uint64_t> age(const std::string& id) {
  const std::size_t first = id.find('-');
  const std::size_t second = id.find('-', first + 1);
  std::pair<std::uint64_t, std::uint64_t> age;
  std::from_chars(id.data() + first + 1, id.data() + second, age.first);
  std::from_chars(id.data() + second + 1, id.data() + id.size(), age.second);
  return age;
}

}  // namespace

// --- The start

void Service::recover() {
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    try {
      recover(partition);
    } catch (const std::exception& error) {
      halted_[partition] = error.what();
      options_.error("partition " + std::to_string(partition) +
                     " is halted, its caches are not served: " + error.what());
    }
  }
  // What was stored for a cache that then did not come to be, or is gone.
  std::set<std::string> known;
  for (const auto& hosted : all()) known.insert(hosted->id);
  for (const StoredSnapshot& stored : snapshots_.list()) {
    const Partition partition = partition_of_id(stored.cache);
    if (partition >= kPartitions || known.contains(stored.cache) || halted_.contains(partition)) {
      continue;
    }
    snapshots_.remove_below(stored.cache, UINT64_MAX);
  }
  // Last: from here on others work too.
  const std::set<std::shared_ptr<Hosted>> ending = replaced_;
  for (const auto& old : ending) retire(old, static_cast<std::int64_t>(epoch_));
  for (const auto& hosted : all()) prepare(hosted);
}

void Service::prepare(const std::shared_ptr<Hosted>& hosted) {
  hosted->turns.write(false, [this, hosted] {
    {
      const std::lock_guard lock(stop_mutex_);
      if (stopping_) return;
    }
    constexpr std::size_t kSlots = 1024;
    if (!hosted->prepare(kSlots)) prepare(hosted);
  });
}

void Service::recover(Partition partition) {
  auto restored = replay(log_, snapshots_, partition, {}, [&](const ReplayProgress& progress) {
    if (progress.entries > 0 && progress.entries % (64U << 10U) == 0) {
      options_.info("partition " + std::to_string(partition) + ": " +
                    std::to_string(progress.entries) + " entries so far");
    }
  });
  partitions_[partition].open(log_, partition, log_.range(partition).last, epoch_);
  for (auto& [id, one] : restored) {
    std::shared_ptr<Hosted>& place = caches_[one.name];
    std::shared_ptr<Hosted> other = host(id, std::move(one));
    // A cache that was being replaced: the newer one counts, and the older one gets its end.
    if (!place || age(place->id) < age(id)) std::swap(place, other);
    if (other) replaced_.insert(other);
  }
}

// --- After a failed append

void Service::heal(Partition partition) {
  partitions_[partition].close();
  if (healing_[partition].exchange(true)) return;
  pool_.post([this, partition] { heal_now(partition); });
}

// Every cache that is ahead of the log goes back to what the log has; then the partition is opened.
void Service::heal_now(Partition partition) {
  std::vector<std::shared_ptr<Hosted>> broken;
  std::set<std::string> ids;
  for (const auto& hosted : all()) {
    if (hosted->partition != partition || !hosted->is_broken()) continue;
    broken.push_back(hosted);
    ids.insert(hosted->id);
  }
  try {
    std::map<std::string, Restored> restored;
    log_.reopen(partition);
    {
      // While the log is read, nothing may be trimmed.
      const std::lock_guard reading(snapshot_mutex_);
      if (!ids.empty()) restored = replay(log_, snapshots_, partition, ids);
    }
    auto left = std::make_shared<std::atomic<std::size_t>>(broken.size() + 1);
    const auto finish = [this, partition, left] {
      if (--*left > 0) return;
      healing_[partition] = false;
      for (const auto& hosted : all()) {
        if (hosted->partition == partition && hosted->is_broken()) return heal(partition);
      }
      try {
        partitions_[partition].reopen();
      } catch (const std::exception& error) {
        options_.error(error.what());
      }
    };
    for (const auto& hosted : broken) {
      const auto found = restored.find(hosted->id);
      auto state = std::make_shared<Restored>();
      const bool exists = found != restored.end();
      if (exists) *state = std::move(found->second);
      hosted->turns.write(false, [this, hosted, state, exists, finish] {
        if (exists) {
          hosted->replace(std::move(*state));
        } else {  // it never came to be
          hosted->end();
          const std::unique_lock lock(mutex_);
          const auto place = caches_.find(hosted->name);
          if (place != caches_.end() && place->second == hosted) caches_.erase(place);
        }
        finish();
      });
    }
    finish();
  } catch (const std::exception& error) {
    options_.error("partition " + std::to_string(partition) + " takes no changes: " + error.what());
    const std::unique_lock lock(mutex_);
    halted_[partition] = error.what();
  }
}

// --- Snapshots

void Service::keep_snapshots() {
  std::unique_lock lock(stop_mutex_);
  auto due = std::chrono::steady_clock::now() + options_.snapshot_interval;
  while (!stop_wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) {
    lock.unlock();
    const bool all = std::chrono::steady_clock::now() >= due;
    if (all) due = std::chrono::steady_clock::now() + options_.snapshot_interval;
    snapshot(all);
    lock.lock();
  }
}

void Service::snapshot(bool every) {
  const std::lock_guard lock(snapshot_mutex_);
  std::set<Partition> changed;
  for (const auto& hosted : all()) {
    const bool dirty = hosted->appended > hosted->snapshot;
    if (!dirty || hosted->is_broken() || (!every && hosted->log_bytes < options_.snapshot_bytes)) {
      continue;
    }
    try {
      if (!snapshot(hosted)) continue;
      changed.insert(hosted->partition);
      ++snapshots_made_;
    } catch (const std::exception& error) {
      ++snapshots_failed_;
      options_.error("no snapshot of '" + hosted->name + "': " + error.what());
    }
  }
  for (const Partition partition : changed) trim(partition);
}

// The snapshot is made from the last one and the log, so that nobody waits for it, and so that it
// proves that both are good.
// False: there was nothing to be done.
bool Service::snapshot(const std::shared_ptr<Hosted>& hosted) {
  auto restored = replay(log_, snapshots_, hosted->partition, {hosted->id});
  const auto found = restored.find(hosted->id);
  if (found == restored.end()) return false;  // removed, or not yet there
  const Position position = found->second.position;
  if (position <= hosted->snapshot) return false;
  snapshots_.put(hosted->id, position, snapshot_of(found->second, hosted->id));
  hosted->snapshot = position;
  hosted->log_bytes = 0;  // about: what has come meanwhile is counted by the next interval
  snapshots_.remove_below(hosted->id, hosted->is_removed() ? UINT64_MAX : position);
  return true;
}

void Service::trim(Partition partition) {
  if (!halted(partition).empty()) return;
  // In this order: what is in the log by now has been noted by its cache.
  Position upto = log_.range(partition).last;
  upto = std::min(upto, partitions_[partition].last());
  std::vector<std::shared_ptr<Hosted>> caches;
  for (const auto& hosted : all()) {
    if (hosted->partition != partition) continue;
    caches.push_back(hosted);
    const Position snapshot = hosted->snapshot;
    if (hosted->appended > snapshot) upto = std::min(upto, snapshot);
  }
  for (const auto& hosted : caches) hosted->forget_events(upto);
  log_.trim(partition, upto);
}

void Service::stop() {
  end_upkeep();
  snapshot(true);
}

void Service::end_upkeep() {
  {
    const std::lock_guard lock(stop_mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  stop_wake_.notify_all();
  snapshooter_.join();
}

}  // namespace dpcache::server
