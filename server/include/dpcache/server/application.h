// What an HTTP server needs of what it serves: a request goes in, a response comes out.
#ifndef DPCACHE_SERVER_APPLICATION_H_
#define DPCACHE_SERVER_APPLICATION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dpcache::server {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;  // as it was sent, e.g. "GET"
  std::string target;  // as it was sent: path and query, percent-encoded
  Headers headers;     // names in lower case
  std::string body;
  std::string remote;   // the peer's address, without its port
  std::string id;       // of the request, for logs: the client's X-Request-Id if it is sane, or new
  bool secure = false;  // by TLS
  // True when the client has gone: what has not begun need not be done. A client that closes only
  // its sending side counts as gone, but gets the answer if one comes.
  std::shared_ptr<const std::atomic<bool>> gone;
  // What admit() found out about the request, for handle() and completed().
  std::shared_ptr<const void> context;

  // The value of a header (its name in lower case), or an empty string.
  std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

// The parts of a response that has no known end, e.g. server-sent events. Asked for the next part,
// it calls back once, now or later, on any thread: with bytes, or with nothing at its end. It is
// destroyed when the client has gone, also while it owes a call, which may then come or not.
using NextPart = std::function<void(std::function<void(std::optional<std::string>)>)>;

struct Response {
  unsigned status = 200;
  Headers headers;  // without Content-Length, Date, Server and Connection, which the server adds
  std::string body;
  NextPart parts;  // instead of a body
};

using Respond = std::function<void(Response)>;

// Thread rule: both functions are called from any thread, several at once.
class Application {
 public:
  virtual ~Application() = default;

  // When the header is complete, before the body is read.
  struct Admission {
    std::uint64_t body_limit = 0;                   // a larger body is refused
    std::optional<Response> refusal;                // the answer, whatever the body says
    std::shared_ptr<const void> context = nullptr;  // goes into the request
  };
  virtual Admission admit(const Request& head) = 0;
  // Answers once, now or later, on any thread; what comes after the first answer is dropped. An
  // exception, or `respond` destroyed without a call, is refused with 500.
  virtual void handle(Request request, Respond respond) = 0;
  // The answer to what is no request that could be handled: 400 malformed, 408 too slow, 413 too
  // large, 417 an expectation unknown, 431 header too large, 500 the application failed, 503 too
  // many connections. `detail`: a sentence for people. `head` has what could be read of it, at
  // least `remote` and `id`.
  virtual Response refuse(unsigned status, std::string_view detail, const Request& head) = 0;
  // Told when a response has been sent, or its client has gone (status 499): for logs and metrics.
  // `request` is without its body; `bytes_sent` has heads and chunk sizes in it; `seconds` run from
  // the first bytes of the request.
  virtual void completed(const Request& request, unsigned status, std::uint64_t bytes_sent,
                         double seconds) = 0;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_APPLICATION_H_
