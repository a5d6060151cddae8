// The bound of the proof, and the guesses that it is tried on.
#include "search_certain.h"

#include <algorithm>
#include <cmath>

namespace dpcache {

bool is_certain(const Slots& slots, std::size_t r, float similarity) noexcept {
  const double margin = static_cast<double>(slots.margin());
  const double error = score_error(slots.margin());
  // What snaps to 1 is equal, so that 1 - margin is as good as 1; and what snaps to -1 may be as
  // much as margin - 1.
  const double reached = std::min(static_cast<double>(similarity), 1.0 - margin);
  const double closest = std::max(static_cast<double>(slots.closest(r)), margin - 1.0);
  const double a = closest + error;  // cosine of the angle a, or more
  const double b = reached - error;  // cosine of the angle b, or less
  if (!(a < b)) return false;
  constexpr double kSlack = 1e-12;                                         // of this arithmetic
  const double others = a * b + std::sqrt((1.0 - a * a) * (1.0 - b * b));  // cos(a - b)
  return others + error + kSlack < reached;
}

bool nearest_by_guess(const Slots& slots, const float* key, const float* rotated, Counted counted,
                      Nearest& best) {
  bool found = false;
  slots.codes().probe().visit(rotated, [&](std::size_t r) {
    if (!counted.counts(slots, r)) return false;
#if DPCACHE_NIBBLES
    // Half of the angle to the nearest other row is as far as a proof can reach. A part tells most
    // of the rows that are farther from it, and takes a tenth of the time.
    constexpr float kUnsure = 0.15F;
    const float half = std::sqrt((1.0F + slots.closest(r)) * 0.5F);
    if (slots.codes().estimate(rotated, r) < half - kUnsure) return false;
#endif
    const float s = similarity(slots, key, r);
    if (!is_certain(slots, r, s)) return false;
    best = {r, s};
    found = true;
    return true;
  });
  return found;
}

}  // namespace dpcache
