// From text to vectors.
#include "cli/encoding.h"

#include <re2/re2.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/failure.h"

namespace dpcache::cli {
namespace {

constexpr const char* kMasksKey = "own_masks";
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
constexpr std::size_t kLongestKept = 1024;

[[noreturn]] void refuse(const Status& status) {
  throw Failure(Exit::usage, status.detail);
}

std::function<Range(std::string_view, std::size_t)> searcher(const OwnMask& mask) {
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(mask.regex, options);
  if (!regex->ok()) {
    throw Failure(Exit::usage, "--pattern " + mask.name + ": " + regex->error());
  }
  if (RE2::FullMatch("", *regex)) {
    throw Failure(Exit::usage,
                  "--pattern " + mask.name + ": matches the empty text (perhaps + instead of *)");
  }
  return [regex](std::string_view text, std::size_t from) {
    re2::StringPiece found;
    while (from < text.size() &&
           regex->Match(text, from, text.size(), RE2::UNANCHORED, &found, 1)) {
      const auto begin = static_cast<std::size_t>(found.data() - text.data());
      if (!found.empty()) return Range{begin, begin + found.size()};
      from = begin + 1;  // such as \b, which takes no room
    }
    return Range{};
  };
}

EncoderConfig with_options(EncoderConfig config, const EncoderOptions& options) {
  if (options.masks) {
    auto masks = Masks::parse(*options.masks);
    if (!masks) throw Failure(Exit::usage, "--mask: " + masks.status.detail);
    masks->own = std::move(config.masks.own);
    config.masks = std::move(*masks);
  }
  if (!options.own.empty()) config.masks.own = compile(options.own);
  if (options.dimension) config.dimension = *options.dimension;
  if (options.seed) config.seed = *options.seed;
  return config;
}

std::vector<OwnMask> kept_masks(const Cache& memory) {
  const auto found = memory.metadata().find(kMasksKey);
  if (found == memory.metadata().end()) return {};
  return read_masks(found->second).value_or(std::vector<OwnMask>{});
}

}  // namespace

std::vector<Pattern> compile(const std::vector<OwnMask>& masks) {
  std::vector<Pattern> patterns;
  patterns.reserve(masks.size());
  for (const auto& mask : masks) patterns.push_back({mask.name, mask.regex, searcher(mask)});
  return patterns;
}

Encoder new_encoder(const EncoderOptions& options) {
  EncoderConfig config;
  config.masks = Masks::all();
  auto encoder = Encoder::create(with_options(std::move(config), options));
  if (!encoder) refuse(encoder.status);
  return std::move(*encoder);
}

Encoder encoder_of(const Cache& memory, const EncoderOptions& options, const std::string& path) {
  const auto& id = memory.config().encoder;
  if (!id) {
    throw Failure(Exit::memory,
                  path + ": holds vectors, not text (give vectors, or another memory)");
  }
  auto its = Encoder::from_id(*id, compile(kept_masks(memory)));
  if (!its && !options.own.empty()) its = Encoder::from_id(*id, compile(options.own));
  if (!its) {
    throw Failure(Exit::memory,
                  path + ": its items were made by '" + *id + "': " + its.status.detail);
  }
  if (!options.any()) return std::move(*its);
  auto asked = Encoder::create(with_options(its->config(), options));
  if (!asked) refuse(asked.status);
  if (asked->id() != *id) {
    throw Failure(Exit::memory, path + ": was made by '" + *id + "', this run asks for '" +
                                    asked->id() +
                                    "' (leave those options away, or use another memory)");
  }
  return std::move(*its);
}

void keep_masks(Cache& memory, const std::vector<OwnMask>& masks) {
  if (!masks.empty()) memory.metadata()[kMasksKey] = write_masks(masks);
}

RecentVectors::RecentVectors(const Encoder& encoder)
    : encoder_(encoder),
      dimension_(encoder.config().dimension),
      entries_(std::bit_floor(std::min(kMostEntries, kMostBytes / (dimension_ * sizeof(float))))),
      vectors_(std::make_unique_for_overwrite<float[]>((entries_.size() + 1) * dimension_)) {}

std::span<const float> RecentVectors::of(std::string_view text) {
  const auto vector = [this](std::size_t at) {
    return std::span<float>(vectors_.get() + at * dimension_, dimension_);
  };
  const auto encode = [&](std::size_t at) {
    if (const auto status = encoder_.encode(text, vector(at)); !status) refuse(status);
    return vector(at);
  };
  if (text.size() > 4 * kLongestKept) return encode(entries_.size());
  auto masking = encoder_.mask(text);
  if (!masking) refuse(masking.status);
  auto& masked = *masking;
  if (masked.size() > kLongestKept) return encode(entries_.size());
  const auto at = std::hash<std::string_view>{}(masked) & (entries_.size() - 1);
  auto& entry = entries_[at];
  if (!entry.used || entry.masked != masked) {
    entry.used = false;
    encode(at);
    entry.masked = std::move(masked);
    entry.used = true;
  }
  return vector(at);
}

}  // namespace dpcache::cli
