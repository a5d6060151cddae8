// Whose turn it is with a cache: many readers or one writer, and nobody holds a thread while
// waiting.
#ifndef DPCACHE_SERVER_SERVICE_TURNS_H_
#define DPCACHE_SERVER_SERVICE_TURNS_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "service/pool.h"

namespace dpcache::server {

// In the order in which they come: a reader waits for the writers before it, a writer for all
// before it. Thread rule: every function may be called from any thread, also within a task. What a
// task throws comes out of read() or write() if it ran there; the pool drops it with the task.
class Turns {
 public:
  using Task = std::function<void()>;

  explicit Turns(Pool& pool) : pool_(pool) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Runs a task that only reads: at once and on this thread if it is `brief` and nobody is in the
  // way, else on the pool.
  void read(bool brief, Task task);
  // Runs a task that may change the cache, in the same way.
  void write(bool brief, Task task);
  // Tasks that wait or run.
  std::size_t waiting() const;

 private:
  struct Waiting {
    bool writes;
    Task task;
  };
  void enter(bool writes, bool brief, Task task);
  void run(bool writes, const Task& task);
  void post(bool writes, Task task);
  void leave(bool writes);

  Pool& pool_;
  mutable std::mutex mutex_;
  std::size_t readers_ = 0;
  bool writer_ = false;
  std::deque<Waiting> queue_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_TURNS_H_
