// Finds the end of a request's head, and refuses what two readers could read as two different
// heads: what an HTTP parser takes kindly, a proxy in front may have taken otherwise.
#ifndef DPCACHE_SERVER_HTTP_HEAD_SCAN_H_
#define DPCACHE_SERVER_HTTP_HEAD_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dpcache::server {

class HeadScan {
 public:
  enum class State : std::uint8_t { more, complete, malformed };

  // `head`: the head from its first byte to the last that has come; it has only grown since the
  // call before. Bytes looked at once are not looked at again.
  State feed(std::string_view head);
  // Of the head with its empty line, once it is complete.
  std::size_t size() const noexcept { return at_; }
  // What is malformed, as a sentence.
  std::string_view fault() const noexcept { return fault_; }

 private:
  std::size_t at_ = 0;
  std::size_t line_ = 0;  // bytes of the line so far
  bool first_line_ = true;
  bool after_return_ = false;
  std::string_view fault_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_HEAD_SCAN_H_
