// Helpers wait for a number to change, take parts of the loop at hand until none is left, and wait
// again.
#include "workers.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "dpcache/threads.h"

namespace dpcache {

#if DPCACHE_NIBBLES

namespace {

class Helpers {
 public:
  ~Helpers() { resize(1); }

  std::size_t threads() const noexcept { return threads_.load(std::memory_order_relaxed); }

  Status resize(std::size_t threads) {
    while (busy_.exchange(true)) busy_.wait(true);
    const Turn turn{busy_};
    stop();
    try {
      helpers_.reserve(threads - 1);
      while (helpers_.size() + 1 < threads) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
      stop();
      threads_ = 1;
      return {Error::full, 0, "/threads", "the system starts no more threads"};
    }
    threads_ = threads;
    return {};
  }

  void divide(std::size_t parts, void* context, void (*call)(void*, std::size_t)) noexcept {
    // Whoever finds the helpers at work, be it for the loop around this one, does without.
    if (threads() == 1 || parts < 2 || busy_.exchange(true)) {
      for (std::size_t part = 0; part < parts; ++part) call(context, part);
      return;
    }
    const Turn turn{busy_};
    context_ = context;
    call_ = call;
    parts_ = parts;
    next_ = 0;
    at_work_ = helpers_.size();
    ++round_;
    round_.notify_all();
    take_parts();
    for (std::size_t left = at_work_; left != 0; left = at_work_) wait_while(at_work_, left);
  }

 private:
  struct Turn {
    std::atomic<bool>& busy;
    ~Turn() {
      busy = false;
      busy.notify_all();
    }
  };

  // A search has several loops, one behind the other, and the parts of one end at about the same
  // time: what is waited for comes mostly sooner than the system wakes a thread.
  template <class T>
  static void wait_while(const std::atomic<T>& number, T old) noexcept {
    constexpr unsigned kYields = 200;  // some 50 microseconds
    for (unsigned i = 0; i < kYields; ++i) {
      if (number != old) return;
      std::this_thread::yield();
    }
    number.wait(old);
  }

  void take_parts() noexcept {
    for (std::size_t part = next_++; part < parts_; part = next_++) call_(context_, part);
  }

  void help() {
    for (std::uint32_t seen = first_round_;;) {
      wait_while(round_, seen);
      seen = round_;
      if (ends_) return;
      take_parts();
      if (--at_work_ == 0) at_work_.notify_one();
    }
  }

  void stop() {
    ends_ = true;
    ++round_;
    round_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
    ends_ = false;
    first_round_ = round_;
  }

  std::atomic<bool> busy_ = false;  // whoever sets it has the helpers
  std::vector<std::thread> helpers_;
  std::atomic<std::size_t> threads_ = 1;

  // The loop at hand. Written before the round's number, and after all helpers have ended.
  void* context_ = nullptr;
  void (*call_)(void*, std::size_t) = nullptr;
  std::size_t parts_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> at_work_ = 0;
  std::atomic<std::uint32_t> round_ = 0;
  std::uint32_t first_round_ = 0;  // that helpers have seen when they start
  std::atomic<bool> ends_ = false;
};

Helpers& helpers() {
  static Helpers helpers;
  return helpers;
}

}  // namespace

std::size_t workers() noexcept {
  return helpers().threads();
}

void divide(std::size_t parts, void* context, void (*call)(void*, std::size_t)) noexcept {
  helpers().divide(parts, context, call);
}

Status use_threads(std::size_t threads) {
  if (threads == 0 || threads > kMostThreads) {
    return {Error::bad_config, 0, "/threads",
            "threads must be from 1 to " + std::to_string(kMostThreads)};
  }
  return helpers().resize(threads);
}

#else

Status use_threads(std::size_t /*threads*/) {
  return {};
}

#endif

}  // namespace dpcache
