// Streams as threads.
#include "cuda/emulated_device.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <thread>

// A fiber a thread: small blocks take less time.
#define DPCACHE_BLOCK_THREADS 64
#include "cuda/emulated_launch.h"

namespace dpcache::cuda {

namespace {

class StreamThread {
 public:
  StreamThread() : thread_([this] { work(); }) {}
  StreamThread(const StreamThread&) = delete;
  StreamThread& operator=(const StreamThread&) = delete;
  ~StreamThread() {
    add({});
    thread_.join();
  }
  void add(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty(); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      if (!tasks_.front()) return;
      const std::function<void()> task = tasks_.front();
      lock.unlock();
      task();
      lock.lock();
      tasks_.pop_front();  // empty means that all is done
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_;
};

struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned recorded = 0;
  unsigned happened = 0;
  std::chrono::steady_clock::time_point time;
};

StreamThread& of(Stream stream) {
  return *static_cast<StreamThread*>(stream.handle);
}
EventState& of(Event event) {
  return *static_cast<EventState*>(event.handle);
}

}  // namespace

Outcome EmulatedDevice::begin(Call call) noexcept {
  const auto index = static_cast<std::size_t>(call);
  ++control_.calls[index];
  int left = control_.fails_after[index];
  while (left >= 0 && !control_.fails_after[index].compare_exchange_weak(left, left - 1)) {
  }
  if (control_.is_broken) return {Fault::failed, "the device is broken"};
  if (left != 0) return {};
  const bool is_memory = call == Call::allocate || call == Call::allocate_pinned;
  return {is_memory ? Fault::no_memory : Fault::failed, is_memory ? "no memory" : "it failed"};
}

Outcome EmulatedDevice::free_memory(std::size_t& bytes) noexcept {
  bytes = control_.memory - control_.used;
  return {};
}

Outcome EmulatedDevice::allocate(std::size_t bytes, void*& out) noexcept {
  if (const Outcome outcome = begin(Call::allocate); !outcome) return outcome;
  out = std::aligned_alloc(256, rounded_up(bytes, 256));
  std::memset(out, 0xFF, bytes);  // NaNs, and row numbers that are none
  control_.used += bytes;
  ++control_.pieces;
  const std::lock_guard lock(mutex_);
  pieces_[out] = bytes;
  return {};
}

void EmulatedDevice::release(void* memory) noexcept {
  {
    const std::lock_guard lock(mutex_);
    control_.used -= pieces_.at(memory);
    pieces_.erase(memory);
  }
  --control_.pieces;
  std::free(memory);
}

Outcome EmulatedDevice::allocate_pinned(std::size_t bytes, void*& out) noexcept {
  if (const Outcome outcome = begin(Call::allocate_pinned); !outcome) return outcome;
  out = std::malloc(bytes);
  ++control_.pieces;
  return {};
}

void EmulatedDevice::release_pinned(void* memory) noexcept {
  --control_.pieces;
  std::free(memory);
}

Outcome EmulatedDevice::make_stream(Stream& out) noexcept {
  if (const Outcome outcome = begin(Call::make_stream); !outcome) return outcome;
  out.handle = new StreamThread();
  return {};
}

void EmulatedDevice::drop(Stream stream) noexcept {
  delete &of(stream);
}

Outcome EmulatedDevice::make_event(Event& out) noexcept {
  if (const Outcome outcome = begin(Call::make_event); !outcome) return outcome;
  out.handle = new EventState();
  return {};
}

void EmulatedDevice::drop(Event event) noexcept {
  delete &of(event);
}

Outcome EmulatedDevice::move(Call call, void* to, const void* from, std::size_t bytes,
                             Stream stream) noexcept {
  if (const Outcome outcome = begin(call); !outcome) return outcome;
  of(stream).add([=] { std::memcpy(to, from, bytes); });
  return {};
}

Outcome EmulatedDevice::upload(void* to, const void* from, std::size_t bytes,
                               Stream stream) noexcept {
  control_.uploaded += bytes;
  return move(Call::upload, to, from, bytes, stream);
}
Outcome EmulatedDevice::download(void* to, const void* from, std::size_t bytes,
                                 Stream stream) noexcept {
  return move(Call::download, to, from, bytes, stream);
}
Outcome EmulatedDevice::copy(void* to, const void* from, std::size_t bytes,
                             Stream stream) noexcept {
  return move(Call::copy, to, from, bytes, stream);
}

Outcome EmulatedDevice::encode(const EncodeWork& work, Stream stream) noexcept {
  if (const Outcome outcome = begin(Call::encode); !outcome) return outcome;
  of(stream).add([work] { launch_encode_here(work); });
  return {};
}

Outcome EmulatedDevice::search(const SearchWork& work, Stream stream) noexcept {
  if (const Outcome outcome = begin(Call::search); !outcome) return outcome;
  of(stream).add([work] { launch_search_here(work); });
  return {};
}

Outcome EmulatedDevice::record(Event event, Stream stream) noexcept {
  if (const Outcome outcome = begin(Call::record); !outcome) return outcome;
  EventState& state = of(event);
  const std::lock_guard lock(state.mutex);
  ++state.recorded;
  of(stream).add([&state] {
    const std::lock_guard inner(state.mutex);
    ++state.happened;
    state.time = std::chrono::steady_clock::now();
    state.changed.notify_all();
  });
  return {};
}

Outcome EmulatedDevice::wait(Event event) noexcept {
  const Outcome outcome = begin(Call::wait);
  EventState& state = of(event);
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&state] { return state.happened == state.recorded; });
  return outcome;
}

Outcome EmulatedDevice::wait(Stream stream) noexcept {
  const Outcome outcome = begin(Call::wait);
  of(stream).wait();
  return outcome;
}

Outcome EmulatedDevice::elapsed(Event from, Event to, float& milliseconds) noexcept {
  milliseconds = std::chrono::duration<float, std::milli>(of(to).time - of(from).time).count();
  return {};
}

}  // namespace dpcache::cuda
