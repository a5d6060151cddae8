// dpcache distinct: lines or vectors go in, what is distinct comes out.
//
// The order matters. The memory is locked and read and every input is tried before any work; what
// is printed has arrived before the memory is saved, so that a run that fails can simply be run
// again.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "cli/collector.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/lines.h"
#include "cli/notices.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scale.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/sources.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::chrono::seconds kCheckpointEvery{30};  // while following
constexpr std::uint64_t kTickItems = 256;             // items between two looks at the clock

// The files, after a word to those who did not mean to type their input.
const std::vector<std::string>& announced(const DistinctOptions& options) {
  if (options.noise == Noise::usual && options.files.front() == "-" && is_terminal(STDIN_FILENO) &&
      is_terminal(STDERR_FILENO)) {
    say("dpcache: reading from the terminal; Ctrl-D ends the input");
  }
  return options.files;
}

class Distinct {
 public:
  explicit Distinct(const DistinctOptions& options)
      : options_(options),
        session_(options.memory, options.cache, options.time),
        sources_(announced(options)),
        printer_(options.format == Format::json ? json_printer(output_)
                                                : text_printer(output_, locate(), options.stream)),
        progress_(watched() ? Show::yes : Show::no, unit()) {}

  Ending run() {
    check_sources();
    bool closed = false;
    try {
      read();
      progress_.clear();
      if (!collector_) return {Exit::ok, stop_signal()};  // stopped before it began
      if (!streams()) collector_->list(options_.order, options_.top);
      output_.close();
    } catch (const ClosedPipe&) {
      closed = true;
    } catch (const Failure&) {
      progress_.clear();
      deliver_what_was_streamed();
      throw;
    }
    session_.save();
    if (closed) return {Exit::ok, SIGPIPE};
    tell_end();
    return {Exit::ok, stop_signal()};
  }

 private:
  Locate locate() const {
    return options_.files.size() > 1 || options_.memory ? Locate::file_and_line : Locate::line;
  }
  bool streams() const { return options_.stream != Stream::nothing; }
  bool follows() const { return options_.at_end == AtEnd::follow; }
  bool watched() const {
    return options_.noise == Noise::usual && is_capable_terminal(STDERR_FILENO) &&
           !(streams() && is_terminal(STDOUT_FILENO));
  }
  const char* unit() const { return sources_.content() == Content::text ? "lines" : "vectors"; }

  void check_sources() const {
    const bool vectors = sources_.content() == Content::vectors;
    if (vectors && follows()) throw Failure(Exit::usage, "--follow reads text, not vectors");
    if (vectors && options_.encoder.any()) {
      throw Failure(Exit::usage,
                    "--mask, --pattern, --dimension and --seed are for text, not for vectors");
    }
    if (!vectors && (!options_.labels.empty() || options_.scale || options_.made_by)) {
      throw Failure(Exit::usage,
                    "--text, --scale and --encoder are for vectors: FILE must be .npy");
    }
    if (!options_.labels.empty() && options_.labels.size() != sources_.size()) {
      throw Failure(Exit::usage, "--text must be given once for each .npy FILE");
    }
    if (follows() && !sources_.all_files() && sources_.size() > 1) {
      throw Failure(Exit::usage, "--follow takes several files, or one pipe, not both");
    }
  }

  void begin() {
    collector_.emplace(session_, *printer_, options_.stream, options_.which);
    warn();
  }

  void read() {
    if (sources_.content() == Content::vectors) {
      for (std::size_t at = 0; at < sources_.size() && !stopping(); ++at) read_vectors(at);
      return;
    }
    session_.use_text(options_.encoder);
    begin();
    if (follows() && sources_.all_files()) {
      follow_files(sources_, {[this](std::string_view line, const std::string& file,
                                     std::uint64_t number) { take(line, file, number); },
                              [this] { idle(); }});
      return;
    }
    for (std::size_t at = 0; at < sources_.size() && !stopping(); ++at) read_text(at);
  }

  Input open(std::size_t at) {
    auto input = sources_.open(at);
    input.on_idle([this] { idle(); });
    return input;
  }

  void read_text(std::size_t at) {
    LineReader lines(open(at));
    Place place{sources_.name(at), 0};
    for (std::string_view line; !stopping() && lines.next_or_last(line);) {
      ++place.line;
      collector_->take_text(line, place);
      tick(lines.input(), lines.bytes());
    }
    finish(lines.input(), lines.bytes());
  }

  void take(std::string_view line, const std::string& file, std::uint64_t number) {
    collector_->take_text(line, {file, number});
    if (collector_->items() % kTickItems == 0) checkpoint();
  }

