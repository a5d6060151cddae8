// Percent-decoding (RFC 3986), after the parts have been told apart.
#include "api/target.h"

#include <algorithm>

namespace dpcache::server {

namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool decode(std::string_view text, bool plus, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = hex(text[i + 1]);
      const int low = hex(text[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    if (c == '\0') return false;
    out += c;
  }
  return true;
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  Target parsed;
  const std::size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (path.empty() || path[0] != '/') return {};
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!decode(path.substr(0, end), false, parsed.path.emplace_back())) return {};
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::string_view query =
      question == target.npos ? std::string_view() : target.substr(question + 1);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto& [name, value] = parsed.query.emplace_back();
    if (!decode(pair.substr(0, equals), true, name)) return {};
    if (equals < pair.size() && !decode(pair.substr(equals + 1), true, value)) return {};
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return parsed;
}

}  // namespace dpcache::server
