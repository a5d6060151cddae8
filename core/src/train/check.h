// What training refuses: options and novelties out of their ranges.
#ifndef DPCACHE_SRC_TRAIN_CHECK_H_
#define DPCACHE_SRC_TRAIN_CHECK_H_

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "dpcache/error.h"

namespace dpcache {

inline Status bad_option(const char* name, const char* range) {
  return {Error::bad_config, 0, std::string("/") + name, std::string(name) + " must be " + range};
}

// Comparisons with NaN are false, so a range refuses it.
constexpr bool is_within(double x, double low, double high) noexcept {
  return x >= low && x <= high;
}

inline Status check_novelty(float novelty, std::size_t index) {
  if (is_within(novelty, 0.0, 2.0)) return {};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool finite = novelty > -kInfinity && novelty < kInfinity;
  return {finite ? Error::bad_request : Error::not_finite, index, "/novelty",
          "novelty must be from 0 to 2: it is 1 - cosine"};
}

template <class List>
Status check_novelties(const List& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (Status status = check_novelty(list[i].novelty, i); !status) return status;
  }
  return {};
}

}  // namespace dpcache

#endif  // DPCACHE_SRC_TRAIN_CHECK_H_
