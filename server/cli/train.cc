// dpcache train: learns a gate from examples, and chooses tau with a bound on false merges.
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/encoding.h"
#include "cli/gate_file.h"
#include "cli/notices.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/replace_file.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/train_report.h"
#include "dpcache/train.h"

namespace dpcache::cli {
namespace {

constexpr std::uint64_t kTickItems = 1024;

Show progress_of(const TrainOptions& options) {
  return options.noise == Noise::usual && is_capable_terminal(STDERR_FILENO) ? Show::yes : Show::no;
}

Verdict verdict_of(const TableReader& table, std::string_view label) {
  if (label == "1") return Verdict::same;
  if (label == "0") return Verdict::different;
  table.fail("label '" + std::string(label.substr(0, 40)) +
             "' is neither 1 (the same) nor 0 (different)");
}

// What core refused of the options, by the option's name.
[[noreturn]] void refuse_option(const Status& status) {
  std::string name = status.pointer.substr(1);
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "a" || name == "b") name = "start";
  throw Failure(Exit::usage, "--" + name + ": " + status.detail);
}

class Training {
 public:
  explicit Training(const TrainOptions& options)
      : options_(options), progress_(progress_of(options), options.items ? "items" : "pairs") {}

  Ending run() {
    check_settings();
    if (options_.out) check_replaceable(*options_.out);
    read();
    progress_.clear();
    if (stopping()) {
      say("dpcache: stopped while reading; nothing was learned or written");
      return {Exit::ok, stop_signal()};
    }
    learn();
    Output output;
    bool reader_has_gone = false;
    try {
      if (options_.format == Format::json) {
        print_json(report_, output);
      } else {
        print_text(report_, output);
      }
      output.close();
    } catch (const ClosedPipe&) {
      reader_has_gone = true;
    }
    if (!report_.has_outcome()) {
      say("dpcache: " + report_.refusal + (options_.out ? " (nothing was written)" : ""));
      return {Exit::negative};
    }
    if (options_.out) replace_file(*options_.out, gate_text(report_.config));
    if (reader_has_gone) throw ClosedPipe();
    return {};
  }

 private:
  // Before anything is read, as reading may take long.
  void check_settings() {
    report_.bound.max_false_merge = options_.max_false_merge.value_or(0.01);
    report_.bound.confidence = options_.confidence.value_or(0.9);
    report_.bound.upcoming = options_.upcoming.value_or(0);
    report_.bounded = options_.max_false_merge.has_value();
    report_.per = report_.bound.per = options_.items ? Per::item : Per::pair;
    pair_options_.false_merge_cost = options_.false_merge_cost.value_or(1.0);
    if (const auto tried = calibrate({}, report_.bound); !tried) refuse_option(tried.status);
    if (const auto tried = gate_from_pairs({}, pair_options_); !tried) refuse_option(tried.status);
    if (!options_.start) return;
    if (!options_.start->gate) {
      throw Failure(Exit::usage, "--start: that is a tau; a gate A,B is needed to go on from");
    }
    OnlineOptions online;
    online.rate = options_.rate.value_or(online.rate);
    const auto gate = OnlineGate::create(*options_.start->gate, online);
    if (!gate) refuse_option(gate.status);
    online_ = *gate;
  }

  void read() {
    if (options_.vectors_a) {
      read_vectors();
    } else {
      encoder_ = new_encoder(options_.encoder);
      report_.config.dimension = encoder_.config().dimension;
      report_.config.encoder = encoder_.id();
      check_start();
      if (options_.items) {
        read_items();
      } else {
        for (const auto& file : options_.pairs) read_pairs(file);
      }
    }
    report_.trials = trials_.size();
  }

  // A gate to go on from must be one for these vectors.
  void check_start() const {
    if (!options_.start || !options_.start->encoder) return;
    const auto& its = *options_.start->encoder;
    if (report_.config.encoder == its) return;
    throw Failure(Exit::usage,
                  "--start: that gate is for vectors made by '" + its + "', these are " +
                      (report_.config.encoder ? "made by '" + *report_.config.encoder + "'"
                                              : std::string("of no named encoder")));
  }

  void read_pairs(const std::string& file) {
    TableReader table{Input(file), {"label", "text_a", "text_b"}};
    RecentVectors vectors(encoder_);
    std::vector<float> one(encoder_.config().dimension);
    while (table.next()) {
      const auto verdict = verdict_of(table, table.field(0));
      const auto a = vectors.of(table.field(1));
      std::copy(a.begin(), a.end(), one.begin());
      add(one, vectors.of(table.field(2)), verdict, table);
      tick(table);
    }
  }

  void add(std::span<const float> a, std::span<const float> b, Verdict verdict,
           const TableReader& table) {
    const auto novelty = novelty_between(a, b);
    if (!novelty) table.fail(novelty.status.pointer.substr(1) + ": " + novelty.status.detail);
    trials_.push_back(trial_of({*novelty, verdict}));
  }

