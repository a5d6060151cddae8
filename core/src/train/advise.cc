// Advice on tau: the cache itself is run over a sample, at tau 0 for the novelties and at every tau
// that is to be tried.
#include "dpcache/advise.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "aligned.h"
#include "digits.h"
#include "dpcache/cache.h"
#include "train/check.h"
#include "train/numbers.h"
#include "validate.h"

namespace dpcache {

namespace {

constexpr std::size_t kMostSample = std::size_t{1} << 20U;
constexpr std::size_t kMostTaus = 64;
constexpr std::size_t kMostOpposites = 20;
constexpr std::size_t kPart = 256;  // items between two looks at whether to go on
// More of all items than this in one slot, and tau is suspect.
constexpr double kLargeSlot = 0.5;
// A valley that a tenth of the resamples do not have is a weak one.
constexpr double kSure = 0.9;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double x) {
  return decimal(100.0 * x, 3) + " %";
}

}  // namespace

std::vector<float> usual_taus() {
  return {0.0F, 0.02F, 0.05F, 0.1F, 0.15F, 0.2F, 0.25F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};
}

Result<Advisor> Advisor::create(const AdvisorOptions& options) {
  if (options.dimension == 0 || options.dimension > kMaxDimension) {
    return bad_option("dimension", "an integer from 1 to 65536");
  }
  if (options.sample < 2 || options.sample > kMostSample) {
    return bad_option("sample", "an integer from 2 to 1048576");
  }
  CalibrationOptions bound;
  bound.max_false_merge = options.max_false_merge;
  bound.confidence = options.confidence;
  if (const auto tried = calibrate({}, bound); !tried) return tried.status;
  if (options.taus.size() > kMostTaus) return bad_option("taus", "at most 64 numbers");
  for (const float tau : options.taus) {
    if (!is_within(tau, 0.0, 2.0)) return bad_option("taus", "numbers from 0 to 2");
  }
  Advisor advisor;
  advisor.options_ = options;
  advisor.random_ = RandomBits::start(options.seed);
  return advisor;
}

std::span<const float> Advisor::key(std::size_t place) const {
  return std::span(keys_).subspan(place * options_.dimension, options_.dimension);
}

Status Advisor::add(std::span<const float> key, std::optional<std::uint64_t> label,
                    GuardFacts facts) {
  const std::size_t d = options_.dimension;
  if (Status status = check_vector(key, d, "/key"); !status) return status;
  const std::uint64_t number = seen_;
  if (numbers_.size() < options_.sample) {
    if (numbers_.size() == numbers_.capacity()) {  // grows by half, and asks first
      const std::size_t rows = std::min(options_.sample, numbers_.size() / 2 * 3 + 256);
      if (!room_for(rows * (d * sizeof(float) + 64))) {
        return {Error::full, 0, "/key", "there is no memory for more items"};
      }
      keys_.reserve(rows * d);
      labels_.reserve(rows);
      numbers_.reserve(rows);
      facts_.reserve(rows);
    }
    keys_.insert(keys_.end(), key.begin(), key.end());
    labels_.push_back(label);
    facts_.push_back(std::move(facts));
    numbers_.push_back(number);
  } else {  // Vitter's algorithm R (1985): item n takes a place with a chance of sample / n
    const double drawn = RandomBits(random_).uniform() * static_cast<double>(number + 1);
    const auto place = static_cast<std::uint64_t>(drawn);
    if (place < numbers_.size()) {
      const auto at = static_cast<std::size_t>(place);
      std::copy(key.begin(), key.end(), keys_.begin() + static_cast<std::ptrdiff_t>(at * d));
      labels_[at] = label;
      facts_[at] = std::move(facts);
      numbers_[at] = number;
    }
  }
  ++seen_;
  return {};
}

