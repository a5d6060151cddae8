// One cache of the server: the memory, its turns, and its way to the log.
#ifndef DPCACHE_SERVER_SERVICE_HOSTED_H_
#define DPCACHE_SERVER_SERVICE_HOSTED_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dpcache/cache.h"
#include "dpcache/text.h"
#include "service/answers.h"
#include "service/partition_log.h"
#include "service/replay.h"
#include "service/settings.h"
#include "service/turns.h"

namespace dpcache::server {

// Figures that anybody may read at any time; as they were after the last change.
struct HostedCounters {
  std::atomic<std::uint64_t> slots = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> items = 0;
  std::atomic<std::uint64_t> allocations = 0;
  std::atomic<std::uint64_t> merges = 0;
  std::atomic<std::uint64_t> evictions = 0;
  std::atomic<std::uint64_t> folds = 0;
  std::atomic<std::uint64_t> expirations = 0;
  std::atomic<std::uint64_t> erasures = 0;
  std::atomic<std::uint64_t> seq = 0;
};

class Hosted : public std::enable_shared_from_this<Hosted> {
 public:
  using Done = std::function<void(Append outcome, const std::string& detail)>;

  // The parts of `restored`. `failed` is told once when an entry of this cache did not reach the
  // disk: the memory is then ahead of the log, takes no more changes, and waits for replace().
  // `memory`: of all caches, to which this adds its own.
  Hosted(std::string id, Restored restored, PartitionLog& log, Pool& pool, Scorer* scorer,
         std::shared_ptr<std::atomic<std::uint64_t>> memory, std::function<void()> failed);
  Hosted(const Hosted&) = delete;
  Hosted& operator=(const Hosted&) = delete;
  ~Hosted();

  const std::string id;
  const std::string name;
  const Partition partition;
  const std::uint32_t dimension;  // of the config: these cannot change
  const std::uint32_t value_dimension;
  const std::optional<Encoder> encoder;  // none: the cache takes no text, or of no kind known here
  Turns turns;
  HostedCounters counters;

  // The first entry of a new cache, before anybody else writes.
  void begin(Entry entry, const Done& done);
  // Nothing of this cache is in the log: it ends.
  void end();

  // --- In a turn to read

  const Cache& cache() const { return cache_; }
  Settings settings() const { return settings_; }

  // --- In a turn to write

  // Changes go through this, and are then committed.
  Cache& change() { return cache_; }
  // Why nothing can be changed now: the cache was removed, or the log has failed; else nothing.
  enum class Closed : std::uint8_t { no, removed, failed };
  Closed closed() const;
  const Answers& answers() const { return answers_; }
  // Whether the entry at a position is on the disk.
  bool is_committed(Position position) const { return position <= committed_; }
  // Hands to the log what change() has done since the last commit. `done` is called when it is on
  // the disk, or was lost; with relaxed durability at once, but not where it begins or ends.
  // Without changes and answer nothing is written.
  void commit(std::int64_t time, std::optional<Answer> answer, const Done& done,
              std::optional<Settings> settings = {});
  // Ends the cache. `done` as above.
  void remove(std::int64_t time, Done done);
  // Brings some more slots to what makes searches fast, see Cache::prepare().
  bool prepare(std::size_t slots);
  // The state that the log has, after a failure.
  void replace(Restored restored);

  // --- At any time

  bool is_broken() const { return broken_; }
  std::uint64_t committed_seq() const;  // of the last event that is on the disk
  // Where committed events stand in the log.
  std::deque<EventRange> events_after(std::uint64_t seq, std::size_t most) const;
  // Calls once when there are committed events behind `seq`, or the cache is gone; at once if so.
  // Not if `owner` has gone by then. The call comes on a thread of the log, which must not be held
  // up.
  void when_events(std::uint64_t seq, std::weak_ptr<const void> owner, std::function<void()> call);
  bool is_removed() const { return removed_; }

  // For the snapshots: of the last one, and what has come since.
  std::atomic<Position> snapshot = 0;
  std::atomic<Position> appended = 0;  // the last entry of this cache, on the disk or not
  std::atomic<std::uint64_t> log_bytes = 0;
  void forget_events(Position upto);

 private:
  struct Pending {
    EventRange events;
    std::uint64_t bytes = 0;
  };
  void listen();
  void count();
  Position append(Entry entry, Pending pending, const Done& done);
  void fail();
  void committed(const Pending& pending, Position position);
  void wake();

  Scorer* scorer_;  // null: none
  PartitionLog& log_;
  std::shared_ptr<std::atomic<std::uint64_t>> memory_;
  std::function<void()> failed_;
  Cache cache_;
  Settings settings_;
  Answers answers_;
  std::uint64_t state_before_ = 0;
  std::vector<std::string> events_;  // since the last commit
  EventRange event_range_;
  std::atomic<bool> broken_ = false;
  std::atomic<bool> removed_ = false;
  std::atomic<Position> committed_ = 0;

  mutable std::mutex mutex_;  // of what follows
  std::deque<EventRange> event_index_;
  std::uint64_t committed_seq_ = 0;
  struct Listener {
    std::uint64_t seq;
    std::weak_ptr<const void> owner;
    std::function<void()> call;
  };
  std::vector<Listener> listeners_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_HOSTED_H_
