// Where one value arrives from any thread, and one connection waits for it.
#ifndef DPCACHE_SERVER_HTTP_MAILBOX_H_
#define DPCACHE_SERVER_HTTP_MAILBOX_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace dpcache::server {

// Someone who waits. It must outlive its waiting: see Mailbox::abandon.
class Waiter {
 public:
  // From any thread, with a lock held: it may only pass the word on.
  virtual void wake() = 0;

 protected:
  ~Waiter() = default;
};

// Thread rule: put() from any thread; the rest from the one that waits.
template <class T>
class Mailbox {
 public:
  // The first call counts; with nothing, it says that no value will come.
  void put(std::optional<T> value) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    value_ = std::move(value);
    if (waiter_ != nullptr) waiter_->wake();
  }

  // True if put() was called. If not, it will wake `waiter`.
  bool ready(Waiter& waiter) {
    const std::lock_guard lock(mutex_);
    if (!closed_) waiter_ = &waiter;
    return closed_;
  }

  // From here on nobody is woken, and what comes is dropped.
  void abandon() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiter_ = nullptr;
  }

  std::optional<T> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(value_, std::nullopt);
  }

  std::atomic<bool> gone = false;  // nobody wants the value any more

 private:
  std::mutex mutex_;
  std::optional<T> value_;
  Waiter* waiter_ = nullptr;
  bool closed_ = false;
};

// Abandons a box at the end of a scope, also when the server is destroyed meanwhile.
template <class T>
struct Leaving {
  explicit Leaving(Mailbox<T>& of) : box(of) {}
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() { box.abandon(); }
  Mailbox<T>& box;
};

// A function that puts its argument into the box. When its last copy is destroyed, it has put
// nothing.
template <class T>
std::function<void(T)> sender_to(const std::shared_ptr<Mailbox<T>>& box) {
  auto close = [box](Mailbox<T>* to) { to->put(std::nullopt); };
  return [to = std::shared_ptr<Mailbox<T>>(box.get(), std::move(close))](T value) {
    to->put(std::move(value));
  };
}

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_MAILBOX_H_
