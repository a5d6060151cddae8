// A proof that a slot is the nearest, without a look at the others.
//
// Slots are far from each other. If a query is at the angle b from slot i, and every other slot at
// an angle of at least a from slot i, then every other slot is at least a - b from the query, since
// angles obey the triangle inequality. Where that leaves all others below slot i, it is the nearest
// [the half-angle rule, b < a / 2, with room for the rounding of scores].
#ifndef DPCACHE_SRC_SEARCH_CERTAIN_H_
#define DPCACHE_SRC_SEARCH_CERTAIN_H_

#include "search.h"
#include "search_codes.h"
#include "slots.h"

namespace dpcache {

// Whether row `r`, whose similarity to a query of unit length is `similarity`, is nearer to it than
// every other row can be.
bool is_certain(const Slots& slots, std::size_t r, float similarity) noexcept;

// Finds the nearest row if it is guessed and is certain. `key` is the query, `rotated` the same as
// codes have it. False: it must be searched for; then `best` is as it was.
bool nearest_by_guess(const Slots& slots, const float* key, const float* rotated, Counted counted,
                      Nearest& best);

}  // namespace dpcache

#endif  // DPCACHE_SRC_SEARCH_CERTAIN_H_
