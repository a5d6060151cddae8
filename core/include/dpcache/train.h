// Learning a gate, and choosing tau with a stated bound on false merges.
#ifndef DPCACHE_TRAIN_H_
#define DPCACHE_TRAIN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dpcache/config.h"
#include "dpcache/error.h"

namespace dpcache {

// Everything here is deterministic: the same input and seed give the same bits on every platform.
// Nothing throws on data. Thread rule: const calls may run together; one object, one thread.

// --- Pairs and corrections

// The novelty of two vectors as a cache computes it: 1 - canonical cosine, snapped, in [0, 2].
// bad_shape (not one length, or none), not_finite, zero_norm; the pointer begins with /a or /b.
Result<float> novelty_between(std::span<const float> a, std::span<const float> b);

enum class Verdict : std::uint8_t { same, different };

// Two things at a novelty, and whether they are the same. A labelled pair is one; so is a
// correction: "this merge was wrong" is {decision.novelty, different}, "these two are the same" is
// {1 - their similarity, same}.
struct Judged {
  float novelty = 0.0F;  // [0, 2]
  Verdict verdict = Verdict::same;
};

struct PairOptions {
  // How many missed merges a false merge is as bad as: the weight of the pairs that are different.
  // A larger one gives a smaller b. [1e-3, 1e3]
  double false_merge_cost = 1.0;
};

struct LearnedGate {
  std::optional<Gate> gate;  // none: there is no such gate, see `reason`
  std::string reason;        // a sentence for people; empty if there is a gate
  std::uint64_t same = 0;    // pairs
  std::uint64_t different = 0;
  // How likely a pair that is different is more novel than one that is the same; ties count half.
  // 1: some threshold tells all of them apart; .5: novelty says nothing; below: it is misleading.
  double separation = 0.0;
  double loss = 0.0;  // mean cross-entropy of the gate, in nats
};

// The logistic curve of "different" over novelty: a its slope, b where it passes one half. Largest
// likelihood with the targets of Platt (1999), (n + 1) / (n + 2) instead of 1, which keep a finite
// where a threshold separates the pairs; Newton's method. The order of the pairs does not matter.
// No gate: pairs of one kind only, novelty that does not rise from same to different, or a curve
// that passes one half outside [0, 2]. not_finite, bad_request: a novelty outside [0, 2], with its
// index; bad_config: the cost. O(n log n), 8 n bytes.
Result<LearnedGate> gate_from_pairs(std::span<const Judged> pairs, const PairOptions& options = {});

struct OnlineOptions {
  double rate = 0.02;  // how far b moves at most in one step, as a novelty; (0, 1]
};

// A gate that learns from one judged decision at a time. A step moves b by rate (g - [different]),
// where g = sigmoid(a (nov - b)), and a in proportion; both come to rest where gate_from_pairs does
// (but for its targets) if every decision is judged. If only mistakes are, b still comes to rest
// where the two kinds of mistake balance, and a falls towards 1, as the gate has been too sure.
// A constant rate follows a stream that changes; divide it by the root of the steps to settle.
class OnlineGate {
 public:
  // bad_config: a gate or rate out of its range.
  static Result<OnlineGate> create(const Gate& start, const OnlineOptions& options = {});

