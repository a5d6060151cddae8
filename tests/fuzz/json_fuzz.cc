// Texts read as JSON, and bytes written as JSON strings, by the library and by nlohmann/json.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "digits.h"
#include "fuzz/input.h"
#include "json.h"
#include "json_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dpcache;
  std::string text(size, '\0');
  if (size != 0) std::memcpy(text.data(), data, size);
  fuzz::require(oracle::tokens_of(text) == oracle::expected_tokens(text), "read otherwise:", text);

  std::string quoted;
  append_quoted(text, quoted);
  fuzz::require(quoted == oracle::expected_quoted(text), "written otherwise:", quoted);

  // What is taken is written again as something that is taken.
  if (const Result<Config> config = config_from_json(text)) {
    const Result<Config> again = config_from_json(to_json(*config));
    fuzz::require(again && *again == *config, "another config:", to_json(*config));
  }
  if (const auto header = header_from_json(text)) {
    fuzz::require(header_from_json(to_json(*header)).has_value(), "no header:", to_json(*header));
  }
  if (const auto counters = counters_from_json(text)) {
    fuzz::require(counters_from_json(to_json(*counters)).has_value(), "no counters:", text);
  }

  float x = 0.0F;
  std::memcpy(&x, text.data(), std::min(size, sizeof x));
  if (std::isfinite(x)) {
    const std::string shortest = shortest_decimal(x);
    fuzz::require(static_cast<float>(std::strtod(shortest.c_str(), nullptr)) == x,
                  "another float:", shortest);
  }
  return 0;
}
