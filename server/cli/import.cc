// dpcache import: items or slots of a file go into a memory.
//
// A plain file is read twice: first every row is checked, against a cache of one slot with the
// memory's settings, so that a bad row is named before anything is taken. With --skip-bad, and from
// a pipe, it is read once. What has been taken of a plain file is saved together with how far that
// was; the same command goes on there.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/encoding.h"
#include "cli/import_report.h"
#include "cli/import_rows.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::uint64_t kTickRows = 256;
constexpr std::uint64_t kMostNamed = 20;  // bad rows
constexpr std::int64_t kSaveMs = 30000;
constexpr const char* kPosition = "import.";  // in the metadata, in front of the fingerprint

Show progress_of(const ImportOptions& options) {
  return options.noise == Noise::usual && is_capable_terminal(STDERR_FILENO) ? Show::yes : Show::no;
}

class Import {
 public:
  explicit Import(const ImportOptions& options)
      : options_(options),
        session_(options.memory, options.cache, options.time),
        progress_(progress_of(options), "rows") {}

  Ending run() {
    // The options are tried, and the file, before any work.
    rows_ = open_rows(options_);
    fingerprint_ = fingerprint_of(options_.file);
    report_.memory = options_.memory;
    report_.done.file = options_.file;
    if (fingerprint_ && options_.bad_rows == BadRows::refuse) {
      check_all();
      if (stopping()) return stopped();
      rows_ = open_rows(options_);
    }
    go_on();
    take_all();
    progress_.clear();
    if (refused_ > 0) refuse();
    if (stopping()) return stopped();
    finish();
    return {};
  }

 private:
  std::string place() const {
    return options_.file + ": " + rows_->unit() + ' ' + std::to_string(rows_->number()) + ": ";
  }

  // The session's cache is made when the first row shows what it must hold.
  void begin(const ImportRow& row) {
    if (begun_) return;
    begun_ = true;
    if (options_.settings) {
      session_.use_config(*options_.settings);
    } else if (row.text) {
      session_.use_text(options_.encoder);
    } else {
      if (options_.encoder.any()) {
        throw Failure(Exit::usage,
                      "--mask, --pattern, --dimension and --seed are for text, not for vectors");
      }
      Config config;
      config.dimension = static_cast<std::uint32_t>(row.key.size());
      config.value_dimension = static_cast<std::uint32_t>(row.value.size());
      config.encoder = options_.made_by;
      if (!config.encoder && !row.encoder.empty()) config.encoder = row.encoder;
      if (config.encoder && config.encoder->starts_with("dpcache-text/")) config.tau = kTextTau;
      if (row.value.empty()) config.value_update = ValueUpdate::first;
      session_.use_config(config);
    }
    Config probe = session_.cache().config();
    probe.gate.reset();
    probe.tau = 2.0F;  // one slot takes all
    probe.budget = BudgetKind::none;
    probe.max_slots.reset();
    probe_ = std::move(*Cache::create(probe));
  }

  // The row's key, from its text where it has one.
  std::span<const float> key_of(const ImportRow& row) {
    if (!row.text) return row.key;
    if (!vectors_) {
      if (!session_.encoder()) {
        encoder_ = encoder_of(session_.cache(), options_.encoder, options_.memory);
      }
      vectors_.emplace(session_.encoder() ? *session_.encoder() : *encoder_);
    }
    return vectors_->of(*row.text);
  }

  // An item of `row`, without an exact key. Its views live as long as the row does.
  Item item_of(const ImportRow& row) {
    Item item;
    item.key = key_of(row);
    item.value = row.value;
    item.payload = row.payload;
    item.time = row.time ? *row.time : session_.now();
    item.ttl_ms = row.ttl_ms;
    if (!row.text) item.encoder = row.encoder;
    return item;
  }

  // As many times as the row has exact keys, as an item can have one.
  Status observe(Cache& cache, const ImportRow& row) {
    Item item = item_of(row);
    const bool real = &cache == &session_.cache();
    for (std::size_t i = 0; i < std::max<std::size_t>(1, row.exact_keys.size()); ++i) {
      if (!row.exact_keys.empty()) item.exact_key = row.exact_keys[i];
      const auto decision = cache.observe(item);
      if (!decision) return decision.status;
      if (!real) continue;
      ++(decision->action == Action::allocate ? report_.opened : report_.merged);
    }
    return {};
  }

  // What is wrong with the row, or nothing; only the probe has taken it.
  std::string check(const ImportRow& row) {
    begin(row);
    const auto status = observe(probe_, row);
    // Its one slot would otherwise remember every exact key.
    if (probe_.stats().items % 1024 == 0) probe_ = std::move(*Cache::create(probe_.config()));
    return status ? "" : fault_of(status);
  }

  // Names a bad row, if not too many have been named.
  void tell(const std::string& fault) {
    if (++named_ <= kMostNamed) say("dpcache: " + place() + fault);
    if (named_ == kMostNamed + 1) say("dpcache: further bad rows are counted, not named");
  }

  void check_all() {
    ImportRow row;
    std::string fault;
    std::uint64_t rows = 0;
    while (rows_->next(row, fault)) {
      if (fault.empty()) fault = check(row);
      ++rows;
      if (!fault.empty()) {
        tell(fault);
        ++refused_;
      }
      tick("checking");
    }
    progress_.clear();
    if (refused_ > 0 && !stopping()) {
      report_.done.rows = rows;
      refuse();
    }
  }

  [[noreturn]] void refuse() {
    progress_.clear();
    throw Failure(Exit::input, options_.file + ": has " + plural(refused_, "bad row", "bad rows") +
                                   ", and nothing was imported (mend the file, or --skip-bad)");
  }

