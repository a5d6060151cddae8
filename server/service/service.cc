// The registry of caches, and what keeps it true to the log.
#include "service/service.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace dpcache::server {

namespace {

std::uint64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool Service::is_name(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  if (name.empty() || name.size() > kLongest || !is_letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || c == '.' || c == '_' || c == '-'; });
}

Partition Service::partition_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: part of the format of what is stored
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return static_cast<Partition>(hash % kPartitions);
}

Service::Service(Log& log, Snapshots& snapshots, ServiceOptions options)
    : log_(log),
      snapshots_(snapshots),
      options_(std::move(options)),
      epoch_(now_ms()),
      pool_(std::max(1U, options_.threads)) {
  recover();
  snapshooter_ = std::thread([this] { keep_snapshots(); });
}

Service::~Service() {
  end_upkeep();
  // What is on its way to the disk still knows its cache and its partition; when it is there it may
  // leave more to do, which may be on its way to the disk next.
  std::uint64_t tasks = 0;
  do {
    tasks = pool_.wait_until_idle();
    for (Partition partition = 0; partition < kPartitions; ++partition) {
      while (partitions_[partition].pending_bytes() > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  } while (pool_.wait_until_idle() != tasks);
}

// --- Finding

std::shared_ptr<Hosted> Service::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = caches_.find(name);
  return found == caches_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Hosted>> Service::list(const std::string& after,
                                                   std::size_t limit) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<Hosted>> found;
  for (auto at = caches_.upper_bound(after); at != caches_.end() && found.size() < limit; ++at) {
    found.push_back(at->second);
  }
  return found;
}

std::vector<std::shared_ptr<Hosted>> Service::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<Hosted>> found(replaced_.begin(), replaced_.end());
  for (const auto& [name, hosted] : caches_) found.push_back(hosted);
  return found;
}

std::size_t Service::size() const {
  const std::shared_lock lock(mutex_);
  return caches_.size();
}

std::string Service::halted(Partition partition) const {
  const std::shared_lock lock(mutex_);
  const auto found = halted_.find(partition);
  return found == halted_.end() ? std::string() : found->second;
}

// --- Changing

Service::Refusal Service::room_for(const Hosted& hosted, std::uint64_t bytes) const {
  if (hosted.turns.waiting() > options_.max_waiting ||
      partitions_[hosted.partition].pending_bytes() > options_.max_pending) {
    return Refusal::busy;
  }
  if (options_.max_memory > 0 && memory() + bytes > options_.max_memory) return Refusal::memory;
  return Refusal::none;
}

std::shared_ptr<Hosted> Service::host(const std::string& id, Restored restored) {
  const Partition partition = partition_of_id(id);
  return std::make_shared<Hosted>(id, std::move(restored), partitions_[partition], pool_,
                                  options_.scorer, memory_, [this, partition] { heal(partition); });
}

Service::Refusal Service::create(const std::string& name, Cache cache, const Settings& settings,
                                 std::int64_t time, const Done& done) {
  return begin(name, std::move(cache), settings, time, false, done);
}

Service::Refusal Service::load(const std::string& name, Cache cache, const Settings& settings,
                               std::int64_t time, const Done& done) {
  return begin(name, std::move(cache), settings, time, true, done);
}

Service::Refusal Service::begin(const std::string& name, Cache cache, const Settings& settings,
                                std::int64_t time, bool replace, const Done& done) {
  const Partition partition = partition_of(name);
  if (!halted(partition).empty()) return Refusal::halted;
  if (options_.max_memory > 0 && memory() + cache.stats().bytes > options_.max_memory) {
    return Refusal::memory;
  }
  const std::string id = make_id(partition, epoch_, next_number_++);
  Restored restored;
  restored.name = name;
  restored.settings = to_json(settings);
  restored.cache = std::move(cache);

  Entry entry;
  entry.kind = replace ? EntryKind::load : EntryKind::create;
  entry.cache = id;
  entry.name = name;
  entry.settings = restored.settings;
  entry.time = time;
  if (replace) {
    const std::vector<std::byte> file = snapshot_of(restored, id);
    try {
      snapshots_.put(id, 0, file);
    } catch (const std::exception& error) {
      options_.error(error.what());
      return Refusal::failed;
    }
  } else {
    entry.events.push_back(to_json(restored.cache.config()));
  }
  const auto hosted = host(id, std::move(restored));
  std::shared_ptr<Hosted> old;
  {
    const std::unique_lock lock(mutex_);
    std::shared_ptr<Hosted>& place = caches_[name];
    if (place && !replace) return Refusal::exists;
    if (!place && caches_.size() > options_.max_caches) {
      caches_.erase(name);
      return Refusal::too_many;
    }
    old = std::exchange(place, hosted);
    if (old) replaced_.insert(old);
  }
  // The old one ends only when the new one is on the disk, and comes back if that fails.
  hosted->begin(std::move(entry),
                [this, hosted, old, time, done](Append outcome, const std::string& detail) {
                  if (old && outcome == Append::ok) retire(old, time);
                  if (old && outcome != Append::ok) restore(old, hosted);
                  done(outcome, detail);
                });
  if (replace) prepare(hosted);
  return Refusal::none;
}

void Service::retire(const std::shared_ptr<Hosted>& old, std::int64_t time) {
  old->turns.write(false, [this, old, time] { remove(old, time, [](Append, const auto&) {}); });
}

void Service::restore(const std::shared_ptr<Hosted>& old, const std::shared_ptr<Hosted>& failed) {
  const std::unique_lock lock(mutex_);
  std::shared_ptr<Hosted>& place = caches_[old->name];
  if (place && place != failed) return;  // made anew meanwhile; the older one ends with a restart
  place = old;
  replaced_.erase(old);
}

void Service::remove(const std::shared_ptr<Hosted>& hosted, std::int64_t time, Done done) {
  hosted->remove(time,
                 [this, hosted, done = std::move(done)](Append outcome, const std::string& detail) {
                   if (outcome == Append::ok) {
                     {
                       const std::unique_lock lock(mutex_);
                       const auto found = caches_.find(hosted->name);
                       if (found != caches_.end() && found->second == hosted) caches_.erase(found);
                       replaced_.erase(hosted);
                     }
                     pool_.post([this, hosted] {
                       try {
                         snapshots_.remove_below(hosted->id, UINT64_MAX);
                       } catch (const std::exception& error) {
                         options_.error(error.what());
                       }
                     });
                   }
                   done(outcome, detail);
                 });
}

bool Service::events(const Hosted& hosted, std::uint64_t seq, std::size_t limit,
                     const std::function<void(std::string_view)>& sink) {
  const auto ranges = hosted.events_after(seq, limit);
  std::uint64_t next = seq + 1;
  std::size_t left = limit;
  for (const EventRange& range : ranges) {
    if (range.first > next) return false;
    bool found = false;
    log_.read(hosted.partition, range.position - 1, [&](Position position, std::string_view bytes) {
      if (position != range.position) return false;
      const auto entry = decode_entry(bytes);
      if (!entry) return false;
      found = true;
      for (std::uint64_t at = range.first; const std::string& event : entry->events) {
        if (at++ < next) continue;
        if (left == 0) break;
        sink(event);
        ++next;
        --left;
      }
      return false;
    });
    if (!found) return false;
    if (left == 0) break;
  }
  return !ranges.empty() || hosted.committed_seq() <= seq;
}

}  // namespace dpcache::server
