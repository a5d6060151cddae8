// A server's TLS, by OpenSSL.
#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace dpcache::server {
namespace {

[[noreturn]] void fail(const std::string& what) {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  const char* const why = code == 0 ? nullptr : ERR_reason_error_string(code);
  throw std::runtime_error(why == nullptr ? what : what + " (OpenSSL: " + why + ")");
}

void check_readable(const std::string& what, const std::string& path) {
  if (path.empty()) {
    throw std::runtime_error("the file of the TLS " + what +
                             " is missing: certificate and key are given together, or neither");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    const int error = errno;
    throw std::runtime_error("cannot read the TLS " + what + " " + path + ": " +
                             (error == 0 ? "it is empty" : std::strerror(error)));
  }
}

// Nobody is there to type a password.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

void use_key(SSL_CTX* context, const std::string& path) {
  bool encrypted = false;
  SSL_CTX_set_default_passwd_cb(context, no_password);
  SSL_CTX_set_default_passwd_cb_userdata(context, &encrypted);
  const int used = SSL_CTX_use_PrivateKey_file(context, path.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  SSL_CTX_set_default_passwd_cb(context, nullptr);
  if (used == 1) return;
  if (encrypted) {
    ERR_clear_error();
    throw std::runtime_error("the TLS key " + path +
                             " is encrypted: give it without a password (openssl pkey -in FILE)");
  }
  // OpenSSL compares a key with the certificate as it takes it.
  const bool other = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH ||
                     ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_TYPE_MISMATCH;
  fail("the TLS key " + path +
       (other ? " does not belong to the certificate" : " is no private key in PEM"));
}

int choose_protocol(SSL* /*connection*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* /*unused*/) {
  constexpr std::string_view kOurs = "http/1.1";
  const std::string_view all(reinterpret_cast<const char*>(offered), offered_size);
  for (std::size_t at = 0; at < all.size();) {
    const auto length = static_cast<unsigned char>(all[at]);
    if (all.substr(at + 1, length) == kOurs) {
      *chosen = offered + at + 1;
      *size = length;
      return SSL_TLSEXT_ERR_OK;
    }
    at += 1U + length;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

void FreeTls::operator()(SSL_CTX* context) const noexcept {
  SSL_CTX_free(context);
}

std::unique_ptr<SSL_CTX, FreeTls> make_tls(const std::string& certificate, const std::string& key) {
  errno = 0;
  check_readable("certificate", certificate);
  check_readable("key", key);
  ERR_clear_error();
  std::unique_ptr<SSL_CTX, FreeTls> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) fail("cannot begin TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // idle connections hold none
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1) {
    fail("the TLS certificate " + certificate + " is no certificate in PEM");
  }
  use_key(context.get(), key);
  if (SSL_CTX_check_private_key(context.get()) != 1) {
    fail("the TLS key " + key + " does not belong to the certificate " + certificate);
  }
  return context;
}

}  // namespace dpcache::server
