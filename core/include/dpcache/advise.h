// Advice on tau from one's own vectors: where novelties leave a valley, and what each tau would do.
#ifndef DPCACHE_ADVISE_H_
#define DPCACHE_ADVISE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/error.h"
#include "dpcache/guards.h"
#include "dpcache/train.h"

namespace dpcache {

// Everything here is deterministic: the same input and seed give the same bits on every platform.
// Nothing throws on data. Thread rule: const calls may run together; one object, one thread.

inline constexpr std::size_t kNoveltyBins = 400;  // of .005; the last one has 2 too
// The bin of a novelty in [0, 2].
constexpr std::size_t novelty_bin(float novelty) noexcept {
  const auto bin = static_cast<std::size_t>(static_cast<double>(novelty) * 200.0);
  return bin < kNoveltyBins ? bin : kNoveltyBins - 1;
}

// Low ground between two humps of a histogram of novelties: the nearer hump is of items that have
// something like them, the farther one of items that do not.
struct Valley {
  float tau = 0.0F;  // the middle of its lowest stretch, a multiple of .005
  // Nine in ten resamples that have the valley have its tau from `low` to `high`.
  float low = 0.0F;
  float high = 0.0F;
  float nearer = 0.0F;  // where the humps are highest, as novelties
  float farther = 0.0F;
  double depth = 0.0;  // 1 - its ground over the lower hump, (0, 1]
  // How often one hump alone, the one that fits best, shows a valley as clear somewhere: out of 399
  // draws and this one, so 1/400 or more. As if the items' novelties were independent, which those
  // of one stream are nearly.
  double chance = 1.0;
  double again = 0.0;       // the share of resamples in which it was found again
  bool of_repeats = false;  // the nearer hump is there by exact repeats alone
};

// The valleys among `novelties`, that between the humps farthest apart first: a bin holds fewer
// than one on each side of it, for bins of .01, .02, .04, .08 and .16, clearer than what one hump
// shows once in twenty, and with a depth of at least .3 between humps of 8 and more. Exact repeats,
// of novelty 0, say nothing about tau: they count as a hump only if there is no valley without
// them, and next to nothing between them and the rest. Empty: there is none, or there are too few
// novelties to be sure. Novelties outside [0, 2] are refused as by calibrate(). 600 draws by `seed`
// of as many novelties as there are.
Result<std::vector<Valley>> find_valleys(std::span<const float> novelties, std::uint64_t seed = 0);

// From 0 to .8, in steps that people use.
std::vector<float> usual_taus();

struct AdvisorOptions {
  std::uint32_t dimension = 0;  // of the items, [1, 65536]
  // How many items are looked at; of more, so many are drawn, each as likely as another, and stay
  // in their order. [2, 2^20]
  std::size_t sample = 20000;
  std::uint64_t seed = 0;
  // For the bounds: see CalibrationOptions.
  double max_false_merge = 0.01;
  double confidence = 0.9;
  // The taus to try, each in [0, 2], at most 64.
  std::vector<float> taus = usual_taus();
};

// What the cache itself, frozen keys and no budget, makes of the items at one tau.
struct TauTried {
  float tau = 0.0F;
  std::uint64_t slots = 0;
  std::uint64_t merged = 0;   // items that joined a slot
  std::uint64_t largest = 0;  // items in the slot that has most
  // Labelled items that joined a slot whose first item is labelled otherwise, out of the labelled
  // ones, and the upper bound on their rate (Clopper-Pearson, this tau taken alone).
  std::uint64_t wrong = 0;
  double wrong_bound = 1.0;
  // Merges that the guards would have stopped, of items with facts: the item against the slot's
  // first one. With the guards on, more slots would follow from each.
  std::uint64_t guarded = 0;
  std::uint64_t different_merged = 0;   // pairs known to be different, at most tau apart
  std::uint64_t same_apart = 0;         // pairs known to be the same, farther apart
  std::uint64_t different_guarded = 0;  // of those that would merge, and guards speak against
  std::uint64_t same_guarded = 0;       // pairs known to be the same, at most tau apart, the like
};

// What a suggestion rests on, the best evidence first.
enum class Evidence : std::uint8_t { items, pairs, valley, none };

struct Advice {
  std::uint64_t seen = 0;     // items
  std::uint64_t sampled = 0;  // of them looked at
  std::uint64_t repeats = 0;  // of those with the very vector of one before them
  std::uint64_t labelled = 0;
  std::uint64_t with_facts = 0;  // items that the guards know of
  std::uint64_t same = 0;        // pairs
  std::uint64_t different = 0;
  // Of each item looked at, but for the first: the novelty to the nearest one before it.
  std::array<std::uint64_t, kNoveltyBins> histogram{};
  std::vector<Valley> valleys;  // by find_valleys; the first one counts
  // With labelled items: each against all labelled ones before it, as it came. So the share of
  // items that are new is that of a memory which begins empty; where a memory that knows most
  // things is at hand, trials_against() says more.
  std::optional<Calibration> per_item;
  std::optional<Calibration> per_pair;  // with pairs