  // One step; O(1). not_finite, bad_request: a novelty outside [0, 2]; nothing changes then.
  Status correct(const Judged& judged);
  Gate gate() const noexcept;  // a in [1, 1000], b in [0, 2]: fits Config::gate
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  double a_ = 10.0;
  double b_ = 0.4;
  double rate_ = 0.02;
  std::uint64_t steps_ = 0;
};

// --- Tau with a bound

// What should become of something at its novelty. `neither`: an item whose nearest slot is another
// thing while its own slot stands elsewhere.
enum class Right : std::uint8_t { merge, allocate, neither };

struct Trial {
  float novelty = 0.0F;  // [0, 2]
  Right right = Right::merge;
};

// pair: false merges are counted out of the pairs that are different. item: out of all items.
enum class Per : std::uint8_t { pair, item };

struct CalibrationOptions {
  double max_false_merge = 0.01;  // alpha, (0, 1)
  double confidence = 0.9;        // 1 - delta, (0, 1)
  Per per = Per::pair;
  // 0: the rate of false merges, behind all that may ever come, is to be at most alpha. m: of the
  // next m at risk at most alpha m are to merge wrongly. A batch may have more than its share by
  // chance, so that this is mostly stricter, and the more so the smaller m is. Below 1 / alpha it
  // says that none is wrong; of a few that may take fewer trials than the rate. [0, 2^53 - 1]
  std::uint64_t upcoming = 0;
};

struct CurvePoint {
  float tau = 0.0F;
  std::uint64_t false_merges = 0;
  std::uint64_t missed_merges = 0;
  // With `confidence`, the rate of false merges at this tau, taken alone, is at most this; with
  // `upcoming`, their share of the next so many is. See prediction_upper.
  double false_merge_bound = 1.0;
};

struct Calibration {
  std::uint64_t at_risk = 0;      // what false merges are counted out of
  std::uint64_t mergeable = 0;    // what missed merges are counted out of: trials whose allocation
                                  // would be wrong
  std::vector<CurvePoint> curve;  // tau = 0, .005, ..., 2
  std::optional<CurvePoint> chosen;  // none: refused, see `reason`
  std::string reason;                // a sentence for people; empty if there is a choice
  // Refused, but more data like this may do: about so many at risk. None: no number is known to. Of
  // what comes next too many may merge wrongly by chance, however well their rate is known.
  std::optional<std::uint64_t> needed;
};

inline constexpr std::size_t kTauSteps = 400;  // the grid: i / 200

// The loosest tau of the grid whose rate of false merges is at most max_false_merge, with this
// confidence: a Clopper-Pearson upper bound, and a fixed-sequence test from tau = 0 upwards that
// ends with the first tau that fails. Over all data sets, the chosen tau breaks the bound in at
// most a share of 1 - confidence. With `upcoming` the same is said of the next m at risk, counted,
// by the hypergeometric bound of Thatcher (1964): over all data sets and what comes after each, at
// most a share of 1 - confidence has more than alpha m of them merged wrongly. A count j is at most
// alpha m if j / m is at most alpha as a double: 3 of 10 are .3. Both hold for trials that are
// exchangeable with those to come: the same source, drawn alike, each judged once; pairs that share
// texts make them less sure than they say. Per pair they say nothing of an item that meets the
// nearest of N slots, which is nearer than a random one: use item trials for that. not_finite,
// bad_request, bad_config as above. O(n log n).
Result<Calibration> calibrate(std::span<const Trial> trials,
                              const CalibrationOptions& options = {});

// A pair as a trial: same should merge, different should not.
constexpr Trial trial_of(const Judged& judged) noexcept {
  return {judged.novelty, judged.verdict == Verdict::same ? Right::merge : Right::allocate};
}

struct LabelledItems {
  std::uint32_t dimension = 0;
  std::vector<float> keys;            // n x dimension, row-major; need not be unit length
  std::vector<std::uint64_t> labels;  // n; equal labels are the same thing
};

// Each item against a memory whose slots are the reference's items: the novelty of the nearest one,
// and what should become of the item there. The bound then holds for such a memory. bad_shape,
// not_finite, zero_norm: the index names the item, the pointer begins with /reference or /items;
// full: no memory. O(items x reference x dimension); copies the reference.
Result<std::vector<Trial>> trials_against(const LabelledItems& reference,
                                          const LabelledItems& items);

// With confidence `confidence`, the rate behind k events in n trials is at most this (Clopper &
// Pearson 1934, one-sided); 1 for n = 0. 0 <= k <= n.
double clopper_pearson_upper(std::uint64_t k, std::uint64_t n, double confidence) noexcept;

// With confidence `confidence`, at most this share of the next `upcoming` trials are events, where
// k of n were: a whole number of them over `upcoming` (Thatcher 1964, "Relationships between
// Bayesian and confidence limits for predictions", one-sided); 1 for n = 0. Tends to
// clopper_pearson_upper as `upcoming` grows, and is that for 0. 0 <= k <= n, both below 2^53.
double prediction_upper(std::uint64_t k, std::uint64_t n, std::uint64_t upcoming,
                        double confidence) noexcept;

// --- The task's loss alone

// A stream and what it is asked at its end. Nothing says which items are new: a gate learns that
// from the answers alone.
struct Episode {
  std::uint32_t dimension = 0;
  std::uint32_t classes = 0;                 // C >= 2
  std::vector<float> keys;                   // n x dimension, row-major; need not be unit length
  std::vector<std::uint32_t> key_classes;    // n, each < classes
  std::vector<float> queries;                // q x dimension
  std::vector<std::uint32_t> query_classes;  // q, the right answers
};

struct LessonOptions {
  double theta = 0.05;           // temperature of the readout [eq. 3], [1e-4, 100]
  double null_similarity = 0.6;  // s0 of a null slot that answers any class alike, [-1, 1]
};

// An episode made ready: novelties over past items [eq. 1] and readout weights. It depends on no
// gate, so several trainers may use one. O(n (n + q) d), 9 n q bytes.
class Lesson {
 public:
  // bad_shape, not_finite, zero_norm (of a key or query, by index), bad_request (a class),
  // bad_config; full: no memory, or n q above 2^27.
  static Result<Lesson> prepare(const Episode& episode, const LessonOptions& options = {});

