// Threads for work that is too long for the threads that talk to clients.
#ifndef DPCACHE_SERVER_SERVICE_POOL_H_
#define DPCACHE_SERVER_SERVICE_POOL_H_

#include <condition_variable>
#include <cstddef>
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

  // Tasks must not throw, and must not wait for each other.
  void post(Task task);
  std::size_t waiting() const;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_POOL_H_
