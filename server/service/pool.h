// Threads for work that is too long for the threads that talk to clients.
#ifndef DPCACHE_SERVER_SERVICE_POOL_H_
#define DPCACHE_SERVER_SERVICE_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dpcache::server {

// Thread rule: post() and waiting() may be called from any thread.
class Pool {
 public:
  using Task = std::function<void()>;

  explicit Pool(unsigned threads);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();  // runs what waits, and ends

  // Tasks must not wait for each other. What they throw is dropped with them.
  void post(Task task);
  std::size_t waiting() const;
  // Waits until no task waits or runs; how many there have been.
  std::uint64_t wait_until_idle();

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<Task> tasks_;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_POOL_H_
