// dpcache advise: where in a user's own data the same ends, and how sure that is.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/advise_report.h"
#include "cli/commands.h"
#include "cli/encoding.h"
#include "cli/gate_file.h"
#include "cli/lines.h"
#include "cli/notices.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/replace_file.h"
#include "cli/scale.h"
#include "cli/signals.h"
#include "cli/sources.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::uint64_t kTickItems = 1024;
constexpr std::size_t kKeptText = 200;  // bytes of an opposite

Show progress_of(const AdviseOptions& options) {
  return options.noise == Noise::usual && is_capable_terminal(STDERR_FILENO) ? Show::yes : Show::no;
}

// What core refused of the options, by the option's name.
[[noreturn]] void refuse_option(const Status& status) {
  std::string name = status.pointer.substr(1);
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "taus") name = "tau";
  throw Failure(Exit::usage, "--" + name + ": " + status.detail);
}

Verdict verdict_of(const TableReader& table, std::string_view label) {
  if (label == "1") return Verdict::same;
  if (label == "0") return Verdict::different;
  table.fail("label '" + std::string(label.substr(0, 40)) +
             "' is neither 1 (the same) nor 0 (different)");
}

// Pairs of rows of .npy files: which rows are wanted, then what they are.
class RowPairs {
 public:
  explicit RowPairs(const std::string& file) {
    TableReader table{Input(file), {"label", "row_a", "row_b"}};
    while (table.next()) {
      Pair pair{row_of(table, 1), row_of(table, 2), verdict_of(table, table.field(0))};
      rows_[pair.a];
      rows_[pair.b];
      pairs_.push_back(pair);
    }
  }

  // Row numbers go on from file to file.
  void offer(std::uint64_t row, std::span<const float> key) {
    if (const auto found = rows_.find(row); found != rows_.end()) {
      found->second.assign(key.begin(), key.end());
    }
  }

  template <class Take>
  void each(const std::string& file, std::uint64_t rows, Take take) const {
    for (const auto& pair : pairs_) {
      for (const auto row : {pair.a, pair.b}) {
        if (row > rows) {
          throw Failure(Exit::input, file + ": names row " + std::to_string(row) + "; there are " +
                                         std::to_string(rows));
        }
      }
      const auto novelty = novelty_between(rows_.at(pair.a), rows_.at(pair.b));
      if (!novelty) throw Failure(Exit::input, file + ": " + novelty.status.detail);
      take(Judged{*novelty, pair.verdict}, "row " + std::to_string(pair.a),
           "row " + std::to_string(pair.b));
    }
  }

 private:
  struct Pair {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    Verdict verdict = Verdict::same;
  };

  static std::uint64_t row_of(const TableReader& table, std::size_t column) {
    const auto text = table.field(column);
    std::uint64_t row = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row);
    if (error == std::errc() && end == text.data() + text.size() && row > 0) return row;
    table.fail("'" + std::string(text.substr(0, 40)) + "' is not the number of a row, from 1 up");
  }

  std::vector<Pair> pairs_;
  std::map<std::uint64_t, std::vector<float>> rows_;
};

class Advise {
 public:
  explicit Advise(const AdviseOptions& options)
      : options_(options), sources_(announced(options)), progress_(progress_of(options), unit()) {}

  Ending run() {
    check_settings();
    if (options_.out) check_replaceable(*options_.out);
    read();
    if (stopping()) return stopped("reading");
    if (!advisor_) {  // no item: there is still an answer to give
      options_for_core_.dimension = EncoderConfig{}.dimension;
      advisor_.emplace(std::move(*Advisor::create(options_for_core_)));
    }
    if (!look()) return stopped("looking");
    report();
    return {report_.advice.tau ? Exit::ok : Exit::negative};
  }

