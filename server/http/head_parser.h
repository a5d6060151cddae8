// Reads a request's head, which HeadScan has found, by Beast's parser, and refuses what Beast
// allows and two readers could take differently.
#ifndef DPCACHE_SERVER_HTTP_HEAD_PARSER_H_
#define DPCACHE_SERVER_HTTP_HEAD_PARSER_H_

#include <cstdint>
#include <string_view>

#include "http/application.h"

namespace dpcache::server {

// What a head says about the rest of its request, and about its connection.
struct HeadFacts {
  std::uint64_t content_length = 0;
  bool chunked = false;
  bool expects_continue = false;
  bool http_10 = false;
  bool keep = false;  // the connection, after the response

  bool has_body() const { return chunked || content_length > 0; }
};

// What is wrong with a request: status 0 means nothing.
struct Failure {
  unsigned status = 0;
  std::string_view detail;
};

// `head`: all of it, with its empty line. Fills in method, target and headers of `request`, also as
// far as it gets when it fails: with 400 or 417.
Failure parse_head(std::string_view head, Request& request, HeadFacts& facts);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_HEAD_PARSER_H_
