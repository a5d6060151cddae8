// Finds the end of a request's head, byte by byte.
#include "http/head_scan.h"

namespace dpcache::server {
namespace {

bool is_control(unsigned char c) {
  return (c < 0x20 && c != '\t') || c == 0x7f;
}

}  // namespace

HeadScan::State HeadScan::feed(std::string_view head) {
  while (at_ < head.size()) {
    const auto c = static_cast<unsigned char>(head[at_]);
    if (after_return_) {
      if (c != '\n') {
        fault_ = "A carriage return stands alone in the header.";
        return State::malformed;
      }
      ++at_;
      if (line_ == 0) return State::complete;
      after_return_ = first_line_ = false;
      line_ = 0;
      continue;
    }
    ++at_;
    if (c == '\r') {
      after_return_ = true;
      continue;
    }
    if (is_control(c)) {
      fault_ = c == '\n' ? "A line of the header ends without a carriage return."
                         : "The header has a control character.";
      return State::malformed;
    }
    if (line_++ == 0 && !first_line_ && (c == ' ' || c == '\t')) {
      fault_ = "A line of the header is folded.";
      return State::malformed;
    }
  }
  return State::more;
}

}  // namespace dpcache::server