  // Passes over what an earlier run has taken.
  void go_on() {
    if (!fingerprint_ || !session_.was_loaded() || options_.begin == Begin::at_first_row) return;
    const auto& metadata = session_.cache().metadata();
    const auto kept = metadata.find(kPosition + *fingerprint_);
    if (kept == metadata.end()) return;
    const auto position = read_position(kept->second);
    if (!position) return;
    for (std::uint64_t n = 0; n < position->rows && rows_->skip(); ++n) tick("passing over");
    report_.before = position->rows;
    report_.done.rows = position->rows;
    report_.done.imported = position->imported;
    report_.done.bad = position->bad;
    if (options_.noise == Noise::usual) {
      say("dpcache: going on behind " + std::string(rows_->unit()) + ' ' + grouped(position->rows) +
          ", where an earlier run was stopped (--from-start begins anew)");
    }
  }

  void take_all() {
    ImportRow row;
    std::string fault;
    progress_.restart();
    while (rows_->next(row, fault)) {
      // Behind a bad row, the others are looked at, so that all are named.
      if (fault.empty()) fault = refused_ == 0 ? take(row) : check(row);
      report_.done.rows = rows_->number();
      if (!fault.empty()) {
        tell(fault);
        ++(options_.bad_rows == BadRows::skip ? report_.done.bad : refused_);
      }
      tick("importing");
      if (fingerprint_ && refused_ == 0 && Clock::now() >= next_save_) save(Position::kept);
    }
  }

  // What is wrong with the row; then nothing has changed.
  std::string take(const ImportRow& row) {
    begin(row);
    keep_apart();
    const auto status = observe(session_.cache(), row);
    if (!status) return fault_of(status);
    ++report_.done.imported;
    return {};
  }

  std::string fault_of(const Status& status) const {
    if (status.code == Error::full) throw Failure(Exit::resources, place() + status.detail);
    return (status.pointer.empty() ? "" : status.pointer + ": ") + status.detail;
  }

  // From the first row on, and again after each save.
  void keep_apart() {
    if (options_.apart == Apart::no || own_) return;
    own_ = session_.cache().config();
    Config config = *own_;
    config.gate.reset();
    config.tau = 0.0F;
    configure(config);
  }

  void give_tau_back() {
    if (!own_) return;
    configure(*own_);
    own_.reset();
  }

  void configure(const Config& config) {
    const auto status = session_.cache().configure(config, session_.now());
    if (!status) throw Failure(Exit::memory, options_.memory + ": " + status.detail);
  }

  enum class Position : bool { kept, none };

  void save(Position position) {
    give_tau_back();
    if (fingerprint_) {
      auto& metadata = session_.cache().metadata();
      const auto name = kPosition + *fingerprint_;
      if (position == Position::kept) {
        metadata[name] = write_position(report_.done);
      } else {
        metadata.erase(name);
      }
      session_.mark_changed();
    }
    session_.save();
    next_save_ = Clock::now() + std::chrono::milliseconds(options_.save_ms.value_or(kSaveMs));
  }

  void tick(const char* what) {
    if (rows_->number() % kTickRows != 0) return;
    const auto* input = rows_->input();
    std::string text = std::string(what) + "  " + grouped(rows_->number()) + " rows";
    double share = 0;
    if (input != nullptr && input->size() && *input->size() > 0) {
      share = static_cast<double>(input->consumed()) / static_cast<double>(*input->size());
    }
    if (begun_) text += "  " + grouped(session_.cache().size()) + " slots";
    progress_.update(text, share);
  }

  Ending stopped() {
    progress_.clear();
    std::string text =
        "dpcache: stopped behind " + std::string(rows_->unit()) + ' ' + grouped(report_.done.rows);
    if (!begun_ || report_.done.rows == report_.before) {
      text += "; nothing was imported";
    } else {
      save(Position::kept);
      text += fingerprint_ ? "; what was imported is saved (the same command goes on there)"
                           : "; what was imported is saved";
    }
    say(text);
    return {Exit::ok, stop_signal()};
  }

  void finish() {
    if (!begun_ && !session_.was_loaded()) {
      throw Failure(Exit::input, options_.file + ": has no rows to take, and " + options_.memory +
                                     " is not there (nothing was written)");
    }
    if (begun_ || report_.before > 0) save(Position::none);
    report_.slots = session_.cache().size();
    report_.bytes = session_.memory()->bytes();
    Output output;
    if (options_.format == Format::json) {
      output.add(json_of(report_) + '\n');
    } else {
      output.add(sentence() + '\n');
    }
    output.close();
  }

  std::string sentence() const {
    std::string text = plural(report_.done.imported, "row", "rows") +
                       " imported: " + grouped(report_.opened) + " new, " +
                       grouped(report_.merged) + " merged";
    if (report_.before > 0) text += ", the others before";
    if (report_.done.bad > 0)
      text += "; " + plural(report_.done.bad, "bad row", "bad rows") + " left out";
    return text + "; " + options_.memory + " has " + plural(report_.slots, "slot", "slots");
  }

  using Clock = std::chrono::steady_clock;

  const ImportOptions& options_;
  Session session_;
  Progress progress_;
  std::unique_ptr<ImportRows> rows_;
  std::optional<std::string> fingerprint_;
  Cache probe_;
  bool begun_ = false;
  std::optional<Config> own_;  // the memory's settings, while rows are kept apart
  std::optional<Encoder> encoder_;
  std::optional<RecentVectors> vectors_;
  std::uint64_t named_ = 0;
  std::uint64_t refused_ = 0;
  Clock::time_point next_save_ =
      Clock::now() + std::chrono::milliseconds(options_.save_ms.value_or(kSaveMs));
  ImportReport report_;
};

}  // namespace

Ending run_import(const ImportOptions& options) {
  return Import(options).run();
}

}  // namespace dpcache::cli
