// Threads that take tasks in the order in which they come.
#include "service/pool.h"

#include <exception>
#include <utility>

namespace dpcache::server {

Pool::Pool(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    ++posted_;
  }
  wake_.notify_one();
}

std::size_t Pool::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

std::uint64_t Pool::wait_until_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return done_ == posted_; });
  return posted_;
}

void Pool::run() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task();
    } catch (const std::exception&) {
      // No memory, most likely: who waits for the task sees it go.
    }
    task = nullptr;
    const std::lock_guard lock(mutex_);
    if (++done_ == posted_) idle_.notify_all();
  }
}

}  // namespace dpcache::server