  void read_vectors(std::size_t at) {
    NpyReader rows(open(at));
    const Place start{sources_.name(at), 0};
    if (!collector_) {
      session_.use_vectors(rows.columns(), options_.made_by);
      begin();
    } else if (rows.columns() != session_.cache().config().dimension) {
      throw Failure(Exit::input, rows.input().title() + ": has vectors of length " +
                                     std::to_string(rows.columns()) + ", the files before it " +
                                     std::to_string(session_.cache().config().dimension));
    }
    Scale scale(options_.scale, rows, sources_.size());
    std::optional<LineReader> labels;
    if (!options_.labels.empty()) labels.emplace(Input(options_.labels[at]));
    std::vector<float> key(rows.columns());
    Place place = start;
    std::string number;
    while (!stopping() && rows.next(key)) {
      ++place.line;
      scale.apply(key);
      std::string_view label;
      if (!labels) {
        label = number = std::to_string(place.line);
      } else if (!labels->next_or_last(label)) {
        if (stopping()) break;
        throw Failure(Exit::input, labels->input().title() + ": has " +
                                       std::to_string(place.line - 1) + " lines, " +
                                       rows.input().title() + " has " +
                                       std::to_string(rows.rows()) + " rows (one line a row)");
      }
      collector_->take_vector(key, label, place);
      tick(rows.input(), rows.bytes());
    }
    if (std::string_view more; !stopping() && labels && labels->next_or_last(more)) {
      throw Failure(Exit::input, labels->input().title() + ": has more lines than " +
                                     rows.input().title() + " has rows, " +
                                     std::to_string(rows.rows()) + " (one line a row)");
    }
    finish(rows.input(), rows.bytes());
  }

  void tick(const Input& input, std::uint64_t bytes) {
    if (collector_->items() % kTickItems == 0 || bytes - ticked_bytes_ > 1 << 20) {
      ticked_bytes_ = bytes;
      show(input.consumed(), bytes);
      if (follows()) checkpoint();
    }
  }

  void finish(const Input& input, std::uint64_t bytes) {
    consumed_ += input.consumed();
    bytes_ += bytes;
    ticked_bytes_ = 0;
  }

  void show(std::uint64_t consumed, std::uint64_t bytes) {
    Progress::State state;
    state.items = collector_->items();
    state.bytes = bytes_ + bytes;
    state.slots = session_.cache().size();
    if (const auto all = sources_.bytes(); all && *all > 0) {
      state.share = static_cast<double>(consumed_ + consumed) / static_cast<double>(*all);
    }
    progress_.update(state);
  }

  // The input makes us wait: what is done should be seen, and be safe.
  void idle() {
    output_.flush();
    if (streams()) Output::check_reader();
    if (follows()) checkpoint();
  }

  // A run that follows may never end by itself, and then what it learned must not depend on its
  // end. Other runs save once: cut short, they can be run again without counting anything twice.
  void checkpoint() {
    if (!collector_ || !session_.memory()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_checkpoint_) return;
    output_.flush();
    session_.save();
    next_checkpoint_ = now + kCheckpointEvery;
  }

  void warn() {
    if (options_.noise == Noise::quiet) return;
    const auto warning = session_.cache().warning();
    if (warning.empty() || warning == warned_) return;
    say("dpcache: warning: " + warning);
    warned_ = warning;
  }

  // After an error in the input, what stands in front of it has its place in the output.
  void deliver_what_was_streamed() noexcept {
    try {
      if (streams()) output_.flush();
    } catch (const std::exception&) {  // the first error is the one to tell
    }
  }

  void tell_end() {
    progress_.clear();
    if (!collector_) return;
    warn();
    if (options_.noise == Noise::quiet || !is_terminal(STDERR_FILENO)) return;
    const auto items = collector_->items();
    const auto slots = session_.cache().size();
    std::string text = stopping() ? "stopped after " : "";
    text += grouped(items) + ' ' + unit() + (has_utf8() ? " → " : " -> ");
    if (const auto* memory = session_.memory()) {
      text += grouped(collector_->opened()) + " new, " + grouped(slots) + " distinct in " +
              memory->path() + " (" + in_bytes(memory->bytes()) + ")";
    } else {
      text += grouped(slots) + " distinct";
      if (items > 0)
        text += " (" + in_percent(static_cast<double>(slots) / static_cast<double>(items)) + ")";
    }
    say(text + ", " + in_time(progress_.elapsed()));
  }

  const DistinctOptions& options_;
  Output output_;
  Session session_;
  Sources sources_;
  std::unique_ptr<Printer> printer_;
  Progress progress_;
  std::optional<Collector> collector_;
  std::string warned_;
  std::uint64_t consumed_ = 0;  // of the files that are done
  std::uint64_t bytes_ = 0;
  std::uint64_t ticked_bytes_ = 0;
  std::chrono::steady_clock::time_point next_checkpoint_ =
      std::chrono::steady_clock::now() + kCheckpointEvery;
};

}  // namespace

Ending run_distinct(const DistinctOptions& options) {
  if (options.keep == Keep::templates) return run_templates(options);
  return Distinct(options).run();
}

}  // namespace dpcache::cli