Status Advisor::add_pair(const Judged& pair, GuardSet guards) {
  if (Status status = check_novelty(pair.novelty, pairs_.size()); !status) return status;
  if (pairs_.size() == pairs_.capacity() && !room_for(3 * pairs_.size() * sizeof pair)) {
    return {Error::full, pairs_.size(), "", "there is no memory for more pairs"};
  }
  pairs_.push_back(pair);
  guards_.push_back(guards);
  return {};
}

// One look at all that an advisor was given.
class Look {
 public:
  Look(const Advisor& from, const Advisor::Progress& progress)
      : from_(from), progress_(progress), order_(from.numbers_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return from_.numbers_[a] < from_.numbers_[b]; });
    for (const auto& label : from_.labels_) advice_.labelled += label ? 1 : 0;
    for (const auto& facts : from_.facts_) advice_.with_facts += facts.empty() ? 0 : 1;
  }

  Result<std::optional<Advice>> advise() {
    const std::uint64_t n = order_.size();
    work_ = n * (from_.options_.taus.size() + 2);
    advice_.seen = from_.seen_;
    advice_.sampled = n;
    for (const auto& pair : from_.pairs_) {
      ++(pair.verdict == Verdict::same ? advice_.same : advice_.different);
    }
    if (Status status = look_at_novelties(); !status) return status;
    if (stopped_) return std::optional<Advice>{};
    if (Status status = calibrate_all(); !status) return status;
    if (stopped_) return std::optional<Advice>{};
    suggest();
    if (Status status = try_taus(); !status) return status;
    if (stopped_) return std::optional<Advice>{};
    if (advice_.evidence == Evidence::items) keep_what_holds();
    judge();
    return std::optional(std::move(advice_));
  }

 private:
  // Runs the cache; hands each item's place and decision to `take`.
  template <class Take>
  Status run(float tau, Take take) {
    Config config;
    config.dimension = from_.options_.dimension;
    config.tau = tau;
    auto cache = Cache::create(config);
    if (!cache) return cache.status;
    std::vector<Item> items;
    for (std::size_t begin = 0; begin < order_.size(); begin += kPart) {
      const std::size_t end = std::min(begin + kPart, order_.size());
      items.clear();
      for (std::size_t i = begin; i < end; ++i) {
        Item item;
        item.key = from_.key(order_[i]);
        items.push_back(item);
      }
      const BatchResult result = cache->observe_batch(items);
      if (!result) return result.errors.front();
      for (std::size_t i = begin; i < end; ++i) take(order_[i], result.decisions[i - begin]);
      if (!goes_on(end - begin)) return {};
    }
    return {};
  }

  bool goes_on(std::uint64_t items) {
    done_ += items;
    if (progress_ && progress_(std::min(1.0, share(done_, work_))) == Advisor::Go::stop) {
      stopped_ = true;
    }
    return !stopped_;
  }

  Status look_at_novelties() {
    std::vector<float> novelties;
    std::vector<std::optional<std::uint64_t>> firsts;  // labels of the slots' first items
    std::set<std::uint64_t> known;
    Status status = run(0.0F, [&](std::size_t place, const Decision& decision) {
      const auto& label = from_.labels_[place];
      if (!firsts.empty()) {
        novelties.push_back(decision.novelty);
        const SlotId nearest = decision.nearest ? decision.nearest->slot : decision.slot;
        const auto& its = firsts[static_cast<std::size_t>(nearest - 1)];  // ids go up from 1
        if (label && its) {
          const Right otherwise = known.contains(*label) ? Right::neither : Right::allocate;
          trials_.push_back({decision.novelty, *label == *its ? Right::merge : otherwise});
        }
      }
      if (decision.action == Action::allocate) firsts.push_back(label);
      if (label) known.insert(*label);
    });
    if (!status || stopped_) return status;
    for (const float novelty : novelties) {
      ++advice_.histogram[novelty_bin(novelty)];
      if (novelty == 0.0F) ++advice_.repeats;
    }
    auto valleys = find_valleys(novelties, from_.options_.seed);
    if (!valleys) return valleys.status;
    advice_.valleys = std::move(*valleys);
    return {};
  }

  Status calibrate_all() {
    CalibrationOptions bound;
    bound.max_false_merge = from_.options_.max_false_merge;
    bound.confidence = from_.options_.confidence;
    if (!from_.pairs_.empty()) {
      std::vector<Trial> trials;
      for (const auto& pair : from_.pairs_) trials.push_back(trial_of(pair));
      bound.per = Per::pair;
      auto result = calibrate(trials, bound);
      if (!result) return result.status;
      advice_.per_pair = std::move(*result);
    }
    if (trials_.empty()) return {};
    bound.per = Per::item;
    auto result = calibrate(trials_, bound);
    if (!result) return result.status;
    advice_.per_item = std::move(*result);
    return {};
  }

  void suggest() {
    if (advice_.per_item) {
      take_choice(*advice_.per_item, Evidence::items);
    } else if (advice_.per_pair) {
      take_choice(*advice_.per_pair, Evidence::pairs);
    } else if (!advice_.valleys.empty()) {
      const Valley& valley = advice_.valleys.front();
      advice_.tau = valley.tau;
      advice_.evidence = Evidence::valley;
      advice_.reason = valley.of_repeats
                           ? "it lies between exact repeats and all other items: what "
                             "is nearly the same may be on the other side"
                           : "it lies in the valley between items that have something "
                             "like them and items that do not";
      advice_.wrong_share = share(beyond(2.0F * valley.farther - valley.tau), advice_.sampled);
    } else {
      advice_.reason = advice_.sampled < 2 ? "there are fewer than two items"
                                           : "the novelties have no valley, so nothing in these "
                                             "vectors says where the same ends: label some pairs";
    }
  }

  void take_choice(const Calibration& calibration, Evidence evidence) {
    if (!calibration.chosen) {
      advice_.reason = calibration.reason;
      return;
    }
    advice_.tau = calibration.chosen->tau;
    advice_.evidence = evidence;
    advice_.wrong_share = calibration.chosen->false_merge_bound;
    advice_.bounded = true;
    advice_.reason = "the labelled " +
                     std::string(evidence == Evidence::items ? "items" : "pairs") +
                     " bound its false merges";
  }

  // The cache's slots are fewer than all items before, and so may be farther from an item than its
  // nearest one was: its own runs have the last word.
  void keep_what_holds() {
    const float calibrated = *advice_.tau;
    advice_.tau.reset();
    for (const auto& tried : advice_.tried) {
      if (tried.tau > calibrated || tried.wrong_bound > from_.options_.max_false_merge) break;
      advice_.tau = tried.tau;
      advice_.wrong_share = tried.wrong_bound;
    }
    if (advice_.tau) return;
    advice_.evidence = Evidence::none;
    advice_.wrong_share.reset();
    advice_.bounded = false;
    advice_.reason =
        "the cache merges too many labelled items wrongly even at the smallest tau "
        "that was tried";
  }

  // Items of a higher novelty.
  std::uint64_t beyond(float novelty) const {
    std::uint64_t count = 0;
    if (novelty >= 2.0F) return 0;
    for (std::size_t bin = novelty_bin(novelty) + 1; bin < kNoveltyBins; ++bin) {
      count += advice_.histogram[bin];
    }
    return count;
  }

  Status try_taus() {
    std::vector<float> taus = from_.options_.taus;
    if (advice_.tau) taus.push_back(*advice_.tau);
    std::sort(taus.begin(), taus.end());
    taus.erase(std::unique(taus.begin(), taus.end()), taus.end());
    for (const float tau : taus) {
      TauTried tried;
      tried.tau = tau;
      std::vector<std::uint64_t> counts;
      std::vector<std::size_t> firsts;  // places of the slots' first items
      Status status = run(tau, [&](std::size_t place, const Decision& decision) {
        const auto& label = from_.labels_[place];
        if (decision.action == Action::allocate) {
          counts.push_back(1);
          firsts.push_back(place);
          return;
        }
        const auto slot = static_cast<std::size_t>(decision.slot - 1);  // ids go up from 1
        ++counts[slot];
        ++tried.merged;
        const std::size_t first = firsts[slot];
        if (label && from_.labels_[first] && *label != *from_.labels_[first]) ++tried.wrong;
        if (!guards_between(from_.facts_[first], from_.facts_[place]).empty()) ++tried.guarded;
      });
      if (!status || stopped_) return status;
      tried.slots = counts.size();
      for (const std::uint64_t count : counts) tried.largest = std::max(tried.largest, count);
      tried.wrong_bound =
          clopper_pearson_upper(tried.wrong, advice_.labelled, from_.options_.confidence);
      for (std::size_t i = 0; i < from_.pairs_.size(); ++i) count_pair(i, tried);
      advice_.tried.push_back(tried);
    }
    return {};
  }

  void count_pair(std::size_t number, TauTried& tried) const {
    const Judged& pair = from_.pairs_[number];
    const bool merges = pair.novelty <= tried.tau;
    const std::uint64_t guarded = merges && !from_.guards_[number].empty() ? 1 : 0;
    if (pair.verdict == Verdict::different) {
      tried.different_merged += merges ? 1 : 0;
      tried.different_guarded += guarded;
    } else {
      tried.same_apart += merges ? 0 : 1;
      tried.same_guarded += guarded;
    }
  }

  // What is wrong with the suggestion.
  void judge() {
    const float tau = advice_.tau.value_or(kDefaultTau);
    const auto& pairs = from_.pairs_;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].verdict == Verdict::different && pairs[i].novelty <= tau) {
        advice_.opposites.push_back(i);
      }
    }
    const std::size_t opposites = advice_.opposites.size();
    std::stable_sort(advice_.opposites.begin(), advice_.opposites.end(),
                     [&](std::uint64_t a, std::uint64_t b) {
                       return pairs[static_cast<std::size_t>(a)].novelty <
                              pairs[static_cast<std::size_t>(b)].novelty;
                     });
    advice_.opposites.resize(std::min(opposites, kMostOpposites));
    auto& warnings = advice_.warnings;
    const std::string at = "tau " + shortest_decimal(tau);
    if (opposites > 0) {
      warnings.push_back(at + " merges " + std::to_string(opposites) + " of " +
                         std::to_string(advice_.different) +
                         " pairs that are known to be "
                         "different");
    }
    for (const auto& tried : advice_.tried) {
      if (!advice_.tau || tried.tau != tau || advice_.sampled < kPart) continue;
      if (share(tried.largest, advice_.sampled) > kLargeSlot) {
        warnings.push_back(at + " puts " + percent(share(tried.largest, advice_.sampled)) +
                           " of all items into one slot");
      }
    }
    if (advice_.evidence != Evidence::valley) return;
    const Valley& valley = advice_.valleys.front();
    if (valley.again < kSure) {
      warnings.push_back("only " + percent(valley.again) +
                         " of the resamples have this valley again");
    }
    if (advice_.valleys.size() > 1) {
      warnings.emplace_back("there are " + std::to_string(advice_.valleys.size()) +
                            " valleys: which one parts the same from the different, the vectors "
                            "do not say");
    }
  }

  const Advisor& from_;
  const Advisor::Progress& progress_;
  std::vector<std::size_t> order_;  // places in the order in which the items came
  std::vector<Trial> trials_;       // each labelled item against those before it
  Advice advice_;
  std::uint64_t done_ = 0;
  std::uint64_t work_ = 1;
  bool stopped_ = false;
};

Result<std::optional<Advice>> Advisor::advise(const Progress& progress) const {
  return Look(*this, progress).advise();
}

}  // namespace dpcache
