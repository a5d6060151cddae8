// Tells a scorer what becomes of a memory's keys; see dpcache/scorer.h.
#ifndef DPCACHE_SRC_KEY_WATCH_H_
#define DPCACHE_SRC_KEY_WATCH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dpcache/scorer.h"

namespace dpcache {

class KeyWatch {
 public:
  KeyWatch(Scorer& scorer, std::size_t rows) noexcept : scorer_(scorer), memory_(next()) {
    changed(0, rows);
  }
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;
  ~KeyWatch() { scorer_.forget(memory_); }

  void changed(std::size_t first, std::size_t last) noexcept {
    ++version_;
    scorer_.changed(memory_, first, last);
  }
  Scorer& scorer() const noexcept { return scorer_; }
  std::uint64_t memory() const noexcept { return memory_; }
  std::uint64_t version() const noexcept { return version_; }

 private:
  static std::uint64_t next() noexcept {
    static std::atomic<std::uint64_t> memories{0};
    return ++memories;
  }

  Scorer& scorer_;
  std::uint64_t memory_;
  std::uint64_t version_ = 0;
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_KEY_WATCH_H_
