// The cache of a run.
#include "cli/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/encoding.h"
#include "cli/failure.h"

namespace dpcache::cli {
namespace {

template <class T, class U>
void set(T& to, const std::optional<U>& from) {
  if (from) to = *from;
}

Config with_options(Config config, const CacheOptions& options) {
  if (options.tau) {
    config.tau = options.tau;
    config.gate.reset();
  }
  // A gate that learns goes on from where it has come to.
  const bool learned = config.correction_rate && options.correction_rate;
  if (options.gate && !learned) {
    config.gate = options.gate;
    config.tau.reset();
  }
  set(config.key_update, options.key_update);
  set(config.usage_decay, options.usage_decay);
  set(config.budget, options.budget);
  set(config.max_slots, options.max_slots);
  set(config.m0, options.m0);
  set(config.beta, options.beta);
  set(config.eta, options.eta);
  set(config.shrink, options.shrink);
  set(config.ttl_ms, options.ttl_ms);
  set(config.tau_merge, options.tau_merge);
  set(config.guards, options.guards);
  set(config.audit, options.audit);
  set(config.correction_rate, options.correction_rate);
  return config;
}

// What a bad setting is called on the command line: "/max_slots" is --max-slots.
std::string option_of(const Status& status) {
  if (status.pointer.size() < 2) return "";
  auto name = status.pointer.substr(1, status.pointer.find('/', 1) - 1);
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "ttl-ms") name = "ttl";
  if (name == "guards") name = "guard";
  return "--" + name + ": ";
}

// An option that the rest of the settings leave without effect is a mistake that should be seen.
void check_effect(const Config& config, const CacheOptions& options) {
  const auto refuse = [](const char* why) { throw Failure(Exit::usage, why); };
  if (options.m0 && config.budget == BudgetKind::none) {
    refuse("--m0 has no effect without --budget fixed, adaptive or ghost");
  }
  if ((options.beta || options.eta) && config.budget != BudgetKind::adaptive) {
    refuse("--beta and --eta have no effect without --budget adaptive");
  }
  if (options.shrink && config.budget == BudgetKind::none && !config.max_slots) {
    refuse("--shrink has no effect without --budget or --max-slots");
  }
  if (options.usage_decay && config.budget == BudgetKind::none && !config.max_slots) {
    refuse("--usage-decay has no effect without --budget or --max-slots");
  }
}

}  // namespace

Session::Session(const std::optional<std::string>& memory, const CacheOptions& options,
                 std::optional<std::int64_t> time)
    : options_(options), time_(time) {
  if (!memory) return;
  file_.emplace(*memory);
  if (auto cache = file_->take()) {
    cache_ = std::move(*cache);
    loaded_ = was_loaded_ = true;
  }
}

void Session::use_text(const EncoderOptions& options) {
  if (loaded_) {
    encoder_ = encoder_of(cache_, options, file_->path());
    check_gate(encoder_->id());
    go_on();
    return;
  }
  encoder_ = new_encoder(options);
  check_gate(encoder_->id());
  Config config;
  config.dimension = encoder_->config().dimension;
  config.encoder = encoder_->id();
  config.tau = kTextTau;
  // A slot's payload is its first line; a merge leaves it alone.
  config.value_update = ValueUpdate::first;
  begin(std::move(config));
  keep_masks(cache_, options.own);
}

// A gate is for vectors of the kind that it was learned on.
void Session::check_gate(const std::optional<std::string>& encoder) const {
  const auto& its = options_.gate_encoder;
  if (!its || its == encoder) return;
  throw Failure(Exit::usage, "--gate: was learned on vectors made by '" + *its + "', these are " +
                                 (encoder ? "made by '" + *encoder + "'"
                                          : std::string("of no named encoder (--encoder)")));
}

void Session::use_vectors(std::uint32_t dimension, const std::optional<std::string>& made_by) {
  check_gate(made_by);
  if (!loaded_) {
    Config config;
    config.dimension = dimension;
    config.encoder = made_by;
    config.value_update = ValueUpdate::first;
    begin(std::move(config));
    return;
  }
  const auto& its = cache_.config();
  const auto refuse = [this](const std::string& why) {
    throw Failure(Exit::memory, file_->path() + ": " + why);
  };
  if (its.dimension != dimension) {
    refuse("holds vectors of length " + std::to_string(its.dimension) + ", these have length " +
           std::to_string(dimension) + " (use another memory)");
  }
  if (its.encoder != made_by) {
    const auto words = [](const std::optional<std::string>& name) {
      return name ? "made by '" + *name + "'" : std::string("of no named encoder");
    };
    refuse("holds vectors " + words(its.encoder) + ", these are " + words(made_by) +
           " (--encoder, or another memory)");
  }
  go_on();
}

void Session::use_config(const Config& config) {
  if (loaded_) {
    use_vectors(config.dimension, config.encoder);
  } else {
    check_gate(config.encoder);
    begin(config);
  }
}

void Session::begin(Config config) {
  config = with_options(std::move(config), options_);
  check_effect(config, options_);
  auto cache = Cache::create(config);
  if (!cache) throw Failure(Exit::usage, option_of(cache.status) + cache.status.detail);
  cache_ = std::move(*cache);
}

void Session::go_on() {
  first_new_ = cache_.stats().next_id;
  saved_seq_ = cache_.stats().seq;
  const auto config = with_options(cache_.config(), options_);
  check_effect(config, options_);
  if (config == cache_.config()) return;
  const auto status = cache_.configure(config, now());
  if (!status) {
    throw Failure(Exit::memory, file_->path() + ": " + option_of(status) + status.detail);
  }
}

std::int64_t Session::clock() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

void Session::save() {
  if (!file_) return;
  if (loaded_ && cache_.stats().seq == saved_seq_) return;
  file_->save(cache_);
  loaded_ = true;
  saved_seq_ = cache_.stats().seq;
}

}  // namespace dpcache::cli
