// A server's TLS: its certificate, its key and what it agrees to.
#ifndef DPCACHE_SERVER_HTTP_TLS_H_
#define DPCACHE_SERVER_HTTP_TLS_H_

#include <openssl/types.h>

#include <memory>
#include <string>

namespace dpcache::server {

struct FreeTls {
  void operator()(SSL_CTX* context) const noexcept;
};

// TLS 1.2 and 1.3, for HTTP/1.1. The files are PEM; the certificate's may hold a chain, leaf first.
// std::runtime_error: a file cannot be used; the text says which, why and what to do.
std::unique_ptr<SSL_CTX, FreeTls> make_tls(const std::string& certificate, const std::string& key);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_TLS_H_
