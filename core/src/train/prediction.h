// What is known of a sample to come from one that is there: the hypergeometric distribution's tail,
// and the bound that follows from it.
#ifndef DPCACHE_SRC_TRAIN_PREDICTION_H_
#define DPCACHE_SRC_TRAIN_PREDICTION_H_

#include <cstdint>

namespace dpcache {

// P(at most k of `marked` ones are among the first `n`), where n + m are in a random order and the
// rest is the last m; marked <= n + m, n and m up to 2^53. To about 1e-12 of itself up to 10^7 of
// each. Takes as many additions as there are terms that count: a few times the smaller one of
// sqrt(k) and sqrt(marked - k).
double hypergeometric_at_most(std::uint64_t k, std::uint64_t marked, std::uint64_t n,
                              std::uint64_t m) noexcept;

// The largest count that is at most `share` of m: the quotient count / m, as a double, is at most
// the share. So 3 of 10 are .3, and 55 of 2,750 are .02. share in (0, 1), m in [1, 2^53).
std::uint64_t count_within(double share, std::uint64_t m) noexcept;

// Whether k events in n trials show that of the next m at most `most` are events, most < m, but for
// a chance of delta: Thatcher (1964).
//
// Trials known and to come are exchangeable, so that any n of the n + m may be those known. Were
// more than `most` of those to come events, then the first k + most + 1 events, in any order that
// does not look at which are known, would have at most k known ones. Of so many events so few are
// known with a chance of hypergeometric_at_most(k, k + most + 1, n, m), and of fewer events at
// least as rarely: the k events are enough if that is at most delta.
//
// That a choice among many taus costs nothing is derived here, and follows from the same order. Let
// k be the most events that pass; order all events, known or to come, by novelty. What merges at a
// tau are the first ones, whichever tau was chosen for having at most k known ones among them. If
// more than `most` of those to come merge too, then the first k + most + 1 have at most k known
// ones: one event for all taus, with a chance of at most delta. Ties merge together, which leaves
// out some taus that might have failed.
//
// delta is widened by 2^-40 of itself and 2^-53: 1 - .9 is a little less than .1 in doubles, and 9
// trials, none an event, do for the next one.
bool shows_at_most(std::uint64_t most, std::uint64_t m, std::uint64_t k, std::uint64_t n,
                   double delta) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_TRAIN_PREDICTION_H_
