// The HTTP/1.1 server, with TLS if asked for. Beast is known to server.cc alone, OpenSSL to tls.cc
// and it.
#ifndef DPCACHE_SERVER_HTTP_SERVER_H_
#define DPCACHE_SERVER_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/application.h"

namespace dpcache::server {

struct HttpOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6
  std::uint16_t port = 8080;          // 0: any that is free
  unsigned threads = 1;
  std::string tls_certificate;  // files in PEM; both or none
  std::string tls_key;
  std::size_t max_header = 16 << 10;  // bytes
  std::size_t max_connections = 16384;
  std::chrono::milliseconds header_timeout{
      10'000};  // from the first byte, or the end of TLS' handshake
  std::chrono::milliseconds body_timeout{30'000};      // without progress
  std::chrono::milliseconds write_timeout{30'000};     // without progress
  std::chrono::milliseconds idle_timeout{75'000};      // between two requests
  std::chrono::milliseconds event_keep_alive{15'000};  // a comment after so much silence
};

// Thread rule: stop() may be called from any thread, also from a signal handler's thread; the rest
// from one.
class HttpServer {
 public:
  // Listens. std::runtime_error: the address cannot be had, or a file of TLS cannot be used; the
  // text says which and what to do.
  HttpServer(HttpOptions options, Application& application);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const noexcept;  // where it listens
  // Serves until stop(), on this thread and the others of `threads`.
  void run();
  // Takes no more connections, lets the requests under way end, at most for `patience`, and makes
  // run() return. Idle connections are closed at once.
  void stop(std::chrono::milliseconds patience);
  std::size_t connections() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_SERVER_H_
