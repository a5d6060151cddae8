// dpcache distinct --templates: lines go in, the kinds of line come out, with what varies in them.
//
// The order is that of distinct: the memory is locked and read and every input is tried before any
// work, and what is printed has arrived before the memory is saved.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/encoding.h"
#include "cli/follow.h"
#include "cli/lines.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/sources.h"
#include "cli/template_file.h"
#include "cli/template_rows.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::uint64_t kTickLines = 1024;            // between two looks at the clock
constexpr std::chrono::seconds kCheckpointEvery{30};  // while following

TemplateConfig with_options(TemplateConfig config, const DistinctOptions& options) {
  if (options.cache.tau) config.tau = *options.cache.tau;
  if (options.cache.max_slots) {
    config.max_templates =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*options.cache.max_slots, UINT32_MAX));
  }
  if (options.codes) config.codes = *options.codes;
  if (options.structure) config.structure = *options.structure;
  if (options.encoder.masks) {
    auto masks = Masks::parse(*options.encoder.masks);
    if (!masks) throw Failure(Exit::usage, "--mask: " + masks.status.detail);
    masks->own = std::move(config.masks.own);
    config.masks = std::move(*masks);
  }
  if (!options.encoder.own.empty()) config.masks.own = compile(options.encoder.own);
  return config;
}

Templates make(const DistinctOptions& options) {
  auto templates = Templates::create(with_options({}, options));
  if (templates) return std::move(*templates);
  const Status& status = templates.status;
  const std::string option = status.pointer == "/max_templates" ? "--max-slots: "
                             : status.pointer == "/tau"         ? "--tau: "
                                                                : "";
  throw Failure(Exit::usage, option + (status.pointer == "/max_templates"
                                           ? "with --templates it must be in [1, 1000000]"
                                           : status.detail));
}

class TemplateRun {
 public:
  explicit TemplateRun(const DistinctOptions& options)
      : options_(options),
        sources_((hold_memory(), options.files)),
        printer_(options.format == Format::json ? json_template_printer(output_)
                                                : text_template_printer(output_, locate())),
        progress_(watched() ? Show::yes : Show::no, "lines") {
    if (sources_.content() != Content::text) {
      throw Failure(Exit::usage, "--templates reads text, not vectors");
    }
    if (follows() && !sources_.all_files() && sources_.size() > 1) {
      throw Failure(Exit::usage, "--follow takes several files, or one pipe, not both");
    }
  }

  Ending run() {
    bool closed = false;
    try {
      read();
      progress_.clear();
      if (!streams()) list();
      output_.close();
    } catch (const ClosedPipe&) {
      closed = true;
    } catch (const Failure&) {
      progress_.clear();
      deliver_what_was_streamed();
      throw;
    }
    if (file_ && (!loaded_ || lines_ > 0)) file_->save(templates_);
    if (closed) return {Exit::ok, SIGPIPE};
    tell_end();
    return {Exit::ok, stop_signal()};
  }

 private:
  bool streams() const { return options_.stream != Stream::nothing; }
  bool follows() const { return options_.at_end == AtEnd::follow; }
  bool watched() const {
    return options_.noise == Noise::usual && is_capable_terminal(STDERR_FILENO) &&
           !(streams() && is_terminal(STDOUT_FILENO));
  }
  Locate locate() const {
    return options_.files.size() > 1 || options_.memory ? Locate::file_and_line : Locate::line;
  }

