// Text without a model: masks for the parts of a line that vary, and a deterministic encoder from
// text to unit vector.
#ifndef DPCACHE_TEXT_H_
#define DPCACHE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// A caller's own mask. `find` returns the first match at or after `from`, or an empty range, or
// nullopt if it failed (as an engine can that runs out of stack); it must depend on its arguments
// alone. `source` (the pattern's text) goes into the encoder id,
// hashed: two memories with other patterns do not mix. Own patterns are outside the promise of the
// same bits everywhere, because their engine (RE2 natively, RegExp in JavaScript) is the caller's.
struct Pattern {
  std::string name;  // [a-z][a-z0-9_]*, stands in the masked text as <name>
  std::string source;
  std::function<std::optional<Range>(std::string_view text, std::size_t from)> find;
};

// Which varying parts of a text are replaced by a name before it is encoded, e.g. <number>.
// All off by default: with them off, "37 snapshots" and "15 snapshots" are two texts.
// Built-in masks take time linear in the text, give the same result on every platform, and change
// nothing that is masked already: a <number> that stands in the text stays. Where two fit, the one
// that begins first wins, then time, uuid, ip, hex, path, number.
struct Masks {
  // 42, -3.5, 1e-9, 10,000, 1.2.3: digits, alone or in a word (blk_42, node-7), with the letters
  // and digits behind them (5ms)
  bool number = false;
  bool hex = false;   // 0xBEEF; six hex digits or more with a digit and a letter; MAC addresses
  bool ip = false;    // IPv4 and IPv6, with a port if there is one
  bool uuid = false;  // 8-4-4-4-12 hex digits
  bool time = false;  // dates, times of day, and both: 2026-11-29T12:00:00Z, 12:00:01.5, Nov 29
  bool path = false;  // /var/log/x, ./x, C:\x\y, \\host\x, https://host/x
  std::vector<Pattern> own;  // replaced before the built-in ones; of two at one place the first

  static Masks all();  // every built-in mask on
  // "number,hex": names separated by commas; or "all", or "none". bad_config: another name.
  static Result<Masks> parse(std::string_view names);
  // The built-in masks that are on, as parse reads them; "none" if there are none.
  std::string names() const;
};

struct EncoderConfig {
  std::uint32_t dimension = 256;  // [16, 4096]
  std::uint64_t seed = 0;         // < 2^53; another seed gives an unrelated space
  Masks masks;
};

// The tau that suits this encoder's vectors: in the middle of the range that groups log lines best
// (bench/grouping.md). A smaller one keeps more apart.
inline constexpr float kTextTau = 0.17F;

// Turns text into a unit vector by hashing features: words, each with the one before it, and
// character trigrams (core/src/text/features.h). No model, no training, no state: the vector
// depends on the text and the config alone, in the same bits on every platform. Canonically
// equivalent texts (NFC, NFD) give one vector. Invalid UTF-8 is read as U+FFFD; NUL is a character
// like any other. A text without features (empty, only blanks) has one fixed unit vector.
//
// It compares wording, not meaning: a paraphrase in other words is new to it, and one word that
// turns the meaning (on, off, not) changes a long text little.
//
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
  // "dpcache-text/1 dimension=256 seed=0 masks=number,hex", and " own=" with a hash of the own
  // masks' names and sources. Equal ids, equal vectors.
  std::string id() const;
  const EncoderConfig& config() const noexcept { return config_; }

  // Writes the unit vector of `text` to `out` (length: dimension; else bad_shape). Linear time.
  // Allocates nothing for ASCII text without own masks. Other text is decomposed into a buffer:
  // about its own size as a rule, six times that for hostile bytes. bad_request: an own mask
  // failed.
  Status encode(std::string_view text, std::span<float> out) const;
  // What encode sees: the text in canonical decomposition, with its masked parts replaced by their
  // names. Two texts that give the same have the same vector, which is also that of the result.
  // bad_request: an own mask failed.
  Result<std::string> mask(std::string_view text) const;

 private:
  EncoderConfig config_;
  std::vector<std::string> own_names_;
};

}  // namespace dpcache

#endif  // DPCACHE_TEXT_H_
