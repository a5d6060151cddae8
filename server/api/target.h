// The target of a request: a path of parts, and parameters, decoded.
#ifndef DPCACHE_SERVER_API_TARGET_H_
#define DPCACHE_SERVER_API_TARGET_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dpcache::server {

struct Target {
  std::vector<std::string> path;  // "/v1/caches/x" is v1, caches, x; "/" has no part
  std::vector<std::pair<std::string, std::string>> query;
};

// None: a % without two hex digits, a NUL, or no path.
std::optional<Target> parse_target(std::string_view target);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_TARGET_H_
