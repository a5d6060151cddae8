// Time that this thread computed: what others do on the machine counts less than on the wall clock.
#ifndef DPCACHE_BENCH_PEERS_CLOCK_H_
#define DPCACHE_BENCH_PEERS_CLOCK_H_

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <vector>

namespace peers {

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace peers

#endif  // DPCACHE_BENCH_PEERS_CLOCK_H_
