// Beast's parser of heads, and what it forgives.
#include "http/head_parser.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>  // Boost 1.74 forgets it under C++20

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

namespace dpcache::server {
namespace {

namespace http = boost::beast::http;
using Error = boost::system::error_code;

// Beast's parser, which writes into a Request. What it allows and we do not is counted.
class HeadParser final : public http::basic_parser<true> {
 public:
  HeadParser(Request& request, HeadFacts& facts) : request_(request), facts_(facts) {
    header_limit(std::numeric_limits<std::uint32_t>::max());  // counted by who feeds it
    body_limit(std::numeric_limits<std::uint64_t>::max());    // the application's matter
  }

  // `head`: all of it, as HeadScan found it.
  Failure parse(std::string_view head) {
    Error error;
    put(boost::asio::buffer(head.data(), head.size()), error);
    if (error) return {400, explain(error)};
    if (hosts_ > 1 || (hosts_ == 0 && !facts_.http_10)) {
      return {400, "There must be one Host header."};
    }
    if (lengths_ > 1 || bad_length_) return {400, "Content-Length must be given once, in digits."};
    if (codings_ > 1 || (codings_ == 1 && (!facts_.chunked || facts_.http_10))) {
      return {400, "The only Transfer-Encoding is chunked, in HTTP/1.1."};
    }
    if (bad_expectation_) return {417, "The only expectation is 100-continue."};
    facts_.content_length = content_length().value_or(0);
    facts_.keep = keep_alive();
    return {};
  }

 private:
  static std::string_view explain(const Error& error) {
    if (error == http::error::bad_version) return "The version must be HTTP/1.0 or HTTP/1.1.";
    if (error == http::error::bad_method) return "The request line has no proper method.";
    if (error == http::error::bad_target) return "The request line has no proper target.";
    if (error == http::error::bad_content_length) return "Content-Length is not usable.";
    if (error == http::error::bad_transfer_encoding) return "Transfer-Encoding is not usable.";
    return "The header is malformed.";
  }

  static bool same(boost::string_view a, std::string_view lower) {
    return std::equal(a.begin(), a.end(), lower.begin(), lower.end(),
                      [](char x, char y) { return to_lower(x) == y; });
  }

  static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

  void on_request_impl(http::verb /*verb*/, boost::string_view method, boost::string_view target,
                       int version, Error& /*error*/) override {
    request_.method.assign(method.data(), method.size());
    request_.target.assign(target.data(), target.size());
    facts_.http_10 = version == 10;
  }

  void on_field_impl(http::field field, boost::string_view name, boost::string_view value,
                     Error& /*error*/) override {
    auto& [key, text] = request_.headers.emplace_back();
    key.resize(name.size());
    std::transform(name.begin(), name.end(), key.begin(), to_lower);
    text.assign(value.data(), value.size());
    if (field == http::field::host) {
      ++hosts_;
    } else if (field == http::field::content_length) {
      ++lengths_;
      bad_length_ |= text.find_first_not_of("0123456789") != std::string::npos;
    } else if (field == http::field::transfer_encoding) {
      ++codings_;
      facts_.chunked = same(value, "chunked");
    } else if (field == http::field::expect) {
      bad_expectation_ |= !same(value, "100-continue");
      facts_.expects_continue = !facts_.http_10;
    }
  }

  void on_response_impl(int /*status*/, boost::string_view /*reason*/, int /*version*/,
                        Error& /*error*/) override {}
  void on_header_impl(Error& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         Error& /*error*/) override {}
  std::size_t on_body_impl(boost::string_view /*body*/, Error& /*error*/) override { return 0; }
  void on_chunk_header_impl(std::uint64_t /*size*/, boost::string_view /*extensions*/,
                            Error& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, boost::string_view /*body*/,
                                 Error& /*error*/) override {
    return 0;
  }
  void on_finish_impl(Error& /*error*/) override {}

  Request& request_;
  HeadFacts& facts_;
  unsigned hosts_ = 0;
  unsigned lengths_ = 0;
  unsigned codings_ = 0;
  bool bad_length_ = false;
  bool bad_expectation_ = false;
};

}  // namespace

Failure parse_head(std::string_view head, Request& request, HeadFacts& facts) {
  HeadParser parser(request, facts);
  return parser.parse(head);
}

}  // namespace dpcache::server
