// Durations on the command line.
#include "cli/numbers.h"

#include <array>
#include <limits>
#include <utility>

namespace dpcache::cli {

std::int64_t parse_duration(std::string_view text, std::string_view option) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{{
      {"ms", 1},
      {"s", 1000},
      {"m", 60 * 1000},
      {"h", 60 * 60 * 1000},
      {"d", 24 * 60 * 60 * 1000},
      {"w", 7 * 24 * 60 * 60 * 1000},
  }};
  for (const auto& [unit, milliseconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto digits = text.substr(0, text.size() - unit.size());
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
      continue;
    const auto count = parse_number<std::int64_t>(digits, option);
    if (count > std::numeric_limits<std::int64_t>::max() / milliseconds) break;
    return count * milliseconds;
  }
  throw Failure(Exit::usage, std::string(option) + ": '" + std::string(text) +
                                 "' is not a duration, such as 90s, 36h or 7d");
}

}  // namespace dpcache::cli