  std::optional<float> tau;  // the suggestion; none is an answer too: see `reason`
  Evidence evidence = Evidence::none;
  std::string reason;  // a sentence: what the suggestion rests on, or why there is none
  // The share of items that would merge wrongly at that tau. From labels, where `bounded` is set:
  // at most this, with the confidence that was asked for. From items it is that of the cache
  // itself, as tried, and the suggestion the loosest tau at or below per_item's up to which all
  // tried taus keep the limit. From a valley: an estimate, no bound, by the part of the farther
  // hump that lies as far beyond it as the valley lies in front.
  std::optional<double> wrong_share;
  bool bounded = false;

  std::vector<TauTried> tried;  // by tau; the suggestion is among them
  // At the suggested tau, or the default one if there is none: pairs known to be different that
  // would be one, by their number in the order of add_pair, the nearest first; at most 20.
  std::vector<std::uint64_t> opposites;
  std::vector<std::string> warnings;  // sentences
};

// Takes items and pairs one by one, then looks at them. Memory: 4 x dimension x sample bytes, and
// while it looks as much again for a cache, with its codes.
class Advisor {
 public:
  static Result<Advisor> create(const AdvisorOptions& options);  // bad_config

  // The next item of the stream, and what it is: equal labels are the same thing. `facts` of its
  // text, if guards are to be asked. bad_shape, not_finite, zero_norm; full: no memory.
  Status add(std::span<const float> key, std::optional<std::uint64_t> label = {},
             GuardFacts facts = {});
  // Two things that need not be among the items (novelty_between), and the guards that speak
  // against merging them. bad_request, not_finite.
  Status add_pair(const Judged& pair, GuardSet guards = {});

  std::uint64_t seen() const noexcept { return seen_; }

  // Called with a share of the work, [0, 1], every few hundred items: `stop` ends it.
  enum class Go : std::uint8_t { on, stop };
  using Progress = std::function<Go(double)>;
  // Runs the cache over the sample, once for each tau and once more for the novelties: O(sample x
  // slots x dimension) each, by codes an eighth of that. Nothing: it was stopped. full: no memory.
  Result<std::optional<Advice>> advise(const Progress& progress = {}) const;

 private:
  friend class Look;
  std::span<const float> key(std::size_t place) const;

  AdvisorOptions options_;
  std::uint64_t seen_ = 0;
  std::uint64_t random_ = 0;
  std::vector<float> keys_;             // (sample, dimension)
  std::vector<std::uint64_t> numbers_;  // when each came, from 0
  std::vector<std::optional<std::uint64_t>> labels_;
  std::vector<GuardFacts> facts_;
  std::vector<Judged> pairs_;
  std::vector<GuardSet> guards_;  // of the pairs
};

}  // namespace dpcache

#endif  // DPCACHE_ADVISE_H_
