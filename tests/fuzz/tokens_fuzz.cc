// Bytes as a file of tokens: it is refused with the line that is wrong, or every token in it finds
// itself, and nothing else does; patterns mean what a slow matcher says.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/tokens.h"
#include "fuzz/input.h"

namespace dpcache::server {
namespace {

using fuzz::require;

// By the table of all prefixes.
bool slow_match(std::string_view pattern, std::string_view name) {
  std::vector<bool> row(name.size() + 1);
  row[0] = true;
  for (const char p : pattern) {
    std::vector<bool> next(name.size() + 1);
    next[0] = p == '*' && row[0];
    for (std::size_t n = 1; n <= name.size(); ++n) {
      next[n] = p == '*' ? row[n] || next[n - 1] : row[n - 1] && p == name[n - 1];
    }
    row = next;
  }
  return row[name.size()];
}

void check_pattern(const Token& token) {
  const std::string& pattern = token.pattern;
  if (pattern.size() > 200) return;
  std::vector<std::string> names = {"", "a", "faq", "faq.2", pattern};
  std::string plain;
  for (const char c : pattern) plain += c == '*' ? "ab" : std::string(1, c);
  names.push_back(plain);
  names.push_back(plain + plain);
  for (const std::string& name : names) {
    require(token.covers(name) == slow_match(pattern, name),
            "a pattern means something else:", pattern + " " + name);
  }
}

}  // namespace
}  // namespace dpcache::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dpcache::server;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Tokens tokens;
  try {
    tokens = Tokens::parse(text);
  } catch (const std::runtime_error& error) {
    const std::string_view what = error.what();
    require(what.starts_with("line ") || what == "there is no token in it",
            "no line is named:", error.what());
    return 0;
  }
  require(!tokens.empty(), "a file without tokens was read");
  require(tokens.find("") == nullptr, "nothing is a token");
  // Every run of characters without a blank, and its neighbours.
  constexpr std::string_view kBlank = " \t\n\v\f\r";
  std::size_t found = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_not_of(kBlank, at), text.size());
    const std::size_t end = std::min(text.find_first_of(kBlank, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    at = end;
    const Token* token = tokens.find(word);
    if (token == nullptr) continue;
    ++found;
    require(token->secret == word && token->role != Role::none, "another token was found");
    require(token->secret.size() >= 16, "a token is short");
    check_pattern(*token);
    for (const std::string& near : {word + "x", word + word, word.substr(1)}) {
      const Token* other = tokens.find(near);
      require(other == nullptr || other->secret == near, "something near a token is one");
    }
  }
  require(found > 0, "no token finds itself");
  return 0;
}
