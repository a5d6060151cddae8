// Loads the newest snapshots, and repeats what the log has behind them.
#include "service/replay.h"

#include <charconv>
#include <utility>

#include "service/entry.h"

namespace dpcache::server {

namespace {

constexpr const char* kName = "server.name";
constexpr const char* kSettings = "server.settings";
constexpr const char* kAnswers = "server.answers";

std::string about(Partition partition, Position position) {
  return "partition " + std::to_string(partition) + ", entry " + std::to_string(position) + ": ";
}

Restored load(Snapshots& snapshots, const std::string& id, Position position) {
  const auto file = snapshots.open(id, position);
  auto cache = Cache::load(file->bytes());
  if (!cache) {
    throw Damage("the snapshot of " + id + " at " + std::to_string(position) +
                 " cannot be read: " + cache.status.detail);
  }
  Restored restored;
  restored.cache = std::move(*cache);
  auto& metadata = restored.cache.metadata();
  const auto take = [&](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  restored.name = take(kName);
  restored.settings = take(kSettings);
  restored.answers = Answers::unpack(take(kAnswers));
  std::erase_if(metadata, [](const auto& one) { return one.first.starts_with(kServerMetadata); });
  restored.snapshot = restored.position = position;
  return restored;
}

// Applies the entries of one partition.
class Player {
 public:
  Player(Snapshots& snapshots, Partition partition, std::map<std::string, Restored>& caches,
         const std::set<std::string>& only)
      : snapshots_(snapshots), partition_(partition), caches_(caches), only_(only) {}

  void play(Position position, std::string_view bytes) {
    const auto entry = decode_entry(bytes);
    if (!entry) throw Damage(about(partition_, position) + "is no entry, or of a newer version");
    if (entry->previous != position - 1) {
      throw Damage(about(partition_, position) + "does not follow the one before it");
    }
    ++progress.entries;
    if (!only_.empty() && !only_.contains(entry->cache)) return;
    switch (entry->kind) {
      case EntryKind::create:
        return create(*entry, position);
      case EntryKind::load:
        return begin(*entry, position);
      case EntryKind::remove:
        caches_.erase(entry->cache);
        missing_.erase(entry->cache);
        return;
      case EntryKind::settings:
      case EntryKind::events:
        return change(*entry, position, bytes.size());
    }
  }

  // To be called behind the last entry.
  void finish() const {
    if (missing_.empty()) return;
    const auto& [cache, position] = *missing_.begin();
    throw Damage(about(partition_, position) + "is about a cache that is not there, " + cache);
  }

  ReplayProgress progress;
  std::set<std::string> loadable;  // caches with a snapshot of position 0

 private:
  // An entry about a cache whose snapshot is newer has been done.
  bool is_done(const Entry& entry, Position position) const {
    const auto found = caches_.find(entry.cache);
    return found != caches_.end() && found->second.position >= position;
  }

  void create(const Entry& entry, Position position) {
    if (is_done(entry, position)) return;
    const auto config = config_from_json(entry.events.empty() ? "" : entry.events.front());
    auto cache = config ? Cache::create(*config) : Result<Cache>(config.status);
    if (!cache) throw Damage(about(partition_, position) + cache.status.detail);
    Restored& restored = caches_[entry.cache];
    restored = {};
    restored.cache = std::move(*cache);
    restored.name = entry.name;
    restored.settings = entry.settings;
    restored.position = position;
  }

  void begin(const Entry& entry, Position position) {
    if (is_done(entry, position)) return;
    if (!loadable.contains(entry.cache)) {  // removed later, with its file
      missing_.emplace(entry.cache, position);
      return;
    }
    Restored restored = load(snapshots_, entry.cache, 0);
    restored.name = entry.name;
    restored.settings = entry.settings;
    restored.position = position;
    caches_[entry.cache] = std::move(restored);
  }

  void change(const Entry& entry, Position position, std::size_t bytes) {
    const auto found = caches_.find(entry.cache);
    if (found == caches_.end()) {  // as it is for one that was removed later, whose files are gone
      missing_.emplace(entry.cache, position);
      return;
    }
    Restored& restored = found->second;
    const bool done = restored.position >= position;
    const Stats before = restored.cache.stats();
    if (!done && before.state_hash != entry.state_before) {
      throw Damage(about(partition_, position) + "does not follow the state of '" + restored.name +
                   "'");
    }
    EventRange range{0, 0, position};
    for (const std::string& event : entry.events) {
      const auto decoded = decode_event(std::as_bytes(std::span(event)));
      if (!decoded) throw Damage(about(partition_, position) + decoded.status.detail);
      if (range.first == 0) range.first = decoded->event().seq;
      range.last = decoded->event().seq;
      if (done) continue;
      if (const Status status = restored.cache.apply(decoded->event()); !status) {
        throw Damage(about(partition_, position) + status.detail);
      }
      ++progress.events;
    }
    if (range.first > 0) restored.events.push_back(range);
    if (done) return;
    if (!entry.settings.empty()) restored.settings = entry.settings;
    if (entry.answer) restored.answers.keep(*entry.answer, position);
    restored.position = position;
    restored.log_bytes += bytes;
  }

  Snapshots& snapshots_;
  Partition partition_;
  std::map<std::string, Restored>& caches_;
  const std::set<std::string>& only_;
  std::map<std::string, Position> missing_;
};

}  // namespace

std::map<std::string, Restored> replay(Log& log, Snapshots& snapshots, Partition partition,
                                       const std::set<std::string>& only,
                                       const std::function<void(const ReplayProgress&)>& tell) {
  std::map<std::string, Restored> caches;
  Player player(snapshots, partition, caches, only);
  const Log::Range range = log.range(partition);
  for (const StoredSnapshot& stored : snapshots.list()) {
    // The newest comes first. One of position 0 counts only where an entry names it.
    if (partition_of_id(stored.cache) != partition) continue;
    if (stored.position == 0) {
      player.loadable.insert(stored.cache);
      continue;
    }
    if ((!only.empty() && !only.contains(stored.cache)) || caches.contains(stored.cache)) continue;
    if (stored.position > range.last) {
      throw Damage("partition " + std::to_string(partition) + ": the log ends at entry " +
                   std::to_string(range.last) + ", but a snapshot of " + stored.cache +
                   " was made at entry " + std::to_string(stored.position));
    }
    caches[stored.cache] = load(snapshots, stored.cache, stored.position);
  }
  try {
    log.read(partition, range.first - 1, [&](Position position, std::string_view bytes) {
      player.play(position, bytes);
      player.progress.caches = caches.size();
      if (tell && player.progress.entries % 1024 == 0) tell(player.progress);
      return true;
    });
    player.finish();
  } catch (const Damage&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Damage(error.what());
  }
  player.progress.caches = caches.size();
  if (tell) tell(player.progress);
  return caches;
}

std::vector<std::byte> snapshot_of(Restored& restored, const std::string& id) {
  auto& metadata = restored.cache.metadata();
  const auto own = metadata;
  metadata["server.id"] = id;
  metadata[kName] = restored.name;
  metadata[kSettings] = restored.settings;
  metadata[kAnswers] = restored.answers.pack();
  metadata["server.position"] = std::to_string(restored.position);
  std::vector<std::byte> file = restored.cache.save();
  metadata = own;
  return file;
}

std::string make_id(Partition partition, std::uint64_t epoch, std::uint64_t number) {
  return std::to_string(partition) + "-" + std::to_string(epoch) + "-" + std::to_string(number);
}

Partition partition_of_id(const std::string& id) {
  Partition partition = kPartitions;
  std::from_chars(id.data(), id.data() + id.size(), partition);
  return partition;
}

}  // namespace dpcache::server
