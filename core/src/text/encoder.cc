// The encoder: checks its settings, spells and reads its id, and leads a text through own patterns,
// decomposition, masks and features to a unit vector.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "digits.h"
#include "dpcache/text.h"
#include "kernels.h"
#include "numerics.h"
#include "text/features.h"
#include "text/mask_scan.h"
#include "text/unicode.h"

namespace dpcache {
namespace {

constexpr std::string_view kFamily = "dpcache-text/";
constexpr std::string_view kVersion = "1";  // another vector for any text: another version
constexpr std::uint32_t kLeastDimension = 16;
constexpr std::uint32_t kMostDimension = 4096;
constexpr std::uint64_t kSeedEnd = std::uint64_t{1} << 53U;  // JavaScript numbers are exact below

unsigned mask_bits(const Masks& masks) {
  const bool on[] = {masks.number, masks.hex, masks.ip, masks.uuid, masks.time, masks.path};
  unsigned bits = 0;
  for (std::size_t kind = 0; kind < text::kBuiltinMasks; ++kind) bits |= unsigned{on[kind]} << kind;
  return bits;
}

Status bad_config(std::string pointer, std::string detail) {
  return {Error::bad_config, 0, std::move(pointer), std::move(detail)};
}

bool good_name(std::string_view name) {
  if (name.empty() || name.size() > text::kMaxMaskName || name[0] < 'a' || name[0] > 'z')
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (text::kByteClasses[static_cast<unsigned char>(c)] & text::kInName) != 0;
  });
}

Status check(const EncoderConfig& config) {
  if (config.dimension < kLeastDimension || config.dimension > kMostDimension) {
    return bad_config("/dimension", "dimension must be in [16, 4096]");
  }
  if (config.seed >= kSeedEnd) return bad_config("/seed", "seed must be below 2^53");
  const std::vector<Pattern>& own = config.masks.own;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string pointer = "/masks/own/" + whole_number(i);
    if (!good_name(own[i].name)) {
      return bad_config(pointer + "/name",
                        "a mask's name is [a-z][a-z0-9_]*, at most 32 characters");
    }
    const auto taken = [&own, i](std::string_view name) {
      return std::any_of(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(i),
                         [name](const Pattern& other) { return other.name == name; });
    };
    if (taken(own[i].name) || std::find(text::kMaskNames.begin(), text::kMaskNames.end(),
                                        own[i].name) != text::kMaskNames.end()) {
      return bad_config(pointer + "/name", "two masks have the name '" + own[i].name + "'");
    }
    if (!own[i].find) return bad_config(pointer + "/find", "an own mask needs its function");
  }
  return {};
}

// A mark of own patterns: their names, texts and order.
std::uint64_t hash_patterns(const std::vector<Pattern>& own) {
  std::uint64_t hash = own.size();
  for (const Pattern& pattern : own) {
    for (const std::string* part : {&pattern.name, &pattern.source}) {
      hash = mix64(hash ^ part->size());
      for (const char c : *part) hash = mix64(hash ^ static_cast<unsigned char>(c));
    }
  }
  return hash;
}

// Replaces the matches of the caller's patterns: the first match, then the next behind it. Where
// two begin at one place, the pattern that comes first wins.
Result<std::string> replace_own(std::string_view text, const std::vector<Pattern>& own) {
  const auto found = [](Range range, std::size_t from, std::size_t size) {
    return range.begin >= from && range.begin < range.end && range.end <= size;
  };
  std::vector<Range> next(own.size());
  bool failed = false;
  const auto find = [&](std::size_t i, std::size_t from) {
    const std::optional<Range> match = own[i].find(text, from);
    failed |= !match;
    next[i] = match.value_or(Range{});
  };
  for (std::size_t i = 0; i < own.size(); ++i) find(i, 0);
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const Pattern* best = nullptr;
    Range match{text.size(), text.size()};
    for (std::size_t i = 0; i < own.size(); ++i) {
      // An earlier match may have taken the beginning of this one.
      if (next[i].begin < next[i].end && next[i].begin < at) find(i, at);
      if (!found(next[i], at, text.size())) {
        next[i] = {};
      } else if (best == nullptr || next[i].begin < match.begin) {
        best = &own[i];
        match = next[i];
      }
    }
    if (failed) {
      return Status{Error::bad_request, 0, "/text", "an own mask failed on this text"};
    }
    out.append(text, at, match.begin - at);
    if (best == nullptr) return out;
    out.append("<").append(best->name).append(">");
    at = match.end;
  }
}

// Writes the masked text.
class Writer final : public text::TextSink {
 public:
  Writer(std::string_view text, std::string& out) : text_(text), out_(out) {}
  void literal(std::size_t begin, std::size_t end) override {
    out_.append(text_, begin, end - begin);
  }
  void masked(std::string_view name) override { out_.append("<").append(name).append(">"); }

