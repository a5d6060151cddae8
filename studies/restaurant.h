// A Chinese restaurant: when it opens a table, and how a count grows with the number of customers.
#ifndef DPCACHE_STUDIES_RESTAURANT_H_
#define DPCACHE_STUDIES_RESTAURANT_H_

#include <cmath>
#include <cstddef>
#include <vector>

#include "studies/studies.h"

namespace dpcache::studies {

// A Chinese restaurant: customer n opens a table with probability alpha / (n + alpha), or joins the
// table of an earlier customer, drawn from all alike.
inline bool opens_table(Random& random, double alpha, std::size_t n) {
  return random.uniform() < alpha / (static_cast<double>(n) + alpha);
}

inline double expected_tables(double alpha, std::size_t customers) {
  double sum = 0.0;
  for (std::size_t n = 0; n < customers; ++n) sum += alpha / (static_cast<double>(n) + alpha);
  return sum;
}

// How a count grows with the logarithm of the number of customers, from the 100th on.
class Growth {
 public:
  void note(std::size_t customers, double count) {
    const auto n = static_cast<double>(customers);
    if (n < next_) return;
    logarithms_.push_back(std::log(n));
    counts_.push_back(count);
    next_ *= 1.25;
  }
  double per_logarithm() const { return slope(logarithms_, counts_); }

 private:
  double next_ = 100.0;
  std::vector<double> logarithms_;
  std::vector<double> counts_;
};

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_RESTAURANT_H_
