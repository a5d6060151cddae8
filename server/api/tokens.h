// Who may do what: bearer tokens, each with a role and the caches that it is for.
#ifndef DPCACHE_SERVER_API_TOKENS_H_
#define DPCACHE_SERVER_API_TOKENS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dpcache::server {

// Each may do what those before it may.
enum class Role : std::uint8_t {
  none,   // nothing of anybody's
  read,   // read, score, list, snapshots out
  write,  // observe, erase, consolidate
  admin,  // make, configure and remove caches, snapshots in
};

struct Token {
  std::string secret;
  Role role = Role::none;
  std::string pattern = "*";  // of names; * stands for any run of characters

  bool covers(std::string_view name) const;
};

class Tokens {
 public:
  Tokens() = default;  // none: everybody may do everything
  // Lines of "role secret [pattern]"; blank ones and those that begin with # say nothing.
  // std::runtime_error: a line that is none, with its number.
  static Tokens parse(std::string_view text);

  bool empty() const { return tokens_.empty(); }
  // Null: no token has this secret. Takes as long for a near miss as for a far one.
  const Token* find(std::string_view secret) const;

 private:
  std::vector<Token> tokens_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_TOKENS_H_
