// The ranges of the settings.
#include "dpcache/config.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "gate.h"

namespace dpcache {

namespace {

// Collects the first problem.
class Checker {
 public:
  void require(bool holds, const char* field, const char* detail) {
    if (!holds && status_) status_ = {Error::bad_config, 0, std::string("/") + field, detail};
  }
  Status status() && { return std::move(status_); }

 private:
  Status status_;
};

bool is_name(const std::string& name) noexcept {
  constexpr std::size_t kLongest = 1024;
  return !name.empty() && name.size() <= kLongest &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Comparisons with NaN are false, so every range refuses it.
bool within(float x, float low, float high) noexcept {
  return x >= low && x <= high;
}

}  // namespace

Status check(const Config& config) {
  Checker check;
  check.require(config.dimension >= 1 && config.dimension <= kMaxDimension, "dimension",
                "dimension must be an integer from 1 to 65536");
  check.require(config.value_dimension <= kMaxDimension, "value_dimension",
                "value_dimension must be an integer from 0 to 65536");
  check.require(!config.tau || within(*config.tau, 0.0F, 2.0F), "tau",
                "tau must be from 0 (merge exact repeats only) to 2 (merge everything)");
  check.require(!config.tau || !config.gate, "tau", "give either tau or gate, not both");
  if (config.gate) {
    check.require(config.gate->a > 0.0F && std::isfinite(config.gate->a), "gate/a",
                  "gate.a must be above 0: the gate opens as novelty rises");
    check.require(within(config.gate->b, 0.0F, 2.0F), "gate/b",
                  "gate.b is a novelty: it must be from 0 to 2");
  }
  check.require(within(config.theta, 1e-4F, 100.0F), "theta", "theta must be from 0.0001 to 100");
  check.require(config.ema > 0.0F && config.ema <= 1.0F, "ema", "ema must be above 0, at most 1");
  check.require(config.usage_decay > 0.0F && config.usage_decay <= 1.0F, "usage_decay",
                "usage_decay must be above 0, at most 1 (no decay)");
  check.require(!config.max_slots || (*config.max_slots >= 1 &&
                                      *config.max_slots <= static_cast<std::uint64_t>(kMaxInteger)),
                "max_slots", "max_slots must be at least 1, or left out");
  check.require(within(config.m0, 1.0F, 0x1p24F), "m0", "m0 must be from 1 to 16777216");
  check.require(within(config.beta, 0.0F, 0x1p24F), "beta", "beta must be from 0 to 16777216");
  check.require(config.eta > 0.0F && config.eta <= 1.0F, "eta", "eta must be above 0, at most 1");
  check.require(!config.null_similarity || within(*config.null_similarity, -1.0F, 1.0F),
                "null_similarity", "null_similarity must be from -1 to 1");
  check.require(!config.ttl_ms || (*config.ttl_ms >= 0 && *config.ttl_ms <= kMaxInteger), "ttl_ms",
                "ttl_ms must be an integer from 0 to 2^53 - 1, or left out");
  check.require(config.key_update <= KeyUpdate::centroid, "key_update",
                "key_update must be frozen or centroid");
  check.require(config.value_update <= ValueUpdate::ema, "value_update",
                "value_update must be first, last, mean or ema");
  check.require(config.budget <= BudgetKind::ghost, "budget",
                "budget must be none, fixed, adaptive or ghost");
  check.require(config.shrink <= Shrink::merge, "shrink", "shrink must be evict or merge");
#if DPCACHE_TRUST
  check.require(!config.tau_merge || within(*config.tau_merge, 0.0F, threshold(config)),
                "tau_merge", "tau_merge is a novelty: from 0 to the threshold (tau, or gate.b)");
  if (config.correction_rate) {
    check.require(*config.correction_rate > 0.0F && *config.correction_rate <= 1.0F,
                  "correction_rate", "correction_rate must be above 0, at most 1, or left out");
    check.require(config.gate.has_value(), "correction_rate",
                  "correction_rate needs a gate: a tau stays as it is");
    check.require(!config.gate || within(config.gate->a, kLeastOnlineSlope, kLargestOnlineSlope),
                  "gate/a", "gate.a must be from 1 to 1000 to learn from corrections");
  }
  check.require(config.audit <= Audit::full, "audit", "audit must be none, ids or full");
  check.require(config.audit_members >= 2 && config.audit_members <= (1U << 20U), "audit_members",
                "audit_members must be an integer from 2 to 1048576");
#endif
  check.require(!config.encoder || is_name(*config.encoder), "encoder",
                "encoder must be 1 to 1024 printable ASCII characters");
  return std::move(check).status();
}

float threshold(const Config& config) noexcept {
  if (config.gate) return config.gate->b;
  return config.tau ? *config.tau : kDefaultTau;
}

const char* to_string(Error code) noexcept {
  switch (code) {
    case Error::ok:
      return "ok";
    case Error::bad_request:
      return "bad_request";
    case Error::bad_config:
      return "bad_config";
    case Error::bad_shape:
      return "bad_shape";
    case Error::not_finite:
      return "not_finite";
    case Error::zero_norm:
      return "zero_norm";
    case Error::bad_snapshot:
      return "bad_snapshot";
    case Error::encoder_mismatch:
      return "encoder_mismatch";
    case Error::not_found:
      return "not_found";
    case Error::conflict:
      return "conflict";
    case Error::full:
      return "full";
  }
  return "unknown";
}

}  // namespace dpcache
