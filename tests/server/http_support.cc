// A server that runs, a tiny application, and clients with raw sockets.
#include "http_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace dpcache::server {
namespace {

constexpr int kSeconds = 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

int connect_to(std::uint16_t port, const char* address, int receive_buffer) {
  const bool v6 = std::strchr(address, ':') != nullptr;
  const int socket = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) fail("socket");
  const timeval timeout{kSeconds, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (receive_buffer > 0) {
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  sockaddr_in6 to6{};
  sockaddr_in to4{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(port);
  to4.sin_family = AF_INET;
  to4.sin_port = htons(port);
  inet_pton(AF_INET6, address, &to6.sin6_addr);
  inet_pton(AF_INET, address, &to4.sin_addr);
  const int result = v6 ? connect(socket, reinterpret_cast<const sockaddr*>(&to6), sizeof to6)
                        : connect(socket, reinterpret_cast<const sockaddr*>(&to4), sizeof to4);
  if (result != 0) {
    ::close(socket);
    fail("connect");
  }
  return socket;
}

}  // namespace

bool eventually(const std::function<bool()>& true_now) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kSeconds);
  while (!true_now()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// ---- The application

Response text(std::string body, unsigned status) {
  Response response;
  response.status = status;
  response.headers = {{"Content-Type", "text/plain"}};
  response.body = std::move(body);
  return response;
}

Application::Admission TinyApplication::admit(const Request& head) {
  if (on_admit) return on_admit(head);
  Admission admission;
  admission.body_limit = 1 << 20;
  return admission;
}

void TinyApplication::handle(Request request, Respond respond) {
  if (on_handle) return on_handle(std::move(request), std::move(respond));
  if (request.target == "/echo") return respond(text(std::move(request.body)));
  respond(text(request.method + " " + request.target));
}

Response TinyApplication::refuse(unsigned status, std::string_view detail,
                                 const Request& /*head*/) {
  return text(std::string(detail), status);
}

void TinyApplication::completed(const Request& request, unsigned status, std::uint64_t bytes_sent,
                                double /*seconds*/) {
  const std::lock_guard lock(mutex_);
  completed_.push_back({request, status, bytes_sent});
}

std::vector<TinyApplication::Completed> TinyApplication::all_completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

std::vector<TinyApplication::Completed> TinyApplication::completed_of(std::size_t count) const {
  if (!eventually([&] { return all_completed().size() >= count; })) {
    throw std::runtime_error("not so many requests were completed");
  }
  return all_completed();
}

// ---- The server

Running::Running(Application& application, HttpOptions options) {
  options.port = 0;
  server_ = std::make_unique<HttpServer>(std::move(options), application);
  thread_ = std::thread([this] { server_->run(); });
}

Running::~Running() {
  server_->stop(std::chrono::milliseconds(0));
  join();
}

void Running::join() {
  if (thread_.joinable()) thread_.join();
}

// ---- The client

std::string Reply::header(std::string_view name) const {
  const std::string start = "\r\n" + std::string(name) + ": ";
  const std::size_t found = head.find(start);
  if (found == std::string::npos) return {};
  const std::size_t value = found + start.size();
  return head.substr(value, head.find("\r\n", value) - value);
}

Client::Client(std::uint16_t port, const char* address) : socket_(connect_to(port, address, 0)) {}

Client::Client(std::uint16_t port, int receive_buffer)
    : socket_(connect_to(port, "127.0.0.1", receive_buffer)) {}

Client::~Client() {
  close();
}

void Client::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void Client::reset() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void Client::shutdown_send() {
  ::shutdown(socket_, SHUT_WR);
}

long Client::write_some(std::string_view bytes) {
  return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

long Client::read_some(char* into, std::size_t size) {
  const long got = ::recv(socket_, into, size, 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) fail("the server says nothing");
  return got;
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const long sent = write_some(bytes);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::more() {
  std::string bytes(65536, '\0');
  const long got = read_some(bytes.data(), bytes.size());
  if (got <= 0) return false;
  ahead_.append(bytes, 0, static_cast<std::size_t>(got));
  return true;
}

std::string Client::receive(std::size_t most) {
  if (ahead_.empty()) more();
  return take(std::min(most, ahead_.size()));
}

std::string Client::take(std::size_t size) {
  std::string taken = ahead_.substr(0, size);
  ahead_.erase(0, size);
  return taken;
}

std::string Client::until(std::string_view mark) {
  std::size_t found = 0;
  while ((found = ahead_.find(mark)) == std::string::npos) {
    if (!more()) throw std::runtime_error("the server has closed; it had sent: " + ahead_);
  }
  return take(found + mark.size());
}

bool Client::closed() {
  return !more();
}

Reply Client::reply(std::string_view method) {
  Reply reply;
  reply.head = until("\r\n\r\n");
  if (!reply.head.starts_with("HTTP/1.1 ")) throw std::runtime_error("no HTTP: " + reply.head);
  reply.status = static_cast<unsigned>(std::stoul(reply.head.substr(9, 3)));
  if (method == "HEAD" || reply.status < 200 || reply.status == 204 || reply.status == 304) {
    reply.whole = true;
    return reply;
  }
  if (reply.header("Transfer-Encoding") == "chunked") {
    reply.body = chunks(reply.whole);
    return reply;
  }
  const std::string length = reply.header("Content-Length");
  const std::size_t size = length.empty() ? std::string::npos : std::stoul(length);
  while (ahead_.size() < size && more()) {
  }
  reply.whole = length.empty() || ahead_.size() >= size;
  reply.body = take(size);
  return reply;
}

std::string Client::chunks(bool& whole) {
  std::string body;
  try {
    for (;;) {
      const std::size_t size = std::stoul(until("\r\n"), nullptr, 16);
      while (ahead_.size() < size + 2) {
        if (!more()) return body;
      }
      body += take(size);
      if (take(2) != "\r\n") return body;
      if (size == 0) break;
    }
    whole = true;
  } catch (const std::runtime_error&) {  // closed
    whole = false;
  }
  return body;
}

Reply Client::get(const std::string& target) {
  send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n");
  return reply();
}

// ---- TLS

namespace {

void write_key(const std::string& path, EVP_PKEY* key, const char* password) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) fail("fopen");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(password);
  const int size = password == nullptr ? 0 : static_cast<int>(std::strlen(password));
  PEM_write_PrivateKey(file, key, password == nullptr ? nullptr : EVP_aes_128_cbc(), bytes, size,
                       nullptr, nullptr);
  std::fclose(file);
}

void write_certificate(const std::string& path, EVP_PKEY* key) {
  X509* const certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) fail("fopen");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  X509_free(certificate);
}

}  // namespace

TlsFiles::TlsFiles() {
  std::string pattern = std::filesystem::temp_directory_path() / "dpcache-tls-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) fail("mkdtemp");
  folder = pattern;
  certificate = folder + "/certificate.pem";
  key = folder + "/key.pem";
  encrypted_key = folder + "/encrypted.pem";
  EVP_PKEY* const pair = EVP_EC_gen("P-256");
  write_key(key, pair, nullptr);
  write_key(encrypted_key, pair, "secret");
  write_certificate(certificate, pair);
  EVP_PKEY_free(pair);
}

TlsFiles::~TlsFiles() {
  std::filesystem::remove_all(folder);
}

TlsClient::TlsClient(std::uint16_t port, int newest)
    : Client(port), context_(SSL_CTX_new(TLS_client_method())), tls_(SSL_new(context_)) {
  if (newest != 0) {
    SSL_set_security_level(tls_, 0);
    SSL_set_min_proto_version(tls_, TLS1_VERSION);
    SSL_set_max_proto_version(tls_, newest);
  }
  constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
  SSL_set_alpn_protos(tls_, kOffered, sizeof kOffered - 1);
  SSL_set_fd(tls_, descriptor());
  connected_ = SSL_connect(tls_) == 1;
}

TlsClient::~TlsClient() {
  SSL_free(tls_);
  SSL_CTX_free(context_);
}

std::string TlsClient::version() const {
  return SSL_get_version(tls_);
}

std::string TlsClient::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool TlsClient::shut_down() {
  return SSL_shutdown(tls_) >= 0 && SSL_shutdown(tls_) == 1;
}

long TlsClient::write_some(std::string_view bytes) {
  return SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
}

long TlsClient::read_some(char* into, std::size_t size) {
  return SSL_read(tls_, into, static_cast<int>(size));
}

}  // namespace dpcache::server
