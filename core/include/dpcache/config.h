// The settings of a cache: names, defaults and ranges, the same in C++, JSON and TypeScript.
#ifndef DPCACHE_CONFIG_H_
#define DPCACHE_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dpcache/error.h"

// Whether the library has what makes merges trustworthy: the uncertain band, guards for text, the
// audit and corrections (dpcache/trust.h). 0 only in the WebAssembly module that pages load first,
// for its size; whoever builds the library with 0 must include its headers with 0.
#ifndef DPCACHE_TRUST
#define DPCACHE_TRUST 1
#endif

#if DPCACHE_TRUST
#include "dpcache/guards.h"
#endif

namespace dpcache {

// Source of the equation numbers in brackets: Pal & Rojkova, "Remembering distinct items, not
// tokens", arXiv 2607.09889 (2026).

// What a merge does to the slot's key. A slot with frozen keys keeps its first item's key; a
// centroid is the mean of the merged unit keys, brought back to unit length.
enum class KeyUpdate : std::uint8_t { frozen, centroid };

// What a merge does to the slot's value: keep the first, take the last, the mean of all (for
// one-hot values: the share of votes), or move by `ema` of the way to the new one. The payload
// follows `first` and `last`; `mean` and `ema` keep the last payload.
enum class ValueUpdate : std::uint8_t { first, last, mean, ema };

// What limits the number of slots: nothing, M = m0, M = m0 + beta T [eq. 5], or the ghost list: M
// rises by 1 when a key comes back that was evicted lately, and falls by 0.2 with every merge.
enum class BudgetKind : std::uint8_t { none, fixed, adaptive, ghost };

// How the cache shrinks when it has more slots than its budget: the slot with the least usage is
// dropped [eq. 6], or folded into the slot that is nearest to it.
enum class Shrink : std::uint8_t { evict, merge };

#if DPCACHE_TRUST
// What a cache keeps of the items that its slots absorbed: nothing; about 110 bytes an item, with
// its id; or all of the item, 4 (d + v) bytes, its payload and its text besides, so that a merge
// can be undone exactly.
enum class Audit : std::uint8_t { none, ids, full };
#endif

// The learned gate g(nov) = sigmoid(a (nov - b)) [eq. 2]. Hard rule: allocate iff nov > b.
struct Gate {
  float a = 10.0F;  // > 0
  float b = 0.4F;   // [0, 2], a novelty like tau

  bool operator==(const Gate&) const = default;
};

inline constexpr float kDefaultTau = 0.4F;
inline constexpr std::uint32_t kMaxDimension = 65536;
// Ids, counters, times and durations stay below 2^53, so that JavaScript's numbers hold them.
inline constexpr std::int64_t kMaxInteger = (std::int64_t{1} << 53) - 1;

struct Config {
  std::uint32_t dimension = 0;  // length of a key, [1, 65536]; has no default
  std::uint32_t value_dimension =
      0;  // length of a value, [0, 65536]; 0: slots have no value vector

  // The novelty threshold: an item opens a slot iff 1 - max cosine > tau. In [0, 2]; 0 merges exact
  // repeats only. Note that it is a novelty: a similarity of .6 is a tau of .4. Not together with
  // `gate`.
  std::optional<float> tau;  // unset, and no gate: kDefaultTau
  std::optional<Gate> gate;

  float theta = 0.05F;  // temperature of the readout [eq. 3], [1e-4, 100]

  KeyUpdate key_update = KeyUpdate::frozen;
  ValueUpdate value_update = ValueUpdate::last;
  float ema = 0.5F;          // rate of ValueUpdate::ema, (0, 1]
  float usage_decay = 1.0F;  // factor on every usage per observed item, (0, 1]; 1: plain counts
  // Keep the sum of each slot's keys, 8 x dimension bytes a slot, which consolidate() needs. Always
  // kept with KeyUpdate::centroid.
  bool keep_sums = false;

  BudgetKind budget = BudgetKind::none;
  std::optional<std::uint64_t> max_slots;  // hard cap in every mode, >= 1
  float m0 = 1024.0F;                      // [1, 2^24]
  float beta = 1024.0F;                    // [0, 2^24]
  float eta = 0.05F;                       // rate of the surprise T [eq. 4], (0, 1]
  Shrink shrink = Shrink::evict;

  // Similarity of the null slot, [-1, 1]. Set: a query unlike every slot gives weight to "unknown".
  std::optional<float> null_similarity;
  // How long a slot lives, in milliseconds from its first item; an item can bring its own.
  std::optional<std::int64_t> ttl_ms;  // [0, 2^53)
  // Names what made the vectors. A memory refuses items that name another encoder.
  std::optional<std::string> encoder;

#if DPCACHE_TRUST
  // An item whose novelty is above tau_merge but not above the threshold is uncertain: a judge is
  // asked (Cache::on_uncertain), or it opens a slot, and the pair is listed for review. From 0 to
  // the threshold; unset, or the threshold itself: no item is.
  std::optional<float> tau_merge;
  // Whether slots list what they absorbed, and how many of it each. Where a slot has more items,
  // its oldest but the first are forgotten, an eighth of the list at once, and it cannot be split.
  Audit audit = Audit::none;
  std::uint32_t audit_members = 1024;  // [2, 2^20]
  // Guards that look at the texts of items (dpcache/guards.h): where one of them stops a merge, the
  // next nearest slots are tried. A slot keeps the text of its first item that has one. With
  // Guard::scope items of another scope never share a slot, whatever their texts.
  GuardSet guards;
  // Corrections and a judge's answers teach the gate: each same or different moves gate.b by at
  // most so much, and gate.a in proportion (OnlineGate of dpcache/train.h). (0, 1]; .02 is a good
  // one. Only with a gate whose a is from 1 to 1000; b stays at or above tau_merge. config() tells
  // where the gate has come to, and configure() sets it. Unset: the gate stays as it is.
  std::optional<float> correction_rate;
#endif

  bool operator==(const Config&) const = default;
};

// Whether a config can be used. bad_config with a pointer to the field and a sentence with its
// range.
Status check(const Config& config);

// The threshold on novelty that decides: gate.b, or tau, or kDefaultTau.
float threshold(const Config& config) noexcept;

// One flat JSON object, the keys named as above, unset options left out, floats in the shortest
// form that gives the same float32 back. The same text on every platform.
std::string to_json(const Config& config);
// The config in `json`, checked. Unknown keys and wrong types are bad_config with a pointer to
// them; text that is not a JSON object is bad_request. Numbers are rounded to float32 once.
Result<Config> config_from_json(std::string_view json);

}  // namespace dpcache

#endif  // DPCACHE_CONFIG_H_