  // First of all, as it fails fast.
  void hold_memory() {
    if (options_.memory) {
      file_.emplace(*options_.memory);
      if (auto kept = file_->take()) {
        templates_ = std::move(*kept);
        loaded_ = true;
        first_new_ = templates_.next_id();
        if (!(with_options(templates_.config(), options_) == templates_.config())) {
          throw Failure(Exit::memory, file_->path() +
                                          ": was made with other settings of --tau, --mask, "
                                          "--pattern, --codes, --plain or --max-slots (leave those "
                                          "options away, or use another memory)");
        }
      }
    }
    if (!loaded_) templates_ = make(options_);
    if (options_.noise == Noise::usual && options_.files.front() == "-" &&
        is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO)) {
      say("dpcache: reading from the terminal; Ctrl-D ends the input");
    }
  }

  void read() {
    if (follows() && sources_.all_files()) {
      follow_files(sources_,
                   {[this](std::string_view line, const std::string& file, std::uint64_t number) {
                      take(line, file, number);
                      if (lines_ % kTickLines == 0) checkpoint();
                    },
                    [this] { idle(); }});
      return;
    }
    for (std::size_t at = 0; at < sources_.size() && !stopping(); ++at) read(at);
  }

  // The input makes us wait: what is done should be seen, and be safe.
  void idle() {
    output_.flush();
    if (streams()) Output::check_reader();
    checkpoint();
  }

  // Only a run that follows saves before its end, as it may never have one.
  void checkpoint() {
    if (!follows() || !file_ || lines_ == saved_lines_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_checkpoint_) return;
    output_.flush();
    file_->save(templates_);
    saved_lines_ = lines_;
    next_checkpoint_ = now + kCheckpointEvery;
  }

  void read(std::size_t at) {
    auto input = sources_.open(at);
    input.on_idle([this] { idle(); });
    LineReader lines(std::move(input));
    const std::string& name = sources_.name(at);
    std::uint64_t number = 0;
    for (std::string_view line; !stopping() && lines.next_or_last(line);) {
      take(line, name, ++number);
      if (lines_ % kTickLines != 0) continue;
      show(lines.input().consumed(), lines.bytes());
      checkpoint();
    }
    consumed_ += lines.input().consumed();
    bytes_ += lines.bytes();
  }

  void take(std::string_view bytes, const std::string& file, std::uint64_t number) {
    const std::string_view text = bytes.ends_with('\r') ? bytes.substr(0, bytes.size() - 1) : bytes;
    // LINE:FILE, as a long name may be cut.
    std::array<char, 20> digits{};
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    place_.assign(digits.data(), static_cast<std::size_t>(end - digits.data()));
    place_.append(":").append(file);
    const auto learned = templates_.learn(text, place_);
    if (!learned) {
      throw Failure(Exit::input, file + ": line " + std::to_string(number) + ": " +
                                     learned.status.detail + " (nothing was saved)");
    }
    ++lines_;
    if (learned->opened) ++opened_;
    if (options_.which == Which::seen || options_.stream != Stream::assign) remember(*learned);
    if (options_.stream == Stream::fresh) {
      if (learned->opened) list_one(learned->id);
      return;
    }
    if (!streams() || (options_.which == Which::fresh && !learned->opened)) return;
    TemplateAssignment assignment{&learned.value, file, number, bytes, {}};
    if (printer_->wants_values()) assignment.values = templates_.match(text);
    printer_->assignment(assignment);
  }

  void remember(const Learned& learned) {
    std::uint64_t& seen = seen_[learned.id];
    ++seen;
    for (const TemplateId id : learned.folded) {
      const auto gone = seen_.find(id);
      if (gone == seen_.end()) continue;
      seen_[learned.id] += gone->second;
      seen_.erase(id);
    }
    for (const TemplateId id : learned.evicted) seen_.erase(id);
  }

  void list() {
    std::vector<std::pair<std::uint64_t, TemplateId>> listed;
    for (const TemplateId id : templates_.ids()) {
      if (options_.which == Which::fresh && id < first_new_) continue;
      if (options_.which == Which::seen && !seen_.contains(id)) continue;
      listed.emplace_back(options_.order == Order::count ? templates_.count(id) : 0, id);
    }
    std::stable_sort(listed.begin(), listed.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (options_.top && *options_.top < listed.size()) {
      listed.resize(static_cast<std::size_t>(*options_.top));
    }
    for (const auto& [count, id] : listed) list_one(id);
  }

  void list_one(TemplateId id) {
    TemplateRow row;
    row.value = *templates_.get(id);
    if (const auto seen = seen_.find(id); seen != seen_.end()) row.seen = seen->second;
    row.fresh = id >= first_new_;
    const std::string& origin = row.value.origin;
    const auto colon = origin.find(':');
    if (colon != std::string::npos) {
      std::from_chars(origin.data(), origin.data() + colon, row.line);
      row.file = origin.substr(colon + 1);
    }
    printer_->row(row);
  }

  void show(std::uint64_t consumed, std::uint64_t bytes) {
    Progress::State state;
    state.items = lines_;
    state.bytes = bytes_ + bytes;
    state.slots = templates_.size();
    if (const auto all = sources_.bytes(); all && *all > 0) {
      state.share = static_cast<double>(consumed_ + consumed) / static_cast<double>(*all);
    }
    progress_.update(state);
  }

  void deliver_what_was_streamed() noexcept {
    try {
      if (streams()) output_.flush();
    } catch (const std::exception&) {  // the first error is the one to tell
    }
  }

  void tell_end() {
    if (options_.noise == Noise::quiet || !is_terminal(STDERR_FILENO)) return;
    std::string text = stopping() ? "stopped after " : "";
    text += grouped(lines_) + " lines" + (has_utf8() ? " → " : " -> ");
    if (file_) text += grouped(opened_) + " new, ";
    text += grouped(templates_.size()) + " templates";
    if (file_) text += " in " + file_->path() + " (" + in_bytes(file_->bytes()) + ")";
    say(text + ", " + in_time(progress_.elapsed()));
  }

  const DistinctOptions& options_;
  Output output_;
  std::optional<TemplateFile> file_;
  Templates templates_;
  bool loaded_ = false;
  TemplateId first_new_ = 1;
  Sources sources_;
  std::unique_ptr<TemplatePrinter> printer_;
  Progress progress_;
  std::unordered_map<TemplateId, std::uint64_t> seen_;  // lines of this run, by template
  std::string place_;
  std::uint64_t lines_ = 0;
  std::uint64_t opened_ = 0;
  std::uint64_t consumed_ = 0;  // of the files that are done
  std::uint64_t bytes_ = 0;
  std::uint64_t saved_lines_ = 0;
  std::chrono::steady_clock::time_point next_checkpoint_ =
      std::chrono::steady_clock::now() + kCheckpointEvery;
};

}  // namespace

Ending run_templates(const DistinctOptions& options) {
  return TemplateRun(options).run();
}

}  // namespace dpcache::cli
