// Numbers and durations on the command line: read whole, rounded once, or refused.
#ifndef DPCACHE_CLI_NUMBERS_H_
#define DPCACHE_CLI_NUMBERS_H_

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "cli/failure.h"

namespace dpcache::cli {

// The number that `text` is, in decimal and wholly; Failure(usage) that names the option if it is
// not one. Floats go straight from text to float32.
template <class T>
T parse_number(std::string_view text, std::string_view option) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good = error == std::errc() && end == text.data() + text.size();
  if constexpr (std::is_floating_point_v<T>) good = good && std::isfinite(value);
  if (good) return value;
  const char* kind = std::is_floating_point_v<T> ? "a number"
                     : std::is_unsigned_v<T>     ? "a whole number from 0 up"
                                                 : "a whole number";
  throw Failure(Exit::usage, std::string(option) + ": '" + std::string(text) + "' is not " + kind +
                                 (error == std::errc::result_out_of_range ? " that fits" : ""));
}

// Milliseconds from "250ms", "90s", "15m", "36h", "7d" or "2w".
std::int64_t parse_duration(std::string_view text, std::string_view option);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_NUMBERS_H_
