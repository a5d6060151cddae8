// Valleys in a histogram of novelties.
//
// Of three bins of one width, a < t < b, how far t falls below the lower one of a and b, in
// deviations of what chance does to counts, is the score of a valley at t. All places and widths
// are tried, and the best score counts; what the best one is where there is no valley, drawing
// shows: from that histogram with one hump which fits the novelties best, as many of them, again
// and again. It is flat across a valley, so its own best scores are as high as those of one hump
// get.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "dpcache/advise.h"
#include "train/check.h"
#include "train/numbers.h"

namespace dpcache {

namespace {

using Counts = std::array<std::uint64_t, kNoveltyBins>;

constexpr std::array<std::size_t, 5> kWidths{2, 4, 8, 16, 32};  // of bins, in the histogram's
constexpr std::size_t kNullDraws = 399;                         // of the histogram with one hump
constexpr std::size_t kExceeded = 19;  // how many of them may score as much: a chance of .05
// A shallower one is no place for a threshold, however sure it is.
constexpr double kLeastDepth = 0.3;
// In a hump's bin. Of fewer, a few equal novelties would be one.
constexpr std::uint64_t kLeastHump = 8;
// Exact repeats stand apart from all else wherever there are some; that says something only if next
// to nothing lies between.
constexpr double kLeastDepthOfRepeats = 0.95;
constexpr std::size_t kMostValleys = 8;
constexpr std::size_t kResamples = 200;
constexpr double kTail = 0.05;  // on each side of [low, high]

constexpr float kWidest = 0.16F;  // of a bin

// A place where there may be a valley. Bins are those of the histogram.
struct Found {
  std::size_t begin = 0;  // of the part of the histogram that was searched
  std::size_t end = 0;
  std::size_t width = 0;
  std::size_t left = 0;  // where the bins of the humps begin
  std::size_t right = 0;
  std::size_t at = 0;
  std::uint64_t ground = 0;
  std::uint64_t hump = 0;  // the lower one
  double score = 0.0;
  double needed = 0.0;  // what chance gives once in twenty
  double chance = 1.0;

  double depth() const {
    return hump == 0 ? 0.0 : 1.0 - static_cast<double>(ground) / static_cast<double>(hump);
  }
  bool is_surer_than(const Found& other) const {
    return score != other.score ? score > other.score : width < other.width;
  }
};

std::uint64_t sum_of(const Counts& counts, std::size_t begin, std::size_t width) {
  std::uint64_t sum = 0;
  for (std::size_t i = begin; i < begin + width; ++i) sum += counts[i];
  return sum;
}

// The surest place with bins of `width` within [begin, end), its ground within [low, high).
Found surest(const Counts& counts, std::size_t width, std::size_t begin, std::size_t end,
             std::size_t low, std::size_t high) {
  // Bins of a fixed grid: where they stand must not depend on what is in them.
  const std::size_t first = (begin + width - 1) / width;
  const std::size_t last = end / width;
  Found best;
  if (last < first + 3) return best;
  std::vector<std::uint64_t> bins;
  for (std::size_t i = first; i < last; ++i) bins.push_back(sum_of(counts, i * width, width));
  std::vector<std::size_t> highest_after(bins.size());
  highest_after.back() = bins.size() - 1;
  for (std::size_t i = bins.size() - 1; i > 0; --i) {
    const std::size_t after = highest_after[i];
    highest_after[i - 1] = bins[i - 1] > bins[after] ? i - 1 : after;
  }
  std::size_t before = 0;
  for (std::size_t t = 1; t + 1 < bins.size(); ++t) {
    if (bins[t - 1] > bins[before]) before = t - 1;
    const std::size_t after = highest_after[t + 1];
    Found found;
    found.begin = begin;
    found.end = end;
    found.width = width;
    found.left = (first + before) * width;
    found.right = (first + after) * width;
    found.at = (first + t) * width;
    if (found.at < low || found.at >= high) continue;
    found.ground = bins[t];
    found.hump = std::min(bins[before], bins[after]);
    if (found.ground >= found.hump) continue;
    const double drop = static_cast<double>(found.hump) - static_cast<double>(found.ground);
    found.score = drop / std::sqrt(static_cast<double>(found.hump + found.ground));
    if (best.hump == 0 || found.is_surer_than(best)) best = found;
  }
  return best;
}

// The middle of the lowest ground between the humps, of what a bin wide sees: in bins.
std::size_t middle(const Counts& counts, const Found& found) {
  const std::size_t begin = found.left + found.width / 2;
  const std::size_t end = found.right + found.width / 2;  // of windows that begin before it
  std::uint64_t lowest = 0;
  std::size_t run_begin = 0;  // the longest run of the lowest ones
  std::size_t run_size = 0;
  std::size_t size = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t sum = sum_of(counts, i, found.width);
    if (i == begin || sum < lowest) {
      lowest = sum;
      size = run_size = 0;
    }
    size = sum == lowest ? size + 1 : 0;
    if (size > run_size) {
      run_size = size;
      run_begin = i + 1 - size;
    }
  }
  return (2 * run_begin + run_size - 1 + found.width + 1) / 2;
}

float novelty_at(std::size_t bins) {
  return static_cast<float>(static_cast<double>(bins) / 200.0);
}

// Of all widths.
Found surest(const Counts& counts, std::size_t begin, std::size_t end) {
  Found best;
  for (const std::size_t width : kWidths) {
    const Found one = surest(counts, width, begin, end, begin, end);
    if (one.hump != 0 && (best.hump == 0 || one.is_surer_than(best))) best = one;
  }
  return best;
}

// Draws bins with given frequencies, to 2^-16 of the whole.
class Urn {
 public:
  // `weights` have a sum above 0.
  explicit Urn(std::span<const double> weights) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    double part = 0.0;
    std::size_t filled = 0;
    for (std::size_t bin = 0; bin < weights.size(); ++bin) {
      part += weights[bin];
      const auto end =
          static_cast<std::size_t>(std::lround(part / sum * static_cast<double>(kPlaces)));
      for (; filled < std::min<std::size_t>(end, kPlaces); ++filled)
        bins_[filled] = static_cast<std::uint16_t>(bin);
    }
    for (; filled < kPlaces; ++filled) bins_[filled] = bins_[filled - 1];
  }