 private:
  std::string_view text_;
  std::string& out_;
};

// Takes `text` behind own patterns and decomposition; it stays itself where neither has anything to
// do.
Status prepare(std::string_view& text, const std::vector<Pattern>& own, std::string& buffer) {
  if (!own.empty()) {
    Result<std::string> replaced = replace_own(text, own);
    if (!replaced) return replaced.status;
    buffer = std::move(*replaced);
    text = buffer;
  }
  if (!text::is_ascii(text)) {
    buffer = text::decomposed(text);
    text = buffer;
  }
  return {};
}

// Reads " name=value" off the front of `text`.
bool take_field(std::string_view& text, std::string_view name, std::string_view& value) {
  if (text.substr(0, 1) != " " || text.substr(1, name.size()) != name) return false;
  text.remove_prefix(1 + name.size());
  if (text.substr(0, 1) != "=") return false;
  text.remove_prefix(1);
  value = text.substr(0, text.find(' '));
  text.remove_prefix(value.size());
  return !value.empty();
}

template <class T>
bool take_number(std::string_view& text, std::string_view name, T& number) {
  std::string_view value;
  if (!take_field(text, name, value)) return false;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}

}  // namespace

Result<Encoder> Encoder::create(EncoderConfig config) {
  if (Status status = check(config); !status) return status;
  Encoder encoder;
  for (const Pattern& pattern : config.masks.own) encoder.own_names_.push_back(pattern.name);
  encoder.config_ = std::move(config);
  return encoder;
}

std::string Encoder::id() const {
  std::string id;
  id.append(kFamily).append(kVersion);
  id.append(" dimension=").append(whole_number(config_.dimension));
  id.append(" seed=").append(whole_number(config_.seed));
  id.append(" masks=").append(config_.masks.names());
  if (!config_.masks.own.empty()) id.append(" own=").append(hex(hash_patterns(config_.masks.own)));
  return id;
}

Result<Encoder> Encoder::from_id(std::string_view id, std::vector<Pattern> own) {
  const Status malformed{Error::bad_request, 0, "", "this is not the id of a text encoder"};
  if (id.substr(0, kFamily.size()) != kFamily) return malformed;
  std::string_view rest = id.substr(kFamily.size());
  const std::string_view version = rest.substr(0, rest.find(' '));
  if (version != kVersion) {
    return Status{Error::encoder_mismatch, 0, "",
                  "the encoder has version '" + std::string(version) +
                      "'; this build has version " + std::string(kVersion)};
  }
  rest.remove_prefix(version.size());
  EncoderConfig config;
  std::string_view masks;
  if (!take_number(rest, "dimension", config.dimension) ||
      !take_number(rest, "seed", config.seed) || !take_field(rest, "masks", masks)) {
    return malformed;
  }
  Result<Masks> parsed = Masks::parse(masks);
  if (!parsed) return malformed;
  std::string_view mark;
  if (!rest.empty() && (!take_field(rest, "own", mark) || !rest.empty())) return malformed;

  config.masks = std::move(*parsed);
  config.masks.own = std::move(own);
  Result<Encoder> encoder = create(std::move(config));
  if (!encoder) return encoder.status.pointer.substr(0, 10) == "/masks/own" ? encoder : malformed;
  const std::string spelled = encoder->id();
  if (spelled == id) return encoder;
  const auto without_own = [](std::string_view whole) {
    return whole.substr(0, whole.find(" own="));
  };
  if (without_own(spelled) != without_own(id)) return malformed;
  return Status{Error::encoder_mismatch, 0, "", "the encoder has other masks of its own"};
}

Status Encoder::encode(std::string_view text, std::span<float> out) const {
  if (out.size() != config_.dimension) {
    return {Error::bad_shape, 0, "",
            "the vector must have " + whole_number(config_.dimension) + " components"};
  }
  alignas(kAlignment) std::array<float, kMostDimension> scratch;
  const std::span<float> sums = std::span(scratch).first(config_.dimension);
  std::memset(sums.data(), 0, sums.size_bytes());

  std::string buffer;
  if (Status status = prepare(text, config_.masks.own, buffer); !status) return status;
  text::Features features(text, config_.seed, sums);
  text::scan(text, mask_bits(config_.masks), own_names_, features);
  if (!features.finish()) sums[0] = 1.0F;
  kernels::normalise(sums, std::span(scratch).first(padded(config_.dimension)));
  std::copy(sums.begin(), sums.end(), out.begin());
  return {};
}

Result<std::string> Encoder::mask(std::string_view text) const {
  std::string buffer;
  if (Status status = prepare(text, config_.masks.own, buffer); !status) return status;
  std::string out;
  out.reserve(text.size());
  Writer writer(text, out);
  text::scan(text, mask_bits(config_.masks), own_names_, writer);
  return out;
}

}  // namespace dpcache
