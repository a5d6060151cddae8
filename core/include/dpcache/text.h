// Text without a model: masks for the parts of a line that vary, and a deterministic encoder from
// text to unit vector.
#ifndef DPCACHE_TEXT_H_
#define DPCACHE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/error.h"

namespace dpcache {

// A half-open byte range [begin, end) of a text. Empty means "nothing found".
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A caller's own mask. `find` returns the first match at or after `from`, or an empty range; it
// must depend on its arguments alone. `source` (the pattern's text) goes into the encoder id,
// hashed: two memories with other patterns do not mix. Own patterns are outside the promise of the
// same bits everywhere, because their engine (RE2 natively, RegExp in JavaScript) is the caller's.
struct Pattern {
  std::string name;  // [a-z][a-z0-9_]*, stands in the masked text as <name>
  std::string source;
  std::function<Range(std::string_view text, std::size_t from)> find;
};

// Which varying parts of a text are replaced by a name before it is encoded, e.g. <number>.
// All off by default: with them off, "37 snapshots" and "15 snapshots" are two texts.
// Built-in masks take time linear in the text and give the same result on every platform.
struct Masks {
  bool number = false;  // 42, -3.5, 1e9, 10,000, 5ms: a run that starts with a digit
  bool hex = false;     // 0xBEEF, and bare runs of at least 6 hex digits with a digit among them
  bool ip = false;      // IPv4 and IPv6, with a port if there is one
  bool uuid = false;    // 8-4-4-4-12 hex digits
  bool time = false;    // dates and times of day: 2026-11-29T12:00:00Z, 12:00:01.5, Nov 29
  bool path = false;    // /var/log/x, C:\x\y, https://host/x
  std::vector<Pattern> own;  // tried before the built-in ones, in this order

  static Masks all();  // every built-in mask on
  // "number,hex": names in the order above, separated by commas; "all" and "none" are allowed.
  static Result<Masks> parse(std::string_view names);
  // The built-in masks that are on, as parse reads them; "none" if there are none.
  std::string names() const;
};

struct EncoderConfig {
  std::uint32_t dimension = 256;  // [16, 4096]
  std::uint64_t seed = 0;         // < 2^53; another seed gives an unrelated space
  Masks masks;
};

// The tau that suits this encoder's vectors, with masks on or off: of the settings tried, the middle
// of those that group log lines best (bench/grouping.md). Lower it to keep more apart.
inline constexpr float kTextTau = 0.18F;

// Turns text into a unit vector by hashing features: words with their position, and character
// n-grams. No model, no training, no state: the vector depends on the text and the config alone, in
// the same bits on every platform. Canonically equivalent texts (NFC, NFD) give one vector.
// Invalid UTF-8 is read as U+FFFD; NUL is a character like any other. A text without features
// (empty, only blanks) has one fixed unit vector.
// Thread rule: const calls may run together.
class Encoder {
 public:
  Encoder() = default;  // the default config
  // bad_config: a dimension, seed or pattern name out of its range.
  static Result<Encoder> create(EncoderConfig config);
  // Rebuilds the encoder that an id names, as a memory file stores it. `own` must be the patterns
  // that the id was made with, if any. bad_request: not an id of this encoder; encoder_mismatch: a
  // version that this build does not have, or other own patterns.
  static Result<Encoder> from_id(std::string_view id, std::vector<Pattern> own = {});

  // Spells out everything that the vectors depend on, e.g.
  // "dpcache-text/1 dimension=256 seed=0 masks=number,hex". Equal ids, equal vectors.
  std::string id() const;
  const EncoderConfig& config() const noexcept { return config_; }

  // Writes the unit vector of `text` to `out` (length: dimension). Time linear in the text; working
  // memory at most a small multiple of it.
  Status encode(std::string_view text, std::span<float> out) const;
  // The text with its masked parts replaced by their names; what encode sees.
  std::string mask(std::string_view text) const;

 private:
  EncoderConfig config_;
  std::vector<std::string> own_names_;
};

}  // namespace dpcache

#endif  // DPCACHE_TEXT_H_
