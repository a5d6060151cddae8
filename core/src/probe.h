// Guesses at the key that a query repeats: keys whose largest components are the same.
//
// Each half of a vector is looked at for itself. A key stands in a list under its two largest
// components of a half, with their signs; a query looks under the pairs of its own largest ones,
// the likeliest first. At a cosine of .96 and 384 components one of the lists holds the key in 98
// of 100 cases among 1,000 keys, in 998 of 1,000 among 100,000, where more lists are looked into;
// most often one of the first does. That is cross-polytope hashing [Andoni et al. 2015, "Practical
// and Optimal LSH for Angular Distance"] with two vertices instead of one. A guess needs a proof;
// see search_certain.h.
#ifndef DPCACHE_SRC_PROBE_H_
#define DPCACHE_SRC_PROBE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aligned.h"
#include "kernels_codes.h"

namespace dpcache {

class Probe {
 public:
  explicit Probe(std::size_t length) noexcept : length_(length) {}

  // Makes room for so many keys, 12 to 16 bytes each; without it nothing is linked. False: no
  // memory; nothing changed.
  bool reserve(std::size_t rows);
  // Puts keys up to row `rows` into lists, for which there must be room. `codes`: of all of them,
  // (rows, length). O(length) each; of all keys anew where their number has doubled.
  void link(const std::int8_t* codes, std::size_t rows) noexcept;
  // Empties the lists.
  void clear() noexcept;
  std::size_t bytes() const noexcept;

  // Calls visit(row) for likely rows until it is true, or until so many were visited that it does
  // not pay. Rows that have gone may be among them, and a row may come twice.
  template <class Visit>
  void visit(const float* query, Visit visit) const {
    if (heads_.empty()) return;
    const unsigned count = peaks_for(linked_);
    // Of a rotated vector of unit length one component in 14 is above it.
    const float floor =
        DPCACHE_NIBBLES != 0 ? 1.8F / std::sqrt(static_cast<float>(length_)) : -1.0F;
    const std::array<Peaks, 2> peaks = both_halves(query, count, floor);
    unsigned steps = kMostSteps;
    std::size_t visits = std::clamp(linked_ / 32, kFewVisits, kMostVisits);
    for (unsigned second = 1; second < count; ++second) {
      for (unsigned n = 0; n < 2 * second; ++n) {
        const unsigned half = n % 2;
        const Place place = place_of(half, peaks[half][n / 2], peaks[half][second]);
        for (std::uint32_t link = heads_[place.list]; link != kEnd; --steps) {
          if (steps == 0) return;
          const std::uint32_t row = link & kRowMask;
          if (link >> kRowBits == place.tag) {
            if (visit(std::size_t{row}) || --visits == 0) return;
          }
          link = links_[2 * std::size_t{row} + half];
        }
      }
    }
  }

 private:
  // The largest components of a half, by magnitude: 2 x index + sign.
  static constexpr unsigned kMostPeaks = 12;
  using Peaks = std::array<std::uint16_t, kMostPeaks>;

  // Of how many peaks the pairs are looked up: the longer the search that a guess saves, the more
  // pairs are worth their time. Among few keys it is what items that are no repeats pay for.
  static constexpr unsigned peaks_for(std::size_t rows) noexcept {
    return rows < 4096 ? 6 : rows < 16384 ? 8 : rows < 65536 ? 10 : kMostPeaks;
  }

  // A link is the number of a row, and some bits of what the row stands under.
  static constexpr unsigned kRowBits = 24;
  static constexpr std::uint32_t kRowMask = (1U << kRowBits) - 1;
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};
  // Steps through lists cost little; visits, for which a key is scored, must stay far below the
  // search that they save, also where many keys are alike.
  static constexpr unsigned kMostSteps = 1024;
  static constexpr std::size_t kFewVisits = 16;
  static constexpr std::size_t kMostVisits = 128;

  struct Place {
    std::size_t list;
    std::uint32_t tag;
  };
  Place place_of(unsigned half, std::uint16_t a, std::uint16_t b) const noexcept;
  // `floor`: most components are below it, and not looked at closely if enough are not; or -1.
  Peaks peaks_of(const float* x, unsigned count, float floor) const noexcept;
  std::array<Peaks, 2> both_halves(const float* x, unsigned count, float floor) const noexcept;

  std::size_t length_;
  std::size_t linked_ = 0;            // rows that are in lists
  unsigned shift_ = 0;                // what of a hash is no list's number
  std::vector<std::uint32_t> heads_;  // of lists, a power of two, halves in turns
  std::vector<std::uint32_t> links_;  // (rows, 2)
  AlignedFloats row_;
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_PROBE_H_