  Counts draw(std::uint64_t count, RandomBits& random) const {
    Counts counts{};
    for (std::uint64_t i = 0; i < count; ++i) ++counts[bins_[random.below(kPlaces)]];
    return counts;
  }

 private:
  static constexpr std::uint32_t kPlaces = 1U << 16U;
  std::vector<std::uint16_t> bins_ = std::vector<std::uint16_t>(kPlaces);
};

// The frequencies of [begin, end) that rise and then fall and are likeliest to give these counts:
// means of runs (pooling of adjacent violators), for each place of the top.
class OneHump {
 public:
  OneHump(const Counts& counts, std::size_t begin, std::size_t end) : fit_(kNoveltyBins) {
    double best = 0.0;
    std::vector<double> some(kNoveltyBins);
    for (std::size_t top = begin; top < end; ++top) {
      rise(counts, begin, top + 1, some);
      fall(counts, top + 1, end, some);
      double likelihood = 0.0;
      for (std::size_t bin = begin; bin < end; ++bin) {
        if (counts[bin] == 0) continue;
        likelihood += static_cast<double>(counts[bin]) * logarithm(some[bin]);
      }
      if (top != begin && likelihood <= best) continue;
      best = likelihood;
      fit_ = some;
    }
  }

  std::span<const double> frequencies() const { return fit_; }

 private:
  struct Run {
    double sum = 0.0;
    std::size_t size = 0;
    double mean() const { return sum / static_cast<double>(size); }
  };

  void pool(double count) {
    Run run{count, 1};
    while (size_ > 0 && runs_[size_ - 1].mean() >= run.mean()) {
      const Run& last = runs_[--size_];
      run.sum += last.sum;
      run.size += last.size;
    }
    runs_[size_++] = run;
  }
  void rise(const Counts& counts, std::size_t begin, std::size_t end, std::vector<double>& out) {
    size_ = 0;
    for (std::size_t bin = begin; bin < end; ++bin) pool(static_cast<double>(counts[bin]));
    std::size_t bin = begin;
    for (const Run& run : std::span(runs_).first(size_)) {
      for (std::size_t i = 0; i < run.size; ++i) out[bin++] = run.mean();
    }
  }
  void fall(const Counts& counts, std::size_t begin, std::size_t end, std::vector<double>& out) {
    size_ = 0;
    for (std::size_t bin = end; bin > begin; --bin) pool(static_cast<double>(counts[bin - 1]));
    std::size_t bin = end;
    for (const Run& run : std::span(runs_).first(size_)) {
      for (std::size_t i = 0; i < run.size; ++i) out[--bin] = run.mean();
    }
  }

  std::array<Run, kNoveltyBins> runs_{};
  std::size_t size_ = 0;  // runs so far
  std::vector<double> fit_;
};

// Where the surest valley is, and then what is on either side of it.
class Search {
 public:
  Search(const Counts& counts, std::uint64_t seed)
      : counts_(counts), random_(RandomBits::start(seed)) {
    look(0, kNoveltyBins);
  }

  std::vector<Found> take() { return std::move(found_); }

