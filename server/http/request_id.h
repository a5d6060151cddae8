// Names for requests, so that a log's lines and a client's report can be brought together.
#ifndef DPCACHE_SERVER_HTTP_REQUEST_ID_H_
#define DPCACHE_SERVER_HTTP_REQUEST_ID_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpcache::server {

// True for 1 to 128 characters that may stand in any log as they are.
bool is_sane_id(std::string_view id) noexcept;

// Thread rule: any thread.
class RequestIds {
 public:
  RequestIds();
  std::string next();  // 16 hexadecimal digits, never twice in one process

 private:
  std::atomic<std::uint64_t> count_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_REQUEST_ID_H_