  std::size_t items() const noexcept { return novelties_.size(); }
  std::size_t queries() const noexcept { return queries_; }
  std::span<const float> novelties() const noexcept { return novelties_; }

 private:
  friend class GateTrainer;
  std::vector<float> novelties_;
  std::vector<double> weights_;        // e^((q.k - s0) / theta), a row a query
  std::vector<std::uint8_t> matches_;  // 1: key and query have one class
  std::size_t queries_ = 0;
  double uniform_ = 0.0;  // 1 / C
};

struct TrainerOptions {
  // Where it starts, of any sign: a may be negative.
  double a = 1.0;  // [-1000, 1000]
  double b = 0.5;  // [-2, 4]
  // The price of a slot, in nats for each query. [.05, 2] works with 16 classes; from ln C on, a
  // slot costs more than the best answer brings, and the gate closes for good. [0, 1000]
  double lambda = 0.5;
  double rate = 0.05;  // of Adam (Kingma & Ba 2015), (0, 1]
  std::uint64_t seed = 0;
};

// Learns a gate from lessons, one step each. Keeps are drawn hard, m ~ Bernoulli(g); the gradient
// of each is the exact difference that flipping it makes to the cross-entropy, averaged over the
// queries, plus lambda / q, times g (1 - g). Hard keeps are what makes it work: a soft mask loses
// nothing by spreading over repeats. 600 steps are enough for episodes of 16 to 64 distinct items.
class GateTrainer {
 public:
  static Result<GateTrainer> create(const TrainerOptions& options = {});  // bad_config

  // One step; the loss of the keeps that were drawn, in nats a query, price included. O(n q).
  double step(const Lesson& lesson);
  // None: so far there is none with a > 0 and b in [0, 2].
  std::optional<Gate> gate() const noexcept;
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  struct Parameter {
    double value = 0.0;
    double mean = 0.0;    // of the gradient
    double square = 0.0;  // of its square
  };
  void descend(Parameter& parameter, double gradient) const noexcept;

  Parameter slope_;   // w: g = sigmoid(w nov + c), a = w
  Parameter offset_;  // c: b = -c / w
  double lambda_ = 0.5;
  double rate_ = 0.05;
  double mean_left_ = 1.0;    // .9^steps
  double square_left_ = 1.0;  // .999^steps
  std::uint64_t steps_ = 0;
  std::uint64_t random_ = 0;
  std::vector<double> gates_;  // of one step
  std::vector<double> keeps_;
  std::vector<double> gains_;
};

// Episodes of the noise model, for want of data of one's own: distinct keys in random directions,
// each seen 1 + min(Geometric(1/4) - 1, 15) times as unit(u + (noise / sqrt(d)) N(0, I)), shuffled,
// and each asked for once, as another noisy copy. A learned gate suits streams of that noise.
struct PracticeOptions {
  std::uint32_t dimension = 64;  // [1, 65536]
  std::uint32_t classes = 16;    // [2, 65536]
  std::uint32_t least = 16;      // distinct items, drawn evenly from [least, most]; [1, 4096]
  std::uint32_t most = 64;
  double noise = 0.3;  // [0, 10]
  // 0: as above. Else each item is seen so often; [1, 64]
  std::uint32_t repeats = 0;
  std::uint64_t seed = 0;
};

class Practice {
 public:
  static Result<Practice> create(const PracticeOptions& options = {});  // bad_config
  Episode next();

 private:
  PracticeOptions options_;
  std::uint64_t random_ = 0;
};

}  // namespace dpcache

#endif  // DPCACHE_TRAIN_H_