 private:
  void look(std::size_t begin, std::size_t end) {
    if (found_.size() == kMostValleys) return;
    Found best = surest(counts_, begin, end);
    if (best.hump < kLeastHump || best.depth() < kLeastDepth) return;
    compare(best, begin, end);
    if (best.score <= best.needed) return;
    found_.push_back(best);
    look(begin, best.at);
    look(best.at, end);
  }

  void compare(Found& best, std::size_t begin, std::size_t end) {
    const OneHump hump(counts_, begin, end);
    const Urn urn(hump.frequencies());
    RandomBits random(random_);
    const std::uint64_t size = sum_of(counts_, begin, end - begin);
    std::array<double, kNullDraws> scores{};
    std::size_t reached = 1;  // by this one itself
    for (double& score : scores) {
      score = surest(urn.draw(size, random), begin, end).score;
      if (score >= best.score) ++reached;
    }
    std::sort(scores.begin(), scores.end());
    best.needed = scores[kNullDraws - 1 - kExceeded];
    best.chance = static_cast<double>(reached) / static_cast<double>(kNullDraws + 1);
  }

  const Counts& counts_;
  std::uint64_t random_;
  std::vector<Found> found_;
};

// Draws the same number again, with replacement, and sees where the valley is then.
class Resampling {
 public:
  Resampling(const Counts& counts, std::uint64_t seed) : random_(RandomBits::start(seed)) {
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      bins_.insert(bins_.end(), static_cast<std::size_t>(counts[bin]),
                   static_cast<std::uint16_t>(bin));
    }
  }

  std::vector<Valley> place(const Counts& counts, const std::vector<Found>& found) {
    std::vector<std::vector<std::size_t>> places(found.size());
    for (std::size_t n = 0; n < kResamples; ++n) {
      const Counts again = draw();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const Found& old = found[i];
        const Found one = surest(again, old.width, old.begin, old.end, old.left + 1, old.right);
        if (one.score > old.needed && one.depth() >= kLeastDepth)
          places[i].push_back(middle(again, one));
      }
    }
    std::vector<Valley> valleys;
    for (std::size_t i = 0; i < found.size(); ++i) {
      valleys.push_back(valley(counts, found[i], places[i]));
    }
    return valleys;
  }

 private:
  Counts draw() {
    RandomBits random(random_);
    Counts counts{};
    const auto size = static_cast<std::uint32_t>(bins_.size());
    for (std::size_t i = 0; i < bins_.size(); ++i) ++counts[bins_[random.below(size)]];
    return counts;
  }

  static Valley valley(const Counts& counts, const Found& found, std::vector<std::size_t>& places) {
    Valley valley;
    valley.tau = valley.low = valley.high = novelty_at(middle(counts, found));
    valley.nearer = novelty_at(found.left + found.width / 2);
    valley.farther = novelty_at(found.right + found.width / 2);
    valley.depth = found.depth();
    valley.chance = found.chance;
    valley.again = static_cast<double>(places.size()) / static_cast<double>(kResamples);
    if (places.empty()) return valley;
    std::sort(places.begin(), places.end());
    const auto tail = static_cast<std::size_t>(kTail * static_cast<double>(places.size()));
    valley.low = std::min(valley.tau, novelty_at(places[tail]));
    valley.high = std::max(valley.tau, novelty_at(places[places.size() - 1 - tail]));
    return valley;
  }

  std::vector<std::uint16_t> bins_;  // of each novelty
  std::uint64_t random_;
};

}  // namespace

Result<std::vector<Valley>> find_valleys(std::span<const float> novelties, std::uint64_t seed) {
  Counts counts{};
  std::uint64_t repeats = 0;
  for (std::size_t i = 0; i < novelties.size(); ++i) {
    if (Status status = check_novelty(novelties[i], i); !status) return status;
    if (novelties[i] == 0.0F) {
      ++repeats;
    } else {
      ++counts[novelty_bin(novelties[i])];
    }
  }
  std::vector<Found> found = Search(counts, seed).take();
  const bool of_repeats = found.empty() && repeats > 0;
  if (of_repeats) {
    counts[0] += repeats;
    found = Search(counts, seed).take();
    std::erase_if(found, [](const Found& one) { return one.depth() < kLeastDepthOfRepeats; });
  }
  // Noise splits what is one hump into two that are near to each other.
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    const std::size_t apart = a.right - a.left;
    return apart != b.right - b.left ? apart > b.right - b.left : a.is_surer_than(b);
  });
  if (found.empty()) return std::vector<Valley>{};
  auto valleys = Resampling(counts, seed).place(counts, found);
  for (auto& valley : valleys) valley.of_repeats = of_repeats && valley.nearer < kWidest;
  return valleys;
}

}  // namespace dpcache
