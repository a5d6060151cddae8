// A readers-and-writer lock whose waiters are tasks.
#include "service/turns.h"

#include <utility>
#include <vector>

namespace dpcache::server {

void Turns::read(bool brief, Task task) {
  enter(false, brief, std::move(task));
}

void Turns::write(bool brief, Task task) {
  enter(true, brief, std::move(task));
}

std::size_t Turns::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + readers_ + (writer_ ? 1 : 0);
}

void Turns::enter(bool writes, bool brief, Task task) {
  {
    const std::lock_guard lock(mutex_);
    const bool busy = writer_ || !queue_.empty() || (writes && readers_ > 0);
    if (busy) {
      queue_.push_back({writes, std::move(task)});
      return;
    }
    if (writes) {
      writer_ = true;
    } else {
      ++readers_;
    }
  }
  if (!brief) return post(writes, std::move(task));
  run(writes, task);
}

// The turn ends with the task, also with one that throws.
void Turns::run(bool writes, const Task& task) {
  struct Leaving {
    Turns& turns;
    bool writes;
    ~Leaving() { turns.leave(writes); }
  };
  const Leaving leaving{*this, writes};
  task();
}

void Turns::post(bool writes, Task task) {
  pool_.post([this, writes, task = std::move(task)]() mutable {
    run(writes, task);  // leaves before the task goes, which may be the last to hold these turns
  });
}

void Turns::leave(bool writes) {
  std::vector<Waiting> next;
  {
    const std::lock_guard lock(mutex_);
    if (writes) {
      writer_ = false;
    } else {
      --readers_;
    }
    while (!queue_.empty() && !writer_) {
      const bool writer = queue_.front().writes;
      if (writer && readers_ > 0) break;
      if (writer) {
        writer_ = true;
      } else {
        ++readers_;
      }
      next.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }
  for (Waiting& one : next) post(one.writes, std::move(one.task));
}

}  // namespace dpcache::server
