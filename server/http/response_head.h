// The head of a response as it goes over the wire.
#ifndef DPCACHE_SERVER_HTTP_RESPONSE_HEAD_H_
#define DPCACHE_SERVER_HTTP_RESPONSE_HEAD_H_

#include <cstdint>
#include <string>

#include "http/application.h"

namespace dpcache::server {

// How a reader knows where the body ends.
enum class Framing : std::uint8_t {
  none,    // the status has no body
  length,  // Content-Length
  chunked,
  close,  // the end of the connection
};

enum class Afterwards : std::uint8_t {
  keep,       // what HTTP/1.1 takes for granted
  keep_said,  // told to an HTTP/1.0 client that asked
  close,
};

// True for a status whose response has no body, whatever the application gave.
bool has_no_body(unsigned status) noexcept;

// Appends status line, headers and the empty line. Line ends and NULs in the headers' values become
// blanks, so that no value can begin a header of its own.
void append_head(std::string& out, const Response& response, Framing framing,
                 Afterwards afterwards);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_RESPONSE_HEAD_H_
