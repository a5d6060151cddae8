// How this command line writes JSON.
#ifndef DPCACHE_CLI_JSON_TEXT_H_
#define DPCACHE_CLI_JSON_TEXT_H_

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace dpcache::cli {

// On one line; bytes that are not UTF-8 become U+FFFD.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// The double whose shortest form is that of `number`: 0.4, where a plain conversion would print
// 0.4000000059604645.
inline double json_number(float number) {
  const auto text = shortest(number);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_JSON_TEXT_H_
