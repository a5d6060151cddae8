// Counts what operator new hands out, in programs that have allocation_watch.cc among their
// sources.
#ifndef DPCACHE_TESTS_NATIVE_ALLOCATION_WATCH_H_
#define DPCACHE_TESTS_NATIVE_ALLOCATION_WATCH_H_

#include <atomic>
#include <cstdint>

namespace dpcache::testing {

struct AllocationTotals {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> largest{0};
};

AllocationTotals& allocation_totals();

// What was allocated since it was made.
class AllocationWatch {
 public:
  AllocationWatch() { allocation_totals().largest = 0; }
  std::uint64_t count() const { return allocation_totals().count - count_; }
  std::uint64_t bytes() const { return allocation_totals().bytes - bytes_; }  // freed or not
  std::uint64_t largest() const { return allocation_totals().largest; }

 private:
  std::uint64_t count_ = allocation_totals().count;
  std::uint64_t bytes_ = allocation_totals().bytes;
};

}  // namespace dpcache::testing

#endif  // DPCACHE_TESTS_NATIVE_ALLOCATION_WATCH_H_
