// The nearest of the slots whose keys have codes; see codes.h.
#ifndef DPCACHE_SRC_SEARCH_CODES_H_
#define DPCACHE_SRC_SEARCH_CODES_H_

#include <cstddef>
#include <cstdint>

#include "search.h"
#include "slots.h"

namespace dpcache {

// The slots that a search counts.
struct Counted {
  std::int64_t time;  // those that have expired by then do not
  std::size_t other;  // nor does this row

  bool counts(const Slots& slots, std::size_t r) const noexcept {
    return r != other && slots.alive(r, time);
  }
};

// Finds the nearest of the first rows, as many as it returns: all that have codes, or none if codes
// tell nothing of this query; then `best` is as it was.
std::size_t search_codes(const Slots& slots, const float* query, Counted counted, Nearest& best);

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_CODES_H_