 private:
  // The files, after a word to those who did not mean to type their input.
  static const std::vector<std::string>& announced(const AdviseOptions& options) {
    if (options.noise == Noise::usual && options.files.front() == "-" &&
        is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO)) {
      say("dpcache: reading from the terminal; Ctrl-D ends the input");
    }
    return options.files;
  }

  bool has_vectors() const { return sources_.content() == Content::vectors; }
  const char* unit() const { return has_vectors() ? "vectors" : "lines"; }

  Ending stopped(const char* where) {
    progress_.clear();
    say(std::string("dpcache: stopped while ") + where + "; nothing was found or written");
    return {Exit::ok, stop_signal()};
  }

  // Before anything is read, as reading may take long.
  void check_settings() {
    if (has_vectors() && options_.encoder.any()) {
      throw Failure(Exit::usage,
                    "--mask, --pattern, --dimension and --seed are for text, not for vectors");
    }
    if (!has_vectors() && (options_.scale || options_.made_by)) {
      throw Failure(Exit::usage, "--scale and --encoder are for vectors: FILE must be .npy");
    }
    auto& core = options_for_core_;
    core.sample = static_cast<std::size_t>(options_.sample.value_or(core.sample));
    core.max_false_merge = options_.max_false_merge.value_or(core.max_false_merge);
    core.confidence = options_.confidence.value_or(core.confidence);
    report_.max_false_merge = core.max_false_merge;
    report_.confidence = core.confidence;
    if (!has_vectors()) core.taus.push_back(kTextTau);
    core.taus.insert(core.taus.end(), options_.taus.begin(), options_.taus.end());
    core.dimension = 1;
    if (const auto tried = Advisor::create(core); !tried) refuse_option(tried.status);
  }

  void begin(std::uint32_t dimension) {
    options_for_core_.dimension = dimension;
    report_.config.dimension = dimension;
    advisor_.emplace(std::move(*Advisor::create(options_for_core_)));
    if (options_.labels) labels_.emplace(Input(*options_.labels));
  }

  void read() {
    if (has_vectors()) {
      read_vectors();
    } else {
      read_text();
    }
    if (!stopping() && labels_) check_labels_end();
  }

  void read_text() {
    const auto encoder = new_encoder(options_.encoder);
    report_.config.encoder = encoder.id();
    begin(encoder.config().dimension);
    RecentVectors vectors(encoder);
    for (std::size_t at = 0; at < sources_.size() && !stopping(); ++at) {
      LineReader lines(sources_.open(at));
      for (std::string_view line; !stopping() && lines.next_or_last(line);) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        add(vectors.of(line), sources_.name(at), facts_of(encoder, line));
        tick(lines.bytes());
      }
      bytes_ += lines.bytes();
    }
    if (options_.pairs && !stopping()) read_text_pairs(encoder);
  }

  // What may vary by a mask is no reason to keep two texts apart.
  static GuardFacts facts_of(const Encoder& encoder, std::string_view text) {
    const auto masked = encoder.mask(text);
    return masked ? guard_facts(*masked) : GuardFacts();
  }

  void read_text_pairs(const Encoder& encoder) {
    TableReader table{Input(*options_.pairs), {"label", "text_a", "text_b"}};
    RecentVectors vectors(encoder);
    std::vector<float> one(encoder.config().dimension);
    while (table.next()) {
      const auto verdict = verdict_of(table, table.field(0));
      const auto a = vectors.of(table.field(1));
      std::copy(a.begin(), a.end(), one.begin());
      const auto novelty = novelty_between(one, vectors.of(table.field(2)));
      if (!novelty) table.fail(novelty.status.detail);
      const auto guards =
          guards_between(facts_of(encoder, table.field(1)), facts_of(encoder, table.field(2)));
      add_pair({*novelty, verdict}, table.field(1), table.field(2), guards);
    }
  }

  void read_vectors() {
    std::optional<RowPairs> pairs;
    if (options_.pairs) pairs.emplace(*options_.pairs);
    std::uint64_t number = 0;
    for (std::size_t at = 0; at < sources_.size() && !stopping(); ++at) {
      NpyReader rows(sources_.open(at));
      if (!advisor_) {
        begin(rows.columns());
        report_.config.encoder = options_.made_by;
      } else if (rows.columns() != report_.config.dimension) {
        throw Failure(Exit::input, rows.input().title() + ": has vectors of length " +
                                       std::to_string(rows.columns()) + ", the files before it " +
                                       std::to_string(report_.config.dimension));
      }
      Scale scale(options_.scale, rows, sources_.size());
      std::vector<float> key(rows.columns());
      while (!stopping() && rows.next(key)) {
        scale.apply(key);
        add(key, sources_.name(at));
        if (pairs) pairs->offer(++number, key);
        tick(rows.bytes());
      }
      bytes_ += rows.bytes();
    }
    if (!pairs || stopping()) return;
    pairs->each(*options_.pairs, number,
                [this](const Judged& judged, const std::string& a, const std::string& b) {
                  add_pair(judged, a, b);
                });
  }

  // Nothing: the item has none.
  std::optional<std::uint64_t> next_label() {
    if (!labels_) return std::nullopt;
    std::string_view line;
    // An empty line is a line.
    if (!labels_->next(line)) {
      line = labels_->take_rest();
      if (line.empty() && !stopping()) {
        throw Failure(Exit::input, labels_->input().title() + ": has " +
                                       std::to_string(advisor_->seen()) +
                                       " lines, and there are more items (one line an item)");
      }
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return std::nullopt;
    return ids_.emplace(line, ids_.size()).first->second;
  }

  void check_labels_end() {
    if (std::string_view more; labels_->next_or_last(more)) {
      throw Failure(Exit::input, labels_->input().title() +
                                     ": has more lines than there are items, " +
                                     std::to_string(advisor_->seen()) + " (one line an item)");
    }
  }

  void add(std::span<const float> key, const std::string& file, GuardFacts facts = {}) {
    const auto label = next_label();
    if (file != file_) {
      file_ = file;
      row_ = 0;
    }
    ++row_;
    const auto status = advisor_->add(key, label, std::move(facts));
    if (status) return;
    if (status.code == Error::full) throw Failure(Exit::resources, status.detail);
    throw Failure(Exit::input, file + ": row " + std::to_string(row_) + ": " + status.detail);
  }

  void add_pair(const Judged& judged, std::string_view a, std::string_view b,
                GuardSet guards = {}) {
    if (const auto status = advisor_->add_pair(judged, guards); !status) {
      throw Failure(Exit::resources, status.detail);
    }
    Opposite pair;
    pair.novelty = judged.novelty;
    pair.guards = guards;
    if (judged.verdict == Verdict::different) {
      pair.a = a.substr(0, kKeptText);
      pair.b = b.substr(0, kKeptText);
    }
    pairs_.push_back(std::move(pair));
  }

  void tick(std::uint64_t bytes) {
    if (advisor_->seen() % kTickItems != 0) return;
    progress_.update(grouped(advisor_->seen()) + ' ' + unit() + "  " + in_bytes(bytes_ + bytes), 0);
  }

  bool look() {
    progress_.restart();
    const auto result = advisor_->advise([this](double share) {
      progress_.update(
          "looking at " +
              grouped(std::min<std::uint64_t>(advisor_->seen(), options_for_core_.sample)) + ' ' +
              unit(),
          share);
      return stopping() ? Advisor::Go::stop : Advisor::Go::on;
    });
    if (!result) throw Failure(Exit::resources, result.status.detail);
    progress_.clear();
    if (!*result) return false;
    report_.advice = **result;
    report_.config.tau = report_.advice.tau;
    for (const auto number : report_.advice.opposites) {
      report_.opposites.push_back(pairs_[static_cast<std::size_t>(number)]);
    }
    return true;
  }

  void report() {
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
    if (options_.out) {
      if (report_.advice.tau) {
        replace_file(*options_.out, gate_text(report_.config));
      } else {
        say("dpcache: there is no tau to suggest (nothing was written)");
      }
    }
    if (reader_has_gone) throw ClosedPipe();
  }

  const AdviseOptions& options_;
  Sources sources_;
  Progress progress_;
  AdvisorOptions options_for_core_;
  std::optional<Advisor> advisor_;
  std::optional<LineReader> labels_;
  std::map<std::string, std::uint64_t, std::less<>> ids_;  // of the labels
  std::vector<Opposite> pairs_;  // all pairs, in order; texts only of those that are different
  std::uint64_t bytes_ = 0;
  std::string file_;
  std::uint64_t row_ = 0;
  AdviceReport report_;
};

}  // namespace

Ending run_advise(const AdviseOptions& options) {
  return Advise(options).run();
}

}  // namespace dpcache::cli
