// Tokens from a file, and their comparison.
#include "api/tokens.h"

#include <sstream>
#include <stdexcept>

namespace dpcache::server {

namespace {

Role role_of(const std::string& word) {
  if (word == "read") return Role::read;
  if (word == "write") return Role::write;
  if (word == "admin") return Role::admin;
  return Role::none;
}

bool same(std::string_view a, std::string_view b) {
  // Every character of `a`, which is ours, is looked at, whatever the other holds.
  unsigned differences = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    differences |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return differences == 0;
}

bool matches(std::string_view pattern, std::string_view name) {
  // The last * takes one character more after each failure.
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = pattern.npos;
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool Token::covers(std::string_view name) const {
  return matches(pattern, name);
}

Tokens Tokens::parse(std::string_view text) {
  constexpr std::size_t kShortest = 16;
  Tokens tokens;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string role;
    if (!(words >> role) || role[0] == '#') continue;
    const auto fail = [&](const std::string& what) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + what);
    };
    Token token;
    token.role = role_of(role);
    if (token.role == Role::none) fail("'" + role + "' is no role: read, write or admin");
    if (!(words >> token.secret)) fail("a role needs its token");
    if (token.secret.size() < kShortest) fail("a token has at least 16 characters");
    words >> token.pattern;
    if (std::string rest; words >> rest) fail("there is something behind the pattern");
    if (tokens.find(token.secret) != nullptr) fail("this token stands there twice");
    tokens.tokens_.push_back(std::move(token));
  }
  if (tokens.empty()) throw std::runtime_error("there is no token in it");
  return tokens;
}

const Token* Tokens::find(std::string_view secret) const {
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (same(token.secret, secret)) found = &token;
  }
  return found;
}

}  // namespace dpcache::server
