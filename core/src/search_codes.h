// The nearest of the slots whose keys have codes; see codes.h.
#ifndef DPCACHE_SRC_SEARCH_CODES_H_
#define DPCACHE_SRC_SEARCH_CODES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codes.h"
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

// A query after its first look.
struct Looked {
  const float* key = nullptr;
  const QueryCodes* codes = nullptr;
  float* cosines = nullptr;  // of the first look; a search writes to it
  std::size_t rows = 0;      // that had codes then
#if DPCACHE_NIBBLES
  std::span<const std::uint32_t> moved = {};  // of these, the rows whose keys have moved since
#endif
};

// Finds the nearest of the rows that have codes. False: codes tell nothing of this query; then
// `best` is as it was.
bool nearest_by_codes(const Slots& slots, const Looked& query, Counted counted, Nearest& best);

#if DPCACHE_NIBBLES
// The k nearest, in no order; all rows that have codes must have been looked at, none moved since.
// False also if not so many count; `best` may have changed.
bool top_by_codes(const Slots& slots, const Looked& query, Counted counted, std::size_t k,
                  std::vector<Nearest>& best);
#endif

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_CODES_H_