  void read_vectors() {
    NpyReader a{Input(*options_.vectors_a)};
    NpyReader b{Input(*options_.vectors_b)};
    if (a.rows() != b.rows() || a.columns() != b.columns()) {
      const auto shape = [](const NpyReader& rows) {
        return std::to_string(rows.rows()) + " x " + std::to_string(rows.columns());
      };
      throw Failure(Exit::input, *options_.vectors_b + ": is " + shape(b) + ", " +
                                     *options_.vectors_a + " is " + shape(a) +
                                     " (a row of each is a pair)");
    }
    report_.config.dimension = a.columns();
    report_.config.encoder = options_.made_by;
    check_start();
    TableReader table{Input(*options_.labels), {"label"}};
    std::vector<float> one(a.columns());
    std::vector<float> other(b.columns());
    while (!stopping() && a.next(one) && b.next(other)) {
      if (!table.next()) {
        if (stopping()) return;
        throw Failure(Exit::input, *options_.labels + ": has " + std::to_string(trials_.size()) +
                                       " labels, " + *options_.vectors_a + " has " +
                                       std::to_string(a.rows()) + " rows (one label a row)");
      }
      add(one, other, verdict_of(table, table.field(0)), table);
      tick(table);
    }
    if (!stopping() && table.next()) {
      table.fail("is one more than " + *options_.vectors_a + " has rows, " +
                 std::to_string(a.rows()) + " (one label a row)");
    }
  }

  LabelledItems read_labelled(const std::string& file, std::map<std::string, std::uint64_t>& ids) {
    TableReader table{Input(file), {"label", "text"}};
    RecentVectors vectors(encoder_);
    LabelledItems items;
    items.dimension = encoder_.config().dimension;
    while (table.next()) {
      if (table.field(0).empty()) table.fail("label is empty");
      const auto id = ids.emplace(table.field(0), ids.size()).first->second;
      const auto key = vectors.of(table.field(1));
      items.keys.insert(items.keys.end(), key.begin(), key.end());
      items.labels.push_back(id);
      ++read_;
      tick(table);
    }
    return items;
  }

  void read_items() {
    std::map<std::string, std::uint64_t> ids;
    const auto reference = read_labelled(*options_.reference, ids);
    const auto items = read_labelled(*options_.items, ids);
    if (stopping()) return;
    if (reference.labels.empty()) {
      throw Failure(Exit::input, *options_.reference + ": has no rows to run items against");
    }
    report_.reference = reference.labels.size();
    // In parts, so that Ctrl-C is not kept waiting.
    constexpr std::size_t kPart = 256;
    const std::size_t d = items.dimension;
    for (std::size_t i = 0; i < items.labels.size() && !stopping(); i += kPart) {
      const auto count = std::min(kPart, items.labels.size() - i);
      const auto at = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
      const LabelledItems part{
          items.dimension,
          {items.keys.begin() + at(i * d), items.keys.begin() + at((i + count) * d)},
          {items.labels.begin() + at(i), items.labels.begin() + at(i + count)}};
      const auto trials = trials_against(reference, part);
      if (!trials) throw Failure(Exit::resources, trials.status.detail);
      trials_.insert(trials_.end(), trials->begin(), trials->end());
    }
  }

  void tick(const TableReader& table) {
    const auto count = std::max<std::uint64_t>(read_, trials_.size());
    if (count % kTickItems != 0) return;
    Progress::State state;
    state.items = count;
    state.bytes = table.lines().bytes();
    progress_.update(state);
  }

  void learn() {
    std::vector<Judged> judged;
    judged.reserve(trials_.size());
    for (const auto& trial : trials_) {
      judged.push_back(
          {trial.novelty, trial.right == Right::merge ? Verdict::same : Verdict::different});
    }
    report_.learned = *gate_from_pairs(judged, pair_options_);
    report_.calibration = *calibrate(trials_, report_.bound);
    auto& config = report_.config;
    if (options_.start) {
      for (const auto& one : judged) online_.correct(one);
      report_.steps = online_.steps();
      config.gate = online_.gate();
    } else if (!report_.bounded) {
      config.gate = report_.learned.gate;
      report_.refusal = report_.learned.reason;
    } else if (!report_.calibration.chosen) {
      report_.refusal = report_.calibration.reason;
    } else if (report_.learned.gate) {
      config.gate = Gate{report_.learned.gate->a, report_.calibration.chosen->tau};
    } else {
      config.tau = report_.calibration.chosen->tau;
    }
  }

  const TrainOptions& options_;
  Progress progress_;
  PairOptions pair_options_;
  Encoder encoder_;
  OnlineGate online_;
  std::vector<Trial> trials_;
  std::uint64_t read_ = 0;
  TrainReport report_;
};

}  // namespace

Ending run_train(const TrainOptions& options) {
  return Training(options).run();
}

}  // namespace dpcache::cli
