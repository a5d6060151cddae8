// All caches of a server: found by name, made and removed, brought back at the start, and kept in
// snapshots while they change.
#ifndef DPCACHE_SERVER_SERVICE_SERVICE_H_
#define DPCACHE_SERVER_SERVICE_SERVICE_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dpcache/scorer.h"
#include "log/log.h"
#include "log/snapshots.h"
#include "service/hosted.h"
#include "service/pool.h"

namespace dpcache::server {

struct ServiceOptions {
  unsigned threads = 2;          // for long work
  std::uint64_t max_memory = 0;  // bytes of all caches together; 0: no limit
  std::uint64_t max_caches = 10'000;
  std::size_t max_waiting = 1024;          // requests that wait for one cache
  std::uint64_t max_pending = 64U << 20U;  // bytes of one partition on their way to the disk
  std::chrono::milliseconds snapshot_interval{300'000};
  Scorer* scorer = nullptr;                   // of all caches; outlives the service; null: the CPU
  std::uint64_t snapshot_bytes = 64U << 20U;  // of log behind a snapshot that ask for the next
  // What an operator should know, in a sentence.
  std::function<void(const std::string&)> info = [](const std::string&) {};
  std::function<void(const std::string&)> error = [](const std::string&) {};
};

// Thread rule: every function may be called from any thread, but stop() once and last.
class Service {
 public:
  using Done = Hosted::Done;

  // Brings back what log and snapshots hold, which must outlive this. A partition that is damaged
  // is halted: it is told through `error`, its caches are not there, and the others go on.
  Service(Log& log, Snapshots& snapshots, ServiceOptions options);
  ~Service();  // waits for what is on its way to the disk; makes no snapshot, see stop()
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // [A-Za-z0-9][A-Za-z0-9._-]*, at most 128 characters.
  static bool is_name(std::string_view name);
  static Partition partition_of(std::string_view name);

  // Null: no cache has this name.
  std::shared_ptr<Hosted> find(std::string_view name) const;
  // Names above `after`, ascending, at most `limit`.
  std::vector<std::shared_ptr<Hosted>> list(const std::string& after, std::size_t limit) const;
  std::size_t size() const;

  // What speaks against a change of a cache, before it is tried.
  enum class Refusal : std::uint8_t { none, exists, too_many, halted, busy, memory, failed };
  // Makes a cache. `done` when it is on the disk, if the result is `none`.
  Refusal create(const std::string& name, Cache cache, const Settings& settings, std::int64_t time,
                 const Done& done);
  // Puts a memory file's cache in the place of that name, if there is one.
  Refusal load(const std::string& name, Cache cache, const Settings& settings, std::int64_t time,
               const Done& done);
  // In a turn to write.
  void remove(const std::shared_ptr<Hosted>& hosted, std::int64_t time, Done done);
  // Whether one more change of `bytes` can be taken up by a cache now.
  Refusal room_for(const Hosted& hosted, std::uint64_t bytes) const;
  // Why a partition takes no part; empty if it does.
  std::string halted(Partition partition) const;

  // Events of a cache behind `seq`, at most `limit` of them, as canonical bytes. False: they are no
  // longer in the log.
  bool events(const Hosted& hosted, std::uint64_t seq, std::size_t limit,
              const std::function<void(std::string_view)>& sink);

  std::uint64_t memory() const { return *memory_; }  // of all caches
  const ServiceOptions& options() const { return options_; }
  Pool& pool() { return pool_; }
  // What snapshots have been made, and how many failed.
  std::uint64_t snapshots_made() const { return snapshots_made_; }
  std::uint64_t snapshots_failed() const { return snapshots_failed_; }
  // Makes the snapshots that are due, or of all caches that have changed. Waits for them.
  void snapshot(bool all);

  // Ends the background work and makes a snapshot of what has changed.
  void stop();

 private:
  void recover();
  void recover(Partition partition);
  std::shared_ptr<Hosted> host(const std::string& id, Restored restored);
  // A cache that another one has taken the place of: out of the registry, but in the log until its
  // end is there too.
  void retire(const std::shared_ptr<Hosted>& old, std::int64_t time);
  void restore(const std::shared_ptr<Hosted>& old, const std::shared_ptr<Hosted>& failed);
  Refusal begin(const std::string& name, Cache cache, const Settings& settings, std::int64_t time,
                bool replace, const Done& done);
  void heal(Partition partition);
  void heal_now(Partition partition);
  bool snapshot(const std::shared_ptr<Hosted>& hosted);
  // Some slots a turn, so that others get theirs.
  void prepare(const std::shared_ptr<Hosted>& hosted);
  void trim(Partition partition);
  void keep_snapshots();
  void end_upkeep();
  std::vector<std::shared_ptr<Hosted>> all() const;  // the replaced ones too

  Log& log_;
  Snapshots& snapshots_;
  const ServiceOptions options_;
  const std::uint64_t epoch_;
  const std::shared_ptr<std::atomic<std::uint64_t>> memory_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::array<PartitionLog, kPartitions> partitions_;
  std::array<std::atomic<bool>, kPartitions> healing_{};
  mutable std::shared_mutex mutex_;  // of what follows
  std::map<std::string, std::shared_ptr<Hosted>, std::less<>> caches_;
  std::set<std::shared_ptr<Hosted>> replaced_;
  std::map<Partition, std::string> halted_;
  std::atomic<std::uint64_t> next_number_ = 1;
  std::atomic<std::uint64_t> snapshots_made_ = 0;
  std::atomic<std::uint64_t> snapshots_failed_ = 0;

  Pool pool_;
  std::mutex snapshot_mutex_;  // who reads the whole of a partition, or trims it
  std::mutex stop_mutex_;
  std::condition_variable stop_wake_;
  bool stopping_ = false;
  std::thread snapshooter_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_SERVICE_H_
